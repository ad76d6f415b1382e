//! A mixture of experts: tokens, sorted by expert, times the weights of their expert, in one launch. How many tokens an
//! expert has only the device knows.

use ndarray::Array2;
use warpwright::half::bf16;
use warpwright::{Device, Result};

fn main() -> Result<()> {
    let device = Device::best()?;
    let (tokens, experts, outputs, features) = (10, 4, 8, 16);

    // Rows of tokens, sorted by expert; weights as networks keep them, outputs × features.
    let x = Array2::from_shape_fn((tokens, features), |(token, _)| bf16::from_f32(token as f32));
    let weights: Vec<_> =
        (0..experts * outputs * features).map(|i| bf16::from_f32((i / (outputs * features) + 1) as f32)).collect();
    let (x, weights) = (device.upload(&x)?, device.upload(&weights)?);
    let weights = weights.view().as_tensor(&[experts, outputs, features])?;

    // Where each expert's tokens end: a kernel would count them. Expert 1 has none.
    let ends = device.upload(&[3_i32, 3, 9, 10])?;
    let mut y = device.alloc_matrix::<f32>(tokens, outputs)?;
    device.grouped_gemm(&x, weights, &ends).transpose_b().into(&mut y)?;
    println!("on {}, the first output of each token: {}", device.name(), y.download()?.column(0));

    let kernel = device.grouped_gemm(&x, weights, &ends).transpose_b().chosen(&y)?;
    println!("by {}", kernel.name);
    Ok(())
}
