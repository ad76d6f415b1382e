//! Where the minimum or maximum is: the lowest index of it.
//!
//! The NaN policy is that of [`extremes`](super::extremes): by default the first NaN is what is looked for, as in
//! `numpy.argmax`. Where there is no element, or in the `nan_` kernels nothing but NaN, the index is [`NOWHERE`].
//!
//! Within 16 bytes elements come in order, so there the first of equals is kept by comparing values alone, and the place is a
//! constant to select; indices of 64 bits are compared once in 16 bytes.

use core::marker::PhantomData;

use half::{bf16, f16};

use super::entries::entries;
use super::order::{Greatest, Ignore, Key, Least, NanPolicy, Ordered, Propagate, Wish};
use super::reduction::{Merge, Reduction};

/// The index of what is not there.
pub const NOWHERE: u64 = u64::MAX;

/// The first of the best elements by the wish `W`, with a policy for NaNs: its key and its index.
pub struct Position<T, W, P = Propagate>(PhantomData<(T, W, P)>);

impl<T: Ordered, W: Wish, P: NanPolicy> Merge for Position<T, W, P>
where
    (T::Key, u64): super::reduction::State,
{
    type State = (T::Key, u64);
    #[inline(always)]
    fn none() -> (T::Key, u64) {
        (P::none::<W, _>(), NOWHERE)
    }
    #[inline(always)]
    fn merge(a: (T::Key, u64), b: (T::Key, u64)) -> (T::Key, u64) {
        let (better, worse) = (P::beats::<W, _>(b.0, a.0), P::beats::<W, _>(a.0, b.0));
        if better || (!worse && b.1 < a.1) { b } else { a }
    }
}

impl<T: Ordered, W: Wish, P: NanPolicy> Reduction for Position<T, W, P> {
    type Element = T;
    type Output = u64;
    #[inline(always)]
    fn of(x: T, index: u64) -> (T::Key, u64) {
        (x.key(), index)
    }
    #[inline(always)]
    fn of_vector<const N: usize>(lanes: [T; N], first: u64) -> (T::Key, u64) {
        let (mut best, mut place) = (lanes[0].key(), 0_u32);
        for lane in 1..N {
            let key = lanes[lane].key();
            let better = P::beats::<W, _>(key, best);
            best = if better { key } else { best };
            place = if better { lane as u32 } else { place };
        }
        (best, first + u64::from(place))
    }
    #[inline(always)]
    fn finish((best, index): (T::Key, u64), _: u64) -> u64 {
        // A NaN that lost to nothing is not there.
        if best.is_nan() && P::none::<W, T::Key>().is_nan() { NOWHERE } else { index }
    }
}

entries! {
    /// `out[0]` = the first index of max x, or of NaN if there is one.
    at 3 blocks: reduce_argmax_f32(f32 by 4 => u64) Position<f32, Greatest>;
    /// `out[0]` = the first index of max x, or of NaN if there is one.
    at 3 blocks: reduce_argmax_f64(f64 by 2 => u64) Position<f64, Greatest>;
    /// `out[0]` = the first index of max x, or of NaN if there is one.
    at 3 blocks: reduce_argmax_f16(f16 by 8 => u64) Position<f16, Greatest>;
    /// `out[0]` = the first index of max x, or of NaN if there is one.
    at 3 blocks: reduce_argmax_bf16(bf16 by 8 => u64) Position<bf16, Greatest>;
    /// `out[0]` = the first index of max x.
    at 3 blocks: reduce_argmax_i32(i32 by 4 => u64) Position<i32, Greatest>;
    /// `out[0]` = the first index of max x.
    at 3 blocks: reduce_argmax_u32(u32 by 4 => u64) Position<u32, Greatest>;
    /// `out[0]` = the first index of max x.
    at 3 blocks: reduce_argmax_i64(i64 by 2 => u64) Position<i64, Greatest>;
    /// `out[0]` = the first index of max x.
    at 3 blocks: reduce_argmax_u64(u64 by 2 => u64) Position<u64, Greatest>;
    /// `out[0]` = the first index of min x, or of NaN if there is one.
    at 3 blocks: reduce_argmin_f32(f32 by 4 => u64) Position<f32, Least>;
    /// `out[0]` = the first index of min x, or of NaN if there is one.
    at 3 blocks: reduce_argmin_f64(f64 by 2 => u64) Position<f64, Least>;
    /// `out[0]` = the first index of min x, or of NaN if there is one.
    at 3 blocks: reduce_argmin_f16(f16 by 8 => u64) Position<f16, Least>;
    /// `out[0]` = the first index of min x, or of NaN if there is one.
    at 3 blocks: reduce_argmin_bf16(bf16 by 8 => u64) Position<bf16, Least>;
    /// `out[0]` = the first index of min x.
    at 3 blocks: reduce_argmin_i32(i32 by 4 => u64) Position<i32, Least>;
    /// `out[0]` = the first index of min x.
    at 3 blocks: reduce_argmin_u32(u32 by 4 => u64) Position<u32, Least>;
    /// `out[0]` = the first index of min x.
    at 3 blocks: reduce_argmin_i64(i64 by 2 => u64) Position<i64, Least>;
    /// `out[0]` = the first index of min x.
    at 3 blocks: reduce_argmin_u64(u64 by 2 => u64) Position<u64, Least>;
    /// `out[0]` = the first index of the maximum of what is no NaN.
    at 3 blocks: reduce_nan_argmax_f32(f32 by 4 => u64) Position<f32, Greatest, Ignore>;
    /// `out[0]` = the first index of the maximum of what is no NaN.
    at 3 blocks: reduce_nan_argmax_f64(f64 by 2 => u64) Position<f64, Greatest, Ignore>;
    /// `out[0]` = the first index of the maximum of what is no NaN.
    at 3 blocks: reduce_nan_argmax_f16(f16 by 8 => u64) Position<f16, Greatest, Ignore>;
    /// `out[0]` = the first index of the maximum of what is no NaN.
    at 3 blocks: reduce_nan_argmax_bf16(bf16 by 8 => u64) Position<bf16, Greatest, Ignore>;
    /// `out[0]` = the first index of the minimum of what is no NaN.
    at 3 blocks: reduce_nan_argmin_f32(f32 by 4 => u64) Position<f32, Least, Ignore>;
    /// `out[0]` = the first index of the minimum of what is no NaN.
    at 3 blocks: reduce_nan_argmin_f64(f64 by 2 => u64) Position<f64, Least, Ignore>;
    /// `out[0]` = the first index of the minimum of what is no NaN.
    at 3 blocks: reduce_nan_argmin_f16(f16 by 8 => u64) Position<f16, Least, Ignore>;
    /// `out[0]` = the first index of the minimum of what is no NaN.
    at 3 blocks: reduce_nan_argmin_bf16(bf16 by 8 => u64) Position<bf16, Least, Ignore>;
}
