//! Runs the kernels: on an NVIDIA GPU with `cargo run --features cuda`, else on the simulator.

use warpwright::prelude::*;

use {{kernels}}::{THREADS, block_sums, saxpy};

fn main() -> Result<()> {
    let device = Device::best()?;
    let n = 10_000;

    let x = device.upload(&vec![1.0_f32; n])?;
    let mut y = device.upload(&vec![2.0_f32; n])?;
    device.launch(&saxpy, Launch::cover(n, THREADS), (3.0, &x, &mut y))?;
    assert!(y.download()?.iter().all(|&y| y == 5.0));

    let numbers: Vec<u32> = (0..n as u32).collect();
    let blocks = n.div_ceil(THREADS as usize);
    let mut sums = device.alloc(blocks)?;
    device.launch(
        &block_sums,
        Launch::cover(n, THREADS),
        (&device.upload(&numbers)?, &mut sums),
    )?;
    let total: u32 = sums.download()?.iter().sum();

    println!(
        "on {}: 3 · 1 + 2 = {}, 0 + 1 + … + {} = {total}",
        device.name(),
        y.download()?[0],
        n - 1
    );
    Ok(())
}
