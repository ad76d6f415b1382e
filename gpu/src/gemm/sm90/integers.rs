//! Sums of `i8`: `i32`, whose bits the accumulators hold.

use simt::wgmma::{Accumulators, Columns, Width};

use crate::gemm::args::GemmArgs;

/// The sums as `f32`, rounded to nearest, unless C takes the integers.
#[inline(always)]
pub(super) fn convert<const N: usize>(sums: &mut Accumulators<N>, gemm: &GemmArgs<'_, i8>)
where
    Columns<N>: Width,
{
    if !gemm.has_integers() {
        sums.map_8_columns(|_, values| values.map(|bits| bits.to_bits() as i32 as f32));
    }
}
