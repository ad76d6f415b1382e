//! Runs each kernel on large input and prints its time: on a GPU with the feature `cuda`, else on the simulator, where
//! the input is small. The results are checked in tests/properties.rs.

use std::time::Instant;

use own_kernels::{histogram, matmul, mma, saxpy, scan, softmax, stencil, transpose};
use warpwright::half::f16;
use warpwright::prelude::*;

/// Prints the median time of a call, from the launch to the end of the wait for the device, after one that loads the
/// kernel.
fn time(device: &Device, name: &str, mut launch: impl FnMut() -> Result<()>) -> Result<()> {
    let calls = if device.is_simulator() { 1 } else { 21 };
    let mut times = Vec::new();
    for _ in 0..=calls {
        let begin = Instant::now();
        launch()?;
        device.synchronize()?;
        times.push(begin.elapsed());
    }
    let times = &mut times[1..];
    times.sort();
    println!("{name:>10}  {:10.1} µs", times[calls / 2].as_secs_f64() * 1e6);
    Ok(())
}

/// Numbers below 2²⁴ in an order that looks random.
fn numbers(count: usize) -> impl Iterator<Item = u32> {
    (0..count as u32).map(|i| (i ^ i >> 15).wrapping_mul(0x2C1B_3C6D) >> 8)
}

/// Numbers from −1 to 1.
fn floats(count: usize) -> Vec<f32> {
    numbers(count).map(|x| x as f32 / 8_388_608.0 - 1.0).collect()
}

fn main() -> Result<()> {
    let device = Device::best()?;
    let (n, side) = if device.is_simulator() { (1 << 14, 128) } else { (1 << 24, 4096) };
    println!("on {}: {n} elements, {side} × {side} matrices", device.name());

    let x = device.upload(&floats(n))?;
    let mut y = device.upload(&floats(n))?;
    time(&device, "saxpy", || {
        device.launch(&saxpy::saxpy, Launch::cover(n, saxpy::THREADS), (3.0, &x, &mut y)).map(drop)
    })?;

    let bytes = device.upload(&numbers(n).map(|x| x % 256).collect::<Vec<u32>>())?;
    let mut counts = device.alloc_zeros(256)?;
    let blocks = n.div_ceil(histogram::ELEMENTS) as u32;
    time(&device, "histogram", || {
        device.launch(&histogram::histogram, Launch::grid(blocks), (&bytes, &mut counts)).map(drop)
    })?;

    let blocks = n.div_ceil(scan::TILE);
    let mut sums = device.alloc(n)?;
    time(&device, "scan", || {
        let mut status = device.alloc_zeros::<u64>(blocks + 1)?;
        device.launch(&scan::scan, Launch::grid(blocks as u32), (&bytes, &mut sums, &mut status)).map(drop)
    })?;

    let a = device.upload_matrix(&floats(side * side), side, side)?;
    let mut b = device.alloc_matrix(side, side)?;
    let tiles = |tile: u32| Launch::grid(((side as u32).div_ceil(tile), (side as u32).div_ceil(tile)));
    time(&device, "stencil", || device.launch(&stencil::stencil, tiles(stencil::TILE), (&a, &mut b)).map(drop))?;
    time(&device, "transpose", || {
        device.launch(&transpose::transpose::<f32>(), tiles(transpose::TILE), (&a, &mut b)).map(drop)
    })?;
    time(&device, "matmul", || device.launch(&matmul::matmul, tiles(matmul::TILE), (&a, &a, &mut b)).map(drop))?;
    let halves = device.upload_matrix(&vec![f16::from_f32(0.5); side * side], side, side)?;
    let mma_tiles = Launch::grid(((side as u32).div_ceil(mma::COLS), (side as u32).div_ceil(mma::ROWS)));
    time(&device, "mma", || device.launch(&mma::mma, mma_tiles, (&halves, &halves, &mut b)).map(drop))?;
    time(&device, "softmax", || device.launch(&softmax::softmax, Launch::grid(side as u32), (&a, &mut b)).map(drop))?;
    Ok(())
}
