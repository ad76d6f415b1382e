//! Waits for products, and uses of their results without one.

use super::products::{CLOCKS, Warpgroup};
use crate::block::state::BlockState;
use crate::lane::Lane;
use crate::report::Kind;
use std::panic::Location;

impl Warpgroup {
    /// Somebody has waited for a product: what it read may be overwritten by those who are ordered behind this wait.
    fn end_reads(&self, state: &BlockState, lane: &Lane, upto: u64) {
        let (products, threads) = (self.products(), &state.threads);
        let (reader, clock) = (threads.tensor_thread(self.index), threads.bounded(threads.latest_clock() + 1));
        for group in products.groups.iter_mut().filter(|group| group.number <= upto && !group.awaited) {
            group.awaited = true;
            products.clocks[group.number as usize % CLOCKS] = clock;
            for token in std::mem::take(&mut group.reads) {
                if let Some(shadow) = state.shadow() {
                    shadow.end_read_by(threads, (reader, clock), lane.epoch.get(), token);
                }
            }
            // A barrier of the whole block covers all clocks up to the latest: where the lane takes part, that must be
            // this one.
            lane.set_clock(threads.bounded(clock + 1));
        }
        products.forget();
    }

    /// Waits until at most `pending` products of the warpgroup are under way, and gives the lane its part of the result
    /// if that is complete.
    pub(crate) fn wait(&self, state: &BlockState, lane: &Lane, pending: u64, d: &mut [f32], ticket: &mut u64) {
        state.threads.count_step();
        let own = &mut lane.extension().products;
        own.awaited = own.awaited.max(own.started.saturating_sub(pending));
        let awaited = own.awaited;
        for group in self.products().groups.iter_mut().take_while(|group| group.number <= awaited) {
            group.compute(state.shared_bytes());
        }
        self.end_reads(state, lane, awaited);
        let products = self.products();
        if awaited != 0 && lane.watched() {
            let clock = products.clocks[awaited as usize % CLOCKS];
            state.threads.acquire_clock(lane, state.threads.tensor_thread(self.index), clock);
        }
        if *ticket != 0 && *ticket <= awaited {
            products.take(*ticket, usize::from(lane.linear) - self.first, d, state.shared_bytes());
            *ticket = 0;
        }
    }

    /// Reports a use of values that product `ticket` will change.
    #[cold]
    pub(crate) fn report_unsettled(
        &self,
        state: &BlockState,
        lane: &Lane,
        ticket: u64,
        location: &'static Location<'static>,
    ) {
        let other = self.products().group(ticket).map(|group| group.location);
        state.threads.fault(lane, Kind::ProductNotWaited, location, other, || {
            "use of accumulators while a product that changes them is under way".to_owned()
        });
    }
}
