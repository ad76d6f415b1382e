//! The kernel takes three arguments.

use warpwright::gpu::elementwise::add::add_f32;
use warpwright::{Device, Launch, Result};

fn main() -> Result<()> {
    let device = Device::simulator();
    let (x, mut z) = (device.alloc::<f32>(64)?, device.alloc::<f32>(64)?);
    device.launch(&add_f32, Launch::grid(1), (&x, &x, &mut z, 64))?;
    Ok(())
}
