//! A tensor borrowed for reading, for a tensor map that the kernel stores through.

use warpwright::gpu::lab::instructions_sm90::tma_copy::tma_copy;
use warpwright::simt::tma::Swizzle;
use warpwright::{Device, Launch};

fn main() -> Result<(), warpwright::Error> {
    let device = Device::simulator();
    let (x, y) = (device.alloc_matrix::<f32>(32, 32)?, device.alloc_matrix::<f32>(32, 32)?);
    let (x, y) = (x.view().tma(32, 32, Swizzle::None)?, y.view().tma(32, 32, Swizzle::None)?);
    device.launch(&tma_copy, Launch::grid(1), (x, y, 32, 32))?;
    Ok(())
}
