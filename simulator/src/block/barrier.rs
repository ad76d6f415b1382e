//! The barriers of a block, by id and count.

use super::state::BlockState;
use crate::happens_before::Member;
use crate::lane::{Lane, suspend};
use crate::mutation::{Change, mutated};
use crate::overflow;
use crate::report::Kind;
use std::cell::{Cell, RefCell};
use std::panic::Location;

/// Number of barriers a block has.
const BARRIERS: usize = 16;

/// One of a block's barriers.
pub(super) struct Barrier {
    arrived: Cell<u32>,
    expected: Cell<u32>,
    /// So many more threads only need to be counted if they arrive at `quick_site`: all threads are expected there, the
    /// first has arrived, and the last is not among these.
    quick: Cell<u32>,
    /// Null if there are none.
    quick_site: Cell<*const Location<'static>>,
    /// Where the first thread arrived, and a thread that arrived elsewhere.
    pub(super) site: Cell<Option<&'static Location<'static>>>,
    other: Cell<Option<(&'static Location<'static>, u16)>>,
    /// Per warp the lanes that wait.
    waiting: Box<[Cell<u32>]>,
    /// The clocks of those that arrived, unless all threads of the block are expected.
    members: RefCell<Vec<Member>>,
    /// The latest epoch of those that arrived, unless all threads of the block are expected.
    epoch: Cell<u32>,
    /// Those that arrived with a predicate that holds.
    holds: Cell<u32>,
    /// Votes of the last two rounds: a thread can be one round behind, not two.
    votes: [Cell<u32>; 2],
    round: Cell<u32>,
}

impl Barrier {
    pub(super) fn new(warps: usize) -> Self {
        Self {
            arrived: Cell::new(0),
            expected: Cell::new(0),
            quick: Cell::new(0),
            quick_site: Cell::new(std::ptr::null()),
            site: Cell::new(None),
            other: Cell::new(None),
            waiting: (0..warps).map(|_| Cell::new(0)).collect(),
            members: RefCell::default(),
            epoch: Cell::new(0),
            holds: Cell::new(0),
            votes: [const { Cell::new(0) }; 2],
            round: Cell::new(0),
        }
    }

    pub(super) fn clear(&self) {
        self.arrived.set(0);
        self.quick_site.set(std::ptr::null());
        self.site.set(None);
        self.other.set(None);
        self.holds.set(0);
        self.epoch.set(0);
        self.members.borrow_mut().clear();
        for waiting in &self.waiting {
            waiting.set(0);
        }
    }

    pub(super) fn expected(&self) -> u32 {
        self.expected.get()
    }

    /// Lanes of `warp` that wait here.
    pub(super) fn waiting(&self, warp: usize) -> u32 {
        self.waiting[warp].get()
    }

    /// Counts an arrival; gives whether it was the last one.
    fn count_in(
        &self,
        state: &BlockState,
        lane: &Lane,
        threads: Option<u32>,
        holds: bool,
        location: &'static Location<'static>,
    ) -> bool {
        state.threads.count_step();
        let expected = threads.unwrap_or(state.threads.lanes.len() as u32);
        if self.arrived.get() == 0 {
            self.expected.set(expected);
            self.site.set(Some(location));
        } else if let Some(site) = self.site.get() {
            // One call may have several addresses, one for each copy the compiler made of it: compare by content.
            if !std::ptr::eq(site, location) && site != location && threads.is_none() {
                self.other.set(Some((location, lane.linear)));
            }
            if self.expected.get() != expected {
                state.threads.fault(lane, Kind::DivergentBarrier, location, Some(site), || {
                    format!("expects {expected} threads where the first to arrive expects {}", self.expected.get())
                });
            }
        }
        self.holds.set(self.holds.get() + u32::from(holds));
        if lane.watched() && threads.is_some() {
            self.members.borrow_mut().push(state.threads.member(lane));
            self.epoch.set(self.epoch.get().max(lane.epoch.get()));
        }
        // The hardware counts warps: the missing lanes of a last, partial warp count when its first lane arrives.
        let (warp, size) = (state.warp(lane), state.threads.launch().config.warp_size);
        let missing = if threads.is_some() && lane.lane == 0 { size - warp.lanes } else { 0 };
        let arrived = self.arrived.get() + 1 + missing;
        self.arrived.set(arrived);
        let is_plain = threads.is_none() && self.expected.get() == expected;
        self.quick.set(expected.saturating_sub(arrived + 1));
        let site = self.site.get().filter(|_| is_plain && self.quick.get() != 0);
        self.quick_site.set(site.map_or(std::ptr::null(), std::ptr::from_ref));
        arrived >= self.expected.get()
    }

    /// Releases the threads that wait here.
    pub(super) fn release(&self, state: &BlockState) {
        state.threads.note_activity();
        if let (Some(site), Some((other, thread))) = (self.site.get(), self.other.get()) {
            state.threads.fault(state.threads.lane(thread), Kind::DivergentBarrier, other, Some(site), || {
                format!("{} is at this barrier while others are at another one", state.threads.name_thread(thread))
            });
        }
        let round = self.round.get();
        self.votes[round as usize % 2].set(self.holds.get());
        self.round.set(round.wrapping_add(1));
        let waiting: u32 = self.waiting.iter().map(|mask| mask.get().count_ones()).sum();
        if state.threads.watched() {
            if waiting as usize == state.threads.lanes.len() {
                state.synchronise_all();
            } else {
                self.synchronise_some(state);
            }
        }
        for (warp, waiting) in state.warps.iter().zip(&self.waiting) {
            warp.wake(waiting.replace(0));
        }
        self.clear();
    }

    /// Orders the threads that wait behind all that arrived.
    fn synchronise_some(&self, state: &BlockState) {
        state.enable_per_thread_clocks();
        let threads = &state.threads;
        let mut members = self.members.take();
        let waits = |lane: &&Lane| self.waiting(usize::from(lane.warp)) & lane.bit() != 0;
        let lanes: Vec<&Lane> = threads.lanes.iter().filter(waits).collect();
        let mut epoch = self.epoch.get();
        if members.is_empty() {
            members.extend(lanes.iter().map(|lane| threads.member(lane)));
            epoch = lanes.iter().map(|lane| lane.epoch.get()).max().unwrap_or(0);
        }
        threads.synchronise_some(&members, epoch, &lanes);
    }
}

/// The barriers of a block.
pub(crate) struct Barriers([Barrier; BARRIERS]);

impl Barriers {
    pub(super) fn new(warps: usize) -> Self {
        Self(std::array::from_fn(|_| Barrier::new(warps)))
    }

    pub(super) fn clear(&self) {
        self.0.iter().for_each(Barrier::clear);
    }

    /// A barrier by its id.
    pub(super) fn get(&self, id: usize) -> &Barrier {
        &self.0[id]
    }

    /// Ids of the barriers that threads have arrived at.
    pub(super) fn busy(&self) -> Vec<usize> {
        (0..BARRIERS).filter(|&id| self.0[id].arrived.get() != 0).collect()
    }

    /// Where those of the lanes in `mask` wait that wait at a barrier.
    pub(super) fn site_of(&self, warp: usize, mask: u32) -> Option<&'static Location<'static>> {
        self.0.iter().find(|barrier| barrier.waiting(warp) & mask != 0)?.site.get()
    }

    /// Barrier of all threads. Inlined into the kernel up to the switch of stacks: see [`suspend`].
    #[inline(always)]
    pub(crate) fn sync(&self, state: &BlockState, lane: &Lane, location: &'static Location<'static>) {
        if self.arrive_at_all(state, lane, location) {
            suspend(lane);
        }
    }

    /// Barrier of all threads that also counts those whose `holds` is true.
    #[inline(always)]
    pub(crate) fn sync_vote(
        &self,
        state: &BlockState,
        lane: &Lane,
        holds: bool,
        location: &'static Location<'static>,
    ) -> u32 {
        let round = self.0[0].round.get();
        if self.arrive(state, lane, 0, None, holds, location) {
            suspend(lane);
        }
        self.0[0].votes[round as usize % 2].get()
    }

    /// Barrier `id` for `threads` threads; without `wait` the thread only arrives.
    #[inline(always)]
    pub(crate) fn sync_some(
        &self,
        state: &BlockState,
        lane: &Lane,
        (id, threads): (usize, u32),
        wait: bool,
        location: &'static Location<'static>,
    ) {
        if wait {
            if self.arrive(state, lane, id, Some(threads), false, location) {
                suspend(lane);
            }
        } else {
            self.arrive_only(state, lane, (id, threads), location);
        }
    }

    /// A thread arrives at the barrier of all threads. Gives whether it must wait.
    ///
    /// Nearly every thread is neither the first nor the last at the barrier where the others are: a function without a
    /// stack frame.
    #[inline(never)]
    fn arrive_at_all(&self, state: &BlockState, lane: &Lane, location: &'static Location<'static>) -> bool {
        let barrier = &self.0[0];
        if !std::ptr::eq(barrier.quick_site.get(), location) || lane.has_overflowed() {
            return self.arrive_unless_removed(state, lane, location);
        }
        let quick = barrier.quick.get() - 1;
        barrier.quick.set(quick);
        if quick == 0 {
            barrier.quick_site.set(std::ptr::null());
        }
        let waiting = &barrier.waiting[usize::from(lane.warp)];
        state.threads.count_step();
        barrier.arrived.set(barrier.arrived.get() + 1);
        waiting.set(waiting.get() | lane.bit());
        true
    }

    /// The same for any thread. The first to arrive asks for all whether the barrier is left out.
    #[inline(never)]
    fn arrive_unless_removed(&self, state: &BlockState, lane: &Lane, location: &'static Location<'static>) -> bool {
        !mutated(location, Change::Remove) && self.arrive(state, lane, 0, None, false, location)
    }

    /// A thread arrives. Gives whether it must wait.
    #[inline(never)]
    fn arrive(
        &self,
        state: &BlockState,
        lane: &Lane,
        id: usize,
        threads: Option<u32>,
        holds: bool,
        location: &'static Location<'static>,
    ) -> bool {
        overflow::enter_as(lane, location);
        let barrier = &self.0[id];
        let complete = barrier.count_in(state, lane, threads, holds, location);
        let waiting = &barrier.waiting[usize::from(lane.warp)];
        waiting.set(waiting.get() | lane.bit());
        if complete {
            barrier.release(state);
            state.warp(lane).keep_running(lane);
        }
        !complete
    }

    #[inline(never)]
    fn arrive_only(
        &self,
        state: &BlockState,
        lane: &Lane,
        (id, threads): (usize, u32),
        location: &'static Location<'static>,
    ) {
        overflow::enter_as(lane, location);
        let barrier = &self.0[id];
        let complete = barrier.count_in(state, lane, Some(threads), false, location);
        if lane.watched() {
            state.threads.tick(lane);
        }
        if complete {
            barrier.release(state);
        }
    }

    /// The block ends: reports barriers with arrivals that never completed.
    pub(super) fn report_abandoned(&self, state: &BlockState) {
        for id in self.busy() {
            let barrier = &self.0[id];
            let Some(site) = barrier.site.get() else { continue };
            state.threads.fault(&state.threads.lanes[0], Kind::AbandonedBarrier, site, None, || {
                let (arrived, expected) = (barrier.arrived.get(), barrier.expected.get());
                format!("barrier {id} has {arrived} of {expected} arrivals when the block ends")
            });
        }
    }
}
