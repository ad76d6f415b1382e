//! A warp's share of the list of elements and ends.

use simt::element::{Lanes, zeroed};
use simt::prelude::*;
use simt::warp::{FULL_MASK, lane_id, warp_shuffle_idx, warp_vote_ballot};

use super::carry::Passed;
use crate::reduce::along::line::of_line;
use crate::reduce::along::{Along, IN_FLIGHT, THREADS};
use crate::unroll::unroll;

/// Longest piece of a segment that one lane sees alone: from the least to the most, whichever takes the pieces of 32 segments the
/// least time.
const LEAST_ALONE: u64 = 16;
const MOST_ALONE: u64 = 128;
/// Elements that a lane sees alone while the warp sees a piece together.
const TOGETHER: u64 = 8;

/// Where segments begin and end.
#[derive(Clone, Copy)]
pub(super) struct Offsets<'a> {
    words: VecRef<'a, u32>,
    wide: bool,
    /// Segments.
    count: u32,
    /// Elements there are: no offset is beyond.
    end: u64,
}

impl<'a> Offsets<'a> {
    pub(super) fn new(words: VecRef<'a, u32>, wide: bool, count: u32, end: u64) -> Self {
        Self { words, wide, count, end }
    }

    /// Offset `index`, at most the number of elements.
    #[inline(always)]
    #[track_caller]
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

    /// How many segments end before each of two places of the list. The lanes of the warp look at 32 ends at once for either: the
    /// warp waits for memory as often as it would for one place.
    #[inline(always)]
    #[track_caller]
    fn ended_before(&self, places: [u64; 2], origin: u64) -> [u32; 2] {
        let (mut low, mut high) = ([0; 2], [self.count; 2]);
        while low[0] < high[0] || low[1] < high[1] {
            let step = [0, 1].map(|i| (high[i] - low[i]).div_ceil(32).max(1));
            let probe = [0, 1].map(|i| low[i].saturating_add((lane_id() + 1).saturating_mul(step[i])) - 1);
            let end = probe.map(|probe| self.at(probe.min(self.count - 1) + 1).saturating_sub(origin));
            for i in 0..2 {
                let ended = probe[i] < high[i] && end[i] + u64::from(probe[i]) < places[i];
                let count = warp_vote_ballot(FULL_MASK, ended).count_ones();
                let next = low[i].saturating_add(count.saturating_mul(step[i]));
                high[i] = next.saturating_add(step[i] - 1).min(high[i]);
                low[i] = next.min(high[i]);
            }
        }
        low
    }
}

/// What one lane sees of elements `begin` to `end` − 1, the first of them number `first` of its segment: four under way.
#[inline(always)]
#[track_caller]
fn alone<R: Along>(x: VecRef<R::Element>, begin: u64, end: u64, first: u64, parameter: u64) -> R::State {
    let mut state = R::none();
    let mut at = begin;
    while at < end {
        let loaded = [0, 1, 2, 3].map(|i| x.get_or((at + i).min(end - 1) as usize, zeroed()));
        unroll!(for i in 0..IN_FLIGHT {
            let seen = R::merge(state, R::of(loaded[i], first + (at - begin) + i as u64, parameter));
            state = if at + (i as u64) < end { seen } else { state };
        });
        at += IN_FLIGHT as u64;
    }
    state
}

/// What the warp sees of them together, in lane 0.
#[inline(always)]
#[track_caller]
fn together<R: Along, const N: usize>(
    x: VecRef<R::Element>,
    begin: u64,
    end: u64,
    first: u64,
    parameter: u64,
) -> R::State
where
    R::Element: Lanes<N>,
{
    let mut state = R::none();
    if let Some(piece) = x.part(begin as usize, (end - begin) as usize) {
        state = of_line::<R, N>(piece, first, lane_id(), 5, parameter);
    }
    R::of_lanes(state, 32)
}

/// How long a piece may be for one lane to see it alone, where that of this lane has `length` elements.
#[inline(always)]
#[track_caller]
fn longest_alone(length: u64) -> u64 {
    let (mut longest, mut least) = (LEAST_ALONE, u64::MAX);
    let mut alone = LEAST_ALONE;
    while alone <= MOST_ALONE {
        let time = alone + TOGETHER * u64::from(warp_vote_ballot(FULL_MASK, length > alone).count_ones());
        longest = if time < least { alone } else { longest };
        least = time.min(least);
        alone *= 2;
    }
    longest
}

/// Reduces the warp's share: writes the segments that begin and end in it; gives, in lane 0, what belongs to one that ends in it and
/// may have begun before, and what belongs to one that goes on behind.
#[inline(always)]
#[track_caller]
pub(super) fn reduce<R: Along, const N: usize>(
    x: VecRef<R::Element>,
    offsets: Offsets,
    items: u32,
    parameter: u64,
    write: impl Fn(u32, R::State),
) -> Passed<R::State>
where
    R::Element: Lanes<N>,
{
    let lane = lane_id();
    let warp = u64::from(block_idx_x()) * u64::from(THREADS / 32) + u64::from(thread_idx_x() / 32);
    let (origin, count) = (offsets.at(0), offsets.count);
    let span = offsets.at(count).saturating_sub(origin);
    let (from, to) = (warp * u64::from(items), (warp + 1) * u64::from(items));
    let [first, last] = offsets.ended_before([from, to], origin);
    // As it is where offsets do not fall.
    let last = last.max(first).min(first.saturating_add(items));
    // The elements of the share: what is left of its places when the ends are taken off.
    let begin = origin + from.saturating_sub(u64::from(first)).min(span);
    let end = origin + to.saturating_sub(u64::from(last)).min(span);
    let end = end.max(begin);
    let mut lead = R::none();
    let mut base = first;
    while base < last {
        let segment = base.saturating_add(lane);
        let here = segment < last;
        let start = offsets.at(segment.min(count));
        let from = start.clamp(begin, end);
        let to = if here { offsets.at(segment.saturating_add(1).min(count)).clamp(from, end) } else { from };
        let short = to - from <= longest_alone(to - from);
        if here && short {
            let state = alone::<R>(x, from, to, from - start.min(from), parameter);
            if segment == first {
                lead = state;
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
            let state = together::<R, N>(x, from, to, from - start.min(from), parameter);
            if lane == 0 {
                if base + which == first {
                    lead = state;
                } else {
                    write(base + which, state);
                }
            }
        }
        base = base.saturating_add(32);
    }
    let start = offsets.at(last.min(count));
    let from = if last > first { start.clamp(begin, end) } else { begin };
    let trail = together::<R, N>(x, from, end, from - start.min(from), parameter);
    Passed { ended: if last > first { Some(first) } else { None }, lead, trail }
}
