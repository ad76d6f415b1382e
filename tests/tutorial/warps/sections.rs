//! C5, C6, C8: sums of sections, for any number of threads, with the bits of each kernel's tree of additions.

use gpu::lab::tutorial::warps::interleaved::reduce_interleaved;
use gpu::lab::tutorial::warps::sequential::reduce_sequential;
use gpu::lab::tutorial::warps::shuffle::reduce_shuffle;
use gpu::reduce::dynamic::grid;
use ndarray::Array2;
use proptest::prelude::*;
use rand::Rng;
use simt::Kernel;
use simt::global::{VecMut, VecRef};
use warpwright::reference::{self, Reference};
use warpwright::simulator::{Config, Level};
use warpwright::{Device, Launch, Result};

use crate::support::device::under_test;
use crate::support::frame::{Frame, Place};
use crate::support::problem::{Expected, OnDevice, Outcome, Problem};
use crate::support::runner::{check, check_within};
use crate::support::{shapes, suite, values};

suite! {
    [
        integers_are_exact,
        block_edges_are_exact,
        reals_stay_within_the_bound_and_have_the_bits_of_the_tree,
        a_non_finite_element_reaches_the_sum_of_its_block,
        minus_zeros_stay_in_full_blocks,
        other_warp_sizes_give_the_same_bits,
        runs_are_equal,
    ];
    interleaved => INTERLEAVED;
    sequential => SEQUENTIAL;
    shuffle => SHUFFLE;
}

/// A kernel, and its order of additions.
#[derive(Clone, Copy)]
struct Variant {
    kernel: &'static Kernel<(VecRef<'static, f32>, VecMut<'static, f32>)>,
    order: Order,
}

#[derive(Clone, Copy)]
enum Order {
    NeighboursFirst,
    HalvesFirst,
}

const INTERLEAVED: Variant = Variant { kernel: &reduce_interleaved, order: Order::NeighboursFirst };
const SEQUENTIAL: Variant = Variant { kernel: &reduce_sequential, order: Order::HalvesFirst };
const SHUFFLE: Variant = Variant { kernel: &reduce_shuffle, order: Order::HalvesFirst };

#[derive(Clone, Debug)]
struct Case {
    n: usize,
    threads: u32,
    places: [Place; 2],
    data: u64,
    schedule: u64,
}

/// Powers of two, numbers around a warp, and sometimes any number of threads.
fn any_case() -> impl Strategy<Value = Case> {
    let threads = prop_oneof![
        3 => (0..=10_u32).prop_map(|power| 1 << power),
        1 => proptest::sample::select(&[31_u32, 33, 48, 63, 65, 96, 1023][..]),
        1 => 1..=1024_u32,
    ];
    (shapes::length(), threads, [shapes::place(), shapes::place()], any::<[u64; 2]>())
        .prop_map(|(n, threads, places, [data, schedule])| Case { n, threads, places, data, schedule })
}

/// The sum of a section by recursion on its tree: `NeighboursFirst` pairs elements by the lowest bit of their index,
/// `HalvesFirst` by the highest. An index beyond the threads has no element, and its partner is unchanged.
fn tree(section: &[f32], threads: usize, order: Order) -> f32 {
    fn sum(
        leaf: &dyn Fn(usize) -> Option<f32>,
        first: usize,
        stride: usize,
        count: usize,
        order: Order,
    ) -> Option<f32> {
        if count == 1 {
            return leaf(first);
        }
        let half = count / 2;
        let halves = match order {
            Order::NeighboursFirst => [(first, stride), (first + half * stride, stride)],
            Order::HalvesFirst => [(first, 2 * stride), (first + stride, 2 * stride)],
        };
        let [left, right] = halves.map(|(first, stride)| sum(leaf, first, stride, half, order));
        match (left, right) {
            (Some(left), Some(right)) => Some(left + right),
            (left, None) => left,
            (None, right) => right,
        }
    }
    let leaf = |place: usize| (place < threads).then(|| section.get(place).copied().unwrap_or(0.0));
    sum(&leaf, 0, 1, threads.next_power_of_two(), order).unwrap_or(0.0)
}

impl Case {
    fn problem(&self, x: &Array2<f32>, expected: Vec<Expected>) -> Problem {
        Problem {
            inputs: vec![Frame::holding(x.view(), self.places[0])],
            output: Frame::blank(1, grid(self.n, self.threads)[0] as usize, self.places[1]),
            expected,
        }
    }

    /// One value for each block, computed from its elements; an empty vector has one block.
    fn per_block<T>(&self, x: &Array2<f32>, value: impl Fn(&[f32]) -> T) -> Vec<T> {
        let x = x.as_slice().unwrap_or_default();
        if x.is_empty() { vec![value(x)] } else { x.chunks(self.threads as usize).map(value).collect() }
    }

    fn of_integers(&self) -> Problem {
        let x = values::integers(1, self.n, &mut values::rng(self.data));
        let sums = self.per_block(&x, |section| section.iter().map(|&x| x as i64).sum::<i64>() as f32);
        self.problem(&x, vec![Expected::Bits(sums)])
    }

    /// Within the bound for a tree of that depth, and with the bits of the same tree on the CPU.
    fn of_reals(&self, variant: Variant) -> Problem {
        let x = values::reals(1, self.n, 1.0, &mut values::rng(self.data));
        let depth = u64::from(self.threads.next_power_of_two().ilog2());
        let mut reference = Reference { value: Vec::new(), bound: Vec::new() };
        for section in self.per_block(&x, |section| reference::sum(section, depth)) {
            reference.value.extend(section.value);
            reference.bound.extend(section.bound);
        }
        let trees = self.per_block(&x, |section| tree(section, self.threads as usize, variant.order));
        self.problem(&x, vec![Expected::Within(reference), Expected::Bits(trees)])
    }

    fn run(&self, variant: Variant, device: &Device, problem: &Problem) -> Result<Outcome> {
        let mut on = problem.upload(device)?;
        let OnDevice { inputs, output } = &mut on;
        let (from, to) = (problem.inputs[0].layout(), problem.output.layout());
        let x = inputs[0].slice(from.offset..from.offset + from.cols)?;
        let sums = output.slice_mut(to.offset..to.offset + to.cols)?;
        let launch = Launch::grid(grid(self.n, self.threads)).block(self.threads);
        device.launch(variant.kernel, launch.shared_elements(self.threads as usize), (x, sums))?;
        on.download()
    }

    fn verify(&self, variant: Variant, problem: &Problem) -> std::result::Result<f64, String> {
        problem.verify(self.schedule, |device, problem| self.run(variant, device, problem))
    }
}

fn sample(n: usize, threads: u32) -> Case {
    let places = [(3, 2), (1, 4)].map(|(offset, after)| Place { offset, gap: 0, after });
    Case { n, threads, places, data: 11, schedule: 12 }
}

fn integers_are_exact(variant: Variant) {
    check(any_case(), |case| case.verify(variant, &case.of_integers()));
}

fn block_edges_are_exact(variant: Variant) {
    for threads in [1, 2, 31, 32, 33, 64, 512, 1000, 1024] {
        let t = threads as usize;
        for n in [0, 1, t / 2, t - 1, t, t + 1, 2 * t - 1, 2 * t, 2 * t + 1] {
            let case = sample(n, threads);
            let verdict = case.verify(variant, &case.of_integers());
            verdict.unwrap_or_else(|error| panic!("{n} elements in blocks of {threads}: {error}"));
        }
    }
}

fn reals_stay_within_the_bound_and_have_the_bits_of_the_tree(variant: Variant) {
    check_within(variant.kernel.info().name, any_case(), |case| case.verify(variant, &case.of_reals(variant)));
}

fn a_non_finite_element_reaches_the_sum_of_its_block(variant: Variant) {
    let value = proptest::sample::select(&values::NON_FINITE[..]);
    check((any_case(), value), |(case, value)| {
        let case = Case { n: case.n.max(1), ..case.clone() };
        let mut rng = values::rng(case.data);
        let mut x = values::integers(1, case.n, &mut rng);
        let mut sums = case.per_block(&x, |section| section.iter().map(|&x| x as i64).sum::<i64>() as f32);
        let at = rng.random_range(0..case.n);
        x[(0, at)] = *value;
        sums[at / case.threads as usize] = *value;
        case.verify(variant, &case.problem(&x, vec![Expected::Values(sums)]))
    });
}

/// Missing elements count as +0, and −0 + +0 = +0; threads that do not exist add nothing.
fn minus_zeros_stay_in_full_blocks(variant: Variant) {
    check(any_case(), |case| {
        let x = Array2::from_elem((1, case.n), -0.0);
        let full = case.threads as usize;
        let sums = case.per_block(&x, |section| if section.len() == full { -0.0 } else { 0.0 });
        case.verify(variant, &case.problem(&x, vec![Expected::Bits(sums)]))
    });
}

/// The order of additions does not depend on the warp size, which the simulator can change.
fn other_warp_sizes_give_the_same_bits(variant: Variant) {
    for lanes in [1, 2, 8, 16, 32] {
        let device = Device::simulator_with(Config::new(Level::Checks).warp_size(lanes).seed(5));
        for (n, threads) in [(8, 8), (1000, 100), (512, 512), (33, 33), (5, 1)] {
            let case = sample(n, threads);
            let problem = case.of_reals(variant);
            let outcome = case.run(variant, &device, &problem).unwrap_or_else(|error| panic!("{error}"));
            let verdict = problem.judge(&outcome);
            verdict.unwrap_or_else(|error| panic!("warps of {lanes}, {n} elements by {threads}: {error}"));
        }
    }
}

fn runs_are_equal(variant: Variant) {
    let case = sample(1003, 128);
    let problem = case.of_reals(variant);
    let run = |schedule| case.run(variant, &under_test(schedule), &problem).expect("a run").output;
    let first = run(0);
    for schedule in 1..50 {
        reference::same_bits(&first, &run(schedule)).unwrap_or_else(|error| panic!("run {schedule}: {error}"));
    }
}
