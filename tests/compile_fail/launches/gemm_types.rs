//! The type of C must match the product, and GELU does not support `f64`.

use warpwright::Device;

fn main() -> warpwright::Result<()> {
    let device = Device::simulator();
    let doubles = device.alloc_matrix_zeros::<f64>(4, 4)?;
    device.gemm(&doubles, &doubles).gelu().run()?;
    let mut c = device.alloc_matrix_zeros::<f32>(4, 4)?;
    device.gemm(&doubles, &doubles).into(&mut c)
}
