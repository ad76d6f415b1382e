//! `reduce_sum_dynamic`: one sum per block, for every number of threads.

use gpu::reduce::dynamic::{grid, reduce_sum_dynamic};
use ndarray::Array2;
use proptest::prelude::*;
use rand::Rng;
use warpwright::reference::{self, Reference};
use warpwright::{Device, Launch, Result};

use super::{integer_sum, large_and_noise};
use crate::support::device::under_test;
use crate::support::frame::{Frame, Place};
use crate::support::problem::{Expected, OnDevice, Outcome, Problem};
use crate::support::runner::{check, check_within};
use crate::support::{shapes, values};

/// The block sizes that the kernel is designed for.
const POWERS: [u32; 11] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

#[derive(Clone, Debug)]
struct Case {
    n: usize,
    threads: u32,
    places: [Place; 2],
    data: u64,
    schedule: u64,
}

/// Powers of two, and sometimes another number of threads, for which the kernel is correct too.
fn any_case() -> impl Strategy<Value = Case> {
    let threads = prop_oneof![4 => proptest::sample::select(&POWERS[..]), 1 => 1..=1024_u32];
    (shapes::length(), threads, [shapes::place(), shapes::place()], any::<u64>(), any::<u64>())
        .prop_map(|(n, threads, places, data, schedule)| Case { n, threads, places, data, schedule })
}

impl Case {
    fn problem(&self, x: &Array2<f32>, expected: Vec<Expected>) -> Problem {
        Problem {
            inputs: vec![Frame::holding(x.view(), self.places[0])],
            output: Frame::blank(1, grid(self.n, self.threads)[0] as usize, self.places[1]),
            expected,
        }
    }

    /// One value for each block, computed from its elements.
    fn per_block<T>(&self, x: &Array2<f32>, value: impl Fn(&[f32]) -> T) -> Vec<T> {
        let mut values: Vec<T> = x.as_slice().unwrap_or_default().chunks(self.threads as usize).map(&value).collect();
        if values.is_empty() {
            // An empty vector has one block.
            values.push(value(&[]));
        }
        values
    }

    fn of_integers(&self) -> Problem {
        let x = values::integers(1, self.n, &mut values::rng(self.data));
        let sums = self.per_block(&x, |section| integer_sum(section));
        self.problem(&x, vec![Expected::Bits(sums)])
    }

    /// Sums within the bound for a tree of that depth, and with the bits of the same tree on the CPU.
    fn of_reals(&self, x: &Array2<f32>) -> Problem {
        let depth = u64::from(self.threads.next_power_of_two().ilog2());
        let mut reference = Reference { value: Vec::new(), bound: Vec::new() };
        for section in self.per_block(x, |section| reference::sum(section, depth)) {
            reference.value.extend(section.value);
            reference.bound.extend(section.bound);
        }
        let tree = self.per_block(x, |section| tree(section, self.threads as usize));
        self.problem(x, vec![Expected::Within(reference), Expected::Bits(tree)])
    }

    fn verify(&self, problem: &Problem) -> std::result::Result<f64, String> {
        problem.verify(self.schedule, |device, problem| by_launch(device, problem, self.threads))
    }
}

/// The sum of a section with the kernel's order of additions; missing elements are +0.
fn tree(section: &[f32], threads: usize) -> f32 {
    let mut sums = section.to_vec();
    sums.resize(threads, 0.0);
    let mut stride = threads.next_power_of_two() / 2;
    while stride > 0 {
        for t in (0..stride).filter(|t| t + stride < threads) {
            sums[t] += sums[t + stride];
        }
        stride /= 2;
    }
    sums[0]
}

/// A problem for the self-test.
pub(crate) fn sample(n: usize, threads: u32) -> Problem {
    let places = [(3, 2), (1, 4)].map(|(offset, after)| Place { offset, gap: 0, after });
    Case { n, threads, places, data: 11, schedule: 12 }.of_integers()
}

/// Launches the kernel with blocks of `threads` threads.
pub(crate) fn by_launch(device: &Device, problem: &Problem, threads: u32) -> Result<Outcome> {
    let mut on = problem.upload(device)?;
    let OnDevice { inputs, output } = &mut on;
    let (from, to) = (problem.inputs[0].layout(), problem.output.layout());
    let x = inputs[0].slice(from.offset..from.offset + from.cols)?;
    let sums = output.slice_mut(to.offset..to.offset + to.cols)?;
    let launch = Launch::grid(grid(x.len(), threads)).block(threads).shared_elements(threads as usize);
    device.launch(&reduce_sum_dynamic, launch, (x, sums))?;
    on.download()
}

#[test]
fn integers_are_exact() {
    check(any_case(), |case| case.verify(&case.of_integers()));
}

/// Every block size, with lengths at the edges of one and two blocks.
#[test]
fn block_edges_are_exact() {
    for threads in POWERS {
        let t = threads as usize;
        for n in [0, 1, t / 2, t - 1, t, t + 1, 2 * t - 1, 2 * t, 2 * t + 1, 3 * t + t / 2] {
            let problem = sample(n, threads);
            let verdict = problem.verify(1, |device, problem| by_launch(device, problem, threads));
            verdict.unwrap_or_else(|error| panic!("{n} elements in blocks of {threads}: {error}"));
        }
    }
}

#[test]
fn reals_stay_within_the_bound_and_have_the_bits_of_the_tree() {
    check_within("reduce_sum_dynamic", any_case(), |case| {
        case.verify(&case.of_reals(&values::reals(1, case.n, 1.0, &mut values::rng(case.data))))
    });
}

#[test]
fn large_numbers_and_noise_stay_within_the_bound_and_have_the_bits_of_the_tree() {
    check_within("reduce_sum_dynamic of 1e8 and noise", any_case(), |case| {
        case.verify(&case.of_reals(&large_and_noise(1, case.n, &mut values::rng(case.data))))
    });
}

/// Subnormals add exactly; a device that flushes them to zero gives 0.
#[test]
fn subnormals_are_exact() {
    check(any_case(), |case| {
        let least = f32::from_bits(1);
        let x = values::integers(1, case.n, &mut values::rng(case.data)).mapv(|x| x * least);
        let sums = case.per_block(&x, |section| section.iter().sum::<f32>() + 0.0);
        case.verify(&case.problem(&x, vec![Expected::Values(sums)]))
    });
}

/// A NaN or infinity affects the sum of its block and no other.
#[test]
fn a_non_finite_element_reaches_the_sum_of_its_block() {
    let value = proptest::sample::select(&values::NON_FINITE[..]);
    check((any_case(), value), |(case, value)| {
        let case = Case { n: case.n.max(1), ..case.clone() };
        let mut rng = values::rng(case.data);
        let mut x = values::integers(1, case.n, &mut rng);
        let mut sums = case.per_block(&x, |section| integer_sum(section));
        let at = rng.random_range(0..case.n);
        x[(0, at)] = *value;
        sums[at / case.threads as usize] = *value;
        case.verify(&case.problem(&x, vec![Expected::Values(sums)]))
    });
}

/// Infinities of both signs in one block give NaN.
#[test]
fn opposite_infinities_are_not_a_number() {
    for threads in POWERS.into_iter().skip(1) {
        let place = Place { offset: 1, gap: 0, after: 1 };
        let n = 2 * threads as usize;
        let case = Case { n, threads, places: [place; 2], data: 0, schedule: 1 };
        let mut x = Array2::ones((1, n));
        x[(0, 0)] = f32::INFINITY;
        x[(0, threads as usize - 1)] = f32::NEG_INFINITY;
        let problem = case.problem(&x, vec![Expected::Values(vec![f32::NAN, threads as f32])]);
        case.verify(&problem).unwrap_or_else(|error| panic!("{threads} threads: {error}"));
    }
}

/// The sum of a full block of −0 is −0; missing elements count as +0, and −0 + +0 = +0.
#[test]
fn minus_zeros_stay_in_full_blocks() {
    check(any_case(), |case| {
        let x = Array2::from_elem((1, case.n), -0.0);
        let full = case.threads as usize;
        let sums = case.per_block(&x, |section| if section.len() == full { -0.0 } else { 0.0 });
        case.verify(&case.problem(&x, vec![Expected::Bits(sums)]))
    });
}

#[test]
fn a_hundred_runs_are_equal() {
    let place = Place { offset: 1, gap: 0, after: 1 };
    let case = Case { n: 1003, threads: 128, places: [place; 2], data: 1, schedule: 0 };
    let problem = case.of_reals(&values::reals(1, case.n, 1.0, &mut values::rng(case.data)));
    let run = |schedule| by_launch(&under_test(schedule), &problem, case.threads).expect("a run").output;
    let first = run(0);
    for schedule in 1..100 {
        reference::same_bits(&first, &run(schedule)).unwrap_or_else(|error| panic!("run {schedule}: {error}"));
    }
}
