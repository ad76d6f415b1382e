//! A block and the others of its cluster, which run together: they meet at the cluster barrier, arrive at each other's
//! mbarriers and send each other boxes.
//!
//! The threads of a cluster take turns on one OS thread, so what a block does to another's mbarriers and shadow it does
//! at once. The order between two blocks has two sources (see [`Acquired`]):
//!
//! - *The cluster barrier*: everything that the other block did before. That orders all accesses to global memory.
//! - *Arrivals at mbarriers*: up to which clock each thread of the other is done with its block's shared memory. That
//!   is what a load to that block needs, which overwrites what was read there; further arrivals pass it on from block
//!   to block. It does not order accesses to global memory, as a plain `mbarrier.arrive` does not either: its scope is
//!   the block.
//!
//! A lane that acts in another block is represented there by a lane of its own ([`Block::remote_lane`]) with the clocks
//! of that block that it has acquired.
//!
//! Limits. Threads that have exited count as arrived at the cluster barrier, as in PTX, and what they did is taken to
//! be ordered by it. What a thread acquires of another block passes through atomics of its own block, but an order
//! between blocks that comes from atomics alone is taken for one of the shared memory, too, whatever its scope.

use super::async_proxy::TmaRequest;
use super::resident::Block;
use crate::happens_before::{Acquired, VectorClock};
use crate::lane::{Lane, suspend};
use crate::report::Kind;
use crate::shadow::AccessKind;
use crate::threads::MAX_THREAD;
use std::panic::Location;

impl Block {
    /// Sets the blocks of the cluster, by rank, which outlive this one's run; none if there is but this one.
    pub(crate) fn join_cluster(&self, blocks: &[*const Block]) {
        let mut peers = self.peers.borrow_mut();
        peers.clear();
        peers.extend(blocks);
    }

    /// Block `rank` of the cluster.
    fn peer(&self, rank: usize) -> Option<&Block> {
        if !self.state.is_in_cluster() {
            return (rank == 0).then_some(self);
        }
        let peer = *self.peers.borrow().get(rank)?;
        // SAFETY: boxed blocks of one cluster, which are used for other blocks only when all of them have ended.
        Some(unsafe { &*peer })
    }

    /// The blocks of the cluster, by rank.
    fn cluster(&self) -> impl Iterator<Item = &Block> + Clone {
        (0..self.state.threads.geometry.get().cluster as usize).filter_map(|rank| self.peer(rank))
    }

    /// Block `rank` of the cluster, for a thread that is to act in it. Reports that there is none.
    fn peer_for(&self, lane: &Lane, rank: u32, location: &'static Location<'static>) -> Option<&Block> {
        let threads = &self.state.threads;
        let Some(there) = self.peer(rank as usize) else {
            let size = threads.geometry.get().cluster;
            threads.fault(lane, Kind::Cluster, location, None, || {
                format!("rank {rank} in a cluster of {size}, whose blocks have the ranks 0 to {}", size - 1)
            });
            return None;
        };
        if there.is_over() {
            threads.fault(lane, Kind::Cluster, location, None, || {
                let name = there.state.threads.name();
                format!("rank {rank} is {name}, which has ended: its shared memory may be another block's")
            });
            return None;
        }
        Some(there)
    }

    /// The address in another block's shared memory that corresponds to `address` in this one's.
    fn address_in(&self, there: &Block, address: usize) -> usize {
        address - self.state.threads.shared_base() + there.state.threads.shared_base()
    }

    /// The lane that stands in block `there` for a thread of this one: none of its own threads, with the order that the
    /// thread has acquired.
    fn remote_lane(&self, there: &Block, lane: &Lane) -> Lane {
        let threads = &self.state.threads;
        let size = threads.launch().config.warp_size as u16;
        let remote = Lane::new(lane.block.get(), threads.geometry.as_ptr(), lane.thread, MAX_THREAD as u16, size);
        remote.watch.set(lane.watch.get());
        remote.set_clock(lane.clock());
        if lane.watched() {
            let mut acquired = threads.acquired().clone();
            if let Some(extension) = lane.extension_if_any() {
                acquired.join(&extension.order.acquired);
            }
            let (epoch, shared) = acquired.peer(there.state.threads.number());
            remote.epoch.set(epoch);
            let order = &mut remote.extension().order;
            order.vector = shared.cloned();
            order.acquired = acquired;
        }
        remote
    }

    /// What an arrival of a lane at another block's mbarrier releases: up to which clocks the threads of this block
    /// have finished their accesses to its shared memory, and what the lane has acquired of other blocks.
    fn release_to_cluster(&self, lane: &Lane) -> Acquired {
        let threads = &self.state.threads;
        let mut released = Acquired::default();
        released.join_peers(threads.acquired());
        if let Some(extension) = lane.extension_if_any() {
            released.join_peers(&extension.order.acquired);
        }
        let epoch = lane.epoch.get();
        let clocks = threads.join(&[threads.member(lane)]);
        let own: VectorClock = clocks.iter().map(|&clock| clock.max(epoch)).collect();
        released.join_shared(threads.number(), &own);
        threads.tick(lane);
        released
    }

    /// Arrives at the mbarrier in block `rank` that corresponds to `address`.
    pub(crate) fn mbarrier_arrive_at(
        &self,
        lane: &Lane,
        address: usize,
        rank: u32,
        location: &'static Location<'static>,
    ) {
        let Some(there) = self.peer_for(lane, rank, location) else { return };
        if std::ptr::eq(there, self) {
            self.async_proxy.mbarrier_arrive(&self.state, lane, address, None, location);
            return;
        }
        self.state.threads.count_step();
        let remote = self.remote_lane(there, lane);
        let (address, release) = (self.address_in(there, address), || self.release_to_cluster(lane));
        there.async_proxy.mbarrier_arrive_remotely(&there.state, &remote, address, release, location);
    }

    /// Issues a multicast load: to the corresponding tile, completing on the corresponding mbarrier, of each block of
    /// the cluster whose bit is set.
    pub(crate) fn issue_multicast(&self, lane: &Lane, request: &TmaRequest<'_>, mbarrier: usize, mask: u16) {
        let (state, location) = (&self.state, request.location);
        state.threads.count_step();
        if mbarrier == 0 {
            return;
        }
        let (map, mut invalid) = request.map(state, lane, AccessKind::Read);
        invalid |= request.address == 0;
        if mask == 0 {
            state.threads.fault(lane, Kind::Cluster, location, None, || "a load to no block: the mask is 0".to_owned());
        }
        let mut issued = false;
        for rank in (0..u16::BITS).filter(|rank| mask >> rank & 1 != 0) {
            let Some(there) = self.peer_for(lane, rank, location) else {
                // Reported: the block must not wait for these bytes.
                if let Some(there) = self.peer(rank as usize) {
                    there.async_proxy.forgo_bytes(self.address_in(there, mbarrier), map.box_bytes());
                }
                continue;
            };
            let at = |address: usize| if address == 0 { 0 } else { self.address_in(there, address) };
            let request = TmaRequest { address: at(request.address), ..*request };
            let load = |lane: &Lane, thread| {
                there.async_proxy.load_here(&there.state, lane, thread, &request, at(mbarrier), (map, invalid))
            };
            issued |= if std::ptr::eq(there, self) {
                load(lane, lane.linear)
            } else {
                load(&self.remote_lane(there, lane), lane.linear)
            };
        }
        if issued && lane.watched() && !invalid {
            state.access_global_box(lane, &map, request.first(), AccessKind::Read, location);
        }
    }

    /// The barrier of the cluster. Inlined up to the switch of stacks: see [`suspend`].
    #[inline(always)]
    pub(crate) fn cluster_sync(&self, lane: &Lane, location: &'static Location<'static>) {
        if self.arrive_at_cluster(lane, location) {
            suspend(lane);
        }
    }

    /// A thread arrives at the barrier of the cluster. Gives whether it must wait.
    #[inline(never)]
    fn arrive_at_cluster(&self, lane: &Lane, location: &'static Location<'static>) -> bool {
        self.state.threads.count_step();
        self.cluster_barrier.arrive(lane, location);
        if !self.is_cluster_complete() {
            return true;
        }
        self.release_cluster();
        self.state.warp(lane).keep_running(lane);
        false
    }

    /// Whether all threads of the cluster that have not exited are at its barrier.
    fn is_cluster_complete(&self) -> bool {
        self.cluster().all(|block| block.cluster_barrier.arrived() == block.live())
    }

    /// A thread has exited: those at the barrier of the cluster may have waited for it alone.
    #[inline]
    pub(super) fn leave_cluster_barrier(&self) {
        let waits = |block: &Block| block.cluster_barrier.arrived() > 0;
        let any_waits = waits(self) || self.state.is_in_cluster() && self.cluster().any(waits);
        if any_waits && self.is_cluster_complete() {
            self.release_cluster();
        }
    }

    /// Releases the threads at the barrier of the cluster. What any of its threads did comes before all that any will
    /// do.
    fn release_cluster(&self) {
        self.state.threads.note_activity();
        let first = self.cluster().find_map(|block| block.cluster_barrier.site());
        for block in self.cluster() {
            block.cluster_barrier.check_sites(&block.state, first);
        }
        if self.state.threads.watched() {
            let mut joined = Acquired::default();
            for block in self.cluster() {
                block.state.synchronise_all();
                let threads = &block.state.threads;
                joined.join(threads.acquired());
                joined.join_epoch(threads.number(), threads.lanes[0].epoch.get());
            }
            for block in self.cluster() {
                block.state.threads.acquire(&joined);
            }
        }
        for block in self.cluster() {
            block.cluster_barrier.release(&block.state);
            block.async_proxy.forget_visits();
        }
    }
}
