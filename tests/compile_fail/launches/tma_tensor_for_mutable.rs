//! A tensor borrowed for reading, for a tensor map that the kernel stores through.

use simt::prelude::*;
use simt::tma::{Swizzle, TensorMap, TensorMapMut, prefetch};
use warpwright::{Device, Launch};

#[kernel(block = 64)]
pub fn tma_copy(x: &TensorMap<f32>, _y: &TensorMapMut<f32>, _cols_in_box: u32, _rows_in_box: u32) {
    prefetch(x);
}

fn main() -> Result<(), warpwright::Error> {
    let device = Device::simulator();
    let (x, y) = (device.alloc_matrix::<f32>(32, 32)?, device.alloc_matrix::<f32>(32, 32)?);
    let (x, y) = (x.view().tma(32, 32, Swizzle::None)?, y.view().tma(32, 32, Swizzle::None)?);
    device.launch(&tma_copy, Launch::grid(1), (x, y, 32, 32))?;
    Ok(())
}
