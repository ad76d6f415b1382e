//! Launches that would never end are ended, in bounded time, with a report of who polls what.

use crate::{schedules, silent};
use simt::prelude::*;
use simulator::{Config, Kind, Level};
use std::time::{Duration, Instant};
use warpwright_tests::sim::{Buffer, Grid, launch};

/// Time in which a hang must be reported with the default configuration.
const LIMIT: Duration = Duration::from_secs(if cfg!(debug_assertions) { 20 } else { 2 });

/// Waits for a flag that no thread sets. `how`: by atomic loads of one thread, of all; by exchanges; by plain reads of
/// global memory, of shared memory; with a count of the polls in memory.
#[kernel(block = 64)]
fn wait(#[shared] flags: DynShared<u32>, how: u32, flag: VecMut<u32>, polls: VecMut<u32>) {
    let t = thread_idx_x();
    if t < 2 {
        flags.set(t, 0);
    }
    sync_threads();
    match how {
        0 => while t == 5 && flag.atomic(1).load(Order::Acquire, Scope::Device) == 0 {},
        1 => while flag.atomic(1).load(Order::Relaxed, Scope::Device) == 0 {},
        2 => while t == 5 && flag.atomic(1).compare_exchange(1, 0, Order::AcqRel, Scope::Device).is_err() {},
        3 => while flag.get(1) == 0 {},
        4 => while t == 5 && flags.get(1 + flag.get(0)) == 0 {},
        _ => {
            while t == 5 && flag.atomic(1).load(Order::Relaxed, Scope::Device) == 0 {
                polls.atomic(0).fetch_add(1, Order::Relaxed, Scope::Device);
            }
        }
    }
}

#[test]
fn every_hang_is_reported_in_time_with_the_polled_address() {
    let polled = [
        "`flag` at element 1",
        "`flag` at element 1",
        "`flag` at element 1",
        "`flag` at element 1",
        "shared memory at element 1",
    ];
    for (how, polled) in polled.into_iter().enumerate() {
        for resident in if how == 0 { &[1, 4][..] } else { &[1] } {
            let (mut flag, mut polls) = (Buffer::new(&[0, 0]), Buffer::zeroed(1));
            let (grid, begin) = (Grid::line(3, 64).shared(8), Instant::now());
            let config = Config::default().resident(*resident);
            let outcome = launch(&config, wait, grid, (how as u32, &mut flag, &mut polls)).unwrap();
            let took = begin.elapsed();
            assert!(took < LIMIT, "way {how}: {took:?}");
            let hang = outcome.reports.iter().find(|report| report.kind == Kind::Hang).expect("a hang");
            let who = if [1, 3].contains(&how) { "64 threads (0-63)" } else { "1 thread (5)" };
            assert!(hang.message.contains(who) && hang.message.contains(polled), "way {how}: {hang}");
        }
    }
}

/// Waits for an element that `flag` does not have: by atomic loads, by plain reads.
#[kernel(block = 64)]
fn wait_outside(how: u32, flag: VecMut<u32>) {
    match how {
        0 => while flag.atomic(2).load(Order::Relaxed, Scope::Device) == 0 {},
        _ => while flag.get(2) == 0 {},
    }
}

#[test]
fn a_hang_at_an_element_out_of_bounds_is_reported_in_time() {
    for how in 0..2 {
        let (mut flag, begin) = (Buffer::new(&[0, 0]), Instant::now());
        let outcome = launch(&Config::default(), wait_outside, Grid::line(1, 64), (how, &mut flag)).unwrap();
        let took = begin.elapsed();
        assert!(took < LIMIT, "{how}: {took:?}");
        for kind in [Kind::OutOfBounds, Kind::Hang] {
            assert!(outcome.reports.iter().any(|report| report.kind == kind), "{how}: {:?}", outcome.reports);
        }
    }
}

/// Each thread adds up `n` elements of a table, all of them scaled by the same number: a long loop of plain reads.
#[kernel(block = 8)]
fn scaled_sum(n: u32, table: VecRef<u32>, scale: VecMut<u32>) {
    let mut sum = 0;
    for i in 0..n {
        let at = (thread_idx_x() + 7 * i) as usize % table.len();
        sum += table.get(at) * scale.get(0);
    }
    scale.set(1 + thread_idx_x() as usize, sum);
}

#[test]
fn a_long_loop_of_plain_reads_is_no_hang() {
    const N: u32 = 50_000;
    let table: Vec<u32> = (0..1024).collect();
    let mut written = vec![0; 9];
    written[0] = 2;
    for mut config in schedules(2) {
        // By the default limit each thread would have to be sampled thousands of times. Six times are enough for this.
        config.hang_turns = 500;
        let mut scale = Buffer::new(&written);
        let outcome = launch(&config, scaled_sum, Grid::line(1, 8), (N, &Buffer::new(&table), &mut scale)).unwrap();
        silent(&outcome, &config);
        let sum = |t: u32| (0..N).map(|i| 2 * ((t + 7 * i) % 1024)).sum::<u32>();
        assert_eq!(scale.to_vec()[1..], (0..8).map(sum).collect::<Vec<_>>());
    }
}

#[test]
fn a_hang_that_counts_its_polls_ends_too() {
    let (mut flag, mut polls) = (Buffer::zeroed(2), Buffer::zeroed(1));
    let mut config = Config::default();
    config.hang_turns = 1000;
    let grid = Grid::line(1, 64).shared(8);
    let outcome = launch(&config, wait, grid, (5, &mut flag, &mut polls)).unwrap();
    assert!(outcome.reports.iter().any(|report| report.kind == Kind::Hang));
}

#[test]
fn a_hang_without_checks_ends() {
    for threads in [1, 2] {
        let (mut flag, mut polls) = (Buffer::zeroed(2), Buffer::zeroed(1));
        let (grid, begin) = (Grid::line(3, 64).shared(8), Instant::now());
        let config = Config::new(Level::Off).threads(threads);
        let outcome = launch(&config, wait, grid, (0, &mut flag, &mut polls)).unwrap();
        assert!(outcome.reports.iter().all(|report| report.kind == Kind::Hang) && !outcome.reports.is_empty());
        assert!(begin.elapsed() < LIMIT, "{:?}", begin.elapsed());
    }
}

/// A barrier of the grid.
#[kernel(block = 32)]
fn grid_barrier(arrived: VecMut<u32>, y: VecMut<u32>) {
    if thread_idx_x() == 0 {
        arrived.atomic(0).fetch_add(1, Order::AcqRel, Scope::Device);
        while arrived.atomic(0).load(Order::Acquire, Scope::Device) < grid_dim_x() {}
        y.set(block_idx_x() as usize, 1);
    }
}

#[test]
fn as_many_blocks_meet_as_the_device_holds() {
    for config in schedules(2) {
        let (mut arrived, mut y) = (Buffer::zeroed(1), Buffer::unwritten(300));
        silent(&launch(&config, grid_barrier, Grid::line(300, 32), (&mut arrived, &mut y)).unwrap(), &config);
        assert_eq!(y.to_vec(), [1; 300]);
    }
    let mut config = Config::default();
    config.sm_count = 2;
    let (mut arrived, mut y) = (Buffer::zeroed(1), Buffer::unwritten(65));
    let outcome = launch(&config, grid_barrier, Grid::line(65, 32), (&mut arrived, &mut y)).unwrap();
    let hang = &outcome.reports[0];
    let words = "1 blocks have not begun: the device holds 64 at once";
    assert!(hang.kind == Kind::Hang && hang.message.contains(words), "{hang}");
}

/// Block 0 sums `rows` rows by blocks of work between barriers; block 1 waits for it with one thread.
#[kernel(block = 64)]
fn long_work(#[shared] words: DynShared<u32>, rounds: u32, flag: VecMut<u32>, y: VecMut<u32>) {
    let t = thread_idx_x();
    if block_idx_x() == 0 {
        let mut sum = 0;
        for round in 0..rounds {
            words.set(t, round + t);
            sync_threads();
            sum += words.get(63 - t);
            sync_threads();
        }
        y.set(t as usize, sum);
        sync_threads();
        if t == 0 {
            flag.atomic(0).store(1, Order::Release, Scope::Device);
        }
    } else if t == 0 {
        while flag.atomic(0).load(Order::Acquire, Scope::Device) == 0 {}
        y.set(64, y.get(0));
    }
}

#[test]
fn a_block_that_works_while_another_polls_is_no_hang() {
    for mut config in schedules(3) {
        config.hang_turns = 20;
        let (mut flag, mut y) = (Buffer::zeroed(1), Buffer::unwritten(65));
        let grid = Grid::line(2, 64).shared(256);
        silent(&launch(&config, long_work, grid, (500, &mut flag, &mut y)).unwrap(), &config);
        assert_eq!(y.to_vec()[64], (0..500).map(|round| round + 63).sum::<u32>());
    }
}

/// Block 0 works for more than a second without a write; block 1 waits for it.
#[kernel(block = 1)]
fn silent_work(flag: VecMut<u32>, y: VecMut<u32>) {
    if block_idx_x() == 0 {
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_millis(1500) {}
        y.set(0, 7);
        flag.atomic(0).store(1, Order::Release, Scope::Device);
    } else {
        while flag.atomic(0).load(Order::Acquire, Scope::Device) == 0 {}
        y.set(1, y.get(0));
    }
}

#[test]
fn a_block_that_works_on_another_core_is_no_hang() {
    let (mut flag, mut y) = (Buffer::zeroed(1), Buffer::unwritten(2));
    let config = Config::new(Level::Off).threads(2);
    silent(&launch(&config, silent_work, Grid::line(2, 1), (&mut flag, &mut y)).unwrap(), &config);
    assert_eq!(y.to_vec(), [7, 7]);
}
