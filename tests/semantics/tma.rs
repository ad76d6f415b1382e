//! Mbarriers and TMA: phases, the order that waits make, when loads land, how a swizzle lays a box out.

use crate::{schedules, silent};
use simt::mbarrier::{Mbarriers, fence_mbarrier_init};
use simt::prelude::*;
use simt::sync::{fence_proxy_async, named_barrier};
use simt::tma::{Swizzle, TensorMap, TensorMapMut, load_2d, store_2d, store_commit, store_wait, store_wait_read};
use simt::warp::sync_warp;
use simulator::{Config, Kind, Level, device};
use std::collections::BTreeSet;
use std::panic::Location;
use warpwright_tests::sim::{Buffer, Grid, launch};

fn ramp(n: u32) -> Vec<f32> {
    (0..n).map(|i| i as f32).collect()
}

#[repr(C)]
#[derive(Shared)]
struct Round {
    words: SharedArray<u32, 64>,
    written: Mbarriers<1>,
    read: Mbarriers<1>,
}

/// 20 rounds in which each of 64 threads passes a number to the next one; two mbarriers replace two barriers.
#[kernel(block = 64)]
fn rounds(#[shared] round: &Round, y: VecMut<u32>) {
    let t = thread_idx_x();
    if t == 0 {
        round.written.init(0, 64);
        round.read.init(0, 64);
    }
    sync_threads();
    let mut value = t;
    for i in 0..20 {
        round.words.set(t, value);
        round.written.arrive(0);
        round.written.wait(0, i % 2);
        value = round.words.get((t + 1) % 64) + 1;
        round.read.arrive(0);
        while !round.read.test(0, i % 2) {}
    }
    y.set(index_1d(), value);
}

#[test]
fn arrivals_and_waits_order_what_threads_do() {
    for config in schedules(20) {
        let mut y = Buffer::unwritten(3 * 64);
        silent(&launch(&config, rounds, Grid::line(3, 64), (&mut y,)).unwrap(), &config);
        let expected: Vec<u32> = (0..3 * 64).map(|i| (i + 20) % 64 + 20).collect();
        assert_eq!(y.to_vec(), expected, "{config:?}");
    }
}

#[repr(C, align(1024))]
#[derive(Shared)]
struct Stage {
    tile: SharedArray<f32, 1024>,
    full: Mbarriers<1>,
}

/// Initialises the mbarrier.
fn begin(stage: &Stage, arrivals: u32) {
    if thread_idx_x() == 0 {
        stage.full.init(0, arrivals);
        fence_mbarrier_init();
    }
    sync_threads();
}

/// One thread waits for a box; the others are ordered behind it by a barrier of the block, of some warps, or of the
/// warp.
#[kernel(block = 96)]
fn ordered(#[shared] stage: &Stage, x: &TensorMap<f32>, how: u32, y: VecMut<f32>) {
    let t = thread_idx_x();
    begin(stage, 1);
    if t == 0 {
        stage.full.arrive_expect_tx(0, 4096);
        load_2d(stage.tile.slot::<1024>(0), x, [0, 0], stage.full.at(0));
    }
    if t == 32 {
        stage.full.wait(0, 0);
    }
    let is_ordered = match how {
        0 => {
            sync_threads();
            true
        }
        1 if t >= 32 => {
            named_barrier(1, 64);
            true
        }
        2 if t / 32 == 1 => {
            sync_warp(u32::MAX);
            true
        }
        _ => false,
    };
    if is_ordered {
        y.set(t as usize, stage.tile.get(1023 - t));
    }
}

#[test]
fn threads_ordered_behind_a_wait_may_read() {
    let x = Buffer::new(&ramp(1024));
    for config in schedules(20) {
        for (how, readers) in [(0, 0..96), (1, 32..96), (2, 32..64)] {
            let mut y = Buffer::zeroed(96);
            let boxes = x.matrix(32, 32).tma(32, 32, Swizzle::None);
            silent(&launch(&config, ordered, Grid::line(1, 96), (boxes, how, &mut y)).unwrap(), &config);
            let expected = |t: u32| if readers.contains(&t) { (1023 - t) as f32 } else { 0.0 };
            assert_eq!(y.to_vec(), (0..96).map(expected).collect::<Vec<_>>(), "{config:?}, {how}");
        }
    }
}

/// Bytes may arrive before they are expected, as long as an arrival is missing.
#[kernel(block = 64)]
fn expected_late(#[shared] stage: &Stage, x: &TensorMap<f32>, y: VecMut<f32>) {
    let t = thread_idx_x();
    begin(stage, 2);
    if t == 0 {
        load_2d(stage.tile.slot::<1024>(0), x, [0, 0], stage.full.at(0));
        stage.full.arrive(0);
    }
    if t == 32 {
        stage.full.expect_tx(0, 4096);
        stage.full.arrive(0);
    }
    stage.full.wait(0, 0);
    y.set(t as usize, stage.tile.get(t));
}

#[test]
fn bytes_may_arrive_before_they_are_expected() {
    let x = Buffer::new(&ramp(1024));
    for config in schedules(30) {
        let mut y = Buffer::unwritten(64);
        let boxes = x.matrix(32, 32).tma(32, 32, Swizzle::None);
        silent(&launch(&config, expected_late, Grid::line(1, 64), (boxes, &mut y)).unwrap(), &config);
        assert_eq!(y.to_vec(), ramp(64), "{config:?}");
    }
}

/// How often thread 0 tests before the load has landed.
#[kernel(block = 32)]
fn tests_until_landed(#[shared] stage: &Stage, x: &TensorMap<f32>, y: VecMut<u32>) {
    begin(stage, 1);
    if thread_idx_x() == 0 {
        stage.full.arrive_expect_tx(0, 4096);
        load_2d(stage.tile.slot::<1024>(0), x, [0, 0], stage.full.at(0));
        let mut asked = 0;
        while !stage.full.test(0, 0) {
            asked += 1;
        }
        y.set(0, asked);
    }
}

#[test]
fn the_seed_chooses_when_a_load_lands() {
    let x = Buffer::new(&ramp(1024));
    let run = |level, seed| {
        let mut y = Buffer::unwritten(1);
        let boxes = x.matrix(32, 32).tma(32, 32, Swizzle::None);
        let config = Config::new(level).seed(seed).threads(1);
        silent(&launch(&config, tests_until_landed, Grid::line(1, 32), (boxes, &mut y)).unwrap(), &config);
        y.to_vec()[0]
    };
    let times: BTreeSet<u32> = (0..40).map(|seed| run(Level::Checks, seed)).collect();
    assert!(times.len() > 1, "always after {times:?} tests");
    assert!(!times.contains(&0), "never at once");
    for seed in 0..10 {
        assert_eq!(run(Level::Checks, seed), run(Level::Checks, seed), "seed {seed}");
        assert_eq!(run(Level::Checks, seed), run(Level::Off, seed), "seed {seed}, checked and not");
    }
}

/// Which row and 16-byte vector of a box lies at each address, and that a write hides it.
#[kernel(block = 32)]
fn origins(#[shared] stage: &Stage, x: &TensorMap<f32>, y: MatMut<u32>) {
    begin(stage, 1);
    if thread_idx_x() == 0 {
        stage.full.arrive_expect_tx(0, 4096);
        load_2d(stage.tile.slot::<1024>(0), x, [0, 0], stage.full.at(0));
        stage.full.wait(0, 0);
        for piece in 0..256 {
            let address = std::ptr::from_ref(&stage.tile).cast::<u8>().wrapping_add(16 * piece as usize);
            let (row, column) = device::written_by_box(address).unwrap_or((99, 99));
            y.set(piece, 0, row);
            y.set(piece, 1, column);
        }
        stage.tile.set(6, 1.0);
        let start = std::ptr::from_ref(&stage.tile).cast::<u8>();
        assert_eq!(device::written_by_box(start.wrapping_add(16)), None, "written over");
        assert!(device::written_by_box(start).is_some(), "only there");
    }
}

#[test]
fn vectors_of_a_box_lie_where_the_swizzle_puts_them() {
    let x = Buffer::new(&ramp(1024));
    for (rows, cols, swizzle) in
        [(32, 32, Swizzle::None), (32, 32, Swizzle::B128), (64, 16, Swizzle::B64), (128, 8, Swizzle::B32)]
    {
        let mut y = Buffer::unwritten(512);
        let boxes = x.matrix(rows, cols).tma(rows, cols, swizzle);
        let config = Config::new(Level::Checks);
        silent(&launch(&config, origins, Grid::line(1, 32), (boxes, y.matrix_mut(256, 2))).unwrap(), &config);
        let mut expected = vec![0; 512];
        for at in 0..256 {
            let place = swizzle.place(16 * at) as usize / 16;
            (expected[2 * place], expected[2 * place + 1]) = (at / (cols / 4), at % (cols / 4));
        }
        assert_eq!(y.to_vec(), expected, "{rows} x {cols}, {swizzle:?}");
    }
}

/// An asynchronous read of the first 64 words, as of a matrix product, which the other warp overwrites: before its end,
/// or ordered behind its end.
#[kernel(block = 64)]
fn product(#[shared] stage: &Stage, early: u32, y: VecMut<f32>) {
    let t = thread_idx_x();
    stage.tile.set(t, t as f32);
    fence_proxy_async();
    sync_threads();
    let mut token = 0;
    if t == 0 {
        let start = std::ptr::from_ref(&stage.tile).cast::<u8>();
        token = device::async_shared_read(start, 256, Location::caller());
    }
    sync_threads();
    if early == 1 && t == 40 {
        stage.tile.set(5, 1.0);
    }
    if t == 0 {
        device::async_shared_read_done(token);
    }
    if early == 0 {
        sync_threads();
    }
    if early != 1 && t == 40 {
        stage.tile.set(5, 1.0);
    }
    y.set(t as usize, 1.0);
}

#[test]
fn an_asynchronous_read_lasts_until_its_issuer_has_waited() {
    for config in schedules(10) {
        for early in 0..3 {
            let mut y = Buffer::unwritten(64);
            let outcome = launch(&config, product, Grid::line(1, 64), (early, &mut y)).unwrap();
            if early == 0 {
                silent(&outcome, &config);
            } else {
                let kinds: Vec<Kind> = outcome.reports.iter().map(|report| report.kind).collect();
                assert_eq!(kinds, [Kind::AsyncRace], "{config:?}, {early}");
            }
        }
    }
}

/// The kernel changes its buffer as soon as the store has read it.
#[kernel(block = 32)]
fn changed_after(#[shared] stage: &Stage, y: &TensorMapMut<f32>) {
    let t = thread_idx_x();
    for round in 0..3 {
        for i in (t..1024).step_by(32) {
            stage.tile.set(i, (round * 1024 + i) as f32);
        }
        fence_proxy_async();
        sync_threads();
        if t == 0 {
            store_2d(y, [0, 32 * round as i32], stage.tile.slot::<1024>(0));
            store_commit();
            store_wait_read::<0>();
        }
        sync_threads();
    }
    store_wait::<0>();
}

#[test]
fn a_store_writes_what_was_read() {
    for config in schedules(20) {
        for swizzle in [Swizzle::None, Swizzle::B128] {
            let mut y = Buffer::unwritten(3 * 1024);
            let boxes = y.matrix_mut(96, 32).tma(32, 32, swizzle);
            silent(&launch(&config, changed_after, Grid::line(1, 32), (boxes,)).unwrap(), &config);
            let mut expected = vec![0.0; 3 * 1024];
            for (i, word) in (0..).zip(&mut expected) {
                *word = (i / 1024 * 1024 + swizzle.place(4 * (i % 1024)) / 4) as f32;
            }
            assert_eq!(y.to_vec(), expected, "{config:?}, {swizzle:?}");
        }
    }
}
