//! Transposition by swizzled tiles, and in place: wrong swizzles, missing barriers, overlapping pairs of tiles.

use crate::case::{Bench, Case, Group};
use simt::element::Vec4;
use simt::prelude::*;
use simulator::Kind;
use warpwright_tests::sim::{Buffer, Grid};

pub(crate) const GROUP: Group = Group {
    file: file!(),
    text: include_str!("swizzled_transposes.rs"),
    cases: &[
        Case::new("a swizzle that maps two columns to one position", Kind::Race, swizzle),
        Case::new("tiles swapped in place without reading both first", Kind::Race, swap),
        Case::new("a pair of tiles processed by two blocks", Kind::Race, pairs),
        Case::new("16-byte loads where only the first row is aligned", Kind::Misaligned, rows),
    ],
};

/// Width and height of a tile.
const T: u32 = 8;

fn ramp(n: u32) -> Vec<u32> {
    (0..n).collect()
}

/// Whether `b` is the transpose of an n × n ramp.
fn is_transposed(b: &Buffer<u32>, n: u32) -> bool {
    b.to_vec() == (0..n * n).map(|i| i % n * n + i / n).collect::<Vec<_>>()
}

/// b = a transposed, one tile; column c of row r is stored at c ^ r.
#[kernel(block = (T, T))]
fn swizzle_faulty(#[shared] tile: &SharedTile<u32, 8, 8>, a: MatRef<u32>, b: MatMut<u32>) {
    let (tx, ty) = (thread_idx_x(), thread_idx_y());
    // A column number has three bits, of which two are kept.
    tile.set(ty, (tx ^ ty) & 3, a.get(ty, tx)); // FAULT
    sync_threads();
    b.set(ty, tx, tile.get(tx, (ty ^ tx) & 3));
}

#[kernel(block = (T, T))]
fn swizzle_fixed(#[shared] tile: &SharedTile<u32, 8, 8>, a: MatRef<u32>, b: MatMut<u32>) {
    let (tx, ty) = (thread_idx_x(), thread_idx_y());
    tile.set(ty, (tx ^ ty) & 7, a.get(ty, tx));
    sync_threads();
    b.set(ty, tx, tile.get(tx, (ty ^ tx) & 7));
}

fn swizzle(bench: &mut Bench) -> bool {
    let (a, mut b) = (Buffer::new(&ramp(T * T)), Buffer::unwritten((T * T) as usize));
    bench.launch((swizzle_faulty, swizzle_fixed), Grid::new([1; 3], [T, T, 1]), (a.matrix(T, T), b.matrix_mut(T, T)));
    is_transposed(&b, T)
}

/// a = a transposed: a block swaps a tile above the diagonal with its partner below.
#[kernel(block = (T, T))]
fn swap_faulty(#[shared] tile: &SharedTile<u32, 8, 9>, a: MatMut<u32>) {
    let (tx, ty) = (thread_idx_x(), thread_idx_y());
    let (row, col) = (block_idx_y() * T, block_idx_x() * T);
    if row > col {
        return;
    }
    tile.set(ty, tx, a.get(row + ty, col + tx));
    sync_threads();
    a.set(row + ty, col + tx, a.get(col + tx, row + ty)); // FAULT: read after the barrier
    a.set(col + ty, row + tx, tile.get(tx, ty)); // FAULT: written before all threads have read it
}

#[kernel(block = (T, T))]
fn swap_fixed(#[shared] tile: &SharedTile<u32, 8, 9>, a: MatMut<u32>) {
    let (tx, ty) = (thread_idx_x(), thread_idx_y());
    let (row, col) = (block_idx_y() * T, block_idx_x() * T);
    if row > col {
        return;
    }
    tile.set(ty, tx, a.get(row + ty, col + tx));
    let partner = a.get(col + tx, row + ty);
    sync_threads();
    a.set(row + ty, col + tx, partner);
    a.set(col + ty, row + tx, tile.get(tx, ty));
}

fn swap(bench: &mut Bench) -> bool {
    let mut a = Buffer::new(&ramp(9 * T * T));
    bench.launch((swap_faulty, swap_fixed), Grid::new([3, 3, 1], [T, T, 1]), (a.matrix_mut(3 * T, 3 * T),));
    is_transposed(&a, 3 * T)
}

/// The same with one block for each tile instead of each pair.
#[kernel(block = (T, T))]
fn pairs_faulty(#[shared] tile: &SharedTile<u32, 8, 9>, a: MatMut<u32>) {
    let (tx, ty) = (thread_idx_x(), thread_idx_y());
    let (row, col) = (block_idx_y() * T, block_idx_x() * T);
    tile.set(ty, tx, a.get(row + ty, col + tx)); // FAULT
    let partner = a.get(col + tx, row + ty); // FAULT
    sync_threads();
    a.set(row + ty, col + tx, partner); // FAULT
    a.set(col + ty, row + tx, tile.get(tx, ty)); // FAULT
}

fn pairs(bench: &mut Bench) -> bool {
    let mut a = Buffer::new(&ramp(9 * T * T));
    bench.launch((pairs_faulty, swap_fixed), Grid::new([3, 3, 1], [T, T, 1]), (a.matrix_mut(3 * T, 3 * T),));
    is_transposed(&a, 3 * T)
}

/// The sum of each row, 16 bytes at a time if aligned.
#[kernel(block = 8)]
fn rows_faulty(a: MatRef<u32>, sums: VecMut<u32>) {
    let row = thread_idx_x();
    let whole = if a.as_ptr().addr().is_multiple_of(16) { a.cols() / 4 * 4 } else { 0 };
    let mut sum = 0;
    for col in (0..whole).step_by(4) {
        let four: Vec4<u32> = a.get_vec4(row, col); // FAULT: other rows are misaligned
        sum += four.lanes.iter().sum::<u32>();
    }
    sums.set(row as usize, (whole..a.cols()).fold(sum, |sum, col| sum + a.get(row, col)));
}

#[kernel(block = 8)]
fn rows_fixed(a: MatRef<u32>, sums: VecMut<u32>) {
    let row = thread_idx_x();
    let whole = if a.has_aligned_rows::<4>() { a.cols() / 4 * 4 } else { 0 };
    let mut sum = 0;
    for col in (0..whole).step_by(4) {
        let four: Vec4<u32> = a.get_vec4(row, col);
        sum += four.lanes.iter().sum::<u32>();
    }
    sums.set(row as usize, (whole..a.cols()).fold(sum, |sum, col| sum + a.get(row, col)));
}

fn rows(bench: &mut Bench) -> bool {
    let (a, mut sums) = (Buffer::new(&ramp(8 * 13)), Buffer::unwritten(8));
    bench.launch((rows_faulty, rows_fixed), Grid::line(1, 8), (a.matrix_ld(8, 12, 13), &mut sums));
    sums.to_vec() == (0..8).map(|row| (0..12).map(|col| 13 * row + col).sum()).collect::<Vec<u32>>()
}
