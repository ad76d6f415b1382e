//! Matrix products on tensor cores, by `wgmma` and `mma.sync`.
//!
//! Sums of small integers are exact: the result must be that of the integers, bit for bit. With random numbers the
//! error must be within a rounding bound.

use gpu::lab::instructions_sm90::wgmma as kernels;
use gpu::lab::instructions_sm90::wgmma_pipeline::{COLS, DEPTH, ROWS, wgmma_pipeline};
use simt::Kernel;
use simt::global::{MatMut, MatRef};
use simt::matrix::Tf32;
use simt::wgmma::Swizzle;
use warpwright::half::{bf16, f16};
use warpwright::{Device, E4m3, E5m2, Launch};

use crate::case::{Case, Outcome, noise, same};

/// A kernel that multiplies matrices.
pub(crate) type Product<T> = Kernel<(MatRef<'static, T>, MatRef<'static, T>, MatMut<'static, f32>)>;

macro_rules! cases {
    ($($kernel:ident: $kind:ty, $cols:literal, $depth:literal, $times:literal;)+) => {
        pub(crate) const CASES: &[Case] = &[$(
            Case {
                kernel: kernels::$kernel.info(),
                run: |device| run::<$kind>(device, &kernels::$kernel, [64, $cols, $depth], $times),
            },
        )+ Case { kernel: wgmma_pipeline.info(), run: pipeline }];
    };
}
cases! {
    wgmma_f16_n8: f16, 8, 16, 2;
    wgmma_bf16_n16: bf16, 16, 64, 2;
    wgmma_tf32_n32: Tf32, 32, 16, 2;
    wgmma_f16_n64: f16, 64, 64, 2;
    wgmma_bf16_n96: bf16, 96, 32, 2;
    wgmma_f16_n128: f16, 128, 32, 2;
    wgmma_bf16_n192: bf16, 192, 64, 2;
    wgmma_tf32_n256: Tf32, 256, 32, 2;
    wgmma_i8_n16: i8, 16, 32, 2;
    wgmma_i8_n192: i8, 192, 64, 2;
    wgmma_i8_n256: i8, 256, 128, 2;
    wgmma_e4m3_n128: E4m3, 128, 128, 2;
    wgmma_e4m3_n136: E4m3, 136, 64, 2;
    wgmma_e5m2_n256: E5m2, 256, 128, 2;
    wgmma_rs_f16: f16, 64, 32, 1;
    wgmma_rs_tf32: Tf32, 128, 8, 1;
}

/// Input data of an element type.
pub(crate) trait Numbers {
    /// The element type in memory.
    type Element: simt::element::Element + warpwright::Element;
    /// An integer, with random bits where the tensor cores ignore them.
    fn integer(value: i32, noise: u32) -> Self::Element;
    /// Where the first bit that is cut off of a term lies, relative to the leading bit of the largest term.
    const UNIT: f64 = f32::EPSILON as f64;
    /// A representable number, and its value.
    fn random(noise: u32) -> (Self::Element, f64);
}

fn unit(noise: u32) -> f32 {
    noise as i32 as f32 / (1_u32 << 31) as f32
}

macro_rules! halves {
    ($($t:ty)+) => {$(
        impl Numbers for $t {
            type Element = $t;
            fn integer(value: i32, _: u32) -> $t {
                <$t>::from_f32(value as f32)
            }
            fn random(noise: u32) -> ($t, f64) {
                let number = <$t>::from_f32(unit(noise));
                (number, number.to_f64())
            }
        }
    )+};
}
halves! { f16 bf16 }

impl Numbers for i8 {
    type Element = Self;
    // Sums are exact, and none needs more bits than an `f32` has.
    const UNIT: f64 = 0.0;
    fn integer(value: i32, _: u32) -> Self {
        value as Self
    }
    fn random(noise: u32) -> (Self, f64) {
        let number = (noise >> 24) as Self;
        (number, f64::from(number))
    }
}

macro_rules! numbers_of_8_bits {
    ($($t:ty)+) => {$(
        impl Numbers for $t {
            type Element = $t;
            // See `simt::wgmma`.
            const UNIT: f64 = 1.0 / 8192.0;
            fn integer(value: i32, _: u32) -> $t {
                <$t>::from_f32(value as f32)
            }
            fn random(noise: u32) -> ($t, f64) {
                let number = <$t>::from_f32(unit(noise));
                (number, f64::from(number.to_f32()))
            }
        }
    )+};
}
numbers_of_8_bits! { E4m3 E5m2 }

impl Numbers for Tf32 {
    type Element = f32;
    fn integer(value: i32, noise: u32) -> f32 {
        f32::from_bits((value as f32).to_bits() | noise & 0x1fff)
    }
    fn random(noise: u32) -> (f32, f64) {
        let number = f32::from_bits(unit(noise).to_bits() & !0x1fff);
        (number, f64::from(number))
    }
}

/// Row-major a (rows × depth) and b (depth × cols) in `f64`: their product, and that of their absolute values.
fn multiply(a: &[f64], b: &[f64], [rows, cols, depth]: [usize; 3]) -> Vec<(f64, f64)> {
    let dot = |row: usize, col: usize| {
        let products = (0..depth).map(|k| a[row * depth + k] * b[k * cols + col]);
        products.fold((0.0, 0.0), |(sum, size), x: f64| (sum + x, size + x.abs()))
    };
    (0..rows).flat_map(|row| (0..cols).map(move |col| dot(row, col))).collect()
}

/// Checks `kernel`, whose C (rows × cols) becomes `times` the product of A (rows × depth) and B (depth × cols).
pub(crate) fn run<N: Numbers>(device: &Device, kernel: &Product<N::Element>, shape: [usize; 3], times: u32) -> Outcome {
    let [rows, cols, depth] = shape;
    let launch = |a: &[N::Element], b: &[N::Element]| {
        let a = device.upload(&ndarray::ArrayView2::from_shape((rows, depth), a).expect("rows of A"))?;
        let b = device.upload(&ndarray::ArrayView2::from_shape((depth, cols), b).expect("rows of B"))?;
        let mut c = device.upload(&ndarray::Array2::from_elem((rows, cols), f32::NAN))?;
        device.launch(kernel, Launch::grid(1), (&a, &b, &mut c))?;
        c.download().map(|c| c.into_raw_vec_and_offset().0)
    };
    let noise = noise(rows * depth + depth * cols);
    let (of_a, of_b) = noise.split_at(rows * depth);

    let integer = |&x: &u32| (x >> 8) as i32 % 17 - 8;
    let encode = |x: &[u32]| x.iter().map(|x| N::integer(integer(x), *x)).collect::<Vec<_>>();
    let values = |x: &[u32]| x.iter().map(|x| f64::from(integer(x))).collect::<Vec<_>>();
    let exact = multiply(&values(of_a), &values(of_b), shape);
    let exact: Vec<f32> = exact.iter().map(|&(sum, _)| (f64::from(times) * sum) as f32).collect();
    let bits = same(&launch(&encode(of_a), &encode(of_b))?, &exact, "the product of integers");

    let (a, a_values): (Vec<_>, Vec<_>) = of_a.iter().map(|&x| N::random(x)).unzip();
    let (b, b_values): (Vec<_>, Vec<_>) = of_b.iter().map(|&x| N::random(x)).unzip();
    let got = launch(&a, &b)?;
    // Each instruction adds its products and the accumulator. Every term, and then the sum, is truncated no higher than
    // the last bit of an `f32` of the largest term, or as [`Numbers::UNIT`] says. All of them are at most the final sum
    // of absolute values.
    let instruction = 32 / size_of::<N::Element>();
    let instructions = times as usize * depth / instruction;
    let roundings = instructions * (instruction + 2);
    for (i, (&c, (sum, size))) in got.iter().zip(multiply(&a_values, &b_values, shape)).enumerate() {
        let (sum, bound) = (f64::from(times) * sum, roundings as f64 * N::UNIT * f64::from(times) * size);
        let error = (f64::from(c) - sum).abs();
        assert!(error <= bound, "element {i} of {cols} columns: {c} for {sum}, off by {error:e} of {bound:e} allowed");
    }
    Ok(bits)
}

fn pipeline(device: &Device) -> Outcome {
    let (rows, cols) = (ROWS as usize, COLS as usize);
    let mut all = Vec::new();
    // Depths that do not fill the last step: elements of boxes outside the tensor are zero.
    for depth in [8, DEPTH as usize, 5 * DEPTH as usize - 8] {
        let noise = noise((rows + cols) * depth);
        let integer = |&x: &u32| (x >> 8) as i32 % 17 - 8;
        let (a, b) = noise.split_at(rows * depth);
        let upload = |x: &[u32], rows| {
            let x: Vec<bf16> = x.iter().map(|x| bf16::integer(integer(x), 0)).collect();
            device.upload(&ndarray::ArrayView2::from_shape((rows, depth), &x).expect("as many as noise"))
        };
        let (of_a, of_b) = (upload(a, rows)?, upload(b, cols)?);
        let mut c = device.upload(&ndarray::Array2::from_elem((rows, cols), f32::NAN))?;
        let maps = (of_a.view().tma(ROWS, DEPTH, Swizzle::B128)?, of_b.view().tma(COLS, DEPTH, Swizzle::B128)?);
        let steps = depth.div_ceil(DEPTH as usize) as u32;
        device.launch(&wgmma_pipeline, Launch::grid(1), (maps.0, maps.1, steps, &mut c))?;
        let dot = |row: usize, col: usize| -> i32 {
            (0..depth).map(|k| integer(&a[row * depth + k]) * integer(&b[col * depth + k])).sum()
        };
        let exact: Vec<f32> =
            (0..rows).flat_map(|r| (0..cols).map(move |c| (r, c))).map(|(r, c)| dot(r, c) as f32).collect();
        all.extend(same(&c.download()?.into_raw_vec_and_offset().0, &exact, &format!("k = {depth}")));
    }
    Ok(all)
}
