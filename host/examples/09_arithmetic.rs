//! GEMM in other arithmetic: quantised to 8 bits, with a factor for each row and column; and `f32` on tensor cores.

use ndarray::{Array1, Array2, Axis};
use warpwright::gemm::Arithmetic;
use warpwright::{Device, E4m3, Result};

/// Each row divided by what makes its largest element `largest`, and these factors.
fn scaled(x: &Array2<f32>, largest: f32) -> (Array2<f32>, Array1<f32>) {
    let factors = x.map_axis(Axis(1), |row| row.iter().fold(f32::MIN_POSITIVE, |most, x| most.max(x.abs())) / largest);
    (x / &factors.view().insert_axis(Axis(1)), factors)
}

fn main() -> Result<()> {
    let device = Device::best()?;
    println!("on {}", device.name());
    // y = x·Wᵀ: 4 inputs of 256 numbers, 8 outputs. The rows of x and of W differ in magnitude.
    let number = |i: usize, j: usize| ((i * 37 + j * 101) % 97) as f32 / 48.5 - 1.0;
    let x = Array2::from_shape_fn((4, 256), |(i, j)| number(i, j) * 10.0_f32.powi(i as i32));
    let w = Array2::from_shape_fn((8, 256), |(i, j)| number(j, i) * 0.1_f32.powi(i as i32));
    let exact = x.mapv(f64::from).dot(&w.mapv(f64::from).t());
    let sums = x.mapv(|x| f64::from(x.abs())).dot(&w.mapv(|w| f64::from(w.abs())).t());
    let report = |name: &str, y: &Array2<f32>| {
        let errors = (y.mapv(f64::from) - &exact) / &sums;
        let worst = errors.iter().fold(0.0_f64, |worst, error| worst.max(error.abs()));
        println!("{name:28} worst error {worst:.1e} of the sum of magnitudes");
    };

    // i8: integers from −127 to 127, exact sums in i32, which the factors turn into f32.
    let ((x8, of_x), (w8, of_w)) = (scaled(&x, 127.0), scaled(&w, 127.0));
    let (x8, w8) = (device.upload(&x8.mapv(|x| x.round() as i8))?, device.upload(&w8.mapv(|w| w.round() as i8))?);
    let (rows, columns) = (device.upload(&of_x.to_vec())?, device.upload(&of_w.to_vec())?);
    let product = device.gemm(&x8, &w8).transpose_b().row_scales(&rows).column_scales(&columns);
    report("i8", &product.run_as::<f32>()?.download()?);

    // E4M3: four bits of precision, exponents to 448. Sums are promoted to f32 every 128 products, or not at all.
    let ((x8, of_x), (w8, of_w)) = (scaled(&x, 448.0), scaled(&w, 448.0));
    let (x8, w8) = (device.upload(&x8.mapv(E4m3::from_f32))?, device.upload(&w8.mapv(E4m3::from_f32))?);
    let (rows, columns) = (device.upload(&of_x.to_vec())?, device.upload(&of_w.to_vec())?);
    let product = || device.gemm(&x8, &w8).transpose_b().row_scales(&rows).column_scales(&columns);
    report("E4M3", &product().run_as::<f32>()?.download()?);
    let fast = product().arithmetic(Arithmetic::FastAccumulation);
    report("E4M3, fast accumulation", &fast.run_as::<f32>()?.download()?);

    // f32: by fma, by tensor cores that use 11 bits, and by tensor cores as sums of three bf16 each.
    let (x, w) = (device.upload(&x)?, device.upload(&w)?);
    for (name, arithmetic) in
        [("f32", Arithmetic::Full), ("f32, tf32", Arithmetic::Tf32), ("f32, three bf16", Arithmetic::Bf16x6)]
    {
        report(name, &device.gemm(&x, &w).transpose_b().arithmetic(arithmetic).run()?.download()?);
    }
    Ok(())
}
