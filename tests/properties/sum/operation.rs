//! `Device::sum` of vectors, and of matrices with gaps between their rows.

use ndarray::Array2;
use proptest::prelude::*;
use rand::Rng;
use rand::rngs::StdRng;
use warpwright::reduce::reduction_depth;
use warpwright::reference::{self, Reference};
use warpwright::{Device, Result};

use super::{integer_sum, large_and_noise};
use crate::support::device::under_test;
use crate::support::frame::{Frame, Place};
use crate::support::problem::{Expected, Outcome, Problem};
use crate::support::runner::{check, check_within};
use crate::support::{shapes, values};

#[derive(Clone, Debug)]
struct Case {
    rows: usize,
    cols: usize,
    place: Place,
    data: u64,
    schedule: u64,
}

/// Vectors, some at the edges of one, two and seventeen blocks' tiles of 4096 elements, and matrices.
fn any_case() -> impl Strategy<Value = Case> {
    let long = proptest::sample::select(&[4095_usize, 4096, 4097, 4100, 8191, 8192, 8193, 65_537, 70_001][..]);
    let shape = prop_oneof![
        6 => shapes::two_extents(),
        6 => shapes::length().prop_map(|n| [1, n]),
        1 => long.prop_map(|n| [1, n]),
    ];
    (shape, shapes::place(), any::<u64>(), any::<u64>()).prop_map(|([rows, cols], place, data, schedule)| Case {
        rows,
        cols,
        place,
        data,
        schedule,
    })
}

impl Case {
    fn problem(&self, x: &Array2<f32>, expected: Expected) -> Problem {
        Problem {
            inputs: vec![Frame::holding(x.view(), self.place)],
            output: Frame::blank(1, 1, Place { offset: 0, gap: 0, after: 0 }),
            expected: vec![expected],
        }
    }

    fn of_integers(&self) -> Problem {
        let x = values::integers(self.rows, self.cols, &mut values::rng(self.data));
        self.problem(&x, Expected::Bits(vec![integer_sum(&x)]))
    }

    fn within_bound(&self, make: impl Fn(usize, usize, &mut StdRng) -> Array2<f32>) -> Problem {
        let x = make(self.rows, self.cols, &mut values::rng(self.data));
        let reference = reference::sum_in_f64(x.as_slice().unwrap_or_default(), reduction_depth(x.len(), 4));
        self.problem(&x, Expected::Within(reference))
    }
}

/// A problem for the self-test.
pub(crate) fn sample(n: usize) -> Problem {
    Case { rows: 1, cols: n, place: Place { offset: 3, gap: 0, after: 2 }, data: 13, schedule: 14 }.of_integers()
}

/// Calls `Device::sum`, on a vector if there is one row.
pub(crate) fn by_sum(device: &Device, problem: &Problem) -> Result<Outcome> {
    let on = problem.upload(device)?;
    let layout = problem.inputs[0].layout();
    let sum = if layout.rows == 1 {
        device.sum(on.inputs[0].slice(layout.offset..layout.offset + layout.cols)?)?
    } else {
        device.sum(on.inputs[0].view().as_matrix(layout)?)?
    };
    Ok(Outcome { output: problem.output.with(&[sum]), ..on.download()? })
}

#[test]
fn integers_are_exact() {
    check(any_case(), |case| case.of_integers().verify(case.schedule, by_sum));
}

#[test]
fn reals_stay_within_the_bound() {
    check_within("Device::sum", any_case(), |case| {
        case.within_bound(|rows, cols, rng| values::reals(rows, cols, 1.0, rng)).verify(case.schedule, by_sum)
    });
}

#[test]
fn large_numbers_and_noise_stay_within_the_bound() {
    check_within("Device::sum of 1e8 and noise", any_case(), |case| {
        case.within_bound(large_and_noise).verify(case.schedule, by_sum)
    });
}

/// Only one element is not 0, so that every element must be added exactly once.
#[test]
fn one_hot_is_the_sum() {
    check(any_case(), |case| {
        let case = Case { rows: case.rows.max(1), cols: case.cols.max(1), ..case.clone() };
        let mut rng = values::rng(case.data);
        let mut x = Array2::zeros((case.rows, case.cols));
        x[(rng.random_range(0..case.rows), rng.random_range(0..case.cols))] = 0.75;
        case.problem(&x, Expected::Bits(vec![0.75])).verify(case.schedule, by_sum)
    });
}

#[test]
fn a_non_finite_element_is_the_sum() {
    let value = proptest::sample::select(&values::NON_FINITE[..]);
    check((any_case(), value), |(case, value)| {
        let case = Case { rows: case.rows.max(1), cols: case.cols.max(1), ..case.clone() };
        let mut rng = values::rng(case.data);
        let mut x = values::integers(case.rows, case.cols, &mut rng);
        x[(rng.random_range(0..case.rows), rng.random_range(0..case.cols))] = *value;
        case.problem(&x, Expected::Values(vec![*value])).verify(case.schedule, by_sum)
    });
}

/// Zeros of either sign sum to a zero.
#[test]
fn minus_zeros_sum_to_zero() {
    check(any_case(), |case| {
        let x = Array2::from_elem((case.rows, case.cols), -0.0);
        let zero = Reference { value: vec![0.0], bound: vec![0.0] };
        case.problem(&x, Expected::Within(zero)).verify(case.schedule, by_sum)
    });
}

#[test]
fn a_hundred_runs_are_equal() {
    let x = values::reals(1, 1003, 1.0, &mut values::rng(15));
    let run = |schedule| {
        let device = under_test(schedule);
        let x = device.upload(x.as_slice().expect("one row")).expect("x");
        device.sum(&x).expect("a sum")
    };
    let first = run(0);
    for schedule in 1..100 {
        reference::same_bits(&[first], &[run(schedule)]).unwrap_or_else(|error| panic!("run {schedule}: {error}"));
    }
}
