//! Tiles that many blocks share along k: everyone hands on what it has, and finds what it needs.

use warpwright::gemm::{Algorithm, Op};

use super::packed::boxed;
use super::run::{OnDevice, equal};
use super::sample::{Brain, Half, Kind};
use super::{Case, LAYOUTS, sample};
use crate::support::device::under_test;

/// Every kernel that can, by eight blocks, or four clusters, of which each has a few steps.
fn shared_tiles_are_exact<K: Kind>(layouts: &[[Op; 2]]) {
    let mut seen = 0;
    let can_share = |algorithm: &Algorithm| gpu::hopper::gemm::KERNELS.contains(&algorithm.kernel());
    let algorithms = |ops| boxed::<K>(ops).into_iter().filter(can_share).map(|algorithm| algorithm.stream_k(8));
    for (ops, algorithm) in layouts.iter().flat_map(|&ops| algorithms(ops).map(move |algorithm| (ops, algorithm))) {
        let case = Case { ops, schedule: seen, ..sample(120, 520, 120) }.aligned();
        let data = case.integers::<K>();
        let on = OnDevice::<K>::new(&under_test(case.schedule), &case, &data).expect("memory");
        let plan = on.plan(algorithm).unwrap_or_else(|error| panic!("{algorithm}, {case:?}: {error}"));
        if plan.workspace_len() == 0 {
            // As many tiles as blocks.
            continue;
        }
        let got = on.run(Some(plan)).unwrap_or_else(|error| panic!("{algorithm}, {case:?}: {error}"));
        let verdict = on.c.values(&got).and_then(|values| equal(&case.expected::<K>(&data), &values));
        verdict.unwrap_or_else(|error| panic!("{algorithm}, {case:?}: {error}"));
        seen += 1;
    }
    assert_eq!(seen > 0, under_test(0).has_kernel(gpu::hopper::gemm::KERNELS[0]));
}

#[test]
fn tiles_of_bf16_shared_by_many_blocks_are_exact() {
    shared_tiles_are_exact::<Brain>(&LAYOUTS[..2]);
}

#[test]
fn tiles_of_f16_shared_by_many_blocks_are_exact() {
    shared_tiles_are_exact::<Half>(&LAYOUTS[2..]);
}
