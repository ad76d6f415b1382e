//! Transposition of misaligned rows: each block writes whole sectors, shifted down by the row's misalignment to a
//! sector.

use crate::case::{Bench, Case, Group};
use simt::element::Vec4;
use simt::prelude::*;
use simulator::Kind;
use warpwright_tests::sim::{Buffer, Grid};

pub(crate) const GROUP: Group = Group {
    file: file!(),
    text: include_str!("misaligned_transposes.rs"),
    cases: &[
        Case::new("a block whose columns are shifted at the start and not at the end", Kind::Race, ends),
        Case::new("extra rows for the shift not loaded", Kind::Uninitialised, rows_above),
        Case::new("every row shifted like the first", Kind::Misaligned, first_shift),
        Case::new("a shifted tile read before all threads have filled it", Kind::Race, too_early),
    ],
};

/// Rows and columns of A that a block moves.
const T: u32 = 8;
/// Elements of a sector.
const SECTOR: u32 = 4;
/// Rows of A that a block loads: those that it moves, and one sector more.
const ROWS_LOADED: u32 = T + SECTOR;

type Tile = SharedTile<u32, 8, 13>;

/// Elements from the start of the row's first sector to the start of the row.
#[inline(always)]
fn past(b: MatMut<u32>, row: u32) -> u32 {
    (b.as_ptr().addr() as u32 / 4 + row * b.ld()) % SECTOR
}

/// Row of A that this thread reads; in the first block the extra rows wrap around and are out of bounds.
#[inline(always)]
fn row() -> u32 {
    (block_idx_x() * T + thread_idx_y()).wrapping_sub(SECTOR)
}

#[kernel(block = (T, ROWS_LOADED))]
fn fixed(#[shared] tile: &Tile, a: MatRef<u32>, b: MatMut<u32>) {
    let (col, y) = (thread_idx_x(), thread_idx_y());
    tile.set(col, y, a.get_or(row(), col, 0));
    sync_threads();
    let (past, to) = (past(b, col), block_idx_x() * T + y);
    if y < T && to >= past {
        b.set_within(col, to - past, tile.get(col, SECTOR + y - past));
    }
}

#[kernel(block = (T, ROWS_LOADED))]
fn ends_faulty(#[shared] tile: &Tile, a: MatRef<u32>, b: MatMut<u32>) {
    let (col, y) = (thread_idx_x(), thread_idx_y());
    tile.set(col, y, a.get_or(row(), col, 0));
    sync_threads();
    let (past, to) = (past(b, col), block_idx_x() * T + y);
    if y < T + past && to >= past {
        b.set_within(col, to - past, tile.get(col, SECTOR + y - past)); // FAULT: the next block writes it too
    }
}

#[kernel(block = (T, ROWS_LOADED))]
fn rows_above_faulty(#[shared] tile: &Tile, a: MatRef<u32>, b: MatMut<u32>) {
    let (col, y) = (thread_idx_x(), thread_idx_y());
    if y >= SECTOR {
        tile.set(col, y, a.get_or(row(), col, 0));
    }
    sync_threads();
    let (past, to) = (past(b, col), block_idx_x() * T + y);
    if y < T && to >= past {
        b.set_within(col, to - past, tile.get(col, SECTOR + y - past)); // FAULT
    }
}

#[kernel(block = (T, ROWS_LOADED))]
fn too_early_faulty(#[shared] tile: &Tile, a: MatRef<u32>, b: MatMut<u32>) {
    let (col, y) = (thread_idx_x(), thread_idx_y());
    tile.set(col, y, a.get_or(row(), col, 0)); // FAULT
    let (past, to) = (past(b, col), block_idx_x() * T + y);
    if y < T && to >= past {
        b.set_within(col, to - past, tile.get(col, SECTOR + y - past)); // FAULT
    }
}

fn transposed(bench: &mut Bench, faulty: simt::Kernel<(MatRef<'static, u32>, MatMut<'static, u32>)>) -> bool {
    let rows = 2 * T + 5;
    let (a, mut b) = (Buffer::new(&ramp(rows * T)), Buffer::unwritten((rows * T) as usize));
    let blocks = (rows + SECTOR - 1).div_ceil(T);
    let grid = Grid::new([blocks, 1, 1], [T, ROWS_LOADED, 1]);
    bench.launch((faulty, fixed), grid, (a.matrix(rows, T), b.matrix_mut(T, rows)));
    b.to_vec() == (0..rows * T).map(|i| i % rows * T + i / rows).collect::<Vec<_>>()
}

fn ramp(n: u32) -> Vec<u32> {
    (0..n).collect()
}

fn ends(bench: &mut Bench) -> bool {
    transposed(bench, ends_faulty)
}

fn rows_above(bench: &mut Bench) -> bool {
    transposed(bench, rows_above_faulty)
}

fn too_early(bench: &mut Bench) -> bool {
    transposed(bench, too_early_faulty)
}

/// Fills each row of b with its number, except incomplete vectors at both ends.
#[kernel(block = (T))]
fn first_shift_faulty(b: MatMut<u32>) {
    let row = thread_idx_x();
    let first = (SECTOR - past(b, 0)) % SECTOR;
    for col in (first..b.cols().saturating_sub(SECTOR - 1)).step_by(SECTOR as usize) {
        b.set_vec4(row, col, Vec4::new([row; 4])); // FAULT
    }
}

#[kernel(block = (T))]
fn first_shift_fixed(b: MatMut<u32>) {
    let row = thread_idx_x();
    let first = (SECTOR - past(b, row)) % SECTOR;
    for col in (first..b.cols().saturating_sub(SECTOR - 1)).step_by(SECTOR as usize) {
        b.set_vec4(row, col, Vec4::new([row; 4]));
    }
}

fn first_shift(bench: &mut Bench) -> bool {
    let mut b = Buffer::zeroed((T * 13) as usize);
    bench.launch((first_shift_faulty, first_shift_fixed), Grid::line(1, T), (b.matrix_mut(T, 13),));
    // An aligned group of four elements is written if all of them are in one row.
    let whole = |i: u32| i / 13 == (i + 3) / 13;
    b.to_vec() == (0..T * 13).map(|i| if whole(i / 4 * 4) { i / 13 } else { 0 }).collect::<Vec<_>>()
}
