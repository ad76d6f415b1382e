//! The order of the block's threads: clocks, joins, and whether an access came before.

use super::state::{MAX_THREAD, Threads};
use crate::happens_before::{
    Acquired, AtomicOp, Effect, Logs, MULTIPLE, Member, Stamp, ThreadEpoch, VectorClock, is_same, join,
};
use crate::lane::Lane;
use crate::ordering::{Order, Scope};
use crate::report::Kind;
use std::panic::Location;
use std::rc::Rc;

/// Entries of vector clocks for mbarriers, behind those of the threads: see [`Threads::tma_thread`].
const TMA_THREADS: usize = 32;

/// Threads of a warpgroup.
const WARPGROUP: usize = 128;

/// A clock that a lane has acquired, and its vector before and after. The lanes of a warpgroup acquire the same clock
/// one after the other, mostly with the same vector, and then have the same again.
pub(super) struct AcquiredClock {
    thread: u16,
    clock: u32,
    before: Option<VectorClock>,
    after: VectorClock,
}

/// Whether an action of a thread of the lane's block came before: the two answers that cost next to nothing.
#[inline(always)]
pub(crate) fn is_before(lane: &Lane, thread: u16, clock: u32) -> bool {
    clock <= lane.epoch.get() || thread == lane.linear
}

/// The first of ascending clocks that is `clock` or later.
fn first_from(clock: u32, clocks: &[u32]) -> Option<u32> {
    clocks.get(clocks.partition_point(|&other| other < clock)).copied()
}

impl Threads {
    /// Whether what a thread of this block did up to a clock came before what the lane does now.
    pub(crate) fn has_acquired(&self, lane: &Lane, thread: u16, clock: u32) -> bool {
        let stamp = Stamp { block: self.number(), thread, warp: self.warp_of(thread), clock };
        is_before(lane, thread, clock) || self.is_ordered(lane, stamp)
    }

    /// Whether an access came before, where [`is_before`] does not say so: by the order of the warp, of barriers of
    /// some threads, of atomics, of the cluster.
    #[cold]
    pub(crate) fn is_ordered(&self, lane: &Lane, stamp: Stamp) -> bool {
        if stamp.block == self.number() {
            if stamp.warp == lane.warp && stamp.clock <= lane.warp_epoch.get() {
                return true;
            }
            if let Some(extension) = lane.extension_if_any()
                && let Some(vector) = &extension.order.vector
                && vector.get(usize::from(stamp.thread)).is_some_and(|&clock| stamp.clock <= clock)
            {
                return true;
            }
        }
        lane.extension_if_any().is_some_and(|extension| extension.order.acquired.covers(stamp))
            || self.acquired().covers(stamp)
    }

    /// Whether accesses of several threads of a warp (of the block if `warp` is none), the latest at `clock`, came
    /// before.
    pub(crate) fn are_ordered(&self, lane: &Lane, block: u32, warp: Option<u16>, clock: u32) -> bool {
        self.is_ordered(lane, Stamp { block, thread: MULTIPLE, warp: warp.unwrap_or(MULTIPLE), clock })
    }

    /// What the block as a whole has acquired.
    pub(crate) fn acquired(&self) -> &Acquired {
        self.acquired_mut()
    }

    #[expect(clippy::mut_from_ref, reason = "one OS thread; no two of these borrows live at once")]
    pub(super) fn acquired_mut(&self) -> &mut Acquired {
        // SAFETY: only this OS thread touches the block, and callers end the borrow before the next call or switch.
        unsafe { &mut *self.acquired.get() }
    }

    /// Joins what other blocks of the cluster have acquired.
    pub(crate) fn acquire(&self, acquired: &Acquired) {
        self.acquired_mut().join(acquired);
    }

    /// Whether some threads of the launch have synchronised without the others of their block or warp.
    #[inline]
    pub(crate) fn has_per_thread_clocks(&self) -> bool {
        self.launch().per_thread_clocks.get()
    }

    /// The lane's clocks, for a release.
    pub(crate) fn epoch_of(&self, lane: &Lane) -> ThreadEpoch {
        ThreadEpoch {
            block: self.number(),
            thread: lane.linear,
            warp: lane.warp,
            clock: lane.clock(),
            epoch: lane.epoch.get(),
            warp_epoch: lane.warp_epoch.get(),
        }
    }

    /// Advances a lane's clock: what it does from now on is later than what it has just published.
    pub(crate) fn tick(&self, lane: &Lane) {
        lane.set_clock(self.bounded(lane.clock() + 1));
    }

    /// The latest clock of any thread of the block.
    pub(crate) fn latest_clock(&self) -> u32 {
        self.lanes.iter().map(Lane::clock).max().unwrap_or(0)
    }

    /// What a lane contributes to a [`join`].
    pub(crate) fn member(&self, lane: &Lane) -> Member {
        let first = self.first_of(lane.warp);
        Member {
            thread: lane.linear,
            clock: lane.clock(),
            warp_epoch: lane.warp_epoch.get(),
            warp: first..(first + (1 << self.warp_shift)).min(self.lanes.len()),
            vector: lane.extension_if_any().and_then(|extension| extension.order.vector.clone()),
        }
    }

    /// The vector clock of several members.
    pub(crate) fn join(&self, members: &[Member]) -> VectorClock {
        join(self.clocks(), members)
    }

    /// A barrier of the whole block: everything that any of its threads did comes before everything that any will do.
    pub(crate) fn synchronise_all(&self) {
        let latest = self.latest_clock();
        let next = self.bounded(latest + 1);
        for lane in &self.lanes {
            lane.epoch.set(latest);
            lane.set_clock(next);
            if let Some(extension) = lane.extension_if_any() {
                extension.order.vector = None;
                if !extension.order.acquired.is_empty() {
                    self.acquired_mut().join(&std::mem::take(&mut extension.order.acquired));
                }
            }
        }
    }

    /// A `sync_warp` of the whole warp, while no clocks are kept per thread.
    pub(crate) fn synchronise_warp<'a>(&self, lanes: impl Iterator<Item = &'a Lane> + Clone) {
        let latest = lanes.clone().map(Lane::clock).max().unwrap_or(0);
        let epoch = lanes.clone().map(|lane| lane.epoch.get()).max().unwrap_or(0);
        let next = self.bounded(latest + 1);
        let mut acquired = Acquired::default();
        for extension in lanes.clone().filter_map(Lane::extension_if_any) {
            acquired.join(&extension.order.acquired);
        }
        for lane in lanes {
            lane.warp_epoch.set(latest);
            lane.epoch.set(epoch);
            lane.set_clock(next);
            if !acquired.is_empty() {
                lane.extension().order.acquired.join(&acquired);
            }
        }
    }

    /// A barrier of some threads: what `members` did and had acquired comes before what `lanes` will do.
    pub(crate) fn synchronise_some(&self, members: &[Member], epoch: u32, lanes: &[&Lane]) {
        let joined = self.join(members);
        let mut acquired = Acquired::default();
        for member in members {
            if let Some(extension) = self.lane(member.thread).extension_if_any() {
                acquired.join(&extension.order.acquired);
            }
        }
        for lane in lanes {
            lane.epoch.set(lane.epoch.get().max(epoch));
            self.tick(lane);
            let order = &mut lane.extension().order;
            order.vector = Some(Rc::clone(&joined));
            if !acquired.is_empty() {
                order.acquired.join(&acquired);
            }
        }
    }

    /// Orders the lane behind what `thread` did up to `clock`.
    pub(crate) fn acquire_clock(&self, lane: &Lane, thread: u16, clock: u32) {
        if clock <= lane.epoch.get() {
            return;
        }
        let vector = &mut lane.extension().order.vector;
        let mut last = self.last_acquired.borrow_mut();
        if let Some(last) = &*last
            && (last.thread, last.clock) == (thread, clock)
            && is_same(last.before.as_ref(), vector.as_ref())
        {
            *vector = Some(Rc::clone(&last.after));
            return;
        }
        let mut clocks = vector.as_deref().map_or_else(|| vec![0; self.clocks()], <[u32]>::to_vec);
        if let Some(entry) = clocks.get_mut(usize::from(thread)) {
            *entry = (*entry).max(clock);
        }
        let after: VectorClock = clocks.into();
        let before = vector.replace(Rc::clone(&after));
        *last = Some(AcquiredClock { thread, clock, before, after });
    }

    /// The order that an atomic operation makes.
    pub(crate) fn order_atomic(
        &self,
        logs: &mut Logs,
        lane: &Lane,
        address: usize,
        op: AtomicOp,
        how: (Order, Scope),
    ) -> Effect {
        let epoch = self.epoch_of(lane);
        let effect = lane.extension().order.atomic(logs, address, op, how, epoch, self.acquired());
        if effect == Effect::Releases {
            self.tick(lane);
        }
        effect
    }

    /// Whether the lane, which has just released, and another one have released between the same two barriers. They may
    /// be two of several readers, each of which publishes its own reads: readers must then be recorded one by one.
    pub(crate) fn has_several_releasers(&self, lane: &Lane) -> bool {
        let (interval, releaser) = self.releaser.replace((lane.epoch.get(), lane.linear));
        releaser != lane.linear && interval == lane.epoch.get() && !self.has_per_thread_clocks()
    }

    /// The order that a fence makes.
    pub(crate) fn order_fence(&self, lane: &Lane, scope: Scope) {
        lane.extension().order.fence(scope, self.epoch_of(lane), self.acquired());
        self.tick(lane);
    }

    /// The clock of the first proxy fence that a thread executed at `clock` or later.
    pub(crate) fn proxy_fence_after(&self, thread: u16, clock: u32) -> Option<u32> {
        first_from(clock, &self.lane(thread).extension_if_any()?.proxy_fences)
    }

    /// Whether what a thread read at `clock` was in its registers before what a lane has acquired: by a proxy fence, or
    /// as an operand of a matrix product.
    pub(crate) fn is_read_settled(&self, lane: &Lane, thread: u16, clock: u32) -> bool {
        let used = || first_from(clock, &self.lane(thread).extension_if_any()?.products_of_registers);
        let is_acquired = |at: u32| self.has_acquired(lane, thread, at);
        self.proxy_fence_after(thread, clock).is_some_and(is_acquired) || used().is_some_and(is_acquired)
    }

    /// The first number that is no thread's: a whole number of warps.
    fn tma_base(&self) -> usize {
        self.warps() << self.warp_shift
    }

    fn warpgroups(&self) -> usize {
        self.lanes.len().div_ceil(WARPGROUP)
    }

    /// The thread number that stands in the shadow for the loads that complete on mbarrier number `slot`. A wait
    /// acquires its clock, and so the writes; no thread's clock covers them.
    pub(crate) fn tma_thread(&self, slot: usize) -> u16 {
        (self.tma_base() + slot % TMA_THREADS).min(MAX_THREAD) as u16
    }

    /// Whether the thread number of a stamp stands for TMA or the tensor cores.
    pub(crate) fn is_async_proxy(&self, thread: u16) -> bool {
        usize::from(thread) >= self.lanes.len()
    }

    /// The thread number that stands in the shadow for the reads of operands by a warpgroup's matrix products.
    pub(crate) fn tensor_thread(&self, warpgroup: usize) -> u16 {
        (self.tma_base() + TMA_THREADS + warpgroup).min(MAX_THREAD) as u16
    }

    /// Whether the thread number of a stamp stands for the tensor cores.
    pub(super) fn is_tensor(&self, thread: u16) -> bool {
        usize::from(thread) >= self.tma_base() + TMA_THREADS
    }

    /// Length of the block's vector clocks.
    pub(crate) fn clocks(&self) -> usize {
        self.tma_base() + TMA_THREADS + self.warpgroups()
    }

    /// Reports that the block has too many threads for the numbers of TMA and the tensor cores, if so.
    pub(crate) fn check_thread_numbers(&self, lane: &Lane, location: &'static Location<'static>) {
        if self.clocks() > MAX_THREAD + 1 {
            self.fault(lane, Kind::Limit, location, None, || {
                let most = MAX_THREAD + 1 - TMA_THREADS - self.warpgroups();
                format!("copies and matrix products in a block of more than {most} threads are not checked in full")
            });
        }
    }
}
