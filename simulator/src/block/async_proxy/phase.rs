//! The ends of an mbarrier's phases: who goes on, what comes before what, and phases that never end.

use super::proxy::AsyncProxy;
use crate::block::state::BlockState;
use crate::bulk::Mbarrier;
use crate::lane::Lane;
use crate::report::Kind;
use crate::threads::Threads;
use std::panic::Location;

impl AsyncProxy {
    /// Ends the present phase if nothing is missing. More bytes than expected are a fault of the kernel.
    pub(super) fn check_phase(&self, state: &BlockState, index: usize, location: &'static Location<'static>) {
        let mbarrier = &mut self.inner().mbarriers[index];
        if mbarrier.pending > 0 || mbarrier.bytes > 0 {
            return;
        }
        if mbarrier.bytes < 0 {
            let (more, site) = (-mbarrier.bytes, mbarrier.site);
            mbarrier.bytes = 0;
            let thread = state.threads.lanes[usize::from(mbarrier.by)].thread_index();
            state.threads.fault_at(Kind::Mbarrier, location, Some(site), state.threads.index(), thread, || {
                format!("{more} bytes more have come than the phase expects: it could end before all are there")
            });
        }
        self.end_phase(state, index);
    }

    /// The phase is over: the next begins, and those who wait go on.
    pub(super) fn end_phase(&self, state: &BlockState, index: usize) {
        state.threads.note_progress();
        self.land_unexpected(state, index);
        let mbarrier = &mut self.inner().mbarriers[index];
        mbarrier.phases += 1;
        mbarrier.pending = mbarrier.arrivals;
        mbarrier.bytes = 0;
        let landing = std::mem::take(&mut mbarrier.landing);
        mbarrier.landed.extend(landing);
        mbarrier.visited = mbarrier.visit.take().or(mbarrier.visited);
        if state.threads.lanes[0].watched() {
            let joined = state.threads.join(&mbarrier.members);
            mbarrier.members.clear();
            mbarrier.released = joined.iter().zip(mbarrier.released.iter()).map(|(&a, &b)| a.max(b)).collect();
            if let Some(own) = mbarrier.acquired.take_shared(state.threads.number()) {
                // Of this very block, through another.
                mbarrier.released = own.iter().zip(mbarrier.released.iter()).map(|(&a, &b)| a.max(b)).collect();
            }
            mbarrier.released_epoch = mbarrier.epoch;
            mbarrier.released_acquired = mbarrier.acquired.clone();
            mbarrier.merged.clear();
        }
        for waiter in std::mem::take(&mut self.inner().mbarriers[index].waiters) {
            let lane = state.threads.lane(waiter.lane);
            self.acquire_phase(state, index, lane);
            state.warp(lane).wake(lane.bit());
        }
    }

    /// The lane has seen the end of a phase: what was released in it, and in those before, came before what it does
    /// now.
    pub(super) fn acquire_phase(&self, state: &BlockState, index: usize, lane: &Lane) {
        self.inner().mbarriers[index].visited = None;
        if !lane.watched() {
            let mbarrier = &mut self.inner().mbarriers[index];
            mbarrier.landed.clear();
            return;
        }
        self.settle_copies(state, index, lane);
        let mbarrier = &mut self.inner().mbarriers[index];
        lane.epoch.set(lane.epoch.get().max(mbarrier.released_epoch));
        let order = &mut lane.extension().order;
        order.vector = Some(mbarrier.merge(order.vector.as_ref()));
        if !mbarrier.released_acquired.is_empty() {
            order.acquired.join(&mbarrier.released_acquired);
        }
    }

    /// Somebody has waited for loads that have landed: from now on they are ordinary writes, by the mbarrier's own
    /// thread number, at a clock that only those acquire who are ordered behind this wait.
    fn settle_copies(&self, state: &BlockState, index: usize, lane: &Lane) {
        let thread = state.threads.tma_thread(index);
        let landed = std::mem::take(&mut self.inner().mbarriers[index].landed);
        if landed.is_empty() {
            return;
        }
        let latest = state.threads.latest_clock();
        let clock = state.threads.bounded(latest + 1);
        if let Some(shadow) = state.shadow() {
            for landing in landed {
                shadow.settle(landing, thread, clock);
            }
        }
        // A barrier of the whole block covers all clocks up to the latest: where the lane takes part, that must be this
        // one.
        lane.set_clock(state.threads.bounded(clock + 1));
        let mbarrier = &mut self.inner().mbarriers[index];
        let mut released = mbarrier.released.to_vec();
        if let Some(own) = released.get_mut(usize::from(thread)) {
            *own = clock;
        }
        mbarrier.released = released.into();
        mbarrier.merged.clear();
    }

    /// Lanes that wait at mbarriers.
    pub(in crate::block) fn waiters<'a>(&'a self, state: &'a BlockState) -> impl Iterator<Item = &'a Lane> {
        let waiters = self.inner().mbarriers.iter().flat_map(|mbarrier| &mbarrier.waiters);
        waiters.map(|waiter| state.threads.lane(waiter.lane))
    }

    /// All threads of the cluster have met: no arrival from another block is left unordered.
    pub(in crate::block) fn forget_visits(&self) {
        for mbarrier in &mut self.inner().mbarriers {
            (mbarrier.visit, mbarrier.visited) = (None, None);
        }
    }

    /// Reports that nobody will end the phases that threads wait for. Gives whether there was one.
    pub(in crate::block) fn report_stuck_waiters(&self, state: &BlockState) -> bool {
        let mbarriers = &self.inner().mbarriers;
        let mut stuck: Vec<&Mbarrier> = mbarriers.iter().filter(|mbarrier| !mbarrier.waiters.is_empty()).collect();
        // First where something has come, but not enough; else where the first thread waits.
        stuck.sort_by_key(|mbarrier| (!mbarrier.is_begun(), mbarrier.waiters.iter().map(|waiter| waiter.lane).min()));
        let Some(first) = stuck.first() else { return false };
        let Some(waiter) = first.waiters.iter().min_by_key(|waiter| waiter.lane) else { return false };
        if state.threads.has_panicked() {
            return true; // A thread that panicked arrives nowhere: the panic is the report.
        }
        let lane = state.threads.lane(waiter.lane);
        state.threads.fault(lane, Kind::AbandonedMbarrier, waiter.location, Some(first.site), || {
            let mut groups: Vec<String> = stuck.iter().map(|mbarrier| describe_wait(state, mbarrier)).collect();
            groups.extend(state.describe_exited());
            if state.is_in_cluster() {
                groups.push("no block of the cluster makes progress".to_owned());
            }
            groups.join("; ")
        });
        true
    }
}

fn describe_wait(state: &BlockState, mbarrier: &Mbarrier) -> String {
    let mut threads: Vec<u16> = mbarrier.waiters.iter().map(|waiter| waiter.lane).collect();
    threads.sort_unstable();
    format!(
        "{} {} for the end of phase {} of the mbarrier in {}, which lacks {}",
        Threads::name_threads(&threads),
        if threads.len() == 1 { "waits" } else { "wait" },
        mbarrier.phases,
        state.threads.name_shared(mbarrier.address),
        mbarrier.missing()
    )
}
