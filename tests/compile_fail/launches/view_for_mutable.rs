//! The kernel writes its third parameter: `&mut` is needed.

use warpwright::gpu::elementwise::add::add_f32;
use warpwright::{Device, Launch, Result};

fn main() -> Result<()> {
    let device = Device::simulator();
    let grid = Launch::grid(1);
    let (x, y, z) = (device.alloc(64)?, device.alloc(64)?, device.alloc(64)?);
    device.launch(&add_f32, grid, (&x, &y, &z))?;
    Ok(())
}
