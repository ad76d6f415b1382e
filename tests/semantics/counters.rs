//! Counters do not depend on the schedule, and follow the machine's parameters.

use simt::prelude::*;
use simt::shared::{SharedArray, SharedTile};
use simt::sync::fence;
use simulator::{Access, Config, Counters, Level};
use warpwright_tests::sim::{Buffer, Grid, launch};

#[repr(C)]
#[derive(Shared)]
struct Square {
    tile: SharedTile<f32, 32, 32>,
    last: SharedArray<u32, 1>,
}

/// Transposes tiles of 32 × 32; the last block to finish adds up what all have counted.
#[kernel(block = (32, 8))]
fn transpose(#[shared] shared: &Square, a: MatRef<f32>, b: MatMut<f32>, ticket: VecMut<u32>, sum: VecMut<f32>) {
    let (x, y) = (thread_idx_x(), thread_idx_y());
    let (row, col) = (block_idx_y() * 32, block_idx_x() * 32);
    for i in 0..4 {
        if branch(row + y + 8 * i < a.rows() && col + x < a.cols()) {
            shared.tile.set(y + 8 * i, x, a.get(row + y + 8 * i, col + x));
        }
    }
    sync_threads();
    for i in 0..4 {
        if branch(col + y + 8 * i < b.rows() && row + x < b.cols()) {
            b.set(col + y + 8 * i, row + x, shared.tile.get(x, y + 8 * i));
        }
    }
    if branch(index_in_block() == 0) {
        fence(Scope::Device);
        shared.last.set(0, ticket.atomic(0).fetch_add(1, Order::AcqRel, Scope::Device));
    }
    sync_threads();
    if branch(shared.last.get(0) == grid_dim_x() * grid_dim_y() - 1 && y == 0) {
        sum.atomic(0).fetch_add(1.0, Order::Relaxed, Scope::Device);
    }
}

fn count(config: &Config) -> Counters {
    let values: Vec<f32> = (0..40 * 70_u16).map(f32::from).collect();
    let (a, mut b) = (Buffer::new(&values), Buffer::unwritten(40 * 70));
    let (mut ticket, mut sum) = (Buffer::zeroed(1), Buffer::zeroed(1));
    let args = (a.matrix(40, 70), b.matrix_mut(70, 40), &mut ticket, &mut sum);
    let outcome = launch(config, transpose, Grid::new([3, 2, 1], [32, 8, 1]), args).unwrap();
    crate::silent(&outcome, config);
    assert_eq!(sum.to_vec(), [32.0]);
    outcome.counters.expect("counters at their level")
}

#[test]
fn counters_do_not_depend_on_the_schedule() {
    let first = count(&Config::new(Level::Counters));
    assert_eq!((first.barriers, first.warps), (12, 48));
    assert_eq!(first.total(Access::GlobalLoad).lanes, 40 * 70);
    for resident in [1, 4] {
        for seed in 0..30 {
            let config = Config::new(Level::Counters).seed(seed).resident(resident);
            assert_eq!(count(&config), first, "seed {seed}, {resident} resident");
        }
    }
}

/// Stores a row, loads a column of a square tile.
#[kernel(block = (32, 32))]
fn column(#[shared] shared: &Square, y: MatMut<f32>) {
    let (tx, ty) = (thread_idx_x(), thread_idx_y());
    shared.tile.set(ty, tx, 1.0);
    sync_threads();
    y.set(ty, tx, shared.tile.get(tx, ty));
}

#[test]
fn wider_banks_halve_the_conflicts_of_a_column() {
    // 32 words of one column lie in one bank of 4 bytes; rows of 32 words fill 16 banks of 8 bytes, so that every other
    // row starts in the same bank: 16 words for each of two banks.
    for (bytes, store, load) in [(4, 1, 32), (8, 1, 16)] {
        let mut y = Buffer::unwritten(1024);
        let config = Config::new(Level::Counters).bank_bytes(bytes);
        let outcome = launch(&config, column, Grid::new([1; 3], [32, 32, 1]), (y.matrix_mut(32, 32),)).unwrap();
        let counters = outcome.counters.expect("counters at their level");
        let (stores, loads) = (counters.total(Access::SharedStore), counters.total(Access::SharedLoad));
        assert_eq!((stores.worst, loads.worst), (store, load), "banks of {bytes} bytes");
        assert_eq!((stores.requests, stores.wavefronts), (32, 32));
        assert_eq!((loads.requests, loads.wavefronts), (32, 32 * u64::from(load)));
    }
}

#[test]
fn smaller_warps_make_more_requests() {
    for size in [8, 16, 32] {
        let mut y = Buffer::unwritten(1024);
        let config = Config::new(Level::Counters).warp_size(size);
        let outcome = launch(&config, column, Grid::new([1; 3], [32, 32, 1]), (y.matrix_mut(32, 32),)).unwrap();
        let counters = outcome.counters.expect("counters at their level");
        let stores = counters.total(Access::GlobalStore);
        assert_eq!(u64::from(1024 / size), counters.warps);
        assert_eq!((stores.requests, stores.lanes, stores.sectors), (counters.warps, 1024, 128), "warps of {size}");
        assert_eq!(counters.total(Access::SharedLoad).worst, size, "one column, one bank");
    }
}
