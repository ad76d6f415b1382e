//! A field of the struct is an `f32` vector, the buffer holds `f64`.

use simt::KernelArg;
use simt::prelude::*;
use warpwright::{Device, Fields, Launch, Result};

#[repr(C)]
#[derive(Clone, Copy, KernelArg)]
pub struct Operands<'a> {
    factor: f32,
    x: VecMut<'a, f32>,
}

#[kernel(block = (64))]
pub fn scale(operands: Operands) {
    let i = index_1d();
    if i < operands.x.len() {
        operands.x.set(i, operands.factor * operands.x.get(i));
    }
}

fn main() -> Result<()> {
    let device = Device::simulator();
    let mut x = device.alloc::<f64>(64)?;
    device.launch(&scale, Launch::grid(1), (Fields((2.0, &mut x)),))?;
    Ok(())
}
