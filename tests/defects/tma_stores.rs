//! TMA stores: without proxy fences for ordinary writes, or from buffers that are reused too early.

use crate::case::{Bench, Case, Group};
use simt::mbarrier::{Mbarriers, fence_mbarrier_init};
use simt::prelude::*;
use simt::sync::fence_proxy_async;
use simt::tma::{Swizzle, TensorMapMut, load_2d, store_2d, store_commit, store_wait, store_wait_read};
use simulator::Kind;
use warpwright_tests::sim::{Buffer, Grid};

pub(crate) const GROUP: Group = Group {
    file: file!(),
    text: include_str!("tma_stores.rs"),
    cases: &[
        Case::new("store without a proxy fence", Kind::ProxyFence, |b| store(b, unfenced_faulty)),
        Case::new("proxy fence by the storing thread only", Kind::ProxyFence, |b| store(b, one_fence_faulty)),
        Case::new("proxy fence before the writes", Kind::ProxyFence, |b| store(b, early_fence_faulty)),
        Case::new("store without a barrier before", Kind::AsyncRace, |b| store(b, no_barrier_faulty)),
        Case::new("buffer overwritten while it is stored", Kind::AsyncRace, |b| twice(b, reuse_faulty)),
        Case::new("buffer overwritten after a wait for one group too few", Kind::AsyncRace, |b| twice(b, count_faulty)),
        Case::new("end without a wait for the store", Kind::AsyncNotWaited, |b| store(b, not_waited_faulty)),
        Case::new("wait for a store that was never committed", Kind::AsyncNotWaited, |b| {
            store(b, not_committed_faulty)
        }),
        Case::new("store of a tile that is half written", Kind::Uninitialised, |b| store(b, half_faulty)),
        Case::new("stored box loaded by another thread before the store is complete", Kind::Race, round_trip),
        Case::new("stored map of two blocks that overlap", Kind::Race, overlap),
    ],
};

/// Rows and columns of a tile, and its elements.
const SIDE: u32 = 32;
const TILE: usize = 1024;

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

/// Thread 0 starts to store tile `number`.
#[track_caller]
fn start(tile: &SharedArray<f32, TILE>, y: &TensorMapMut<f32>, number: u32) {
    if thread_idx_x() == 0 {
        store_2d(y, [0, (number * SIDE) as i32], tile.slot::<TILE>(0));
        store_commit();
    }
}

fn expected(tiles: usize) -> Vec<f32> {
    (0..tiles * TILE).map(|i| (i / TILE * 1000 + i % TILE) as f32).collect()
}

#[kernel(block = 64)]
fn store_fixed(#[shared] buffers: &Buffers, y: &TensorMapMut<f32>) {
    fill(&buffers.tiles[0], block_idx_x());
    fence_proxy_async();
    sync_threads();
    start(&buffers.tiles[0], y, block_idx_x());
    store_wait_read::<0>();
}

#[kernel(block = 64)]
fn unfenced_faulty(#[shared] buffers: &Buffers, y: &TensorMapMut<f32>) {
    fill(&buffers.tiles[0], block_idx_x()); // FAULT
    sync_threads();
    start(&buffers.tiles[0], y, block_idx_x()); // FAULT
    store_wait_read::<0>();
}

#[kernel(block = 64)]
fn one_fence_faulty(#[shared] buffers: &Buffers, y: &TensorMapMut<f32>) {
    fill(&buffers.tiles[0], block_idx_x()); // FAULT
    sync_threads();
    if thread_idx_x() == 0 {
        fence_proxy_async(); // only the storing thread
    }
    start(&buffers.tiles[0], y, block_idx_x()); // FAULT
    store_wait_read::<0>();
}

#[kernel(block = 64)]
fn early_fence_faulty(#[shared] buffers: &Buffers, y: &TensorMapMut<f32>) {
    fence_proxy_async();
    fill(&buffers.tiles[0], block_idx_x()); // FAULT
    sync_threads();
    start(&buffers.tiles[0], y, block_idx_x()); // FAULT
    store_wait_read::<0>();
}

#[kernel(block = 64)]
fn no_barrier_faulty(#[shared] buffers: &Buffers, y: &TensorMapMut<f32>) {
    fill(&buffers.tiles[0], block_idx_x()); // FAULT
    fence_proxy_async();
    start(&buffers.tiles[0], y, block_idx_x()); // FAULT: the others may not have written yet
    store_wait_read::<0>();
}

#[kernel(block = 64)]
fn not_waited_faulty(#[shared] buffers: &Buffers, y: &TensorMapMut<f32>) {
    fill(&buffers.tiles[0], block_idx_x());
    fence_proxy_async();
    sync_threads();
    start(&buffers.tiles[0], y, block_idx_x()); // FAULT
}

#[kernel(block = 64)]
fn not_committed_faulty(#[shared] buffers: &Buffers, y: &TensorMapMut<f32>) {
    fill(&buffers.tiles[0], block_idx_x());
    fence_proxy_async();
    sync_threads();
    if thread_idx_x() == 0 {
        store_2d(y, [0, (block_idx_x() * SIDE) as i32], buffers.tiles[0].slot::<TILE>(0)); // FAULT: in no group
    }
    store_wait::<0>();
}

#[kernel(block = 64)]
fn half_faulty(#[shared] buffers: &Buffers, y: &TensorMapMut<f32>) {
    for i in (thread_idx_x()..TILE as u32 / 2).step_by(64) {
        buffers.tiles[0].set(i, (1000 * block_idx_x() + i) as f32);
    }
    fence_proxy_async();
    sync_threads();
    start(&buffers.tiles[0], y, block_idx_x()); // FAULT
    store_wait_read::<0>();
}

fn store(bench: &mut Bench, faulty: simt::Kernel<(TensorMapMut<'static, f32>,)>) -> bool {
    let mut y = Buffer::unwritten(2 * TILE);
    let map = y.matrix_mut(2 * SIDE, SIDE).tma(SIDE, SIDE, Swizzle::None);
    bench.launch((faulty, store_fixed), Grid::line(2, 64), (map,));
    y.to_vec() == expected(2)
}

/// Four tiles through two buffers.
#[kernel(block = 64)]
fn twice_fixed(#[shared] buffers: &Buffers, y: &TensorMapMut<f32>) {
    for number in 0..4 {
        let tile = &buffers.tiles[number as usize % 2];
        store_wait_read::<1>();
        sync_threads();
        fill(tile, number);
        fence_proxy_async();
        sync_threads();
        start(tile, y, number);
    }
    store_wait_read::<0>();
}

#[kernel(block = 64)]
fn reuse_faulty(#[shared] buffers: &Buffers, y: &TensorMapMut<f32>) {
    for number in 0..4 {
        let tile = &buffers.tiles[number as usize % 2];
        sync_threads();
        fill(tile, number); // FAULT: no wait
        fence_proxy_async();
        sync_threads();
        start(tile, y, number); // FAULT
    }
    store_wait_read::<0>();
}

#[kernel(block = 64)]
fn count_faulty(#[shared] buffers: &Buffers, y: &TensorMapMut<f32>) {
    for number in 0..4 {
        let tile = &buffers.tiles[number as usize % 2];
        store_wait_read::<2>(); // both buffers may still be read
        sync_threads();
        fill(tile, number); // FAULT
        fence_proxy_async();
        sync_threads();
        start(tile, y, number); // FAULT
    }
    store_wait_read::<0>();
}

fn twice(bench: &mut Bench, faulty: simt::Kernel<(TensorMapMut<'static, f32>,)>) -> bool {
    let mut y = Buffer::unwritten(4 * TILE);
    let map = y.matrix_mut(4 * SIDE, SIDE).tma(SIDE, SIDE, Swizzle::None);
    bench.launch((faulty, twice_fixed), Grid::line(1, 64), (map,));
    y.to_vec() == expected(4)
}

/// Every block stores its tile `step` rows below that of the block before.
#[kernel(block = 64)]
fn overlap_kernel(#[shared] buffers: &Buffers, step: u32, y: &TensorMapMut<f32>) {
    fill(&buffers.tiles[0], block_idx_x());
    fence_proxy_async();
    sync_threads();
    if thread_idx_x() == 0 {
        store_2d(y, [0, (block_idx_x() * step) as i32], buffers.tiles[0].slot::<TILE>(0)); // FAULT
        store_commit();
        store_wait::<0>();
    }
}

fn overlap(bench: &mut Bench) -> bool {
    let mut y = Buffer::unwritten(2 * TILE);
    let step = bench.choose(SIDE - 1, SIDE);
    let map = y.matrix_mut(2 * SIDE, SIDE).tma(SIDE, SIDE, Swizzle::None);
    bench.launch((overlap_kernel, overlap_kernel), Grid::line(2, 64), (step, map));
    y.to_vec() == expected(2)
}

/// A tile is stored, and another thread loads it again.
#[kernel(block = 64)]
fn round_trip_faulty(#[shared] trip: &RoundTrip, y: &TensorMapMut<f32>, sum: VecMut<f32>) {
    fill(&trip.out, 0);
    init_barrier(trip);
    if thread_idx_x() == 0 {
        store_2d(y, [0, 0], trip.out.slot::<TILE>(0)); // FAULT
        store_commit();
        store_wait_read::<0>(); // the buffer has been read, the store may still be in flight
    }
    sync_threads();
    if thread_idx_x() == 32 {
        trip.loaded.arrive_expect_tx(0, 4096);
        load_2d(trip.back.slot::<TILE>(0), y, [0, 0], trip.loaded.at(0)); // FAULT
    }
    trip.loaded.wait(0, 0);
    sum.set(thread_idx_x() as usize, trip.out.get(thread_idx_x()) + trip.back.get(thread_idx_x()));
}

#[kernel(block = 64)]
fn round_trip_fixed(#[shared] trip: &RoundTrip, y: &TensorMapMut<f32>, sum: VecMut<f32>) {
    fill(&trip.out, 0);
    init_barrier(trip);
    if thread_idx_x() == 0 {
        store_2d(y, [0, 0], trip.out.slot::<TILE>(0));
        store_commit();
        store_wait::<0>();
    }
    sync_threads();
    if thread_idx_x() == 32 {
        trip.loaded.arrive_expect_tx(0, 4096);
        load_2d(trip.back.slot::<TILE>(0), y, [0, 0], trip.loaded.at(0));
    }
    trip.loaded.wait(0, 0);
    sum.set(thread_idx_x() as usize, trip.out.get(thread_idx_x()) + trip.back.get(thread_idx_x()));
}

#[repr(C, align(128))]
#[derive(Shared)]
struct RoundTrip {
    out: SharedArray<f32, TILE>,
    back: SharedArray<f32, TILE>,
    loaded: Mbarriers<1>,
}

/// Initialises the mbarrier, and makes the tile's writes visible to the async proxy.
#[track_caller]
fn init_barrier(trip: &RoundTrip) {
    if thread_idx_x() == 0 {
        trip.loaded.init(0, 1);
        fence_mbarrier_init();
    }
    fence_proxy_async();
    sync_threads();
}

fn round_trip(bench: &mut Bench) -> bool {
    let (mut y, mut sum) = (Buffer::zeroed(TILE), Buffer::unwritten(64));
    let map = y.matrix_mut(SIDE, SIDE).tma(SIDE, SIDE, Swizzle::None);
    bench.launch((round_trip_faulty, round_trip_fixed), Grid::line(1, 64), (map, &mut sum));
    sum.to_vec() == (0..64).map(|i| (2 * i) as f32).collect::<Vec<_>>()
}
