//! The kernel adds `f32`, the buffer holds `f64`.

use warpwright::gpu::elementwise::add::add_f32;
use warpwright::{Device, Launch, Result};

fn main() -> Result<()> {
    let device = Device::simulator();
    let grid = Launch::grid(1);
    let x = device.alloc::<f64>(64)?;
    let (y, mut z) = (device.alloc(64)?, device.alloc(64)?);
    device.launch(&add_f32, grid, (&x, &y, &mut z))?;
    Ok(())
}
