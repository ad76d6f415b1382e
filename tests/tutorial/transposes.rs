//! D8, D9 and D11: B = Aᵀ, naive, through a tile, and by two tiles per block. (D10 is tested in
//! `properties/transpose`.)

use gpu::lab::tutorial::transposes::naive::{grid_col, grid_row, transpose_naive_col, transpose_naive_row};
use gpu::lab::tutorial::transposes::smem::{self, transpose_smem};
use gpu::lab::tutorial::transposes::unrolled::{self, transpose_smem_unroll_pad1, transpose_smem_unroll_pad2};
use proptest::prelude::*;
use simt::Kernel;
use simt::global::{MatMut, MatRef};
use warpwright::{Device, Launch, Result, reference};

use crate::support::device::under_test;
use crate::support::frame::{Frame, Place};
use crate::support::problem::{Expected, OnDevice, Outcome, Problem, unless_empty};
use crate::support::runner::check;
use crate::support::{shapes, suite, values};

suite! {
    [any_bits_are_moved, mismatched_shapes_are_clipped, tile_edges_are_exact, a_hundred_runs_are_equal];
    naive_row => NAIVE_ROW;
    naive_col => NAIVE_COL;
    unpadded => SMEM;
    unroll_pad1 => UNROLL_PAD1;
    unroll_pad2 => UNROLL_PAD2;
}

/// A kernel and how it is launched.
#[derive(Clone, Copy)]
struct Variant {
    kernel: &'static Kernel<(MatRef<'static, f32>, MatMut<'static, f32>)>,
    grid: fn(u32, u32) -> [u32; 3],
    /// Rows and columns of A that a block moves through shared memory; elements outside A are zeros.
    tile: Option<[usize; 2]>,
}

const NAIVE_ROW: Variant = Variant { kernel: &transpose_naive_row, grid: grid_row, tile: None };
const NAIVE_COL: Variant = Variant { kernel: &transpose_naive_col, grid: grid_col, tile: None };
const SMEM: Variant = Variant { kernel: &transpose_smem, grid: smem::grid, tile: Some([16, 32]) };
const UNROLL_PAD1: Variant =
    Variant { kernel: &transpose_smem_unroll_pad1, grid: unrolled::grid, tile: Some([16, 64]) };
const UNROLL_PAD2: Variant =
    Variant { kernel: &transpose_smem_unroll_pad2, grid: unrolled::grid, tile: Some([16, 64]) };

/// Shapes of A and B, rows first, and their positions in their buffers.
#[derive(Clone, Debug)]
struct Case {
    a: [usize; 2],
    b: [usize; 2],
    places: [Place; 2],
    data: u64,
    schedule: u64,
}

fn any_case() -> impl Strategy<Value = Case> {
    (shapes::two_extents(), [shapes::place(), shapes::place()], any::<u64>(), any::<u64>())
        .prop_map(|([m, n], places, data, schedule)| Case { a: [m, n], b: [n, m], places, data, schedule })
}

/// Shapes where B is not that of Aᵀ, which a launch does not check.
fn any_shapes() -> impl Strategy<Value = Case> {
    (any_case(), shapes::two_extents()).prop_map(|(case, b)| Case { b, ..case })
}

impl Case {
    fn of(rows: usize, cols: usize) -> Self {
        let places = [(1, 3, 2), (5, 2, 1)].map(|(offset, gap, after)| Place { offset, gap, after });
        Self { a: [rows, cols], b: [cols, rows], places, data: 7, schedule: 8 }
    }

    /// Any bits, since a transpose only moves them: NaN payloads must be preserved.
    fn problem(&self, variant: Variant) -> Problem {
        let ([m, n], [rows, cols]) = (self.a, self.b);
        let a = values::any_bits(m, n, &mut values::rng(self.data));
        let output = Frame::blank(rows, cols, self.places[1]);
        let [whole_m, whole_n] = variant.tile.map_or([m, n], |[r, c]| [m.next_multiple_of(r), n.next_multiple_of(c)]);
        // Nothing is launched for an empty A.
        let zeroed = |row: usize, col: usize| !a.is_empty() && row < whole_n && col < whole_m;
        let element = |row: usize, col: usize| match a.get((col, row)) {
            Some(element) => *element,
            None if zeroed(row, col) => 0.0,
            None => output.image()[output.layout().offset + row * output.layout().ld + col],
        };
        let b = (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col))).map(|(row, col)| element(row, col));
        let mut expected = vec![Expected::Bits(b.collect())];
        if [rows, cols] == [n, m] {
            expected.push(Expected::Bits(reference::transpose(a.view()).iter().copied().collect()));
        }
        Problem { inputs: vec![Frame::holding(a.view(), self.places[0])], output, expected }
    }

    fn verify(&self, variant: Variant) -> Result<f64, String> {
        self.problem(variant).verify(self.schedule, |device, problem| launch(variant, device, problem))
    }
}

fn launch(variant: Variant, device: &Device, problem: &Problem) -> Result<Outcome> {
    let mut on = problem.upload(device)?;
    let OnDevice { inputs, output } = &mut on;
    let a = inputs[0].view().as_matrix(problem.inputs[0].layout())?;
    let b = output.view_mut().as_matrix(problem.output.layout())?;
    let empty = a.is_empty();
    let launch = Launch::grid((variant.grid)(a.rows() as u32, a.cols() as u32));
    unless_empty(empty, device.launch(variant.kernel, launch, (a, b)))?;
    on.download()
}

fn any_bits_are_moved(variant: Variant) {
    check(any_case(), |case| case.verify(variant));
}

fn mismatched_shapes_are_clipped(variant: Variant) {
    check(any_shapes(), |case| case.verify(variant));
}

/// Every combination of extents at the edges of the tiles of 16 × 32 and 16 × 64, and of their multiples.
fn tile_edges_are_exact(variant: Variant) {
    let edges = [0, 1, 15, 16, 17, 31, 32, 33, 63, 64, 65];
    for (rows, cols) in edges.iter().flat_map(|rows| edges.map(|cols| (*rows, cols))) {
        let verdict = Case::of(rows, cols).verify(variant);
        verdict.unwrap_or_else(|error| panic!("{rows} × {cols}: {error}"));
    }
}

fn a_hundred_runs_are_equal(variant: Variant) {
    let problem = Case::of(33, 67).problem(variant);
    let run = |schedule| launch(variant, &under_test(schedule), &problem).expect("a run").output;
    let first = run(0);
    for schedule in 1..100 {
        reference::same_bits(&first, &run(schedule)).unwrap_or_else(|error| panic!("run {schedule}: {error}"));
    }
}
