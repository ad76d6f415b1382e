//! A slice of host memory is not a device buffer.

use warpwright::gpu::elementwise::add::add_f32;
use warpwright::{Device, Launch, Result};

fn main() -> Result<()> {
    let device = Device::simulator();
    let grid = Launch::grid(1);
    let (x, mut z) = (device.alloc(64)?, device.alloc(64)?);
    device.launch(&add_f32, grid, (&x, &[0.0_f32; 64], &mut z))?;
    Ok(())
}
