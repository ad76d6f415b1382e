//! Barriers of the block with votes, named barriers, and the order that they make.

use crate::{schedules, silent};
use simt::prelude::*;
use simt::sync::{named_barrier, named_barrier_arrive};
use simulator::{Config, Kind};
use warpwright_tests::sim::{Buffer, Grid, launch};

/// Five votes in a row, each over other predicates: count, all, any.
#[kernel]
fn votes(x: VecRef<u32>, y: MatMut<u32>) {
    let (i, bits) = (thread_idx_x(), x.get(index_1d()));
    for round in 0..5 {
        let holds = bits >> round & 1 == 1;
        y.set(i, 3 * round, sync_threads_count(holds));
        y.set(i, 3 * round + 1, u32::from(sync_threads_and(holds)));
        y.set(i, 3 * round + 2, u32::from(sync_threads_or(holds)));
    }
}

#[test]
fn votes_of_a_block_count_all_threads() {
    // Round 0: mixed; 1: all; 2: none; 3: all but one; 4: one.
    let holds = |i: u32| [i % 2 == 1, true, false, i != 33, i == 69];
    let word = |i| holds(i).iter().rev().fold(0, |word, &holds| 2 * word + u32::from(holds));
    let bits: Vec<u32> = (0..70).map(word).collect();
    let x = Buffer::new(&bits);
    let row = [35, 0, 1, 70, 1, 1, 0, 0, 0, 69, 0, 1, 1, 0, 1];
    for config in schedules(20).chain([1, 4, 16].map(|size| Config::default().warp_size(size))) {
        let mut y = Buffer::unwritten(70 * 15);
        let args = (&x, y.matrix_mut(70, 15));
        silent(&launch(&config, votes, Grid::line(1, 70), args).unwrap(), &config);
        assert!(y.to_vec().chunks(15).all(|thread| thread == row), "{config:?}");
    }
}

/// Warp 0 loads rows, warp 1 squares them, warp 2 stores them: two buffers between each pair, a "full" and an "empty"
/// barrier for each buffer.
#[kernel(block = 96)]
fn pipeline(#[shared] words: DynShared<u32>, x: MatRef<u32>, y: MatMut<u32>) {
    let (stage, lane) = (thread_idx_x() / 32, thread_idx_x() % 32);
    let place = |link: u32, buffer: u32| (2 * link + buffer) * 32 + lane;
    let full = |link: u32, buffer: u32| 1 + 4 * link + buffer;
    let empty = |link: u32, buffer: u32| 3 + 4 * link + buffer;
    for row in 0..x.rows() {
        let buffer = row % 2;
        let mut value = 0;
        if stage == 0 {
            value = x.get(row, lane);
        } else {
            named_barrier(full(stage - 1, buffer), 64);
            value += words.get(place(stage - 1, buffer));
            named_barrier_arrive(empty(stage - 1, buffer), 64);
        }
        if stage == 2 {
            y.set(row, 31 - lane, value);
        } else {
            if row >= 2 {
                named_barrier(empty(stage, buffer), 64);
            }
            words.set(place(stage, buffer), if stage == 1 { value * value } else { value });
            named_barrier_arrive(full(stage, buffer), 64);
        }
    }
    // The last two "empty" arrivals of each pair are for rows that do not exist.
    if stage < 2 {
        for row in x.rows().saturating_sub(2)..x.rows() {
            named_barrier(empty(stage, row % 2), 64);
        }
    }
}

#[test]
fn named_barriers_synchronise_a_pipeline() {
    let x: Vec<u32> = (0..7 * 32).collect();
    let expected: Vec<u32> = x.chunks(32).flat_map(|row| row.iter().rev().map(|v| v * v)).collect();
    let x = Buffer::new(&x);
    for config in schedules(50) {
        let mut y = Buffer::unwritten(7 * 32);
        let (grid, args) = (Grid::line(1, 96).shared(512), (x.matrix(7, 32), y.matrix_mut(7, 32)));
        silent(&launch(&config, pipeline, grid, args).unwrap(), &config);
        assert_eq!(y.to_vec(), expected, "{config:?}");
    }
}

/// 48 threads at a barrier for 64: the hardware counts whole warps.
#[kernel(block = 48)]
fn partial(#[shared] words: DynShared<u32>, y: VecMut<u32>) {
    let t = thread_idx_x();
    words.set(t, t);
    named_barrier(3, 64);
    y.set(t as usize, words.get(47 - t));
}

#[test]
fn a_partial_warp_counts_as_a_whole_one() {
    for config in schedules(20) {
        let mut y = Buffer::unwritten(48);
        silent(&launch(&config, partial, Grid::line(1, 48).shared(192), (&mut y,)).unwrap(), &config);
        assert_eq!(y.to_vec(), (0..48).rev().collect::<Vec<u32>>());
    }
}

/// A barrier with the given number and count.
#[kernel(block = 32)]
fn any_barrier(id: u32, threads: u32) {
    named_barrier(id, threads);
}

#[test]
fn impossible_named_barriers_are_reported_at_the_call() {
    let line = line!() - 5;
    let cases = [
        (16, 32, "there is no barrier 16"),
        (1, 40, "barrier 1 is to wait for 40 threads"),
        (1, 0, "barrier 1 is to wait for 0 threads"),
    ];
    for (id, threads, words) in cases {
        let outcome = launch(&Config::default(), any_barrier, Grid::line(1, 32), (id, threads)).unwrap();
        let [report] = &outcome.reports[..] else { panic!("one report, not {:?}", outcome.reports) };
        assert_eq!((report.kind, report.site.line), (Kind::Panic, line));
        assert!(report.message.contains(words), "{report}");
    }
}
