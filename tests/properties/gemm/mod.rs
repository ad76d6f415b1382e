//! C = act(alpha · op(A)·op(B) + beta · C + bias) by `Device::gemm`, for every type and every way that `Gemm::plans` lists: a new
//! kernel is under test as soon as it is one.

mod case;
mod errors;
mod held;
mod packed;
mod run;
mod sample;
mod shared;
mod spoilt;

use ndarray::{Array2, Axis};
use proptest::sample::select;
use rand::Rng;
use warpwright::gemm::Op;
use warpwright::reference::{self, Gemm, Reference};

use self::case::{Bias, Case, Data, any_case, sample};
use self::held::Place;
use self::packed::packed_operands_are_exact;
use self::run::{OnDevice, Ways, equal, verify};
use self::sample::{Brain, BrainToSingle, Double, Half, HalfToSingle, Kind, Single, Tensor};
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
        tile_edges_are_exact_in_every_way,
        skinny_products_are_exact_in_every_way,
        endings_are_exact_in_every_way,
        batches_are_exact_in_every_way,
        packed_operands_are_exact,
        every_kernel_is_a_way,
        a_non_finite_number_reaches_what_it_should,
        runs_are_equal,
    ]:
    f32 => super::Single;
    tf32 => super::Tensor;
    f16 => super::Half;
    bf16 => super::Brain;
    f16_to_f32 => super::HalfToSingle;
    bf16_to_f32 => super::BrainToSingle;
    f64 => super::Double;
}

kinds! {
    [reals_stay_within_the_bound]:
    f32_reals => super::Single;
    tf32_reals => super::Tensor;
    f16_reals => super::Half;
    bf16_reals => super::Brain;
    f16_to_f32_reals => super::HalfToSingle;
    bf16_to_f32_reals => super::BrainToSingle;
}

fn exact<K: Kind>(case: &Case, data: &Data, algorithms: Ways) -> Result<f64, String> {
    let expected = case.expected::<K>(data);
    verify::<K>(&under_test(case.schedule), case, data, algorithms, |got| equal(&expected, got))
}

/// All layouts, places, batches and endings; where alpha or beta is 0, NaNs lie in what must not be read.
fn integers_are_exact<K: Kind>() {
    check(any_case::<K>(), |case| exact::<K>(case, &case.integers::<K>(), Ways::Two(case.data)));
}

/// The four layouts.
const LAYOUTS: [[Op; 2]; 4] = [[Op::N, Op::N], [Op::N, Op::T], [Op::T, Op::N], [Op::T, Op::T]];

/// Every kernel that multiplies such numbers is a way to some product, and so what the other tests run.
fn every_kernel_is_a_way<K: Kind>() {
    let device = under_test(0);
    let algorithms = LAYOUTS.map(|ops| {
        let case = Case { ops, ..sample(64, 64, 64) }.aligned();
        let plans = OnDevice::<K>::new(&device, &case, &case.integers::<K>()).and_then(|on| on.plans(Ways::All));
        plans.expect("plans").into_iter().flatten().map(|plan| plan.algorithm().kernel().name).collect::<Vec<_>>()
    });
    let kernels = gpu::FAMILIES.iter().flat_map(|family| family.kernels).filter(|kernel| device.has_kernel(kernel));
    let multiplies = |name: &str| {
        name.starts_with("gemm_") && !name.starts_with("gemm_merge") && name.split('_').any(|part| part == K::NAME)
    };
    let mut count = 0;
    for name in kernels.map(|kernel| kernel.name).filter(|name| multiplies(name)) {
        assert!(algorithms.iter().flatten().any(|algorithm| *algorithm == name), "{name} is no algorithm");
        count += 1;
    }
    assert!(count > 0, "no kernel has {} in its name", K::NAME);
}

/// Extents around the edges of blocks, and depths around those of steps and of parts, by every way.
fn tile_edges_are_exact_in_every_way<K: Kind>() {
    let shapes =
        [(8, 16, 32), (7, 15, 31), (9, 17, 33), (64, 48, 64), (65, 33, 63), (1, 100, 1), (129, 20, 257), (17, 200, 24)];
    for (number, (m, k, n)) in shapes.into_iter().enumerate() {
        let aligned = [0, 1, 2].map(|_| Place { flat: true, aligned: true, ..Place::default() });
        for (ops, places) in LAYOUTS.into_iter().flat_map(|ops| [(ops, aligned), (ops, sample(m, k, n).places)]) {
            let case = Case { ops, places, data: number as u64, ..sample(m, k, n) };
            let verdict = exact::<K>(&case, &case.integers::<K>(), Ways::All);
            verdict.unwrap_or_else(|error| panic!("m {m}, k {k}, n {n}, {ops:?}, {places:?}: {error}"));
        }
    }
}

/// Matrices of their own, and one for all of them, by every way.
fn batches_are_exact_in_every_way<K: Kind>() {
    for (number, shared) in [[false, false], [true, false], [false, true], [true, true]].into_iter().enumerate() {
        for ops in LAYOUTS {
            let case = Case { batch: 3, shared, ops, data: number as u64, ..sample(9, 70, 35) };
            for case in [case.clone(), case.aligned()] {
                let verdict = exact::<K>(&case, &case.integers::<K>(), Ways::All);
                verdict.unwrap_or_else(|error| panic!("{case:?}: {error}"));
            }
        }
    }
}

/// Few rows or few columns, and sums so long that every warp of a block has several pieces of k, the last ones cut off.
fn skinny_products_are_exact_in_every_way<K: Kind>() {
    let shapes = [(67, 904, 1), (4, 777, 8), (16, 784, 24)];
    for (number, (m, k, n)) in shapes.into_iter().enumerate() {
        let aligned = [0, 1, 2].map(|_| Place { flat: true, ..Place::default() });
        for ops in LAYOUTS {
            // Rows that begin at multiples of 16 bytes and end anywhere.
            let lines = [if ops[0] == Op::N { k } else { m }, if ops[1] == Op::N { n } else { k }, n];
            let padded = lines.map(|line: usize| Place { gap: line.next_multiple_of(8) - line, ..aligned[0] });
            for places in [aligned, padded, sample(m, k, n).places] {
                let case = Case { ops, places, data: number as u64, ..sample(m, k, n) };
                let verdict = exact::<K>(&case, &case.integers::<K>(), Ways::All);
                verdict.unwrap_or_else(|error| panic!("m {m}, k {k}, n {n}, {ops:?}, {places:?}: {error}"));
            }
        }
    }
}

/// Every combination of beta, bias and activation, by every way.
fn endings_are_exact_in_every_way<K: Kind>() {
    for (alpha, beta) in [(2.0, 0.0), (1.0, -1.0), (0.5, 1.0), (0.0, 1.0), (0.0, 0.0)] {
        for bias in [Bias::None, Bias::PerColumn, Bias::PerRow] {
            for &activation in K::ACTIVATIONS {
                for (by_columns, aligned) in [(false, false), (false, true), (true, false), (true, true)] {
                    let case = Case { alpha, beta, bias, activation, ..sample(11, 37, 35) };
                    let mut case = if aligned { case.aligned() } else { case };
                    case.places[2].by_columns = by_columns;
                    let verdict = exact::<K>(&case, &case.integers::<K>(), Ways::All);
                    verdict.unwrap_or_else(|error| panic!("{case:?}: {error}"));
                }
            }
        }
    }
}

/// A NaN or an infinity in A spoils its row of C, in B its column, in C itself, in the bias its row or column; nothing else: no
/// 0 · ∞ from beyond an edge leaks in.
fn a_non_finite_number_reaches_what_it_should<K: Kind>() {
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
        exact::<K>(case, &data, Ways::Two(case.data))
    });
}

/// The references of all products of a batch, one after the other.
fn reference<K: Kind>(case: &Case, data: &Data) -> Reference {
    let mut whole = Reference { value: Vec::new(), bound: Vec::new() };
    let bias = Array2::from_shape_fn((case.m, case.n), |(row, col)| case.bias_at(data, row, col));
    for matrix in 0..case.batch {
        let [a, b] = [&data.a, &data.b].map(|x| x.index_axis(Axis(0), matrix % x.dim().0).mapv(K::factor));
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

/// Reals of ordinary size, and so small that products are subnormal.
fn reals_stay_within_the_bound<K: Kind>() {
    let scale = select(vec![1.0, 1.0, 2_f64.powi(-70)]);
    check_within("gemm", (any_case::<K>(), scale), |(case, scale)| {
        let case = Case { alpha: case.alpha * 0.7, beta: case.beta * 1.3, ..case.clone() };
        // Rounded as the kernels are given them.
        let round = |x: f64| f64::from(x as f32);
        let case = Case { alpha: round(case.alpha), beta: round(case.beta), ..case };
        let data = case.data::<K>(|rng| rng.random_range(-1.0..=1.0) * scale);
        let reference = reference::<K>(&case, &data);
        verify::<K>(&under_test(case.schedule), &case, &data, Ways::Two(case.data), |got| within(&reference, got))
    });
}

/// The same bits in every run of every way; by the plain kernels also on another device.
fn runs_are_equal<K: Kind>() {
    let activation = K::ACTIVATIONS[K::ACTIVATIONS.len() - 1];
    let case =
        Case { activation, bias: Bias::PerColumn, beta: 0.5, ops: [Op::T, Op::N], ..sample(33, 80, 35) }.aligned();
    let data = case.data::<K>(|rng| rng.random_range(-1.0..=1.0));
    let run = |device: &warpwright::Device, plan| {
        let on = OnDevice::<K>::new(device, &case, &data).expect("memory");
        on.c.values(&on.run(plan).expect("a run")).expect("canaries untouched")
    };
    let plans = OnDevice::<K>::new(&under_test(0), &case, &data).and_then(|on| on.plans(Ways::All)).expect("plans");
    for plan in plans {
        let first = run(&under_test(0), plan);
        assert!(first.iter().all(|x| x.is_finite()), "{plan:?}");
        for schedule in 1..10 {
            assert_eq!(first, run(&under_test(schedule), plan), "{plan:?}, run {schedule}");
        }
        if plan.is_some_and(|plan| plan.algorithm().kernel().name.starts_with("gemm_plain")) {
            assert_eq!(first, run(&counterpart(0), plan), "{plan:?} on the unchecked simulator");
        }
    }
}

/// Sums of `f64` are chains of fused multiply-adds in order of k.
#[test]
fn f64_has_the_bits_of_a_chain() {
    let case = sample(9, 50, 34);
    let data = case.data::<Double>(|rng| rng.random_range(-1.0..=1.0));
    let chain = |row, col| (0..50).fold(0.0_f64, |sum, k| data.a[[0, row, k]].mul_add(data.b[[0, k, col]], sum));
    let expected: Vec<f64> = (0..9 * 34).map(|i| chain(i / 34, i % 34)).collect();
    let verdict = verify::<Double>(&under_test(1), &case, &data, Ways::All, |got| equal(&expected, got));
    verdict.unwrap_or_else(|error| panic!("{error}"));
}
