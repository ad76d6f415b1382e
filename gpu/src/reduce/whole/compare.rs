//! Comparison of elements: their keys, whether the maximum or the minimum wins, and how NaNs compare.

use half::{bf16, f16};
use simt::convert::{bf16_from_f32, f16_from_f32, f32_from_bf16, f32_from_f16};
use simt::element::Element;
use simt::math::{maximum, maximum_number, minimum, minimum_number};
use simt::warp::{FULL_MASK, WarpValue, warp_reduce_max, warp_reduce_min};

use super::reduction::State;

/// Numbers of 4 or 8 bytes that are compared.
pub trait Key: State + WarpValue + PartialOrd {
    /// The lowest key: −∞, or the least integer.
    const LOWEST: Self;
    /// The highest key: ∞, or the greatest integer.
    const HIGHEST: Self;
    /// The key for "no element" where NaNs are ignored: a NaN; integers have none.
    const ABSENT: Option<Self>;
    /// Whether it is a NaN.
    fn is_nan(self) -> bool;
    /// The maximum or minimum of two keys, with NaNs ignored or propagated, if one instruction computes it.
    fn extreme_of_two(a: Self, b: Self, greatest: bool, ignore_nan: bool) -> Option<Self>;
    /// The maximum key of the warp, if one instruction computes it.
    fn warp_maximum(self) -> Option<Self>;
    /// The minimum key of the warp, if one instruction computes it.
    fn warp_minimum(self) -> Option<Self>;
}

/// Elements that are compared by a key.
pub trait Ordered: Element {
    /// The key.
    type Key: Key + Ordered<Key = Self::Key>;
    /// The key of the element; the conversion is exact.
    fn key(self) -> Self::Key;
    /// The element of a key.
    fn of_key(key: Self::Key) -> Self;
}

/// Whether the maximum or the minimum wins.
pub trait Extremum {
    /// Whether the maximum wins.
    const IS_MAXIMUM: bool;
    /// The key that never wins against another key.
    fn identity<K: Key>() -> K;
    /// Whether `b` does not win against `a`; false if either is a NaN.
    fn no_better<K: Key>(b: K, a: K) -> bool;
    /// The winning key of the warp, if one instruction computes it.
    fn extreme_of_warp<K: Key>(key: K) -> Option<K>;
}

/// The maximum wins.
pub struct Maximum;
/// The minimum wins.
pub struct Minimum;

impl Extremum for Maximum {
    const IS_MAXIMUM: bool = true;
    #[cfg_attr(optimised, inline(always))]
    fn identity<K: Key>() -> K {
        K::LOWEST
    }
    #[cfg_attr(optimised, inline(always))]
    fn no_better<K: Key>(b: K, a: K) -> bool {
        b <= a
    }
    #[cfg_attr(optimised, inline(always))]
    fn extreme_of_warp<K: Key>(key: K) -> Option<K> {
        key.warp_maximum()
    }
}

impl Extremum for Minimum {
    const IS_MAXIMUM: bool = false;
    #[cfg_attr(optimised, inline(always))]
    fn identity<K: Key>() -> K {
        K::HIGHEST
    }
    #[cfg_attr(optimised, inline(always))]
    fn no_better<K: Key>(b: K, a: K) -> bool {
        b >= a
    }
    #[cfg_attr(optimised, inline(always))]
    fn extreme_of_warp<K: Key>(key: K) -> Option<K> {
        key.warp_minimum()
    }
}

/// How NaNs compare with numbers.
pub trait NanPolicy {
    /// Whether NaNs are ignored: every number beats a NaN.
    const IGNORES: bool;
    /// The key of no element.
    fn identity<W: Extremum, K: Key>() -> K;
    /// Whether `b` beats `a`. Neither of two equal keys beats the other.
    fn beats<W: Extremum, K: Key>(b: K, a: K) -> bool;
}

/// A NaN beats every number.
pub struct Propagate;
/// Every number beats a NaN.
pub struct Ignore;

impl NanPolicy for Propagate {
    const IGNORES: bool = false;
    #[cfg_attr(optimised, inline(always))]
    fn identity<W: Extremum, K: Key>() -> K {
        W::identity()
    }
    #[cfg_attr(optimised, inline(always))]
    fn beats<W: Extremum, K: Key>(b: K, a: K) -> bool {
        !a.is_nan() && !W::no_better(b, a)
    }
}

impl NanPolicy for Ignore {
    const IGNORES: bool = true;
    #[cfg_attr(optimised, inline(always))]
    fn identity<W: Extremum, K: Key>() -> K {
        K::ABSENT.unwrap_or(W::identity())
    }
    #[cfg_attr(optimised, inline(always))]
    fn beats<W: Extremum, K: Key>(b: K, a: K) -> bool {
        !b.is_nan() && !W::no_better(b, a)
    }
}

macro_rules! reals {
    ($($t:ident: $extreme_of_two:expr;)+) => {$(
        impl Key for $t {
            const LOWEST: Self = $t::NEG_INFINITY;
            const HIGHEST: Self = $t::INFINITY;
            const ABSENT: Option<Self> = Some($t::NAN);
            #[cfg_attr(optimised, inline(always))]
            fn is_nan(self) -> bool {
                self.is_nan()
            }
            #[cfg_attr(optimised, inline(always))]
            fn extreme_of_two(a: Self, b: Self, greatest: bool, ignore_nan: bool) -> Option<Self> {
                let extreme_of_two: fn(Self, Self, bool, bool) -> Option<Self> = $extreme_of_two;
                extreme_of_two(a, b, greatest, ignore_nan)
            }
            #[cfg_attr(optimised, inline(always))]
            fn warp_maximum(self) -> Option<Self> {
                None
            }
            #[cfg_attr(optimised, inline(always))]
            fn warp_minimum(self) -> Option<Self> {
                None
            }
        }
    )+};
}
reals! {
    f32: |a, b, greatest, ignore_nan| Some(match (greatest, ignore_nan) {
        (true, false) => maximum(a, b),
        (false, false) => minimum(a, b),
        (true, true) => maximum_number(a, b),
        (false, true) => minimum_number(a, b),
    });
    f64: |_, _, _, _| None;
}

macro_rules! integers {
    ($($t:ident: $greatest:expr, $least:expr;)+) => {$(
        impl Key for $t {
            const LOWEST: Self = $t::MIN;
            const HIGHEST: Self = $t::MAX;
            const ABSENT: Option<Self> = None;
            #[cfg_attr(optimised, inline(always))]
            fn is_nan(self) -> bool {
                false
            }
            #[cfg_attr(optimised, inline(always))]
            fn extreme_of_two(_: Self, _: Self, _: bool, _: bool) -> Option<Self> {
                None
            }
            #[cfg_attr(optimised, inline(always))]
            fn warp_maximum(self) -> Option<Self> {
                let of: fn(Self) -> Option<Self> = $greatest;
                of(self)
            }
            #[cfg_attr(optimised, inline(always))]
            fn warp_minimum(self) -> Option<Self> {
                let of: fn(Self) -> Option<Self> = $least;
                of(self)
            }
        }
    )+};
}
integers! {
    i32: |x| Some(warp_reduce_max(FULL_MASK, x)), |x| Some(warp_reduce_min(FULL_MASK, x));
    u32: |x| Some(warp_reduce_max(FULL_MASK, x)), |x| Some(warp_reduce_min(FULL_MASK, x));
    i64: |_| None, |_| None;
    u64: |_| None, |_| None;
}

macro_rules! ordered {
    ($($t:ty as $key:ty: $to:expr, $from:expr;)+) => {$(
        impl Ordered for $t {
            type Key = $key;
            #[cfg_attr(optimised, inline(always))]
            fn key(self) -> $key {
                let to: fn($t) -> $key = $to;
                to(self)
            }
            #[cfg_attr(optimised, inline(always))]
            fn of_key(key: $key) -> $t {
                let from: fn($key) -> $t = $from;
                from(key)
            }
        }
    )+};
}
ordered! {
    f32 as f32: |x| x, |x| x;
    f64 as f64: |x| x, |x| x;
    i32 as i32: |x| x, |x| x;
    u32 as u32: |x| x, |x| x;
    i64 as i64: |x| x, |x| x;
    u64 as u64: |x| x, |x| x;
    f16 as f32: f32_from_f16, f16_from_f32;
    bf16 as f32: f32_from_bf16, bf16_from_f32;
}
