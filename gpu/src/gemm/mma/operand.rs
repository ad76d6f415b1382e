//! An operand in shared memory: how a step along k is copied there, and loaded from there to a warp's fragments.
//!
//! A step takes 64 bytes of every row or column: 32 elements of 16 bits, or 16 of 32. A stage holds them in the order
//! in which they lie in memory, K-major or MN-major; every row consists of 16-byte vectors. Eight vectors that are
//! accessed together must lie in different banks, so vectors are permuted within their row:
//!
//! ```text
//!   K-major, 4 vectors a row                       MN-major, 16 bits: 8 · EXTENT/64 vectors a row
//!     row  0   0 1 2 3   row  1   0 1 2 3            k 0   0 1 2 3 4 5 6 7  8 …
//!          2   1 0 3 2        3   1 0 3 2              1   1 0 3 2 5 4 7 6  9 …
//!          4   2 3 0 1        5   2 3 0 1              2   2 3 0 1 6 7 4 5 10 …
//!          6   3 2 1 0        7   3 2 1 0              …
//! ```
//!
//! `ldmatrix` reads the same vector of eight rows, in the left picture eight times a quarter of 128 bytes, in the right
//! one eight eighths. Where rows are MN-major it transposes. It cannot transpose 32-bit elements: they are loaded one
//! by one, four rows and eight columns at once, and there k permutes by two vectors.
//!
//! Elements outside an operand count as +0.

use simt::async_copy::{SharedSlot, cp_async_or_zero};
use simt::element::{Lanes, Vector};
use simt::global::Window;
use simt::matrix::ldmatrix;
use simt::prelude::*;

use super::STAGES;
use super::element::MmaElement;
use crate::gemm::order::{Order, is_k_major};
use crate::unroll::{each, from_fn, unroll};

/// An operand of a block: `EXTENT` rows of op(A), or columns of op(B). `LEN` is the number of elements in all stages,
/// `CHUNK` that in 16 bytes.
pub(super) struct Panel<'a, T: MmaElement, O: Order, const EXTENT: usize, const CHUNK: usize, const LEN: usize> {
    #[cfg_attr(target_arch = "nvptx64", expect(dead_code, reason = "in PTX its type alone is looked at"))]
    order: O,
    stages: &'a SharedArray<T, LEN>,
    window: Window<'a, T>,
    /// The first of its rows or columns.
    first: u32,
    /// Bytes of which rows, their ends included, are multiples: 16, 4, or 0.
    unit: u32,
}

impl<'a, T, O: Order, const EXTENT: usize, const CHUNK: usize, const LEN: usize> Panel<'a, T, O, EXTENT, CHUNK, LEN>
where
    T: MmaElement + Lanes<CHUNK>,
{
    /// Extent of a step along k.
    pub(super) const DEPTH: u32 = 4 * CHUNK as u32;

    /// The operand in `window`, whose rows are K-major or MN-major, from row or column `first` on.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn new(order: O, stages: &'a SharedArray<T, LEN>, window: Window<'a, T>, first: u32) -> Self {
        const {
            assert!(CHUNK * size_of::<T>() == 16 && LEN == STAGES as usize * EXTENT * 4 * CHUNK);
            assert!(EXTENT.is_power_of_two() && EXTENT >= 64);
        }
        let chunks = window.has_aligned_rows::<CHUNK>() && window.cols().is_multiple_of(CHUNK as u32);
        let unit = if chunks { 16 } else { 4 * u32::from(T::has_words(&window)) };
        Self { order, stages, window, first, unit }
    }

    /// Chunks in a row.
    #[cfg_attr(optimised, inline(always))]
    fn across(&self) -> u32 {
        is_k_major!(O: self.order, 4, (EXTENT / CHUNK) as u32)
    }

    /// The first element of the stage of a step.
    #[cfg_attr(optimised, inline(always))]
    const fn stage(step: u32) -> u32 {
        step % STAGES * (EXTENT as u32 * Self::DEPTH)
    }

    /// The element of a stage at which a chunk of a row starts.
    #[cfg_attr(optimised, inline(always))]
    fn in_stage(&self, row: u32, chunk: u32) -> u32 {
        let permuted = match (is_k_major!(O: self.order), CHUNK) {
            (true, _) => row / 2 % 4,
            (false, 8) => row % 8,
            (false, _) => row % 4 * 2,
        };
        (row * self.across() + (chunk ^ permuted)) * CHUNK as u32
    }

    /// The element at which a chunk of a row starts, in the stage of a step.
    #[cfg_attr(optimised, inline(always))]
    fn at(&self, step: u32, row: u32, chunk: u32) -> u32 {
        // What it is, for a compiler that has lost sight of a factor's bounds.
        (Self::stage(step) + self.in_stage(row, chunk)) % LEN as u32 / CHUNK as u32 * CHUNK as u32
    }

    /// Whether all rows or columns are there, and rows in memory start at multiples of 16 bytes.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn is_inside(&self) -> bool {
        let extent = if is_k_major!(O: self.order) { self.window.rows() } else { self.window.cols() };
        self.window.has_aligned_rows::<CHUNK>() && self.first <= extent && EXTENT as u32 <= extent - self.first
    }

    /// Starts to copy a thread's share of a step, or zeros where not all of it is there. Rows must start at multiples
    /// of 16 bytes.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn copy(&self, threads: usize, step: u32, thread: u32) {
        // A multiple of 8, so that a chunk is permuted as that of the row `rows` further down.
        let (rows, count) = (threads / self.across() as usize, 4 * EXTENT / threads);
        let ((row0, col0), (row, chunk)) = (self.place(step), self.share(thread));
        let from = (row0.wrapping_add(row), col0.wrapping_add(chunk * CHUNK as u32));
        let from = self.window.slots_or_zero::<CHUNK>(from, count as u32, rows as u32);
        let to = self.in_stage(row, chunk) & ((threads - 1) * CHUNK) as u32;
        unroll!(for i in 0..8 {
            if i < count {
                let to = Self::stage(step) + to + (i * threads * CHUNK) as u32;
                cp_async_or_zero(self.stages.slot_by_number::<CHUNK>(to), from(i as u32));
            }
        });
    }

    /// Starts to copy what there is of a thread's share of a step: by 16 bytes where rows start and end at multiples of
    /// that, else by 4, else at once, by elements through registers. One chunk after the other: it takes no more
    /// registers than one.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn copy_edges(&self, threads: usize, step: u32, thread: u32) {
        let (row0, col0) = self.place(step);
        let rest = self.window.rest(row0, col0);
        let mut i = thread;
        while i < 4 * EXTENT as u32 {
            let (row, chunk) = self.share(i);
            let (to, col) = (self.at(step, row, chunk), chunk * CHUNK as u32);
            if self.unit == 16 {
                cp_async_or_zero(self.stages.slot::<CHUNK>(to), rest.slot_or_zero(row, col));
            } else if self.unit == 4 {
                unroll!(for word in 0..4 {
                    let along = (word * CHUNK / 4) as u32;
                    T::copy_word(&rest, (row, col + along), self.stages, to + along);
                });
            } else {
                let chunk = from_fn(|i| rest.get_or(row, col + i as u32, T::ZERO));
                self.stages.set_vec::<CHUNK>(to, Vector::new(chunk));
            }
            i += threads as u32;
        }
    }

    /// Row and column in the window of a step's first element. Steps behind the end of a k close to 2³² start from 0
    /// again: nobody reads what is copied for them.
    #[cfg_attr(optimised, inline(always))]
    fn place(&self, step: u32) -> (u32, u32) {
        let k0 = step.wrapping_mul(Self::DEPTH);
        if is_k_major!(O: self.order) { (self.first, k0) } else { (k0, self.first) }
    }

    /// Row and chunk number `i` of a step.
    #[cfg_attr(optimised, inline(always))]
    fn share(&self, i: u32) -> (u32, u32) {
        (i / self.across(), i % self.across())
    }

    /// Of an A: the fragment of 16 rows, number `tile` of a warp's `tiles`, which start at row `first`, in the half
    /// `half` of the step.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn rows(
        &self,
        (step, half): (u32, u32),
        first: u32,
        (tile, tiles): (usize, usize),
        lane: u32,
    ) -> [u32; 4] {
        let fragment = if is_k_major!(O: self.order) {
            ldmatrix::<4, false, _, CHUNK>(self.row(step, first + lane % 16, 2 * half + lane / 16, (tile, tiles)))
        } else if CHUNK == 8 {
            let (k, chunk) = (lane / 16 * 8 + lane % 8, first / 8 + 2 * tile as u32 + lane / 8 % 2);
            ldmatrix::<4, true, _, CHUNK>(self.depth(step, k, chunk, half))
        } else {
            let [[upper_left, lower_left], [upper_right, lower_right]] =
                self.columns(step, half, first + 16 * tile as u32, lane);
            [upper_left, lower_left, upper_right, lower_right]
        };
        each!(fragment, T::rounded)
    }

    /// Of a B: the fragments of twice 8 columns, pair number `pair` of a warp's `pairs`.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn cols(
        &self,
        (step, half): (u32, u32),
        first: u32,
        (pair, pairs): (usize, usize),
        lane: u32,
    ) -> [[u32; 2]; 2] {
        let [a, b, c, d] = if is_k_major!(O: self.order) {
            let row = first + lane / 16 * 8 + lane % 8;
            ldmatrix::<4, false, _, CHUNK>(self.row(step, row, 2 * half + lane / 8 % 2, (pair, pairs)))
        } else if CHUNK == 8 {
            let (k, chunk) = (lane % 16, first / 8 + 2 * pair as u32 + lane / 16);
            ldmatrix::<4, true, _, CHUNK>(self.depth(step, k, chunk, half))
        } else {
            let [[upper, next_upper], [lower, next_lower]] = self.columns(step, half, first + 16 * pair as u32, lane);
            [upper, lower, next_upper, next_lower]
        };
        each!([[a, b], [c, d]], |of_8| each!(of_8, T::rounded))
    }

    /// K-major: `chunk` of row `row` + 16 · `tile`, where `row` is in the first of `tiles` that start at a multiple of
    /// their rows.
    #[cfg_attr(optimised, inline(always))]
    fn row(&self, step: u32, row: u32, chunk: u32, (tile, tiles): (usize, usize)) -> SharedSlot<'a, T, CHUNK> {
        let line = 4 * CHUNK;
        // The bits that the place can have, for a compiler that has lost sight of them: the rest is added after it, by
        // the load.
        let bits = (EXTENT - 1 - 16 * (tiles - 1)) * line + 3 * CHUNK;
        let place = self.in_stage(row, chunk) & bits as u32;
        self.stages.slot_by_number(Self::stage(step) + place + (tile * 16 * line) as u32)
    }

    /// MN-major: `chunk` of row `k` + 16 · `half`, `k` below 16.
    #[cfg_attr(optimised, inline(always))]
    fn depth(&self, step: u32, k: u32, chunk: u32, half: u32) -> SharedSlot<'a, T, CHUNK> {
        let place = self.in_stage(k, chunk) & const { (16 * EXTENT - CHUNK) as u32 };
        self.stages.slot_by_number(Self::stage(step) + place + half * (16 * EXTENT) as u32)
    }

    /// 32-bit elements, MN-major: at k = lane % 4 and 4 further, column lane / 4 from `first` on and 8 further.
    #[cfg_attr(optimised, inline(always))]
    fn columns(&self, step: u32, half: u32, first: u32, lane: u32) -> [[u32; 2]; 2] {
        let number = |k, col| self.stages.get(self.at(step, k, col / 4) + col % 4).wide().to_bits();
        let (k, col) = (8 * half + lane % 4, first + lane / 4);
        [[number(k, col), number(k, col + 8)], [number(k + 4, col), number(k + 4, col + 8)]]
    }
}
