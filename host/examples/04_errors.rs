//! Errors for invalid calls: each says what was expected, what was found and what to do; none is a panic.

use warpwright::gpu::gemm::tiled::matmul_tiled;
use warpwright::gpu::reduce::dynamic::reduce_sum_dynamic;
use warpwright::{Device, Launch, Layout, Matrix, Result};

fn main() -> Result<()> {
    let device = Device::best()?;
    let (a, b) = (device.alloc_matrix_zeros::<f32>(4, 5)?, device.alloc_matrix_zeros::<f32>(4, 5)?);
    let x = device.upload(&[1.0_f32; 100])?;
    let mut sums = device.alloc_zeros::<f32>(100)?;
    let mut c = device.alloc_matrix_zeros::<f32>(4, 4)?;

    show("shapes that disagree", device.matmul(&a, &b));
    show("a length", device.upload_matrix(&[1.0; 10], 3, 4));
    show("a leading dimension", Matrix::from_buffer(device.alloc::<f32>(12)?, Layout::contiguous(3, 4).ld(3)));
    show("a range", a.block(0..4, 3..6));
    show("an empty grid", device.launch(&matmul_tiled, Launch::grid((0, 1)), (&a, &b, &mut c)));
    show("a block shape", device.launch(&matmul_tiled, Launch::grid(1).block((16, 16)), (&a, &b, &mut c)));
    let reduce = Launch::grid(1).block(128);
    show("shared memory left out", device.launch(&reduce_sum_dynamic, reduce, (&x, &mut sums)));
    show("too much of it", device.launch(&reduce_sum_dynamic, reduce.shared_elements(1 << 20), (&x, &mut sums)));
    let other = Device::simulator().alloc_zeros::<f32>(100)?;
    show(
        "memory of another device",
        device.launch(&reduce_sum_dynamic, reduce.shared_elements(128), (&other, &mut sums)),
    );
    show("a device that is not there", Device::cuda(99));

    // The device stays usable.
    println!("the sum is still {}", device.sum(&x)?);
    Ok(())
}

fn show<T>(what: &str, result: Result<T>) {
    match result {
        Ok(_) => println!("{what}: accepted"),
        Err(error) => println!("{what}:\n    {error}"),
    }
}
