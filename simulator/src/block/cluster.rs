//! Clusters: blocks that run together, meet at a barrier, arrive at each other's mbarriers and are sent boxes.
//!
//! A block's threads take turns on one OS thread, and so do the blocks of a cluster: what one does to another's mbarriers
//! and shadow it does at once. What one block knows of another is of two kinds (see [`Acquired`]):
//!
//! - *By the barrier of the cluster*: everything that the other did before. That orders all accesses to global memory.
//! - *By arrivals at mbarriers*: up to which clock each thread of the other is done with its block's shared memory. That is
//!   what a load to that block needs, which overwrites what was read there; it passes from block to block with further
//!   arrivals. Accesses to global memory it does not order, as a plain `mbarrier.arrive` does not either: its scope is the
//!   block.
//!
//! A lane that acts in another block is there a lane of its own ([`Block::seen_from`]) which knows of that block what it has
//! been told.
//!
//! Limits. Threads that have exited count as arrived at the barrier of the cluster, as PTX has it, and what they did is taken
//! for ordered by it. What a thread learns of another block passes through atomics of its own block, but an order between
//! blocks that comes from atomics alone is taken for one of the shared memory, too, whatever its scope.

use super::Block;
use crate::bulk::Visit;
use crate::lane::{COUNTERS, Lane, suspend};
use crate::order::{Acquired, join};
use crate::report::Kind;
use crate::shadow;
use std::cell::Cell;
use std::panic::Location;
use std::rc::Rc;

/// One block's part of the barrier of its cluster.
pub(super) struct Meeting {
    arrived: Cell<u32>,
    /// Where the first thread arrived, and a place that differs from it.
    site: Cell<Option<&'static Location<'static>>>,
    other: Cell<Option<(&'static Location<'static>, u16)>>,
    /// Per warp the lanes that wait.
    waiting: Box<[Cell<u32>]>,
}

impl Meeting {
    pub(super) fn new(warps: usize) -> Self {
        Self {
            arrived: Cell::new(0),
            site: Cell::new(None),
            other: Cell::new(None),
            waiting: (0..warps).map(|_| Cell::new(0)).collect(),
        }
    }

    pub(super) fn clear(&self) {
        self.arrived.set(0);
        self.site.set(None);
        self.other.set(None);
        for waiting in &self.waiting {
            waiting.set(0);
        }
    }

    /// Where lanes wait, if any do.
    pub(super) fn site(&self) -> Option<&'static Location<'static>> {
        self.site.get()
    }

    /// Lanes of `warp` that wait here.
    pub(super) fn waiting(&self, warp: usize) -> u32 {
        self.waiting[warp].get()
    }
}

impl Block {
    /// Becomes one of the blocks of a cluster, in the order of their ranks, which outlive its run; of none, if there is but
    /// this one.
    pub(crate) fn join_cluster(&self, blocks: &[*const Block]) {
        let mut peers = self.peers.borrow_mut();
        peers.clear();
        peers.extend(blocks);
    }

    /// Whether there are other blocks in its cluster.
    pub(crate) fn is_in_cluster(&self) -> bool {
        self.geometry.get().cluster > 1
    }

    /// Whether all its threads have exited.
    pub(crate) fn is_over(&self) -> bool {
        self.live.get() == 0
    }

    /// Block `rank` of the cluster.
    pub(super) fn peer(&self, rank: usize) -> Option<&Block> {
        if !self.is_in_cluster() {
            return (rank == 0).then_some(self);
        }
        let peer = *self.peers.borrow().get(rank)?;
        // SAFETY: boxed blocks of one team, which are used for other blocks only when all of them are done.
        Some(unsafe { &*peer })
    }

    /// The blocks of the cluster, by rank.
    fn cluster(&self) -> impl Iterator<Item = &Block> + Clone {
        (0..self.geometry.get().cluster as usize).filter_map(|rank| self.peer(rank))
    }

    /// Block `rank` of the cluster, for a thread that is to act in it. Reports that there is none.
    pub(super) fn peer_for(&self, lane: &Lane, rank: u32, location: &'static Location<'static>) -> Option<&Block> {
        let Some(there) = self.peer(rank as usize) else {
            let size = self.geometry.get().cluster;
            self.fault(lane, Kind::Cluster, location, None, || {
                format!("rank {rank} in a cluster of {size}, whose blocks have the ranks 0 to {}", size - 1)
            });
            return None;
        };
        if there.is_over() {
            self.fault(lane, Kind::Cluster, location, None, || {
                format!("rank {rank} is {}, which has ended: its shared memory may be another block's", there.name())
            });
            return None;
        }
        Some(there)
    }

    /// The address in another block's shared memory that `address` is in this block's.
    pub(super) fn address_in(&self, there: &Block, address: usize) -> usize {
        address - self.geometry.get().shared as usize + there.geometry.get().shared as usize
    }

    /// The lane as `there` sees it: a thread that is none of its own, and that knows what it did before as far as the lane
    /// has been told.
    pub(super) fn seen_from(&self, there: &Block, lane: &Lane) -> Lane {
        let size = self.run().config.warp_size as u16;
        let far = Lane::new(self, there.geometry.as_ptr(), lane.thread, shadow::MAX_THREAD as u16, size);
        far.watch.set(lane.watch.get());
        far.clock.set(lane.clock.get());
        if lane.watched() {
            let mut known = self.acquired().clone();
            if let Some(rare) = lane.rare_if_any() {
                known.merge(&rare.acquired);
            }
            let (met, told) = known.of_peer(there.number());
            far.known.set(met);
            far.rare().vector = told.cloned();
            far.rare().acquired = known;
        }
        far
    }

    /// What a lane can tell other blocks: up to which clocks it knows the threads of this one to be done, and of others what
    /// it has been told.
    fn tells(&self, lane: &Lane) -> Acquired {
        let mut tells = Acquired::default();
        tells.merge_peers(self.acquired());
        if let Some(rare) = lane.rare_if_any() {
            tells.merge_peers(&rare.acquired);
        }
        let known = lane.known.get();
        let own: Rc<[u32]> = join(self.clocks(), &[self.member(lane)]).iter().map(|&clock| clock.max(known)).collect();
        tells.hear(self.number(), &own);
        tells
    }

    /// Arrives at the mbarrier that is at this place in block `rank`.
    pub(crate) fn mbarrier_arrive_at(
        &self,
        lane: &Lane,
        address: usize,
        rank: u32,
        location: &'static Location<'static>,
    ) {
        let Some(there) = self.peer_for(lane, rank, location) else { return };
        if std::ptr::eq(there, self) {
            self.mbarrier_arrive(lane, address, None, location);
            return;
        }
        self.advance_clock();
        let far = self.seen_from(there, lane);
        let Some(index) = there.mbarrier_at(&far, self.address_in(there, address), location) else { return };
        if !there.count_arrival(&far, index, location) {
            return;
        }
        let mbarrier = &mut there.engine().mbarriers[index];
        mbarrier.visit = Some(Visit { block: self.index(), thread: lane.thread_index(), site: location });
        if lane.watched() {
            mbarrier.acquired.merge_peers(&self.tells(lane));
            self.tick(lane);
        }
        there.check_phase(index, location);
    }

    /// The barrier of the cluster. Inlined up to the switch of stacks: see [`suspend`].
    #[inline(always)]
    pub(crate) fn cluster_sync(&self, lane: &Lane, location: &'static Location<'static>) {
        if self.meet(lane, location) {
            suspend(lane);
        }
    }

    /// A thread reaches the barrier of the cluster. Gives whether it must wait.
    #[inline(never)]
    fn meet(&self, lane: &Lane, location: &'static Location<'static>) -> bool {
        self.advance_clock();
        let meeting = &self.meeting;
        match meeting.site.get() {
            None => meeting.site.set(Some(location)),
            Some(site) if !std::ptr::eq(site, location) && site != location => {
                meeting.other.set(Some((location, lane.linear)));
            }
            Some(_) => {}
        }
        meeting.arrived.set(meeting.arrived.get() + 1);
        let waiting = &meeting.waiting[usize::from(lane.warp)];
        waiting.set(waiting.get() | lane.bit());
        if !self.has_met() {
            return true;
        }
        self.end_meeting();
        // The last one need not leave its fiber.
        let ready = &self.warps[usize::from(lane.warp)].ready;
        ready.set(ready.get() & !lane.bit());
        false
    }

    /// Whether all threads of the cluster that have not exited are at its barrier.
    fn has_met(&self) -> bool {
        self.cluster().all(|block| block.meeting.arrived.get() == block.live.get())
    }

    /// A thread has exited: those at the barrier of the cluster may have waited for it alone.
    #[inline]
    pub(super) fn meet_after_exit(&self) {
        let waits = |block: &Block| block.meeting.arrived.get() > 0;
        if (waits(self) || self.is_in_cluster() && self.cluster().any(waits)) && self.has_met() {
            self.end_meeting();
        }
    }

    /// Lets everybody at the barrier of the cluster go on. What any thread of it did comes before all that any will do.
    fn end_meeting(&self) {
        self.note_progress();
        let first = self.cluster().find_map(|block| block.meeting.site.get());
        for block in self.cluster() {
            block.check_meeting(first);
        }
        if self.lanes[0].watched() {
            let mut known = Acquired::default();
            for block in self.cluster() {
                block.order_all();
                block.end_interval();
                if block.lanes[0].watch.get() & COUNTERS != 0 {
                    block.run().counters.borrow_mut().barriers += 1;
                }
                known.merge(block.acquired());
                known.meet(block.number(), block.lanes[0].known.get());
            }
            for block in self.cluster() {
                block.acquired_mut().merge(&known);
            }
        }
        for block in self.cluster() {
            for (warp, waiting) in block.warps.iter().zip(&block.meeting.waiting) {
                warp.ready.set(warp.ready.get() | waiting.replace(0));
            }
            block.meeting.clear();
            // Who came from elsewhere came before this, and so before the block's end.
            for mbarrier in &mut block.engine().mbarriers {
                (mbarrier.visit, mbarrier.visited) = (None, None);
            }
        }
    }

    /// Reports threads of this block that meet at another place than those of the first.
    fn check_meeting(&self, first: Option<&'static Location<'static>>) {
        let (Some(first), Some(site)) = (first, self.meeting.site.get()) else { return };
        let other = self.meeting.other.get();
        let of_block = || {
            let waiting = self.threads(|warp| self.meeting.waiting(warp));
            Some((site, *waiting.first()?)).filter(|_| site != first)
        };
        if let Some((other, thread)) = other.or_else(of_block) {
            let lane = &self.lanes[usize::from(thread)];
            self.fault(lane, Kind::DivergentBarrier, other, Some(first), || {
                format!(
                    "{} is at this barrier of the cluster while others are at another one",
                    self.name_thread(thread)
                )
            });
        }
    }
}
