//! What threads do with mbarriers.

use super::Block;
use crate::bulk::{MOST_PENDING, Mbarrier, Waiter};
use crate::lane::{Lane, suspend};
use crate::report::Kind;
use crate::shadow;
use std::panic::Location;

/// Places in vectors of clocks beside those of the threads: see [`Block::engine_thread`].
const ENGINE_THREADS: usize = 32;

impl Block {
    /// The first number that is no thread's: of a whole number of warps.
    fn engine_base(&self) -> usize {
        self.warps.len() << self.lanes_shift
    }

    /// What the shadow takes for the thread that writes what completes on mbarrier number `slot`. A wait learns of that
    /// thread's clock, and so of the writes; no thread's clock says it.
    pub(super) fn engine_thread(&self, slot: usize) -> u16 {
        let base = self.engine_base();
        (base + slot % ENGINE_THREADS).min(shadow::MAX_THREAD) as u16
    }

    /// Whether a thread of a stamp is the copy engine.
    pub(crate) fn is_engine(&self, thread: u16) -> bool {
        usize::from(thread) >= self.lanes.len()
    }

    /// What the shadow takes for the thread that reads the operands of a warpgroup's matrix products.
    pub(super) fn tensor_thread(&self, warpgroup: usize) -> u16 {
        (self.engine_base() + ENGINE_THREADS + warpgroup).min(shadow::MAX_THREAD) as u16
    }

    /// Whether a thread of a stamp is the tensor cores.
    pub(super) fn is_tensor(&self, thread: u16) -> bool {
        usize::from(thread) >= self.engine_base() + ENGINE_THREADS
    }

    /// Says that there are more threads than stamps can tell apart, if so.
    pub(super) fn limit_engine_threads(&self, lane: &Lane, location: &'static Location<'static>) {
        let beside = ENGINE_THREADS + self.warpgroups.len();
        if self.engine_base() + beside > shadow::MAX_THREAD + 1 {
            self.fault(lane, Kind::Limit, location, None, || {
                let most = shadow::MAX_THREAD + 1 - beside;
                format!("copies and matrix products in a block of more than {most} threads are not checked in full")
            });
        }
    }

    /// Length of the vectors of clocks.
    pub(crate) fn clocks(&self) -> usize {
        self.engine_base() + ENGINE_THREADS + self.warpgroups.len()
    }

    /// Makes an mbarrier.
    pub(crate) fn mbarrier_init(
        &self,
        lane: &Lane,
        address: usize,
        arrivals: u32,
        location: &'static Location<'static>,
    ) {
        self.advance_clock();
        if !(1..=MOST_PENDING).contains(&arrivals) {
            self.fault(lane, Kind::Mbarrier, location, None, || {
                format!("a phase of {arrivals} arrivals, there can be 1 to {MOST_PENDING}")
            });
        }
        if lane.watched() {
            self.be_fine();
            self.limit_engine_threads(lane, location);
        }
        let arrivals = arrivals.clamp(1, MOST_PENDING);
        let known = self.engine().mbarriers.iter().position(|mbarrier| mbarrier.address == address);
        let index = known.unwrap_or_else(|| {
            self.engine().mbarriers.push(Mbarrier::new(address, location));
            self.engine().mbarriers.len() - 1
        });
        if let Some(site) = known.map(|index| &self.engine().mbarriers[index]).filter(|it| it.valid).map(|it| it.site) {
            self.fault(lane, Kind::Mbarrier, location, Some(site), || {
                format!(
                    "the mbarrier in {} is initialised a second time, not invalidated before",
                    self.name_shared(address)
                )
            });
        }
        let released = vec![0; self.clocks()].into();
        self.engine().mbarriers[index] = Mbarrier {
            valid: true,
            arrivals,
            pending: arrivals,
            by: lane.linear,
            at: lane.clock.get(),
            released,
            ..Mbarrier::new(address, location)
        };
    }

    /// The number of the mbarrier at an address. Reports one that is not initialised, or not for this thread.
    pub(super) fn mbarrier_at(
        &self,
        lane: &Lane,
        address: usize,
        location: &'static Location<'static>,
    ) -> Option<usize> {
        self.advance_clock();
        let Some(index) = self.engine().find(address) else {
            self.fault(lane, Kind::Mbarrier, location, None, || {
                format!("no mbarrier is initialised in {}", self.name_shared(address))
            });
            return None;
        };
        let Mbarrier { by, at, site, .. } = self.engine().mbarriers[index];
        if lane.watched() && !shadow::knows(self, lane, by, at) {
            self.fault(lane, Kind::Mbarrier, location, Some(site), || {
                let (name, who) = (self.name_shared(address), self.name_thread(by));
                format!("the mbarrier in {name} is used in no order with its initialisation by {who}")
            });
        }
        Some(index)
    }

    /// Ends an mbarrier's life.
    pub(crate) fn mbarrier_invalidate(&self, lane: &Lane, address: usize, location: &'static Location<'static>) {
        let Some(index) = self.mbarrier_at(lane, address, location) else { return };
        let engine = self.engine();
        let copies = engine.operations.iter().filter(|operation| operation.completes_on(address)).count();
        let mbarrier = &mut engine.mbarriers[index];
        mbarrier.valid = false;
        let (waiters, site) = (mbarrier.waiters.len(), mbarrier.site);
        if waiters + copies > 0 {
            self.fault(lane, Kind::Mbarrier, location, Some(site), || {
                format!("the mbarrier is invalidated while {waiters} threads wait at it and {copies} copies are to complete on it")
            });
        }
    }

    /// Arrives, expecting bytes before where there are any.
    pub(crate) fn mbarrier_arrive(
        &self,
        lane: &Lane,
        address: usize,
        bytes: Option<u32>,
        location: &'static Location<'static>,
    ) {
        let Some(index) = self.mbarrier_at(lane, address, location) else { return };
        if let Some(bytes) = bytes {
            self.expect(lane, index, bytes, location);
        }
        if !self.count_arrival(lane, index, location) {
            return;
        }
        if lane.watched() {
            let mbarrier = &mut self.engine().mbarriers[index];
            let member = self.member(lane);
            mbarrier.members.push(member);
            mbarrier.known = mbarrier.known.max(lane.known.get());
            if let Some(rare) = lane.rare_if_any() {
                mbarrier.acquired.merge(&rare.acquired);
            }
            self.tick(lane);
        }
        self.check_phase(index, location);
    }

    /// Counts an arrival in the present phase, if it has one left.
    pub(super) fn count_arrival(&self, lane: &Lane, index: usize, location: &'static Location<'static>) -> bool {
        let mbarrier = &mut self.engine().mbarriers[index];
        if mbarrier.pending == 0 {
            let (arrivals, missing) = (mbarrier.arrivals, mbarrier.missing());
            self.fault(lane, Kind::Mbarrier, location, Some(mbarrier.site), || {
                format!("an arrival beyond the {arrivals} of a phase that still waits for {missing}")
            });
            return false;
        }
        mbarrier.pending -= 1;
        true
    }

    /// Expects bytes in the present phase.
    pub(crate) fn mbarrier_expect(
        &self,
        lane: &Lane,
        address: usize,
        bytes: u32,
        location: &'static Location<'static>,
    ) {
        let Some(index) = self.mbarrier_at(lane, address, location) else { return };
        self.expect(lane, index, bytes, location);
        self.check_phase(index, location);
    }

    fn expect(&self, lane: &Lane, index: usize, bytes: u32, location: &'static Location<'static>) {
        let mbarrier = &mut self.engine().mbarriers[index];
        mbarrier.bytes += i64::from(bytes);
        if mbarrier.bytes > i64::from(MOST_PENDING) {
            let (sum, site) = (mbarrier.bytes, mbarrier.site);
            self.fault(lane, Kind::Mbarrier, location, Some(site), || {
                format!("the phase is to wait for {sum} bytes, at most {MOST_PENDING} can be")
            });
        }
    }

    /// Whether the phase of this parity is over; if it is, the lane knows what it brought.
    pub(crate) fn mbarrier_test(
        &self,
        lane: &Lane,
        address: usize,
        parity: u32,
        location: &'static Location<'static>,
    ) -> bool {
        // Where there is no mbarrier nothing is worth waiting for.
        let Some(index) = self.mbarrier_at(lane, address, location) else { return true };
        let over = self.engine().mbarriers[index].is_over(parity);
        if over {
            self.acquire_phase(index, lane);
        }
        over
    }

    /// Waits until the phase of this parity is over. Inlined up to the switch of stacks: see [`suspend`].
    #[inline(always)]
    pub(crate) fn mbarrier_wait(&self, lane: &Lane, address: usize, parity: u32, location: &'static Location<'static>) {
        if self.begin_wait(lane, address, parity, location) {
            suspend(lane);
        }
    }

    /// Gives whether the lane must wait.
    #[inline(never)]
    fn begin_wait(&self, lane: &Lane, address: usize, parity: u32, location: &'static Location<'static>) -> bool {
        if self.mbarrier_test(lane, address, parity, location) {
            return false;
        }
        let Some(index) = self.engine().find(address) else { return false };
        self.engine().mbarriers[index].waiters.push(Waiter { lane: lane.linear, location });
        true
    }

    /// The clock of the first proxy fence of a thread after it stood at `clock`.
    pub(crate) fn has_fenced(&self, thread: u16, clock: u32) -> Option<u32> {
        let fences = &self.lanes[usize::from(thread)].rare_if_any()?.proxy_fences;
        fences.get(fences.partition_point(|&fence| fence < clock)).copied()
    }

    /// This thread's fence is behind its initialisations.
    pub(crate) fn fence_mbarriers(&self, lane: &Lane) {
        self.advance_clock();
        for mbarrier in self.engine().mbarriers.iter_mut().filter(|mbarrier| mbarrier.by == lane.linear) {
            mbarrier.fenced = true;
        }
    }

    /// The mbarrier on which a copy is to complete: its phase, and the thread that the shadow is to take for the writer.
    pub(super) fn mbarrier_for_copy(
        &self,
        lane: &Lane,
        address: usize,
        location: &'static Location<'static>,
    ) -> Option<(u64, u16)> {
        let index = self.mbarrier_at(lane, address, location)?;
        let Mbarrier { fenced, site, phases, .. } = self.engine().mbarriers[index];
        if !fenced {
            self.fault(lane, Kind::ProxyFence, location, Some(site), || {
                "the copy is to complete on an mbarrier of whose initialisation the copy engine was not told: no \
                 fence_mbarrier_init after it"
                    .to_owned()
            });
        }
        Some((phases, self.engine_thread(index)))
    }
}
