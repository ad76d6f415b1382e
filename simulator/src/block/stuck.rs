//! No lane of a block, or of the blocks of a cluster, can run: says who waits for whom, and lets them go on, so that the rest of the kernel is checked too.

use super::Block;
use crate::report::Kind;
use std::panic::Location;

impl Block {
    /// Reports the deadlock of the blocks of a cluster, or of one block, and ends it. False: it cannot be ended, and the blocks
    /// are to be given up. So it is at mbarriers, because a ring that has lost count of its phases would show nothing but what
    /// follows from that.
    #[cold]
    pub(crate) fn resolve(blocks: &[&Self]) -> bool {
        // An mbarrier that keeps lanes from an operation of their warp or warpgroup is the mistake, not the operation.
        let mut given_up = false;
        for block in blocks {
            given_up |= block.keeps_from_warps() && block.report_mbarriers();
        }
        if given_up {
            return false;
        }
        // Lanes in a warp operation wait for lanes that stand elsewhere: theirs is the mistake, not the barrier's.
        let mut resolved = false;
        for block in blocks {
            for warp in 0..block.warps.len() {
                resolved |= block.resolve_warp(warp as u16);
            }
            for warpgroup in 0..block.warpgroups.len() {
                resolved |= block.resolve_warpgroup(warpgroup);
            }
        }
        if resolved {
            return true;
        }
        for block in blocks {
            given_up |= block.report_mbarriers();
        }
        if given_up {
            return false;
        }
        for block in blocks {
            resolved |= block.resolve_barriers();
        }
        // At the barrier of the cluster all live threads would have met.
        assert!(
            resolved,
            "a live lane that is neither ready nor spinning waits at a barrier, at an mbarrier or in an operation of its warp \
             or warpgroup"
        );
        true
    }

    /// Lets those at the block's barriers go on. Gives whether there were any.
    fn resolve_barriers(&self) -> bool {
        let busy: Vec<usize> = (0..self.barriers.len()).filter(|&id| !self.barriers[id].is_idle()).collect();
        let Some(&first) = busy.first() else { return false };
        self.report_barrier(first, &busy);
        for id in busy {
            self.release(&self.barriers[id]);
        }
        true
    }

    fn report_barrier(&self, id: usize, busy: &[usize]) {
        if self.run().reports.borrow().has(Kind::Panic) {
            return; // A thread that panicked reaches no barrier: the panic is the report.
        }
        let site = |id: usize| self.barriers[id].site.get().unwrap_or_else(|| Location::caller());
        let mut groups: Vec<String> = Vec::new();
        for &id in busy {
            let waiting = self.threads(|warp| self.barriers[id].waiting(warp));
            let expected = self.barriers[id].expected();
            groups.push(format!(
                "{} wait at barrier {id}, {}:{}, which expects {expected}",
                Self::name_threads(&waiting),
                site(id).file(),
                site(id).line()
            ));
        }
        let meeting = self.meeting.site();
        if let Some(site) = meeting {
            let waiting = self.threads(|warp| self.meeting.waiting(warp));
            let who = Self::name_threads(&waiting);
            groups.push(format!("{who} wait at the barrier of the cluster, {}:{}", site.file(), site.line()));
        }
        let exited = self.threads(|warp| self.warps[warp].existing() & !self.warps[warp].live.get());
        if !exited.is_empty() {
            groups.push(format!("{} have exited", Self::name_threads(&exited)));
        }
        let kind = if busy.len() > 1 || meeting.is_some() { Kind::DivergentBarrier } else { Kind::AbandonedBarrier };
        let other = busy.get(1).map(|&id| site(id)).or(meeting);
        let waiting = self.threads(|warp| self.barriers[id].waiting(warp));
        let lane = &self.lanes[usize::from(waiting.first().copied().unwrap_or(0))];
        self.fault(lane, kind, site(id), other, || groups.join("; "));
    }

    /// Linear indices of the threads in per-warp masks.
    pub(super) fn threads(&self, mask: impl Fn(usize) -> u32) -> Vec<u16> {
        self.lanes
            .iter()
            .filter(|lane| mask(usize::from(lane.warp)) & lane.bit() != 0)
            .map(|lane| lane.linear)
            .collect()
    }
}
