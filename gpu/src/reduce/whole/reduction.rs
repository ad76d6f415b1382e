//! The traits of a reduction: its state, how two states merge, the state of one element, and the result of a state.
//!
//! A reduction is a type without values; its functions are inlined into the kernel. States merge in a fixed tree, so
//! that a merge need not be associative or commutative to the last bit. The two states of a merge are in no particular
//! order of elements: a reduction that depends on it keeps the index.

use simt::element::Element;
use simt::warp::{FULL_MASK, ShuffleValue, WarpValue, warp_reduce};

use super::partition::MAX_STATE_WORDS;

/// The value that threads merge; it passes between lanes by shuffles and through memory as 8-byte words.
pub trait State: ShuffleValue {
    /// Its number of words.
    const WORDS: usize;
    /// Its words; those from [`State::WORDS`] on are 0.
    fn pack(self) -> [u64; MAX_STATE_WORDS];
    /// The state with these words.
    fn unpack(words: [u64; MAX_STATE_WORDS]) -> Self;
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
    #[cfg_attr(optimised, inline(always))]
    fn reduce_lanes(state: Self::State, lanes: u32) -> Self::State {
        warp_reduce(FULL_MASK, state, lanes, Self::merge)
    }
}

/// The reduction of a line, the elements that are reduced to one result. What the parameter means, each one defines;
/// most ignore it, or use it for the result alone.
pub trait Reduction {
    /// Its states, and how they merge.
    type Merges: Merge;
    /// Elements of the line.
    type Element: Element;
    /// Type of the result.
    type Output: Element;
    /// The state of `x`, element `index` of the line.
    fn of(x: Self::Element, index: u64, parameter: u64) -> StateOf<Self>;
    /// The state of these elements, at least one, the first of which has index `first`.
    #[cfg_attr(optimised, inline(always))]
    fn of_vector(lanes: &[Self::Element], first: u64, parameter: u64) -> StateOf<Self> {
        let mut state = Self::of(lanes[0], first, parameter);
        for lane in 1..lanes.len() {
            state = Self::Merges::merge(state, Self::of(lanes[lane], first + lane as u64, parameter));
        }
        state
    }
    /// The result.
    fn finish(state: StateOf<Self>, parameter: u64) -> Self::Output;
}

/// The states of a reduction.
pub type StateOf<R> = <<R as Reduction>::Merges as Merge>::State;

/// 8-byte words of a state of the reduction.
pub const fn state_words<R: Reduction>() -> usize {
    <StateOf<R> as State>::WORDS
}

/// A reduction of two vectors of the same length, pair by pair.
pub trait PairReduction {
    /// Its states, and how they merge.
    type Merges: Merge;
    /// Elements of the vectors.
    type Element: Element;
    /// Type of the result.
    type Output: Element;
    /// The state of one pair.
    fn of_pair(x: Self::Element, y: Self::Element) -> PairStateOf<Self>;
    /// The result.
    fn finish(state: PairStateOf<Self>) -> Self::Output;
}

/// The states of a [`PairReduction`].
pub type PairStateOf<P> = <<P as PairReduction>::Merges as Merge>::State;

macro_rules! words {
    ($($t:ty)+) => {$(
        impl State for $t {
            const WORDS: usize = 1;
            #[cfg_attr(optimised, inline(always))]
            fn pack(self) -> [u64; MAX_STATE_WORDS] {
                [WarpValue::to_bits(self), 0, 0]
            }
            #[cfg_attr(optimised, inline(always))]
            fn unpack(words: [u64; MAX_STATE_WORDS]) -> Self {
                <$t as WarpValue>::from_bits(words[0])
            }
        }
    )+};
}
words! { u32 i32 f32 u64 i64 f64 }

impl<A: State + WarpValue, B: State + WarpValue> State for (A, B) {
    const WORDS: usize = 2;
    #[cfg_attr(optimised, inline(always))]
    fn pack(self) -> [u64; MAX_STATE_WORDS] {
        [WarpValue::to_bits(self.0), WarpValue::to_bits(self.1), 0]
    }
    #[cfg_attr(optimised, inline(always))]
    fn unpack([a, b, _]: [u64; MAX_STATE_WORDS]) -> Self {
        (WarpValue::from_bits(a), WarpValue::from_bits(b))
    }
}

impl<A: State + WarpValue, B: State + WarpValue, C: State + WarpValue> State for (A, B, C) {
    const WORDS: usize = 3;
    #[cfg_attr(optimised, inline(always))]
    fn pack(self) -> [u64; MAX_STATE_WORDS] {
        [WarpValue::to_bits(self.0), WarpValue::to_bits(self.1), WarpValue::to_bits(self.2)]
    }
    #[cfg_attr(optimised, inline(always))]
    fn unpack([a, b, c]: [u64; MAX_STATE_WORDS]) -> Self {
        (WarpValue::from_bits(a), WarpValue::from_bits(b), WarpValue::from_bits(c))
    }
}
