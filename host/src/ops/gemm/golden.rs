//! The choice of algorithm for the problems of `golden.csv`: a change of the planner that is not meant to change
//! choices does not.
//!
//! | column | |
//! |---|---|
//! | `elements` | of A and B, and of C if different |
//! | `layout` | of A, B and C: rows (`N`) or columns (`T`) of contiguous elements |
//! | `extents` | m, n, k |
//! | `batch` | number of products; `a`, `b`: one matrix for all |
//! | `padding` | elements between the rows of A, B and C |
//! | `misalignment` | bytes of A, B and C beyond a multiple of 16 |
//! | `epilogue` | `s`: alpha ≠ 1; `f`: bias or activation; `c`: beta ≠ 0 |
//! | `sms` | SMs of the device |
//! | `kernel` … `cost` | the first plan |
//! | `all_plans` | checksum of all plans, in order |
//!
//! After a change of the cost model or of the kernels, `UPDATE_GOLDEN=1 cargo test -p warpwright --lib golden` rewrites
//! the results; the difference shows which choices changed.

use std::fmt::Write;

use half::{bf16, f16};

use super::algorithm::Plan;
use super::element::Multiply;
use super::operands::OperandLayout;
use super::options::{Arithmetic, Op};
use super::planner;
use super::problem::{Epilogue, Problem, Request};
use crate::device::Device;
use crate::memory::Axes;

const GOLDEN: &str = include_str!("golden.csv");
/// Columns that describe the problem.
const INPUTS: usize = 8;

#[test]
fn choices_are_those_of_the_golden_file() {
    let device = Device::simulator();
    let mut lines = GOLDEN.lines();
    let mut actual = format!("{}\n", lines.next().unwrap());
    for line in lines {
        let columns: Vec<&str> = line.split(',').collect();
        let inputs = &columns[..INPUTS];
        writeln!(actual, "{},{}", inputs.join(","), result(&device, inputs)).unwrap();
    }
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/src/ops/gemm/golden.csv"), &actual).unwrap();
        return;
    }
    let changed: Vec<_> = GOLDEN.lines().zip(actual.lines()).filter(|(golden, actual)| golden != actual).collect();
    for (golden, actual) in changed.iter().take(20) {
        eprintln!("- {golden}\n+ {actual}");
    }
    // The last column is of the plans after the first one.
    let choice = |line: &str| line.rsplit_once(',').map(|(choice, _)| choice.to_owned());
    let choices = changed.iter().filter(|(golden, actual)| choice(golden) != choice(actual)).count();
    assert!(
        changed.is_empty(),
        "golden.csv: the first choice changed for {choices} problems, only later plans for {}. If this is meant, run \
         `UPDATE_GOLDEN=1 cargo test -p warpwright --lib golden`, read the difference and commit it.",
        changed.len() - choices
    );
}

/// The problems, as columns.
pub(super) fn problems() -> impl Iterator<Item = Vec<&'static str>> {
    GOLDEN.lines().skip(1).map(|line| line.split(',').take(INPUTS).collect())
}

/// The columns after those of the problem.
fn result(device: &Device, inputs: &[&str]) -> String {
    let plans = plans_of(device, inputs);
    let checksum = plans
        .iter()
        .map(row)
        .flat_map(String::into_bytes)
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    format!("{},{:08x}", row(&plans[0]), checksum >> 32)
}

/// All plans for a problem.
pub(super) fn plans_of(device: &Device, inputs: &[&str]) -> Vec<Plan> {
    match inputs[0].split('_').next().unwrap() {
        "f32" | "tf32" | "bf16x6" => plans::<f32>(device, inputs),
        "f16" => plans::<f16>(device, inputs),
        "bf16" => plans::<bf16>(device, inputs),
        "f64" => plans::<f64>(device, inputs),
        other => panic!("{other}"),
    }
}

fn row(plan: &Plan) -> String {
    let algorithm = plan.algorithm();
    let [a, b] = algorithm.packed();
    format!(
        "{},{}{},{},{},{},{}",
        algorithm.kernel().name,
        if a { "a" } else { "" },
        if b { "b" } else { "" },
        algorithm.parts(),
        algorithm.blocks(),
        plan.workspace_len(),
        plan.cost()
    )
}

/// The plans for the problem of the first columns.
pub(super) fn plans<T: Multiply>(device: &Device, inputs: &[&str]) -> Vec<Plan> {
    let &[elements, layout, extents, batch, padding, misalignment, epilogue, sms] = inputs else {
        panic!("{inputs:?}")
    };
    let numbers = |text: &str| -> [usize; 3] {
        let numbers: Vec<_> = text.split(' ').map(|number| number.parse().unwrap()).collect();
        numbers.try_into().unwrap()
    };
    let ([m, n, k], padding, misalignment) = (numbers(extents), numbers(padding), numbers(misalignment));
    let count = batch.trim_end_matches(['a', 'b']).parse().unwrap();
    let operand = |number: usize, rows: usize, cols: usize, is_broadcast: bool| {
        let by_rows = layout.as_bytes()[number] == b'N';
        let ld = if by_rows { cols } else { rows } + padding[number];
        let [down, across] = if by_rows { [ld, 1] } else { [1, ld] };
        let matrix = ld * if by_rows { rows } else { cols };
        let axes = if count == 1 || is_broadcast {
            Axes::strided("golden", &[rows, cols], &[down, across])
        } else {
            Axes::strided("golden", &[count, rows, cols], &[matrix, down, across])
        };
        OperandLayout::of("x", &axes.unwrap(), Op::N).unwrap().at(misalignment[number])
    };
    let (a, b, c) =
        (operand(0, m, k, batch.contains('a')), operand(1, k, n, batch.contains('b')), operand(2, m, n, false));
    let problem = Problem::new(a, b, c, None, true).unwrap();
    let is_f32_output = elements.ends_with("f32");
    planner::plans::<T>(&Request {
        problem: &problem,
        epilogue: Epilogue {
            has_scales: false,
            has_block_scales: false,
            scales: epilogue.contains('s'),
            transforms: epilogue.contains('f'),
            accumulates: epilogue.contains('c'),
            output_bytes: if is_f32_output { 4 } else { size_of::<T>() },
        },
        arithmetic: match elements {
            "tf32" => Arithmetic::Tf32,
            "bf16x6" => Arithmetic::Bf16x6,
            _ => Arithmetic::Full,
        },
        device,
        sm_count: sms.parse().unwrap(),
    })
}
