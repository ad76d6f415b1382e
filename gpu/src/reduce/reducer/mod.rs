//! Reductions as values, which the bodies of the kernels take.
//!
//! A reduction is a type without values ([`Reduction`]), and a kernel in PTX is
//! compiled for its type alone: [`Static`]. For the simulator the body of a kernel is compiled once for all reductions
//! whose elements and results have the same sizes, and calls their functions through a table (`table`): 12 instances
//! for 56 reductions, and a third of the time to build the families.

#[cfg(not(target_arch = "nvptx64"))]
mod table;

use core::marker::PhantomData;

use simt::element::Element;
use simt::warp::{FULL_MASK, warp_reduce_strided, warp_shuffle_xor};

use super::whole::partition::MAX_STATE_WORDS;
use super::whole::reduction::{Merge, Reduction, State};
use crate::unroll::unroll;

/// A [`Merge`] as a value.
pub trait Merger: Copy {
    /// The state.
    type State: Copy;
    /// Words of a state.
    fn words(self) -> usize;
    /// [`Merge::identity`].
    fn identity(self) -> Self::State;
    /// [`Merge::merge`].
    fn merge(self, a: Self::State, b: Self::State) -> Self::State;
    /// [`Merge::reduce_lanes`].
    fn reduce_lanes(self, state: Self::State, lanes: u32) -> Self::State;
    /// [`State::pack`].
    fn pack(self, state: Self::State) -> [u64; MAX_STATE_WORDS];
    /// [`State::unpack`].
    fn unpack(self, words: [u64; MAX_STATE_WORDS]) -> Self::State;
    /// The merged states of the lanes that are `stride` apart in each segment of `width` lanes, in the first `stride`
    /// lanes of the segment: [`warp_reduce_strided`]. All lanes of the warp take part.
    #[track_caller]
    fn reduce_strided<const N: usize>(self, states: [Self::State; N], width: u32, stride: u32) -> [Self::State; N];
    /// The states of the lane whose index is this one's exclusive or `distance`, a power of two. All lanes of the warp
    /// take part.
    #[track_caller]
    fn shuffle_xor<const N: usize>(self, states: [Self::State; N], distance: u32) -> [Self::State; N];
}

/// A [`Reduction`] as a value.
pub trait Reducer: Merger {
    /// Elements of a line.
    type Element: Element;
    /// Type of the result.
    type Output: Element;
    /// [`Reduction::of`].
    fn of(self, x: Self::Element, index: u64, parameter: u64) -> Self::State;
    /// [`Reduction::of_vector`].
    fn of_vector(self, lanes: &[Self::Element], first: u64, parameter: u64) -> Self::State;
    /// [`Reduction::finish`].
    fn finish(self, state: Self::State, parameter: u64) -> Self::Output;
}

/// Merges and a reduction that are known when the kernel is compiled.
pub struct Static<M, R = ()>(PhantomData<(M, R)>);

impl<M, R> Static<M, R> {
    /// The only value.
    pub const NEW: Self = Self(PhantomData);
}

impl<M, R> Clone for Static<M, R> {
    #[cfg_attr(optimised, inline(always))]
    fn clone(&self) -> Self {
        *self
    }
}

impl<M, R> Copy for Static<M, R> {}

impl<M: Merge, R> Merger for Static<M, R> {
    type State = M::State;
    #[cfg_attr(optimised, inline(always))]
    fn words(self) -> usize {
        M::State::WORDS
    }
    #[cfg_attr(optimised, inline(always))]
    fn identity(self) -> M::State {
        M::identity()
    }
    #[cfg_attr(optimised, inline(always))]
    fn merge(self, a: M::State, b: M::State) -> M::State {
        M::merge(a, b)
    }
    #[cfg_attr(optimised, inline(always))]
    fn reduce_lanes(self, state: M::State, lanes: u32) -> M::State {
        M::reduce_lanes(state, lanes)
    }
    #[cfg_attr(optimised, inline(always))]
    fn pack(self, state: M::State) -> [u64; MAX_STATE_WORDS] {
        state.pack()
    }
    #[cfg_attr(optimised, inline(always))]
    fn unpack(self, words: [u64; MAX_STATE_WORDS]) -> M::State {
        M::State::unpack(words)
    }
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    fn reduce_strided<const N: usize>(self, states: [M::State; N], width: u32, stride: u32) -> [M::State; N] {
        warp_reduce_strided(FULL_MASK, states, width, stride, |mut a, b| {
            unroll!(for i in 0..N {
                a[i] = M::merge(a[i], b[i]);
            });
            a
        })
    }
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    fn shuffle_xor<const N: usize>(self, states: [M::State; N], distance: u32) -> [M::State; N] {
        warp_shuffle_xor(FULL_MASK, states, distance, 32).0
    }
}

impl<M: Merge, R: Reduction<Merges = M>> Reducer for Static<M, R> {
    type Element = R::Element;
    type Output = R::Output;
    #[cfg_attr(optimised, inline(always))]
    fn of(self, x: R::Element, index: u64, parameter: u64) -> M::State {
        R::of(x, index, parameter)
    }
    #[cfg_attr(optimised, inline(always))]
    fn of_vector(self, lanes: &[R::Element], first: u64, parameter: u64) -> M::State {
        R::of_vector(lanes, first, parameter)
    }
    #[cfg_attr(optimised, inline(always))]
    fn finish(self, state: M::State, parameter: u64) -> R::Output {
        R::finish(state, parameter)
    }
}

/// The reducer that the kernels of `R` are compiled for; its elements and results have the bits of those of `R`.
#[cfg(target_arch = "nvptx64")]
#[cfg_attr(optimised, inline(always))]
pub fn reducer<R: Reduction>() -> Static<R::Merges, R> {
    Static::NEW
}
#[cfg(not(target_arch = "nvptx64"))]
pub use table::reducer;
