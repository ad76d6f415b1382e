//! Accesses of every width.

use gpu::lab::instructions::vectors::{self as kernels, BLOCK, grid};
use simt::Kernel;
use simt::element::Element;
use simt::global::{VecMut, VecRef};
use warpwright::half::f16;
use warpwright::{Device, Launch};

use crate::case::{Bits, Case, Outcome, floats, noise, reversed, same};

macro_rules! copies {
    ($($kernel:ident by $lanes:literal of $convert:expr;)+) => {
        &[
            $(Case {
                kernel: kernels::$kernel.info(),
                run: |device| copy(device, kernels::$kernel, $lanes, $convert),
            },)+
            Case { kernel: kernels::reverse_in_shared.info(), run: reverse },
        ]
    };
}
pub(crate) const CASES: &[Case] = copies! {
    copy_u8 by 1 of |x| x as u8;
    copy_f16 by 1 of finite_half;
    copy_f64 by 1 of f64::from;
    copy_u8x4 by 4 of |x| x as u8;
    copy_u8x16 by 16 of |x| x as u8;
    copy_f16x8 by 8 of finite_half;
    copy_f32x2 by 2 of |x| x as f32;
    copy_f32x4 by 4 of |x| x as f32;
    copy_f32x4_cs by 4 of |x| x as f32;
    copy_f64x2 by 2 of f64::from;
};

fn finite_half(x: u32) -> f16 {
    f16::from_bits(x as u16 & 0x7bff)
}

/// A copy of `n` elements in vectors of `lanes`; remaining elements are unchanged.
fn copy<T: Element + Bits>(
    device: &Device,
    kernel: Kernel<(VecRef<'static, T>, VecMut<'static, T>)>,
    lanes: usize,
    convert: fn(u32) -> T,
) -> Outcome {
    let mut all = Vec::new();
    for n in [lanes, 5 * lanes, 128 * lanes, 300 * lanes + lanes - 1] {
        let numbers: Vec<T> = noise(2 * n).into_iter().map(convert).collect();
        let (x, before) = numbers.split_at(n);
        let copied = n / lanes * lanes;
        let expected = [&x[..copied], &before[copied..]].concat();
        let (input, mut out) = (device.upload(x)?, device.upload(before)?);
        device.launch(&kernel, Launch::grid(grid(n, lanes)), (&input, &mut out))?;
        all.extend(same(&out.download()?, &expected, &format!("{n} elements")));
    }
    Ok(all)
}

fn reverse(device: &Device) -> Outcome {
    let section = 4 * BLOCK as usize;
    let x = floats(3 * section);
    let (input, mut y) = (device.upload(&x[..])?, device.upload(&vec![-1.0_f32; x.len()][..])?);
    device.launch(&kernels::reverse_in_shared, Launch::grid(3), (&input, &mut y))?;
    Ok(same(&y.download()?, &reversed(&x, section), "sections reversed"))
}
