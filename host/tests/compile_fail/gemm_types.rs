//! C has a type that takes the product, and GELU is not for `f64`.

use warpwright::Device;

fn main() -> warpwright::Result<()> {
    let device = Device::simulator();
    let doubles = device.alloc_matrix_zeros::<f64>(4, 4)?;
    device.gemm(&doubles, &doubles).gelu().run()?;
    let mut c = device.alloc_matrix_zeros::<f32>(4, 4)?;
    device.gemm(&doubles, &doubles).into(&mut c)
}
