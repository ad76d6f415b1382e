//! z = x + y: `vector_add` by launch, `Device::add` on vectors and on matrices.

use gpu::lab::tutorial::vector_add::{self, vector_add};
use ndarray::Array2;
use proptest::prelude::*;
use warpwright::{Device, Launch, Layout, Result, reference};

use crate::support::device::under_test;
use crate::support::frame::{Frame, Place};
use crate::support::problem::{Expected, OnDevice, Outcome, Problem, unless_empty};
use crate::support::runner::check;
use crate::support::suite;
use crate::support::{shapes, values};

suite! {
    [integers_are_exact, reals_are_rounded_once, any_bits_add_as_ieee_754_says, a_hundred_runs_are_equal];
    launch => BY_LAUNCH;
    operation => BY_VECTORS;
    operation_on_matrices => BY_MATRICES;
}

/// An implementation of the sum of two vectors or matrices.
#[derive(Clone, Copy)]
struct Method {
    /// Runs a problem: two inputs and an output of the same shape.
    run: fn(&Device, &Problem) -> Result<Outcome>,
    /// Whether it takes matrices.
    matrices: bool,
}

const BY_LAUNCH: Method = Method { run: by_launch, matrices: false };
const BY_VECTORS: Method = Method { run: by_vectors, matrices: false };
const BY_MATRICES: Method = Method { run: by_matrices, matrices: true };

#[derive(Clone, Debug)]
struct Case {
    rows: usize,
    cols: usize,
    places: [Place; 3],
    data: u64,
    schedule: u64,
}

/// Vectors, and also matrices if the method takes them.
fn any_case(method: Method) -> impl Strategy<Value = Case> {
    let vector = shapes::length().prop_map(|n| [1, n]);
    let shape = if method.matrices { prop_oneof![shapes::two_extents(), vector].boxed() } else { vector.boxed() };
    let places = [shapes::place(), shapes::place(), shapes::place()];
    (shape, places, any::<u64>(), any::<u64>()).prop_map(|([rows, cols], places, data, schedule)| Case {
        rows,
        cols,
        places,
        data,
        schedule,
    })
}

impl Case {
    /// The problem of adding `x` and `y`, with `x + y` on the CPU as the expected result.
    fn problem(&self, x: &Array2<f32>, y: &Array2<f32>) -> Problem {
        let sum = reference::add(x.as_slice().unwrap_or_default(), y.as_slice().unwrap_or_default());
        let [in_x, in_y, in_z] = self.places;
        Problem {
            inputs: vec![Frame::holding(x.view(), in_x), Frame::holding(y.view(), in_y)],
            output: Frame::blank(self.rows, self.cols, in_z),
            expected: vec![Expected::Values(sum)],
        }
    }

    fn of(&self, make: impl Fn(usize, usize, &mut rand::rngs::StdRng) -> Array2<f32>) -> Problem {
        let mut rng = values::rng(self.data);
        self.problem(&make(self.rows, self.cols, &mut rng), &make(self.rows, self.cols, &mut rng))
    }
}

/// A problem for the self-test.
pub(crate) fn sample(n: usize) -> Problem {
    let places = [(1, 0, 3), (0, 0, 0), (5, 0, 1)].map(|(offset, gap, after)| Place { offset, gap, after });
    Case { rows: 1, cols: n, places, data: 3, schedule: 4 }.of(|rows, cols, rng| values::reals(rows, cols, 1.0, rng))
}

/// The range of a vector in its buffer.
fn range(layout: Layout) -> std::ops::Range<usize> {
    assert_eq!(layout.rows, 1, "a vector is one row");
    layout.offset..layout.offset + layout.cols
}

/// Launches `vector_add`.
pub(crate) fn by_launch(device: &Device, problem: &Problem) -> Result<Outcome> {
    let mut on = problem.upload(device)?;
    let OnDevice { inputs, output } = &mut on;
    let x = inputs[0].slice(range(problem.inputs[0].layout()))?;
    let y = inputs[1].slice(range(problem.inputs[1].layout()))?;
    let z = output.slice_mut(range(problem.output.layout()))?;
    let n = z.len();
    unless_empty(n == 0, device.launch(&vector_add, Launch::grid(vector_add::grid(n)), (x, y, z)))?;
    on.download()
}

/// Calls `Device::add` on vectors.
fn by_vectors(device: &Device, problem: &Problem) -> Result<Outcome> {
    let on = problem.upload(device)?;
    let x = on.inputs[0].slice(range(problem.inputs[0].layout()))?;
    let y = on.inputs[1].slice(range(problem.inputs[1].layout()))?;
    let z = device.add(x, y)?.download()?;
    Ok(Outcome { output: problem.output.with(&z), ..on.download()? })
}

/// Calls `Device::add` on matrices.
fn by_matrices(device: &Device, problem: &Problem) -> Result<Outcome> {
    let on = problem.upload(device)?;
    let x = on.inputs[0].view().as_matrix(problem.inputs[0].layout())?;
    let y = on.inputs[1].view().as_matrix(problem.inputs[1].layout())?;
    let z = device.add(x, y)?.download()?;
    Ok(Outcome { output: problem.output.with(z.as_slice().unwrap_or_default()), ..on.download()? })
}

fn integers_are_exact(method: Method) {
    check(any_case(method), |case| case.of(values::integers).verify(case.schedule, method.run));
}

fn reals_are_rounded_once(method: Method) {
    check(any_case(method), |case| {
        case.of(|rows, cols, rng| values::reals(rows, cols, 1.0, rng)).verify(case.schedule, method.run)
    });
}

/// Including zeros of both signs, subnormals, infinities and NaNs.
fn any_bits_add_as_ieee_754_says(method: Method) {
    check(any_case(method), |case| case.of(values::any_bits).verify(case.schedule, method.run));
}

fn a_hundred_runs_are_equal(method: Method) {
    let problem = sample(1003);
    let run = |schedule| (method.run)(&under_test(schedule), &problem).expect("a run").output;
    let first = run(0);
    for schedule in 1..100 {
        reference::same_bits(&first, &run(schedule)).unwrap_or_else(|error| panic!("run {schedule}: {error}"));
    }
}

/// −0 + −0 = −0.
#[test]
fn sums_of_minus_zeros_are_minus_zero() {
    let zeros = Array2::from_elem((1, 100), -0.0_f32);
    let place = Place { offset: 1, gap: 0, after: 1 };
    let case = Case { rows: 1, cols: 100, places: [place; 3], data: 0, schedule: 0 };
    let mut problem = case.problem(&zeros, &zeros);
    problem.expected.push(Expected::Bits(vec![-0.0; 100]));
    for method in [BY_LAUNCH, BY_VECTORS, BY_MATRICES] {
        problem.verify(0, method.run).unwrap_or_else(|error| panic!("{error}"));
    }
}

/// For vectors of different lengths the kernel adds the common part and does not change the rest.
#[test]
fn vectors_of_different_lengths_are_added_up_to_the_shortest() {
    let lengths = [100, 65, 64, 1, 0];
    let pairs = lengths.into_iter().flat_map(|x| lengths.map(|y| (x, y)));
    for (nx, ny, nz) in pairs.flat_map(|(x, y)| lengths.map(|z| (x, y, z))) {
        let device = under_test(2);
        let (x, y) = (vec![1.5_f32; nx], vec![0.25_f32; ny]);
        let (on_x, on_y) = (device.upload(&x).expect("x"), device.upload(&y).expect("y"));
        let mut z = device.upload(&vec![-7.0_f32; nz]).expect("z");
        device.launch(&vector_add, Launch::grid(2), (&on_x, &on_y, &mut z)).expect("a launch");
        let common = nx.min(ny).min(nz);
        let expected: Vec<f32> = (0..nz).map(|i| if i < common { 1.75 } else { -7.0 }).collect();
        assert_eq!(z.download().expect("z"), expected, "lengths {nx}, {ny}, {nz}");
    }
}
