//! The kernel takes three arguments.

use warpwright::gpu::ladder::vector_add::vector_add;
use warpwright::{Device, Launch, Result};

fn main() -> Result<()> {
    let device = Device::simulator();
    let grid = Launch::grid(1);
    let (x, mut z) = (device.alloc::<f32>(64)?, device.alloc::<f32>(64)?);
    device.launch(&vector_add, grid, (&x, &mut z))?;
    Ok(())
}
