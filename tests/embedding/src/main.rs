//! Multiplies two matrices and compares every element with the reference.

use std::error::Error;

use warpwright::ndarray::Array2;
use warpwright::{Device, reference};

fn main() -> Result<(), Box<dyn Error>> {
    let (m, k, n) = (70, 100, 33);
    let a = Array2::from_shape_fn((m, k), |(i, j)| ((i * 7 + j * 3) as f32).sin());
    let b = Array2::from_shape_fn((k, n), |(i, j)| ((i * 5 + j) as f32).cos());

    let device = Device::best()?;
    let (left, right) = (device.upload(&a)?, device.upload(&b)?);
    let c = device.matmul(&left, &right)?.download()?;

    let verdict = reference::matmul(a.view(), b.view())?.check(&c)?;
    println!("{m} x {k} x {n} on {}: {verdict}", device.name());
    if verdict.passes() { Ok(()) } else { Err("the product is wrong".into()) }
}
