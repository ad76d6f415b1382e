//! A matrix product, on the GPU or, without one, on the simulator.

use ndarray::Array2;
use warpwright::{Device, Result};

fn main() -> Result<()> {
    let device = Device::best()?;
    let a = device.upload(&Array2::from_shape_fn((100, 200), |(i, k)| (i + k) as f32))?;
    let b = device.upload(&Array2::from_elem((200, 50), 0.5_f32))?;
    let c = device.matmul(&a, &b)?;
    println!("on {}:\n{:8.1}", device.name(), c.download()?);
    Ok(())
}
