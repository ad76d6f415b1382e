//! GEMM as in BLAS: a layer of a network, batches, column-major operands, split-K with a workspace.

use ndarray::Array2;
use warpwright::gemm::Algorithm;
use warpwright::half::bf16;
use warpwright::{Device, Result};

fn main() -> Result<()> {
    let device = Device::best()?;

    // y = gelu(x·Wᵀ + bias) in bf16: 4 inputs of 64 numbers, 8 outputs.
    let x = device.upload(&Array2::from_shape_fn((4, 64), |(i, j)| bf16::from_f32((i + j) as f32 / 64.0)))?;
    let w =
        device.upload(&Array2::from_shape_fn((8, 64), |(i, j)| bf16::from_f32(((i * j) % 7) as f32 / 32.0 - 0.1)))?;
    let bias = device.upload(&[0.5_f32; 8])?;
    let y = device.gemm(&x, &w).transpose_b().bias(&bias).gelu().run_wide()?;
    println!("on {}:\n{:6.3}", device.name(), y.download()?);

    // A batch of three products with the same B, added to C, on a stream.
    let stream = device.stream()?;
    let a = device.upload(&(0..3 * 2 * 4).map(|i| i as f32).collect::<Vec<_>>())?;
    let b = device.upload(&Array2::<f32>::eye(4))?;
    let mut c = device.upload(&[100.0_f32; 3 * 2 * 4])?;
    let batch = a.view().as_tensor(&[3, 2, 4])?;
    device.gemm(batch, &b).beta(1.0).stream(&stream).into(c.view_mut().as_tensor(&[3, 2, 4])?)?;
    println!("the last of a batch: {:?}", &c.download()?[16..]);

    // Column-major: the elements of a column are contiguous, columns are ld = 5 elements apart.
    let columns = device.upload(&(0..15).map(f64::from).collect::<Vec<_>>())?;
    let columns = columns.view().as_tensor_strided(&[4, 3], &[1, 5])?;
    println!("XᵀX:\n{}", device.gemm(columns, columns).transpose_a().run()?.download()?);

    // A long sum for few elements: the possible algorithms, and one of them with its workspace.
    let (row, column) = (
        device.upload(&Array2::from_elem((1, 4096), 0.5_f32))?,
        device.upload(&Array2::from_elem((4096, 1), 2.0_f32))?,
    );
    let mut dot = device.alloc_matrix::<f32>(1, 1)?;
    let product = || device.gemm(&row, &column);
    for plan in product().plans(&dot)?.iter().take(3) {
        println!("{}: {} elements of workspace, cost {:.2e}", plan.algorithm(), plan.workspace_len(), plan.cost());
    }
    let algorithm = Algorithm::of(warpwright::gpu::gemm::reference::gemm_reference_f32.info()).split_k(16);
    let mut workspace = device.alloc(16)?;
    product().algorithm(algorithm).workspace(&mut workspace).into(&mut dot)?;
    println!("{algorithm}: {}", dot.download()?);
    Ok(())
}
