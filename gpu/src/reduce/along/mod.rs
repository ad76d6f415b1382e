//! Reductions of many lines at once: what those along an axis and those of segments have in common.
//!
//! A *line* is the elements that become one result. The states and how they merge are those of [`whole`](super::whole). What
//! differs between sum and mean, minimum and maximum, `i32` and `u32`, is decided at run time by a parameter, where it costs an
//! instruction or none: a third of the kernels, which a driver compiles in a third of the time.
//!
//! | module | has |
//! |---|---|
//! | [`totals`], [`best`] | the reductions with a parameter |
//! | `line` | what some threads see of a line whose elements lie side by side |
//! | [`block`] | the states of a block's threads, and of several blocks, merged |
//! | [`dims`] | where a line starts, its number being given |
//! | `list` | which reductions of which elements there are |
//!
//! Families of kernels: `reduce_rows` (lines whose elements lie side by side), `reduce_columns` (all others).

#![allow(clippy::needless_range_loop, reason = "an iterator over an array held by value keeps it in local memory")]

pub mod best;
pub mod block;
pub mod dims;
pub(crate) mod line;
pub(crate) mod list;
pub mod totals;

use simt::element::Element;

use super::whole::reduction::{Merge, Reduction};

/// Threads of a block.
pub const THREADS: u32 = 256;
/// Accesses of 16 bytes that a thread has under way along a line.
pub const IN_FLIGHT: usize = 4;
/// Most lines that several blocks share: words at the start of a workspace, one ticket each.
pub const TICKETS: usize = 4224;

/// A reduction whose elements and result depend on a parameter.
///
/// Every [`Reduction`] is one, its elements as they are.
pub trait Along: Merge {
    /// What a line holds.
    type Element: Element;
    /// What comes out.
    type Output: Element;
    /// The state that has seen `x` alone, element `index` of the line.
    fn of(x: Self::Element, index: u64, parameter: u64) -> Self::State;
    /// The state that has seen these elements, from `first` on.
    #[inline(always)]
    fn of_vector<const N: usize>(lanes: [Self::Element; N], first: u64, parameter: u64) -> Self::State {
        let mut state = Self::of(lanes[0], first, parameter);
        for lane in 1..N {
            state = Self::merge(state, Self::of(lanes[lane], first + lane as u64, parameter));
        }
        state
    }
    /// The result.
    fn finish(state: Self::State, parameter: u64) -> Self::Output;
}

impl<R: Reduction> Along for R {
    type Element = R::Element;
    type Output = R::Output;
    #[inline(always)]
    fn of(x: R::Element, index: u64, _: u64) -> R::State {
        R::of(x, index)
    }
    #[inline(always)]
    fn of_vector<const N: usize>(lanes: [R::Element; N], first: u64, _: u64) -> R::State {
        R::of_vector(lanes, first)
    }
    #[inline(always)]
    fn finish(state: R::State, parameter: u64) -> R::Output {
        R::finish(state, parameter)
    }
}

/// Registers of a thread with which `blocks` blocks share a multiprocessor of 65536, which are dealt out by eights.
pub(crate) const fn registers(blocks: u32) -> u32 {
    65_536 / THREADS / blocks / 8 * 8
}
