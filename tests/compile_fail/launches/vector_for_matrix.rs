//! The kernel takes a matrix, not a vector.

use warpwright::gpu::gemm::tiled::matmul_tiled;
use warpwright::{Device, Launch, Result};

fn main() -> Result<()> {
    let device = Device::simulator();
    let grid = Launch::grid(1);
    let (a, b, mut c) = (device.alloc(64)?, device.alloc_matrix(8, 8)?, device.alloc_matrix(8, 8)?);
    device.launch(&matmul_tiled, grid, (&a, &b, &mut c))?;
    Ok(())
}
