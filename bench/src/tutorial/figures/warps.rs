//! C1 to C4: the warps of a block, and where they diverge. (C5 to C9: `sections`.)

mod sections;

use anyhow::{Context as _, Result, ensure};
use gpu::lab::tutorial::vector_add::{self, vector_add};
use gpu::lab::tutorial::warps::color_to_gray::{self, color_to_gray};
use gpu::lab::tutorial::warps::divergent_branch::{self, divergent_branch};
use gpu::lab::tutorial::warps::partition::warp_partition;
use warpwright::Launch;
use warpwright::simulator::Counters;

use super::counted::{branches, count, device, divergent_warps};
use super::{Figure, Row, Value};

/// The rows.
pub fn rows() -> Vec<Row> {
    let mut rows = vec![
        Row {
            id: "C1",
            kernels: &["warp_partition"],
            idea: "threads are dealt to warps x fastest, then y, then z",
            figures: partition,
        },
        Row {
            id: "C2",
            kernels: &["divergent_branch"],
            idea: "a branch costs both sides only where it divides a warp",
            figures: divergent,
        },
        Row {
            id: "C3",
            kernels: &["vector_add"],
            idea: "the guard at the end of the data divides one warp",
            figures: guard,
        },
        Row {
            id: "C4",
            kernels: &["color_to_gray"],
            idea: "in two dimensions the guard divides the warps along the edges",
            figures: picture,
        },
    ];
    rows.extend(sections::rows());
    rows
}

/// A block's partition into warps.
struct Partition {
    block: [u32; 3],
    counters: Counters,
    /// Warp of each thread, x fastest.
    warps: Vec<u32>,
}

impl Partition {
    fn of(block: [u32; 3]) -> Result<Self> {
        let device = device();
        let threads = block.iter().product::<u32>() as usize;
        let (mut warps, mut lanes) = (device.alloc(threads)?, device.alloc(threads)?);
        let launch = Launch::grid(1).block(block);
        let counters = count(&device, &warp_partition, launch, (&mut warps, &mut lanes))?;
        Ok(Self { block, counters, warps: warps.download()? })
    }

    /// Place of thread number `index`, as (z, y, x).
    fn place(&self, index: usize) -> Value {
        let [x, y, _] = self.block.map(|extent| extent as usize);
        Value::Steps([index / (x * y), index / x % y, index % x].map(|at| at as u64).to_vec())
    }

    fn first_of(&self, warp: u32) -> Result<Value> {
        let index = self.warps.iter().position(|of| *of == warp);
        Ok(self.place(index.with_context(|| format!("no thread is in warp {warp}"))?))
    }

    fn last_of(&self, warp: u32) -> Result<Value> {
        let index = self.warps.iter().rposition(|of| *of == warp);
        Ok(self.place(index.with_context(|| format!("no thread is in warp {warp}"))?))
    }

    fn lanes_of(&self, warp: u32) -> Value {
        Value::Count(self.warps.iter().filter(|of| **of == warp).count() as u64)
    }
}

fn partition() -> Result<Vec<Figure>> {
    let row = Partition::of([48, 1, 1])?;
    let square = Partition::of([8, 8, 1])?;
    let cuboid = Partition::of([4, 8, 2])?;
    let place = |z, y, x| Value::Steps(vec![z, y, x]);
    let [warp, row_threads, cuboid_threads] = [32, 48_u64, 4 * 8 * 2];
    Ok(vec![
        Figure::stated(
            "48 threads: warps",
            Value::Count(2),
            Value::Count(row_threads.div_ceil(warp)),
            Value::Count(row.counters.warps),
        ),
        Figure::stated("48 threads: of warp 1", Value::Count(16), Value::Count(row_threads - warp), row.lanes_of(1)),
        Figure::stated("8 x 8: first of warp 0 (z, y, x)", place(0, 0, 0), square.place(0), square.first_of(0)?),
        Figure::stated("8 x 8: last of warp 0 (z, y, x)", place(0, 3, 7), square.place(31), square.last_of(0)?),
        Figure::stated("8 x 8: first of warp 1 (z, y, x)", place(0, 4, 0), square.place(32), square.first_of(1)?),
        Figure::stated("8 x 8: last of warp 1 (z, y, x)", place(0, 7, 7), square.place(63), square.last_of(1)?),
        Figure::stated(
            "4 x 8 x 2: warps",
            Value::Count(2),
            Value::Count(cuboid_threads.div_ceil(warp)),
            Value::Count(cuboid.counters.warps),
        ),
        Figure::stated("4 x 8 x 2: last of warp 0 (z, y, x)", place(0, 7, 3), cuboid.place(31), cuboid.last_of(0)?),
    ])
}

fn divergent() -> Result<Vec<Figure>> {
    let figure = |(threshold, text): (u32, Option<u64>)| {
        let device = device();
        let block = divergent_branch::BLOCK;
        let mut out = device.alloc(block as usize)?;
        let launch = Launch::grid(divergent_branch::grid(block as usize));
        let counters = count(&device, &divergent_branch, launch, (threshold, &mut out))?;
        let computed: u64 = branches(&counters).iter().map(|branch| branch.divergent).sum();
        let rule = divergent_warps(block, |t| t > threshold);
        Ok(Figure {
            what: format!("tx > {threshold}: divergent warps of {}", counters.warps),
            text: text.map(Value::Count),
            rule: Value::Count(rule),
            computed: Value::Count(computed),
            because: None,
        })
    };
    [(15, Some(1)), (31, Some(0)), (32, None), (62, None), (63, None)].into_iter().map(figure).collect()
}

/// Blocks, warps launched, warps that hold data, divergent warps.
#[derive(Clone, Copy)]
struct Census {
    blocks: u64,
    warps: u64,
    with_data: u64,
    divergent: u64,
}

impl Census {
    fn of(counters: &Counters, warps_per_block: u64) -> Result<Self> {
        let branches = branches(counters);
        let [guard] = branches[..] else { anyhow::bail!("one branch expected, not {}", branches.len()) };
        ensure!(guard.steps.len() == 1, "a warp meets the guard once, not {} times", guard.steps.len());
        Ok(Self {
            blocks: counters.warps / warps_per_block,
            warps: counters.warps,
            with_data: guard.steps[0].active,
            divergent: guard.divergent,
        })
    }
}

/// Why the text counts fewer warps of 10 000 elements.
const WITH_DATA: &str =
    "the text counts the warps that hold data; the last of the 157 blocks has a second warp without";

fn guard() -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    // Blocks and warps as the text states them.
    for (n, blocks, warps) in
        [(1003, Some(16), Some(32)), (100, None, Some(4)), (1000, None, Some(32)), (10_000, None, Some(313))]
    {
        let device = device();
        let (x, y) = (device.alloc_zeros(n)?, device.alloc_zeros(n)?);
        let mut z = device.alloc(n)?;
        let counters = count(&device, &vector_add, Launch::grid(vector_add::grid(n)), (&x, &y, &mut z))?;
        let census = Census::of(&counters, u64::from(vector_add::BLOCK / 32))?;
        let rule = Census {
            blocks: n.div_ceil(64) as u64,
            warps: 2 * n.div_ceil(64) as u64,
            with_data: n.div_ceil(32) as u64,
            divergent: u64::from(n % 32 != 0),
        };
        let figure = |what: &str, text: Option<u64>, rule: u64, computed: u64| Figure {
            what: format!("{n} elements: {what}"),
            text: text.map(Value::Count),
            rule: Value::Count(rule),
            computed: Value::Count(computed),
            because: (text.is_some_and(|text| text != rule)).then_some(WITH_DATA),
        };
        figures.push(figure("blocks", blocks, rule.blocks, census.blocks));
        figures.push(figure("warps", warps, rule.warps, census.warps));
        figures.push(figure("warps that hold data", None, rule.with_data, census.with_data));
        figures.push(figure("divergent warps", Some(1), rule.divergent, census.divergent));
    }
    Ok(figures)
}

/// Why the text counts more divergent warps of a picture of 200 × 150.
const CORNER: &str = "the text counts all 8 warps of the corner block: 3 are partly inside, 5 wholly outside";

fn picture() -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    // Width and height; blocks, warps and divergent warps as the text states them.
    for (width, height, text) in [(76, 62, Some([20, 160, 31])), (200, 150, Some([130, 1040, 80])), (37, 21, None)] {
        let device = device();
        let pixels = (width * height) as usize;
        let rgb = device.upload(&vec![0_u8; 3 * pixels])?;
        let mut gray = device.alloc_matrix(height as usize, width as usize)?;
        let launch = Launch::grid(color_to_gray::grid(height, width));
        let counters = count(&device, &color_to_gray, launch, (&rgb, &mut gray))?;
        let census = Census::of(&counters, 8)?;
        let blocks = u64::from(width.div_ceil(16) * height.div_ceil(16));
        // A warp is two rows of 16 pixels. Those in the last column of blocks are divided where the width is no
        // multiple of 16; a last single row divides the others, too.
        let right_edge = u64::from(!width.is_multiple_of(16)) * u64::from(height.div_ceil(2));
        let last_row = u64::from(height % 2) * u64::from(width / 16);
        let rule = [blocks, 8 * blocks, right_edge + last_row];
        let computed = [census.blocks, census.warps, census.divergent];
        for (i, what) in ["blocks", "warps", "divergent warps"].into_iter().enumerate() {
            let text = text.map(|text| text[i]);
            figures.push(Figure {
                what: format!("{width} x {height}: {what}"),
                text: text.map(Value::Count),
                rule: Value::Count(rule[i]),
                computed: Value::Count(computed[i]),
                because: text.is_some_and(|text| text != rule[i]).then_some(CORNER),
            });
        }
    }
    Ok(figures)
}
