//! A resident block, and the scheduler that takes turns among its lanes.

use super::async_proxy::AsyncProxy;
use super::barrier::Barriers;
use super::cluster_barrier::ClusterBarrier;
use super::run::Run;
use super::state::BlockState;
use super::turns::TURNS;
use super::warp_ops::WarpOps;
use super::warpgroup::Warpgroup;
use crate::config::Level;
use crate::fiber::{Lanes, Pause, Pool, Switch};
use crate::lane::{self, CHECKS, COUNTERS, Lane, UNWAITED};
use crate::overflow::{self, Overflow};
use crate::panics;
use crate::report::{Finding, Kind, Site};
use crate::schedule::{LaneOrder, Permutation};
use crate::threads::Threads;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::io;
use std::panic::{AssertUnwindSafe, Location};

/// One resident block. It is used for one block of the grid after another.
pub(crate) struct Block {
    pub(crate) state: BlockState,
    pub(crate) barriers: Barriers,
    pub(super) warp_ops: Box<[WarpOps]>,
    pub(super) warpgroups: Box<[Warpgroup]>,
    pub(crate) async_proxy: AsyncProxy,
    pub(super) cluster_barrier: ClusterBarrier,
    /// The cluster's blocks by rank, if there are others.
    pub(super) peers: RefCell<Vec<*const Block>>,
    schedule: Schedule,
}

/// How far the lanes of a block have got.
struct Schedule {
    /// Lanes in the order in which they start, and how many have.
    starts: RefCell<Vec<u16>>,
    started: Cell<usize>,
    /// Lanes that have not exited.
    live: Cell<u32>,
    /// Rounds of turns so far: the salt of the orders.
    interval: Cell<u64>,
    /// Whether lanes that had not exited were abandoned.
    abandoned: Cell<bool>,
}

/// How far a block got in one turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Every lane has exited.
    Done,
    /// Every lane that could run spins on an atomic.
    Spinning,
    /// No lane can run, unless another block of the cluster does what it waits for.
    Stuck,
    /// It is another block's turn; this one can go on.
    Paused,
}

impl Block {
    /// Allocates a block for the run's launch. It is boxed because lanes point to it, and must be dropped before `run`.
    pub(crate) fn new(run: &Run<'_>) -> io::Result<Box<Self>> {
        let state = BlockState::new(run)?;
        let (threads, warps) = (state.threads.lanes.len(), state.threads.warps());
        let this = Box::new(Self {
            barriers: Barriers::new(warps),
            warp_ops: (0..warps).map(|warp| WarpOps::new(warp as u16)).collect(),
            warpgroups: (0..threads.div_ceil(128)).map(Warpgroup::new).collect(),
            async_proxy: AsyncProxy::default(),
            cluster_barrier: ClusterBarrier::new(warps),
            peers: RefCell::default(),
            schedule: Schedule {
                starts: RefCell::new((0..threads as u16).collect()),
                started: Cell::new(0),
                live: Cell::new(0),
                interval: Cell::new(0),
                abandoned: Cell::new(false),
            },
            state,
        });
        this.state.threads.bind((&raw const *this).cast());
        Ok(this)
    }

    /// The block of a running lane.
    ///
    /// # Panics
    /// Outside a launch: a device function was called from host code.
    #[inline]
    #[track_caller]
    pub(crate) fn of(lane: &Lane) -> &Self {
        let block = lane.block.get();
        assert!(!block.is_null(), "a device function that needs a running kernel was called outside a launch");
        // SAFETY: `new` binds lanes to their `Block`, which outlives their runs.
        unsafe { &*block.cast::<Self>() }
    }

    /// [`Block::of`], for a lane whose accesses are watched: it is in a launch.
    #[inline(always)]
    pub(crate) fn of_watched(lane: &Lane) -> &Self {
        let block = lane.block.get();
        debug_assert!(lane.watched() && !block.is_null(), "a lane is watched");
        // SAFETY: as in `of`; the lane that stands for "outside a launch", whose pointer is null, is never watched.
        unsafe { &*block.cast::<Self>() }
    }

    /// Operations of a lane's warp.
    #[inline(always)]
    pub(crate) fn warp_ops(&self, lane: &Lane) -> &WarpOps {
        &self.warp_ops[usize::from(lane.warp)]
    }

    /// The warpgroup of a lane.
    #[inline(always)]
    pub(crate) fn warpgroup(&self, lane: &Lane) -> &Warpgroup {
        &self.warpgroups[usize::from(lane.linear) / 128]
    }

    /// Begins block `number` of the grid.
    pub(crate) fn begin(&self, number: u32) {
        let launch = self.state.threads.launch();
        let watch = match launch.config.level {
            Level::Off => 0,
            Level::Checks => CHECKS,
            Level::Counters => CHECKS | COUNTERS,
        };
        let watch = if launch.launch.pdl && watch != 0 { watch | UNWAITED } else { watch };
        self.state.begin(number, watch);
        self.warp_ops.iter().for_each(WarpOps::reset);
        self.warpgroups.iter().for_each(Warpgroup::reset);
        let schedule = &self.schedule;
        schedule.interval.set(0);
        schedule.started.set(0);
        schedule.live.set(self.state.threads.lanes.len() as u32);
        schedule.abandoned.set(false);
        if launch.config.seed != 0 {
            self.shuffle_starts();
        }
    }

    fn shuffle_starts(&self) {
        let threads = &self.state.threads;
        let (seed, size) = (threads.launch().config.seed, threads.launch().config.warp_size);
        let salt = u64::from(threads.number()) << 20;
        let order = Permutation::new(threads.warps() as u64, seed, salt);
        let mut starts = self.schedule.starts.borrow_mut();
        starts.clear();
        for position in 0..threads.warps() {
            let warp = order.at(position as u64) as u32;
            let lanes = LaneOrder::new(size, seed, salt ^ u64::from(warp));
            let all = lanes.all().map(|lane| warp * size + lane);
            starts.extend(all.filter(|&lane| (lane as usize) < threads.lanes.len()).map(|lane| lane as u16));
        }
    }

    /// Whether all threads have exited.
    pub(crate) fn is_over(&self) -> bool {
        self.schedule.live.get() == 0
    }

    /// Threads that have not exited.
    pub(super) fn live(&self) -> u32 {
        self.schedule.live.get()
    }

    /// Whether every lane has started.
    fn has_started_all(&self) -> bool {
        self.schedule.started.get() == self.state.threads.lanes.len()
    }

    /// Lets lanes run until all have exited, or none can run, or only spinning ones can; if the block shares its OS
    /// thread with others, only until every lane waits for something.
    pub(crate) fn turn(&self, pool: &mut Pool<Self>) -> io::Result<Progress> {
        self.state.enter();
        let progress = self.run_lanes(pool);
        self.state.leave();
        progress
    }

    fn run_lanes(&self, pool: &mut Pool<Self>) -> io::Result<Progress> {
        let launch = self.state.threads.launch();
        let shares = || launch.config.resident > 1 || launch.interleave.get() || self.state.is_in_cluster();
        while !self.has_started_all() {
            let pause = pool.start(self)?;
            let lane = lane::current();
            lane::set_current(std::ptr::null());
            if pause == Pause::Lost {
                return Err(self.lost(&lane));
            }
            self.async_proxy.turn(&self.state, self.schedule.interval.get(), false);
            if shares() && self.has_started_all() && !self.is_over() {
                return Ok(Progress::Paused);
            }
        }
        loop {
            let progressed = self.sweep(pool)?;
            if self.is_over() {
                return Ok(Progress::Done);
            }
            let interval = self.schedule.interval.get();
            let progressed = self.async_proxy.turn_after(&self.state, interval, progressed) || progressed;
            if progressed && shares() && self.state.warps.iter().all(|warp| warp.spinning.get() == 0) {
                return Ok(Progress::Paused);
            }
            if progressed {
                continue;
            }
            let mut spinning = false;
            for warp in &self.state.warps {
                let lanes = warp.spinning.replace(0);
                warp.wake(lanes);
                spinning |= lanes != 0;
            }
            return Ok(if spinning { Progress::Spinning } else { Progress::Stuck });
        }
    }

    /// One turn for every lane that is ready. Gives whether there was any.
    fn sweep(&self, pool: &mut Pool<Self>) -> io::Result<bool> {
        let threads = &self.state.threads;
        let (seed, size) = (threads.launch().config.seed, threads.launch().config.warp_size);
        let warps = &self.state.warps;
        let interval = self.schedule.interval.get() + 1;
        self.schedule.interval.set(interval);
        let salt = u64::from(threads.number()) << 20 ^ interval;
        let order = Permutation::new(warps.len() as u64, seed, salt);
        let lanes = LaneOrder::new(size, seed, salt);
        let mut progressed = false;
        for position in 0..warps.len() {
            let index = order.at(position as u64) as usize;
            let ready = warps[index].ready.replace(0);
            if ready == 0 {
                continue;
            }
            progressed = true;
            let first = index * size as usize;
            lane::set_current(&raw const threads.lanes[first]);
            TURNS.with(|turns| {
                turns.set(pool.fibers(), &threads.lanes[first..], ready, lanes);
                while let Some(lane) = turns.next() {
                    // SAFETY: the block's own lane.
                    let lane = unsafe { &*lane };
                    lane::set_next(lane);
                    let fiber = lane.fiber.get();
                    // SAFETY: a lane that is ready waits in its fiber, and the pool does not change in a sweep.
                    let pause = unsafe { turns.fibers().resume(fiber) };
                    if pause != Pause::Blocked {
                        self.came_back(pool, fiber, pause)?;
                    }
                }
                Ok::<_, io::Error>(())
            })?;
        }
        lane::set_current(std::ptr::null());
        Ok(progressed)
    }

    /// A fiber has no lane any more, or one that is lost.
    #[cold]
    #[inline(never)]
    fn came_back(&self, pool: &mut Pool<Self>, fiber: u16, pause: Pause) -> io::Result<()> {
        pool.note(fiber, pause);
        debug_assert!(pause == Pause::Lost || self.has_started_all());
        // The fiber may have gone on to another lane than the one that was resumed.
        if pause == Pause::Lost { Err(self.lost(&lane::current())) } else { Ok(()) }
    }

    /// A lane is suspended for ever: reports it. The error ends the launch.
    #[cold]
    fn lost(&self, lane: &Lane) -> io::Error {
        lane::set_current(std::ptr::null());
        let warp = self.state.warp(lane);
        warp.live.set(warp.live.get() & !lane.bit());
        self.state.threads.overflowed(lane, None);
        self.state.threads.launch().lost.set(true);
        io::Error::other("a thread has exhausted its stack")
    }

    /// The next lane that has not started.
    #[inline]
    fn next_unstarted(&self) -> Option<&Lane> {
        let position = self.schedule.started.get();
        let lane = *self.schedule.starts.borrow().get(position)?;
        self.schedule.started.set(position + 1);
        Some(self.state.threads.lane(lane))
    }

    /// Runs the kernel for one lane, to its end.
    #[inline(always)]
    fn run_lane(&self, lane: &Lane, switch: &Switch, fiber: u16) {
        lane.switch.set(switch);
        lane.fiber.set(fiber);
        lane::set_current(lane);
        let outcome = std::panic::catch_unwind(AssertUnwindSafe(|| (self.state.run().body)()));
        if let Err(payload) = outcome {
            self.caught(lane, payload);
        }
        if lane.has_overflowed() {
            self.overflowed(lane, None);
        }
        self.exited(lane);
    }

    /// The kernel has panicked in a lane, or the lane is being abandoned: then the unwinding goes on.
    #[cold]
    #[inline(never)]
    fn caught(&self, lane: &Lane, payload: Box<dyn Any + Send>) {
        if self.schedule.abandoned.get() {
            std::panic::resume_unwind(payload);
        }
        match payload.downcast::<Overflow>() {
            Ok(overflow) => self.overflowed(lane, Some(overflow.location)),
            Err(payload) => {
                self.state.threads.panicked(lane, panics::take());
                panics::drop_payload(payload);
            }
        }
    }

    /// A lane that has overflowed its stack has returned, or was unwound.
    #[cold]
    #[inline(never)]
    fn overflowed(&self, lane: &Lane, location: Option<&'static Location<'static>>) {
        lane.end_overflow();
        self.state.threads.overflowed(lane, location);
        overflow::recovered();
    }

    /// The lane's kernel has returned.
    fn exited(&self, lane: &Lane) {
        self.state.threads.note_progress();
        AsyncProxy::check_stores(&self.state, lane);
        self.schedule.live.set(self.live() - 1);
        self.state.exited(lane);
        self.warp_ops(lane).complete_after_exit(&self.state);
        self.warpgroup(lane).leave(&self.state, lane);
        self.leave_cluster_barrier();
    }

    /// Abandons every lane that has not exited: it or the launch hangs, or the host has no memory for more stacks.
    ///
    /// Their values are dropped. A lane whose destructors wait for others does not wait.
    pub(crate) fn abandon(&self, pool: &mut Pool<Self>) {
        self.schedule.abandoned.set(true);
        let unwinding = &self.state.threads.launch().unwinding;
        unwinding.set(true);
        self.state.enter();
        for lane in &self.state.threads.lanes {
            let is_live = self.state.warp(lane).live.get() & lane.bit() != 0;
            if is_live && lane.has_started() {
                lane.switch.set(std::ptr::null());
                lane::set_current(lane);
                pool.abandon(lane.fiber.get());
            }
        }
        self.state.leave();
        unwinding.set(false);
        lane::set_current(std::ptr::null());
        self.schedule.live.set(0);
    }

    /// The block has ended: reports what is left, and adds its counters to the launch's.
    pub(crate) fn finish(&self) {
        let abandoned = self.schedule.abandoned.get();
        if !abandoned {
            self.barriers.report_abandoned(&self.state);
        }
        self.async_proxy.finish(&self.state, abandoned);
        if !abandoned {
            self.state.dependency.finish(&self.state.threads);
        }
        self.barriers.clear();
        self.cluster_barrier.clear();
        if self.state.threads.launch().config.level != Level::Off {
            self.state.finish();
        }
    }

    /// Reports lanes that spin while no thread of the launch makes progress. `unstarted` says how many blocks
    /// have not begun.
    pub(crate) fn report_hang(&self, kind: Kind, unstarted: &str) {
        let Some((location, polled, spinners)) = self.state.spinners() else { return };
        let threads = &self.state.threads;
        let thread = spinners.first().map_or([0; 3], |&first| threads.lane(first).thread_index());
        let site = Site::new(location);
        let finding = Finding { kind, site, other: None, block: threads.index(), thread, hint: None };
        threads.report(finding, || {
            let (who, s) = (Threads::name_threads(&spinners), if spinners.len() == 1 { "s" } else { "" });
            let what = polled.map_or_else(|| format!("pause{s} in a loop"), |polled| format!("poll{s} {polled}"));
            format!("{who} of this block {what}; no thread of the launch makes progress{unstarted}")
        });
    }
}

impl Lanes for Block {
    fn run_on(&self, switch: &Switch, number: u16) {
        while let Some(lane) = self.next_unstarted() {
            self.run_lane(lane, switch, number);
        }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        lane::set_current(std::ptr::null());
    }
}
