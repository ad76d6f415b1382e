//! C must not alias A or B.

use warpwright::Device;

fn main() -> warpwright::Result<()> {
    let device = Device::simulator();
    let mut a = device.alloc_matrix_zeros::<f32>(4, 4)?;
    let b = device.alloc_matrix_zeros::<f32>(4, 4)?;
    device.gemm(&a, &b).into(&mut a)
}
