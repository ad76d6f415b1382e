//! Warp operations: shuffles, votes, matches and reductions.
//!
//! `mask` is the set of participating lanes, bit i for lane i. Every lane of the mask that has not exited must reach
//! the same call, and the calling lane must be in the mask; otherwise the result is unspecified and the GPU may hang.
//! The value of a lane that has exited or is not in the mask is unspecified. The simulator reports these errors. Only
//! [`sync_warp`] orders memory accesses.
//!
//! ```
//! use simt::{prelude::*, warp::*};
//!
//! /// The sum of each block's 32 elements of `x`, in every lane after five shuffles.
//! #[kernel(block = 32)]
//! pub fn warp_sums(x: VecRef<f32>, sums: VecMut<f32>) {
//!     let mut sum = x.get_or(index_1d(), 0.0);
//!     for lane_mask in [16, 8, 4, 2, 1] {
//!         sum += warp_shuffle_xor(FULL_MASK, sum, lane_mask, WARP_SIZE).0;
//!     }
//!     if branch(lane_id() == 0) {
//!         sums.set(block_idx_x() as usize, sum);
//!     }
//! }
//! ```

use crate::arch;

/// Lanes of a warp on every GPU. The simulator can use other sizes: see [`warp_size`].
pub const WARP_SIZE: u32 = 32;

/// All lanes of a full warp.
pub const FULL_MASK: u32 = u32::MAX;

/// Lanes of a warp: 32 on a GPU, a parameter on the simulator.
#[cfg_attr(optimised, inline(always))]
pub fn warp_size() -> u32 {
    arch::warp::warp_size()
}

/// Index of the thread in its warp.
#[cfg_attr(optimised, inline(always))]
pub fn lane_id() -> u32 {
    arch::warp::lane_id()
}

/// Index of the thread's warp in its block: threads are assigned to warps in order of
/// [`index_in_block`](crate::thread::index_in_block).
#[cfg_attr(optimised, inline(always))]
pub fn warp_id() -> u32 {
    crate::thread::index_in_block() / warp_size()
}

/// Waits for the lanes of `mask` and orders their memory accesses (`bar.warp.sync`).
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub fn sync_warp(mask: u32) {
    arch::warp::sync_warp(mask);
}

/// Values that a shuffle exchanges between lanes: 4 or 8 bytes.
pub trait WarpValue: Copy + sealed::Sealed {
    /// The value as bits, zero-extended.
    #[doc(hidden)]
    fn to_bits(self) -> u64;
    /// The value of these bits.
    #[doc(hidden)]
    fn from_bits(bits: u64) -> Self;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! warp_values {
    ($($t:ident: $x:ident => $bits:expr, $b:ident => $value:expr;)*) => {$(
        impl sealed::Sealed for $t {}
        impl WarpValue for $t {
            #[cfg_attr(optimised, inline(always))]
            fn to_bits(self) -> u64 {
                let $x = self;
                $bits
            }
            #[cfg_attr(optimised, inline(always))]
            fn from_bits($b: u64) -> Self {
                $value
            }
        }
    )*};
}

warp_values! {
    u32: x => x as u64, b => b as u32;
    i32: x => x as u32 as u64, b => b as i32;
    f32: x => x.to_bits() as u64, b => f32::from_bits(b as u32);
    u64: x => x, b => b;
    i64: x => x as u64, b => b as i64;
    f64: x => x.to_bits(), b => f64::from_bits(b);
}

/// What a shuffle exchanges between lanes: a [`WarpValue`], or several as a tuple or an array, at most 48 in all. Each
/// 4 bytes take one instruction.
///
/// ```
/// use simt::{prelude::*, warp::*};
///
/// /// The greatest of each block's 32 elements of `x`, and where it is.
/// #[kernel(block = 32)]
/// pub fn warp_argmax(x: VecRef<f32>, best: VecMut<f32>, at: VecMut<u32>) {
///     let mut own = (x.get_or(index_1d(), f32::NEG_INFINITY), lane_id());
///     for lane_mask in [16, 8, 4, 2, 1] {
///         let (other, _) = warp_shuffle_xor(FULL_MASK, own, lane_mask, WARP_SIZE);
///         own = if other.0 > own.0 { other } else { own };
///     }
///     if branch(lane_id() == 0) {
///         best.set(block_idx_x() as usize, own.0);
///         at.set(block_idx_x() as usize, own.1);
///     }
/// }
/// ```
///
/// More do not compile:
///
/// ```compile_fail
/// use simt::warp::{FULL_MASK, warp_shuffle_idx};
/// warp_shuffle_idx(FULL_MASK, [0_u32; 49], 0, 32);
/// ```
pub trait ShuffleValue: Copy {
    /// How many numbers there are.
    #[doc(hidden)]
    const COUNT: usize;
    /// The value with each of its numbers exchanged.
    #[doc(hidden)]
    #[track_caller]
    #[must_use]
    fn exchange(self, with: &mut impl Exchange) -> Self;
}

/// Most numbers of a [`ShuffleValue`].
pub(crate) const MOST_SHUFFLED: usize = 48;

/// Refuses more, when the shuffle is compiled.
const fn check_count<T: ShuffleValue>() {
    assert!(T::COUNT > 0 && T::COUNT <= MOST_SHUFFLED, "a shuffle exchanges 1 to 48 numbers");
}

/// What happens to each number of a [`ShuffleValue`].
#[doc(hidden)]
pub trait Exchange {
    /// The number that takes the place of `value`.
    fn number<T: WarpValue>(&mut self, value: T) -> T;
}

impl<T: WarpValue> ShuffleValue for T {
    const COUNT: usize = 1;
    #[cfg_attr(optimised, inline(always))]
    fn exchange(self, with: &mut impl Exchange) -> Self {
        with.number(self)
    }
}

impl<A: ShuffleValue, B: ShuffleValue> ShuffleValue for (A, B) {
    const COUNT: usize = A::COUNT + B::COUNT;
    #[cfg_attr(optimised, inline(always))]
    fn exchange(self, with: &mut impl Exchange) -> Self {
        (self.0.exchange(with), self.1.exchange(with))
    }
}

impl<A: ShuffleValue, B: ShuffleValue, C: ShuffleValue> ShuffleValue for (A, B, C) {
    const COUNT: usize = A::COUNT + B::COUNT + C::COUNT;
    #[cfg_attr(optimised, inline(always))]
    fn exchange(self, with: &mut impl Exchange) -> Self {
        (self.0.exchange(with), self.1.exchange(with), self.2.exchange(with))
    }
}

impl<T: ShuffleValue, const N: usize> ShuffleValue for [T; N] {
    const COUNT: usize = N * T::COUNT;
    #[cfg_attr(optimised, inline(always))]
    fn exchange(self, with: &mut impl Exchange) -> Self {
        arch::warp::each(self, |value| value.exchange(with))
    }
}

/// The value of lane `lane` of the caller's segment of `width` lanes; `width` is a power of two up to the warp size,
/// and `lane` is taken modulo `width`. The flag is always true: the source is inside the segment.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub fn warp_shuffle_idx<T: ShuffleValue>(mask: u32, value: T, lane: u32, width: u32) -> (T, bool) {
    const { check_count::<T>() };
    arch::warp::shuffle_idx(mask, value, lane, width)
}

/// The value of the lane `delta` below the caller. The flag is whether that lane is in the caller's segment of `width`
/// lanes; if not, the caller gets its own value. `delta` is less than the warp size.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub fn warp_shuffle_up<T: ShuffleValue>(mask: u32, value: T, delta: u32, width: u32) -> (T, bool) {
    const { check_count::<T>() };
    arch::warp::shuffle_up(mask, value, delta, width)
}

/// The value of the lane `delta` above the caller. The flag is whether that lane is in the caller's segment of `width`
/// lanes; if not, the caller gets its own value. `delta` is less than the warp size.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub fn warp_shuffle_down<T: ShuffleValue>(mask: u32, value: T, delta: u32, width: u32) -> (T, bool) {
    const { check_count::<T>() };
    arch::warp::shuffle_down(mask, value, delta, width)
}

/// The value of the lane whose index is the caller's XOR `lane_mask`. The flag is false if that lane is above the
/// caller's segment of `width` lanes; the caller then gets its own value. Lanes of lower segments can be read.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub fn warp_shuffle_xor<T: ShuffleValue>(mask: u32, value: T, lane_mask: u32, width: u32) -> (T, bool) {
    const { check_count::<T>() };
    arch::warp::shuffle_xor(mask, value, lane_mask, width)
}

/// The values of each segment of `width` lanes merged by `merge`, in the first lane of the segment; what other lanes
/// get is unspecified. `width` is a power of two up to the warp size, and `merge` depends on its arguments alone.
///
/// It is a tree of log₂ `width` shuffles: lane `i` merges its value with that of lane `i + width / 2`, the result with
/// that of lane `i + width / 4`, and so on. So the order is fixed, and `merge` need not be associative or commutative
/// for the same bits in each run. On the simulator the lanes meet once, and a kernel runs up to three times as fast as
/// with a loop of shuffles.
///
/// ```
/// use simt::{prelude::*, warp::*};
///
/// /// The sum of each block's 32 elements of `x`.
/// #[kernel(block = 32)]
/// pub fn block_sums(x: VecRef<f32>, sums: VecMut<f32>) {
///     let sum = warp_reduce(FULL_MASK, x.get_or(index_1d(), 0.0), WARP_SIZE, |a, b| a + b);
///     if branch(lane_id() == 0) {
///         sums.set(block_idx_x() as usize, sum);
///     }
/// }
/// ```
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub fn warp_reduce<T: ShuffleValue>(mask: u32, value: T, width: u32, merge: impl Fn(T, T) -> T) -> T {
    const { check_count::<T>() };
    arch::warp::reduce(mask, value, width, merge)
}

/// The same for lanes that are `stride` apart, a power of two: the first `stride` lanes of each segment get the merged
/// values of the lanes `stride`, 2 · `stride`, … further on in the segment, and what other lanes get is unspecified.
/// Where `stride` is not less than `width`, each lane keeps its value.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub fn warp_reduce_strided<T: ShuffleValue>(
    mask: u32,
    value: T,
    width: u32,
    stride: u32,
    merge: impl Fn(T, T) -> T,
) -> T {
    const { check_count::<T>() };
    arch::warp::reduce_strided(mask, value, (width, stride), merge)
}

/// Whether `predicate` holds for all lanes of `mask`.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub fn warp_vote_all(mask: u32, predicate: bool) -> bool {
    arch::warp::vote_all(mask, predicate)
}

/// Whether `predicate` holds for any lane of `mask`.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub fn warp_vote_any(mask: u32, predicate: bool) -> bool {
    arch::warp::vote_any(mask, predicate)
}

/// The lanes of `mask` for which `predicate` holds, bit i for lane i.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub fn warp_vote_ballot(mask: u32, predicate: bool) -> u32 {
    arch::warp::vote_ballot(mask, predicate)
}

/// The lanes of `mask` whose value has the same bits as the caller's.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub fn warp_match_any<T: WarpValue>(mask: u32, value: T) -> u32 {
    arch::warp::match_any(mask, value)
}

/// `(mask, true)` if the value has the same bits in all lanes of `mask`, else `(0, false)`.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub fn warp_match_all<T: WarpValue>(mask: u32, value: T) -> (u32, bool) {
    arch::warp::match_all(mask, value)
}

/// Integers that a warp reduces in one instruction (`redux.sync`).
pub trait WarpReduce: WarpValue + arch::warp::Redux {}
impl WarpReduce for u32 {}
impl WarpReduce for i32 {}

/// Sum of the values of the lanes of `mask`, wrapping.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub fn warp_reduce_add<T: WarpReduce>(mask: u32, value: T) -> T {
    value.add(mask)
}

/// Minimum of the values of the lanes of `mask`.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub fn warp_reduce_min<T: WarpReduce>(mask: u32, value: T) -> T {
    value.min(mask)
}

/// Maximum of the values of the lanes of `mask`.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub fn warp_reduce_max<T: WarpReduce>(mask: u32, value: T) -> T {
    value.max(mask)
}

/// Bitwise and of the values of the lanes of `mask`.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub fn warp_reduce_and(mask: u32, value: u32) -> u32 {
    arch::warp::reduce_and(mask, value)
}

/// Bitwise or of the values of the lanes of `mask`.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub fn warp_reduce_or(mask: u32, value: u32) -> u32 {
    arch::warp::reduce_or(mask, value)
}

/// Bitwise exclusive or of the values of the lanes of `mask`.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub fn warp_reduce_xor(mask: u32, value: u32) -> u32 {
    arch::warp::reduce_xor(mask, value)
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::WarpValue;

    #[test]
    fn values_survive_a_round_trip_through_bits() {
        assert_eq!(<i32 as WarpValue>::from_bits(WarpValue::to_bits(-5i32)), -5);
        assert_eq!(WarpValue::to_bits(-1i32), 0xffff_ffff, "a 4-byte value is zero-extended");
        assert_eq!(<i64 as WarpValue>::from_bits(WarpValue::to_bits(i64::MIN)), i64::MIN);
        assert_eq!(<f32 as WarpValue>::from_bits(WarpValue::to_bits(-0.0f32)).to_bits(), (-0.0f32).to_bits());
        assert_eq!(<f64 as WarpValue>::from_bits(WarpValue::to_bits(1.0f64 / 3.0)), 1.0 / 3.0);
    }
}
