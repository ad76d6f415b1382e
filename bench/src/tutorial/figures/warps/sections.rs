//! C5 to C9: sums of sections by trees: which warps still add, which of them are divided, what shared memory sees.

use anyhow::{Result, ensure};
use gpu::lab::tutorial::warps::interleaved::reduce_interleaved;
use gpu::lab::tutorial::warps::sequential::reduce_sequential;
use gpu::lab::tutorial::warps::shuffle::reduce_shuffle;
use gpu::reduce::dynamic::{self, reduce_sum_dynamic};
use simt::Kernel;
use simt::global::{VecMut, VecRef};
use warpwright::simulator::{Access, Counters, SiteCounts};
use warpwright::{Device, Launch};

use super::super::counted::{branches, count, degrees, device, divergent_warps, with_warps_of};
use super::super::{Figure, Row, Value};

/// The rows.
pub(super) fn rows() -> Vec<Row> {
    vec![
        Row {
            id: "C5",
            kernels: &["reduce_interleaved"],
            idea: "neighbours first: every step divides a warp",
            figures: interleaved,
        },
        Row {
            id: "C6",
            kernels: &["reduce_sequential"],
            idea: "halves first: whole warps go idle, only the last five steps divide one",
            figures: sequential,
        },
        Row {
            id: "C7",
            kernels: &["reduce_sum_dynamic"],
            idea: "a grid of sections, any length, shared memory sized at launch",
            figures: over_a_grid,
        },
        Row {
            id: "C8",
            kernels: &["reduce_shuffle"],
            idea: "the last 32 values go from register to register",
            figures: shuffle,
        },
        Row {
            id: "C9",
            kernels: &["reduce_sequential", "reduce_interleaved"],
            idea: "8 values in warps of 2: which warps still work",
            figures: warps_of_two,
        },
    ]
}

type Sum = Kernel<(VecRef<'static, f32>, VecMut<'static, f32>)>;

/// A section, and its steps.
const SECTION: u32 = 512;
const STEPS: u32 = SECTION.ilog2();

/// What the sums of `n` elements count, in sections of `threads`.
fn sums(device: &Device, kernel: &Sum, n: usize, threads: u32) -> Result<Counters> {
    let x = device.alloc_zeros(n)?;
    let grid = dynamic::grid(n, threads);
    let mut sums = device.alloc(grid[0] as usize)?;
    let launch = Launch::grid(grid).block(threads).shared_elements(threads as usize);
    count(device, kernel, launch, (&x, &mut sums))
}

/// The branch of the tree, the first of the kernel.
fn tree(counters: &Counters) -> Result<&SiteCounts> {
    let branches = branches(counters);
    ensure!(branches.len() >= 2, "a branch in the tree and one for the result expected, not {}", branches.len());
    Ok(branches[0])
}

/// Steps, divergent warps in each, additions. `text` states steps and divergent warps; `adds` says whether a thread
/// adds in a step, by rule.
fn steps(counters: &Counters, divergent: Option<Vec<u64>>, adds: fn(u32, u32) -> bool) -> Result<Vec<Figure>> {
    let tree = tree(counters)?;
    let rule = (0..STEPS).map(|step| divergent_warps(SECTION, |t| adds(step, t))).collect();
    let halves = (1..=STEPS).map(|step| u64::from(SECTION >> step)).sum();
    Ok(vec![
        Figure::stated(
            format!("steps for a section of {SECTION}"),
            Value::Count(9),
            Value::Count(STEPS.into()),
            Value::Count(tree.steps.len() as u64),
        ),
        Figure {
            what: "divergent warps, step by step".into(),
            text: divergent.map(Value::Steps),
            rule: Value::Steps(rule),
            computed: Value::Steps(tree.steps.iter().map(|step| step.divergent).collect()),
            because: None,
        },
        Figure::stated(
            "additions",
            Value::Count(511),
            Value::Count(halves),
            Value::Count(tree.steps.iter().map(|step| step.lanes).sum()),
        ),
        // The lanes of a warp stay within 32 neighbouring words.
        Figure::ruled("conflict degree, store / load", Value::Degrees(1, 1), degrees(counters)),
    ])
}

fn interleaved() -> Result<Vec<Figure>> {
    let counters = sums(&device(), &reduce_interleaved, SECTION as usize, SECTION)?;
    let mut figures = steps(&counters, None, |step, t| t.is_multiple_of(2 << step))?;
    let divergent = tree(&counters)?.steps.iter().filter(|step| step.divergent > 0).count();
    figures.push(Figure::stated(
        "steps in which a warp diverges",
        Value::Count(9),
        Value::Count(STEPS.into()),
        Value::Count(divergent as u64),
    ));
    Ok(figures)
}

fn sequential() -> Result<Vec<Figure>> {
    let counters = sums(&device(), &reduce_sequential, SECTION as usize, SECTION)?;
    let text = vec![0, 0, 0, 0, 1, 1, 1, 1, 1];
    let mut figures = steps(&counters, Some(text), |step, t| t < SECTION >> (step + 1))?;
    figures.push(Figure::ruled("barriers", Value::Count(u64::from(STEPS) + 1), Value::Count(counters.barriers)));
    Ok(figures)
}

fn over_a_grid() -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for (n, threads) in [(5000_usize, 512), (1 << 16, 256), (1, 64)] {
        let counters = sums(&device(), &reduce_sum_dynamic, n, threads)?;
        let blocks = n.div_ceil(threads as usize) as u64;
        let what = |what: &str| format!("{n} elements in blocks of {threads}: {what}");
        figures.push(Figure::stated(
            what("values that come back"),
            Value::Count(blocks),
            Value::Count(blocks),
            Value::Count(counters.total(Access::GlobalStore).lanes),
        ));
        figures.push(Figure::ruled(
            what("elements read, missing ones not among them"),
            Value::Count(n as u64),
            Value::Count(counters.total(Access::GlobalLoad).lanes),
        ));
    }
    Ok(figures)
}

/// Requests of shared memory besides those of the tree's first `steps` steps (two loads and a store for each warp that
/// adds), of the store of each warp at the start, and of the load of the first warp after these steps.
fn requests_after(counters: &Counters, steps: usize) -> Result<u64> {
    let all = counters.total(Access::SharedLoad).requests + counters.total(Access::SharedStore).requests;
    let active: u64 = tree(counters)?.steps.iter().take(steps).map(|step| step.active).sum();
    Ok(all - counters.warps - 3 * active - 1)
}

fn shuffle() -> Result<Vec<Figure>> {
    let device = device();
    let [by_shuffle, by_memory] =
        [&reduce_shuffle as &Sum, &reduce_sequential].map(|kernel| sums(&device, kernel, SECTION as usize, SECTION));
    let (by_shuffle, by_memory) = (by_shuffle?, by_memory?);
    let in_memory = STEPS - 5;
    Ok(vec![
        Figure::stated(
            format!("requests of shared memory in the last 5 of {STEPS} steps"),
            Value::Count(0),
            Value::Count(0),
            Value::Count(requests_after(&by_shuffle, in_memory as usize)?),
        ),
        // One warp adds in each: two loads and a store.
        Figure::ruled(
            "the same of C6",
            Value::Count(5 * 3),
            Value::Count(requests_after(&by_memory, in_memory as usize)?),
        ),
        Figure::ruled(
            "steps in shared memory",
            Value::Count(in_memory.into()),
            Value::Count(tree(&by_shuffle)?.steps.len() as u64),
        ),
        Figure::ruled("barriers", Value::Count(u64::from(in_memory) + 1), Value::Count(by_shuffle.barriers)),
    ])
}

/// Values of C9.
const VALUES: u32 = 8;

fn warps_of_two() -> Result<Vec<Figure>> {
    Ok(vec![
        active("halves first", &reduce_sequential, [2, 1, 1], |step, t| t < VALUES >> (step + 1))?,
        active("neighbours first", &reduce_interleaved, [4, 2, 1], |step, t| t.is_multiple_of(2 << step))?,
    ])
}

/// Warps of 2 threads that still add in each step of the sum of [`VALUES`] values; `adds` says whether a thread does,
/// by rule.
fn active(what: &str, kernel: &Sum, text: [u64; 3], adds: fn(u32, u32) -> bool) -> Result<Figure> {
    let counters = sums(&with_warps_of(2), kernel, VALUES as usize, VALUES)?;
    let rule = |step| (0..VALUES).step_by(2).filter(|t| adds(step, *t) || adds(step, t + 1)).count() as u64;
    Ok(Figure::stated(
        format!("{what}: warps active in steps 1, 2, 3"),
        Value::Steps(text.to_vec()),
        Value::Steps((0..VALUES.ilog2()).map(rule).collect()),
        Value::Steps(tree(&counters)?.steps.iter().map(|step| step.active).collect()),
    ))
}
