//! B = Aᵀ: `transpose_smem_pad1`, `transpose_smem_pad2` and `transpose_b32` by launch, `Device::transpose` and
//! `Device::transpose_into`. Other element sizes: `sizes`; permutations of axes: `permutations`; costs of the fast
//! paths: `counted`.

mod bits;
mod counted;
mod permutations;
mod sizes;

use gpu::transpose::padded::{self, transpose_smem_pad1, transpose_smem_pad2};
use gpu::transpose::swizzled::{self, transpose_b32};
use ndarray::Array2;
use proptest::prelude::*;
use simt::Kernel;
use simt::global::{MatMut, MatRef};
use warpwright::simulator::{Config, Level};
use warpwright::{Device, Launch, Result, reference};

use crate::support::device::{is_gpu, under_test};
use crate::support::frame::{Frame, Place};
use crate::support::problem::{Expected, OnDevice, Outcome, Problem, unless_empty};
use crate::support::runner::check;
use crate::support::suite;
use crate::support::{shapes, values};

suite! {
    [any_bits_are_moved, tile_edges_are_exact, a_hundred_runs_are_equal];
    pad1 => by_pad1;
    pad2 => by_pad2;
    whole_tiles => by_swizzled;
    operation => by_transpose;
    operation_into => by_transpose_into;
}

/// Runs a problem: one input and the output.
type Method = fn(&Device, &Problem) -> Result<Outcome>;

#[derive(Clone, Debug)]
struct Case {
    rows: usize,
    cols: usize,
    places: [Place; 2],
    data: u64,
    schedule: u64,
}

fn any_case() -> impl Strategy<Value = Case> {
    (shapes::two_extents(), [shapes::place(), shapes::place()], any::<u64>(), any::<u64>())
        .prop_map(|([rows, cols], places, data, schedule)| Case { rows, cols, places, data, schedule })
}

impl Case {
    /// Any bits, since a transpose only moves them: NaN payloads must be preserved.
    fn problem(&self) -> Problem {
        let a = values::any_bits(self.rows, self.cols, &mut values::rng(self.data));
        let mut b = vec![0.0; a.len()];
        for ((row, col), value) in a.indexed_iter() {
            b[col * self.rows + row] = *value;
        }
        Problem {
            inputs: vec![Frame::holding(a.view(), self.places[0])],
            output: Frame::blank(self.cols, self.rows, self.places[1]),
            expected: vec![Expected::Bits(b), Expected::Bits(reference::transpose(a.view()).iter().copied().collect())],
        }
    }
}

/// A problem for the self-test.
pub(crate) fn sample(rows: usize, cols: usize) -> Problem {
    sample_case(rows, cols).problem()
}

fn sample_case(rows: usize, cols: usize) -> Case {
    let places = [(1, 3, 2), (5, 2, 1)].map(|(offset, gap, after)| Place { offset, gap, after });
    Case { rows, cols, places, data: 7, schedule: 8 }
}

/// Launches `transpose_smem_pad1`.
pub(crate) fn by_pad1(device: &Device, problem: &Problem) -> Result<Outcome> {
    by_launch(device, problem, &transpose_smem_pad1, padded::grid)
}

/// Launches `transpose_smem_pad2`.
pub(crate) fn by_pad2(device: &Device, problem: &Problem) -> Result<Outcome> {
    by_launch(device, problem, &transpose_smem_pad2, padded::grid)
}

/// Launches `transpose_b32`.
pub(crate) fn by_swizzled(device: &Device, problem: &Problem) -> Result<Outcome> {
    by_launch(device, problem, &transpose_b32, swizzled::grid)
}

fn by_launch(
    device: &Device,
    problem: &Problem,
    kernel: &Kernel<(MatRef<'static, f32>, MatMut<'static, f32>)>,
    grid: fn(u32, u32) -> [u32; 3],
) -> Result<Outcome> {
    let mut on = problem.upload(device)?;
    let OnDevice { inputs, output } = &mut on;
    let a = inputs[0].view().as_matrix(problem.inputs[0].layout())?;
    let b = output.view_mut().as_matrix(problem.output.layout())?;
    let empty = a.is_empty();
    let launch = Launch::grid(grid(a.rows() as u32, a.cols() as u32));
    unless_empty(empty, device.launch(kernel, launch, (a, b)))?;
    on.download()
}

/// Calls `Device::transpose_into`.
pub(crate) fn by_transpose_into(device: &Device, problem: &Problem) -> Result<Outcome> {
    let mut on = problem.upload(device)?;
    let OnDevice { inputs, output } = &mut on;
    let a = inputs[0].view().as_matrix(problem.inputs[0].layout())?;
    device.transpose_into(a, output.view_mut().as_matrix(problem.output.layout())?)?;
    on.download()
}

/// Calls `Device::transpose`, which allocates its result.
fn by_transpose(device: &Device, problem: &Problem) -> Result<Outcome> {
    let on = problem.upload(device)?;
    let a = on.inputs[0].view().as_matrix(problem.inputs[0].layout())?;
    let b = device.transpose(a)?.download()?;
    Ok(Outcome { output: problem.output.with(b.as_slice().unwrap_or_default()), ..on.download()? })
}

fn any_bits_are_moved(method: Method) {
    check(any_case(), |case| case.problem().verify(case.schedule, method));
}

/// Every combination of extents at the edges of the tiles, 32 × 16 and 64 × 64, and their multiples; at misaligned
/// addresses, and at aligned ones, where a tile is moved 16 bytes at a time.
fn tile_edges_are_exact(method: Method) {
    let edges = [0, 1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 128, 132];
    for (rows, cols) in edges.iter().flat_map(|rows| edges.map(|cols| (*rows, cols))) {
        let aligned = |len: usize| Place { offset: 8, gap: len.next_multiple_of(4) - len, after: 4 };
        let aligned = Case { places: [aligned(cols), aligned(rows)], ..sample_case(rows, cols) };
        for (name, problem) in [("anywhere", sample(rows, cols)), ("aligned", aligned.problem())] {
            problem.verify(1, method).unwrap_or_else(|error| panic!("{rows} × {cols} {name}: {error}"));
        }
    }
}

fn a_hundred_runs_are_equal(method: Method) {
    let problem = sample(33, 35);
    let run = |schedule| method(&under_test(schedule), &problem).expect("a run").output;
    let first = run(0);
    for schedule in 1..100 {
        reference::same_bits(&first, &run(schedule)).unwrap_or_else(|error| panic!("run {schedule}: {error}"));
    }
}

/// A grid is at most 65 535 blocks high, so the operation launches several times. Without checks on the simulator,
/// because of its 17 million threads.
#[test]
fn more_columns_than_a_grid_is_high() {
    let device = if is_gpu() { under_test(0) } else { Device::simulator_with(Config::new(Level::Off)) };
    // So many rows that the tiled kernel is used.
    let (rows, cols) = (32, 65_535 * swizzled::COLS[2] as usize + 3);
    let a = values::reals(rows, cols, 1.0, &mut values::rng(9));
    let b = device.upload(&a).and_then(|a| device.transpose(&a)).and_then(|b| b.download()).expect("a transpose");
    assert_eq!(b.dim(), (cols, rows));
    reference::same_bits(&a, b.t()).unwrap_or_else(|error| panic!("{error}"));
}

/// Transposing twice gives the matrix again.
#[test]
fn transposing_twice_gives_the_matrix_again() {
    let a = Array2::from_shape_fn((100, 37), |(row, col)| (row * 1000 + col) as f32);
    let device = under_test(3);
    let on_device = device.upload(&a).expect("a");
    let once = device.transpose(&on_device).expect("a transpose");
    let twice = device.transpose(&once).expect("a transpose").download().expect("a matrix");
    assert_eq!(twice, a);
}
