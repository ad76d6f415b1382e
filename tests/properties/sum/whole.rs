//! `reduce_sum_f32`: a whole vector in one launch, from any offset, by any number of blocks, repeatedly with one
//! workspace.

use gpu::reduce::whole::partition::{THREADS, TILE_BYTES, blocks, workspace_words};
use gpu::reduce::whole::sums::reduce_sum_f32;
use proptest::prelude::*;
use rand::Rng;
use warpwright::{Device, Launch, Result, reference};

use super::integer_sum;
use crate::support::device::under_test;
use crate::support::runner::check;
use crate::support::values;

/// Elements of a tile.
const TILE_ELEMENTS: usize = TILE_BYTES / 4;

/// Value around the memory that a launch may write, and its initial value.
const CANARY: f32 = -1234.5;

#[derive(Clone, Debug)]
struct Case {
    n: usize,
    /// Elements of the buffer before the first, and after the last.
    around: [usize; 2],
    blocks: u32,
    data: u64,
    schedule: u64,
}

fn any_case() -> impl Strategy<Value = Case> {
    let tile = TILE_ELEMENTS;
    let edges = proptest::sample::select(vec![0, 1, 3, 4, 5, tile - 1, tile, tile + 1, 2 * tile + 3, 5 * tile + 7]);
    let n = prop_oneof![edges, 0..3 * tile];
    (n, [0..9_usize, 0..9_usize], 1..6_u32, any::<u64>(), any::<u64>())
        .prop_map(|(n, around, blocks, data, schedule)| Case { n, around, blocks, data, schedule })
}

/// Sums twice with the same workspace. The canaries around the output and the workspace must be unchanged.
fn sum_twice(device: &Device, case: &Case, x: &[f32]) -> Result<[f32; 2]> {
    let [before, after] = case.around;
    let mut whole = vec![f32::NAN; before];
    whole.extend_from_slice(x);
    whole.resize(before + x.len() + after, f32::NAN);
    let x = device.upload(&whole)?;
    // Zeros between canaries.
    let words = workspace_words(case.blocks, 1);
    let mut empty = vec![0; words + 2];
    (empty[0], empty[words + 1]) = (f64::from(CANARY).to_bits(), f64::from(CANARY).to_bits());
    let mut workspace = device.upload(&empty)?;
    let mut sums = [0.0; 2];
    for sum in &mut sums {
        let mut out = device.upload(&[CANARY; 3])?;
        let view = x.slice(before..before + case.n)?;
        let (room, result) = (workspace.slice_mut(1..words + 1)?, out.slice_mut(1..2)?);
        device.launch(&reduce_sum_f32, Launch::grid(case.blocks), (view, room, result))?;
        let out = out.download()?;
        assert_eq!([out[0], out[2]], [CANARY; 2], "canaries around the result");
        assert_eq!(workspace.download()?, empty, "the workspace is ready for the next launch");
        *sum = out[1];
    }
    Ok(sums)
}

#[test]
fn integers_are_exact() {
    check(any_case(), |case| {
        let x = values::integers(1, case.n, &mut values::rng(case.data));
        let x = x.as_slice().unwrap_or_default();
        let sums = sum_twice(&under_test(case.schedule), case, x).map_err(|error| error.to_string())?;
        let expected = integer_sum(x);
        if sums == [expected; 2] { Ok(0.0) } else { Err(format!("{sums:?} for {expected}")) }
    });
}

/// Only one element is not 0: in the head or tail, at the edges of tiles, or in the last tile.
#[test]
fn every_element_is_added_exactly_once() {
    check(any_case(), |case| {
        let n = case.n.max(1);
        let case = Case { n, ..case.clone() };
        let mut x = vec![0.0; n];
        x[values::rng(case.data).random_range(0..n)] = 0.75;
        let sums = sum_twice(&under_test(case.schedule), &case, &x).map_err(|error| error.to_string())?;
        if sums == [0.75; 2] { Ok(0.0) } else { Err(format!("{sums:?}")) }
    });
}

/// Sums are added in `f64`: 10⁸ − 10⁸ between reals cancels exactly.
#[test]
fn sums_are_rounded_once() {
    check(any_case(), |case| {
        let x = super::large_and_noise(1, case.n, &mut values::rng(case.data));
        let x = x.as_slice().unwrap_or_default();
        let sums = sum_twice(&under_test(case.schedule), case, x).map_err(|error| error.to_string())?;
        let tiles = (case.n as u64).div_ceil(TILE_ELEMENTS as u64).div_ceil(u64::from(case.blocks));
        // `reduction_depth` for this number of blocks: thread, warp and block, then the partial sums.
        let depth = (3 + 2 + tiles.max(1) + 2 + 5 + 4) + (u64::from(case.blocks.div_ceil(THREADS)) + 5 + 4 + 1);
        let verdict = reference::sum_in_f64(x, depth).check(&sums[..1]).map_err(|error| error.to_string())?;
        if verdict.passes() && sums[0].to_bits() == sums[1].to_bits() {
            Ok(verdict.worst)
        } else {
            Err(format!("{sums:?}: {verdict}"))
        }
    });
}

#[test]
fn runs_are_equal_for_every_schedule() {
    let n = 3 * TILE_ELEMENTS + 5;
    let x = values::reals(1, n, 1.0, &mut values::rng(16));
    let case = |schedule| Case { n, around: [1, 2], blocks: blocks(n, 4, 4), data: 0, schedule };
    let run =
        |schedule| sum_twice(&under_test(schedule), &case(schedule), x.as_slice().expect("one row")).expect("a run");
    let first = run(0);
    for schedule in 1..50 {
        reference::same_bits(&first, &run(schedule)).unwrap_or_else(|error| panic!("run {schedule}: {error}"));
    }
}
