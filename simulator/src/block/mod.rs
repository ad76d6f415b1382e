//! A resident block: its lanes, warps, barriers and shared memory, and the scheduler that takes turns among its lanes.

mod barrier;
mod cluster;
pub(crate) mod copies;
mod engine;
mod fault;
mod grid;
mod mbarrier;
mod phase;
mod stores;
mod stuck;
mod tensor;
mod warp;
mod warpgroup;

use crate::bulk::Engine;
use crate::config::{Config, Level};
use crate::counters::{Access, Banks, BlockCounters, Counted, Counters, What};
use crate::device;
use crate::fiber::{Pause, Pool};
use crate::lane::{self, CHECKS, COUNTERS, Geometry, Lane, UNWAITED};
use crate::order::{Acquired, Act, Effect, Logs, Standing};
use crate::report::Reports;
use crate::schedule::{LaneOrder, Order};
use crate::shadow::{Accessed, GlobalShadow, SharedShadow, Touch};
use crate::{Binding, Launch};
use barrier::Barrier;
use cluster::Meeting;
use std::cell::{Cell, RefCell, UnsafeCell};
use std::io;
use std::panic::Location;
use std::ptr::NonNull;
pub(crate) use tensor::TensorOp;
pub(crate) use warp::Op;
use warp::Warp;
use warpgroup::Warpgroup;
pub(crate) use warpgroup::{Operand, Product, Shape};

/// Number of barriers a block has.
const BARRIERS: usize = 16;
/// Alignment of shared memory: what the strictest user, a swizzled tile for the copy engine, asks for.
const SHARED_ALIGN: usize = 1024;
/// Content of shared memory at the start of a checked block.
const POISON: u8 = 0xa5;
/// An atomic operation lets other lanes run every so many times: it may be waiting for them.
const POLLS: u16 = 16;

/// What the resident blocks of one OS thread have in common.
pub(crate) struct Run<'a> {
    pub(crate) launch: &'a Launch<'a>,
    pub(crate) config: &'a Config,
    pub(crate) body: &'a (dyn Fn() + Sync),
    pub(crate) reports: RefCell<Reports>,
    pub(crate) counters: RefCell<Counters>,
    pub(crate) global: UnsafeCell<GlobalShadow>,
    pub(crate) logs: UnsafeCell<Logs>,
    /// Some barrier or warp sync of this launch took only some threads: readers are kept one by one from then on.
    pub(crate) fine: Cell<bool>,
    /// Counts everything that is not spinning.
    pub(crate) progress: Cell<u64>,
    /// Most bytes of shadow seen.
    pub(crate) shadow_bytes: Cell<usize>,
}

/// One resident block. It is used for one block of the grid after another.
pub(crate) struct Block {
    /// Erased lifetime of the run: see [`Block::new`].
    run: *const Run<'static>,
    geometry: Cell<Geometry>,
    number: Cell<u32>,
    lanes: Box<[Lane]>,
    warps: Box<[Warp]>,
    warpgroups: Box<[Warpgroup]>,
    barriers: [Barrier; BARRIERS],
    /// The barrier of the cluster, as far as this block goes, and the cluster's blocks by rank if there are others.
    meeting: Meeting,
    peers: RefCell<Vec<*const Block>>,
    /// Lanes in the order in which they start, and how many have.
    starts: RefCell<Vec<u16>>,
    started: Cell<usize>,
    live: Cell<u32>,
    /// Intervals between barriers so far: the salt of the orders.
    interval: Cell<u64>,
    clock: Cell<u64>,
    shared: SharedMemory,
    shadow: UnsafeCell<Option<SharedShadow>>,
    counters: UnsafeCell<BlockCounters>,
    acquired: UnsafeCell<Acquired>,
    engine: UnsafeCell<Engine>,
    /// The thread that was the last to release through an atomic, and what the block knew then.
    releaser: Cell<(u32, u16)>,
    last_poll: Cell<Option<&'static Location<'static>>>,
    /// log2 of the lanes per warp.
    lanes_shift: u32,
    /// Whether a thread has waited for the grid before, and where one has ended without: in launches that overlap.
    pub(crate) waited: Cell<bool>,
    unwaited: Cell<Option<&'static Location<'static>>>,
    /// Lanes that never came back were given up.
    abandoned: Cell<bool>,
}

/// How far a block got in one turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Every lane has exited.
    Done,
    /// Every lane that could run spins on an atomic.
    Spinning,
    /// No lane can run, unless another block of the cluster brings what it waits for.
    Stuck,
    /// It is another block's turn; this one can go on.
    Paused,
}

struct SharedMemory {
    base: NonNull<u8>,
    layout: std::alloc::Layout,
}

impl SharedMemory {
    fn new(bytes: usize) -> io::Result<Self> {
        let error = || io::Error::new(io::ErrorKind::OutOfMemory, "no memory for simulated shared memory");
        let layout = std::alloc::Layout::from_size_align(bytes.max(16), SHARED_ALIGN).map_err(|_| error())?;
        // SAFETY: the layout's size is not 0.
        let base = NonNull::new(unsafe { std::alloc::alloc_zeroed(layout) }).ok_or_else(error)?;
        Ok(Self { base, layout })
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this layout.
        unsafe { std::alloc::dealloc(self.base.as_ptr(), self.layout) };
    }
}

impl Block {
    /// Makes room for blocks of the run's launch. The block is boxed because lanes point to it, and must be dropped before
    /// `run`.
    pub(crate) fn new(run: &Run<'_>) -> io::Result<Box<Self>> {
        let Launch { block, grid, shared_bytes, cluster, .. } = *run.launch;
        let size = run.config.warp_size;
        let threads = (block[0] * block[1] * block[2]) as usize;
        let shared = SharedMemory::new(shared_bytes)?;
        let watched = run.config.level >= Level::Checks;
        let base = shared.base.as_ptr();
        let geometry = Geometry {
            block_idx: [0; 3],
            block_dim: block,
            grid_dim: grid,
            cluster,
            warp_size: size,
            shared: base,
            shared_len: shared_bytes,
        };
        let warps = threads.div_ceil(size as usize);
        let lanes = (0..threads as u32).map(|i| {
            let index = [i % block[0], i / block[0] % block[1], i / block[0] / block[1]].map(|x| x as u16);
            Lane::new(std::ptr::null(), std::ptr::null(), index, i as u16, size as u16)
        });
        let this = Box::new(Self {
            run: std::ptr::from_ref(run).cast(),
            geometry: Cell::new(geometry),
            number: Cell::new(0),
            lanes: lanes.collect(),
            warps: (0..warps).map(|w| Warp::new((threads - w * size as usize).min(size as usize) as u32)).collect(),
            warpgroups: (0..threads.div_ceil(128)).map(|_| Warpgroup::default()).collect(),
            barriers: std::array::from_fn(|_| Barrier::new(warps)),
            meeting: Meeting::new(warps),
            peers: RefCell::default(),
            starts: RefCell::new((0..threads as u16).collect()),
            started: Cell::new(0),
            live: Cell::new(0),
            interval: Cell::new(0),
            clock: Cell::new(0),
            shadow: UnsafeCell::new(watched.then(|| SharedShadow::new(base as usize, shared_bytes))),
            counters: UnsafeCell::new(BlockCounters::new(warps, Banks::new(run.config.bank_bytes))),
            shared,
            acquired: UnsafeCell::default(),
            engine: UnsafeCell::default(),
            releaser: Cell::new((u32::MAX, 0)),
            last_poll: Cell::new(None),
            lanes_shift: size.trailing_zeros(),
            waited: Cell::new(false),
            unwaited: Cell::new(None),
            abandoned: Cell::new(false),
        });
        for lane in &this.lanes {
            lane.block.set(&raw const *this);
            lane.geometry.set(this.geometry.as_ptr());
        }
        Ok(this)
    }

    /// Begins block `number` of the grid.
    pub(crate) fn begin(&self, number: u32) {
        let run = self.run();
        let mut geometry = self.geometry.get();
        geometry.block_idx = self.index_of(number);
        self.geometry.set(geometry);
        self.number.set(number);
        self.interval.set(0);
        self.clock.set(0);
        self.started.set(0);
        self.live.set(self.lanes.len() as u32);
        self.abandoned.set(false);
        self.waited.set(false);
        self.unwaited.set(None);
        self.releaser.set((u32::MAX, 0));
        let watch = match run.config.level {
            Level::Off => 0,
            Level::Checks => CHECKS,
            Level::Counters => CHECKS | COUNTERS,
        };
        let watch = if run.launch.pdl && watch != 0 { watch | UNWAITED } else { watch };
        for lane in &self.lanes {
            lane.reset(watch);
        }
        for (index, warp) in self.warps.iter().enumerate() {
            warp.reset();
            self.counters().set_live(index as u16, warp.live.get());
        }
        for warpgroup in &self.warpgroups {
            warpgroup.reset();
        }
        if run.config.seed != 0 {
            self.shuffle_starts();
        }
        if watch != 0 {
            // SAFETY: no lane runs now; the block's own memory.
            unsafe { self.shared.base.as_ptr().write_bytes(POISON, geometry.shared_len) };
            if let Some(shadow) = self.shadow() {
                shadow.reset();
                if self.is_fine() {
                    shadow.be_fine();
                }
            }
            *self.acquired_mut() = Acquired::default();
        }
    }

    fn shuffle_starts(&self) {
        let (seed, size) = (self.run().config.seed, self.run().config.warp_size);
        let salt = u64::from(self.number.get()) << 20;
        let order = Order::new(self.warps.len() as u64, seed, salt);
        let mut starts = self.starts.borrow_mut();
        starts.clear();
        for position in 0..self.warps.len() {
            let warp = order.at(position as u64) as u32;
            let lanes = LaneOrder::new(size, seed, salt ^ u64::from(warp));
            let all = (0..size).map(|i| warp * size + lanes.at(i, size));
            starts.extend(all.filter(|&lane| (lane as usize) < self.lanes.len()).map(|lane| lane as u16));
        }
    }

    /// The next lane that has not started.
    #[inline]
    pub(crate) fn next_unstarted(&self) -> Option<&Lane> {
        let position = self.started.get();
        let lane = *self.starts.borrow().get(position)?;
        self.started.set(position + 1);
        Some(&self.lanes[usize::from(lane)])
    }

    #[inline(always)]
    pub(crate) fn run_body(&self) {
        (self.run().body)();
    }

    /// Lets lanes run until all have exited or only spinning ones could; if the block shares its processor, only until
    /// every lane waits for something.
    pub(crate) fn turn(&self, pool: &mut Pool) -> io::Result<Turn> {
        let shares = self.run().config.resident > 1 || self.is_in_cluster();
        while self.started.get() < self.lanes.len() {
            let fiber = pool.take()?;
            pool.resume(fiber, self);
            lane::set_current(std::ptr::null());
            self.turn_engine(false);
            if shares && self.started.get() == self.lanes.len() && self.live.get() != 0 {
                return Ok(Turn::Paused);
            }
        }
        loop {
            let progressed = self.sweep(pool);
            if self.live.get() == 0 {
                return Ok(Turn::Done);
            }
            let progressed = self.turn_engine_after(progressed) || progressed;
            if progressed && shares && self.warps.iter().all(|warp| warp.spinning.get() == 0) {
                return Ok(Turn::Paused);
            }
            if progressed {
                continue;
            }
            let mut spinning = false;
            for warp in &self.warps {
                let lanes = warp.spinning.replace(0);
                warp.ready.set(warp.ready.get() | lanes);
                spinning |= lanes != 0;
            }
            if spinning {
                return Ok(Turn::Spinning);
            }
            if self.is_in_cluster() {
                return Ok(Turn::Stuck);
            }
            if !Self::resolve(&[self]) {
                self.abandon(pool);
                return Ok(Turn::Done);
            }
        }
    }

    /// One turn for every lane that is ready. Gives whether there was any.
    fn sweep(&self, pool: &mut Pool) -> bool {
        let (seed, size) = (self.run().config.seed, self.run().config.warp_size);
        let interval = self.interval.get() + 1;
        self.interval.set(interval);
        let salt = u64::from(self.number.get()) << 20 ^ interval;
        let order = Order::new(self.warps.len() as u64, seed, salt);
        let lanes = LaneOrder::new(size, seed, salt);
        let mut progressed = false;
        for position in 0..self.warps.len() {
            let index = order.at(position as u64) as usize;
            let ready = self.warps[index].ready.replace(0);
            if ready == 0 {
                continue;
            }
            progressed = true;
            let first = index * size as usize;
            for i in 0..size {
                let at = lanes.at(i, size);
                if ready >> at & 1 != 0 {
                    let lane = &self.lanes[first + at as usize];
                    lane::set_current(lane);
                    let pause = pool.resume(lane.fiber.get(), self);
                    debug_assert!(pause == Pause::Blocked || self.started.get() == self.lanes.len());
                }
            }
        }
        lane::set_current(std::ptr::null());
        progressed
    }

    /// The lane's kernel has returned.
    pub(crate) fn exited(&self, lane: &Lane) {
        self.note_progress();
        self.check_stores(lane);
        self.live.set(self.live.get() - 1);
        let warp = &self.warps[usize::from(lane.warp)];
        warp.live.set(warp.live.get() & !lane.bit());
        self.counters().set_live(lane.warp, warp.live.get());
        if warp.is_waiting() {
            self.complete_after_exit(lane.warp);
        }
        self.leave_warpgroup(lane);
        self.meet_after_exit();
    }

    /// Gives up every lane that has not exited: it or the launch hangs, or the host has no memory for more stacks.
    pub(crate) fn abandon(&self, pool: &mut Pool) {
        for lane in &self.lanes {
            let live = self.warps[usize::from(lane.warp)].live.get() & lane.bit() != 0;
            if live && lane.has_started() {
                pool.abandon(lane.fiber.get());
            }
        }
        self.abandoned.set(true);
        self.live.set(0);
    }

    /// Closes the block's books.
    pub(crate) fn finish(&self) {
        let run = self.run();
        if !self.abandoned.get() {
            self.check_left_barriers();
        }
        self.finish_engine();
        self.check_some_waited();
        for barrier in &self.barriers {
            barrier.clear();
        }
        self.meeting.clear();
        if run.config.level == Level::Off {
            return;
        }
        self.end_interval();
        let Geometry { shared, shared_len, .. } = self.geometry.get();
        // SAFETY: the scheduler's OS thread; no lane runs.
        let (logs, global) = unsafe { (&mut *run.logs.get(), &*run.global.get()) };
        logs.forget(shared as usize..shared as usize + shared_len);
        let shadow = global.bytes() + self.shadow().map_or(0, |shadow| shadow.bytes());
        run.shadow_bytes.set(run.shadow_bytes.get().max(shadow));
        if run.config.level == Level::Counters {
            let mut counters = run.counters.borrow_mut();
            counters.warps += self.warps.len() as u64;
            self.counters().drain(|key, counts| counters.add(key, counts));
        }
    }

    /// All threads of the block have met, or the block has ended.
    fn end_interval(&self) {
        if let Some(shadow) = self.shadow()
            && !shadow.unwritten.is_settled()
        {
            shadow.unwritten.settle(self, |address| self.name_shared(address));
        }
        if self.run().config.level == Level::Counters {
            self.counters().flush();
        }
    }

    /// Checks an access to shared memory, if it is one of those that leave next to nothing to do. False: nothing was done.
    #[inline(always)]
    pub(crate) fn shared_access_is_plain(&self, lane: &Lane, accessed: Accessed) -> bool {
        let Some(shadow) = self.shadow() else { return false };
        let is_plain = match accessed.touch {
            Touch::Read => shadow.is_read_again(lane, accessed, self.lanes_shift),
            Touch::Write => shadow.write_in_order(lane, accessed),
            _ => false,
        };
        if is_plain {
            self.clock.set(self.clock.get() + 1);
        }
        is_plain
    }

    /// Checks an access to shared memory that needs a closer look.
    #[inline(never)]
    pub(crate) fn shared_access_closely(&self, lane: &Lane, accessed: Accessed) {
        self.advance_clock();
        let Some(shadow) = self.shadow() else { return };
        let is_read = accessed.touch == Touch::Read;
        if !(is_read && (shadow.read_next(lane, accessed, self.lanes_shift) || shadow.read_first(lane, accessed))) {
            shadow.access(self, lane, accessed);
        }
    }

    /// Checks and counts an access to the buffer `tag`, in which the address lies.
    #[inline(always)]
    pub(crate) fn global_access(&self, lane: &Lane, tag: u32, accessed: Accessed, access: Access) {
        self.clock.set(self.clock.get() + 1);
        if lane.watch.get() & (COUNTERS | UNWAITED) != 0 {
            if lane.watch.get() & COUNTERS != 0 {
                self.count(lane, accessed.location, What::new(access, accessed.size), accessed.address);
            }
            self.check_waited(lane, accessed);
        }
        if let Some(binding) = self.bindings().get(tag as usize) {
            // SAFETY: one OS thread works on a watched run, and no borrow of the shadow lives across this call.
            let global = unsafe { &mut *self.run().global.get() };
            global.access(tag, binding.memory, self, lane, accessed);
        }
    }

    /// Notes that an asynchronous copy writes shared memory from now on.
    pub(crate) fn shared_write_begins(&self, lane: &Lane, accessed: Accessed) {
        if let Some(shadow) = self.shadow() {
            shadow.access(self, lane, accessed);
        }
    }

    /// Notes that an asynchronous copy has landed.
    pub(crate) fn shared_write_lands(
        &self,
        lane: &Lane,
        address: usize,
        size: usize,
        site: &'static Location<'static>,
    ) {
        if let Some(shadow) = self.shadow() {
            shadow.land(lane, address, size, site);
        }
    }

    /// What an atomic operation does to the order of things.
    pub(crate) fn order_atomic(&self, lane: &Lane, address: usize, act: Act, how: (device::Order, device::Scope)) {
        // SAFETY: one OS thread works on a watched run, and no borrow of the logs lives across this call.
        let logs = unsafe { &mut *self.run().logs.get() };
        match lane.rare().atomic(logs, address, act, how, self.standing(lane), self.acquired()) {
            Effect::None => return,
            Effect::PassesOn => {}
            Effect::Releases => self.tick(lane),
        }
        // Two threads that release between the same two barriers may be two of several readers, each of which says for
        // itself that it has done: who has read what must then be known one by one.
        let (interval, releaser) = self.releaser.replace((lane.known.get(), lane.linear));
        if releaser != lane.linear && interval == lane.known.get() && !self.is_fine() {
            self.be_fine();
        }
    }

    /// Counts one instruction of a lane.
    #[inline(always)]
    pub(crate) fn count(&self, lane: &Lane, location: &'static Location<'static>, what: What, address: usize) {
        self.counters().count(lane.warp, lane.lane, Counted { location, what, address });
    }

    /// Counts an atomic operation; now and then lets others run, because this one may wait for them. Gives whether the
    /// caller must suspend.
    #[inline]
    pub(crate) fn poll(&self, lane: &Lane, location: &'static Location<'static>) -> bool {
        let polls = lane.polls.get().wrapping_add(1);
        lane.polls.set(polls);
        let due = polls.is_multiple_of(POLLS);
        if due {
            self.spin(lane, location);
        }
        due
    }

    /// Marks the lane as waiting for another's action that no barrier announces.
    pub(crate) fn spin(&self, lane: &Lane, location: &'static Location<'static>) {
        self.last_poll.set(Some(location));
        let warp = &self.warps[usize::from(lane.warp)];
        warp.spinning.set(warp.spinning.get() | lane.bit());
    }

    /// Where lanes spin, one of them, and how many they are.
    pub(crate) fn spinner(&self) -> Option<(&'static Location<'static>, [u32; 3], usize)> {
        let threads = self.threads(|warp| self.warps[warp].ready.get());
        let first = *threads.first()?;
        Some((self.last_poll.get()?, self.lanes[usize::from(first)].thread_index(), threads.len()))
    }

    /// Where a lane stands in the order of things.
    pub(crate) fn standing(&self, lane: &Lane) -> Standing {
        Standing {
            block: self.number.get(),
            thread: lane.linear,
            warp: lane.warp,
            clock: lane.clock.get(),
            known: lane.known.get(),
            known_warp: lane.known_warp.get(),
        }
    }

    /// Raises a lane's clock: what it does from now on is later than what it has just published.
    pub(crate) fn tick(&self, lane: &Lane) {
        lane.clock.set(self.bounded(lane.clock.get() + 1));
    }

    #[inline(always)]
    pub(crate) fn run(&self) -> &Run<'static> {
        // SAFETY: `new`'s contract: the run outlives the block. The lifetime inside is erased, and no reference taken
        // through it is kept.
        unsafe { &*self.run }
    }

    #[expect(clippy::mut_from_ref, reason = "one OS thread; no two of these borrows live at once")]
    #[inline(always)]
    pub(crate) fn shadow(&self) -> Option<&mut SharedShadow> {
        // SAFETY: only this OS thread touches the block, and callers end the borrow before the next call or switch; the
        // reports made meanwhile do not come back here.
        unsafe { &mut *self.shadow.get() }.as_mut()
    }

    #[expect(clippy::mut_from_ref, reason = "as `shadow`")]
    #[inline(always)]
    fn counters(&self) -> &mut BlockCounters {
        // SAFETY: as `shadow`.
        unsafe { &mut *self.counters.get() }
    }

    #[expect(clippy::mut_from_ref, reason = "as `shadow`")]
    pub(crate) fn engine(&self) -> &mut Engine {
        // SAFETY: as `shadow`.
        unsafe { &mut *self.engine.get() }
    }

    #[expect(clippy::mut_from_ref, reason = "as `shadow`")]
    fn acquired_mut(&self) -> &mut Acquired {
        // SAFETY: as `shadow`.
        unsafe { &mut *self.acquired.get() }
    }

    /// What the block as a whole has acquired.
    pub(crate) fn acquired(&self) -> &Acquired {
        self.acquired_mut()
    }

    pub(crate) fn bindings(&self) -> &[Binding<'_>] {
        self.run().launch.bindings
    }

    pub(crate) fn number(&self) -> u32 {
        self.number.get()
    }

    pub(crate) fn clock(&self) -> u64 {
        self.clock.get()
    }

    pub(crate) fn advance_clock(&self) {
        self.clock.set(self.clock.get() + 1);
    }

    pub(crate) fn is_fine(&self) -> bool {
        self.run().fine.get()
    }

    /// From now on some threads synchronise without the others.
    pub(crate) fn be_fine(&self) {
        self.run().fine.set(true);
        if let Some(shadow) = self.shadow() {
            shadow.be_fine();
        }
    }

    fn note_progress(&self) {
        self.run().progress.set(self.run().progress.get() + 1);
    }

    /// The block's index in the grid.
    pub(crate) fn index(&self) -> [u32; 3] {
        self.geometry.get().block_idx
    }

    /// Index in the grid of block `number`.
    pub(crate) fn index_of(&self, number: u32) -> [u32; 3] {
        let [x, y, _] = self.geometry.get().grid_dim;
        let row = number / x;
        [number % x, row % y, row / y]
    }

    #[inline]
    pub(crate) fn warp_of(&self, thread: u16) -> u16 {
        thread >> self.lanes_shift
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        lane::set_current(std::ptr::null());
    }
}
