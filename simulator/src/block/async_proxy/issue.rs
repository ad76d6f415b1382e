//! TMA operations when they are issued: their checks, and their entry among the operations under way.

use super::proxy::AsyncProxy;
use super::request::TmaRequest;
use crate::async_queues::Store;
use crate::block::state::BlockState;
use crate::bulk::{Operation, Stage};
use crate::lane::Lane;
use crate::shadow::{AccessKind, Accessed};
use crate::tensor_map::TensorMap;
use crate::threads::MAX_CLOCK;

impl AsyncProxy {
    /// Issues a load that completes on an mbarrier.
    pub(crate) fn issue_load(&self, state: &BlockState, lane: &Lane, request: &TmaRequest<'_>, mbarrier: usize) {
        state.threads.count_step();
        if mbarrier == 0 {
            return;
        }
        let (map, mut invalid) = request.map(state, lane, AccessKind::Read);
        invalid |= request.address == 0;
        if self.load_here(state, lane, lane.linear, request, mbarrier, (map, invalid)) && lane.watched() && !invalid {
            state.access_global_box(lane, &map, request.first(), AccessKind::Read, request.location);
        }
    }

    /// A load to this block by `thread`, which `lane` stands for here. False: there is no mbarrier for it.
    pub(in crate::block) fn load_here(
        &self,
        state: &BlockState,
        lane: &Lane,
        thread: u16,
        request: &TmaRequest<'_>,
        mbarrier: usize,
        (map, invalid): (TensorMap, bool),
    ) -> bool {
        let Some((phase, writer)) = self.mbarrier_for_copy(state, lane, mbarrier, request.location) else {
            return false;
        };
        let mut stamp = 0;
        if lane.watched() && request.address != 0 {
            let size = if invalid { request.bytes } else { map.box_bytes() as usize };
            let accessed =
                Accessed { address: request.address, size, kind: AccessKind::BulkWrite, location: request.location };
            if let Some(shadow) = state.shadow() {
                stamp = shadow.bulk_write(&state.threads, lane, accessed, writer);
            }
        }
        self.issue((lane.geometry().block_idx, thread), map, request, Stage::Load { mbarrier, phase, stamp, invalid });
        true
    }

    /// Issues a store.
    pub(crate) fn issue_store(&self, state: &BlockState, lane: &Lane, request: &TmaRequest<'_>) {
        state.threads.count_step();
        let (map, invalid) = request.map(state, lane, AccessKind::Write);
        if invalid || request.address == 0 {
            return;
        }
        let mut token = 0;
        if lane.watched() {
            token = state.begin_async_read(lane, request.address, map.box_bytes() as usize, request.location);
            // Until its thread has waited for it the write comes before nothing that others do: a clock that they never
            // reach.
            let now = lane.clock();
            lane.set_clock(MAX_CLOCK);
            state.access_global_box(lane, &map, request.first(), AccessKind::Write, request.location);
            lane.set_clock(now);
        }
        let number = self.inner().issued;
        self.issue((state.threads.index(), lane.linear), map, request, Stage::Read);
        let store = Store { number, token, map, at: request.first(), site: request.location, read_awaited: false };
        lane.extension().stores.open.push(store);
    }

    fn issue(&self, (from, thread): ([u32; 3], u16), map: TensorMap, request: &TmaRequest<'_>, stage: Stage) {
        let inner = self.inner();
        inner.operations.push(Operation {
            number: inner.issued,
            map,
            at: request.first(),
            address: request.address,
            size: request.bytes,
            // An invalid map has no box: count the bytes that the kernel expects, so that its wait ends.
            count: if map.rank == 0 { request.bytes } else { map.box_bytes() as usize },
            stage,
            thread,
            from,
            site: request.location,
        });
        inner.issued += 1;
    }

    /// `fence.proxy.async`: this thread's ordinary accesses so far come before those of the async proxy after this.
    pub(crate) fn fence_proxy(&self, state: &BlockState, lane: &Lane) {
        self.fence_mbarriers(state, lane);
        if lane.watched() {
            lane.extension().proxy_fences.push(lane.clock());
            state.threads.tick(lane);
        }
    }
}
