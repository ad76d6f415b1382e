//! Stream-K: blocks store and load the partial sums of tiles that are split along k.

use gpu::gemm::sm90;
use warpwright::gemm::{Algorithm, Op};

use super::packed::tma_algorithms;
use super::run::{OnDevice, equal};
use super::sample::{Bf16, F16, Kind};
use super::{Case, LAYOUTS, sample};
use crate::support::device::under_test;

/// Every kernel that has stream-K, on eight blocks, or four clusters, with a few steps each.
fn stream_k_is_exact<K: Kind>(layouts: &[[Op; 2]]) {
    let mut seen = 0;
    let bf16 = sm90::BF16.iter().filter(|row| row.config.stream_k).map(|row| row.kernel.info());
    let f16 = sm90::F16.iter().filter(|row| row.config.stream_k).map(|row| row.kernel.info());
    let kernels: Vec<_> = bf16.chain(f16).collect();
    let has_stream_k = |algorithm: &Algorithm| kernels.contains(&algorithm.kernel());
    let algorithms =
        |ops| tma_algorithms::<K>(ops).into_iter().filter(has_stream_k).map(|algorithm| algorithm.stream_k(8));
    for (ops, algorithm) in layouts.iter().flat_map(|&ops| algorithms(ops).map(move |algorithm| (ops, algorithm))) {
        let case = Case { ops, schedule: seen, ..sample::<K>(120, 520, 120) }.aligned();
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
    assert_eq!(seen > 0, under_test(0).has_kernel(kernels[0]));
}

#[test]
fn stream_k_of_bf16_is_exact() {
    stream_k_is_exact::<Bf16>(&LAYOUTS[..2]);
}

#[test]
fn stream_k_of_f16_is_exact() {
    stream_k_is_exact::<F16>(&LAYOUTS[2..]);
}
