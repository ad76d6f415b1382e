//! From global memory to a stage of shared memory.
//!
//! A step along k needs M × depth elements of A and depth × N of B. Each block chooses for each operand and step: 16
//! bytes at a time where the whole piece is in the matrix and rows start at multiples of 16 bytes, else element by
//! element with bounds.
//!
//! B lies in a stage as in memory: it is copied there while the threads compute. A must be transposed, so that a thread
//! finds four rows of one column side by side. Its elements pass through registers: fetched before the threads compute,
//! stored after.
//!
//! ```text
//!   fetch, 16 bytes a lane              store, 4 bytes a lane, 4 times
//!        k 0–3  k 4–7                      row  0 1 … 15 │ 16 17 … 31
//!   row 0  0      1    (lanes)        k 0       0 2 … 30 │  1  3 … 31      (lanes)
//!       1  2      3                     and 4
//!      …
//! ```
//!
//! Lanes of even number hold k = 0 of 16 rows when those of odd number hold k = 4 of the same. Rows of a stage start at
//! the same bank; so columns 4 to 7 of A are kept with bit 4 of the row inverted, and 32 lanes meet 32 banks. Readers
//! have 16 rows from quad to quad: for them the inversion swaps the names of two registers.
//!
//! What A lacks counts as +0, what B lacks as −0: the product −0 changes no sum, a sum of −0 neither.

use simt::async_copy::cp_async;
use simt::prelude::*;

use crate::unroll::unroll;

/// 1 in the columns of A, 4 to 7 of every 8, in which bit 4 of the row is inverted, else 0.
#[cfg_attr(optimised, inline(always))]
pub(super) const fn permuted(k: usize) -> usize {
    k / 4 % 2
}

/// A thread's share of a piece of A: quads of one row each, or nothing, where the share is on its way already.
pub(super) struct ShareOfA<const ROWS: usize, const M: usize, const THREADS: usize> {
    quads: [[f32; 4]; 4],
    here: bool,
}

impl<const ROWS: usize, const M: usize, const THREADS: usize> ShareOfA<ROWS, M, THREADS> {
    /// Elements along k in a stage, of which the tile has two.
    const DEPTH: usize = ROWS / 2;
    /// Quads in a row.
    const ACROSS: usize = Self::DEPTH / 8;
    /// Quads in all.
    const QUADS: usize = Self::DEPTH * M / 4 / THREADS;

    /// Row and column in the piece of quad `i` of a thread.
    #[cfg_attr(optimised, inline(always))]
    const fn place(thread: u32, i: usize) -> (u32, u32) {
        let (down, across) = (i / Self::ACROSS, i % Self::ACROSS);
        (thread / 2 + (down * THREADS / 2) as u32, thread % 2 * 4 + across as u32 * 8)
    }

    /// The share of the piece at (`row0`, `k0`), for the stage that starts at row `stage`.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn fetch(
        tile: &SharedTile<f32, ROWS, M>,
        stage: u32,
        a: MatRef<f32>,
        aligned: bool,
        (row0, k0): (u32, u32),
        thread: u32,
    ) -> Self {
        let mut quads = [[0.0; 4]; 4];
        match a.part(row0, k0, M as u32, Self::DEPTH as u32) {
            Some(piece) if aligned => {
                unroll!(for i in 0..4 {
                    if i < Self::QUADS {
                        let (row, k) = Self::place(thread, i);
                        quads[i] = piece.get_vec4(row, k).lanes;
                    }
                });
                Self { quads, here: true }
            }
            _ => {
                let k = thread % Self::DEPTH as u32;
                each(thread / Self::DEPTH as u32, M, THREADS / Self::DEPTH, |row| {
                    let (from_row, from_k) = (row0.saturating_add(row), k0.saturating_add(k));
                    let (to_k, to_row) = (stage + k, row ^ (16 * permuted(k as usize)) as u32);
                    if from_row < a.rows() && from_k < a.cols() {
                        cp_async(tile.slot::<1>(to_k, to_row), a.slot(from_row, from_k));
                    } else {
                        tile.set(to_k, to_row, 0.0);
                    }
                });
                Self { quads, here: false }
            }
        }
    }

    /// Writes it to the stage that starts at row `stage`.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn store(&self, tile: &SharedTile<f32, ROWS, M>, stage: u32, thread: u32) {
        if !self.here {
            return;
        }
        unroll!(for i in 0..4 {
            if i < Self::QUADS {
                let (row, k) = Self::place(thread, i);
                unroll!(for j in 0..4 {
                    tile.set(stage + k + j as u32, row ^ (thread % 2 * 16), self.quads[i][j]);
                });
            }
        });
    }
}

/// Starts to copy a thread's share of the piece of B at (`k0`, `col0`) to the stage that starts at row `stage`.
#[cfg_attr(optimised, inline(always))]
pub(super) fn copy_b<const ROWS: usize, const N: usize, const THREADS: usize>(
    tile: &SharedTile<f32, ROWS, N>,
    stage: u32,
    b: MatRef<f32>,
    aligned: bool,
    (k0, col0): (u32, u32),
    thread: u32,
) {
    let depth = const { ROWS / 2 };
    match b.part(k0, col0, depth as u32, N as u32) {
        Some(piece) if aligned => unroll!(for i in 0..8 {
            let rows = 4 * THREADS / N;
            if i < depth / rows {
                let (k, col) = (thread / (N as u32 / 4) + (i * rows) as u32, thread % (N as u32 / 4) * 4);
                cp_async(tile.slot::<4>(stage + k, col), piece.slot(k, col));
            }
        }),
        _ => {
            let col = thread % N as u32;
            each(thread / N as u32, depth, THREADS / N, |k| {
                let (from_k, from_col) = (k0.saturating_add(k), col0.saturating_add(col));
                if from_k < b.rows() && from_col < b.cols() {
                    cp_async(tile.slot::<1>(stage + k, col), b.slot(from_k, from_col));
                } else {
                    tile.set(stage + k, col, -0.0);
                }
            });
        }
    }
}

/// Does something for every `by`-th number from `first` to below `end`. Nothing is kept in registers from one to the
/// next: the path that is seldom taken must not take registers from the other.
#[cfg_attr(optimised, inline(always))]
fn each(first: u32, end: usize, by: usize, mut body: impl FnMut(u32)) {
    let mut i = first;
    while i < end as u32 {
        body(i);
        i += by as u32;
    }
}
