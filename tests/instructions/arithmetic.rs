//! Arithmetic and conversions, compared with the host's.

use gpu::lab::instructions::arithmetic::{self as kernels, BLOCK};
use simt::Kernel;
use simt::element::Element;
use simt::global::{VecMut, VecRef};
use warpwright::half::{bf16, f16};
use warpwright::{Device, Launch};

use crate::case::{Bits, Case, Outcome, noise, same};

pub(crate) const CASES: &[Case] = &[
    Case { kernel: kernels::choose_f32.info(), run: choose_f32 },
    Case { kernel: kernels::fma_and_sqrt_f32.info(), run: fma_and_sqrt_f32 },
    Case { kernel: kernels::fma_and_sqrt_f64.info(), run: fma_and_sqrt_f64 },
    Case { kernel: kernels::pick_bytes.info(), run: pick_bytes },
    Case {
        kernel: kernels::round_to_f16.info(),
        run: |device| round(device, kernels::round_to_f16, f16::from_f32, f16::to_f32),
    },
    Case {
        kernel: kernels::round_to_bf16.info(),
        run: |device| round(device, kernels::round_to_bf16, bf16::from_f32, bf16::to_f32),
    },
];

/// Elements of each operand: the last block is not full.
const N: usize = 500;

/// All exponents and signs, subnormal numbers and infinities too, no NaN.
fn wide_range(n: usize) -> Vec<f32> {
    let edges = [0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN_POSITIVE, 1e-45, 65519.99, 65520.0];
    let noise = noise(n).into_iter().map(f32::from_bits).map(|x| if x.is_nan() { 1.5 } else { x });
    edges.into_iter().chain(noise).take(n).collect()
}

/// Every pair of zeros, NaNs with payloads, infinities and numbers; numbers are ordered by IEEE 754's total order.
fn choose_f32(device: &Device) -> Outcome {
    let bits = [0x7fc0_0000, 0xffc0_0001, 0x7f80_0001, 0, 0x8000_0000, 0x7f80_0000, 0xff80_0000, 1, 0x8000_0001];
    let values: Vec<f32> = bits.map(f32::from_bits).into_iter().chain([1.5, -2.5, f32::MAX, f32::MIN]).collect();
    let pairs: Vec<(f32, f32)> = values.iter().flat_map(|&a| values.iter().map(move |&b| (a, b))).collect();
    let nan = f32::from_bits(0x7fff_ffff);
    let expected: Vec<f32> = pairs
        .iter()
        .flat_map(|&(a, b)| {
            let numbers: Vec<f32> = [a, b].into_iter().filter(|x| !x.is_nan()).collect();
            let greatest = numbers.iter().copied().max_by(f32::total_cmp).unwrap_or(nan);
            let least = numbers.iter().copied().min_by(f32::total_cmp).unwrap_or(nan);
            if numbers.len() == 2 { [greatest, least, greatest, least] } else { [nan, nan, greatest, least] }
        })
        .collect();
    let (a, b): (Vec<f32>, Vec<f32>) = pairs.into_iter().unzip();
    let mut chosen = device.upload(&vec![-1.0_f32; expected.len()])?;
    let launch = Launch::cover(a.len(), BLOCK);
    device.launch(&kernels::choose_f32, launch, (&device.upload(&a)?, &device.upload(&b)?, &mut chosen))?;
    Ok(same(&chosen.download()?, &expected, "choices"))
}

fn fma_and_sqrt_f32(device: &Device) -> Outcome {
    let x = wide_range(3 * N);
    let [a, b, c] = [&x[..N], &x[N..2 * N], &x[2 * N..]];
    let expected: Vec<_> = (0..N).map(|i| a[i].mul_add(b[i], c[i]).abs().sqrt()).collect();
    let (a, b, c) = (device.upload(a)?, device.upload(b)?, device.upload(c)?);
    let mut d = device.upload(&[-1.0_f32; N])?;
    device.launch(&kernels::fma_and_sqrt_f32, Launch::cover(N, BLOCK), (&a, &b, &c, &mut d))?;
    Ok(same(&d.download()?, &expected, "square roots"))
}

fn fma_and_sqrt_f64(device: &Device) -> Outcome {
    let x: Vec<_> = noise(3 * N).into_iter().map(|x| f64::from(x).sqrt() - 30_000.0).collect();
    let [a, b, c] = [&x[..N], &x[N..2 * N], &x[2 * N..]];
    let expected: Vec<_> = (0..N).map(|i| a[i].mul_add(b[i], c[i]).abs().sqrt()).collect();
    let (a, b, c) = (device.upload(a)?, device.upload(b)?, device.upload(c)?);
    let mut d = device.upload(&[-1.0_f64; N])?;
    device.launch(&kernels::fma_and_sqrt_f64, Launch::cover(N, BLOCK), (&a, &b, &c, &mut d))?;
    Ok(same(&d.download()?, &expected, "square roots"))
}

/// Compared with the definition of `prmt` in NVIDIA's PTX manual, byte by byte.
fn pick_bytes(device: &Device) -> Outcome {
    let x: Vec<_> = noise(3 * N);
    let [low, high, selectors] = [&x[..N], &x[N..2 * N], &x[2 * N..]];
    let pick = |i: usize, place: u32| {
        let (from, nibble) =
            ([low[i].to_le_bytes(), high[i].to_le_bytes()].concat(), (selectors[i] >> (4 * place)) & 15);
        let byte = from[nibble as usize % 8];
        match (nibble < 8, byte < 128) {
            (true, _) => byte,
            (false, true) => 0,
            (false, false) => 255,
        }
    };
    let expected: Vec<_> = (0..N).map(|i| u32::from_le_bytes([0, 1, 2, 3].map(|place| pick(i, place)))).collect();
    let (low, high, selectors) = (device.upload(low)?, device.upload(high)?, device.upload(selectors)?);
    let mut bytes = device.alloc_zeros::<u32>(N)?;
    device.launch(&kernels::pick_bytes, Launch::cover(N, BLOCK), (&low, &high, &selectors, &mut bytes))?;
    Ok(same(&bytes.download()?, &expected, "bytes"))
}

fn round<T: Element + Bits>(
    device: &Device,
    kernel: Kernel<(VecRef<'static, f32>, VecMut<'static, T>, VecMut<'static, f32>)>,
    narrow: fn(f32) -> T,
    widen: fn(T) -> f32,
) -> Outcome {
    let x = wide_range(1000);
    let rounded: Vec<T> = x.iter().map(|&x| narrow(x)).collect();
    let widened: Vec<f32> = rounded.iter().map(|&y| widen(y)).collect();
    let input = device.upload(&x[..])?;
    let mut y = device.upload(&vec![narrow(-77.0); x.len()][..])?;
    let mut z = device.upload(&vec![-77.0_f32; x.len()][..])?;
    device.launch(&kernel, Launch::cover(x.len(), BLOCK), (&input, &mut y, &mut z))?;
    Ok([same(&y.download()?, &rounded, "rounded"), same(&z.download()?, &widened, "widened again")].concat())
}
