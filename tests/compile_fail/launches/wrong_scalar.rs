//! A scalar parameter takes a number of exactly its type.

use simt::prelude::*;
use warpwright::{Device, Launch, Result};

#[kernel(block = (64))]
pub fn scale(factor: f32, x: VecMut<f32>) {
    let i = index_1d();
    if i < x.len() {
        x.set(i, factor * x.get(i));
    }
}

fn main() -> Result<()> {
    let device = Device::simulator();
    let mut x = device.alloc(64)?;
    device.launch(&scale, Launch::grid(1), (2_u32, &mut x))?;
    Ok(())
}
