//! The simulator reports its own limits.

use simt::prelude::*;
use simulator::{Config, Kind};
use std::process::Command;
use warpwright_tests::sim::{Buffer, Grid, launch};

/// Passes so many barriers, then swaps two elements.
#[kernel(block = 2)]
fn barriers(#[shared] words: DynShared<u32>, count: u32, y: VecMut<u32>) {
    let t = thread_idx_x();
    for _ in 0..count {
        sync_threads();
    }
    words.set(t, t);
    sync_threads();
    y.set(t as usize, words.get(1 - t));
}

#[test]
fn a_clock_that_has_run_out_is_reported_as_the_simulators_limit() {
    for (count, kinds) in [(1000, &[][..]), (1 << 20, &[Kind::Limit])] {
        let mut y = Buffer::unwritten(2);
        let grid = Grid::line(1, 2).shared(8);
        let outcome = launch(&Config::default(), barriers, grid, (count, &mut y)).unwrap();
        let reported: Vec<Kind> = outcome.reports.iter().map(|report| report.kind).collect();
        assert_eq!((reported.as_slice(), y.to_vec()), (kinds, vec![1, 0]), "{count} barriers");
    }
}

/// Thread 3 recurses without end.
#[kernel(block = 32)]
fn endless(y: VecMut<u32>) {
    fn deeper(depth: u32) -> u32 {
        let frame = std::hint::black_box([depth; 256]);
        if depth == u32::MAX { 0 } else { deeper(depth + 1).wrapping_add(frame[7]) }
    }
    if thread_idx_x() == 3 {
        y.set(0, deeper(0));
    }
}

#[test]
#[ignore = "ends the process: run by the test below"]
fn overflow() {
    let _ = launch(&Config::default(), endless, Grid::line(1, 32), (&mut Buffer::unwritten(1),));
}

#[cfg(unix)]
#[test]
fn a_stack_overflow_names_kernel_and_thread_before_the_process_ends() {
    let program = std::env::current_exe().expect("the path of this test program");
    let child = Command::new(program).args(["--exact", "limits::overflow", "--ignored", "--nocapture"]).output();
    let child = child.expect("a child process");
    let said = String::from_utf8_lossy(&child.stderr);
    assert!(!child.status.success(), "the child succeeded:\n{said}");
    let expected = "stack overflow in kernel `endless`, thread (3, 0, 0)";
    assert!(said.contains(expected), "`{expected}` is not in\n{said}");
}
