//! Reduces a warp's range of items: elements and ends of segments.

use simt::element::{Lanes, zeroed};
use simt::prelude::*;
use simt::warp::{FULL_MASK, lane_id, warp_shuffle_idx, warp_vote_ballot};

use super::carry::Carry;
use crate::reduce::along::line::reduce_line;
use crate::reduce::along::{IN_FLIGHT, THREADS};
use crate::reduce::reducer::Reducer;
use crate::unroll::{each, unroll};

/// The longest part of a segment that one lane reduces is chosen between these limits, so that the parts of 32 segments
/// take the least time.
const MIN_BY_LANE: u64 = 16;
const MAX_BY_LANE: u64 = 128;
/// Elements that a lane reduces in the time in which the warp reduces one part together.
const WARP_COST: u64 = 8;

/// Start and end of segments.
#[derive(Clone, Copy)]
pub(super) struct Offsets<'a> {
    words: VecRef<'a, u32>,
    wide: bool,
    /// Number of segments.
    count: u32,
    /// Number of elements, the largest valid offset.
    end: u64,
}

impl<'a> Offsets<'a> {
    pub(super) fn new(words: VecRef<'a, u32>, wide: bool, count: u32, end: u64) -> Self {
        Self { words, wide, count, end }
    }

    /// Offset `index`, clamped to the number of elements.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) fn at(&self, index: u32) -> u64 {
        let index = index as usize;
        let offset = if self.wide {
            let low = self.words.get_or(2 * index, 0);
            u64::from(low) | u64::from(self.words.get_or(2 * index + 1, 0)) << 32
        } else {
            u64::from(self.words.get_or(index, 0))
        };
        offset.min(self.end)
    }

    /// How many segments end before each of two positions in the list. For each of them the lanes of the warp test 32
    /// ends at once. Both searches together wait for memory as often as one.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn ends_before(&self, positions: [u64; 2], origin: u64) -> [u32; 2] {
        let (mut low, mut high) = ([0; 2], [self.count; 2]);
        while low[0] < high[0] || low[1] < high[1] {
            let step = each!([0, 1], |i| (high[i] - low[i]).div_ceil(32).max(1));
            let probe = each!([0, 1], |i| low[i].saturating_add((lane_id() + 1).saturating_mul(step[i])) - 1);
            let end = each!(probe, |probe| self.at(probe.min(self.count - 1) + 1).saturating_sub(origin));
            for i in 0..2 {
                let first_end = probe[i] < high[i] && end[i] + u64::from(probe[i]) < positions[i];
                let count = warp_vote_ballot(FULL_MASK, first_end).count_ones();
                let next = low[i].saturating_add(count.saturating_mul(step[i]));
                high[i] = next.saturating_add(step[i] - 1).min(high[i]);
                low[i] = next.min(high[i]);
            }
        }
        low
    }
}

/// The state of elements `begin` to `end` − 1, by one lane with four loads in flight; the first has index `first` in
/// its segment.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn reduce_by_lane<R: Reducer>(
    r: R,
    x: VecRef<R::Element>,
    begin: u64,
    end: u64,
    first: u64,
    parameter: u64,
) -> R::State {
    let mut state = r.identity();
    let mut at = begin;
    while at < end {
        let loaded = each!([0, 1, 2, 3], |i| x.get_or((at + i).min(end - 1) as usize, zeroed()));
        unroll!(for i in 0..IN_FLIGHT {
            let seen = r.merge(state, r.of(loaded[i], first + (at - begin) + i as u64, parameter));
            state = if at + (i as u64) < end { seen } else { state };
        });
        at += IN_FLIGHT as u64;
    }
    state
}

/// The state of the same elements by the whole warp, in lane 0.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn reduce_by_warp<R: Reducer, const N: usize>(
    r: R,
    x: VecRef<R::Element>,
    begin: u64,
    end: u64,
    first: u64,
    parameter: u64,
) -> R::State
where
    R::Element: Lanes<N>,
{
    let mut state = r.identity();
    if let Some(part) = x.part(begin as usize, (end - begin) as usize) {
        state = reduce_line::<R, N>(r, part, first, lane_id(), 5, parameter);
    }
    r.reduce_lanes(state, 32)
}

/// The longest part of a segment that one lane should reduce; this lane's part has `length` elements.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn max_by_lane(length: u64) -> u64 {
    let (mut longest, mut least) = (MIN_BY_LANE, u64::MAX);
    let mut reduce_by_lane = MIN_BY_LANE;
    while reduce_by_lane <= MAX_BY_LANE {
        let time =
            reduce_by_lane + WARP_COST * u64::from(warp_vote_ballot(FULL_MASK, length > reduce_by_lane).count_ones());
        longest = if time < least { reduce_by_lane } else { longest };
        least = time.min(least);
        reduce_by_lane *= 2;
    }
    longest
}

/// Reduces the warp's range: writes the segments that begin and end in it. Returns, in lane 0, the state of the segment
/// that ends in it and may have begun before, and the state of the segment that continues after it.
#[cfg_attr(optimised, inline(always))]
pub(super) fn reduce<R: Reducer, const N: usize>(
    r: R,
    x: VecRef<R::Element>,
    offsets: Offsets,
    items: u32,
    parameter: u64,
    write: impl Fn(u32, R::State),
) -> Carry<R::State>
where
    R::Element: Lanes<N>,
{
    let lane = lane_id();
    let warp = u64::from(block_idx_x()) * u64::from(THREADS / 32) + u64::from(thread_idx_x() / 32);
    let (origin, count) = (offsets.at(0), offsets.count);
    let span = offsets.at(count).saturating_sub(origin);
    let (from, to) = (warp * u64::from(items), (warp + 1) * u64::from(items));
    let [first, last] = offsets.ends_before([from, to], origin);
    // Without effect unless offsets decrease.
    let last = last.max(first).min(first.saturating_add(items));
    // The elements of the range: its positions minus the ends before them.
    let begin = origin + from.saturating_sub(u64::from(first)).min(span);
    let end = origin + to.saturating_sub(u64::from(last)).min(span);
    let end = end.max(begin);
    let mut head = r.identity();
    let mut base = first;
    while base < last {
        let segment = base.saturating_add(lane);
        let here = segment < last;
        let start = offsets.at(segment.min(count));
        let from = start.clamp(begin, end);
        let to = if here { offsets.at(segment.saturating_add(1).min(count)).clamp(from, end) } else { from };
        let short = to - from <= max_by_lane(to - from);
        if here && short {
            let state = reduce_by_lane(r, x, from, to, from - start.min(from), parameter);
            if segment == first {
                head = state;
            } else {
                write(segment, state);
            }
        }
        let mut long = warp_vote_ballot(FULL_MASK, here && !short);
        while long != 0 {
            let which = long.trailing_zeros();
            long &= long - 1;
            let of = |value: u64| warp_shuffle_idx(FULL_MASK, value, which, 32).0;
            let (start, from, to) = (of(start), of(from), of(to));
            let state = reduce_by_warp::<R, N>(r, x, from, to, from - start.min(from), parameter);
            if lane == 0 {
                if base + which == first {
                    head = state;
                } else {
                    write(base + which, state);
                }
            }
        }
        base = base.saturating_add(32);
    }
    let start = offsets.at(last.min(count));
    let from = if last > first { start.clamp(begin, end) } else { begin };
    let tail = reduce_by_warp::<R, N>(r, x, from, end, from - start.min(from), parameter);
    Carry { first_end: if last > first { Some(first) } else { None }, head, tail }
}
