//! Warp operations by LLVM intrinsics, which are convergent.

use super::llvm;
use crate::warp::{Exchange, ShuffleValue, WarpValue};

/// `map` of an array.
#[inline(always)]
pub(crate) fn each<T, const N: usize>(array: [T; N], of: impl FnMut(T) -> T) -> [T; N] {
    array.map(of)
}

#[inline(always)]
pub(crate) fn warp_size() -> u32 {
    crate::warp::WARP_SIZE
}
#[inline(always)]
pub(crate) fn lane_id() -> u32 {
    // SAFETY: reads a special register, which is below 32.
    unsafe {
        let lane = llvm::lane_id();
        core::hint::assert_unchecked(lane < 32);
        lane
    }
}

#[inline(always)]
pub(crate) fn sync_warp(mask: u32) {
    // SAFETY: a barrier of the warp; memory safety does not depend on the mask.
    unsafe { llvm::warp_sync(mask) }
}

/// The operand of `shfl` that divides the warp into segments of `width` lanes and gives the lane (31 or 0) at which a
/// source counts as outside.
#[inline(always)]
fn segment(width: u32, limit: u32) -> u32 {
    (32u32.wrapping_sub(width)) << 8 | limit
}

/// First lane of the caller's segment.
#[inline(always)]
fn first_lane(width: u32) -> u32 {
    lane_id() & 0u32.wrapping_sub(width)
}

/// Shuffles each number of 4 bytes by one instruction, each of 8 bytes by two.
macro_rules! shuffle {
    ($instruction:ident, $mask:expr, $value:expr, $arg:expr, $segment:expr) => {{
        struct Shuffle(u32, u32, u32);
        impl Exchange for Shuffle {
            #[inline(always)]
            fn number<T: WarpValue>(&mut self, value: T) -> T {
                let (Self(mask, argument, segment), bits) = (self, value.to_bits());
                // SAFETY: exchanges registers; memory safety does not depend on the mask.
                T::from_bits(unsafe {
                    let low = llvm::$instruction(*mask, bits as u32, *argument, *segment) as u64;
                    if size_of::<T>() == 8 {
                        low | (llvm::$instruction(*mask, (bits >> 32) as u32, *argument, *segment) as u64) << 32
                    } else {
                        low
                    }
                })
            }
        }
        $value.exchange(&mut Shuffle($mask, $arg, $segment))
    }};
}

#[inline(always)]
pub(crate) fn shuffle_idx<T: ShuffleValue>(mask: u32, value: T, lane: u32, width: u32) -> (T, bool) {
    (shuffle!(shuffle_idx, mask, value, lane, segment(width, 31)), true)
}
#[inline(always)]
pub(crate) fn shuffle_up<T: ShuffleValue>(mask: u32, value: T, delta: u32, width: u32) -> (T, bool) {
    let inside = lane_id() - first_lane(width) >= delta;
    (shuffle!(shuffle_up, mask, value, delta, segment(width, 0)), inside)
}
#[inline(always)]
pub(crate) fn shuffle_down<T: ShuffleValue>(mask: u32, value: T, delta: u32, width: u32) -> (T, bool) {
    let inside = lane_id() - first_lane(width) + delta < width;
    (shuffle!(shuffle_down, mask, value, delta, segment(width, 31)), inside)
}
#[inline(always)]
pub(crate) fn shuffle_xor<T: ShuffleValue>(mask: u32, value: T, lane_mask: u32, width: u32) -> (T, bool) {
    let inside = lane_id() ^ lane_mask < first_lane(width) + width;
    (shuffle!(shuffle_xor, mask, value, lane_mask, segment(width, 31)), inside)
}

// Only lanes whose result is unspecified take a value from another segment. The two loops differ because ptxas
// allocates registers by them: written as the other one, each makes some reductions along rows spill, or 3 % slower.

#[inline(always)]
pub(crate) fn reduce<T: ShuffleValue>(mask: u32, value: T, width: u32, merge: impl Fn(T, T) -> T) -> T {
    let (mut value, mut distance) = (value, width / 2);
    while distance > 0 {
        value = merge(value, shuffle_down(mask, value, distance, 32).0);
        distance /= 2;
    }
    value
}
#[inline(always)]
pub(crate) fn reduce_strided<T: ShuffleValue>(
    mask: u32,
    value: T,
    (width, stride): (u32, u32),
    merge: impl Fn(T, T) -> T,
) -> T {
    let (mut value, mut width) = (value, width);
    while width > stride {
        width /= 2;
        value = merge(value, shuffle_down(mask, value, width, 32).0);
    }
    value
}

#[inline(always)]
pub(crate) fn vote_all(mask: u32, predicate: bool) -> bool {
    // SAFETY: exchanges predicates; memory safety does not depend on the mask.
    unsafe { llvm::vote_all(mask, predicate) }
}
#[inline(always)]
pub(crate) fn vote_any(mask: u32, predicate: bool) -> bool {
    // SAFETY: as above.
    unsafe { llvm::vote_any(mask, predicate) }
}
#[inline(always)]
pub(crate) fn vote_ballot(mask: u32, predicate: bool) -> u32 {
    // SAFETY: as above.
    unsafe { llvm::vote_ballot(mask, predicate) }
}
#[inline(always)]
pub(crate) fn match_any<T: WarpValue>(mask: u32, value: T) -> u32 {
    let bits = value.to_bits();
    // SAFETY: as above.
    unsafe {
        if size_of::<T>() == 8 { llvm::match_any_b64(mask, bits) } else { llvm::match_any_b32(mask, bits as u32) }
    }
}
#[inline(always)]
pub(crate) fn match_all<T: WarpValue>(mask: u32, value: T) -> (u32, bool) {
    let bits = value.to_bits();
    // SAFETY: as above.
    unsafe {
        if size_of::<T>() == 8 { llvm::match_all_b64(mask, bits) } else { llvm::match_all_b32(mask, bits as u32) }
    }
}

/// Reductions over a warp.
pub trait Redux {
    /// Sum.
    fn add(self, mask: u32) -> Self;
    /// Minimum.
    fn min(self, mask: u32) -> Self;
    /// Maximum.
    fn max(self, mask: u32) -> Self;
}

impl Redux for u32 {
    #[inline(always)]
    fn add(self, mask: u32) -> Self {
        // SAFETY: exchanges registers; memory safety does not depend on the mask.
        unsafe { llvm::redux_add(self, mask) }
    }
    #[inline(always)]
    fn min(self, mask: u32) -> Self {
        // SAFETY: as above.
        unsafe { llvm::redux_min_u32(self, mask) }
    }
    #[inline(always)]
    fn max(self, mask: u32) -> Self {
        // SAFETY: as above.
        unsafe { llvm::redux_max_u32(self, mask) }
    }
}

impl Redux for i32 {
    #[inline(always)]
    fn add(self, mask: u32) -> Self {
        // SAFETY: exchanges registers; memory safety does not depend on the mask.
        unsafe { llvm::redux_add(self as u32, mask) as i32 }
    }
    #[inline(always)]
    fn min(self, mask: u32) -> Self {
        // SAFETY: as above.
        unsafe { llvm::redux_min_i32(self, mask) }
    }
    #[inline(always)]
    fn max(self, mask: u32) -> Self {
        // SAFETY: as above.
        unsafe { llvm::redux_max_i32(self, mask) }
    }
}

#[inline(always)]
pub(crate) fn reduce_and(mask: u32, value: u32) -> u32 {
    // SAFETY: exchanges registers; memory safety does not depend on the mask.
    unsafe { llvm::redux_and(value, mask) }
}
#[inline(always)]
pub(crate) fn reduce_or(mask: u32, value: u32) -> u32 {
    // SAFETY: as above.
    unsafe { llvm::redux_or(value, mask) }
}
#[inline(always)]
pub(crate) fn reduce_xor(mask: u32, value: u32) -> u32 {
    // SAFETY: as above.
    unsafe { llvm::redux_xor(value, mask) }
}
