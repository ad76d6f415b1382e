//! Products of matrices by a warpgroup: `wgmma`.
//!
//! The 128 threads start a product together: each brings its part of D (and of A, if that is in registers) and waits for
//! the others, so that the product is one. It then has a number and runs on its own. At some time between here and the
//! first wait that covers it, which the seed chooses, it reads its operands; its result is handed out at the waits.
//!
//! What it reads of shared memory is checked when it starts, against what the first thread of the warpgroup knows, and is
//! being read until the first wait. The read then counts as one by the tensor cores, which have a place of their own in
//! vectors of clocks: whoever has waited knows of it, whichever of the 128 it is.

use super::Block;
use crate::lane::{Lane, suspend};
use crate::report::Kind;
use crate::schedule::Order;
use crate::tensor::{self, Disagreement, Layout, TensorKind};
use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::panic::Location;

/// Threads of a warpgroup.
const THREADS: usize = 128;
/// Rows of D.
const ROWS: usize = 64;
/// Products of which the clock is remembered: more than can be under way.
const CLOCKS: usize = 16;
/// Values that are not there yet, should somebody look.
const POISON: f32 = f32::from_bits(0x7fc0_dead);

/// A group of products, as every thread must start it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) kind: TensorKind,
    /// Instructions in the group.
    pub(crate) steps: usize,
    pub(crate) cols: usize,
    /// None: in registers.
    pub(crate) a: Option<Operand>,
    pub(crate) b: Operand,
    /// The first product overwrites D.
    pub(crate) fresh: bool,
}

/// A matrix in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Operand {
    pub(crate) descriptor: u64,
    /// Bytes from one instruction's part to the next one's.
    pub(crate) step: u32,
    pub(crate) mn_major: bool,
}

impl Operand {
    fn layout(self, step: usize) -> Layout {
        Layout::new(self.descriptor, self.mn_major).advanced(step, self.step as usize)
    }
}

/// A thread's part of a product.
pub(crate) struct Product<'a> {
    /// A's registers, by step; empty if A is in shared memory.
    pub(crate) a: &'a [[u32; 4]],
    pub(crate) d: &'a mut [f32],
    /// The product that D is the result of; 0 if it is there.
    pub(crate) ticket: &'a mut u64,
}

/// The state of one warpgroup.
#[derive(Default)]
pub(super) struct Warpgroup {
    state: UnsafeCell<State>,
}

#[derive(Default)]
struct State {
    /// The number of the last product that was started.
    started: u64,
    joining: Option<Joining>,
    groups: VecDeque<Group>,
    /// At which clock of the tensor cores a product had read, by its number.
    clocks: [u32; CLOCKS],
}

/// A product that some threads have come to.
struct Joining {
    shape: Shape,
    location: &'static Location<'static>,
    arrived: u128,
    /// Some thread has come with another shape.
    mixed: bool,
    a: Vec<f64>,
    d: Vec<f32>,
}

/// A product that was started.
struct Group {
    number: u64,
    shape: Shape,
    location: &'static Location<'static>,
    /// A from registers: 64 rows for each step.
    a: Vec<f64>,
    /// 64 × cols: what was there, then the result.
    d: Vec<f32>,
    computed: bool,
    /// Its reads of shared memory, until somebody has waited for it.
    reads: Vec<u64>,
    /// Somebody has waited for it.
    awaited: bool,
    /// Threads that have not taken their part of the result.
    remaining: u32,
}

impl Warpgroup {
    pub(super) fn reset(&self) {
        *self.state() = State::default();
    }

    #[expect(clippy::mut_from_ref, reason = "one OS thread; no two of these borrows live at once")]
    fn state(&self) -> &mut State {
        // SAFETY: only this OS thread touches the block, and callers end the borrow before the next call or switch.
        unsafe { &mut *self.state.get() }
    }
}

impl State {
    fn group(&mut self, number: u64) -> Option<&mut Group> {
        let front = self.groups.front()?.number;
        self.groups.get_mut(usize::try_from(number.checked_sub(front)?).ok()?)
    }

    /// A thread takes its part of the result of product `number`.
    fn take(&mut self, number: u64, thread: usize, d: &mut [f32], memory: &[u8]) {
        let Some(group) = self.group(number) else { return };
        group.compute(memory);
        for (i, d) in d.iter_mut().enumerate() {
            *d = group.d[place(thread, i, group.shape.cols)];
        }
        group.remaining -= 1;
        self.forget();
    }

    /// Drops the oldest products that have nothing left to give, to anybody.
    fn forget(&mut self) {
        while self.groups.front().is_some_and(|group| group.remaining == 0 && group.awaited) {
            self.groups.pop_front();
        }
    }
}

/// Where value `i` of a thread is in D.
fn place(thread: usize, i: usize, cols: usize) -> usize {
    let (row, col) = tensor::d_position(thread % 32, i);
    (thread / 32 * 16 + row) * cols + col
}

impl Group {
    /// Reads the operands and multiplies, unless that is done.
    fn compute(&mut self, memory: &[u8]) {
        if std::mem::replace(&mut self.computed, true) {
            return;
        }
        let Shape { kind, steps, cols, a, b, fresh } = self.shape;
        let depth = kind.depth();
        let (mut of_a, mut of_b) = (vec![0.0; ROWS * depth], vec![0.0; depth * cols]);
        for step in 0..steps {
            match a {
                Some(a) => gather(memory, a, step, kind, ROWS, |m, k, x| of_a[m * depth + k] = x),
                None => of_a.copy_from_slice(&self.a[step * ROWS * depth..][..ROWS * depth]),
            }
            gather(memory, b, step, kind, cols, |n, k, x| of_b[k * cols + n] = x);
            tensor::add_product(&mut self.d, &of_a, &of_b, depth, cols, fresh && step == 0);
        }
    }
}

/// Reads an operand; `set` takes the index along m or n, that along k, and the number.
fn gather(
    memory: &[u8],
    operand: Operand,
    step: usize,
    kind: TensorKind,
    extent: usize,
    mut set: impl FnMut(usize, usize, f64),
) {
    let each = 16 / kind.bytes();
    for (row, at, piece) in operand.layout(step).pieces(extent) {
        for (i, x) in kind.numbers(&memory[piece.offset..piece.offset + 16]).enumerate() {
            let along = at * each + i;
            if operand.mn_major { set(along, row, x) } else { set(row, along, x) }
        }
    }
}

impl Block {
    /// Starts a group of products, once the other threads of the warpgroup are here. Inlined up to the switch of stacks:
    /// see [`suspend`].
    #[inline(always)]
    pub(crate) fn warpgroup_product(
        &self,
        lane: &Lane,
        shape: Shape,
        product: Product<'_>,
        location: &'static Location<'static>,
    ) {
        if self.join_product(lane, shape, product, location) {
            suspend(lane);
        }
    }

    fn warpgroup_of(&self, lane: &Lane) -> (&Warpgroup, usize) {
        let thread = usize::from(lane.linear);
        (&self.warpgroups[thread / THREADS], thread % THREADS)
    }

    fn shared_bytes(&self) -> &[u8] {
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
        product: Product<'_>,
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
    pub(super) fn is_awaited_for_product(&self, lane: &Lane) -> bool {
        let (warpgroup, thread) = self.warpgroup_of(lane);
        warpgroup.state().joining.as_ref().is_some_and(|joining| joining.arrived >> thread & 1 == 0)
    }

    fn live_of(&self, first: usize) -> u128 {
        self.warps.iter().skip(first / 32).take(4).rev().fold(0, |mask, warp| mask << 32 | u128::from(warp.live.get()))
    }

    /// A thread has exited: a product may have waited for it alone, or be under way still.
    pub(super) fn leave_warpgroup(&self, lane: &Lane) {
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
    pub(super) fn resolve_warpgroup(&self, index: usize) -> bool {
        let Some(joining) = &self.warpgroups[index].state().joining else { return false };
        let (arrived, location, first) = (joining.arrived, joining.location, index * THREADS);
        let missing = self.live_of(first) & !arrived;
        self.fault(&self.lanes[first + arrived.trailing_zeros() as usize], Kind::Warpgroup, location, None, || {
            format!("{} wait here for {}", self.name_members(first, arrived), self.name_members(first, missing))
        });
        self.start_product(first);
        true
    }

    fn name_members(&self, first: usize, mask: u128) -> String {
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
                    self.name_members(first, !self.live_of(first))
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

    /// Whether an operand lies where its descriptor says it can; reports what is wrong with it.
    fn check_operand(
        &self,
        reader: &Lane,
        name: &str,
        operand: Operand,
        (steps, extent): (usize, usize),
        location: &'static Location<'static>,
    ) -> bool {
        let layout = operand.layout(0);
        if let Some(step) = (0..steps).find(|&step| operand.layout(step).misplaced() != 0) {
            let layout = operand.layout(step);
            self.fault(reader, Kind::WrongOperand, location, None, || {
                format!(
                    "operand {name} starts its step {step} at byte {} of shared memory, with rows of {} bytes ({}): {} bytes \
                     past the first of 8 rows, which lies at a multiple of {}",
                    layout.start, layout.span(), layout.swizzle(), layout.misplaced(), 8 * layout.span()
                )
            });
        }
        let len = self.geometry.get().shared_len;
        let end = (0..steps).flat_map(|step| operand.layout(step).pieces(extent)).map(|(.., p)| p.offset + 16).max();
        if let Some(end) = end.filter(|&end| end > len) {
            self.fault(reader, Kind::OutOfBounds, location, None, || {
                format!(
                    "operand {name}, from byte {} of shared memory, reaches up to byte {end}, of {len}",
                    layout.start
                )
            });
            return false;
        }
        true
    }

    /// Reports a descriptor that takes what boxes brought for something else.
    fn check_boxes(
        &self,
        reader: &Lane,
        name: &str,
        operand: Operand,
        (steps, extent): (usize, usize),
        location: &'static Location<'static>,
    ) {
        let base = self.geometry.get().shared as usize;
        let written = |offset| self.shadow().and_then(|shadow| shadow.piece(base + offset));
        let found = (0..steps).find_map(|step| {
            let pieces = operand.layout(step).pieces(extent).map(|(.., piece)| piece);
            tensor::disagreement(pieces, written)
        });
        if let Some(Disagreement { piece, expected, found }) = found {
            self.fault(reader, Kind::WrongOperand, location, None, || {
                format!(
                    "operand {name} ({}) takes the 16 bytes at byte {} of shared memory for piece {} of row {} of a box; they are \
                     piece {} of row {}",
                    operand.layout(0).swizzle(), piece.offset, expected.1, expected.0, found.1, found.0
                )
            });
        }
    }

    /// Begins the reads of an operand, for the checks; adds their tokens.
    fn begin_reads(
        &self,
        reads: &mut Vec<u64>,
        reader: &Lane,
        operand: Operand,
        (steps, extent): (usize, usize),
        location: &'static Location<'static>,
    ) {
        let base = self.geometry.get().shared as usize;
        let pieces = (0..steps).flat_map(|step| operand.layout(step).pieces(extent));
        let mut offsets: Vec<usize> = pieces.map(|(.., piece)| piece.offset).collect();
        offsets.sort_unstable();
        offsets.dedup();
        for run in offsets.chunk_by(|a, b| a + 16 == *b) {
            reads.push(self.begin_async_read(reader, base + run[0], 16 * run.len(), location));
        }
    }

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
