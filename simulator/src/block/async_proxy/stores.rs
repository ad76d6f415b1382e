//! A thread's groups of TMA stores.

use super::proxy::AsyncProxy;
use crate::async_queues::Store;
use crate::block::state::BlockState;
use crate::bulk::Stage;
use crate::lane::Lane;
use crate::report::Kind;
use crate::shadow::AccessKind;

impl AsyncProxy {
    /// `cp.async.bulk.commit_group`.
    pub(crate) fn commit_stores(state: &BlockState, lane: &Lane) {
        state.threads.count_step();
        let stores = &mut lane.extension().stores;
        let group = std::mem::take(&mut stores.open);
        stores.groups.push_back(group);
    }

    /// Waits until all but the `pending` youngest groups have read their shared memory, or are complete.
    pub(crate) fn wait_stores(&self, state: &BlockState, lane: &Lane, pending: u32, only_read: bool) {
        state.threads.count_step();
        let count = lane.extension().stores.groups.len().saturating_sub(pending as usize);
        for group in 0..count {
            for at_store in 0..lane.extension().stores.groups[group].len() {
                let store = &mut lane.extension().stores.groups[group][at_store];
                let (number, token, first) =
                    (store.number, store.token, !std::mem::replace(&mut store.read_awaited, true));
                while let Some(index) = self.inner().operations.iter().position(|it| it.number == number)
                    && (!only_read || matches!(self.inner().operations[index].stage, Stage::Read))
                {
                    self.advance(state, index);
                }
                if first {
                    state.end_async_read(lane, token);
                }
                if !only_read && lane.watched() {
                    let Store { map, at, site, .. } = lane.extension().stores.groups[group][at_store];
                    state.check_global_box(lane, &map, at, AccessKind::Write, site);
                }
            }
        }
        if !only_read {
            lane.extension().stores.groups.drain(..count);
        }
    }

    /// A thread exits: reports stores whose read of shared memory it has not waited for.
    pub(in crate::block) fn check_stores(state: &BlockState, lane: &Lane) {
        let Some(extension) = lane.extension_if_any() else { return };
        let left =
            extension.stores.groups.iter().flatten().chain(&extension.stores.open).find(|store| !store.read_awaited);
        if let Some(site) = left.map(|store| store.site) {
            state.threads.fault(lane, Kind::AsyncNotWaited, site, None, || {
                "the thread exits while the store that it issued here may still read shared memory".to_owned()
            });
        }
    }
}
