//! The ends of an mbarrier's phases: who goes on, what comes before what, and those that never come.

use super::Block;
use crate::bulk::Mbarrier;
use crate::lane::Lane;
use crate::order::join;
use crate::report::Kind;
use std::panic::Location;

impl Block {
    /// Ends the present phase if nothing is missing. More bytes than expected are a fault of the kernel.
    pub(super) fn check_phase(&self, index: usize, location: &'static Location<'static>) {
        let mbarrier = &mut self.engine().mbarriers[index];
        if mbarrier.pending > 0 || mbarrier.bytes > 0 {
            return;
        }
        if mbarrier.bytes < 0 {
            let (more, site) = (-mbarrier.bytes, mbarrier.site);
            mbarrier.bytes = 0;
            let thread = self.lanes[usize::from(mbarrier.by)].thread_index();
            self.fault_at(Kind::Mbarrier, location, Some(site), self.index(), thread, || {
                format!("{more} bytes more have come than the phase expects: it could end before all are there")
            });
        }
        self.end_phase(index);
    }

    /// The phase is over: the next begins, and those who wait go on.
    pub(super) fn end_phase(&self, index: usize) {
        self.note_progress();
        self.land_unexpected(index);
        let clocks = self.clocks();
        let mbarrier = &mut self.engine().mbarriers[index];
        mbarrier.phases += 1;
        mbarrier.pending = mbarrier.arrivals;
        mbarrier.bytes = 0;
        let landing = std::mem::take(&mut mbarrier.landing);
        mbarrier.landed.extend(landing);
        mbarrier.visited = mbarrier.visit.take().or(mbarrier.visited);
        if self.lanes[0].watched() {
            let joined = join(clocks, &mbarrier.members);
            mbarrier.members.clear();
            mbarrier.released = joined.iter().zip(mbarrier.released.iter()).map(|(&a, &b)| a.max(b)).collect();
            if let Some(own) = mbarrier.acquired.take_told(self.number()) {
                // Of this very block, by way of another.
                mbarrier.released = own.iter().zip(mbarrier.released.iter()).map(|(&a, &b)| a.max(b)).collect();
            }
            mbarrier.released_known = mbarrier.known;
            mbarrier.released_acquired = mbarrier.acquired.clone();
            mbarrier.merged.clear();
        }
        for waiter in std::mem::take(&mut self.engine().mbarriers[index].waiters) {
            let lane = &self.lanes[usize::from(waiter.lane)];
            self.acquire_phase(index, lane);
            let ready = &self.warps[usize::from(lane.warp)].ready;
            ready.set(ready.get() | lane.bit());
        }
    }

    /// The lane has seen the end of a phase: what was released in it, and in those before, came before what it does now.
    pub(super) fn acquire_phase(&self, index: usize, lane: &Lane) {
        self.engine().mbarriers[index].visited = None;
        if !lane.watched() {
            let mbarrier = &mut self.engine().mbarriers[index];
            mbarrier.landed.clear();
            return;
        }
        self.settle_copies(index, lane);
        let mbarrier = &mut self.engine().mbarriers[index];
        lane.known.set(lane.known.get().max(mbarrier.released_known));
        let rare = lane.rare();
        rare.vector = Some(mbarrier.merge(rare.vector.as_ref()));
        if !mbarrier.released_acquired.is_empty() {
            rare.acquired.merge(&mbarrier.released_acquired);
        }
    }

    /// Somebody has waited for copies that have landed: from now on they are writes like others, by the mbarrier's own
    /// thread, at a clock that nobody knows who does not know of this wait.
    fn settle_copies(&self, index: usize, lane: &Lane) {
        let thread = self.engine_thread(index);
        let landed = std::mem::take(&mut self.engine().mbarriers[index].landed);
        if landed.is_empty() {
            return;
        }
        let latest = self.lanes.iter().map(|lane| lane.clock.get()).max().unwrap_or(0);
        let clock = self.bounded(latest + 1);
        if let Some(shadow) = self.shadow() {
            for landing in landed {
                shadow.settle(landing, thread, clock);
            }
        }
        // Barriers of the whole block tell of all clocks up to the latest: it must be this one where the lane takes part.
        lane.clock.set(self.bounded(clock + 1));
        let mbarrier = &mut self.engine().mbarriers[index];
        let mut released = mbarrier.released.to_vec();
        if let Some(own) = released.get_mut(usize::from(thread)) {
            *own = clock;
        }
        mbarrier.released = released.into();
        mbarrier.merged.clear();
    }

    /// Whether lanes that wait at an mbarrier are missing in an operation of their warp.
    pub(super) fn keeps_from_warps(&self) -> bool {
        let waiters = self.engine().mbarriers.iter().flat_map(|mbarrier| &mbarrier.waiters);
        waiters.map(|waiter| &self.lanes[usize::from(waiter.lane)]).any(|lane| self.is_awaited(lane))
    }

    /// Reports that nobody will end the phases that threads wait for. Gives whether there was one.
    pub(super) fn report_mbarriers(&self) -> bool {
        let mbarriers = &self.engine().mbarriers;
        let mut stuck: Vec<&Mbarrier> = mbarriers.iter().filter(|mbarrier| !mbarrier.waiters.is_empty()).collect();
        // First where something has come, but not enough; else where the first thread waits.
        stuck.sort_by_key(|mbarrier| (!mbarrier.is_begun(), mbarrier.waiters.iter().map(|waiter| waiter.lane).min()));
        let Some(first) = stuck.first() else { return false };
        let Some(waiter) = first.waiters.iter().min_by_key(|waiter| waiter.lane) else { return false };
        if self.run().reports.borrow().has(Kind::Panic) {
            return true; // A thread that panicked arrives nowhere: the panic is the report.
        }
        let lane = &self.lanes[usize::from(waiter.lane)];
        self.fault(lane, Kind::AbandonedMbarrier, waiter.location, Some(first.site), || {
            let mut groups: Vec<String> = stuck.iter().map(|mbarrier| self.describe_wait(mbarrier)).collect();
            let exited = self.threads(|warp| self.warps[warp].existing() & !self.warps[warp].live.get());
            if !exited.is_empty() {
                groups.push(format!("{} have exited", Self::name_threads(&exited)));
            }
            if self.is_in_cluster() {
                groups.push("no block of the cluster gets on".to_owned());
            }
            groups.join("; ")
        });
        true
    }

    fn describe_wait(&self, mbarrier: &Mbarrier) -> String {
        let mut threads: Vec<u16> = mbarrier.waiters.iter().map(|waiter| waiter.lane).collect();
        threads.sort_unstable();
        format!(
            "{} {} for the end of phase {} of the mbarrier in {}, which lacks {}",
            Self::name_threads(&threads),
            if threads.len() == 1 { "waits" } else { "wait" },
            mbarrier.phases,
            self.name_shared(mbarrier.address),
            mbarrier.missing()
        )
    }
}
