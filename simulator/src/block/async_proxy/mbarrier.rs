//! Operations of threads on mbarriers.

use super::proxy::AsyncProxy;
use crate::block::state::BlockState;
use crate::bulk::{MOST_PENDING, Mbarrier, Visit, Waiter};
use crate::happens_before::Acquired;
use crate::lane::{Lane, suspend};
use crate::report::Kind;
use std::panic::Location;

impl AsyncProxy {
    /// `mbarrier.init`.
    pub(crate) fn mbarrier_init(
        &self,
        state: &BlockState,
        lane: &Lane,
        address: usize,
        arrivals: u32,
        location: &'static Location<'static>,
    ) {
        state.threads.count_step();
        if !(1..=MOST_PENDING).contains(&arrivals) {
            state.threads.fault(lane, Kind::Mbarrier, location, None, || {
                format!("a phase of {arrivals} arrivals, there can be 1 to {MOST_PENDING}")
            });
        }
        if lane.watched() {
            state.enable_per_thread_clocks();
            state.threads.check_thread_numbers(lane, location);
        }
        let arrivals = arrivals.clamp(1, MOST_PENDING);
        let present = self.inner().mbarriers.iter().position(|mbarrier| mbarrier.address == address);
        let index = present.unwrap_or_else(|| {
            self.inner().mbarriers.push(Mbarrier::new(address, location));
            self.inner().mbarriers.len() - 1
        });
        let valid = present.map(|index| &self.inner().mbarriers[index]).filter(|it| it.valid);
        if let Some(site) = valid.map(|it| it.site) {
            state.threads.fault(lane, Kind::Mbarrier, location, Some(site), || {
                format!(
                    "the mbarrier in {} is initialised a second time, not invalidated before",
                    state.threads.name_shared(address)
                )
            });
        }
        let released = vec![0; state.threads.clocks()].into();
        self.inner().mbarriers[index] = Mbarrier {
            valid: true,
            arrivals,
            pending: arrivals,
            by: lane.linear,
            at: lane.clock(),
            released,
            ..Mbarrier::new(address, location)
        };
    }

    /// The number of the mbarrier at an address. Reports one that is not initialised, or not for this thread.
    fn mbarrier_at(
        &self,
        state: &BlockState,
        lane: &Lane,
        address: usize,
        location: &'static Location<'static>,
    ) -> Option<usize> {
        state.threads.count_step();
        let Some(index) = self.inner().find(address) else {
            state.threads.fault(lane, Kind::Mbarrier, location, None, || {
                format!("no mbarrier is initialised in {}", state.threads.name_shared(address))
            });
            return None;
        };
        let Mbarrier { by, at, site, .. } = self.inner().mbarriers[index];
        if lane.watched() && !state.threads.has_acquired(lane, by, at) {
            state.threads.fault(lane, Kind::Mbarrier, location, Some(site), || {
                let (name, who) = (state.threads.name_shared(address), state.threads.name_thread(by));
                format!("the mbarrier in {name} is used in no order with its initialisation by {who}")
            });
        }
        Some(index)
    }

    /// `mbarrier.inval`.
    pub(crate) fn mbarrier_invalidate(
        &self,
        state: &BlockState,
        lane: &Lane,
        address: usize,
        location: &'static Location<'static>,
    ) {
        let Some(index) = self.mbarrier_at(state, lane, address, location) else { return };
        let inner = self.inner();
        let copies = inner.operations.iter().filter(|operation| operation.completes_on(address)).count();
        let mbarrier = &mut inner.mbarriers[index];
        mbarrier.valid = false;
        let (waiters, site) = (mbarrier.waiters.len(), mbarrier.site);
        if waiters + copies > 0 {
            state.threads.fault(lane, Kind::Mbarrier, location, Some(site), || {
                format!(
                    "the mbarrier is invalidated while {waiters} threads wait at it and {copies} copies are to \
                     complete on it"
                )
            });
        }
    }

    /// Arrives, expecting bytes before where there are any.
    pub(crate) fn mbarrier_arrive(
        &self,
        state: &BlockState,
        lane: &Lane,
        address: usize,
        bytes: Option<u32>,
        location: &'static Location<'static>,
    ) {
        let Some(index) = self.mbarrier_at(state, lane, address, location) else { return };
        if let Some(bytes) = bytes {
            self.expect(state, lane, index, bytes, location);
        }
        if !self.count_arrival(state, lane, index, location) {
            return;
        }
        if lane.watched() {
            let mbarrier = &mut self.inner().mbarriers[index];
            let member = state.threads.member(lane);
            mbarrier.members.push(member);
            mbarrier.epoch = mbarrier.epoch.max(lane.epoch.get());
            if let Some(extension) = lane.extension_if_any() {
                mbarrier.acquired.join(&extension.order.acquired);
            }
            state.threads.tick(lane);
        }
        self.check_phase(state, index, location);
    }

    /// A thread of another block arrives. It releases the order with blocks of the cluster that `released` makes.
    pub(in crate::block) fn mbarrier_arrive_remotely(
        &self,
        state: &BlockState,
        lane: &Lane,
        address: usize,
        released: impl FnOnce() -> Acquired,
        location: &'static Location<'static>,
    ) {
        let Some(index) = self.mbarrier_at(state, lane, address, location) else { return };
        if !self.count_arrival(state, lane, index, location) {
            return;
        }
        let mbarrier = &mut self.inner().mbarriers[index];
        mbarrier.visit = Some(Visit { block: lane.geometry().block_idx, thread: lane.thread_index(), site: location });
        if lane.watched() {
            mbarrier.acquired.join_peers(&released());
        }
        self.check_phase(state, index, location);
    }

    /// A load that would complete on the mbarrier at an address is not issued: its bytes are not to be waited for.
    pub(in crate::block) fn forgo_bytes(&self, address: usize, bytes: u64) {
        if let Some(index) = self.inner().find(address) {
            self.inner().mbarriers[index].bytes -= bytes as i64;
        }
    }

    /// Counts an arrival in the present phase, if it has one left.
    fn count_arrival(
        &self,
        state: &BlockState,
        lane: &Lane,
        index: usize,
        location: &'static Location<'static>,
    ) -> bool {
        let mbarrier = &mut self.inner().mbarriers[index];
        if mbarrier.pending == 0 {
            let (arrivals, missing) = (mbarrier.arrivals, mbarrier.missing());
            state.threads.fault(lane, Kind::Mbarrier, location, Some(mbarrier.site), || {
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
        state: &BlockState,
        lane: &Lane,
        address: usize,
        bytes: u32,
        location: &'static Location<'static>,
    ) {
        let Some(index) = self.mbarrier_at(state, lane, address, location) else { return };
        self.expect(state, lane, index, bytes, location);
        self.check_phase(state, index, location);
    }

    fn expect(&self, state: &BlockState, lane: &Lane, index: usize, bytes: u32, location: &'static Location<'static>) {
        let mbarrier = &mut self.inner().mbarriers[index];
        mbarrier.bytes += i64::from(bytes);
        if mbarrier.bytes > i64::from(MOST_PENDING) {
            let (sum, site) = (mbarrier.bytes, mbarrier.site);
            state.threads.fault(lane, Kind::Mbarrier, location, Some(site), || {
                format!("the phase is to wait for {sum} bytes, at most {MOST_PENDING} can be")
            });
        }
    }

    /// Whether the phase of this parity is over; if it is, the lane acquires what was released in it.
    pub(crate) fn mbarrier_test(
        &self,
        state: &BlockState,
        lane: &Lane,
        address: usize,
        parity: u32,
        location: &'static Location<'static>,
    ) -> bool {
        // Without an mbarrier there is nothing to wait for.
        let Some(index) = self.mbarrier_at(state, lane, address, location) else { return true };
        let over = self.inner().mbarriers[index].is_over(parity);
        if over {
            self.acquire_phase(state, index, lane);
        }
        over
    }

    /// Waits until the phase of this parity is over. Inlined up to the switch of stacks: see [`suspend`].
    #[inline(always)]
    pub(crate) fn mbarrier_wait(
        &self,
        state: &BlockState,
        lane: &Lane,
        address: usize,
        parity: u32,
        location: &'static Location<'static>,
    ) {
        if self.begin_wait(state, lane, address, parity, location) {
            suspend(lane);
        }
    }

    /// Gives whether the lane must wait.
    #[inline(never)]
    fn begin_wait(
        &self,
        state: &BlockState,
        lane: &Lane,
        address: usize,
        parity: u32,
        location: &'static Location<'static>,
    ) -> bool {
        if self.mbarrier_test(state, lane, address, parity, location) {
            return false;
        }
        let Some(index) = self.inner().find(address) else { return false };
        self.inner().mbarriers[index].waiters.push(Waiter { lane: lane.linear, location });
        true
    }

    /// This thread has fenced its initialisations.
    pub(crate) fn fence_mbarriers(&self, state: &BlockState, lane: &Lane) {
        state.threads.count_step();
        for mbarrier in self.inner().mbarriers.iter_mut().filter(|mbarrier| mbarrier.by == lane.linear) {
            mbarrier.fenced = true;
        }
    }

    /// The mbarrier on which a load is to complete: its phase, and the thread number of the load in the shadow.
    pub(super) fn mbarrier_for_copy(
        &self,
        state: &BlockState,
        lane: &Lane,
        address: usize,
        location: &'static Location<'static>,
    ) -> Option<(u64, u16)> {
        let index = self.mbarrier_at(state, lane, address, location)?;
        let Mbarrier { fenced, site, phases, .. } = self.inner().mbarriers[index];
        if !fenced {
            state.threads.fault(lane, Kind::ProxyFence, location, Some(site), || {
                "the copy is to complete on an mbarrier whose initialisation is not visible to TMA: no \
                 fence_mbarrier_init after it"
                    .to_owned()
            });
        }
        Some((phases, state.threads.tma_thread(index)))
    }
}
