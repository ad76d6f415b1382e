//! Barriers of a block, by id and count.

use super::Block;
use crate::lane::{Lane, suspend};
use crate::order::{Member, join};
use crate::report::Kind;
use std::cell::{Cell, RefCell};
use std::panic::Location;
use std::rc::Rc;

/// One of a block's barriers.
pub(super) struct Barrier {
    arrived: Cell<u32>,
    expected: Cell<u32>,
    /// Where the first thread arrived, and a place that differs from it.
    pub(super) site: Cell<Option<&'static Location<'static>>>,
    other: Cell<Option<(&'static Location<'static>, u16)>>,
    /// Per warp the lanes that wait.
    waiting: Box<[Cell<u32>]>,
    /// Where those that arrived stood, unless all threads of the block are meant.
    members: RefCell<Vec<Member>>,
    known: Cell<u32>,
    holds: Cell<u32>,
    /// Results of the last two rounds: a thread can be one round behind, not two.
    votes: [Cell<u32>; 2],
    round: Cell<u32>,
}

impl Barrier {
    pub(super) fn new(warps: usize) -> Self {
        Self {
            arrived: Cell::new(0),
            expected: Cell::new(0),
            site: Cell::new(None),
            other: Cell::new(None),
            waiting: (0..warps).map(|_| Cell::new(0)).collect(),
            members: RefCell::default(),
            known: Cell::new(0),
            holds: Cell::new(0),
            votes: [const { Cell::new(0) }; 2],
            round: Cell::new(0),
        }
    }

    pub(super) fn clear(&self) {
        self.arrived.set(0);
        self.site.set(None);
        self.other.set(None);
        self.holds.set(0);
        self.known.set(0);
        self.members.borrow_mut().clear();
        for waiting in &self.waiting {
            waiting.set(0);
        }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.arrived.get() == 0
    }

    pub(super) fn expected(&self) -> u32 {
        self.expected.get()
    }

    /// Lanes of `warp` that wait here.
    pub(super) fn waiting(&self, warp: usize) -> u32 {
        self.waiting[warp].get()
    }
}

impl Block {
    /// Barrier of all threads. Inlined into the kernel up to the switch of stacks: see [`suspend`].
    #[inline(always)]
    pub(crate) fn sync_threads(&self, lane: &Lane, location: &'static Location<'static>) {
        if self.arrive(lane, 0, None, false, location) {
            suspend(lane);
        }
    }

    /// Barrier of all threads that also counts those whose `holds` is true.
    #[inline(always)]
    pub(crate) fn sync_threads_vote(&self, lane: &Lane, holds: bool, location: &'static Location<'static>) -> u32 {
        let round = self.barriers[0].round.get();
        if self.arrive(lane, 0, None, holds, location) {
            suspend(lane);
        }
        self.barriers[0].votes[round as usize % 2].get()
    }

    /// Barrier `id` for `threads` threads; without `wait` the thread only counts.
    #[inline(always)]
    pub(crate) fn named_barrier(
        &self,
        lane: &Lane,
        id: u32,
        threads: u32,
        wait: bool,
        location: &'static Location<'static>,
    ) {
        if wait {
            if self.arrive(lane, id as usize, Some(threads), false, location) {
                suspend(lane);
            }
        } else {
            self.arrive_only(lane, id as usize, threads, location);
        }
    }

    /// A thread reaches a barrier. Gives whether it must wait.
    #[inline(never)]
    fn arrive(
        &self,
        lane: &Lane,
        id: usize,
        threads: Option<u32>,
        holds: bool,
        location: &'static Location<'static>,
    ) -> bool {
        let barrier = &self.barriers[id];
        let complete = self.count_in(barrier, lane, threads, holds, location);
        let waiting = &barrier.waiting[usize::from(lane.warp)];
        waiting.set(waiting.get() | lane.bit());
        if complete {
            self.release(barrier);
            // The last one need not leave its fiber.
            let ready = &self.warps[usize::from(lane.warp)].ready;
            ready.set(ready.get() & !lane.bit());
        }
        !complete
    }

    #[inline(never)]
    fn arrive_only(&self, lane: &Lane, id: usize, threads: u32, location: &'static Location<'static>) {
        let barrier = &self.barriers[id];
        let complete = self.count_in(barrier, lane, Some(threads), false, location);
        if lane.watched() {
            self.tick(lane);
        }
        if complete {
            self.release(barrier);
        }
    }

    /// Counts an arrival; gives whether it was the last one.
    fn count_in(
        &self,
        barrier: &Barrier,
        lane: &Lane,
        threads: Option<u32>,
        holds: bool,
        location: &'static Location<'static>,
    ) -> bool {
        self.advance_clock();
        let expected = threads.unwrap_or(self.lanes.len() as u32);
        if barrier.arrived.get() == 0 {
            barrier.expected.set(expected);
            barrier.site.set(Some(location));
        } else if let Some(site) = barrier.site.get() {
            // One call may have several addresses, one for each copy the compiler made of it: compare by content.
            if !std::ptr::eq(site, location) && site != location && threads.is_none() {
                barrier.other.set(Some((location, lane.linear)));
            }
            if barrier.expected.get() != expected {
                self.fault(lane, Kind::DivergentBarrier, location, Some(site), || {
                    format!("expects {expected} threads where the first to arrive expects {}", barrier.expected.get())
                });
            }
        }
        barrier.holds.set(barrier.holds.get() + u32::from(holds));
        if lane.watched() {
            if threads.is_some() {
                self.note_member(barrier, lane);
            }
            barrier.known.set(barrier.known.get().max(lane.known.get()));
        }
        // The hardware counts warps: the missing lanes of a last, partial warp count when its first lane arrives.
        let warp = &self.warps[usize::from(lane.warp)];
        let missing = if threads.is_some() && lane.lane == 0 { self.run().config.warp_size - warp.lanes } else { 0 };
        barrier.arrived.set(barrier.arrived.get() + 1 + missing);
        barrier.arrived.get() >= barrier.expected.get()
    }

    fn note_member(&self, barrier: &Barrier, lane: &Lane) {
        barrier.members.borrow_mut().push(self.member(lane));
    }

    /// What a lane brings to a join.
    pub(super) fn member(&self, lane: &Lane) -> Member {
        let size = self.run().config.warp_size as usize;
        let first = usize::from(lane.warp) * size;
        Member {
            thread: lane.linear,
            clock: lane.clock.get(),
            known_warp: lane.known_warp.get(),
            warp: first..(first + size).min(self.lanes.len()),
            vector: lane.rare_if_any().and_then(|rare| rare.vector.clone()),
        }
    }

    /// Lets everybody at the barrier go on.
    pub(super) fn release(&self, barrier: &Barrier) {
        self.note_progress();
        if let (Some(site), Some((other, thread))) = (barrier.site.get(), barrier.other.get()) {
            let lane = &self.lanes[usize::from(thread)];
            self.fault(lane, Kind::DivergentBarrier, other, Some(site), || {
                format!("{} is at this barrier while others are at another one", self.name_thread(thread))
            });
        }
        let round = barrier.round.get();
        barrier.votes[round as usize % 2].set(barrier.holds.get());
        barrier.round.set(round.wrapping_add(1));
        let waiting: u32 = barrier.waiting.iter().map(|mask| mask.get().count_ones()).sum();
        let whole = waiting as usize == self.lanes.len();
        if self.lanes[0].watched() {
            if whole {
                self.order_all();
                self.end_interval();
                if self.lanes[0].watch.get() & crate::lane::COUNTERS != 0 {
                    self.run().counters.borrow_mut().barriers += 1;
                }
            } else {
                self.order_some(barrier);
            }
        }
        for (warp, waiting) in self.warps.iter().zip(&barrier.waiting) {
            warp.ready.set(warp.ready.get() | waiting.replace(0));
        }
        barrier.clear();
    }

    /// Everything that any thread of the block did comes before everything that any of them will do.
    pub(super) fn order_all(&self) {
        let latest = self.lanes.iter().map(|lane| lane.clock.get()).max().unwrap_or(0);
        let next = self.bounded(latest + 1);
        for lane in &self.lanes {
            lane.known.set(latest);
            lane.clock.set(next);
            if let Some(rare) = lane.rare_if_any() {
                rare.vector = None;
                if !rare.acquired.is_empty() {
                    self.acquired_mut().merge(&std::mem::take(&mut rare.acquired));
                }
            }
        }
    }

    /// Order for the threads that wait, by what all that arrived have done.
    fn order_some(&self, barrier: &Barrier) {
        self.be_fine();
        let mut members = barrier.members.take();
        let waiters = self.lanes.iter().filter(|lane| barrier.waiting(usize::from(lane.warp)) & lane.bit() != 0);
        if members.is_empty() {
            members.extend(waiters.clone().map(|lane| self.member(lane)));
        }
        let lanes: Vec<&Lane> = waiters.collect();
        self.share(&members, barrier.known.get(), &lanes);
    }

    /// Gives `lanes` the joined knowledge of `members`.
    pub(super) fn share(&self, members: &[Member], known: u32, lanes: &[&Lane]) {
        let joined = join(self.clocks(), members);
        let mut acquired = crate::order::Acquired::default();
        for member in members {
            if let Some(rare) = self.lanes[usize::from(member.thread)].rare_if_any() {
                acquired.merge(&rare.acquired);
            }
        }
        for lane in lanes {
            lane.known.set(lane.known.get().max(known));
            self.tick(lane);
            let rare = lane.rare();
            rare.vector = Some(Rc::clone(&joined));
            if !acquired.is_empty() {
                rare.acquired.merge(&acquired);
            }
        }
    }

    /// A barrier that somebody arrived at and that never completed.
    pub(super) fn check_left_barriers(&self) {
        for (id, barrier) in self.barriers.iter().enumerate() {
            if let Some(site) = barrier.site.get().filter(|_| !barrier.is_idle()) {
                self.fault(&self.lanes[0], Kind::AbandonedBarrier, site, None, || {
                    let (arrived, expected) = (barrier.arrived.get(), barrier.expected.get());
                    format!("barrier {id} has {arrived} of {expected} arrivals when the block ends")
                });
            }
        }
    }
}
