//! TMA at work: operations carried out between the turns of threads.

use super::boxes::{copy_box, read_box, write_box};
use super::proxy::{AsyncProxy, Inner};
use crate::block::state::BlockState;
use crate::bulk::{Mbarrier, Operation, Stage, Visit};
use crate::report::Kind;
use crate::schedule::Permutation;
use std::panic::Location;

/// TMA takes one in so many turns to carry out an operation, on average.
const TURNS_PER_OPERATION: u64 = 3;

impl AsyncProxy {
    /// The turn of TMA after the lanes had theirs: it must do something if no lane made progress and none spins.
    #[inline]
    pub(in crate::block) fn turn_after(&self, state: &BlockState, interval: u64, progressed: bool) -> bool {
        if self.inner().operations.is_empty() {
            return false;
        }
        let spins = state.warps.iter().any(|warp| warp.spinning.get() != 0);
        self.turn(state, interval, !progressed && !spins)
    }

    /// Carries out an operation if it must or the seed says so. Gives whether it did.
    pub(in crate::block) fn turn(&self, state: &BlockState, interval: u64, must: bool) -> bool {
        let inner = self.inner();
        let count = inner.operations.len() as u64;
        if count == 0 {
            return false;
        }
        let seed = state.threads.launch().config.seed;
        let salt = u64::from(state.threads.number()) << 32 ^ interval << 8 ^ inner.issued;
        if !must && seed != 0 && Permutation::new(TURNS_PER_OPERATION, seed, salt).at(0) != 0 {
            return false;
        }
        self.advance(state, Permutation::new(count, seed, salt ^ 1 << 63).at(0) as usize);
        true
    }

    /// Carries out the next stage of an operation.
    pub(super) fn advance(&self, state: &BlockState, index: usize) {
        state.threads.note_progress();
        let operation = &mut self.inner().operations[index];
        match &operation.stage {
            Stage::Load { .. } => {
                let operation = self.inner().operations.remove(index);
                self.land(state, &operation);
            }
            Stage::Read => {
                let bytes = read_box(state, operation);
                operation.stage = Stage::Write { bytes };
            }
            Stage::Write { .. } => {
                let operation = self.inner().operations.remove(index);
                if let Stage::Write { bytes } = &operation.stage {
                    write_box(state, &operation, bytes);
                }
            }
        }
    }

    /// A load lands: its bytes, and their count on the mbarrier.
    fn land(&self, state: &BlockState, operation: &Operation) {
        let Stage::Load { mbarrier, phase, .. } = operation.stage else { return };
        let landing = copy_box(state, operation);
        let Some(index) = self.inner().find(mbarrier) else { return };
        let it = &mut self.inner().mbarriers[index];
        if it.phases != phase {
            // Another mbarrier in its place, such as one that was initialised again.
            it.landed.extend(landing);
            self.report_unexpected(state, index, operation);
            return;
        }
        it.landing.extend(landing);
        it.bytes -= operation.count as i64;
        self.check_phase(state, index, operation.site);
    }

    /// Before a phase ends: loads that were issued in it and have not landed are too late for it. They land now, so
    /// that reports of accesses to their destinations do not hide the cause.
    pub(super) fn land_unexpected(&self, state: &BlockState, index: usize) {
        let Mbarrier { address, phases, .. } = self.inner().mbarriers[index];
        let is_late = |operation: &Operation| matches!(operation.stage, Stage::Load { mbarrier, phase, .. } if mbarrier == address && phase == phases);
        while let Some(at) = self.inner().operations.iter().position(is_late) {
            let operation = self.inner().operations.remove(at);
            let landing = copy_box(state, &operation);
            self.inner().mbarriers[index].landing.extend(landing);
            self.report_unexpected(state, index, &operation);
        }
    }

    fn report_unexpected(&self, state: &BlockState, index: usize, operation: &Operation) {
        let site = self.inner().mbarriers[index].site;
        let thread = state.threads.lane(operation.thread).thread_index();
        state.threads.fault_at(Kind::Mbarrier, operation.site, Some(site), operation.from, thread, || {
            "the phase in which this copy was issued has ended without it: its bytes were not expected".to_owned()
        });
    }

    /// The block ends: carries out what is left, and reports what nobody has waited for.
    pub(in crate::block) fn finish(&self, state: &BlockState, abandoned: bool) {
        let silent = abandoned || state.threads.has_panicked();
        let under_way = |(from, site): ([u32; 3], &'static Location<'static>)| {
            if from == state.threads.index() {
                state.threads.fault_at(Kind::AsyncNotWaited, site, None, from, [0; 3], || {
                    "the block ends, and nobody has waited for the copy that was issued here".to_owned()
                });
            } else {
                state.threads.fault_at(Kind::Cluster, site, None, from, [0; 3], || {
                    format!(
                        "{} ends, and nobody in it has waited for the copy that is sent to it here",
                        state.threads.name()
                    )
                });
            }
        };
        if !silent {
            let loads = self.inner().operations.iter().filter(|it| matches!(it.stage, Stage::Load { .. }));
            for load in loads.map(|it| (it.from, it.site)).collect::<Vec<_>>() {
                under_way(load);
            }
        }
        while !self.inner().operations.is_empty() && !abandoned {
            self.advance(state, 0);
        }
        for index in 0..self.inner().mbarriers.len() {
            let mbarrier = &self.inner().mbarriers[index];
            let landed = mbarrier.landing.iter().chain(&mbarrier.landed);
            let landed: Vec<_> = landed.map(|landing| (landing.from, landing.site)).collect();
            let (bytes, site, valid, visit) =
                (mbarrier.bytes, mbarrier.site, mbarrier.valid, mbarrier.visit.or(mbarrier.visited));
            if silent {
                continue;
            }
            for load in landed {
                under_way(load);
            }
            if let Some(Visit { block, thread, site }) = visit {
                state.threads.fault_at(Kind::Cluster, site, None, block, thread, || {
                    format!(
                        "{} ends, and nothing in it has waited for the arrival that comes from here",
                        state.threads.name()
                    )
                });
            }
            if bytes != 0 && valid {
                state.threads.fault_at(Kind::Mbarrier, site, None, state.threads.index(), [0; 3], || {
                    format!("the block ends while a phase waits for {}", self.inner().mbarriers[index].missing())
                });
            }
        }
        *self.inner() = Inner::default();
    }
}
