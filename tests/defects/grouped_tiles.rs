//! Grouped products: tiles that end within a group of rows. The defects store rows of the next group, or forget that
//! what threads store is no group of TMA's stores.

use crate::case::{Bench, Case, Group};
use simt::Kernel;
use simt::prelude::*;
use simt::sync::fence_proxy_async;
use simt::tma::{Swizzle, TensorMapMut, store_2d, store_commit, store_wait_read};
use simulator::Kind;
use warpwright_tests::sim::{Buffer, Grid};

pub(crate) const GROUP: Group = Group {
    file: file!(),
    text: include_str!("grouped_tiles.rs"),
    cases: &[
        Case::new("tile stored beyond the end of its group", Kind::Race, |b| rows(b, beyond_faulty)),
        Case::new("group that begins before the one before ends", Kind::Race, |b| rows(b, decreasing_faulty)),
        Case::new("tile that threads store, and no group for it", Kind::AsyncRace, |b| mixed(b, no_group_faulty)),
    ],
};

/// Rows and columns of a tile of the first two cases.
const EDGE: u32 = 8;

/// Block g writes its number to the rows of group g, a tile of eight rows at a time. A group begins where the one
/// before ends, whatever its own offset says.
#[kernel(block = 64)]
fn rows_fixed(offsets: VecRef<u32>, y: VecMut<u32>) {
    let (t, g) = (thread_idx_x(), block_idx_x());
    let mut end = 0;
    let mut row = 0;
    for group in 0..=g {
        row = end;
        end = end.max(offsets.get(group as usize));
    }
    while row < end {
        if row + t / EDGE < end {
            y.set(((row + t / EDGE) * EDGE + t % EDGE) as usize, g);
        }
        row += EDGE;
    }
}

#[kernel(block = 64)]
fn beyond_faulty(offsets: VecRef<u32>, y: VecMut<u32>) {
    let (t, g) = (thread_idx_x(), block_idx_x());
    let mut end = 0;
    let mut row = 0;
    for group in 0..=g {
        row = end;
        end = end.max(offsets.get(group as usize));
    }
    while row < end {
        y.set(((row + t / EDGE) * EDGE + t % EDGE) as usize, g); // FAULT: rows of the next group, too
        row += EDGE;
    }
}

#[kernel(block = 64)]
fn decreasing_faulty(offsets: VecRef<u32>, y: VecMut<u32>) {
    let (t, g) = (thread_idx_x(), block_idx_x());
    let mut row = if g > 0 { offsets.get(g as usize - 1) } else { 0 };
    let end = offsets.get(g as usize);
    while row < end {
        if row + t / EDGE < end {
            y.set(((row + t / EDGE) * EDGE + t % EDGE) as usize, g); // FAULT: rows of two groups
        }
        row += EDGE;
    }
}

/// Groups that end at rows 5, 3 (which is wrong) and 13: the second one is empty.
fn rows(bench: &mut Bench, faulty: Kernel<(VecRef<'static, u32>, VecMut<'static, u32>)>) -> bool {
    let (offsets, mut y) = (Buffer::new(&[5_u32, 3, 13]), Buffer::unwritten(13 * EDGE as usize));
    bench.launch((faulty, rows_fixed), Grid::line(3, 64), (&offsets, &mut y));
    let row_of = |at: u32| at / EDGE;
    y.to_vec() == (0..13 * EDGE).map(|at| if row_of(at) < 5 { 0 } else { 2 }).collect::<Vec<_>>()
}

/// Rows and columns of a tile that TMA stores, and its elements.
const SIDE: u32 = 32;
const TILE: usize = 1024;
const TILES: u32 = 6;

#[repr(C, align(128))]
#[derive(Shared)]
struct Buffers {
    tiles: [SharedArray<f32, TILE>; 2],
}

/// Each of 64 threads writes 16 elements: element i of tile n is 1000·n + i.
#[track_caller]
fn fill(tile: &SharedArray<f32, TILE>, number: u32) {
    for i in (thread_idx_x()..TILE as u32).step_by(64) {
        tile.set(i, (1000 * number + i) as f32);
    }
}

/// The threads copy the upper half of tile `number`.
#[track_caller]
fn copy(tile: &SharedArray<f32, TILE>, y: VecMut<f32>, number: u32) {
    for i in (thread_idx_x()..TILE as u32 / 2).step_by(64) {
        y.set(number as usize * TILE + i as usize, tile.get(i));
    }
}

/// Six tiles through two buffers, every third by threads.
#[kernel(block = 64)]
fn mixed_fixed(#[shared] buffers: &Buffers, map: &TensorMapMut<f32>, y: VecMut<f32>) {
    for number in 0..TILES {
        let tile = &buffers.tiles[number as usize % 2];
        store_wait_read::<1>();
        sync_threads();
        fill(tile, number);
        fence_proxy_async();
        sync_threads();
        if number % 3 == 2 {
            copy(tile, y, number);
        } else if thread_idx_x() == 0 {
            store_2d(map, [0, (number * SIDE) as i32], tile.slot::<TILE>(0));
        }
        store_commit();
    }
    store_wait_read::<0>();
}

#[kernel(block = 64)]
fn no_group_faulty(#[shared] buffers: &Buffers, map: &TensorMapMut<f32>, y: VecMut<f32>) {
    for number in 0..TILES {
        let tile = &buffers.tiles[number as usize % 2];
        store_wait_read::<1>(); // after a copy the other buffer may still be read
        sync_threads();
        fill(tile, number); // FAULT
        fence_proxy_async();
        sync_threads();
        if number % 3 == 2 {
            copy(tile, y, number);
        } else if thread_idx_x() == 0 {
            store_2d(map, [0, (number * SIDE) as i32], tile.slot::<TILE>(0)); // FAULT
            store_commit();
        }
    }
    store_wait_read::<0>();
}

type Mixed = Kernel<(TensorMapMut<'static, f32>, VecMut<'static, f32>)>;

fn mixed(bench: &mut Bench, faulty: Mixed) -> bool {
    let (mut stored, mut copied) = (Buffer::zeroed(TILES as usize * TILE), Buffer::zeroed(TILES as usize * TILE));
    let map = stored.matrix_mut(TILES * SIDE, SIDE).tma(SIDE, SIDE, Swizzle::None);
    bench.launch((faulty, mixed_fixed), Grid::line(1, 64), (map, &mut copied));
    let value = |i: usize| (i / TILE * 1000 + i % TILE) as f32;
    let by_threads = |i: usize| i / TILE % 3 == 2;
    let all = 0..TILES as usize * TILE;
    stored.to_vec() == all.clone().map(|i| if by_threads(i) { 0.0 } else { value(i) }).collect::<Vec<_>>()
        && copied.to_vec()
            == all.map(|i| if by_threads(i) && i % TILE < TILE / 2 { value(i) } else { 0.0 }).collect::<Vec<_>>()
}
