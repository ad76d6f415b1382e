//! Atomic operations: every operand is applied exactly once, in any order.

use gpu::lab::instructions::atomics::{self as kernels, BINS, BLOCK};
use simt::Kernel;
use simt::element::Element;
use simt::global::{VecMut, VecRef};
use warpwright::{Device, Error, Launch};

use crate::case::{CANARY, Case, Outcome, bits, noise, same};

pub(crate) const CASES: &[Case] = &[
    Case { kernel: kernels::atomic_tally_u32.info(), run: tally_u32 },
    Case { kernel: kernels::atomic_tally_u64.info(), run: tally_u64 },
    Case { kernel: kernels::atomic_tally_i32.info(), run: tally_i32 },
    Case { kernel: kernels::atomic_bounds_i64.info(), run: bounds_i64 },
    Case { kernel: kernels::atomic_sum_f32.info(), run: sum_f32 },
    Case { kernel: kernels::atomic_sum_f64.info(), run: sum_f64 },
    Case { kernel: kernels::atomic_max_by_cas.info(), run: max_by_cas },
    Case { kernel: kernels::atomic_swap_chain.info(), run: swap_chain },
    Case { kernel: kernels::shared_histogram.info(), run: histogram },
];

/// Runs a kernel that combines `x` into `out`, which holds `before`, with 2 blocks more than needed. Returns `out`.
fn combine<T: Element, U: Element>(
    device: &Device,
    kernel: Kernel<(VecRef<'static, T>, VecMut<'static, U>)>,
    x: &[T],
    before: &[U],
) -> Result<Vec<U>, Error> {
    let (input, mut out) = (device.upload(x)?, device.upload(before)?);
    device.launch(&kernel, Launch::grid(x.len().div_ceil(BLOCK as usize) as u32 + 2), (&input, &mut out))?;
    out.download()
}

/// 64-bit numbers with both halves in use.
fn wide(n: usize) -> Vec<u64> {
    noise(n).into_iter().map(|x| u64::from(x) << 20 | u64::from(x) >> 7).collect()
}

macro_rules! tally {
    ($name:ident, $t:ty, $kernel:ident, $values:expr) => {
        fn $name(device: &Device) -> Outcome {
            let x: Vec<$t> = $values;
            let mut all = Vec::new();
            // The bitwise and of many numbers is 0, so that of three is tested too.
            for x in [&x[..], &x[..3]] {
                let expected = [
                    x.iter().fold(5, |a: $t, &b| a.wrapping_add(b)),
                    x.iter().fold(<$t>::MAX, |a, &b| a.min(b)),
                    x.iter().fold(0, |a, &b| a.max(b)),
                    x.iter().fold(<$t>::MAX, |a, &b| a & b),
                    x.iter().fold(0, |a, &b| a | b),
                    x.iter().fold(0, |a, &b| a ^ b),
                ];
                let got = combine(device, kernels::$kernel, x, &[5, <$t>::MAX, 0, <$t>::MAX, 0, 0])?;
                all.extend(same(&got, &expected, "sum, minimum, maximum, and, or, exclusive or"));
            }
            Ok(all)
        }
    };
}
tally! { tally_u32, u32, atomic_tally_u32, noise(1000) }
tally! { tally_u64, u64, atomic_tally_u64, wide(1000) }

fn tally_i32(device: &Device) -> Outcome {
    let x: Vec<_> = noise(1000).into_iter().map(u32::cast_signed).collect();
    let bounds = [x.iter().fold(i32::MAX, |a, &b| a.min(b)), x.iter().fold(i32::MIN, |a, &b| a.max(b))];
    let expected = [x.iter().fold(-7, |a: i32, &b| a.wrapping_add(b)), bounds[0], bounds[1]];
    let got = combine(device, kernels::atomic_tally_i32, &x, &[-7, i32::MAX, i32::MIN])?;
    Ok(same(&got, &expected, "sum, minimum, maximum"))
}

fn bounds_i64(device: &Device) -> Outcome {
    let signed = |(i, x): (usize, u64)| if i % 2 == 0 { x.cast_signed() } else { -x.cast_signed() };
    let x: Vec<_> = wide(1000).into_iter().enumerate().map(signed).collect();
    let expected = [x.iter().fold(i64::MAX, |a, &b| a.min(b)), x.iter().fold(i64::MIN, |a, &b| a.max(b))];
    let got = combine(device, kernels::atomic_bounds_i64, &x, &[i64::MAX, i64::MIN])?;
    Ok(same(&got, &expected, "minimum, maximum"))
}

/// Small integers as floats: their sum is exact in any order.
fn small(n: usize) -> Vec<f32> {
    noise(n).into_iter().map(|x| (x % 100) as f32 - 40.0).collect()
}

fn sum_f32(device: &Device) -> Outcome {
    let x = small(500);
    let got = combine(device, kernels::atomic_sum_f32, &x, &[1.0])?;
    Ok(same(&got, &[1.0 + x.iter().sum::<f32>()], "sum"))
}

fn sum_f64(device: &Device) -> Outcome {
    let x: Vec<_> = small(500).into_iter().map(|x| f64::from(x) * 0.5).collect();
    let got = combine(device, kernels::atomic_sum_f64, &x, &[1.0])?;
    Ok(same(&got, &[1.0 + x.iter().sum::<f64>()], "sum"))
}

fn max_by_cas(device: &Device) -> Outcome {
    let x = small(500);
    let expected = x.iter().fold(f32::NEG_INFINITY, |a, &b| a.max(b)).to_bits();
    let got = combine(device, kernels::atomic_max_by_cas, &x, &[f32::NEG_INFINITY.to_bits()])?;
    Ok(same(&got, &[expected], "bits of the maximum"))
}

/// Which thread reads which value depends on the order; the set of all values does not.
fn swap_chain(device: &Device) -> Outcome {
    let (mut seen, mut cell) = (device.upload(&[CANARY; 200])?, device.upload(&[0_u32])?);
    device.launch(&kernels::atomic_swap_chain, Launch::cover(200, BLOCK), (&mut seen, &mut cell))?;
    let mut all = [seen.download()?, cell.download()?].concat();
    all.sort_unstable();
    assert_eq!(all, (0..=200).collect::<Vec<u32>>(), "each number once");
    Ok(bits(&all))
}

fn histogram(device: &Device) -> Outcome {
    let x = noise(777);
    let before = vec![3; BINS as usize];
    let mut expected = before.clone();
    for value in &x {
        expected[(value % BINS) as usize] += 1;
    }
    Ok(same(&combine(device, kernels::shared_histogram, &x, &before)?, &expected, "counts"))
}
