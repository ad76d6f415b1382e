//! Transposition through a tile in shared memory with wrong bounds checks, for a matrix of `rows` × `cols`:
//!
//! ```text
//! row, col = the thread's element, then, overwritten: its element of the transposed tile
//! if row < rows && col < cols {
//!     tile[ty][tx] = in[element]
//!     barrier
//!     out[transposed element] = tile[tx][ty]
//! }
//! ```
//!
//! It has two defects. The *transposed* coordinates are compared with the *untransposed* extents, for the load and the
//! store: if rows ≠ cols, this writes out of bounds or leaves elements unwritten, depending on the shape. And the
//! barrier is inside the `if`: threads outside the matrix never reach it.

use crate::case::{Bench, Case, Group};
use simt::prelude::*;
use simt::shared::SharedTile;
use simulator::{Config, Kind};
use warpwright_tests::sim::{Buffer, Grid, launch};

pub(crate) const GROUP: Group = Group {
    file: file!(),
    text: include_str!("transpose_guards.rs"),
    cases: &[
        Case::new("transposition guarded by the wrong extents: writes outside", Kind::OutOfBounds, |b| guard(b, 5, 8)),
        Case::new("transposition guarded by the wrong extents: gaps", Kind::Uninitialised, |b| guard(b, 16, 24)),
        Case::new("transposition with its barrier inside the guard", Kind::AbandonedBarrier, barrier),
    ],
};

/// Width and height of a tile.
const T: u32 = 8;

#[repr(C)]
#[derive(Shared)]
struct Tile {
    tile: SharedTile<u32, 8, 9>,
}

/// out = a transposed.
#[kernel(block = (T, T))]
fn guard_faulty(#[shared] shared: &Tile, a: MatRef<u32>, out: MatMut<u32>) {
    let (tx, ty) = (thread_idx_x(), thread_idx_y());
    let (row, col) = (block_idx_y() * T + ty, block_idx_x() * T + tx);
    let (out_row, out_col) = (block_idx_x() * T + ty, block_idx_y() * T + tx);
    let inside = out_row < a.rows() && out_col < a.cols();
    shared.tile.set(ty, tx, if inside { a.get(row, col) } else { 0 });
    sync_threads();
    if inside {
        out.set(out_row, out_col, shared.tile.get(tx, ty)); // FAULT
    }
}

#[kernel(block = (T, T))]
fn guard_fixed(#[shared] shared: &Tile, a: MatRef<u32>, out: MatMut<u32>) {
    let (tx, ty) = (thread_idx_x(), thread_idx_y());
    let (row, col) = (block_idx_y() * T + ty, block_idx_x() * T + tx);
    let (out_row, out_col) = (block_idx_x() * T + ty, block_idx_y() * T + tx);
    let inside = row < a.rows() && col < a.cols();
    shared.tile.set(ty, tx, if inside { a.get(row, col) } else { 0 });
    sync_threads();
    if out_row < out.rows() && out_col < out.cols() {
        out.set(out_row, out_col, shared.tile.get(tx, ty));
    }
}

/// Reads every element of a matrix.
#[kernel(block = 32)]
fn copy(a: VecRef<u32>, b: VecMut<u32>) {
    if index_1d() < a.len() {
        b.set(index_1d(), a.get(index_1d())); // FAULT: the transposition left gaps
    }
}

fn guard(bench: &mut Bench, rows: u32, cols: u32) -> bool {
    let (values, n) = ((0..rows * cols).collect::<Vec<u32>>(), rows * cols);
    let (a, mut out, mut copied) = (Buffer::new(&values), Buffer::unwritten(n as usize), Buffer::unwritten(n as usize));
    let grid = Grid::new([cols.div_ceil(T), rows.div_ceil(T), 1], [T, T, 1]);
    bench.launch((guard_faulty, guard_fixed), grid, (a.matrix(rows, cols), out.matrix_mut(cols, rows)));
    // The smaller shape is reported in this launch, the larger one only when the gaps are read.
    if rows.is_multiple_of(T) {
        bench.launch((copy, copy), Grid::line(n.div_ceil(32), 32), (&out, &mut copied));
    }
    out.to_vec() == (0..n).map(|i| values[(i % rows * cols + i / rows) as usize]).collect::<Vec<_>>()
}

/// out = a transposed, with the right extents.
#[kernel(block = (T, T))]
fn barrier_faulty(#[shared] shared: &Tile, a: MatRef<u32>, out: MatMut<u32>) {
    let (tx, ty) = (thread_idx_x(), thread_idx_y());
    let (row, col) = (block_idx_y() * T + ty, block_idx_x() * T + tx);
    let (out_row, out_col) = (block_idx_x() * T + ty, block_idx_y() * T + tx);
    let (loads, stores) = (row < a.rows() && col < a.cols(), out_row < out.rows() && out_col < out.cols());
    if loads || stores {
        if loads {
            shared.tile.set(ty, tx, a.get(row, col));
        }
        sync_threads(); // FAULT
        if stores {
            out.set(out_row, out_col, shared.tile.get(tx, ty));
        }
    }
}

#[kernel(block = (T, T))]
fn barrier_fixed(#[shared] shared: &Tile, a: MatRef<u32>, out: MatMut<u32>) {
    let (tx, ty) = (thread_idx_x(), thread_idx_y());
    let (row, col) = (block_idx_y() * T + ty, block_idx_x() * T + tx);
    let (out_row, out_col) = (block_idx_x() * T + ty, block_idx_y() * T + tx);
    let (loads, stores) = (row < a.rows() && col < a.cols(), out_row < out.rows() && out_col < out.cols());
    if loads {
        shared.tile.set(ty, tx, a.get(row, col));
    }
    sync_threads();
    if stores {
        out.set(out_row, out_col, shared.tile.get(tx, ty));
    }
}

fn barrier(bench: &mut Bench) -> bool {
    let (rows, cols) = (13, 21);
    let (values, n) = ((0..rows * cols).collect::<Vec<u32>>(), rows * cols);
    let (a, mut out) = (Buffer::new(&values), Buffer::unwritten(n as usize));
    let grid = Grid::new([cols.div_ceil(T), rows.div_ceil(T), 1], [T, T, 1]);
    bench.launch((barrier_faulty, barrier_fixed), grid, (a.matrix(rows, cols), out.matrix_mut(cols, rows)));
    out.to_vec() == (0..n).map(|i| values[(i % rows * cols + i / rows) as usize]).collect::<Vec<_>>()
}

#[test]
fn unwritten_elements_of_an_output_can_be_queried_without_reading_them() {
    let values: Vec<u32> = (0..16 * 24).collect();
    let (a, mut out) = (Buffer::new(&values), Buffer::unwritten(16 * 24));
    let args = (a.matrix(16, 24), out.matrix_mut(24, 16));
    let outcome = launch(&Config::default(), guard_faulty, Grid::new([3, 2, 1], [T, T, 1]), args).unwrap();
    assert_eq!(outcome.reports, [], "the launch itself has no defect");
    assert_eq!(out.first_unwritten(), Some(16 * 16), "the transposed rows from the sixteenth on");
}
