//! How accurate products of `f32` are: ours in both arithmetics, and cuBLAS's SGEMM, on data of several kinds.
//!
//! The error of an element of C = A·B is |C − AB| / (|A||B|), in units of u = 2⁻²⁴ (half the distance from 1 to the
//! next `f32`); the reference is computed in `f64`. A sum of k fused multiply-adds has at most k of it.

use std::fmt::Write as _;

use anyhow::{Context as _, Result, ensure};
use comfy_table::{Cell, CellAlignment, Table, presets};
use ndarray::{Array2, Axis};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use rayon::prelude::*;
use warpwright::Buffer;
use warpwright::gemm::Arithmetic;

use super::implementations::Context;
use crate::peers::cublas;

/// Rows and columns of C.
const EDGE: usize = 1024;
/// Unit roundoff of `f32`.
const UNIT: f64 = 1.0 / 16_777_216.0;

/// A kind of data: an element of A and one of B, from the place along k as a fraction.
struct Data {
    name: &'static str,
    draw: fn(&mut StdRng, f64) -> [f64; 2],
}

/// Both signs, mostly of magnitude 1.
fn normal(rng: &mut StdRng) -> f64 {
    let (radius, angle): (f64, f64) = (rng.random_range(f64::MIN_POSITIVE..1.0), rng.random());
    (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
}

/// Both signs, exponents from -`most` to `most`.
fn spread(rng: &mut StdRng, most: i32) -> f64 {
    let sign = if rng.random() { 1.0 } else { -1.0 };
    sign * rng.random_range(1.0..2.0) * 2_f64.powi(rng.random_range(-most..=most))
}

const DATA: &[Data] = &[
    Data { name: "normal", draw: |rng, _| [normal(rng), normal(rng)] },
    Data { name: "positive", draw: |rng, _| [rng.random(), rng.random()] },
    Data { name: "exponents ± 12", draw: |rng, _| [spread(rng, 12), spread(rng, 12)] },
    Data { name: "exponents ± 60", draw: |rng, _| [spread(rng, 60), spread(rng, 60)] },
    Data { name: "graded along k, to 2⁻⁴⁰", draw: |rng, k| [normal(rng) * (-40.0 * k).exp2(), normal(rng)] },
    Data {
        name: "A of 2⁻¹²⁰, subnormal planes",
        draw: |rng, _| [normal(rng) * (-120_f64).exp2(), normal(rng) * 100_f64.exp2()],
    },
    Data { name: "subnormal A", draw: |rng, _| [normal(rng) * (-130_f64).exp2(), normal(rng) * 100_f64.exp2()] },
];
/// Sums whose second half takes the first back, but for a part in 2¹².
const CANCELLING: &str = "near-cancelling";

/// The largest error and the root of the mean square, in units of u.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Error {
    max: f64,
    rms: f64,
}

/// Prints the table; whether our emulated product is never less accurate than SGEMM, largest error and root mean
/// square.
///
/// # Errors
/// The device refuses; a product is infinite or NaN.
pub(super) fn measure(context: &Context<'_>, depths: &[usize], seed: u64) -> Result<bool> {
    let mut table = Table::new();
    table.load_preset(presets::ASCII_MARKDOWN);
    table.set_header([
        "data",
        "k",
        "SGEMM: max, rms",
        "ours, full: max, rms",
        "ours, bf16x6: max, rms",
        "bf16x6 / SGEMM",
    ]);
    let mut holds = true;
    for &k in depths {
        for name in DATA.iter().map(|data| data.name).chain([CANCELLING]) {
            let (a, b) = operands(name, [EDGE, k], seed);
            let [sgemm, full, emulated] = errors(context, &a, &b).with_context(|| format!("{name}, k = {k}"))?;
            let text = |error: Option<Error>| {
                error.map_or_else(|| "–".into(), |error| format!("{:.3}, {:.4}", error.max, error.rms))
            };
            let mut ratio = String::new();
            if let (Some(sgemm), Some(own)) = (sgemm, emulated) {
                holds &= own.max <= sgemm.max && own.rms <= sgemm.rms;
                write!(ratio, "{:.2}, {:.2}", own.max / sgemm.max, own.rms / sgemm.rms)?;
            }
            let numbers = [k.to_string(), text(sgemm), text(full), text(emulated), ratio];
            let cells = numbers.map(|number| Cell::new(number).set_alignment(CellAlignment::Right));
            table.add_row([Cell::new(name)].into_iter().chain(cells));
        }
    }
    println!("Errors in units of 2⁻²⁴ · |A||B|, C of {EDGE} x {EDGE}\n\n{table}");
    Ok(holds)
}

/// A and B of a kind of data, edge × k and k × edge.
fn operands(name: &str, [edge, k]: [usize; 2], seed: u64) -> (Array2<f32>, Array2<f32>) {
    let mut rng = StdRng::seed_from_u64(seed);
    let (mut a, mut b) = (Array2::zeros((edge, k)), Array2::zeros((k, edge)));
    let draw = DATA.iter().find(|data| data.name == name).map_or(DATA[0].draw, |data| data.draw);
    for line in 0..edge {
        for l in 0..k {
            let [of_a, of_b] = draw(&mut rng, l as f64 / k as f64);
            (a[[line, l]], b[[l, line]]) = (of_a as f32, of_b as f32);
        }
    }
    if name == CANCELLING {
        for (line, l) in (0..edge).flat_map(|line| (0..k / 2).map(move |l| (line, l))) {
            let less = 1.0 - normal(&mut rng) as f32 / 4096.0;
            a[[line, k / 2 + l]] = -a[[line, l]] * less;
            b[[k / 2 + l, line]] = b[[l, line]];
        }
    }
    (a, b)
}

/// The errors of SGEMM, of ours with full arithmetic, and of ours with `Arithmetic::Bf16x6`.
fn errors(context: &Context<'_>, a: &Array2<f32>, b: &Array2<f32>) -> Result<[Option<Error>; 3]> {
    let (exact, magnitude) = reference(a, b);
    let error = |c: &Array2<f32>| -> Result<Option<Error>> {
        ensure!(c.iter().all(|x| x.is_finite()), "not every element of the product is finite");
        let errors: Vec<f64> = c
            .iter()
            .zip(&exact)
            .zip(&magnitude)
            .map(|((&c, exact), magnitude)| (f64::from(c) - exact).abs() / (magnitude * UNIT))
            .collect();
        let squares: f64 = errors.iter().map(|error| error * error).sum();
        let max = errors.iter().copied().fold(0.0, f64::max);
        Ok(Some(Error { max, rms: (squares / errors.len() as f64).sqrt() }))
    };
    let device = &context.device;
    let ((m, k), n) = (a.dim(), b.ncols());
    let (on_a, on_b) = (device.upload(a)?, device.upload(b)?);
    let full = device.gemm(&on_a, &on_b).run()?.download()?;
    let mut emulated = device.alloc_matrix::<f32>(m, n)?;
    let gemm = || device.gemm(&on_a, &on_b).arithmetic(Arithmetic::Bf16x6);
    // For a C so small that the planner takes a kernel with full arithmetic, the first of the others.
    let plans = gemm().plans(&emulated)?;
    let plan = plans.iter().find(|plan| plan.algorithm().kernel().name.contains("bf16x6"));
    let plan = plan.context("this device has no kernel for planes of bf16")?;
    let mut workspace = device.alloc::<f32>(plan.workspace_len())?;
    gemm().algorithm(plan.algorithm()).workspace(&mut workspace).into(&mut emulated)?;
    let emulated = emulated.download()?;
    let sgemm = match &context.cublas {
        Some(cublas) => error(&sgemm(cublas, [on_a.into_buffer(), on_b.into_buffer()], [m, n, k])?)?,
        None => None,
    };
    Ok([sgemm, error(&full)?, error(&emulated)?])
}

/// AB and |A||B| in `f64`.
fn reference(a: &Array2<f32>, b: &Array2<f32>) -> (Vec<f64>, Vec<f64>) {
    let b64 = b.mapv(f64::from);
    let absolute = b64.mapv(f64::abs);
    let bands: Vec<_> = a.axis_chunks_iter(Axis(0), 32).collect();
    let products: Vec<_> = bands
        .into_par_iter()
        .map(|band| {
            let band = band.mapv(f64::from);
            (band.dot(&b64).into_raw_vec_and_offset().0, band.mapv(f64::abs).dot(&absolute).into_raw_vec_and_offset().0)
        })
        .collect();
    let (exact, magnitude): (Vec<_>, Vec<_>) = products.into_iter().unzip();
    (exact.concat(), magnitude.concat())
}

/// cuBLAS's product.
fn sgemm(cublas: &cublas::Session<'_>, [a, b]: [Buffer<f32>; 2], [m, n, k]: [usize; 3]) -> Result<Array2<f32>> {
    let arithmetic = cublas::Arithmetic::F32;
    let problem = cublas::Problem { m, n, k, transpose_a: false, transpose_b: false, batch: 1, arithmetic };
    let c = a.device().alloc_zeros::<f32>(m * n)?;
    let addresses = [&a, &b, &c].map(|x| x.view().device_ptr() as u64);
    // SAFETY: the buffers hold matrices of these extents without padding. The call is queued on the device's default
    // stream, as their upload, the download and their drop are.
    unsafe { cublas.gemm(&problem, addresses) }?;
    Ok(Array2::from_shape_vec((m, n), c.download()?)?)
}

#[cfg(test)]
mod tests {
    use warpwright::Device;

    use super::super::implementations::Context;
    use super::*;
    use crate::peers::Peers;

    /// On the simulator, without a peer: every kind of data is there, and no error is beyond its bound.
    #[test]
    fn errors_are_within_the_bounds_of_the_arithmetic() {
        let (peers, k) = (Peers::none(), 300);
        let context = Context::new(&Device::simulator(), &peers).unwrap();
        for name in DATA.iter().map(|data| data.name).chain([CANCELLING]) {
            let (a, b) = operands(name, [130, k], 7);
            let [sgemm, full, emulated] = errors(&context, &a, &b).unwrap();
            assert_eq!(sgemm, None);
            let (full, emulated) = (full.unwrap(), emulated.unwrap());
            assert!(full.max > 0.0 && full.rms < full.max && full.max < k as f64, "{name}: {full:?}");
            assert!(emulated.max > 0.0 && emulated.max < 140.0 + k as f64 / 64.0, "{name}: {emulated:?}");
        }
    }
}
