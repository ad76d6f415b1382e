//! Warp operations: each is one call of the simulator, with the operation as a value.

use core::mem::MaybeUninit;

use simulator::device::{self, WarpOp, warp_gather, warp_op, warp_shuffle};

use crate::warp::{Exchange, ShuffleValue, WarpValue};

#[cfg_attr(optimised, inline(always))]
pub(crate) fn warp_size() -> u32 {
    device::warp_size()
}
#[cfg_attr(optimised, inline(always))]
pub(crate) fn lane_id() -> u32 {
    device::lane_id()
}

#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) fn sync_warp(mask: u32) {
    warp_op(WarpOp::Sync, mask, 0, 0);
}

/// Takes the numbers of a value.
struct Take<const N: usize> {
    numbers: [u64; N],
    count: usize,
}

impl<const N: usize> Exchange for Take<N> {
    #[cfg_attr(optimised, inline(always))]
    fn number<T: WarpValue>(&mut self, value: T) -> T {
        self.numbers[self.count] = value.to_bits();
        self.count += 1;
        value
    }
}

/// Replaces the numbers of a value by those that were received.
struct Replace<'a>(core::slice::Iter<'a, u64>);

impl Exchange for Replace<'_> {
    #[cfg_attr(optimised, inline(always))]
    fn number<T: WarpValue>(&mut self, value: T) -> T {
        self.0.next().map_or(value, |bits| T::from_bits(*bits))
    }
}

/// `map` of an array, as a loop: the standard library's makes five functions of each use.
#[cfg_attr(optimised, inline(always))]
pub(crate) fn each<T: Copy, const N: usize>(mut array: [T; N], mut of: impl FnMut(T) -> T) -> [T; N] {
    let mut i = 0;
    while i < N {
        array[i] = of(array[i]);
        i += 1;
    }
    array
}

/// All numbers of a value at once: the lanes meet once.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
fn shuffle<T: ShuffleValue>(op: WarpOp, mask: u32, value: T, arg: u32) -> (T, bool) {
    // A constant, so that one of them is compiled.
    match const { T::COUNT } {
        0..=4 => exchange::<T, 4>(op, mask, value, arg),
        5..=16 => exchange::<T, 16>(op, mask, value, arg),
        _ => exchange::<T, { crate::warp::MOST_SHUFFLED }>(op, mask, value, arg),
    }
}

/// [`shuffle`] for at most `N` numbers.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
fn exchange<T: ShuffleValue, const N: usize>(op: WarpOp, mask: u32, value: T, arg: u32) -> (T, bool) {
    let mut own = Take { numbers: [0; N], count: 0 };
    let _ = value.exchange(&mut own);
    let Take { mut numbers, count } = own;
    let inside = if let [number] = &mut numbers[..count] {
        let (bits, inside) = warp_op(op, mask, *number, arg);
        *number = bits;
        inside
    } else {
        warp_shuffle(op, mask, &mut numbers[..count], arg)
    };
    (value.exchange(&mut Replace(numbers[..count].iter())), inside)
}
/// Checks that PTX can express the width.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
fn valid(width: u32) -> u32 {
    assert!(width.is_power_of_two() && width <= 32, "a shuffle's width is a power of two from 1 to 32, not {width}");
    width
}
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) fn shuffle_idx<T: ShuffleValue>(mask: u32, value: T, lane: u32, width: u32) -> (T, bool) {
    shuffle(WarpOp::ShuffleIdx { width: valid(width) }, mask, value, lane)
}
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) fn shuffle_up<T: ShuffleValue>(mask: u32, value: T, delta: u32, width: u32) -> (T, bool) {
    shuffle(WarpOp::ShuffleUp { width: valid(width) }, mask, value, delta)
}
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) fn shuffle_down<T: ShuffleValue>(mask: u32, value: T, delta: u32, width: u32) -> (T, bool) {
    shuffle(WarpOp::ShuffleDown { width: valid(width) }, mask, value, delta)
}
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) fn shuffle_xor<T: ShuffleValue>(mask: u32, value: T, lane_mask: u32, width: u32) -> (T, bool) {
    shuffle(WarpOp::ShuffleXor { width: valid(width) }, mask, value, lane_mask)
}

#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) fn reduce<T: ShuffleValue>(mask: u32, value: T, width: u32, merge: impl Fn(T, T) -> T) -> T {
    reduce_strided(mask, value, (width, 1), merge)
}
/// The lanes meet once, and the first lane of each tree merges its values: on a GPU all lanes do, but what the others
/// get is unspecified.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) fn reduce_strided<T: ShuffleValue>(
    mask: u32,
    value: T,
    (width, stride): (u32, u32),
    merge: impl Fn(T, T) -> T,
) -> T {
    assert!(stride.is_power_of_two(), "the stride of a reduction is a power of two, not {stride}");
    if stride >= valid(width) {
        return value;
    }
    let mut values = [const { MaybeUninit::uninit() }; 32];
    let values = warp_gather(mask, value, (width, stride), &mut values);
    let mut count = values.len();
    while count > 1 {
        count /= 2;
        for i in 0..count {
            values[i] = merge(values[i], values[i + count]);
        }
    }
    values[0]
}

#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) fn vote_all(mask: u32, predicate: bool) -> bool {
    vote_ballot(mask, predicate) == mask
}
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) fn vote_any(mask: u32, predicate: bool) -> bool {
    vote_ballot(mask, predicate) != 0
}
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) fn vote_ballot(mask: u32, predicate: bool) -> u32 {
    warp_op(WarpOp::Ballot, mask, predicate as u64, 0).0 as u32
}
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) fn match_any<T: WarpValue>(mask: u32, value: T) -> u32 {
    warp_op(WarpOp::MatchAny, mask, value.to_bits(), 0).0 as u32
}
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) fn match_all<T: WarpValue>(mask: u32, value: T) -> (u32, bool) {
    let (lanes, all) = warp_op(WarpOp::MatchAll, mask, value.to_bits(), 0);
    (lanes as u32, all)
}

/// Reductions over a warp.
pub trait Redux: WarpValue {
    /// Sum.
    #[track_caller]
    fn add(self, mask: u32) -> Self;
    /// Minimum.
    #[track_caller]
    fn min(self, mask: u32) -> Self;
    /// Maximum.
    #[track_caller]
    fn max(self, mask: u32) -> Self;
}

macro_rules! redux {
    ($($t:ty: $add:ident $min:ident $max:ident;)*) => {$(
        impl Redux for $t {
            #[cfg_attr(optimised, inline(always))]
            #[track_caller]
            fn add(self, mask: u32) -> Self {
                shuffle(WarpOp::$add, mask, self, 0).0
            }
            #[cfg_attr(optimised, inline(always))]
            #[track_caller]
            fn min(self, mask: u32) -> Self {
                shuffle(WarpOp::$min, mask, self, 0).0
            }
            #[cfg_attr(optimised, inline(always))]
            #[track_caller]
            fn max(self, mask: u32) -> Self {
                shuffle(WarpOp::$max, mask, self, 0).0
            }
        }
    )*};
}
redux! {
    u32: AddU32 MinU32 MaxU32;
    i32: AddU32 MinI32 MaxI32;
}

#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) fn reduce_and(mask: u32, value: u32) -> u32 {
    shuffle(WarpOp::And, mask, value, 0).0
}
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) fn reduce_or(mask: u32, value: u32) -> u32 {
    shuffle(WarpOp::Or, mask, value, 0).0
}
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) fn reduce_xor(mask: u32, value: u32) -> u32 {
    shuffle(WarpOp::Xor, mask, value, 0).0
}
