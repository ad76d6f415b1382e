//! Instruction tests: each kernel of `gpu::lab::instructions` and `instructions_sm90` is launched on the device that
//! `WARPWRIGHT_DEVICE` names. Its results must be those that its documentation defines, and have the same bits on a
//! second device, the simulator.
//!
//! There is one module for each module of kernels, and [`case`], which runs them. A kernel without a case fails a test.

mod arithmetic;
mod async_copy;
mod atomics;
mod barriers;
mod case;
mod clusters;
mod functions;
mod geometry;
mod matrices;
mod order;
mod pdl;
mod tensor_cores;
mod tma;
mod vectors;
mod warps;

#[path = "../properties/support/device.rs"]
mod device;

use std::collections::BTreeSet;

use case::{Case, check};

/// Kernels that compute-sanitizer's racecheck reports on an H200, although the PTX memory model orders their accesses,
/// by `bar.arrive` before `bar.sync` and by acquire and release atomics, and the simulator reports nothing. Apparently
/// racecheck does not treat either as a release of earlier reads; this is inferred from these two kernels alone.
const BEYOND_RACECHECK: [&str; 2] = ["named_barrier_pipeline", "shared_flag"];

fn is_beyond_racecheck(case: &Case) -> bool {
    BEYOND_RACECHECK.contains(&case.kernel.name)
}

/// The cases, by module.
const CASES: [&[Case]; 15] = [
    arithmetic::CASES,
    async_copy::CASES,
    atomics::CASES,
    barriers::CASES,
    tma::CASES,
    clusters::CASES,
    functions::CASES,
    geometry::CASES,
    matrices::CASES,
    matrices::STORES,
    order::CASES,
    pdl::CASES,
    tensor_cores::CASES,
    vectors::CASES,
    warps::CASES,
];

#[test]
fn every_instruction_test_has_a_case() {
    let kernels = gpu::lab::instructions::KERNELS.iter().chain(gpu::lab::instructions_sm90::KERNELS);
    let kernels: BTreeSet<_> = kernels.map(|kernel| kernel.name).collect();
    let cases: BTreeSet<_> = CASES.into_iter().flatten().map(|case| case.kernel.name).collect();
    assert!(!kernels.is_empty(), "no instruction tests");
    assert_eq!(kernels, cases, "kernels of the instruction tests on the left, those with a case on the right");
}

#[test]
fn arithmetic_rounds_as_the_host_does() {
    check(arithmetic::CASES);
}

#[test]
fn functions_have_the_bits_of_the_host() {
    check(functions::CASES);
}

/// On a GPU: `./instructions --ignored every_f32 --nocapture`.
#[test]
#[ignore = "2³² arguments of 23 functions: for a GPU, with many cores beside it"]
fn every_f32_has_the_same_bits() {
    functions::every_f32(&device::under_test(0)).expect("launches");
}

#[test]
fn asynchronous_copies_complete() {
    check(async_copy::CASES);
}

#[test]
fn atomic_operations_apply_every_operand_once() {
    check(atomics::CASES);
}

#[test]
fn barriers_synchronise_and_vote() {
    check(barriers::CASES.iter().filter(|case| !is_beyond_racecheck(case)));
}

#[test]
fn tma_loads_and_stores_boxes() {
    check(tma::CASES);
}

#[test]
fn blocks_of_a_cluster_exchange_data() {
    check(clusters::CASES);
}

#[test]
fn threads_read_their_indices_and_clocks() {
    check(geometry::CASES);
}

#[test]
fn atomics_and_fences_order_memory() {
    check(order::CASES.iter().filter(|case| !is_beyond_racecheck(case)));
}

#[test]
fn programmatic_dependent_launches_keep_their_order() {
    check(pdl::CASES);
}

/// `run.sh sanitize` skips this test in racecheck, by its name.
#[test]
fn order_beyond_racecheck() {
    let cases: Vec<&Case> = CASES.into_iter().flatten().filter(|case| is_beyond_racecheck(case)).collect();
    assert_eq!(cases.len(), BEYOND_RACECHECK.len());
    check(cases);
}

#[test]
fn mma_sync_multiplies_and_ldmatrix_loads() {
    check(matrices::CASES);
}

#[test]
fn wgmma_multiplies_and_stmatrix_stores() {
    check(tensor_cores::CASES);
    check(matrices::STORES);
}

#[test]
fn vector_accesses_of_every_width_copy() {
    check(vectors::CASES);
}

#[test]
fn warps_shuffle_vote_and_reduce() {
    check(warps::CASES);
}
