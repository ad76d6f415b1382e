//! Reductions of many lines in one launch: columns with a ticket for each tile, and rows read by vectors.

use crate::case::{Bench, Case, Group};
use simt::Kernel;
use simt::prelude::*;
use simt::shared::SharedArray;
use simulator::Kind;
use warpwright_tests::sim::{Buffer, Grid};

pub(crate) const GROUP: Group = Group {
    file: file!(),
    text: include_str!("line_reductions.rs"),
    cases: &[
        Case::new("partial sums without a barrier before the ticket", Kind::Race, merged),
        Case::new("tickets of which only the first is reset", Kind::Uninitialised, launched_twice),
        Case::new("a row read past its end by its last vector", Kind::Uninitialised, rows),
    ],
};

const COLS: u32 = 64;
const TILES: u32 = 2;
const CHUNKS: u32 = 3;
const ROWS: usize = 4;

#[repr(C)]
#[derive(Shared)]
struct Word {
    last: SharedArray<u32, 1>,
}

/// One thread for each column of a tile; `ROWS` rows are a chunk. The block that finishes a tile last adds its chunks.
#[kernel(block = COLS)]
fn columns_fixed(
    #[shared] word: &Word,
    x: VecRef<u32>,
    partials: VecMut<u32>,
    tickets: VecMut<u32>,
    sums: VecMut<u32>,
) {
    let (t, tile, chunk) = (thread_idx_x(), block_idx_x() % TILES, block_idx_x() / TILES);
    let col = (tile * COLS + t) as usize;
    let width = (TILES * COLS) as usize;
    let first = chunk as usize * ROWS;
    partials.set(chunk as usize * width + col, (first..first + ROWS).map(|row| x.get(row * width + col)).sum());
    sync_threads();
    if t == 0 {
        let ticket = tickets.atomic(tile as usize).fetch_add(1, Order::AcqRel, Scope::Device);
        word.last.set(0, u32::from(ticket == CHUNKS - 1));
    }
    sync_threads();
    if word.last.get(0) == 1 {
        sums.set(col, (0..CHUNKS as usize).map(|chunk| partials.get(chunk * width + col)).sum());
        if t == 0 {
            tickets.atomic(tile as usize).store(0, Order::Relaxed, Scope::Device);
        }
    }
}

#[kernel(block = COLS)]
fn columns_faulty(
    #[shared] word: &Word,
    x: VecRef<u32>,
    partials: VecMut<u32>,
    tickets: VecMut<u32>,
    sums: VecMut<u32>,
) {
    let (t, tile, chunk) = (thread_idx_x(), block_idx_x() % TILES, block_idx_x() / TILES);
    let col = (tile * COLS + t) as usize;
    let width = (TILES * COLS) as usize;
    let first = chunk as usize * ROWS;
    let sum = (first..first + ROWS).map(|row| x.get(row * width + col)).sum();
    partials.set(chunk as usize * width + col, sum); // FAULT: thread 0 releases only its own write
    if t == 0 {
        let ticket = tickets.atomic(tile as usize).fetch_add(1, Order::AcqRel, Scope::Device);
        word.last.set(0, u32::from(ticket == CHUNKS - 1));
    }
    sync_threads();
    if word.last.get(0) == 1 {
        for chunk in 0..CHUNKS as usize {
            let before = if chunk == 0 { 0 } else { sums.get(col) };
            let partial = partials.get(chunk * width + col); // FAULT
            sums.set(col, before + partial);
        }
        if t == 0 {
            tickets.atomic(tile as usize).store(0, Order::Relaxed, Scope::Device);
        }
    }
}

/// Resets only the first tile's ticket: in a second launch no block draws the last ticket of another tile.
#[kernel(block = COLS)]
fn columns_once(#[shared] word: &Word, x: VecRef<u32>, partials: VecMut<u32>, tickets: VecMut<u32>, sums: VecMut<u32>) {
    let (t, tile, chunk) = (thread_idx_x(), block_idx_x() % TILES, block_idx_x() / TILES);
    let col = (tile * COLS + t) as usize;
    let width = (TILES * COLS) as usize;
    let first = chunk as usize * ROWS;
    partials.set(chunk as usize * width + col, (first..first + ROWS).map(|row| x.get(row * width + col)).sum());
    sync_threads();
    if t == 0 {
        let ticket = tickets.atomic(tile as usize).fetch_add(1, Order::AcqRel, Scope::Device);
        word.last.set(0, u32::from(ticket == CHUNKS - 1));
    }
    sync_threads();
    if word.last.get(0) == 1 {
        sums.set(col, (0..CHUNKS as usize).map(|chunk| partials.get(chunk * width + col)).sum());
        if t == 0 && tile == 0 {
            tickets.atomic(0).store(0, Order::Relaxed, Scope::Device);
        }
    }
}

/// Reads the sums of the previous launch.
#[kernel(block = COLS)]
fn copy(sums: VecRef<u32>, y: VecMut<u32>) {
    let i = index_1d();
    if i < sums.len() {
        y.set(i, sums.get(i)); // FAULT: no block wrote the sums of the second tile
    }
}

/// Ten columns, rows 12 elements apart, with unwritten gaps.
const LENGTH: usize = 10;
const PITCH: usize = 12;

#[kernel(block = COLS)]
fn fill(x: VecMut<u32>) {
    let t = thread_idx_x() as usize;
    if t % PITCH < LENGTH {
        x.set_within(t, t as u32);
    }
}

/// One thread for each row, 4 elements at a time; two of the last four are in the gap.
#[kernel(block = COLS)]
fn rows_faulty(x: VecRef<u32>, sums: VecMut<u32>) {
    let row = thread_idx_x() as usize;
    if row < sums.len() {
        let start = row * PITCH;
        let mut sum = 0_u32;
        for col in (0..LENGTH).step_by(4) {
            let four = x.get_vec4(start + col); // FAULT: the last load reads two elements of the gap
            sum = four.lanes.iter().fold(sum, |sum: u32, x| sum.wrapping_add(*x));
        }
        sums.set(row, sum);
    }
}

#[kernel(block = COLS)]
fn rows_fixed(x: VecRef<u32>, sums: VecMut<u32>) {
    let row = thread_idx_x() as usize;
    if row < sums.len() {
        let Some(line) = x.part(row * PITCH, LENGTH) else { return };
        let (head, body, tail) = line.align_to::<4>();
        let mut sum = (0..head.len()).map(|i| head.get(i)).sum::<u32>();
        sum += (0..body.len()).map(|i| body.get(i).lanes.iter().sum::<u32>()).sum::<u32>();
        sum += (0..tail.len()).map(|i| tail.get(i)).sum::<u32>();
        sums.set(row, sum);
    }
}

type Args = (VecRef<'static, u32>, VecMut<'static, u32>, VecMut<'static, u32>, VecMut<'static, u32>);

fn input() -> Vec<u32> {
    (0..TILES * COLS * CHUNKS * ROWS as u32).collect()
}

fn column_sums(x: &[u32]) -> Vec<u32> {
    let width = (TILES * COLS) as usize;
    (0..width).map(|col| x.iter().skip(col).step_by(width).sum()).collect()
}

fn columns(bench: &mut Bench, faulty: Kernel<Args>, tickets: &mut Buffer<u32>) -> Buffer<u32> {
    let width = (TILES * COLS) as usize;
    let (x, mut partials) = (Buffer::new(&input()), Buffer::unwritten(width * CHUNKS as usize));
    let mut sums = Buffer::unwritten(width);
    let grid = Grid::line(TILES * CHUNKS, COLS);
    bench.launch((faulty, columns_fixed), grid, (&x, &mut partials, tickets, &mut sums));
    sums
}

fn merged(bench: &mut Bench) -> bool {
    let mut tickets = Buffer::zeroed(TILES as usize);
    let sums = columns(bench, columns_faulty, &mut tickets);
    sums.to_vec() == column_sums(&input()) && tickets.to_vec() == [0; TILES as usize]
}

fn launched_twice(bench: &mut Bench) -> bool {
    let mut tickets = Buffer::zeroed(TILES as usize);
    let mut right = true;
    for _ in 0..2 {
        let sums = columns(bench, columns_once, &mut tickets);
        let mut y = Buffer::unwritten((TILES * COLS) as usize);
        bench.launch((copy, copy), Grid::line(TILES, COLS), (&sums, &mut y));
        right &= y.to_vec() == column_sums(&input());
    }
    right
}

fn rows(bench: &mut Bench) -> bool {
    const COUNT: usize = 4;
    let (mut x, mut sums) = (Buffer::unwritten(COUNT * PITCH), Buffer::zeroed(COUNT));
    bench.launch((fill, fill), Grid::line(1, COLS), (&mut x,));
    bench.launch((rows_faulty, rows_fixed), Grid::line(1, COLS), (&x, &mut sums));
    let sum = |row: usize| (row * PITCH..row * PITCH + LENGTH).sum::<usize>() as u32;
    sums.to_vec() == (0..COUNT).map(sum).collect::<Vec<_>>()
}
