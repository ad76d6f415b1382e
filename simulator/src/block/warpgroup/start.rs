//! The start of a product: threads arrive, the last one starts it.

use super::operands::{begin_reads, check_layout, check_operand};
use super::products::{Group, Joining, POISON, Product, ROWS, Shape, THREADS, Warpgroup, pairs};
use crate::block::state::BlockState;
use crate::lane::{Lane, suspend};
use crate::report::Kind;
use crate::schedule::Permutation;
use crate::tensor;
use crate::threads::Threads;
use std::panic::Location;

impl Warpgroup {
    /// Starts a group of products, once the other threads of the warpgroup are here. Inlined up to the switch of
    /// stacks: see [`suspend`].
    #[inline(always)]
    pub(crate) fn start(
        &self,
        state: &BlockState,
        lane: &Lane,
        shape: Shape,
        mut product: Product<'_>,
        location: &'static Location<'static>,
    ) {
        if self.join_product(state, lane, shape, &mut product, location) {
            suspend(lane);
        }
    }

    /// Adds a thread's part. Gives whether it must wait for others.
    #[inline(never)]
    fn join_product(
        &self,
        state: &BlockState,
        lane: &Lane,
        shape: Shape,
        product: &mut Product<'_>,
        location: &'static Location<'static>,
    ) -> bool {
        state.threads.count_step();
        let thread = usize::from(lane.linear) - self.first;
        let (threads, warp_size) = (state.threads.lanes.len() - self.first, state.threads.launch().config.warp_size);
        if threads < THREADS || warp_size != 32 {
            state.threads.fault(lane, Kind::Warpgroup, location, None, || {
                format!(
                    "the block has {threads} threads from this warpgroup on, in warps of {warp_size}; a matrix product \
                     needs 128, in warps of 32"
                )
            });
            product.d.fill(0.0);
            *product.ticket = 0;
            return false;
        }
        let products = self.products();
        if *product.ticket != 0 {
            // The sum goes on from the result of a product that may be under way still.
            products.take(*product.ticket, thread, product.d, state.shared_bytes());
        }
        let depth = shape.kind.depth();
        let joining = products.joining.get_or_insert_with(|| Joining {
            shape,
            location,
            arrived: 0,
            mixed: false,
            a: vec![0.0; if shape.a.is_some() { 0 } else { shape.steps * ROWS * depth }],
            d: vec![0.0; ROWS * shape.cols],
        });
        joining.arrived |= 1 << thread;
        let other = joining.location;
        if joining.shape == shape {
            for (pair, at) in product.d.as_chunks::<2>().0.iter().zip(pairs(thread, shape.cols)) {
                joining.d[at..at + 2].copy_from_slice(pair);
            }
            for (step, &registers) in product.a.iter().enumerate() {
                let rows = (step * ROWS + thread / 32 * 16) * depth;
                tensor::store_a(shape.kind, thread % 32, registers, &mut joining.a[rows..]);
            }
        }
        let differs = joining.shape != shape;
        joining.mixed |= differs;
        product.d.fill(POISON);
        *product.ticket = products.started + 1;
        lane.extension().products.started = products.started + 1;
        if differs || other != location {
            state.threads.fault(lane, Kind::Warpgroup, location, Some(other), || {
                let what = if differs { "another product or with other operands" } else { "at another place" };
                format!("threads of this warpgroup start {what}")
            });
        }
        let complete = self.is_complete(state);
        if complete {
            self.start_product(state);
            state.warp(lane).keep_running(lane);
        }
        !complete
    }

    /// Whether all threads that have not exited have arrived at the product.
    fn is_complete(&self, state: &BlockState) -> bool {
        self.products().joining.as_ref().is_some_and(|joining| joining.arrived == self.live(state))
    }

    /// Whether a product waits for this lane.
    pub(in crate::block) fn awaits(&self, lane: &Lane) -> bool {
        let thread = usize::from(lane.linear) - self.first;
        self.products().joining.as_ref().is_some_and(|joining| joining.arrived >> thread & 1 == 0)
    }

    /// Threads that have not exited.
    fn live(&self, state: &BlockState) -> u128 {
        state
            .warps
            .iter()
            .skip(self.first / 32)
            .take(4)
            .rev()
            .fold(0, |mask, warp| mask << 32 | u128::from(warp.live.get()))
    }

    /// A thread has exited: a product may have waited for it alone, or may be under way still.
    pub(in crate::block) fn leave(&self, state: &BlockState, lane: &Lane) {
        if let Some(extension) = lane.extension_if_any()
            && extension.products.awaited < extension.products.started
            && let Some(group) = self.products().group(extension.products.awaited + 1)
        {
            state.threads.fault(lane, Kind::ProductNotWaited, group.location, None, || {
                "the thread exits while this product is under way".to_owned()
            });
        }
        if self.is_complete(state) {
            self.start_product(state);
        }
    }

    /// Reports and ends a product that no thread will complete. Gives whether there was one.
    pub(in crate::block) fn resolve(&self, state: &BlockState) -> bool {
        let Some(joining) = &self.products().joining else { return false };
        let (arrived, location) = (joining.arrived, joining.location);
        let missing = self.live(state) & !arrived;
        let lane = &state.threads.lanes[self.first + arrived.trailing_zeros() as usize];
        state.threads.fault(lane, Kind::Warpgroup, location, None, || {
            format!("{} wait here for {}", self.name_members(arrived), self.name_members(missing))
        });
        self.start_product(state);
        true
    }

    fn name_members(&self, mask: u128) -> String {
        let threads: Vec<u16> = (0..128).filter(|i| mask >> i & 1 != 0).map(|i| (self.first + i) as u16).collect();
        Threads::name_threads(&threads)
    }

    /// All have arrived: starts the product, and wakes the threads.
    fn start_product(&self, state: &BlockState) {
        state.threads.note_progress();
        let products = self.products();
        let Some(Joining { shape, location, arrived, mixed, a, d }) = products.joining.take() else { return };
        let number = products.started + 1;
        products.started = number;
        let reader = &state.threads.lanes[self.first];
        let mut valid = arrived == u128::MAX && !mixed;
        if arrived | self.live(state) != u128::MAX {
            state.threads.fault(reader, Kind::Warpgroup, location, None, || {
                format!("{} have exited; a matrix product needs all 128", self.name_members(!self.live(state)))
            });
        }
        let operands = [("A", shape.a, ROWS), ("B", Some(shape.b), shape.cols)];
        if valid {
            for (name, operand, extent) in operands {
                if let Some(operand) = operand {
                    valid &= check_operand(state, reader, name, operand, (shape.steps, extent), location);
                }
            }
        }
        let mut reads = Vec::new();
        if valid && reader.watched() {
            state.enable_per_thread_clocks();
            state.threads.check_thread_numbers(reader, location);
            for (name, operand, extent) in operands {
                if let Some(operand) = operand {
                    check_layout(state, reader, name, operand, (shape.steps, extent), location);
                    begin_reads(state, &mut reads, reader, operand, (shape.steps, extent), location);
                }
            }
        }
        let (computed, remaining) = (!valid, arrived.count_ones());
        let mut group = Group { number, shape, location, a, d, computed, reads, awaited: false, remaining };
        let salt = u64::from(state.threads.number()) << 32 ^ number << 8 ^ self.first as u64;
        if Permutation::new(2, state.threads.launch().config.seed, salt).at(0) == 0 {
            group.compute(state.shared_bytes());
        }
        products.groups.push_back(group);
        for (i, warp) in state.warps.iter().skip(self.first / 32).take(4).enumerate() {
            warp.wake((arrived >> (32 * i)) as u32);
        }
    }
}
