//! The products of one warpgroup that are under way.

use crate::tensor::{self, Layout, TensorKind};
use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::panic::Location;

/// Threads of a warpgroup.
pub(super) const THREADS: usize = 128;
/// Rows of D.
pub(super) const ROWS: usize = 64;
/// Products whose clock is kept: more than can be under way.
pub(super) const CLOCKS: usize = 16;
/// Accumulators of a product under way, should the kernel read them.
pub(super) const POISON: f32 = f32::from_bits(0x7fc0_dead);

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
    pub(super) fn layout(self, step: usize) -> Layout {
        Layout::new(self.descriptor, self.mn_major).advanced(step, self.step as usize)
    }
}

/// A thread's part of a product.
pub(crate) struct Product<'a> {
    /// A's registers, by step; empty if A is in shared memory.
    pub(crate) a: &'a [[u32; 4]],
    pub(crate) d: &'a mut [f32],
    /// The product that D is the result of; 0 if D is complete.
    pub(crate) ticket: &'a mut u64,
}

/// The products of one warpgroup.
pub(crate) struct Warpgroup {
    /// Its number in the block, and the linear index of its first thread.
    pub(super) index: usize,
    pub(super) first: usize,
    products: UnsafeCell<Products>,
}

#[derive(Default)]
pub(super) struct Products {
    /// The number of the last product that was started.
    pub(super) started: u64,
    pub(super) joining: Option<Joining>,
    pub(super) groups: VecDeque<Group>,
    /// At which clock of the tensor cores a product had read, by its number.
    pub(super) clocks: [u32; CLOCKS],
}

/// A product that some threads have arrived at.
pub(super) struct Joining {
    pub(super) shape: Shape,
    pub(super) location: &'static Location<'static>,
    pub(super) arrived: u128,
    /// Some thread has come with another shape.
    pub(super) mixed: bool,
    pub(super) a: Vec<f64>,
    pub(super) d: Vec<f32>,
}

/// A product that was started.
pub(super) struct Group {
    pub(super) number: u64,
    pub(super) shape: Shape,
    pub(super) location: &'static Location<'static>,
    /// A from registers: 64 rows for each step.
    pub(super) a: Vec<f64>,
    /// 64 × cols: what was there, then the result.
    pub(super) d: Vec<f32>,
    pub(super) computed: bool,
    /// Its reads of shared memory, until somebody has waited for it.
    pub(super) reads: Vec<u64>,
    /// Whether somebody has waited for it.
    pub(super) awaited: bool,
    /// Threads that have not taken their part of the result.
    pub(super) remaining: u32,
}

impl Warpgroup {
    pub(in crate::block) fn new(index: usize) -> Self {
        Self { index, first: index * THREADS, products: UnsafeCell::default() }
    }

    pub(in crate::block) fn reset(&self) {
        *self.products() = Products::default();
    }

    #[expect(clippy::mut_from_ref, reason = "one OS thread; no two of these borrows live at once")]
    pub(super) fn products(&self) -> &mut Products {
        // SAFETY: only this OS thread touches the block, and callers end the borrow before the next call or switch.
        unsafe { &mut *self.products.get() }
    }
}

impl Products {
    pub(super) fn group(&mut self, number: u64) -> Option<&mut Group> {
        let front = self.groups.front()?.number;
        self.groups.get_mut(usize::try_from(number.checked_sub(front)?).ok()?)
    }

    /// Hands a thread its part of the result of product `number`.
    pub(super) fn take(&mut self, number: u64, thread: usize, d: &mut [f32], memory: &[u8]) {
        let Some(group) = self.group(number) else { return };
        group.compute(memory);
        for (pair, at) in d.as_chunks_mut::<2>().0.iter_mut().zip(pairs(thread, group.shape.cols)) {
            pair.copy_from_slice(&group.d[at..at + 2]);
        }
        group.remaining -= 1;
        self.forget();
    }

    /// Drops the oldest products that everybody has the result of.
    pub(super) fn forget(&mut self) {
        while self.groups.front().is_some_and(|group| group.remaining == 0 && group.awaited) {
            self.groups.pop_front();
        }
    }
}

/// Where the pairs of a thread's values are in D: two neighbours in a row.
pub(super) fn pairs(thread: usize, cols: usize) -> impl Iterator<Item = usize> {
    (0..cols / 4).map(move |pair| {
        let (row, col) = tensor::d_position(thread % 32, 2 * pair);
        (thread / 32 * 16 + row) * cols + col
    })
}

impl Group {
    /// Reads the operands and multiplies, unless that is done.
    pub(super) fn compute(&mut self, memory: &[u8]) {
        if std::mem::replace(&mut self.computed, true) {
            return;
        }
        let Shape { kind, steps, cols, a, b, fresh } = self.shape;
        let depth = kind.depth();
        let (mut of_a, mut of_b) = (vec![0.0; ROWS * depth], vec![0.0; depth * cols]);
        for step in 0..steps {
            match a {
                Some(a) => gather(memory, a, step, kind, ROWS, (depth, 1), &mut of_a),
                None => of_a.copy_from_slice(&self.a[step * ROWS * depth..][..ROWS * depth]),
            }
            gather(memory, b, step, kind, cols, (1, cols), &mut of_b);
            tensor::add_product(kind, &mut self.d, (&of_a, &of_b), (depth, cols), fresh && step == 0);
        }
    }
}

/// Reads an operand, of `extent` along m or n. The number at place i along m or n, and at step k, becomes element
/// i · `strides.0` + k · `strides.1` of `numbers`.
fn gather(
    memory: &[u8],
    operand: Operand,
    step: usize,
    kind: TensorKind,
    extent: usize,
    strides: (usize, usize),
    numbers: &mut [f64],
) {
    let each = 16 / kind.bytes();
    let (by_row, along) = if operand.mn_major { (strides.1, strides.0) } else { strides };
    for (row, at, vector) in operand.layout(step).vectors(extent) {
        let Some(bytes) = memory[vector.offset..].first_chunk() else { continue };
        let first = row * by_row + at * each * along;
        for (i, &number) in kind.numbers(bytes)[..each].iter().enumerate() {
            numbers[first + i * along] = number;
        }
    }
}
