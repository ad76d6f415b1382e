//! The traits of a reduction: its state, how two states merge, the state of one element, and the result of a state.
//!
//! A reduction is a type without values; its functions are inlined into the kernel. States merge in a fixed tree, so
//! that a merge need not be associative or commutative to the last bit. The two states of a merge are in no particular
//! order of elements: a reduction that depends on it keeps the index.

use simt::element::Element;
use simt::warp::{FULL_MASK, WarpValue, warp_shuffle_down, warp_shuffle_xor};

use super::partition::MAX_STATE_WORDS;

/// The value that threads merge; it passes between lanes by shuffles and through memory as 8-byte words.
pub trait State: Copy {
    /// Its number of words.
    const WORDS: usize;
    /// Its words; those from [`State::WORDS`] on are 0.
    fn pack(self) -> [u64; MAX_STATE_WORDS];
    /// The state with these words.
    fn unpack(words: [u64; MAX_STATE_WORDS]) -> Self;
    /// The state of the lane `distance` above this one. All lanes of the warp take part.
    #[must_use]
    fn shuffle_down(self, distance: u32) -> Self;
    /// The state of the lane whose index is this one's exclusive or `distance`, a power of two. All lanes of the warp
    /// take part.
    #[must_use]
    fn shuffle_xor(self, distance: u32) -> Self;
}

/// How states merge.
pub trait Merge {
    /// The state.
    type State: State;
    /// The state of no elements: the identity of `merge`.
    fn identity() -> Self::State;
    /// The state of the elements of `a` and `b`.
    fn merge(a: Self::State, b: Self::State) -> Self::State;
    /// The merged state of the first `lanes` lanes, a power of two, in lane 0. If `lanes` is less than 32, the other
    /// lanes hold copies of the same states.
    #[inline(always)]
    fn reduce_lanes(state: Self::State, lanes: u32) -> Self::State {
        let mut state = state;
        let mut distance = lanes / 2;
        while distance > 0 {
            state = Self::merge(state, state.shuffle_down(distance));
            distance /= 2;
        }
        state
    }
}

/// A reduction of one vector.
pub trait Reduction: Merge {
    /// Elements of the vector.
    type Element: Element;
    /// Type of the result.
    type Output: Element;
    /// The state of `x`, element `index` of the vector.
    fn of(x: Self::Element, index: u64) -> Self::State;
    /// The state of these elements, the first of which has index `first`.
    #[inline(always)]
    fn of_vector<const N: usize>(lanes: [Self::Element; N], first: u64) -> Self::State {
        let mut state = Self::of(lanes[0], first);
        for lane in 1..N {
            state = Self::merge(state, Self::of(lanes[lane], first + lane as u64));
        }
        state
    }
    /// The result. Each reduction defines what `parameter` means.
    fn finish(state: Self::State, parameter: u64) -> Self::Output;
}

/// A reduction of two vectors of the same length, pair by pair.
pub trait PairReduction: Merge {
    /// Elements of the vectors.
    type Element: Element;
    /// Type of the result.
    type Output: Element;
    /// The state of one pair.
    fn of_pair(x: Self::Element, y: Self::Element) -> Self::State;
    /// The result.
    fn finish(state: Self::State) -> Self::Output;
}

macro_rules! words {
    ($($t:ty)+) => {$(
        impl State for $t {
            const WORDS: usize = 1;
            #[inline(always)]
            fn pack(self) -> [u64; MAX_STATE_WORDS] {
                [WarpValue::to_bits(self), 0, 0]
            }
            #[inline(always)]
            fn unpack(words: [u64; MAX_STATE_WORDS]) -> Self {
                <$t as WarpValue>::from_bits(words[0])
            }
            #[inline(always)]
            fn shuffle_down(self, distance: u32) -> Self {
                warp_shuffle_down(FULL_MASK, self, distance, 32).0
            }
            #[inline(always)]
            fn shuffle_xor(self, distance: u32) -> Self {
                warp_shuffle_xor(FULL_MASK, self, distance, 32).0
            }
        }
    )+};
}
words! { u32 i32 f32 u64 i64 f64 }

impl<A: State + WarpValue, B: State + WarpValue> State for (A, B) {
    const WORDS: usize = 2;
    #[inline(always)]
    fn pack(self) -> [u64; MAX_STATE_WORDS] {
        [WarpValue::to_bits(self.0), WarpValue::to_bits(self.1), 0]
    }
    #[inline(always)]
    fn unpack([a, b, _]: [u64; MAX_STATE_WORDS]) -> Self {
        (WarpValue::from_bits(a), WarpValue::from_bits(b))
    }
    #[inline(always)]
    fn shuffle_down(self, distance: u32) -> Self {
        (self.0.shuffle_down(distance), self.1.shuffle_down(distance))
    }
    #[inline(always)]
    fn shuffle_xor(self, distance: u32) -> Self {
        (self.0.shuffle_xor(distance), self.1.shuffle_xor(distance))
    }
}

impl<A: State + WarpValue, B: State + WarpValue, C: State + WarpValue> State for (A, B, C) {
    const WORDS: usize = 3;
    #[inline(always)]
    fn pack(self) -> [u64; MAX_STATE_WORDS] {
        [WarpValue::to_bits(self.0), WarpValue::to_bits(self.1), WarpValue::to_bits(self.2)]
    }
    #[inline(always)]
    fn unpack([a, b, c]: [u64; MAX_STATE_WORDS]) -> Self {
        (WarpValue::from_bits(a), WarpValue::from_bits(b), WarpValue::from_bits(c))
    }
    #[inline(always)]
    fn shuffle_down(self, distance: u32) -> Self {
        (self.0.shuffle_down(distance), self.1.shuffle_down(distance), self.2.shuffle_down(distance))
    }
    #[inline(always)]
    fn shuffle_xor(self, distance: u32) -> Self {
        (self.0.shuffle_xor(distance), self.1.shuffle_xor(distance), self.2.shuffle_xor(distance))
    }
}
