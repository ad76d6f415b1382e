//! Argmin and argmax: the lowest index of the minimum or maximum.
//!
//! NaNs compare as in [`extremes`](super::extremes): by default the first NaN wins, as in `numpy.argmax`. If there are
//! no elements, or only NaNs in the `nan_` kernels, the index is [`NO_INDEX`].
//!
//! The elements of a 16-byte vector are visited in order, so the first of equals is found by comparing keys alone, and
//! its index in the vector is a selected constant; 64-bit indices are compared once per 16 bytes.

use core::marker::PhantomData;

use half::{bf16, f16};

use super::compare::{Extremum, Ignore, Key, Maximum, Minimum, NanPolicy, Ordered, Propagate};
use super::entries::entries;
use super::reduction::{Merge, Reduction};

/// The result where there is no element.
pub const NO_INDEX: u64 = u64::MAX;

/// Key and index of the first element that is the extremum `W`, with a policy for NaNs.
pub struct ArgExtreme<T, W, P = Propagate>(PhantomData<(T, W, P)>);

impl<T: Ordered, W: Extremum, P: NanPolicy> Merge for ArgExtreme<T, W, P>
where
    (T::Key, u64): super::reduction::State,
{
    type State = (T::Key, u64);
    #[cfg_attr(optimised, inline(always))]
    fn identity() -> (T::Key, u64) {
        (P::identity::<W, _>(), NO_INDEX)
    }
    #[cfg_attr(optimised, inline(always))]
    fn merge(a: (T::Key, u64), b: (T::Key, u64)) -> (T::Key, u64) {
        let (better, worse) = (P::beats::<W, _>(b.0, a.0), P::beats::<W, _>(a.0, b.0));
        if better || (!worse && b.1 < a.1) { b } else { a }
    }
}

impl<T: Ordered, W: Extremum, P: NanPolicy> Reduction for ArgExtreme<T, W, P> {
    type Merges = ArgExtreme<T::Key, W, P>;
    type Element = T;
    type Output = u64;
    #[cfg_attr(optimised, inline(always))]
    fn of(x: T, index: u64, _: u64) -> (T::Key, u64) {
        (x.key(), index)
    }
    #[cfg_attr(optimised, inline(always))]
    fn of_vector(lanes: &[T], first: u64, _: u64) -> (T::Key, u64) {
        let (mut best, mut offset) = (lanes[0].key(), 0_u32);
        for lane in 1..lanes.len() {
            let key = lanes[lane].key();
            let better = P::beats::<W, _>(key, best);
            best = if better { key } else { best };
            offset = if better { lane as u32 } else { offset };
        }
        (best, first + u64::from(offset))
    }
    #[cfg_attr(optimised, inline(always))]
    fn finish((best, index): (T::Key, u64), _: u64) -> u64 {
        // A NaN here is the identity: no element was seen.
        if best.is_nan() && P::identity::<W, T::Key>().is_nan() { NO_INDEX } else { index }
    }
}

entries! {
    /// `out[0]` = the first index of max x, or of NaN if there is one.
    at 3 blocks: reduce_argmax_f32(f32 by 4 => u64) ArgExtreme<f32, Maximum>;
    /// `out[0]` = the first index of max x, or of NaN if there is one.
    at 3 blocks: reduce_argmax_f64(f64 by 2 => u64) ArgExtreme<f64, Maximum>;
    /// `out[0]` = the first index of max x, or of NaN if there is one.
    at 3 blocks: reduce_argmax_f16(f16 by 8 => u64) ArgExtreme<f16, Maximum>;
    /// `out[0]` = the first index of max x, or of NaN if there is one.
    at 3 blocks: reduce_argmax_bf16(bf16 by 8 => u64) ArgExtreme<bf16, Maximum>;
    /// `out[0]` = the first index of max x.
    at 3 blocks: reduce_argmax_i32(i32 by 4 => u64) ArgExtreme<i32, Maximum>;
    /// `out[0]` = the first index of max x.
    at 3 blocks: reduce_argmax_u32(u32 by 4 => u64) ArgExtreme<u32, Maximum>;
    /// `out[0]` = the first index of max x.
    at 3 blocks: reduce_argmax_i64(i64 by 2 => u64) ArgExtreme<i64, Maximum>;
    /// `out[0]` = the first index of max x.
    at 3 blocks: reduce_argmax_u64(u64 by 2 => u64) ArgExtreme<u64, Maximum>;
    /// `out[0]` = the first index of min x, or of NaN if there is one.
    at 3 blocks: reduce_argmin_f32(f32 by 4 => u64) ArgExtreme<f32, Minimum>;
    /// `out[0]` = the first index of min x, or of NaN if there is one.
    at 3 blocks: reduce_argmin_f64(f64 by 2 => u64) ArgExtreme<f64, Minimum>;
    /// `out[0]` = the first index of min x, or of NaN if there is one.
    at 3 blocks: reduce_argmin_f16(f16 by 8 => u64) ArgExtreme<f16, Minimum>;
    /// `out[0]` = the first index of min x, or of NaN if there is one.
    at 3 blocks: reduce_argmin_bf16(bf16 by 8 => u64) ArgExtreme<bf16, Minimum>;
    /// `out[0]` = the first index of min x.
    at 3 blocks: reduce_argmin_i32(i32 by 4 => u64) ArgExtreme<i32, Minimum>;
    /// `out[0]` = the first index of min x.
    at 3 blocks: reduce_argmin_u32(u32 by 4 => u64) ArgExtreme<u32, Minimum>;
    /// `out[0]` = the first index of min x.
    at 3 blocks: reduce_argmin_i64(i64 by 2 => u64) ArgExtreme<i64, Minimum>;
    /// `out[0]` = the first index of min x.
    at 3 blocks: reduce_argmin_u64(u64 by 2 => u64) ArgExtreme<u64, Minimum>;
    /// `out[0]` = the first index of max x without NaNs.
    at 3 blocks: reduce_nan_argmax_f32(f32 by 4 => u64) ArgExtreme<f32, Maximum, Ignore>;
    /// `out[0]` = the first index of max x without NaNs.
    at 3 blocks: reduce_nan_argmax_f64(f64 by 2 => u64) ArgExtreme<f64, Maximum, Ignore>;
    /// `out[0]` = the first index of max x without NaNs.
    at 3 blocks: reduce_nan_argmax_f16(f16 by 8 => u64) ArgExtreme<f16, Maximum, Ignore>;
    /// `out[0]` = the first index of max x without NaNs.
    at 3 blocks: reduce_nan_argmax_bf16(bf16 by 8 => u64) ArgExtreme<bf16, Maximum, Ignore>;
    /// `out[0]` = the first index of min x without NaNs.
    at 3 blocks: reduce_nan_argmin_f32(f32 by 4 => u64) ArgExtreme<f32, Minimum, Ignore>;
    /// `out[0]` = the first index of min x without NaNs.
    at 3 blocks: reduce_nan_argmin_f64(f64 by 2 => u64) ArgExtreme<f64, Minimum, Ignore>;
    /// `out[0]` = the first index of min x without NaNs.
    at 3 blocks: reduce_nan_argmin_f16(f16 by 8 => u64) ArgExtreme<f16, Minimum, Ignore>;
    /// `out[0]` = the first index of min x without NaNs.
    at 3 blocks: reduce_nan_argmin_bf16(bf16 by 8 => u64) ArgExtreme<bf16, Minimum, Ignore>;
}
