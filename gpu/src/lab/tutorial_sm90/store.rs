//! Sums in registers stored to C by the threads that have them.

use half::bf16;
use simt::convert::bf16_from_f32;
use simt::element::Vec2;
use simt::prelude::*;
use simt::wgmma::{Accumulators, Columns, Width};

/// Stores two neighbours, if C has them.
#[cfg_attr(optimised, inline(always))]
pub(super) fn store_pair(c: MatMut<bf16>, (row, col): (u32, u32), values: [f32; 2]) {
    c.window_mut().set_vec_within::<2>(row, col, Vec2::new(values.map(bf16_from_f32)));
}

/// Stores the sums of a warpgroup, 64 × `N`, to C from (`row`, `col`) on. Four lanes write 16 neighbouring bytes: half
/// of each sector of 32 bytes is written by another instruction.
#[cfg_attr(optimised, inline(always))]
pub(super) fn store<const N: usize>(c: MatMut<bf16>, sums: &Accumulators<N>, (row, col): (u32, u32))
where
    Columns<N>: Width,
{
    let (down, right) = Accumulators::<N>::position(0);
    let (row, col) = (row + down, col + right);
    sums.for_each_8_columns(|first, [a, b, below, last]| {
        store_pair(c, (row, col + first), [a, b]);
        store_pair(c, (row + 8, col + first), [below, last]);
    });
}
