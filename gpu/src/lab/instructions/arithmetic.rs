//! Arithmetic and conversions, which must have the same bits as on the host.

use half::{bf16, f16};
use simt::{
    convert::{bf16_from_f32, f16_from_f32, f32_from_bf16, f32_from_f16},
    math::{byte_perm, maximum, maximum_number, minimum, minimum_number, sqrt},
    prelude::*,
};

/// Threads of a block.
pub const BLOCK: u32 = 128;

/// `d[i]` = √|`a[i]` · `b[i]` + `c[i]`|, the sum rounded once.
#[kernel(block = (BLOCK))]
pub fn fma_and_sqrt_f32(a: VecRef<f32>, b: VecRef<f32>, c: VecRef<f32>, d: VecMut<f32>) {
    let i = index_1d();
    d.set_within(i, sqrt(fma(a.get_or(i, 0.0), b.get_or(i, 0.0), c.get_or(i, 0.0)).abs()));
}

/// [`fma_and_sqrt_f32`] with 64 bits.
#[kernel(block = (BLOCK))]
pub fn fma_and_sqrt_f64(a: VecRef<f64>, b: VecRef<f64>, c: VecRef<f64>, d: VecMut<f64>) {
    let i = index_1d();
    d.set_within(i, sqrt(fma(a.get_or(i, 0.0), b.get_or(i, 0.0), c.get_or(i, 0.0)).abs()));
}

/// `bytes[i]` = the four bytes that `selectors[i]` picks from `low[i]` and `high[i]`.
#[kernel(block = (BLOCK))]
pub fn pick_bytes(low: VecRef<u32>, high: VecRef<u32>, selectors: VecRef<u32>, bytes: VecMut<u32>) {
    let i = index_1d();
    bytes.set_within(i, byte_perm(low.get_or(i, 0), high.get_or(i, 0), selectors.get_or(i, 0)));
}

/// `chosen[4i]` to `chosen[4i + 3]` = maximum, minimum, maximumNumber and minimumNumber of `a[i]` and `b[i]`.
#[kernel(block = (BLOCK))]
pub fn choose_f32(a: VecRef<f32>, b: VecRef<f32>, chosen: VecMut<f32>) {
    let i = index_1d();
    let (a, b) = (a.get_or(i, 0.0), b.get_or(i, 0.0));
    chosen.set_within(4 * i, maximum(a, b));
    chosen.set_within(4 * i + 1, minimum(a, b));
    chosen.set_within(4 * i + 2, maximum_number(a, b));
    chosen.set_within(4 * i + 3, minimum_number(a, b));
}

/// `y[i]` = `x[i]` rounded to binary16, `z[i]` = the value of `y[i]`.
#[kernel(block = (BLOCK))]
pub fn round_to_f16(x: VecRef<f32>, y: VecMut<f16>, z: VecMut<f32>) {
    let i = index_1d();
    let rounded = f16_from_f32(x.get_or(i, 0.0));
    y.set_within(i, rounded);
    z.set_within(i, f32_from_f16(rounded));
}

/// `y[i]` = `x[i]` rounded to bfloat16, `z[i]` = the value of `y[i]`.
#[kernel(block = (BLOCK))]
pub fn round_to_bf16(x: VecRef<f32>, y: VecMut<bf16>, z: VecMut<f32>) {
    let i = index_1d();
    let rounded = bf16_from_f32(x.get_or(i, 0.0));
    y.set_within(i, rounded);
    z.set_within(i, f32_from_bf16(rounded));
}
