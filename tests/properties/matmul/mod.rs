//! C = A·B: `matmul_naive`, `matmul_tiled` and `gemm_f32_…` by launch, `Device::matmul` and `Device::matmul_into`.

mod large_tiles;
mod variants;

use ndarray::{Array2, s};
use proptest::prelude::*;
use rand::Rng;
use warpwright::simulator::{Config, Level};
use warpwright::{Device, reference};

use crate::support::device::{is_gpu, under_test};
use crate::support::problem::{Expected, Problem};
use crate::support::product::{Case, case_of, integer_product, sample};
use crate::support::runner::{check, check_within};
use crate::support::suite;
use crate::support::{shapes, values};
use large_tiles::{sums_have_the_bits_of_matmul_naive, tile_edges_are_exact_aligned_or_not};
use variants::{Variant, by_64x64, by_128x128, by_128x256};
pub(crate) use variants::{by_matmul, by_matmul_into, by_naive, by_tiled};

suite! {
    [
        integers_are_exact,
        tile_edges_are_exact,
        reals_stay_within_the_bound,
        one_hot_picks_a_row,
        a_non_finite_element_reaches_its_row_or_column,
        minus_zeros_give_zero,
        a_hundred_runs_are_equal,
    ];
    naive => by_naive;
    tiled => by_tiled;
    gemm_128x256 => by_128x256;
    gemm_128x128 => by_128x128;
    gemm_64x64 => by_64x64;
    operation => by_matmul;
    operation_into => by_matmul_into;
}

suite! {
    [the_common_part_of_unequal_inner_extents_is_multiplied];
    naive_launch => by_naive;
    tiled_launch => by_tiled;
    gemm_128x256_launch => by_128x256;
    gemm_128x128_launch => by_128x128;
    gemm_64x64_launch => by_64x64;
}

suite! {
    [tile_edges_are_exact_aligned_or_not, sums_have_the_bits_of_matmul_naive];
    gemm_128x256_tiles => by_128x256;
    gemm_128x128_tiles => by_128x128;
    gemm_64x64_tiles => by_64x64;
    operation_tiles => by_matmul_into;
}

fn any_case() -> impl Strategy<Value = Case> {
    case_of(shapes::three_extents())
}

/// Cases where A and B have at least one element.
fn case_with_elements() -> impl Strategy<Value = Case> {
    any_case().prop_map(|case| Case { m: case.m.max(1), k: case.k.max(1), n: case.n.max(1), ..case })
}

/// Integer data and the product in integers.
fn integer_problem(case: &Case) -> Problem {
    let (a, b) = case.integers();
    let reference = reference::matmul(a.view(), b.view()).expect("shapes agree");
    case.problem(&a, &b, vec![Expected::Bits(integer_product(a.view(), b.view())), Expected::Within(reference)])
}

/// A problem of integers for the self-test.
pub(crate) fn sample_of_integers(m: usize, k: usize, n: usize) -> Problem {
    integer_problem(&sample(m, k, n))
}

/// A problem of reals for the self-test.
pub(crate) fn sample_of_reals(m: usize, k: usize, n: usize) -> Problem {
    real_problem(&sample(m, k, n), 1.0)
}

fn integers_are_exact(variant: Variant) {
    check(any_case(), |case| integer_problem(case).verify(case.schedule, variant));
}

/// Every combination of extents at the edges of the 32 × 32 tiles.
fn tile_edges_are_exact(variant: Variant) {
    let edges = [0, 1, 31, 32, 33];
    let pairs = edges.into_iter().flat_map(|m| edges.map(|k| (m, k)));
    for (m, k, n) in pairs.flat_map(|(m, k)| edges.map(|n| (m, k, n))) {
        let verdict = sample_of_integers(m, k, n).verify(1, variant);
        verdict.unwrap_or_else(|error| panic!("m {m}, k {k}, n {n}: {error}"));
    }
}

/// Reals of ordinary size, of small size so that products are subnormal (which fails if they are flushed to zero), and
/// large.
fn reals_stay_within_the_bound(variant: Variant) {
    let scales = proptest::sample::select(&[0_i32, -70, 55][..]);
    check_within("matmul", (any_case(), scales), |(case, power)| {
        real_problem(case, 2_f32.powi(*power)).verify(case.schedule, variant)
    });
}

fn real_problem(case: &Case, scale: f32) -> Problem {
    let (a, b) = case.reals(scale);
    let reference = reference::matmul(a.view(), b.view()).expect("shapes agree");
    case.problem(&a, &b, vec![Expected::Within(reference)])
}

/// Only one element of A is not 0: one row of C is that multiple of a row of B.
fn one_hot_picks_a_row(variant: Variant) {
    check(case_with_elements(), |case| {
        let mut rng = values::rng(case.data);
        let (row, col) = (rng.random_range(0..case.m), rng.random_range(0..case.k));
        let mut a = Array2::zeros((case.m, case.k));
        a[(row, col)] = 3.0;
        let b = values::integers(case.k, case.n, &mut rng);
        let mut c = Array2::zeros((case.m, case.n));
        // Sums start from +0, so a product of −0 gives +0.
        c.row_mut(row).assign(&b.row(col).mapv(|x| 3.0 * x + 0.0));
        case.problem(&a, &b, vec![Expected::Bits(c.iter().copied().collect())]).verify(case.schedule, variant)
    });
}

/// A NaN or infinity in A affects its row of C, in B its column, and nothing else: there is no 0 · ∞ from outside the
/// matrices.
fn a_non_finite_element_reaches_its_row_or_column(variant: Variant) {
    let values = (proptest::sample::select(&values::NON_FINITE[..]), any::<bool>());
    check((case_with_elements(), values), |(case, (value, in_a))| {
        let mut rng = values::rng(case.data);
        // No zeros, so that products with infinity are infinite.
        let mut integers = |rows, cols| values::integers(rows, cols, &mut rng).mapv(|x| if x == 0.0 { 1.0 } else { x });
        let (mut a, mut b) = (integers(case.m, case.k), integers(case.k, case.n));
        let mut c =
            Array2::from_shape_vec((case.m, case.n), integer_product(a.view(), b.view())).expect("m · n elements");
        let depth = rng.random_range(0..case.k);
        if *in_a {
            let row = rng.random_range(0..case.m);
            a[(row, depth)] = *value;
            c.row_mut(row).assign(&b.row(depth).mapv(|x| *value * x));
        } else {
            let col = rng.random_range(0..case.n);
            b[(depth, col)] = *value;
            c.column_mut(col).assign(&a.column(depth).mapv(|x| *value * x));
        }
        case.problem(&a, &b, vec![Expected::Values(c.iter().copied().collect())]).verify(case.schedule, variant)
    });
}

/// Sums start from +0, and +0 + −0·y = +0.
fn minus_zeros_give_zero(variant: Variant) {
    check(any_case(), |case| {
        let a = Array2::from_elem((case.m, case.k), -0.0);
        let b = values::integers(case.k, case.n, &mut values::rng(case.data));
        case.problem(&a, &b, vec![Expected::Bits(vec![0.0; case.m * case.n])]).verify(case.schedule, variant)
    });
}

/// A has k columns and B another number of rows, which kernels accept and operations refuse: elements outside a matrix
/// count as 0.
fn the_common_part_of_unequal_inner_extents_is_multiplied(variant: Variant) {
    check((any_case(), shapes::extent()), |(case, rows)| {
        let mut rng = values::rng(case.data);
        let (a, b) = (values::integers(case.m, case.k, &mut rng), values::integers(*rows, case.n, &mut rng));
        let common = case.k.min(*rows);
        let product = integer_product(a.slice(s![.., ..common]), b.slice(s![..common, ..]));
        case.problem(&a, &b, vec![Expected::Bits(product)]).verify(case.schedule, variant)
    });
}

fn a_hundred_runs_are_equal(variant: Variant) {
    let problem = sample_of_reals(33, 40, 35);
    let run = |schedule| variant(&under_test(schedule), &problem).expect("a run").output;
    let first = run(0);
    for schedule in 1..100 {
        reference::same_bits(&first, &run(schedule)).unwrap_or_else(|error| panic!("run {schedule}: {error}"));
    }
}

/// A grid is at most 65 535 blocks high. The simulator runs this without checks and with k = 0; rows that are not
/// written stay canaries.
#[test]
fn more_rows_than_a_grid_is_high() {
    let (device, k) = if is_gpu() { (under_test(0), 1) } else { (Device::simulator_with(Config::new(Level::Off)), 0) };
    let problem = sample_of_integers(65_535 * 64 + 5, k, 1);
    let outcome = by_matmul_into(&device, &problem).expect("a run");
    problem.judge(&outcome).unwrap_or_else(|error| panic!("{error}"));
}
