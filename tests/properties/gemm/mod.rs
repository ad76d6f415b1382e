//! C = act(alpha · op(A)·op(B) + beta · C + bias) by `Device::gemm`, for every element type and every algorithm that
//! `Gemm::plans` lists: a new kernel is tested as soon as it is planned.

mod case;
mod corrupted;
mod errors;
mod framed;
mod large;
mod packed;
mod planes;
mod run;
pub(crate) mod sample;
mod stream_k;
mod streamed;

use ndarray::{Array2, Axis};
use proptest::sample::select;
use rand::Rng;
use warpwright::gemm::Op;
use warpwright::reference::{self, Gemm, Reference};

use self::case::{Bias, Case, Data, any_case, sample};
use self::framed::Placement;
use self::packed::packed_operands_are_exact;
use self::run::{Algorithms, OnDevice, equal, verify};
use self::sample::{Bf16, Bf16ToF32, Bf16x6, F16, F16ToF32, F32, F64, Kind, Tf32};
use crate::support::device::{counterpart, under_test};
use crate::support::runner::{check, check_within};
use crate::support::values;

/// One module for each kind.
macro_rules! kinds {
    ($properties:tt: $($module:ident => $kind:ty;)+) => {$(
        mod $module {
            kinds!(@tests $properties $kind);
        }
    )+};
    (@tests [$($property:ident),+ $(,)?] $kind:ty) => {$(
        #[test]
        fn $property() {
            super::$property::<$kind>();
        }
    )+};
}
kinds! {
    [
        integers_are_exact,
        tile_edges_are_exact,
        small_m_and_small_n_are_exact,
        epilogues_are_exact,
        batches_are_exact,
        packed_operands_are_exact,
        every_kernel_is_planned,
        non_finite_numbers_propagate,
        runs_are_equal,
    ]:
    f32 => super::F32;
    tf32 => super::Tf32;
    f16 => super::F16;
    bf16 => super::Bf16;
    f16_to_f32 => super::F16ToF32;
    bf16_to_f32 => super::Bf16ToF32;
    f64 => super::F64;
}

// Operands are always packed, and few rows or columns are no special case.
kinds! {
    [
        integers_are_exact,
        tile_edges_are_exact,
        epilogues_are_exact,
        batches_are_exact,
        every_kernel_is_planned,
        non_finite_numbers_propagate,
        runs_are_equal,
    ]:
    bf16x6 => super::Bf16x6;
}

kinds! {
    [reals_stay_within_the_bound]:
    f32_reals => super::F32;
    tf32_reals => super::Tf32;
    bf16x6_reals => super::Bf16x6;
    f16_reals => super::F16;
    bf16_reals => super::Bf16;
    f16_to_f32_reals => super::F16ToF32;
    bf16_to_f32_reals => super::Bf16ToF32;
}

fn exact<K: Kind>(case: &Case, data: &Data, algorithms: Algorithms) -> Result<f64, String> {
    let expected = case.expected::<K>(data);
    verify::<K>(&under_test(case.schedule), case, data, algorithms, |got| equal(&expected, got))
}

/// All layouts, placements, batches and epilogues; with NaNs where alpha = 0 or beta = 0 forbids reading.
fn integers_are_exact<K: Kind>() {
    check(any_case::<K>(), |case| exact::<K>(case, &case.integers::<K>(), Algorithms::Two(case.data)));
}

/// The four layouts.
const LAYOUTS: [[Op; 2]; 4] = [[Op::N, Op::N], [Op::N, Op::T], [Op::T, Op::N], [Op::T, Op::T]];

/// Every kernel for these element types is planned for some problem, so the other tests run it.
fn every_kernel_is_planned<K: Kind>() {
    let device = under_test(0);
    let algorithms = LAYOUTS.map(|ops| {
        let case = Case { ops, ..sample::<K>(64, 64, 64) }.aligned();
        let plans = OnDevice::<K>::new(&device, &case, &case.integers::<K>()).and_then(|on| on.plans(Algorithms::All));
        plans.expect("plans").into_iter().flatten().map(|plan| plan.algorithm().kernel().name).collect::<Vec<_>>()
    });
    let kernels = gpu::FAMILIES.iter().flat_map(|family| family.kernels).filter(|kernel| device.has_kernel(kernel));
    let multiplies = |name: &str| {
        // Products of groups are an operation of their own.
        let is_helper =
            ["gemm_reduce_k", "gemm_grouped"].iter().any(|prefix| name.starts_with(prefix)) || name.ends_with("_split");
        name.starts_with("gemm_") && !is_helper && name.split('_').any(|part| part == K::NAME)
    };
    let mut count = 0;
    for name in kernels.map(|kernel| kernel.name).filter(|name| multiplies(name)) {
        assert!(algorithms.iter().flatten().any(|algorithm| *algorithm == name), "{name} is never planned");
        count += 1;
    }
    assert!(count > 0, "no kernel has {} in its name", K::NAME);
}

/// Extents around the edges of tiles, and k around those of steps and of parts, by every algorithm.
fn tile_edges_are_exact<K: Kind>() {
    let shapes =
        [(8, 16, 32), (7, 15, 31), (9, 17, 33), (64, 48, 64), (65, 33, 63), (1, 100, 1), (129, 20, 257), (17, 200, 24)];
    for (number, (m, k, n)) in shapes.into_iter().enumerate() {
        let aligned = [0, 1, 2].map(|_| Placement { single: true, aligned: true, ..Placement::default() });
        for (ops, placements) in
            LAYOUTS.into_iter().flat_map(|ops| [(ops, aligned), (ops, sample::<K>(m, k, n).placements)])
        {
            let case = Case { ops, placements, data: number as u64, ..sample::<K>(m, k, n) };
            let verdict = exact::<K>(&case, &case.integers::<K>(), Algorithms::All);
            verdict.unwrap_or_else(|error| panic!("m {m}, k {k}, n {n}, {ops:?}, {placements:?}: {error}"));
        }
    }
}

/// Batches with a matrix each, and with one for all, by every algorithm.
fn batches_are_exact<K: Kind>() {
    for (number, broadcast) in [[false, false], [true, false], [false, true], [true, true]].into_iter().enumerate() {
        for ops in LAYOUTS {
            let case = Case { batch: 3, broadcast, ops, data: number as u64, ..sample::<K>(9, 70, 35) };
            for case in [case.clone(), case.aligned()] {
                let verdict = exact::<K>(&case, &case.integers::<K>(), Algorithms::All);
                verdict.unwrap_or_else(|error| panic!("{case:?}: {error}"));
            }
        }
    }
}

/// Few rows or few columns, and k so long that every warp of a block has several steps, the last ones partial.
fn small_m_and_small_n_are_exact<K: Kind>() {
    let shapes = [(67, 904, 1), (4, 777, 8), (16, 784, 24)];
    for (number, (m, k, n)) in shapes.into_iter().enumerate() {
        let aligned = [0, 1, 2].map(|_| Placement { single: true, ..Placement::default() });
        for (layout, ops) in LAYOUTS.into_iter().enumerate() {
            // Rows that begin at multiples of 16 bytes, of any length.
            let lines = [if ops[0] == Op::N { k } else { m }, if ops[1] == Op::N { n } else { k }, n];
            let padded = lines.map(|line: usize| Placement { gap: line.next_multiple_of(8) - line, ..aligned[0] });
            // Each shape in one layout also by kernels of larger tiles, which take most of the time: other tests run
            // them with all layouts.
            let algorithms = if layout == number { Algorithms::All } else { Algorithms::Narrow };
            for placements in [aligned, padded, sample::<K>(m, k, n).placements] {
                let case = Case { ops, placements, data: number as u64, ..sample::<K>(m, k, n) };
                let verdict = exact::<K>(&case, &case.integers::<K>(), algorithms);
                verdict.unwrap_or_else(|error| panic!("m {m}, k {k}, n {n}, {ops:?}, {placements:?}: {error}"));
            }
        }
    }
}

/// Every combination of beta, bias and activation, by every algorithm.
fn epilogues_are_exact<K: Kind>() {
    for (alpha, beta) in [(2.0, 0.0), (1.0, -1.0), (0.5, 1.0), (0.0, 1.0), (0.0, 0.0)] {
        for bias in [Bias::None, Bias::PerColumn, Bias::PerRow] {
            for &activation in K::ACTIVATIONS {
                for (column_major, aligned) in [(false, false), (false, true), (true, false), (true, true)] {
                    let case = Case { alpha, beta, bias, activation, ..sample::<K>(11, 37, 35) };
                    let mut case = if aligned { case.aligned() } else { case };
                    case.placements[2].column_major = column_major;
                    let verdict = exact::<K>(&case, &case.integers::<K>(), Algorithms::All);
                    verdict.unwrap_or_else(|error| panic!("{case:?}: {error}"));
                }
            }
        }
    }
}

/// A NaN or an infinity in A reaches its row of C, in B its column, in C its element, in the bias its row or column,
/// and nothing else: padding beyond an edge is not multiplied by it.
fn non_finite_numbers_propagate<K: Kind>() {
    let poison = (select(&values::NON_FINITE[..]), 0..4_usize);
    check((any_case::<K>(), poison), |(case, (poison, place))| {
        let (mut data, mut rng) = (case.integers::<K>(), values::rng(!case.data));
        let mut poisoned = |x: &mut [f64]| {
            if !x.is_empty() {
                x[rng.random_range(0..x.len())] = f64::from(*poison);
            }
        };
        match place {
            0 => poisoned(data.a.as_slice_mut().unwrap_or_default()),
            1 => poisoned(data.b.as_slice_mut().unwrap_or_default()),
            2 => poisoned(data.c.as_slice_mut().unwrap_or_default()),
            _ => poisoned(&mut data.bias),
        }
        exact::<K>(case, &data, Algorithms::Two(case.data))
    });
}

/// The reference results of all products of a batch.
fn reference<K: Kind>(case: &Case, data: &Data) -> Reference {
    let mut whole = Reference { value: Vec::new(), bound: Vec::new() };
    let bias = Array2::from_shape_fn((case.m, case.n), |(row, col)| case.bias_at(data, row, col));
    for matrix in 0..case.batch {
        let [a, b] = [&data.a, &data.b].map(|x| x.index_axis(Axis(0), matrix % x.dim().0).mapv(K::rounded));
        let reference = reference::gemm(&Gemm {
            a: a.view(),
            b: b.view(),
            c: Some(data.c.index_axis(Axis(0), matrix)),
            bias: (case.bias != Bias::None).then(|| bias.view()),
            alpha: case.alpha,
            beta: case.beta,
            activation: case.activation,
            unit: K::UNIT,
            output: K::FORMAT.expect("a format that the reference knows"),
        });
        let Reference { value, bound } = reference.expect("shapes agree");
        whole.value.extend(value);
        whole.bound.extend(bound);
    }
    whole
}

fn within(reference: &Reference, got: &[f64]) -> Result<f64, String> {
    // Elements of C have at most the bits of an f32.
    let got: Vec<f32> = got.iter().map(|&x| x as f32).collect();
    let verdict = reference.check(&got).map_err(|error| error.to_string())?;
    if verdict.passes() { Ok(verdict.worst) } else { Err(verdict.to_string()) }
}

/// Reals of magnitude 1, and so small that products are subnormal.
fn reals_stay_within_the_bound<K: Kind>() {
    let scale = select(vec![1.0, 1.0, 2_f64.powi(-70)]);
    check_within("gemm", (any_case::<K>(), scale), |(case, scale)| {
        let case = Case { alpha: case.alpha * 0.7, beta: case.beta * 1.3, ..case.clone() };
        // Rounded as the kernels take them.
        let round = |x: f64| f64::from(x as f32);
        let case = Case { alpha: round(case.alpha), beta: round(case.beta), ..case };
        let data = case.data::<K>(|rng| rng.random_range(-1.0..=1.0) * scale);
        let reference = reference::<K>(&case, &data);
        verify::<K>(&under_test(case.schedule), &case, &data, Algorithms::Two(case.data), |got| within(&reference, got))
    });
}

/// The same bits in every run of every algorithm; by the plain kernels also on the other device.
fn runs_are_equal<K: Kind>() {
    let activation = K::ACTIVATIONS[K::ACTIVATIONS.len() - 1];
    let case =
        Case { activation, bias: Bias::PerColumn, beta: 0.5, ops: [Op::T, Op::N], ..sample::<K>(33, 80, 35) }.aligned();
    let data = case.data::<K>(|rng| rng.random_range(-1.0..=1.0));
    let run = |device: &warpwright::Device, plan| {
        let on = OnDevice::<K>::new(device, &case, &data).expect("memory");
        on.c.values(&on.run(plan).expect("a run")).expect("canaries untouched")
    };
    let plans =
        OnDevice::<K>::new(&under_test(0), &case, &data).and_then(|on| on.plans(Algorithms::All)).expect("plans");
    for plan in plans {
        let first = run(&under_test(0), plan);
        assert!(first.iter().all(|x| x.is_finite()), "{plan:?}");
        for schedule in 1..10 {
            assert_eq!(first, run(&under_test(schedule), plan), "{plan:?}, run {schedule}");
        }
        if plan.is_some_and(|plan| plan.algorithm().kernel().name.starts_with("gemm_reference")) {
            assert_eq!(first, run(&counterpart(0), plan), "{plan:?} on the unchecked simulator");
        }
    }
}

/// Sums of `f64` are sequential fused multiply-adds in order of k.
#[test]
fn f64_accumulates_sequentially() {
    let case = sample::<F64>(9, 50, 34);
    let data = case.data::<F64>(|rng| rng.random_range(-1.0..=1.0));
    let sum = |row, col| (0..50).fold(0.0_f64, |sum, k| data.a[[0, row, k]].mul_add(data.b[[0, k, col]], sum));
    let expected: Vec<f64> = (0..9 * 34).map(|i| sum(i / 34, i % 34)).collect();
    let verdict = verify::<F64>(&under_test(1), &case, &data, Algorithms::All, |got| equal(&expected, got));
    verdict.unwrap_or_else(|error| panic!("{error}"));
}
