//! Minimum and maximum.
//!
//! A NaN wins by default, as in `numpy.max`; in the `nan_` kernels every number beats it, as in `numpy.nanmax`, and NaN comes
//! out where there is nothing else. The maximum of no element is −∞ or the least integer, never a finite float; that of
//! nothing but −∞ is −∞. +0 is greater than −0, but in `f64`, where they are equal and the order of merges
//! settles which comes out.

use core::marker::PhantomData;

use half::{bf16, f16};

use super::entries::entries;
use super::order::{Greatest, Ignore, Key, Least, NanPolicy, Ordered, Propagate, Wish};
use super::reduction::{Merge, Reduction};

/// The best element by the wish `W`, with a policy for NaNs.
pub struct Extreme<T, W, P = Propagate>(PhantomData<(T, W, P)>);

impl<T: Ordered, W: Wish, P: NanPolicy> Merge for Extreme<T, W, P> {
    type State = T::Key;
    #[inline(always)]
    fn none() -> T::Key {
        P::none::<W, _>()
    }
    #[inline(always)]
    fn merge(a: T::Key, b: T::Key) -> T::Key {
        Key::of_two(a, b, W::GREATEST, P::IGNORES).unwrap_or(if P::beats::<W, _>(b, a) { b } else { a })
    }
    #[inline(always)]
    #[track_caller]
    fn of_lanes(state: T::Key, lanes: u32) -> T::Key {
        // Keys that come twice change nothing, so the whole warp may take part.
        if let Some(best) = W::of_warp(state) {
            return best;
        }
        let mut state = state;
        let mut distance = lanes / 2;
        while distance > 0 {
            state = Self::merge(state, super::reduction::State::of_lane_above(state, distance));
            distance /= 2;
        }
        state
    }
}

impl<T: Ordered, W: Wish, P: NanPolicy> Reduction for Extreme<T, W, P> {
    type Element = T;
    type Output = T;
    #[inline(always)]
    fn of(x: T, _: u64) -> T::Key {
        x.key()
    }
    #[inline(always)]
    fn finish(best: T::Key, _: u64) -> T {
        T::of_key(best)
    }
}

entries! {
    /// `out[0]` = max x, NaN if there is one.
    at 3 blocks: reduce_max_f32(f32 by 4 => f32) Extreme<f32, Greatest>;
    /// `out[0]` = max x, NaN if there is one.
    at 4 blocks: reduce_max_f64(f64 by 2 => f64) Extreme<f64, Greatest>;
    /// `out[0]` = max x, NaN if there is one.
    at 3 blocks: reduce_max_f16(f16 by 8 => f16) Extreme<f16, Greatest>;
    /// `out[0]` = max x, NaN if there is one.
    at 4 blocks: reduce_max_bf16(bf16 by 8 => bf16) Extreme<bf16, Greatest>;
    /// `out[0]` = max x.
    at 3 blocks: reduce_max_i32(i32 by 4 => i32) Extreme<i32, Greatest>;
    /// `out[0]` = max x.
    at 3 blocks: reduce_max_u32(u32 by 4 => u32) Extreme<u32, Greatest>;
    /// `out[0]` = max x.
    at 4 blocks: reduce_max_i64(i64 by 2 => i64) Extreme<i64, Greatest>;
    /// `out[0]` = max x.
    at 4 blocks: reduce_max_u64(u64 by 2 => u64) Extreme<u64, Greatest>;
    /// `out[0]` = min x, NaN if there is one.
    at 3 blocks: reduce_min_f32(f32 by 4 => f32) Extreme<f32, Least>;
    /// `out[0]` = min x, NaN if there is one.
    at 4 blocks: reduce_min_f64(f64 by 2 => f64) Extreme<f64, Least>;
    /// `out[0]` = min x, NaN if there is one.
    at 3 blocks: reduce_min_f16(f16 by 8 => f16) Extreme<f16, Least>;
    /// `out[0]` = min x, NaN if there is one.
    at 4 blocks: reduce_min_bf16(bf16 by 8 => bf16) Extreme<bf16, Least>;
    /// `out[0]` = min x.
    at 3 blocks: reduce_min_i32(i32 by 4 => i32) Extreme<i32, Least>;
    /// `out[0]` = min x.
    at 3 blocks: reduce_min_u32(u32 by 4 => u32) Extreme<u32, Least>;
    /// `out[0]` = min x.
    at 4 blocks: reduce_min_i64(i64 by 2 => i64) Extreme<i64, Least>;
    /// `out[0]` = min x.
    at 4 blocks: reduce_min_u64(u64 by 2 => u64) Extreme<u64, Least>;
    /// `out[0]` = the maximum of what is no NaN.
    at 3 blocks: reduce_nan_max_f32(f32 by 4 => f32) Extreme<f32, Greatest, Ignore>;
    /// `out[0]` = the maximum of what is no NaN.
    at 4 blocks: reduce_nan_max_f64(f64 by 2 => f64) Extreme<f64, Greatest, Ignore>;
    /// `out[0]` = the maximum of what is no NaN.
    at 3 blocks: reduce_nan_max_f16(f16 by 8 => f16) Extreme<f16, Greatest, Ignore>;
    /// `out[0]` = the maximum of what is no NaN.
    at 3 blocks: reduce_nan_max_bf16(bf16 by 8 => bf16) Extreme<bf16, Greatest, Ignore>;
    /// `out[0]` = the minimum of what is no NaN.
    at 3 blocks: reduce_nan_min_f32(f32 by 4 => f32) Extreme<f32, Least, Ignore>;
    /// `out[0]` = the minimum of what is no NaN.
    at 4 blocks: reduce_nan_min_f64(f64 by 2 => f64) Extreme<f64, Least, Ignore>;
    /// `out[0]` = the minimum of what is no NaN.
    at 3 blocks: reduce_nan_min_f16(f16 by 8 => f16) Extreme<f16, Least, Ignore>;
    /// `out[0]` = the minimum of what is no NaN.
    at 3 blocks: reduce_nan_min_bf16(bf16 by 8 => bf16) Extreme<bf16, Least, Ignore>;
}
