//! After the main loop of 8-bit operands: integers become `f32`, and rows and columns get their factors.

use simt::wgmma::{Accumulators, Columns, Width};

use crate::gemm::args::{GemmArgs, SCALES, Scales};
use crate::gemm::number::Number;
use crate::unroll::each;

/// The sums of 64 rows from row `row`, column `col` of C on, times their factors. Those of `i8` are `i32`, whose bits
/// the accumulators hold: they are rounded to the nearest `f32` first, and stay as they are if C takes integers.
#[cfg_attr(optimised, inline(always))]
pub(super) fn scale<T: Number<Wide = f32>, const N: usize>(
    sums: &mut Accumulators<N>,
    scales: Scales<'_>,
    [row, col, _]: [u32; 3],
    gemm: &GemmArgs<'_, T>,
) where
    Columns<N>: Width,
{
    if gemm.has_integers() {
        return;
    }
    if T::IS_INTEGER {
        sums.map_8_columns(|_, values| each!(values, |bits| bits.to_bits() as i32 as f32));
    }
    if gemm.flags & SCALES != 0 {
        let (down, across) = Accumulators::<N>::position(0);
        let [upper, lower] = each!([0, 8], |i| scales.rows.get_or((row + down + i) as usize, 1.0));
        sums.map_8_columns(|first, [a, b, c, d]| {
            let [left, right] = each!([0, 1], |i| scales.columns.get_or((col + across + first + i) as usize, 1.0));
            [a * upper * left, b * upper * right, c * lower * left, d * lower * right]
        });
    }
}
