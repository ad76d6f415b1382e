//! A1 and A4: C = A·B by one block of any shape, and by tiles of 128 × 128. (A2 and A3 are tested in
//! `properties/matmul`.)

use gpu::lab::tutorial::matmul::block_tiled::{grid, matmul_block_tiled};
use gpu::lab::tutorial::matmul::single_block::matmul_single_block;
use ndarray::{Array2, s};
use proptest::prelude::*;
use rand::Rng;
use warpwright::{Device, Launch, Result, reference};

use crate::support::device::under_test;
use crate::support::problem::{Expected, Outcome, Problem};
use crate::support::product::{Case, Gemm, by_launch, case_of, integer_product, sample};
use crate::support::runner::{check, check_within};
use crate::support::{shapes, suite, values};

suite! {
    [
        integers_are_exact,
        tile_edges_are_exact,
        reals_stay_within_the_bound,
        a_non_finite_element_reaches_its_row_or_column,
        the_common_part_of_unequal_inner_extents_is_multiplied,
        runs_are_equal,
    ];
    single_thread => ONE_THREAD;
    single_block_7_by_5 => SEVEN_BY_FIVE;
    single_block_of_32 => THIRTY_TWO;
    block_tiled => BLOCK_TILED;
}

/// A kernel, its launch for m × n elements, and extents at the edges of its tiles: of C, and along k.
#[derive(Clone, Copy)]
struct Variant {
    kernel: &'static Gemm,
    launch: fn(u32, u32) -> Launch<'static>,
    edges: [&'static [usize]; 2],
}

const ONE_THREAD: Variant = Variant {
    kernel: &matmul_single_block,
    launch: |_, _| Launch::grid(1).block(1),
    edges: [&[0, 1, 2, 3], &[0, 1, 2, 3]],
};
const SEVEN_BY_FIVE: Variant = Variant {
    kernel: &matmul_single_block,
    launch: |_, _| Launch::grid(1).block((7, 5)),
    edges: [&[0, 1, 4, 5, 6, 7, 8, 14, 15], &[0, 1, 5]],
};
const THIRTY_TWO: Variant = Variant {
    kernel: &matmul_single_block,
    launch: |_, _| Launch::grid(1).block((32, 32)),
    edges: [&[0, 1, 31, 32, 33, 65], &[0, 1, 33]],
};
const BLOCK_TILED: Variant = Variant {
    kernel: &matmul_block_tiled,
    launch: |m, n| Launch::grid(grid(m, n)),
    edges: [&[0, 1, 63, 64, 65, 127, 128, 129], &[0, 1, 7, 8, 9, 17]],
};

impl Variant {
    fn run(&self, device: &Device, problem: &Problem) -> Result<Outcome> {
        by_launch(device, problem, self.kernel, self.launch)
    }

    fn verify(&self, case: &Case, problem: &Problem) -> std::result::Result<f64, String> {
        problem.verify(case.schedule, |device, problem| self.run(device, problem))
    }
}

/// Extents as in `properties/matmul`, and extents of C around one and two tiles of 128.
fn any_case() -> impl Strategy<Value = Case> {
    let around = proptest::sample::select(&[127_usize, 128, 129, 200, 257][..]);
    case_of(prop_oneof![
        3 => shapes::three_extents(),
        1 => (around.clone(), 0..20_usize, around).prop_map(|(m, k, n)| [m, k, n]),
    ])
}

fn of_integers(case: &Case) -> Problem {
    let (a, b) = case.integers();
    case.problem(&a, &b, vec![Expected::Bits(integer_product(a.view(), b.view()))])
}

fn of_reals(case: &Case) -> Problem {
    let (a, b) = case.reals(1.0);
    let reference = reference::matmul(a.view(), b.view()).expect("shapes agree");
    // Sequential fma in order of k: the same bits on the CPU.
    let chain = |(row, col)| (0..case.k).fold(0.0_f32, |sum, k| a[(row, k)].mul_add(b[(k, col)], sum));
    let chains = Array2::from_shape_fn((case.m, case.n), chain).iter().copied().collect();
    case.problem(&a, &b, vec![Expected::Within(reference), Expected::Bits(chains)])
}

fn integers_are_exact(variant: Variant) {
    check(any_case(), |case| variant.verify(case, &of_integers(case)));
}

fn tile_edges_are_exact(variant: Variant) {
    let [extents, depths] = variant.edges;
    for (&m, &n) in extents.iter().flat_map(|m| extents.iter().map(move |n| (m, n))) {
        for &k in depths {
            let case = sample(m, k, n);
            let verdict = variant.verify(&case, &of_integers(&case));
            verdict.unwrap_or_else(|error| panic!("m {m}, k {k}, n {n}: {error}"));
        }
    }
}

fn reals_stay_within_the_bound(variant: Variant) {
    check_within(variant.kernel.info().name, any_case(), |case| variant.verify(case, &of_reals(case)));
}

/// A NaN or infinity in A affects its row of C, in B its column, and nothing else: there is no 0 · ∞ from outside the
/// matrices.
fn a_non_finite_element_reaches_its_row_or_column(variant: Variant) {
    let values = (proptest::sample::select(&values::NON_FINITE[..]), any::<bool>());
    check((any_case(), values), |(case, (value, in_a))| {
        let case = Case { m: case.m.max(1), k: case.k.max(1), n: case.n.max(1), ..case.clone() };
        // No zeros, so that products with infinity are infinite.
        let (mut a, mut b) = case.integers();
        a.mapv_inplace(|x| if x == 0.0 { 1.0 } else { x });
        b.mapv_inplace(|x| if x == 0.0 { 1.0 } else { x });
        let product = integer_product(a.view(), b.view());
        let mut c = Array2::from_shape_vec((case.m, case.n), product).expect("m · n elements");
        let mut rng = values::rng(!case.data);
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
        variant.verify(&case, &case.problem(&a, &b, vec![Expected::Values(c.iter().copied().collect())]))
    });
}

/// A has k columns and B another number of rows: elements outside a matrix count as 0.
fn the_common_part_of_unequal_inner_extents_is_multiplied(variant: Variant) {
    check((any_case(), shapes::extent()), |(case, rows)| {
        let mut rng = values::rng(case.data);
        let (a, b) = (values::integers(case.m, case.k, &mut rng), values::integers(*rows, case.n, &mut rng));
        let common = case.k.min(*rows);
        let product = integer_product(a.slice(s![.., ..common]), b.slice(s![..common, ..]));
        variant.verify(case, &case.problem(&a, &b, vec![Expected::Bits(product)]))
    });
}

fn runs_are_equal(variant: Variant) {
    let problem = of_reals(&sample(130, 20, 35));
    let run = |schedule| variant.run(&under_test(schedule), &problem).expect("a run").output;
    let first = run(0);
    for schedule in 1..20 {
        reference::same_bits(&first, &run(schedule)).unwrap_or_else(|error| panic!("run {schedule}: {error}"));
    }
}
