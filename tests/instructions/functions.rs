//! Mathematical functions: the bits of the host's, and the hardware's approximations within their stated errors.
//!
//! `every_f32_has_the_same_bits` of this program compares all 2³² arguments of each function of one `f32`. It is
//! ignored without a request: `./instructions --ignored every_f32`, minutes on a machine with a GPU and many cores.

use gpu::lab::instructions::functions::{self as kernels, ALGEBRAIC, BLOCK, CIRCULAR, EXPONENTIALS};
use rayon::prelude::*;
use simt::element::Element;
use simt::global::{VecMut, VecRef};
use simt::{Kernel, math};
use warpwright::{Device, Launch};

use crate::case::{Bits, Case, Outcome, noise, same};

pub(crate) const CASES: &[Case] = &[
    Case { kernel: kernels::exponentials_f32.info(), run: |device| functions_f32(device, &EXPONENTIALS_F32) },
    Case { kernel: kernels::exponentials_f64.info(), run: |device| functions_f64(device, &EXPONENTIALS_F64) },
    Case { kernel: kernels::circular_f32.info(), run: |device| functions_f32(device, &CIRCULAR_F32) },
    Case { kernel: kernels::circular_f64.info(), run: |device| functions_f64(device, &CIRCULAR_F64) },
    Case { kernel: kernels::algebraic_f32.info(), run: |device| functions_f32(device, &ALGEBRAIC_F32) },
    Case { kernel: kernels::algebraic_f64.info(), run: |device| functions_f64(device, &ALGEBRAIC_F64) },
    Case { kernel: kernels::pairs_f32.info(), run: |device| pairs(device, kernels::pairs_f32, &pairs_of_f32()) },
    Case { kernel: kernels::pairs_f64.info(), run: |device| pairs(device, kernels::pairs_f64, &pairs_of_f64()) },
    Case { kernel: kernels::approximations.info(), run: approximations },
];

/// A kernel that applies functions, their names, and the same for the host.
struct Table<T: Element, B: 'static> {
    kernel: Kernel<(u32, B, B, VecMut<'static, T>)>,
    names: &'static [&'static str],
    apply: fn(u32, T) -> T,
}

type Of32 = Table<f32, u32>;
type Of64 = Table<f64, u64>;

const EXPONENTIALS_F32: Of32 =
    Table { kernel: kernels::exponentials_f32, names: EXPONENTIALS, apply: |n, x| kernels::exponential(n, x, 0.0) };
const EXPONENTIALS_F64: Of64 =
    Table { kernel: kernels::exponentials_f64, names: EXPONENTIALS, apply: |n, x| kernels::exponential(n, x, 0.0) };
const CIRCULAR_F32: Of32 =
    Table { kernel: kernels::circular_f32, names: CIRCULAR, apply: |n, x| kernels::circular(n, x, 0.0) };
const CIRCULAR_F64: Of64 =
    Table { kernel: kernels::circular_f64, names: CIRCULAR, apply: |n, x| kernels::circular(n, x, 0.0) };
const ALGEBRAIC_F32: Of32 =
    Table { kernel: kernels::algebraic_f32, names: ALGEBRAIC, apply: |n, x| kernels::algebraic(n, x, 0.0) };
const ALGEBRAIC_F64: Of64 =
    Table { kernel: kernels::algebraic_f64, names: ALGEBRAIC, apply: |n, x| kernels::algebraic(n, x, 0.0) };

/// Arguments of each function: the last block is not full.
const N: usize = 1000;

/// Arguments from all of the format, then from 1 and from 16 up.
fn functions_f32(device: &Device, table: &Of32) -> Outcome {
    let mut all = Vec::new();
    for number in 0..table.names.len() as u32 {
        for (first, step) in [(0, u32::MAX / N as u32), (1.0_f32.to_bits(), 65_537), (16.0_f32.to_bits(), 104_729)] {
            let x: Vec<u32> = (0..N as u32).map(|i| first.wrapping_add(i.wrapping_mul(step))).collect();
            let expected: Vec<f32> = x.iter().map(|&x| (table.apply)(number, f32::from_bits(x))).collect();
            let mut y = device.upload(&[-77.0_f32; N])?;
            device.launch(&table.kernel, Launch::cover(N, BLOCK), (number, first, step, &mut y))?;
            all.extend(same(&y.download()?, &expected, table.names[number as usize]));
        }
    }
    Ok(all)
}

/// [`functions_f32`] with 64 bits.
fn functions_f64(device: &Device, table: &Of64) -> Outcome {
    let mut all = Vec::new();
    for number in 0..table.names.len() as u32 {
        let steps =
            [(0, u64::MAX / N as u64), (1.0_f64.to_bits(), (1 << 45) + 12_345), (16.0_f64.to_bits(), (1 << 46) + 321)];
        for (first, step) in steps {
            let x: Vec<u64> = (0..N as u64).map(|i| first.wrapping_add(i.wrapping_mul(step))).collect();
            let expected: Vec<f64> = x.iter().map(|&x| (table.apply)(number, f64::from_bits(x))).collect();
            let mut y = device.upload(&[-77.0_f64; N])?;
            device.launch(&table.kernel, Launch::cover(N, BLOCK), (number, first, step, &mut y))?;
            all.extend(same(&y.download()?, &expected, table.names[number as usize]));
        }
    }
    Ok(all)
}

/// Pairs of numbers of all sizes, then of moderate ones, whose powers are mostly within the range.
fn pairs_of_f32() -> Vec<(f32, f32)> {
    let noise = noise(4 * N);
    let wide = noise[..2 * N].chunks(2).map(|x| (f32::from_bits(x[0]), f32::from_bits(x[1])));
    let narrow = noise[2 * N..].chunks(2).map(|x| (x[0] as f32 * 2f32.powi(-28), x[1] as f32 * 2f32.powi(-27) - 16.0));
    wide.chain(narrow).collect()
}

/// [`pairs_of_f32`] with 64 bits.
fn pairs_of_f64() -> Vec<(f64, f64)> {
    let noise: Vec<u64> = noise(8 * N).chunks(2).map(|x| u64::from(x[0]) << 32 | u64::from(x[1])).collect();
    let wide = noise[..2 * N].chunks(2).map(|x| (f64::from_bits(x[0]), f64::from_bits(x[1])));
    let narrow = noise[2 * N..].chunks(2).map(|x| (x[0] as f64 * 2f64.powi(-60), x[1] as f64 * 2f64.powi(-57) - 64.0));
    wide.chain(narrow).collect()
}

fn pairs<T: Element + Bits + math::Float>(
    device: &Device,
    kernel: Kernel<(VecRef<'static, T>, VecRef<'static, T>, VecMut<'static, T>)>,
    pairs: &[(T, T)],
) -> Outcome {
    let (x, y): (Vec<T>, Vec<T>) = pairs.iter().copied().unzip();
    let expected: Vec<T> = pairs
        .iter()
        .flat_map(|&(x, y)| {
            let (sin, cos) = math::sincos(x);
            [math::pow(x, y), math::hypot(x, y), sin, cos]
        })
        .collect();
    let mut z = device.upload(&vec![x[0]; 4 * x.len()][..])?;
    let launch = Launch::cover(x.len(), BLOCK);
    device.launch(&kernel, launch, (&device.upload(&x[..])?, &device.upload(&y[..])?, &mut z))?;
    Ok(same(&z.download()?, &expected, "pow, hypot, sin, cos"))
}

/// The errors that NVIDIA's PTX ISA manual states. The result has no bits in common between devices: none are returned.
fn approximations(device: &Device) -> Outcome {
    let edges = [0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1e-40, -1e-40, f32::MAX, f32::MIN_POSITIVE];
    let noise = noise(3 * N);
    let wide = noise[..N].iter().map(|&x| f32::from_bits(x));
    let angles = noise[N..2 * N].iter().map(|&x| (x as f32 * 2f32.powi(-31) - 1.0) * core::f32::consts::TAU);
    let sizes = noise[2 * N..].iter().map(|&x| x as f32 * 2f32.powi(-31));
    let x: Vec<f32> = edges.into_iter().chain(wide).chain(angles).chain(sizes).collect();
    let mut y = device.upload(&vec![-77.0_f32; 8 * x.len()])?;
    device.launch(&kernels::approximations, Launch::cover(x.len(), BLOCK), (&device.upload(&x)?, &mut y))?;
    let y = y.download()?;
    let flush = |x: f32| if x.abs() < f32::MIN_POSITIVE { 0.0_f32.copysign(x) } else { x };
    for (&x, y) in x.iter().zip(y.chunks(8)) {
        let exact = f64::from(flush(x));
        let ulp = |y: f64| 2f64.powi((y.abs().log2().floor() as i32).clamp(-126, 127) - 23);
        let relative = |bound: f64| move |y: f64| y.abs() * bound;
        within("exp2", x, y[0], exact.exp2(), |y| 2.0 * ulp(y));
        let log = |y: f64| if 0.5 < exact && exact < 2.0 { 2f64.powi(-22) } else { y.abs() * 2f64.powi(-22) };
        within("log2", x, y[1], exact.log2(), log);
        if exact.abs() <= f64::from(core::f32::consts::TAU) || !exact.is_finite() {
            within("sin", x, y[2], exact.sin(), |_| 2f64.powf(-20.5));
            within("cos", x, y[3], exact.cos(), |_| 2f64.powf(-20.5));
        }
        within("tanh", x, y[4], f64::from(x).tanh(), relative(2f64.powi(-11)));
        within("rcp", x, y[5], exact.recip(), ulp);
        within("rsqrt", x, y[6], exact.sqrt().recip(), relative(2f64.powf(-22.9)));
        within("sqrt", x, y[7], exact.sqrt(), relative(2f64.powi(-23)));
    }
    Ok(Vec::new())
}

/// `got` = f(`x`) may differ from `exact` by `bound(exact)`, and is 0 where `exact` is below the normal numbers.
fn within(name: &str, x: f32, got: f32, exact: f64, bound: impl Fn(f64) -> f64) {
    let least = f64::from(f32::MIN_POSITIVE);
    let fits = if exact.is_nan() {
        got.is_nan()
    } else if exact.abs() >= 2f64.powi(128) {
        got.is_infinite() && (got > 0.0) == (exact > 0.0)
    } else if exact.abs() < least {
        // Flushed, or rounded up to the least normal number; `tanh` keeps subnormal numbers.
        f64::from(got.abs()) <= least + bound(least)
    } else {
        (f64::from(got) - exact).abs() <= bound(exact)
    };
    assert!(fits, "{name} of {x:e}: {got:e}, exactly {exact:e}");
}

/// Arguments of one launch of [`every_f32`].
const CHUNK: usize = 1 << 24;

/// Compares functions of one `f32` for all arguments.
pub(crate) fn every_f32(device: &Device) -> Result<(), warpwright::Error> {
    for table in [&EXPONENTIALS_F32, &CIRCULAR_F32, &ALGEBRAIC_F32] {
        for (number, name) in (0..).zip(table.names) {
            let mut y = device.alloc_zeros::<f32>(CHUNK)?;
            let mut differ = 0_u64;
            for first in (0..1_u64 << 32).step_by(CHUNK) {
                let first = first as u32;
                device.launch(&table.kernel, Launch::cover(CHUNK, BLOCK), (number, first, 1_u32, &mut y))?;
                let got = y.download()?;
                let differs = |(i, got): (usize, &f32)| {
                    got.bits() != (table.apply)(number, f32::from_bits(first.wrapping_add(i as u32))).bits()
                };
                differ += got.par_iter().enumerate().filter(|&x| differs(x)).count() as u64;
            }
            println!("{name}: {differ} of 2³² results differ");
            assert_eq!(differ, 0, "{name}");
        }
    }
    Ok(())
}
