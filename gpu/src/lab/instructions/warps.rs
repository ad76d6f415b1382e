//! Shuffles, votes, matches and reductions of a warp. Blocks have [`BLOCK`] threads; every lane takes part.

use simt::{
    prelude::*,
    warp::{
        FULL_MASK, WARP_SIZE, lane_id, warp_match_all, warp_match_any, warp_reduce, warp_reduce_add, warp_reduce_and,
        warp_reduce_max, warp_reduce_min, warp_reduce_or, warp_reduce_strided, warp_reduce_xor, warp_shuffle_down,
        warp_shuffle_idx, warp_shuffle_up, warp_shuffle_xor, warp_vote_all, warp_vote_any, warp_vote_ballot,
    },
};

/// Threads of a block: two full warps.
pub const BLOCK: u32 = 2 * WARP_SIZE;

/// Each thread `i` shuffles its `x[i]` in segments of `width` lanes with each shuffle and the same `arg`, and writes
/// value and flag of each to row `i` of `out`: by index, up, down, by exclusive or.
#[kernel(block = (BLOCK))]
pub fn warp_shuffles(x: VecRef<u32>, width: u32, arg: u32, out: MatMut<u32>) {
    let i = index_1d();
    let value = x.get_or(i, 0);
    let (by_index, in_index) = warp_shuffle_idx(FULL_MASK, value, arg, width);
    let (up, in_up) = warp_shuffle_up(FULL_MASK, value, arg, width);
    let (down, in_down) = warp_shuffle_down(FULL_MASK, value, arg, width);
    let (by_xor, in_xor) = warp_shuffle_xor(FULL_MASK, value, arg, width);
    let row = i as u32;
    out.set_within(row, 0, by_index);
    out.set_within(row, 1, in_index as u32);
    out.set_within(row, 2, up);
    out.set_within(row, 3, in_up as u32);
    out.set_within(row, 4, down);
    out.set_within(row, 5, in_down as u32);
    out.set_within(row, 6, by_xor);
    out.set_within(row, 7, in_xor as u32);
}

/// Each thread `i` shuffles `x[i]`, half of it as an `f64`, and three more numbers at once: to the lane `apart` away by
/// exclusive or, and then from lane 3. Row `i` of `out` has the bits of what it received, words of 4 bytes.
#[kernel(block = (BLOCK))]
pub fn warp_shuffle_several(x: VecRef<u32>, apart: u32, out: MatMut<u32>) {
    let i = index_1d();
    let value = x.get_or(i, 0);
    let own = (value, value as f64 / 2.0, [!value, value ^ 1, value.wrapping_mul(3)]);
    let (word, half, [a, b, c]) = warp_shuffle_xor(FULL_MASK, own, apart, WARP_SIZE).0;
    let of_lane_3 = warp_shuffle_idx(FULL_MASK, [word, a], 3, WARP_SIZE).0;
    let (row, half) = (i as u32, half.to_bits());
    out.set_within(row, 0, word);
    out.set_within(row, 1, half as u32);
    out.set_within(row, 2, (half >> 32) as u32);
    out.set_within(row, 3, a);
    out.set_within(row, 4, b);
    out.set_within(row, 5, c);
    out.set_within(row, 6, of_lane_3[0]);
    out.set_within(row, 7, of_lane_3[1]);
}

/// Row `i` of `out`: what thread `i` gets if the `x` of lanes that are `stride` apart in segments of `width` lanes are
/// merged, together with a third of each as an `f64`, its bits in two words; then what it gets for whole segments. The
/// merges tell which value is on which side. Lanes whose result is unspecified write nothing.
#[kernel(block = (BLOCK))]
pub fn warp_trees(x: VecRef<u32>, width: u32, stride: u32, out: MatMut<u32>) {
    let (row, lane) = (index_1d() as u32, lane_id() & width.wrapping_sub(1));
    let value = x.get_or(index_1d(), 0);
    let merge = |a: u32, b: u32| a.wrapping_mul(31) ^ b;
    let both = |a: (u32, f64), b: (u32, f64)| (merge(a.0, b.0), a.1 * 0.5 + b.1);
    let (word, real) = warp_reduce_strided(FULL_MASK, (value, value as f64 / 3.0), width, stride, both);
    let of_segment = warp_reduce(FULL_MASK, value, width, merge);
    if lane < stride {
        out.set_within(row, 0, word);
        out.set_within(row, 1, real.to_bits() as u32);
        out.set_within(row, 2, (real.to_bits() >> 32) as u32);
    }
    if lane == 0 {
        out.set_within(row, 3, of_segment);
    }
}

/// `out[i]` = sum of `x` over the warp of thread `i`, by exchanging 8-byte values between lanes 16, 8, 4, 2, 1 apart.
/// All lanes compute the sum in the same order up to commutation, so all get the same bits.
#[kernel(block = (BLOCK))]
pub fn warp_sum_f64(x: VecRef<f64>, out: VecMut<f64>) {
    let i = index_1d();
    let mut sum = x.get_or(i, 0.0);
    let mut apart = WARP_SIZE / 2;
    while apart > 0 {
        sum += warp_shuffle_xor(FULL_MASK, sum, apart, WARP_SIZE).0;
        apart /= 2;
    }
    out.set_within(i, sum);
}

/// Each half of a warp votes on `x[i] >= limit` separately. Row `i` of `out`: whether it is true for all, for any, and
/// the mask of lanes for which it is true.
#[kernel(block = (BLOCK))]
pub fn warp_votes(x: VecRef<u32>, limit: u32, out: MatMut<u32>) {
    let i = index_1d();
    let holds = x.get_or(i, 0) >= limit;
    let half = 0xffff << (lane_id() & 16);
    let row = i as u32;
    out.set_within(row, 0, warp_vote_all(half, holds) as u32);
    out.set_within(row, 1, warp_vote_any(half, holds) as u32);
    out.set_within(row, 2, warp_vote_ballot(half, holds));
}

/// Row `i` of `out`: the lanes of the warp with the same `x` as thread `i`; those with the same `y`; the mask and flag
/// of "all have the same `x`"; and of "all have the same `y`".
#[kernel(block = (BLOCK))]
pub fn warp_matches(x: VecRef<u32>, y: VecRef<u64>, out: MatMut<u32>) {
    let i = index_1d();
    let (narrow, wide) = (x.get_or(i, 0), y.get_or(i, 0));
    let row = i as u32;
    out.set_within(row, 0, warp_match_any(FULL_MASK, narrow));
    out.set_within(row, 1, warp_match_any(FULL_MASK, wide));
    let (lanes, all) = warp_match_all(FULL_MASK, narrow);
    out.set_within(row, 2, lanes);
    out.set_within(row, 3, all as u32);
    let (lanes, all) = warp_match_all(FULL_MASK, wide);
    out.set_within(row, 4, lanes);
    out.set_within(row, 5, all as u32);
}

/// Row `i` of `out`: over the `x` of thread `i`'s warp, taken as `u32`, sum, minimum, maximum; taken as `i32`, the
/// same; and bitwise and, or, exclusive or.
#[kernel(block = (BLOCK))]
pub fn warp_reductions(x: VecRef<u32>, out: MatMut<u32>) {
    let i = index_1d();
    let value = x.get_or(i, 0);
    let signed = value as i32;
    let row = i as u32;
    out.set_within(row, 0, warp_reduce_add(FULL_MASK, value));
    out.set_within(row, 1, warp_reduce_min(FULL_MASK, value));
    out.set_within(row, 2, warp_reduce_max(FULL_MASK, value));
    out.set_within(row, 3, warp_reduce_add(FULL_MASK, signed) as u32);
    out.set_within(row, 4, warp_reduce_min(FULL_MASK, signed) as u32);
    out.set_within(row, 5, warp_reduce_max(FULL_MASK, signed) as u32);
    out.set_within(row, 6, warp_reduce_and(FULL_MASK, value));
    out.set_within(row, 7, warp_reduce_or(FULL_MASK, value));
    out.set_within(row, 8, warp_reduce_xor(FULL_MASK, value));
}
