//! Minimum and maximum.
//!
//! A NaN wins by default, as in `numpy.max`. In the `nan_` kernels every number beats a NaN, as in `numpy.nanmax`, and
//! the result is NaN only if there are no numbers. The maximum of no elements is −∞ or the least integer. +0 is greater
//! than −0, except in `f64`, where they are equal and the result depends on the order of merges.

use core::marker::PhantomData;

use half::{bf16, f16};
use simt::warp::{FULL_MASK, warp_reduce};

use super::compare::{Extremum, Ignore, Key, Maximum, Minimum, NanPolicy, Ordered, Propagate};
use super::entries::entries;
use super::reduction::{Merge, Reduction};

/// The extremum `W` of the elements, with a policy for NaNs.
pub struct Extreme<T, W, P = Propagate>(PhantomData<(T, W, P)>);

impl<T: Ordered, W: Extremum, P: NanPolicy> Merge for Extreme<T, W, P> {
    type State = T::Key;
    #[cfg_attr(optimised, inline(always))]
    fn identity() -> T::Key {
        P::identity::<W, _>()
    }
    #[cfg_attr(optimised, inline(always))]
    fn merge(a: T::Key, b: T::Key) -> T::Key {
        Key::extreme_of_two(a, b, W::IS_MAXIMUM, P::IGNORES).unwrap_or(if P::beats::<W, _>(b, a) { b } else { a })
    }
    #[cfg_attr(optimised, inline(always))]
    fn reduce_lanes(state: T::Key, lanes: u32) -> T::Key {
        // Duplicate keys do not change the result, so the whole warp may take part.
        if let Some(best) = W::extreme_of_warp(state) {
            return best;
        }
        warp_reduce(FULL_MASK, state, lanes, Self::merge)
    }
}

impl<T: Ordered, W: Extremum, P: NanPolicy> Reduction for Extreme<T, W, P> {
    type Merges = Extreme<T::Key, W, P>;
    type Element = T;
    type Output = T;
    #[cfg_attr(optimised, inline(always))]
    fn of(x: T, _: u64, _: u64) -> T::Key {
        x.key()
    }
    #[cfg_attr(optimised, inline(always))]
    fn finish(best: T::Key, _: u64) -> T {
        T::of_key(best)
    }
}

entries! {
    /// `out[0]` = max x, NaN if there is one.
    at 3 blocks: reduce_max_f32(f32 by 4 => f32) Extreme<f32, Maximum>;
    /// `out[0]` = max x, NaN if there is one.
    at 4 blocks: reduce_max_f64(f64 by 2 => f64) Extreme<f64, Maximum>;
    /// `out[0]` = max x, NaN if there is one.
    at 3 blocks: reduce_max_f16(f16 by 8 => f16) Extreme<f16, Maximum>;
    /// `out[0]` = max x, NaN if there is one.
    at 4 blocks: reduce_max_bf16(bf16 by 8 => bf16) Extreme<bf16, Maximum>;
    /// `out[0]` = max x.
    at 3 blocks: reduce_max_i32(i32 by 4 => i32) Extreme<i32, Maximum>;
    /// `out[0]` = max x.
    at 3 blocks: reduce_max_u32(u32 by 4 => u32) Extreme<u32, Maximum>;
    /// `out[0]` = max x.
    at 4 blocks: reduce_max_i64(i64 by 2 => i64) Extreme<i64, Maximum>;
    /// `out[0]` = max x.
    at 4 blocks: reduce_max_u64(u64 by 2 => u64) Extreme<u64, Maximum>;
    /// `out[0]` = min x, NaN if there is one.
    at 3 blocks: reduce_min_f32(f32 by 4 => f32) Extreme<f32, Minimum>;
    /// `out[0]` = min x, NaN if there is one.
    at 4 blocks: reduce_min_f64(f64 by 2 => f64) Extreme<f64, Minimum>;
    /// `out[0]` = min x, NaN if there is one.
    at 3 blocks: reduce_min_f16(f16 by 8 => f16) Extreme<f16, Minimum>;
    /// `out[0]` = min x, NaN if there is one.
    at 4 blocks: reduce_min_bf16(bf16 by 8 => bf16) Extreme<bf16, Minimum>;
    /// `out[0]` = min x.
    at 3 blocks: reduce_min_i32(i32 by 4 => i32) Extreme<i32, Minimum>;
    /// `out[0]` = min x.
    at 3 blocks: reduce_min_u32(u32 by 4 => u32) Extreme<u32, Minimum>;
    /// `out[0]` = min x.
    at 4 blocks: reduce_min_i64(i64 by 2 => i64) Extreme<i64, Minimum>;
    /// `out[0]` = min x.
    at 4 blocks: reduce_min_u64(u64 by 2 => u64) Extreme<u64, Minimum>;
    /// `out[0]` = max x without NaNs.
    at 3 blocks: reduce_nan_max_f32(f32 by 4 => f32) Extreme<f32, Maximum, Ignore>;
    /// `out[0]` = max x without NaNs.
    at 4 blocks: reduce_nan_max_f64(f64 by 2 => f64) Extreme<f64, Maximum, Ignore>;
    /// `out[0]` = max x without NaNs.
    at 3 blocks: reduce_nan_max_f16(f16 by 8 => f16) Extreme<f16, Maximum, Ignore>;
    /// `out[0]` = max x without NaNs.
    at 3 blocks: reduce_nan_max_bf16(bf16 by 8 => bf16) Extreme<bf16, Maximum, Ignore>;
    /// `out[0]` = min x without NaNs.
    at 3 blocks: reduce_nan_min_f32(f32 by 4 => f32) Extreme<f32, Minimum, Ignore>;
    /// `out[0]` = min x without NaNs.
    at 4 blocks: reduce_nan_min_f64(f64 by 2 => f64) Extreme<f64, Minimum, Ignore>;
    /// `out[0]` = min x without NaNs.
    at 3 blocks: reduce_nan_min_f16(f16 by 8 => f16) Extreme<f16, Minimum, Ignore>;
    /// `out[0]` = min x without NaNs.
    at 3 blocks: reduce_nan_min_bf16(bf16 by 8 => bf16) Extreme<bf16, Minimum, Ignore>;
}
