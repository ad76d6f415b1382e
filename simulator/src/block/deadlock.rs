//! Deadlocks: no lane of a block, or of the blocks of a cluster, can run. Reports who waits for whom, and lets them go
//! on, so that the rest of the kernel is checked too.

use super::resident::Block;
use crate::report::Kind;
use crate::threads::Threads;
use std::panic::Location;

impl Block {
    /// Reports the deadlock of the blocks of a cluster, or of one block, and ends it. False: it cannot be ended, and
    /// the blocks must be abandoned. That is so at mbarriers, because a pipeline that has lost count of its phases
    /// would report nothing but consequences of that.
    #[cold]
    pub(crate) fn resolve(blocks: &[&Self]) -> bool {
        // An mbarrier that keeps lanes from an operation of their warp or warpgroup is the mistake, not the operation.
        let mut abandon = false;
        for block in blocks {
            abandon |= block.has_awaited_waiters() && block.async_proxy.report_stuck_waiters(&block.state);
        }
        if abandon {
            return false;
        }
        // Lanes in a warp operation wait for lanes that are elsewhere: theirs is the mistake, not the barrier's.
        let mut resolved = false;
        for Block { state, barriers, warp_ops, warpgroups, .. } in blocks {
            for warp in warp_ops {
                resolved |= warp.resolve(state, barriers);
            }
            for warpgroup in warpgroups {
                resolved |= warpgroup.resolve(state);
            }
        }
        if resolved {
            return true;
        }
        for block in blocks {
            abandon |= block.async_proxy.report_stuck_waiters(&block.state);
        }
        if abandon {
            return false;
        }
        for block in blocks {
            resolved |= block.resolve_barriers();
        }
        // If all live threads were at the cluster barrier, it would be complete.
        assert!(
            resolved,
            "a live lane that is neither ready nor spinning waits at a barrier, at an mbarrier or in an operation of \
             its warp or warpgroup"
        );
        true
    }

    /// Whether lanes that wait at an mbarrier are missing in an operation of their warp or warpgroup.
    fn has_awaited_waiters(&self) -> bool {
        let mut waiters = self.async_proxy.waiters(&self.state);
        waiters.any(|lane| self.warp_ops(lane).awaits(lane) || self.warpgroup(lane).awaits(lane))
    }

    /// Reports and releases the threads at the block's barriers. Gives whether there were any.
    fn resolve_barriers(&self) -> bool {
        let busy = self.barriers.busy();
        let Some(&first) = busy.first() else { return false };
        self.report_barrier(first, &busy);
        for id in busy {
            self.barriers.get(id).release(&self.state);
        }
        true
    }

    fn report_barrier(&self, id: usize, busy: &[usize]) {
        let threads = &self.state.threads;
        if threads.has_panicked() {
            return; // A thread that panicked reaches no barrier: the panic is the report.
        }
        let site = |id: usize| self.barriers.get(id).site.get().unwrap_or_else(|| Location::caller());
        let waiting = |id: usize| threads.in_masks(|warp| self.barriers.get(id).waiting(warp));
        let mut groups: Vec<String> = Vec::new();
        for &id in busy {
            groups.push(format!(
                "{} wait at barrier {id}, {}:{}, which expects {}",
                Threads::name_threads(&waiting(id)),
                site(id).file(),
                site(id).line(),
                self.barriers.get(id).expected()
            ));
        }
        let cluster = self.cluster_barrier.site();
        if let Some(site) = cluster {
            let waiting = threads.in_masks(|warp| self.cluster_barrier.waiting(warp));
            let who = Threads::name_threads(&waiting);
            groups.push(format!("{who} wait at the barrier of the cluster, {}:{}", site.file(), site.line()));
        }
        groups.extend(self.state.describe_exited());
        let kind = if busy.len() > 1 || cluster.is_some() { Kind::DivergentBarrier } else { Kind::AbandonedBarrier };
        let other = busy.get(1).map(|&id| site(id)).or(cluster);
        let lane = threads.lane(waiting(id).first().copied().unwrap_or(0));
        threads.fault(lane, kind, site(id), other, || groups.join("; "));
    }
}
