//! A thread's groups of stores by the copy engine.

use super::Block;
use crate::bulk::Stage;
use crate::lane::Lane;
use crate::report::Kind;

impl Block {
    /// Closes the thread's stores into a group.
    pub(crate) fn commit_stores(&self, lane: &Lane) {
        self.advance_clock();
        let stores = &mut lane.rare().stores;
        let group = std::mem::take(&mut stores.open);
        stores.groups.push_back(group);
    }

    /// Waits until all but the `pending` youngest groups have read their shared memory, or are done.
    pub(crate) fn wait_stores(&self, lane: &Lane, pending: u32, only_read: bool) {
        self.advance_clock();
        let count = lane.rare().stores.groups.len().saturating_sub(pending as usize);
        for group in 0..count {
            for at in 0..lane.rare().stores.groups[group].len() {
                let store = &mut lane.rare().stores.groups[group][at];
                let (number, token, first) = (store.number, store.token, !std::mem::replace(&mut store.waited, true));
                while let Some(index) = self.engine().operations.iter().position(|it| it.number == number)
                    && (!only_read || matches!(self.engine().operations[index].stage, Stage::Read))
                {
                    self.advance(index);
                }
                if first {
                    self.end_async_read(lane, token);
                }
            }
        }
        if !only_read {
            lane.rare().stores.groups.drain(..count);
        }
    }

    /// A thread that exits has waited for its stores to read.
    pub(super) fn check_stores(&self, lane: &Lane) {
        let Some(rare) = lane.rare_if_any() else { return };
        let left = rare.stores.groups.iter().flatten().chain(&rare.stores.open).find(|store| !store.waited);
        if let Some(site) = left.map(|store| store.site) {
            self.fault(lane, Kind::AsyncNotWaited, site, None, || {
                "the thread exits while the store that it issued here may still read shared memory".to_owned()
            });
        }
    }
}
