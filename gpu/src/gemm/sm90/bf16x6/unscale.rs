//! After the main loop: the scale of the planes undone, and what they cannot express computed again.

use simt::prelude::*;
use simt::wgmma::{Accumulators, Columns, Width};
use simt::{opaque, warp};

use super::SCALE;
use crate::gemm::args::{GemmArgs, Operands, TRANSPOSE_A, TRANSPOSE_B, strides};

/// What undoes the scale of both operands: a power of two, so that only a subnormal result is rounded.
const UNSCALE: f32 = 1.0 / SCALE / SCALE;

/// The sums of 64 rows from row `row`, column `col` of matrix `matrix` on, of the products of `source`.
#[cfg_attr(optimised, inline(always))]
pub(in crate::gemm::sm90) fn unscale<const N: usize>(
    sums: &mut Accumulators<N>,
    source: Operands<'_, f32>,
    [row, col, matrix]: [u32; 3],
    gemm: &GemmArgs<'_, f32>,
) where
    Columns<N>: Width,
{
    // NaN once a sum is not finite.
    let mut probe = 0.0;
    sums.map_8_columns(|_, values| {
        values.map(|value| {
            probe = fma(value, 0.0, probe);
            value * UNSCALE
        })
    });
    if probe.is_nan() {
        // A loop that is not unrolled: the registers are selected, since they have no index.
        let mut number = opaque(0);
        while number < N as u32 / 2 {
            let mut value = 0.0;
            sums.for_each(|i, sum| {
                if i == number {
                    value = sum;
                }
            });
            let (down, across) = Accumulators::<N>::position(number);
            let (row, col) = (row + down, col + across);
            if !value.is_finite() && row < gemm.m && col < gemm.n {
                value = dot(source, [row, col, matrix], gemm);
            }
            sums.map_8_columns(|first, mut values| {
                for (i, sum) in (first / 2..).zip(&mut values) {
                    if i == number {
                        *sum = value;
                    }
                }
                values
            });
            number += 1;
        }
    }
    warp::sync_warp(warp::FULL_MASK);
}

/// Element (`row`, `col`) of op(A)·op(B), accumulated in `f64` in order of k. A sum that is NaN stays one.
#[cfg_attr(optimised, inline(always))]
fn dot(
    Operands { a, b, ld, stride }: Operands<'_, f32>,
    [row, col, matrix]: [u32; 3],
    gemm: &GemmArgs<'_, f32>,
) -> f32 {
    let (a_down, a_along) = strides(ld[0], gemm.flags & TRANSPOSE_A != 0);
    let (b_along, b_across) = strides(ld[1], gemm.flags & TRANSPOSE_B != 0);
    let mut from_a = matrix as u64 * stride[0] + row as u64 * a_down;
    let mut from_b = matrix as u64 * stride[1] + col as u64 * b_across;
    let (mut sum, mut l) = (0.0_f64, 0);
    while l < gemm.k && !sum.is_nan() {
        let (x, y) = (a.get_or(from_a as usize, 0.0), b.get_or(from_b as usize, 0.0));
        sum = fma(f64::from(x), f64::from(y), sum);
        (from_a, from_b, l) = (from_a + a_along, from_b + b_along, l + 1);
    }
    sum as f32
}
