//! What elements are to comparisons: their keys, which of two is wanted, and what a NaN is worth.

use half::{bf16, f16};
use simt::convert::{bf16_from_f32, f16_from_f32, f32_from_bf16, f32_from_f16};
use simt::element::Element;
use simt::math::{maximum, maximum_number, minimum, minimum_number};
use simt::warp::{FULL_MASK, WarpValue, warp_reduce_max, warp_reduce_min};

use super::reduction::State;

/// Numbers that are compared: 4 or 8 bytes.
pub trait Key: State + WarpValue + PartialOrd {
    /// What is below or equal to everything: −∞, or the least integer.
    const LOWEST: Self;
    /// What is above or equal to everything.
    const HIGHEST: Self;
    /// What stands for no element where NaNs are ignored: a NaN; integers have none.
    const NOTHING: Option<Self>;
    /// Whether it is a NaN.
    fn is_nan(self) -> bool;
    /// The greater or the lesser of two, NaNs ignored or not, where one instruction finds it.
    fn of_two(a: Self, b: Self, greatest: bool, ignore_nan: bool) -> Option<Self>;
    /// The greatest key of the warp, where one instruction finds it.
    #[track_caller]
    fn greatest_of_warp(self) -> Option<Self>;
    /// The least.
    #[track_caller]
    fn least_of_warp(self) -> Option<Self>;
}

/// Elements with an order.
pub trait Ordered: Element {
    /// What is compared.
    type Key: Key;
    /// The element as a key, exactly.
    fn key(self) -> Self::Key;
    /// The element of a key.
    fn of_key(key: Self::Key) -> Self;
}

/// Which elements win.
pub trait Wish {
    /// Whether it is the greatest.
    const GREATEST: bool;
    /// Loses to every key or is equal to it.
    fn loser<K: Key>() -> K;
    /// Whether `b` is at most as good as `a`; false where either is a NaN.
    fn at_most<K: Key>(b: K, a: K) -> bool;
    /// The best key of the warp, where one instruction finds it.
    #[track_caller]
    fn of_warp<K: Key>(key: K) -> Option<K>;
}

/// The greatest wins.
pub struct Greatest;
/// The least wins.
pub struct Least;

impl Wish for Greatest {
    const GREATEST: bool = true;
    #[inline(always)]
    fn loser<K: Key>() -> K {
        K::LOWEST
    }
    #[inline(always)]
    fn at_most<K: Key>(b: K, a: K) -> bool {
        b <= a
    }
    #[inline(always)]
    #[track_caller]
    fn of_warp<K: Key>(key: K) -> Option<K> {
        key.greatest_of_warp()
    }
}

impl Wish for Least {
    const GREATEST: bool = false;
    #[inline(always)]
    fn loser<K: Key>() -> K {
        K::HIGHEST
    }
    #[inline(always)]
    fn at_most<K: Key>(b: K, a: K) -> bool {
        b >= a
    }
    #[inline(always)]
    #[track_caller]
    fn of_warp<K: Key>(key: K) -> Option<K> {
        key.least_of_warp()
    }
}

/// What a NaN is worth.
pub trait NanPolicy {
    /// Whether numbers beat it.
    const IGNORES: bool;
    /// The key of no element.
    fn none<W: Wish, K: Key>() -> K;
    /// Whether `b` beats `a`. Of equal keys neither does.
    fn beats<W: Wish, K: Key>(b: K, a: K) -> bool;
}

/// A NaN beats every number.
pub struct Propagate;
/// Every number beats a NaN.
pub struct Ignore;

impl NanPolicy for Propagate {
    const IGNORES: bool = false;
    #[inline(always)]
    fn none<W: Wish, K: Key>() -> K {
        W::loser()
    }
    #[inline(always)]
    fn beats<W: Wish, K: Key>(b: K, a: K) -> bool {
        !a.is_nan() && !W::at_most(b, a)
    }
}

impl NanPolicy for Ignore {
    const IGNORES: bool = true;
    #[inline(always)]
    fn none<W: Wish, K: Key>() -> K {
        K::NOTHING.unwrap_or(W::loser())
    }
    #[inline(always)]
    fn beats<W: Wish, K: Key>(b: K, a: K) -> bool {
        !b.is_nan() && !W::at_most(b, a)
    }
}

macro_rules! reals {
    ($($t:ident: $of_two:expr;)+) => {$(
        impl Key for $t {
            const LOWEST: Self = $t::NEG_INFINITY;
            const HIGHEST: Self = $t::INFINITY;
            const NOTHING: Option<Self> = Some($t::NAN);
            #[inline(always)]
            fn is_nan(self) -> bool {
                self.is_nan()
            }
            #[inline(always)]
            fn of_two(a: Self, b: Self, greatest: bool, ignore_nan: bool) -> Option<Self> {
                let of_two: fn(Self, Self, bool, bool) -> Option<Self> = $of_two;
                of_two(a, b, greatest, ignore_nan)
            }
            #[inline(always)]
            fn greatest_of_warp(self) -> Option<Self> {
                None
            }
            #[inline(always)]
            fn least_of_warp(self) -> Option<Self> {
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
            const NOTHING: Option<Self> = None;
            #[inline(always)]
            fn is_nan(self) -> bool {
                false
            }
            #[inline(always)]
            fn of_two(_: Self, _: Self, _: bool, _: bool) -> Option<Self> {
                None
            }
            #[inline(always)]
            #[track_caller]
            fn greatest_of_warp(self) -> Option<Self> {
                let of: fn(Self) -> Option<Self> = $greatest;
                of(self)
            }
            #[inline(always)]
            #[track_caller]
            fn least_of_warp(self) -> Option<Self> {
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
            #[inline(always)]
            fn key(self) -> $key {
                let to: fn($t) -> $key = $to;
                to(self)
            }
            #[inline(always)]
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
