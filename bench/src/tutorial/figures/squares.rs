//! B1 to B3: values that come back, divergence, and cycles of the sums of squares.

use anyhow::{Result, ensure};
use gpu::lab::tutorial::squares::partials::sum_squares_partials;
use gpu::lab::tutorial::squares::thread0::sum_squares_thread0;
use gpu::lab::tutorial::squares::tree_mask::sum_squares_tree_mask;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use simt::Kernel;
use simt::global::{VecMut, VecRef};
use warpwright::Launch;
use warpwright::simulator::{Access, Counters};

use super::counted::{branches, count, degrees, device, divergent_warps};
use super::{Figure, Row, Value};

/// Elements, blocks and threads per block of the texts.
const N: usize = 1 << 20;
const BLOCKS: u32 = 32;
const THREADS: u32 = 256;

/// The rows.
pub fn rows() -> Vec<Row> {
    vec![
        Row {
            id: "B1",
            kernels: &["sum_squares_partials"],
            idea: "each thread sums every 8192nd element, the host adds what comes back",
            figures: partials,
        },
        Row {
            id: "B2",
            kernels: &["sum_squares_thread0"],
            idea: "one thread per block adds the block's partial sums",
            figures: thread0,
        },
        Row {
            id: "B3",
            kernels: &["sum_squares_tree_mask"],
            idea: "a tree adds them, by threads ever further apart",
            figures: tree_mask,
        },
    ]
}

type Squares = Kernel<(VecRef<'static, i32>, VecMut<'static, i32>, VecMut<'static, u64>)>;

/// What a launch of the texts' shape counted and took.
struct Run {
    counters: Counters,
    /// Values that the kernel wrote for the host to add.
    values: u64,
    /// From the first block's start to the last one's end, in steps of the blocks' logical clocks.
    cycles: u64,
}

/// Launches for `values` sums. `shared_elements` is what the launch reserves.
fn run(kernel: &Squares, values: u32, shared_elements: Option<u32>) -> Result<Run> {
    let device = device();
    let mut rng = StdRng::seed_from_u64(1);
    let input: Vec<i32> = (0..N).map(|_| rng.random()).collect();
    let x = device.upload(&input)?;
    // One more than is written, so that a value too many would show.
    let mut sums = device.upload(&vec![0_i32; values as usize + 1])?;
    let mut time = device.alloc(2 * BLOCKS as usize)?;
    let mut launch = Launch::grid(BLOCKS).block(THREADS);
    if let Some(elements) = shared_elements {
        launch = launch.shared_elements(elements as usize);
    }
    let counters = count(&device, kernel, launch, (&x, &mut sums, &mut time))?;
    let expected = input.iter().fold(0_i32, |sum, x| sum.wrapping_add(x.wrapping_mul(*x)));
    let got = sums.download()?.into_iter().fold(0_i32, i32::wrapping_add);
    ensure!(got == expected, "{}: the sum is {got}, expected {expected}", kernel.info().name);
    let time = time.download()?;
    let (starts, ends) = time.split_at(BLOCKS as usize);
    let cycles = ends.iter().max().zip(starts.iter().min()).map_or(0, |(end, start)| end - start);
    // What is not a time is a sum.
    let values = counters.total(Access::GlobalStore).lanes - time.len() as u64;
    Ok(Run { counters, values, cycles })
}

fn values(run: &Run, text: u32) -> Figure {
    let rule = if text == BLOCKS { BLOCKS } else { BLOCKS * THREADS };
    Figure::stated(
        format!("values that come back, {BLOCKS} blocks of {THREADS}"),
        Value::Count(text.into()),
        Value::Count(rule.into()),
        Value::Count(run.values),
    )
}

/// The logical clock takes a step for each access of a thread, and for each thread that arrives at a barrier. All
/// blocks do the same and start at 0; `block_steps` are those after a thread has its partial sum.
fn cycles(run: &Run, block_steps: u64) -> Figure {
    let (start, loads) = (1, N as u64 / u64::from(BLOCKS));
    Figure::ruled(
        format!("steps of the logical clock from first start to last end, {N} elements"),
        Value::Count(start + loads + block_steps),
        Value::Count(run.cycles),
    )
}

/// A block's threads.
const T: u64 = THREADS as u64;

fn partials() -> Result<Vec<Figure>> {
    let run = run(&sum_squares_partials, BLOCKS * THREADS, None)?;
    // Each thread stores its sum and arrives at the barrier.
    Ok(vec![values(&run, 8192), cycles(&run, T + T)])
}

fn thread0() -> Result<Vec<Figure>> {
    let run = run(&sum_squares_thread0, BLOCKS, Some(THREADS))?;
    // Each thread stores its sum and arrives; thread 0 loads them all, and stores one.
    Ok(vec![values(&run, 32), cycles(&run, T + T + T + 1)])
}

fn tree_mask() -> Result<Vec<Figure>> {
    let run = run(&sum_squares_tree_mask, BLOCKS, Some(THREADS))?;
    let steps = u64::from(THREADS.ilog2());
    let branches = branches(&run.counters);
    ensure!(branches.len() == 2, "two branches expected, the tree's and the result's, not {}", branches.len());
    let divergent: Vec<u64> = branches[0].steps.iter().map(|step| step.divergent / u64::from(BLOCKS)).collect();
    let rule = |step: u32| divergent_warps(THREADS, |t| t.is_multiple_of(2_u32 << step));
    Ok(vec![
        values(&run, 32),
        Figure::stated(
            "steps in which a warp diverges",
            Value::Count(8),
            Value::Count(steps),
            Value::Count(divergent.iter().filter(|warps| **warps > 0).count() as u64),
        ),
        Figure::ruled(
            "divergent warps of a block, step by step",
            Value::Steps((0..THREADS.ilog2()).map(rule).collect()),
            Value::Steps(divergent),
        ),
        // The lanes of a warp stay within 32 neighbouring words.
        Figure::ruled("conflict degree, store / load", Value::Degrees(1, 1), degrees(&run.counters)),
        // Each thread stores its sum and arrives, once more in each step; an addition is two loads and a store; thread
        // 0 loads the result and stores it.
        cycles(&run, T + T + steps * T + 3 * (T - 1) + 2),
    ])
}
