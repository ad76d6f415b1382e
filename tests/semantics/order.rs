//! Happens-before: order by atomics within a block and across blocks, and reports that do not depend on the schedule.

use crate::{schedules, silent};
use simt::prelude::*;
use simt::shared::SharedArray;
use simt::sync::{fence, named_barrier};
use simulator::{Kind, Report};
use warpwright_tests::sim::{Buffer, Grid, launch};

/// The reports are races and nothing else.
#[track_caller]
fn races(reports: &[Report], what: &str) {
    let texts: Vec<String> = reports.iter().map(ToString::to_string).collect();
    let all = reports.iter().all(|report| report.kind == Kind::Race);
    assert!(all && !reports.is_empty(), "{what}: {} reports\n{}", texts.len(), texts.join("\n"));
}

#[repr(C)]
#[derive(Shared)]
struct HandOver {
    words: SharedArray<u32, 8>,
    full: SharedArray<u32, 1>,
    empty: SharedArray<u32, 1>,
}

/// Thread 0 passes rows of 8 to the 63 others through a buffer. Two counters in shared memory count how often it was
/// filled and how many threads have read it: a barrier made of atomics. `relaxed` leaves out the readers' release.
#[kernel(block = 64)]
fn hand_over(#[shared] shared: &HandOver, relaxed: u32, x: MatRef<u32>, y: MatMut<u32>) {
    let t = thread_idx_x();
    let read = if relaxed == 1 { Order::Relaxed } else { Order::Release };
    if t == 0 {
        shared.full.set(0, 0);
        shared.empty.set(0, 0);
    }
    sync_threads();
    for row in 0..x.rows() {
        if t == 0 {
            while shared.empty.atomic(0).load(Order::Acquire, Scope::Block) < 63 * row {}
            (0..8).for_each(|i| shared.words.set(i, x.get(row, i)));
            shared.full.atomic(0).fetch_add(1, Order::Release, Scope::Block);
        } else {
            while shared.full.atomic(0).load(Order::Acquire, Scope::Block) <= row {}
            y.set(row, t, (0..8).map(|i| shared.words.get(i)).sum::<u32>() + t);
            shared.empty.atomic(0).fetch_add(1, read, Scope::Block);
        }
    }
}

#[test]
fn readers_can_release_a_buffer_through_a_counter() {
    let x = Buffer::new(&(0..40).collect::<Vec<u32>>());
    for config in schedules(20) {
        let mut y = Buffer::zeroed(5 * 64);
        let args = (0, x.matrix(5, 8), y.matrix_mut(5, 64));
        silent(&launch(&config, hand_over, Grid::line(1, 64), args).unwrap(), &config);
        let expected = |i: u32| if i.is_multiple_of(64) { 0 } else { 64 * (i / 64) + 28 + i % 64 };
        assert_eq!(y.to_vec(), (0..5 * 64).map(expected).collect::<Vec<_>>());
        let args = (1, x.matrix(5, 8), y.matrix_mut(5, 64));
        races(&launch(&config, hand_over, Grid::line(1, 64), args).unwrap().reports, "without release");
    }
}

/// [`hand_over`] with the two counters in global memory, and of device scope, as between blocks.
#[kernel(block = 64)]
fn hand_over_device_scope(
    #[shared] words: DynShared<u32>,
    relaxed: u32,
    x: MatRef<u32>,
    y: MatMut<u32>,
    counts: VecMut<u32>,
) {
    let t = thread_idx_x();
    let read = if relaxed == 1 { Order::Relaxed } else { Order::Release };
    for row in 0..x.rows() {
        if t == 0 {
            while counts.atomic(1).load(Order::Acquire, Scope::Device) < 63 * row {}
            (0..8).for_each(|i| words.set(i, x.get(row, i)));
            counts.atomic(0).fetch_add(1, Order::Release, Scope::Device);
        } else {
            while counts.atomic(0).load(Order::Acquire, Scope::Device) <= row {}
            y.set(row, t, (0..8).map(|i| words.get(i)).sum::<u32>() + t);
            counts.atomic(1).fetch_add(1, read, Scope::Device);
        }
    }
}

#[test]
fn readers_can_release_a_buffer_through_a_counter_of_device_scope() {
    let x = Buffer::new(&(0..40).collect::<Vec<u32>>());
    for config in schedules(20) {
        let (mut y, mut counts) = (Buffer::zeroed(5 * 64), Buffer::zeroed(2));
        let grid = Grid::line(1, 64).shared(32);
        let args = (0, x.matrix(5, 8), y.matrix_mut(5, 64), &mut counts);
        silent(&launch(&config, hand_over_device_scope, grid, args).unwrap(), &config);
        let mut counts = Buffer::zeroed(2);
        let args = (1, x.matrix(5, 8), y.matrix_mut(5, 64), &mut counts);
        races(&launch(&config, hand_over_device_scope, grid, args).unwrap().reports, "without release");
    }
}

/// Thread 0 sets an element by a plain write and goes on with atomics, one of them after a fence. `how` the others
/// reach it: 0 at once, 1 after a barrier, 2 after acquiring what thread 0 released.
#[kernel(block = 64)]
fn set_then_count(how: u32, x: VecMut<u32>, flag: VecMut<u32>) {
    if thread_idx_x() == 0 {
        x.set(0, 100);
        fence(Scope::Device);
        x.atomic(0).fetch_add(1, Order::Relaxed, Scope::Device);
        flag.atomic(0).fetch_add(1, Order::Release, Scope::Device);
        x.atomic(0).fetch_add(1, Order::Relaxed, Scope::Device);
    }
    if how == 1 {
        sync_threads();
    }
    if thread_idx_x() == 32 {
        while how == 2 && flag.atomic(0).load(Order::Acquire, Scope::Device) == 0 {}
        x.atomic(0).fetch_add(1, Order::Relaxed, Scope::Device);
    }
}

/// The same in shared memory.
#[kernel(block = 64)]
fn set_then_count_in_shared(#[shared] x: DynShared<u32>, how: u32, y: VecMut<u32>) {
    if thread_idx_x() == 0 {
        x.atomic(1).store(0, Order::Relaxed, Scope::Block);
    }
    sync_threads();
    if thread_idx_x() == 0 {
        x.set(0, 100);
        fence(Scope::Block);
        x.atomic(0).fetch_add(1, Order::Relaxed, Scope::Block);
        x.atomic(1).fetch_add(1, Order::Release, Scope::Block);
        x.atomic(0).fetch_add(1, Order::Relaxed, Scope::Block);
    }
    if how == 1 {
        sync_threads();
    }
    if thread_idx_x() == 32 {
        while how == 2 && x.atomic(1).load(Order::Acquire, Scope::Block) == 0 {}
        x.atomic(0).fetch_add(1, Order::Relaxed, Scope::Block);
    }
    sync_threads();
    y.set(thread_idx_x() as usize, x.get(0));
}

#[test]
fn an_atomic_does_not_hide_the_plain_write_before_it() {
    for config in schedules(20) {
        for how in 0..3 {
            let (mut x, mut flag, mut y) = (Buffer::zeroed(1), Buffer::zeroed(1), Buffer::zeroed(64));
            let outcome = launch(&config, set_then_count, Grid::line(1, 64), (how, &mut x, &mut flag)).unwrap();
            let grid = Grid::line(1, 64).shared(8);
            let shared = launch(&config, set_then_count_in_shared, grid, (how, &mut y)).unwrap();
            if how == 0 {
                races(&outcome.reports, "at once");
                races(&shared.reports, "at once, in shared memory");
            } else {
                silent(&outcome, &config);
                silent(&shared, &config);
                assert_eq!((x.to_vec(), y.to_vec()), (vec![103], vec![103; 64]));
            }
        }
    }
}

/// Every block reads all of `x` and takes a ticket; the last one overwrites it.
#[kernel(block = 64)]
fn overwrite(#[shared] last: DynShared<u32>, relaxed: u32, x: VecMut<u32>, ticket: VecMut<u32>, y: VecMut<u32>) {
    let t = thread_idx_x() as usize;
    y.set(index_1d(), x.get(t) + x.get(63 - t));
    sync_threads();
    if t == 0 {
        let order = if relaxed == 1 { Order::Relaxed } else { Order::AcqRel };
        last.set(0, ticket.atomic(0).fetch_add(1, order, Scope::Device));
    }
    sync_threads();
    if last.get(0) == grid_dim_x() - 1 {
        x.set(t, 7);
    }
}

#[test]
fn readers_of_all_blocks_come_before_the_last_blocks_write() {
    for config in schedules(30) {
        for relaxed in [0, 1] {
            let mut x = Buffer::new(&(0..64).collect::<Vec<u32>>());
            let (mut ticket, mut y) = (Buffer::zeroed(1), Buffer::unwritten(320));
            let (grid, args) = (Grid::line(5, 64).shared(4), (relaxed, &mut x, &mut ticket, &mut y));
            let outcome = launch(&config, overwrite, grid, args).unwrap();
            if relaxed == 1 {
                races(&outcome.reports, "relaxed ticket");
            } else {
                silent(&outcome, &config);
            }
            assert_eq!((x.to_vec(), y.to_vec()), (vec![7; 64], vec![63; 320]));
        }
    }
}

/// Warp 1 reads what warp 0 has written to global memory, and releases it, with named barriers only.
#[kernel(block = 96)]
fn relay(x: VecMut<u32>, y: VecMut<u32>, meet: u32) {
    let (warp, lane) = (thread_idx_x() / 32, (thread_idx_x() % 32) as usize);
    if warp == 0 {
        x.set(lane, 5);
        named_barrier(1, 64);
        if meet == 1 {
            named_barrier(2, 64);
        }
        x.set(lane, 6);
    } else if warp == 1 {
        named_barrier(1, 64);
        y.set(lane, (0..32).map(|i| x.get(i)).sum());
        if meet == 1 {
            named_barrier(2, 64);
        }
    }
}

#[test]
fn named_barriers_order_global_memory_among_their_threads() {
    for config in schedules(30) {
        for meet in [0, 1] {
            let (mut x, mut y) = (Buffer::unwritten(32), Buffer::unwritten(32));
            let outcome = launch(&config, relay, Grid::line(1, 96), (&mut x, &mut y, meet)).unwrap();
            if meet == 0 {
                races(&outcome.reports, "without the second barrier");
            } else {
                silent(&outcome, &config);
                assert_eq!((x.to_vec(), y.to_vec()), (vec![6; 32], vec![160; 32]));
            }
        }
    }
}

/// Thread 33 loads once, atomically, a flag that thread 0 sets by a plain store.
#[kernel(block = 64)]
fn asks_once(#[shared] flag: DynShared<u32>, shared: u32, x: VecMut<u32>, y: VecMut<u32>) {
    let t = thread_idx_x();
    if t == 0 {
        flag.set(0, 0);
    }
    sync_threads();
    match (shared, t) {
        (0, 0) => x.set(0, 1),
        (0, 33) => y.set(0, x.atomic(0).load(Order::Acquire, Scope::Device)),
        (_, 0) => flag.set(0, 1),
        (_, 33) => y.set(0, flag.atomic(0).load(Order::Acquire, Scope::Block)),
        _ => {}
    }
}

#[test]
fn an_atomic_load_races_with_a_plain_store_in_either_order() {
    for shared in [0, 1] {
        let mut firsts = [0; 2];
        for config in schedules(20) {
            let (mut x, mut y) = (Buffer::zeroed(1), Buffer::unwritten(1));
            let (grid, args) = (Grid::line(1, 64).shared(4), (shared, &mut x, &mut y));
            races(&launch(&config, asks_once, grid, args).unwrap().reports, "plain flag");
            firsts[y.to_vec()[0] as usize] += 1;
        }
        assert!(firsts.iter().all(|&count| count > 0), "both orders were tried: {firsts:?}");
    }
}

#[repr(C)]
#[derive(Shared)]
struct Mixed {
    words: SharedArray<u32, 64>,
    bytes: SharedArray<u8, 64>,
}

/// Words exchanged without a barrier, and bytes that need none: from the first byte on, the shadow has a cell per byte.
#[kernel(block = 64)]
fn mixed(#[shared] shared: &Mixed, y: VecMut<u32>) {
    let t = thread_idx_x();
    let early = if t < 32 { shared.words.get(63 - t) } else { 0 };
    shared.bytes.set(t, t as u8);
    shared.words.set(t, t);
    y.set(t as usize, early.max(u32::from(shared.bytes.get(t))));
}

#[test]
fn a_race_stays_one_when_words_are_split_into_bytes() {
    for config in schedules(20) {
        let mut y = Buffer::unwritten(64);
        races(&launch(&config, mixed, Grid::line(1, 64), (&mut y,)).unwrap().reports, "words");
    }
}

/// Block 0 and block 1 read an element. Block 1 then sets a flag; once block 0 sees it, it overwrites the element.
#[kernel(block = 32)]
fn flagged(relaxed: u32, x: VecMut<u32>, flag: VecMut<u32>, y: VecMut<u32>) {
    let (set, see) = if relaxed == 1 { (Order::Relaxed, Order::Relaxed) } else { (Order::Release, Order::Acquire) };
    if thread_idx_x() == 0 {
        y.set(block_idx_x() as usize, x.get(0));
        if block_idx_x() == 1 {
            flag.atomic(0).store(1, set, Scope::Device);
        } else {
            while flag.atomic(0).load(see, Scope::Device) == 0 {}
            x.set(0, 9);
        }
    }
}

#[test]
fn readers_of_two_blocks_are_recorded_separately() {
    for config in schedules(20) {
        for relaxed in [0, 1] {
            let (mut x, mut flag, mut y) = (Buffer::new(&[4]), Buffer::zeroed(1), Buffer::unwritten(2));
            let args = (relaxed, &mut x, &mut flag, &mut y);
            let outcome = launch(&config, flagged, Grid::line(2, 32), args).unwrap();
            if relaxed == 1 {
                races(&outcome.reports, "relaxed flag");
            } else {
                silent(&outcome, &config);
            }
            assert_eq!((x.to_vec(), y.to_vec()), (vec![9], vec![4, 4]));
        }
    }
}

/// Thread 0 writes an element, tries to exchange a flag of 0 that it takes for `expected`, and says that it has tried.
/// Thread 32 waits until the flag is at least `least`, and reads the element.
#[kernel(block = 64)]
fn exchange_then_say(expected: u32, least: u32, x: VecMut<u32>, flags: VecMut<u32>) {
    if thread_idx_x() == 0 {
        x.set(0, 8);
        let _ = flags.atomic(0).compare_exchange(expected, 1, Order::Release, Scope::Device);
        flags.atomic(1).store(1, Order::Relaxed, Scope::Device);
    } else if thread_idx_x() == 32 {
        while flags.atomic(1).load(Order::Relaxed, Scope::Device) == 0 {}
        while flags.atomic(0).load(Order::Acquire, Scope::Device) < least {}
        x.set(1, x.get(0));
    }
}

#[test]
fn an_exchange_that_fails_releases_nothing() {
    for config in schedules(20) {
        let exchange = |expected, least| {
            let (mut x, mut flags) = (Buffer::unwritten(2), Buffer::zeroed(2));
            let args = (expected, least, &mut x, &mut flags);
            launch(&config, exchange_then_say, Grid::line(1, 64), args).unwrap()
        };
        silent(&exchange(0, 1), &config);
        races(&exchange(7, 0).reports, "exchange that fails");
    }
}
