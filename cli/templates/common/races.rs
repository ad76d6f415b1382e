//! The simulator finds no data race in the kernels, and finds the one in a kernel that has one. No GPU is used.

use warpwright::prelude::*;
use warpwright::simulator::{Config, Level};

use {{kernels}}::{THREADS, block_sums};

/// The simulator with all checks. The seed decides the order in which threads run.
fn simulator(seed: u64) -> Device {
    Device::simulator_with(Config::new(Level::Checks).seed(seed))
}

#[test]
fn block_sums_has_no_race() {
    for seed in 0..20 {
        let device = simulator(seed);
        let x = device.upload(&[1_u32; 1000]).unwrap();
        let mut sums = device.alloc(4).unwrap();
        // A fault would be an error, with the lines and threads that caused it.
        device
            .launch(&block_sums, Launch::cover(1000, THREADS), (&x, &mut sums))
            .unwrap();
        assert_eq!(sums.download().unwrap(), [256, 256, 256, 232]);
    }
}

/// Reverses a block's elements without a barrier between writing and reading. build.rs does not compile this file for
/// the GPU: the kernel runs on the simulator alone.
#[kernel(block = THREADS)]
fn reverse_without_barrier(#[shared] reversed: &Reversed, x: VecRef<u32>, y: VecMut<u32>) {
    let (i, t) = (index_1d(), thread_idx_x());
    reversed.values.set(t, x.get(i));
    // `sync_threads()` is missing here.
    y.set(i, reversed.values.get(THREADS - 1 - t));
}

#[repr(C)]
#[derive(Shared)]
struct Reversed {
    values: SharedArray<u32, { THREADS as usize }>,
}

#[test]
fn a_missing_barrier_is_found() {
    let device = simulator(0);
    let x = device.upload(&vec![1_u32; THREADS as usize]).unwrap();
    let mut y = device.alloc(THREADS as usize).unwrap();
    let report = device
        .launch(&reverse_without_barrier, Launch::grid(1), (&x, &mut y))
        .unwrap_err()
        .to_string();
    assert!(
        report.contains("data race") && report.contains("tests/races.rs"),
        "{report}"
    );
}
