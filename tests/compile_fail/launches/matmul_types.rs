//! `matmul` sums in order of k, which tensor cores do not.

use warpwright::{Device, half};

fn main() -> warpwright::Result<()> {
    let device = Device::simulator();
    let a = device.alloc_matrix_zeros::<half::f16>(4, 4)?;
    device.matmul(&a, &a)?;
    Ok(())
}
