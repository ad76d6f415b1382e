//! What a reduction is: a state, how two of them merge, what an element is to it, and what is made of it in the end.
//!
//! A reduction is a type without values; its functions are inlined into the kernel. States merge in a fixed tree, so a merge
//! need be neither associative nor commutative to the last bit; but which elements a state has seen says nothing about which of
//! two comes first, unless it keeps their index.

use simt::element::Element;
use simt::warp::{FULL_MASK, WarpValue, warp_shuffle_down, warp_shuffle_xor};

use super::partition::MOST_STATE_WORDS;

/// What is carried from element to element, from lane to lane, and through memory as 8-byte words.
pub trait State: Copy {
    /// Words that it takes.
    const WORDS: usize;
    /// Its words; those behind [`State::WORDS`] are 0.
    fn pack(self) -> [u64; MOST_STATE_WORDS];
    /// The state of these words.
    fn unpack(words: [u64; MOST_STATE_WORDS]) -> Self;
    /// The state of the lane `distance` above. All lanes of the warp take part.
    #[must_use]
    #[track_caller]
    fn of_lane_above(self, distance: u32) -> Self;
    /// The state of the lane whose number differs by `distance`, a power of two, up or down. All lanes of the warp take part.
    #[must_use]
    #[track_caller]
    fn of_lane_across(self, distance: u32) -> Self;
}

/// How states merge.
pub trait Merge {
    /// What is carried.
    type State: State;
    /// The state that has seen no element.
    fn none() -> Self::State;
    /// The state that has seen what `a` and `b` have.
    fn merge(a: Self::State, b: Self::State) -> Self::State;
    /// In lane 0 the merged states of the first `lanes` lanes, a power of two; where `lanes` is below 32, the others hold the
    /// same states over again.
    #[inline(always)]
    #[track_caller]
    fn of_lanes(state: Self::State, lanes: u32) -> Self::State {
        let mut state = state;
        let mut distance = lanes / 2;
        while distance > 0 {
            state = Self::merge(state, state.of_lane_above(distance));
            distance /= 2;
        }
        state
    }
}

/// A reduction of one vector.
pub trait Reduction: Merge {
    /// What the vector holds.
    type Element: Element;
    /// What comes out.
    type Output: Element;
    /// The state that has seen `x` alone, element `index` of the vector.
    fn of(x: Self::Element, index: u64) -> Self::State;
    /// The state that has seen these elements, from `first` on.
    #[inline(always)]
    fn of_vector<const N: usize>(lanes: [Self::Element; N], first: u64) -> Self::State {
        let mut state = Self::of(lanes[0], first);
        for lane in 1..N {
            state = Self::merge(state, Self::of(lanes[lane], first + lane as u64));
        }
        state
    }
    /// The result. What `parameter` means is the reduction's own matter.
    fn finish(state: Self::State, parameter: u64) -> Self::Output;
}

/// A reduction of two vectors of the same length, pair by pair.
pub trait Pairing: Merge {
    /// What the vectors hold.
    type Element: Element;
    /// What comes out.
    type Output: Element;
    /// The state that has seen the pair alone.
    fn of_pair(x: Self::Element, y: Self::Element) -> Self::State;
    /// The result.
    fn finish(state: Self::State) -> Self::Output;
}

macro_rules! words {
    ($($t:ty)+) => {$(
        impl State for $t {
            const WORDS: usize = 1;
            #[inline(always)]
            fn pack(self) -> [u64; MOST_STATE_WORDS] {
                [WarpValue::to_bits(self), 0, 0]
            }
            #[inline(always)]
            fn unpack(words: [u64; MOST_STATE_WORDS]) -> Self {
                <$t as WarpValue>::from_bits(words[0])
            }
            #[inline(always)]
            #[track_caller]
            fn of_lane_above(self, distance: u32) -> Self {
                warp_shuffle_down(FULL_MASK, self, distance, 32).0
            }
            #[inline(always)]
            #[track_caller]
            fn of_lane_across(self, distance: u32) -> Self {
                warp_shuffle_xor(FULL_MASK, self, distance, 32).0
            }
        }
    )+};
}
words! { u32 i32 f32 u64 i64 f64 }

impl<A: State + WarpValue, B: State + WarpValue> State for (A, B) {
    const WORDS: usize = 2;
    #[inline(always)]
    fn pack(self) -> [u64; MOST_STATE_WORDS] {
        [WarpValue::to_bits(self.0), WarpValue::to_bits(self.1), 0]
    }
    #[inline(always)]
    fn unpack([a, b, _]: [u64; MOST_STATE_WORDS]) -> Self {
        (WarpValue::from_bits(a), WarpValue::from_bits(b))
    }
    #[inline(always)]
    #[track_caller]
    fn of_lane_above(self, distance: u32) -> Self {
        (self.0.of_lane_above(distance), self.1.of_lane_above(distance))
    }
    #[inline(always)]
    #[track_caller]
    fn of_lane_across(self, distance: u32) -> Self {
        (self.0.of_lane_across(distance), self.1.of_lane_across(distance))
    }
}

impl<A: State + WarpValue, B: State + WarpValue, C: State + WarpValue> State for (A, B, C) {
    const WORDS: usize = 3;
    #[inline(always)]
    fn pack(self) -> [u64; MOST_STATE_WORDS] {
        [WarpValue::to_bits(self.0), WarpValue::to_bits(self.1), WarpValue::to_bits(self.2)]
    }
    #[inline(always)]
    fn unpack([a, b, c]: [u64; MOST_STATE_WORDS]) -> Self {
        (WarpValue::from_bits(a), WarpValue::from_bits(b), WarpValue::from_bits(c))
    }
    #[inline(always)]
    #[track_caller]
    fn of_lane_above(self, distance: u32) -> Self {
        (self.0.of_lane_above(distance), self.1.of_lane_above(distance), self.2.of_lane_above(distance))
    }
    #[inline(always)]
    #[track_caller]
    fn of_lane_across(self, distance: u32) -> Self {
        (self.0.of_lane_across(distance), self.1.of_lane_across(distance), self.2.of_lane_across(distance))
    }
}
