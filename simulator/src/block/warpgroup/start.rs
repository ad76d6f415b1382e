//! How a product starts: threads come, the last one starts it.

use super::{Group, Joining, POISON, Product, ROWS, Shape, THREADS, Warpgroup, place};
use crate::block::Block;
use crate::lane::{Lane, suspend};
use crate::report::Kind;
use crate::schedule::Order;
use crate::tensor;
use std::panic::Location;

impl Block {
    /// Starts a group of products, once the other threads of the warpgroup are here. Inlined up to the switch of stacks:
    /// see [`suspend`].
    #[inline(always)]
    pub(crate) fn warpgroup_product(
        &self,
        lane: &Lane,
        shape: Shape,
        mut product: Product<'_>,
        location: &'static Location<'static>,
    ) {
        if self.join_product(lane, shape, &mut product, location) {
            suspend(lane);
        }
    }

    pub(super) fn warpgroup_of(&self, lane: &Lane) -> (&Warpgroup, usize) {
        let thread = usize::from(lane.linear);
        (&self.warpgroups[thread / THREADS], thread % THREADS)
    }

    pub(super) fn shared_bytes(&self) -> &[u8] {
        let geometry = self.geometry.get();
        // SAFETY: the block's shared memory, which only this OS thread touches, and nobody before the borrow ends.
        unsafe { std::slice::from_raw_parts(geometry.shared, geometry.shared_len) }
    }

    /// Brings a thread's part. Gives whether it must wait for others.
    #[inline(never)]
    fn join_product(
        &self,
        lane: &Lane,
        shape: Shape,
        product: &mut Product<'_>,
        location: &'static Location<'static>,
    ) -> bool {
        self.advance_clock();
        let (warpgroup, thread) = self.warpgroup_of(lane);
        let first = usize::from(lane.linear) - thread;
        if first + THREADS > self.lanes.len() || self.run().config.warp_size != 32 {
            self.fault(lane, Kind::Warpgroup, location, None, || {
                format!("the block has {} threads from this warpgroup on, in warps of {}; a matrix product needs 128, in warps of 32",
                    self.lanes.len() - first, self.run().config.warp_size)
            });
            product.d.fill(0.0);
            *product.ticket = 0;
            return false;
        }
        let state = warpgroup.state();
        if *product.ticket != 0 {
            // The sum goes on from the result of a product that may be under way still.
            state.take(*product.ticket, thread, product.d, self.shared_bytes());
        }
        let depth = shape.kind.depth();
        let joining = state.joining.get_or_insert_with(|| Joining {
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
            for (i, &value) in product.d.iter().enumerate() {
                joining.d[place(thread, i, shape.cols)] = value;
            }
            for (step, registers) in product.a.iter().enumerate() {
                for (register, &bits) in registers.iter().enumerate() {
                    for part in 0..4 / shape.kind.bytes() {
                        let (row, col) = tensor::a_position(shape.kind, thread % 32, register, part);
                        let row = (step * ROWS + thread / 32 * 16 + row) * depth;
                        joining.a[row + col] = tensor::part_of_row(shape.kind, bits, part);
                    }
                }
            }
        }
        let differs = joining.shape != shape;
        joining.mixed |= differs;
        product.d.fill(POISON);
        *product.ticket = state.started + 1;
        lane.rare().products.started = state.started + 1;
        if differs || other != location {
            self.fault(lane, Kind::Warpgroup, location, Some(other), || {
                let what = if differs { "another product or with other operands" } else { "at another place" };
                format!("threads of this warpgroup start {what}")
            });
        }
        let complete = self.product_is_complete(first);
        if complete {
            self.start_product(first);
            let ready = &self.warps[usize::from(lane.warp)].ready;
            ready.set(ready.get() & !lane.bit());
        }
        !complete
    }

    /// Whether all threads that can come to the product of the warpgroup that begins with thread `first` have come.
    fn product_is_complete(&self, first: usize) -> bool {
        let state = self.warpgroups[first / THREADS].state();
        state.joining.as_ref().is_some_and(|joining| joining.arrived == self.live_of(first))
    }

    /// Whether a product of its warpgroup waits for this lane.
    pub(in crate::block) fn is_awaited_for_product(&self, lane: &Lane) -> bool {
        let (warpgroup, thread) = self.warpgroup_of(lane);
        warpgroup.state().joining.as_ref().is_some_and(|joining| joining.arrived >> thread & 1 == 0)
    }

    fn live_of(&self, first: usize) -> u128 {
        self.warps.iter().skip(first / 32).take(4).rev().fold(0, |mask, warp| mask << 32 | u128::from(warp.live.get()))
    }

    /// A thread has exited: a product may have waited for it alone, or be under way still.
    pub(in crate::block) fn leave_warpgroup(&self, lane: &Lane) {
        let (warpgroup, thread) = self.warpgroup_of(lane);
        if let Some(rare) = lane.rare_if_any()
            && rare.products.awaited < rare.products.started
            && let Some(group) = warpgroup.state().group(rare.products.awaited + 1)
        {
            self.fault(lane, Kind::ProductNotWaited, group.location, None, || {
                "the thread exits while this product is under way".to_owned()
            });
        }
        let first = usize::from(lane.linear) - thread;
        if self.product_is_complete(first) {
            self.start_product(first);
        }
    }

    /// Ends a product that nobody will complete. Gives whether there was one.
    pub(in crate::block) fn resolve_warpgroup(&self, index: usize) -> bool {
        let Some(joining) = &self.warpgroups[index].state().joining else { return false };
        let (arrived, location, first) = (joining.arrived, joining.location, index * THREADS);
        let missing = self.live_of(first) & !arrived;
        self.fault(&self.lanes[first + arrived.trailing_zeros() as usize], Kind::Warpgroup, location, None, || {
            format!("{} wait here for {}", Self::name_members(first, arrived), Self::name_members(first, missing))
        });
        self.start_product(first);
        true
    }

    fn name_members(first: usize, mask: u128) -> String {
        let threads: Vec<u16> = (0..128).filter(|i| mask >> i & 1 != 0).map(|i| (first + i) as u16).collect();
        Self::name_threads(&threads)
    }

    /// All are here: the product starts, and the threads go on.
    fn start_product(&self, first: usize) {
        self.note_progress();
        let state = self.warpgroups[first / THREADS].state();
        let Some(Joining { shape, location, arrived, mixed, a, d }) = state.joining.take() else { return };
        let number = state.started + 1;
        state.started = number;
        let reader = &self.lanes[first];
        let mut valid = arrived == u128::MAX && !mixed;
        if arrived | self.live_of(first) != u128::MAX {
            self.fault(reader, Kind::Warpgroup, location, None, || {
                format!(
                    "{} have exited; a matrix product needs all 128",
                    Self::name_members(first, !self.live_of(first))
                )
            });
        }
        let operands = [("A", shape.a, ROWS), ("B", Some(shape.b), shape.cols)];
        if valid {
            for (name, operand, extent) in operands {
                if let Some(operand) = operand {
                    valid &= self.check_operand(reader, name, operand, (shape.steps, extent), location);
                }
            }
        }
        let mut reads = Vec::new();
        if valid && reader.watched() {
            self.be_fine();
            self.limit_engine_threads(reader, location);
            for (name, operand, extent) in operands {
                if let Some(operand) = operand {
                    self.check_boxes(reader, name, operand, (shape.steps, extent), location);
                    self.begin_reads(&mut reads, reader, operand, (shape.steps, extent), location);
                }
            }
        }
        let (computed, remaining) = (!valid, arrived.count_ones());
        let mut group = Group { number, shape, location, a, d, computed, reads, awaited: false, remaining };
        let salt = u64::from(self.number.get()) << 32 ^ number << 8 ^ first as u64;
        if Order::new(2, self.run().config.seed, salt).at(0) == 0 {
            group.compute(self.shared_bytes());
        }
        state.groups.push_back(group);
        for (i, warp) in self.warps.iter().skip(first / 32).take(4).enumerate() {
            warp.ready.set(warp.ready.get() | (arrived >> (32 * i)) as u32);
        }
    }
}
