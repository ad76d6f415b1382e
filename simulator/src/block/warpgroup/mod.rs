//! Products of matrices by a warpgroup: `wgmma`.
//!
//! The 128 threads start a product together: each brings its part of D (and of A, if that is in registers) and waits for
//! the others, so that the product is one. It then has a number and runs on its own. At some time between here and the
//! first wait that covers it, which the seed chooses, it reads its operands; its result is handed out at the waits.
//!
//! What it reads of shared memory is checked when it starts, against what the first thread of the warpgroup knows, and is
//! being read until the first wait. The read then counts as one by the tensor cores, which have a place of their own in
//! vectors of clocks: whoever has waited knows of it, whichever of the 128 it is.

mod operands;
mod start;
mod wait;

use crate::tensor::{self, Layout, TensorKind};
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
