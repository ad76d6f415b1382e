//! Runs each kernel once on large input and prints its time: on a GPU with the feature `cuda`, else on the simulator,
//! where the input is small. The results are checked in tests/properties.rs.

use std::time::Instant;

use own_kernels::{histogram, matmul, saxpy, scan, softmax, stencil, transpose};
use warpwright::prelude::*;

/// Runs `launch` twice, the first time to load the kernel, and prints the time of the second.
fn time(device: &Device, name: &str, mut launch: impl FnMut() -> Result<()>) -> Result<()> {
    launch()?;
    device.synchronize()?;
    let begin = Instant::now();
    launch()?;
    device.synchronize()?;
    println!("{name:>10}  {:10.1} µs", begin.elapsed().as_secs_f64() * 1e6);
    Ok(())
}

fn main() -> Result<()> {
    let device = Device::best()?;
    let (n, side) = if device.is_simulator() { (1 << 14, 128) } else { (1 << 24, 4096) };
    println!("on {}: {n} elements, {side} × {side} matrices", device.name());

    let x = device.upload(&vec![1.0_f32; n])?;
    let mut y = device.upload(&vec![2.0_f32; n])?;
    time(&device, "saxpy", || {
        device.launch(&saxpy::saxpy, Launch::cover(n, saxpy::THREADS), (3.0, &x, &mut y)).map(drop)
    })?;

    let bytes = device.upload(&(0..n as u32).map(|i| i % 251).collect::<Vec<u32>>())?;
    let mut counts = device.alloc_zeros(256)?;
    let blocks = n.div_ceil(histogram::ELEMENTS) as u32;
    time(&device, "histogram", || {
        device.launch(&histogram::histogram, Launch::grid(blocks), (&bytes, &mut counts)).map(drop)
    })?;

    let blocks = n.div_ceil(scan::THREADS as usize);
    let mut sums = device.alloc(n)?;
    time(&device, "scan", || {
        let mut status = device.alloc_zeros::<u64>(blocks + 1)?;
        device.launch(&scan::scan, Launch::grid(blocks as u32), (&bytes, &mut sums, &mut status)).map(drop)
    })?;

    let a = device.upload_matrix(&vec![0.5_f32; side * side], side, side)?;
    let mut b = device.alloc_matrix(side, side)?;
    let tiles = |tile: u32| Launch::grid(((side as u32).div_ceil(tile), (side as u32).div_ceil(tile)));
    time(&device, "stencil", || device.launch(&stencil::stencil, tiles(stencil::TILE), (&a, &mut b)).map(drop))?;
    time(&device, "transpose", || {
        device.launch(&transpose::transpose, tiles(transpose::TILE), (&a, &mut b)).map(drop)
    })?;
    time(&device, "matmul", || device.launch(&matmul::matmul, tiles(matmul::TILE), (&a, &a, &mut b)).map(drop))?;
    time(&device, "softmax", || device.launch(&softmax::softmax, Launch::grid(side as u32), (&a, &mut b)).map(drop))?;
    Ok(())
}
