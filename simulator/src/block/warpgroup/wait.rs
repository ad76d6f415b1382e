//! Waits for products, and what is done without one.

use super::{CLOCKS, THREADS};
use crate::block::Block;
use crate::lane::Lane;
use crate::report::Kind;
use std::panic::Location;

impl Block {
    /// Somebody has waited for a product: what it read may be overwritten by whoever knows of this wait.
    fn end_reads(&self, lane: &Lane, first: usize, upto: u64) {
        let state = self.warpgroups[first / THREADS].state();
        let latest = self.lanes.iter().map(|lane| lane.clock.get()).max().unwrap_or(0);
        let (reader, clock) = (self.tensor_thread(first / THREADS), self.bounded(latest + 1));
        for group in state.groups.iter_mut().filter(|group| group.number <= upto && !group.awaited) {
            group.awaited = true;
            state.clocks[group.number as usize % CLOCKS] = clock;
            for token in std::mem::take(&mut group.reads) {
                if let Some(shadow) = self.shadow() {
                    shadow.end_read_by(self, (reader, clock), lane.known.get(), token);
                }
            }
            // Barriers of the whole block tell of all clocks up to the latest: it must be this one where the lane takes part.
            lane.clock.set(self.bounded(clock + 1));
        }
        state.forget();
    }

    /// Waits until at most `pending` products of the lane's warpgroup are under way, and takes its part of the result if
    /// that is there.
    pub(crate) fn await_products(&self, lane: &Lane, pending: u64, d: &mut [f32], ticket: &mut u64) {
        self.advance_clock();
        let (warpgroup, thread) = self.warpgroup_of(lane);
        let (state, first) = (warpgroup.state(), usize::from(lane.linear) - thread);
        let products = &mut lane.rare().products;
        products.awaited = products.awaited.max(products.started.saturating_sub(pending));
        let awaited = products.awaited;
        for group in state.groups.iter_mut().take_while(|group| group.number <= awaited) {
            group.compute(self.shared_bytes());
        }
        self.end_reads(lane, first, awaited);
        if awaited != 0 && lane.watched() {
            self.learn(lane, self.tensor_thread(first / THREADS), state.clocks[awaited as usize % CLOCKS]);
        }
        if *ticket != 0 && *ticket <= awaited {
            state.take(*ticket, thread, d, self.shared_bytes());
            *ticket = 0;
        }
    }

    /// What `thread` did up to `clock` comes before what the lane will do.
    fn learn(&self, lane: &Lane, thread: u16, clock: u32) {
        if clock <= lane.known.get() {
            return;
        }
        let vector = &mut lane.rare().vector;
        let mut known = vector.as_deref().map_or_else(|| vec![0; self.clocks()], <[u32]>::to_vec);
        if let Some(known) = known.get_mut(usize::from(thread)) {
            *known = (*known).max(clock);
        }
        *vector = Some(known.into());
    }

    /// Reports a use of values that product `ticket` will change.
    #[cold]
    pub(crate) fn report_unsettled(&self, lane: &Lane, ticket: u64, location: &'static Location<'static>) {
        let other = self.warpgroup_of(lane).0.state().group(ticket).map(|group| group.location);
        self.fault(lane, Kind::ProductNotWaited, location, other, || {
            "use of accumulators while a product that changes them is under way".to_owned()
        });
    }
}
