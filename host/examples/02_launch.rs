//! Launches kernels directly: the compiler checks the arguments, `Device::launch` the geometry.
//!
//! The kernels are in the crate `gpu`; each file there documents the arguments and the grid of its kernel.

use warpwright::gpu::elementwise::add::{self, add_f32};
use warpwright::gpu::gemm::naive::{self, matmul_naive};
use warpwright::{Device, Launch, Layout, Matrix, Result};

fn main() -> Result<()> {
    let device = Device::best()?;

    // Vectors. The kernel's signature is `(x: VecRef<f32>, y: VecRef<f32>, z: VecMut<f32>)`: pass `&` for what it reads
    // and `&mut` for what it writes, with any number of elements.
    let n = 1003;
    let x = device.upload(&vec![1.0_f32; n])?;
    let y = device.upload(&(0..n).map(|i| i as f32).collect::<Vec<_>>())?;
    let mut z = device.alloc(n)?;
    device.launch(&add_f32, Launch::grid(add::grid(n)), (&x, &y, &mut z))?;
    println!("z ends with {:?}", z.slice(n - 3..n)?.download()?);

    // Matrices in a larger buffer: a leading dimension above the number of columns, and an offset.
    let (m, k, n) = (5, 4, 3);
    let layout = Layout::contiguous(m, k).ld(10).offset(2);
    let a = Matrix::from_buffer(device.upload(&[2.0_f32; 60])?, layout)?;
    let b = device.upload_matrix(&[0.5_f32; 12], k, n)?;
    let mut c = device.alloc_matrix(m, n)?;
    device.launch(&matmul_naive, Launch::grid(naive::grid(m as u32, n as u32)), (&a, &b, &mut c))?;
    println!("c =\n{}", c.download()?);

    // Views of parts of a matrix: recomputes one row of `c` from another row of `a`.
    let row = c.block_mut(0..1, 0..n)?;
    device.launch(&matmul_naive, Launch::grid(naive::grid(1, n as u32)), (a.block(4..5, 0..k)?, &b, row))?;
    println!("its new first row: {}", c.block(0..1, 0..n)?.download()?);
    Ok(())
}
