//! The kernel writes its third parameter: `&mut` is needed.

use warpwright::gpu::ladder::vector_add::vector_add;
use warpwright::{Device, Launch, Result};

fn main() -> Result<()> {
    let device = Device::simulator();
    let grid = Launch::grid(1);
    let (x, y, z) = (device.alloc(64)?, device.alloc(64)?, device.alloc(64)?);
    device.launch(&vector_add, grid, (&x, &y, &z))?;
    Ok(())
}
