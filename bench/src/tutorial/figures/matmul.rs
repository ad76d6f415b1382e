//! A1 to A5: loads of global memory by the products of matrices, and the bound that follows.

use anyhow::Result;
use gpu::gemm::naive::{self, matmul_naive};
use gpu::gemm::tiled::{self, matmul_tiled};
use gpu::lab::tutorial::matmul::block_tiled::{self, matmul_block_tiled};
use gpu::lab::tutorial::matmul::single_block::matmul_single_block;
use simt::Kernel;
use simt::global::{MatMut, MatRef};
use warpwright::Launch;
use warpwright::simulator::{Access, Counters};

use super::counted::{count, device};
use super::roofline::Roofline;
use super::{Figure, Row, Value};

/// The rows.
pub fn rows() -> Vec<Row> {
    vec![
        Row {
            id: "A1",
            kernels: &["matmul_single_block"],
            idea: "a thread for each element of the product, in one block",
            figures: single_block,
        },
        Row { id: "A2", kernels: &["matmul_naive"], idea: "a grid of blocks, matrices of any size", figures: naive },
        Row {
            id: "A3",
            kernels: &["matmul_tiled"],
            idea: "what a block reads twice it keeps in shared memory",
            figures: tiled,
        },
        Row {
            id: "A4",
            kernels: &["matmul_block_tiled"],
            idea: "several outputs per thread: what a thread reads twice it keeps in registers",
            figures: block_tiled,
        },
        Row {
            id: "A5",
            kernels: &["matmul_naive"],
            idea: "bytes per operation and the device decide what is possible",
            figures: roofline,
        },
    ]
}

type Gemm = Kernel<(MatRef<'static, f32>, MatRef<'static, f32>, MatMut<'static, f32>)>;

/// m, n, k.
type Shape = [usize; 3];

/// What a product of m × k and k × n counts.
fn product(kernel: &Gemm, launch: Launch<'_>, [m, n, k]: Shape) -> Result<Counters> {
    let device = device();
    let (a, b) = (device.alloc_matrix_zeros(m, k)?, device.alloc_matrix_zeros(k, n)?);
    let mut c = device.alloc_matrix(m, n)?;
    count(&device, kernel, launch, (&a, &b, &mut c))
}

/// [`product`] with a thread or a block for each part of C.
fn on_grid(kernel: &Gemm, grid: fn(u32, u32) -> [u32; 3], shape: Shape) -> Result<Counters> {
    product(kernel, Launch::grid(grid(shape[0] as u32, shape[1] as u32)), shape)
}

/// Elements loaded from global memory, over all threads.
fn loads(counters: &Counters) -> u64 {
    counters.total(Access::GlobalLoad).lanes
}

fn words([m, n, k]: Shape) -> String {
    format!("m {m}, n {n}, k {k}")
}

fn single_block() -> Result<Vec<Figure>> {
    let figure = |width: usize| {
        let edge = width as u32;
        let counters = product(&matmul_single_block, Launch::grid(1).block((edge, edge)), [width; 3])?;
        let threads = (width * width) as u64;
        let rule = Value::Count(2 * width as u64);
        let what = format!("loads per thread, W = {width}");
        Ok(Figure::stated(what, rule.clone(), rule, Value::Count(loads(&counters) / threads)))
    };
    [8, 16, 32].into_iter().map(figure).collect()
}

fn naive() -> Result<Vec<Figure>> {
    let figure = |shape: Shape| {
        let counters = on_grid(&matmul_naive, naive::grid, shape)?;
        let rule = Value::Count(2 * shape.iter().product::<usize>() as u64);
        Ok(Figure::stated(format!("loads, {}", words(shape)), rule.clone(), rule, Value::Count(loads(&counters))))
    };
    [[64, 96, 128], [100, 70, 33]].into_iter().map(figure).collect()
}

fn tiled() -> Result<Vec<Figure>> {
    let shape @ [m, n, k] = [96, 128, 64];
    let tile = tiled::TILE as usize;
    let (before, after) = (on_grid(&matmul_naive, naive::grid, shape)?, on_grid(&matmul_tiled, tiled::grid, shape)?);
    let barriers = 2 * (m / tile) * (n / tile) * (k / tile);
    Ok(vec![
        Figure::stated(
            format!("loads of A2 over loads of A3, {}", words(shape)),
            Value::Count(32),
            Value::Count(tiled::TILE.into()),
            Value::Count(loads(&before) / loads(&after)),
        ),
        Figure::ruled(
            format!("loads of A3, {}", words(shape)),
            Value::Count((m * k * (n / tile) + k * n * (m / tile)) as u64),
            Value::Count(loads(&after)),
        ),
        Figure::stated(
            format!("barriers, two per tile and block, {}", words(shape)),
            Value::Count(barriers as u64),
            Value::Count(barriers as u64),
            Value::Count(after.barriers),
        ),
    ])
}

/// M·N·K·(1/Bm + 1/Bn) where the tiles fit.
fn block_tiled() -> Result<Vec<Figure>> {
    let tile = block_tiled::TILE as usize;
    let mut figures = Vec::new();
    for shape @ [m, n, k] in [[512, 512, 512], [256, 128, 40]] {
        let counters = on_grid(&matmul_block_tiled, block_tiled::grid, shape)?;
        let rule = Value::Count((m * n * k / tile + m * n * k / tile) as u64);
        let loaded = Value::Count(loads(&counters));
        figures.push(Figure::stated(format!("loads, {}", words(shape)), rule.clone(), rule, loaded));
        if shape == [512; 3] {
            let warps = u64::from(block_tiled::THREADS / 32);
            figures.push(Figure::stated(
                format!("blocks, {}", words(shape)),
                Value::Count(4 * 4),
                Value::Count((m.div_ceil(tile) * n.div_ceil(tile)) as u64),
                Value::Count(counters.warps / warps),
            ));
        }
    }
    Ok(figures)
}

/// The device of the text.
const DEVICE: Roofline = Roofline { peak: 346.5e9, bandwidth: 86.4e9 };

/// Bounds on [`DEVICE`], from the bytes that the counters saw loaded for the 2·m·n·k operations of a product.
fn roofline() -> Result<Vec<Figure>> {
    let shape = [64, 64, 96];
    let operations = 2 * shape.iter().product::<usize>();
    let bound = |counters: &Counters| {
        let intensity = operations as f64 / counters.bytes(Access::GlobalLoad) as f64;
        Value::Gflops(DEVICE.bound(intensity) / 1e9)
    };
    let (naive, tiled) = (on_grid(&matmul_naive, naive::grid, shape)?, on_grid(&matmul_tiled, tiled::grid, shape)?);
    Ok(vec![
        Figure::stated(
            "bytes loaded by A2 per operation",
            Value::Count(4),
            Value::Count(4),
            Value::Count(naive.bytes(Access::GlobalLoad) / operations as u64),
        ),
        Figure::stated(
            "bound of A2 at 346.5 GFLOP/s and 86.4 GB/s",
            Value::Gflops(21.6),
            Value::Gflops(86.4 / 4.0),
            bound(&naive),
        ),
        // 32 times fewer bytes: 691.2 GFLOP/s worth of operands, more than the device computes.
        Figure::ruled("bound of A3 there: arithmetic decides", Value::Gflops(346.5), bound(&tiled)),
    ])
}
