//! Tests of the tests: correct outcomes are changed one element at a time, and correct methods are replaced by wrong
//! ones, and the check must detect each change.

use warpwright::{Device, Result};

use crate::support::device::under_test;
use crate::support::problem::{Expected, Outcome, Problem};
use crate::{add, matmul, sum, transpose};

type Method = fn(&Device, &Problem) -> Result<Outcome>;

/// A problem of each operation and a correct method to solve it.
fn samples() -> Vec<(&'static str, Problem, Method)> {
    vec![
        ("matmul_naive of integers", matmul::sample_of_integers(5, 3, 4), matmul::by_naive),
        ("matmul_tiled of integers", matmul::sample_of_integers(33, 2, 4), matmul::by_tiled),
        ("matmul_tiled of reals", matmul::sample_of_reals(4, 33, 5), matmul::by_tiled),
        ("matmul_into of reals", matmul::sample_of_reals(4, 20, 5), matmul::by_matmul_into),
        ("matmul of integers", matmul::sample_of_integers(3, 4, 5), matmul::by_matmul),
        ("vector_add", add::sample(70), add::by_launch),
        ("reduce_sum_dynamic", sum::kernel_sample(70, 32), |device, problem| sum::by_launch(device, problem, 32)),
        ("sum", sum::operation_sample(300), sum::by_sum),
        ("transpose_smem_pad1", transpose::sample(17, 9), transpose::by_pad1),
        ("transpose_smem_pad2", transpose::sample(9, 17), transpose::by_pad2),
        ("transpose_b32", transpose::sample(66, 70), transpose::by_swizzled),
        ("transpose_into", transpose::sample(5, 33), transpose::by_transpose_into),
    ]
}

/// The next value above or below in the order of bits; for results with bounds, a value far outside.
fn wrong_value(problem: &Problem, value: f32) -> f32 {
    let bounded = problem.expected.iter().all(|expected| matches!(expected, Expected::Within(_)));
    if bounded && !value.is_nan() { value + 1.0 } else { f32::from_bits(value.to_bits() ^ 1) }
}

/// Whether an element of the output's buffer is a canary outside the matrix.
fn is_canary(problem: &Problem, index: usize) -> bool {
    let mut other = problem.output.image().to_vec();
    other[index] = f32::from_bits(other[index].to_bits() ^ 1);
    problem.output.elements(&other).is_err()
}

#[test]
fn correct_outcomes_pass() {
    for (name, problem, method) in samples() {
        problem.verify(1, method).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn a_wrong_element_of_an_output_is_detected() {
    for (name, problem, method) in samples() {
        let outcome = method(&under_test(1), &problem).expect("a run");
        let (mut canaries, mut results) = (0, 0);
        for index in 0..outcome.output.len() {
            let mut wrong = outcome.clone();
            wrong.output[index] = wrong_value(&problem, wrong.output[index]);
            assert!(
                problem.judge(&wrong).is_err(),
                "{name}: a wrong element {index} of the output's buffer was not detected"
            );
            let number = !outcome.output[index].is_nan();
            assert_eq!(outcome.agrees_with(&wrong).is_err(), number, "{name}: two runs that differ in element {index}");
            if is_canary(&problem, index) { canaries += 1 } else { results += 1 }
        }
        assert!(results > 0, "{name}: no element of a result");
        assert!(canaries > 0 || name == "sum", "{name}: no canary");
    }
}

#[test]
fn a_changed_element_of_an_input_is_detected() {
    for (name, problem, method) in samples() {
        let outcome = method(&under_test(1), &problem).expect("a run");
        for input in 0..outcome.inputs.len() {
            for index in 0..outcome.inputs[input].len() {
                let mut wrong = outcome.clone();
                let value = &mut wrong.inputs[input][index];
                *value = f32::from_bits(value.to_bits() ^ 1);
                assert!(
                    problem.judge(&wrong).is_err(),
                    "{name}: a changed element {index} of input {input} was not detected"
                );
            }
        }
    }
}

#[test]
fn two_swapped_elements_are_detected() {
    for (name, problem, method) in samples().into_iter().filter(|(name, ..)| *name != "sum") {
        let outcome = method(&under_test(1), &problem).expect("a run");
        let inside: Vec<usize> = (0..outcome.output.len()).filter(|&index| !is_canary(&problem, index)).collect();
        let (first, second) = (inside[0], inside[inside.len() - 1]);
        assert_ne!(outcome.output[first], outcome.output[second], "{name}: choose other data for this test");
        let mut wrong = outcome.clone();
        wrong.output.swap(first, second);
        assert!(problem.judge(&wrong).is_err(), "{name}: swapped elements were not detected");
    }
}

/// The same problem without one column of A and one row of B: one product is missing in every sum.
#[test]
fn a_missing_product_is_detected() {
    for problem in [matmul::sample_of_integers(6, 33, 5), matmul::sample_of_reals(6, 33, 5)] {
        let verdict = problem.verify(1, |device, problem| {
            let mut on = problem.upload(device)?;
            let a = on.inputs[0].view().as_matrix(problem.inputs[0].layout())?.block(0..6, 0..32)?;
            let b = on.inputs[1].view().as_matrix(problem.inputs[1].layout())?.block(0..32, 0..5)?;
            device.matmul_into(a, b, on.output.view_mut().as_matrix(problem.output.layout())?)?;
            on.download()
        });
        assert!(verdict.is_err(), "a missing product passes");
    }
}

/// A transpose written one element further on: correct elements at wrong positions.
#[test]
fn a_shifted_result_is_detected() {
    let problem = transpose::sample(9, 17);
    let verdict = problem.verify(1, |device, problem| {
        let mut on = problem.upload(device)?;
        let a = on.inputs[0].view().as_matrix(problem.inputs[0].layout())?;
        let layout = problem.output.layout();
        device.transpose_into(a, on.output.view_mut().as_matrix(layout.offset(layout.offset + 1))?)?;
        on.download()
    });
    assert!(verdict.is_err(), "a shifted result passes");
}

/// Reading padding gives a NaN.
#[test]
fn canaries_in_a_sum_give_nan() {
    let problem = sum::operation_sample(300);
    let verdict = problem.verify(1, |device, problem| {
        let on = problem.upload(device)?;
        let start = problem.inputs[0].layout().offset;
        let sum = device.sum(on.inputs[0].slice(start + 1..start + 301)?)?;
        assert!(sum.is_nan(), "the sum of a canary is {sum}");
        Ok(Outcome { output: problem.output.with(&[sum]), ..on.download()? })
    });
    assert!(verdict.is_err(), "a NaN for a sum passes");
}
