//! Lines of few vectors, or, where they are not aligned, of so few elements: some lanes of a warp for each, and four lines
//! under way in each thread.
//!
//! ```text
//!  a warp, 4 lanes a line    │ line 0 │ line 1 │ … │ line 7 │   64 bytes each: one access of 512 bytes
//!                            │ 64 …   │                           and three more, 8 warps further on each
//!  exchange                  lanes 0, 1 keep lines 0 and 64, lanes 2, 3 the other two; then each lane keeps one:
//!                            three shuffles where four lines one by one take eight, and every lane has a result to write
//! ```

use simt::element::{Element, Lanes, Vector, zeroed};
use simt::global::Window;
use simt::prelude::*;

use super::Lines;
use crate::reduce::along::{Along, IN_FLIGHT, THREADS};
use crate::reduce::whole::reduction::State;
use crate::unroll::unroll;

/// Reduces the block's lines, which lie at equal distances: by vectors where all of them start at multiples of 16 bytes and have
/// no element left over, else by elements.
#[inline(always)]
#[track_caller]
pub(super) fn reduce<R: Along, const N: usize>(
    x: VecRef<R::Element>,
    out: VecMut<R::Output>,
    lines: Lines,
    by_vectors: bool,
) where
    R::Element: Lanes<N>,
{
    let Lines { length, strides: [.., distance], parameter, .. } = lines;
    let (count, length) = (out.len() as u32, length as u32);
    if by_vectors {
        let of =
            |vector: Vector<R::Element, N>, col: u32| R::of_vector(vector.lanes, u64::from(col) * N as u64, parameter);
        if let Some(window) = x.vectors::<N>().window(0, count, length / N as u32, distance / N as u64) {
            each::<R, _>(window, out, lines, of);
        }
    } else if let Some(window) = x.window(0, count, length, distance) {
        each::<R, _>(window, out, lines, |x, col| R::of(x, u64::from(col), parameter));
    }
}

/// The block's rows of `window`; `of` is the state of what stands in a column.
#[inline(always)]
#[track_caller]
fn each<R: Along, E: Element>(
    window: Window<E>,
    out: VecMut<R::Output>,
    lines: Lines,
    of: impl Fn(E, u32) -> R::State,
) {
    let [_, shift, lines_per_block, _] = lines.cut;
    let (t, lanes, groups) = (thread_idx_x(), 1_u32 << shift, THREADS >> shift);
    let (group, lane) = (t >> shift, t & (lanes - 1));
    let (rows, cols) = (window.rows(), window.cols());
    if rows == 0 || cols == 0 {
        return;
    }
    let mut base = block_idx_x().saturating_mul(lines_per_block);
    let end = base.saturating_add(lines_per_block).min(rows);
    // All lanes of a warp go round together, for the shuffles: those without a line or column read another's and leave it out.
    while base < end {
        let row = |i: usize| (base + i as u32 * groups).saturating_add(group);
        let mut states = [R::none(); IN_FLIGHT];
        let mut at = 0;
        while at < cols {
            let col = at + lane;
            let loaded = [0, 1, 2, 3].map(|i| window.get_cs_or(row(i).min(rows - 1), col.min(cols - 1), zeroed()));
            unroll!(for i in 0..IN_FLIGHT {
                let merged = R::merge(states[i], of(loaded[i], col));
                states[i] = if col < cols { merged } else { states[i] };
            });
            at += lanes;
        }
        let (first, held) = exchange::<R>(&mut states, lane, lanes);
        unroll!(for i in 0..IN_FLIGHT {
            let row = row(first + i);
            if i < held && row < end {
                out.set_within(row as usize, R::finish(states[i], lines.parameter));
            }
        });
        base = base.saturating_add(IN_FLIGHT as u32 * groups);
    }
}

/// Lines that a lane keeps of four when it has handed on the others.
const HALF: usize = IN_FLIGHT / 2;

/// Merges what the group's lanes have of its four lines. Gives which of the lines the lane has then, from the front of `states` on,
/// and how many: one where there are four lanes or more, none in lanes that have handed on what they had.
#[inline(always)]
#[track_caller]
fn exchange<R: Along>(states: &mut [R::State; IN_FLIGHT], lane: u32, lanes: u32) -> (usize, usize) {
    if lanes == 1 {
        return (0, IN_FLIGHT);
    }
    let mut distance = lanes / 2;
    let upper = lane & distance != 0;
    unroll!(for i in 0..HALF {
        let (kept, given) = if upper { (states[i + HALF], states[i]) } else { (states[i], states[i + HALF]) };
        states[i] = R::merge(kept, given.of_lane_across(distance));
    });
    let pair = if upper { HALF } else { 0 };
    if lanes == 2 {
        return (pair, HALF);
    }
    distance /= 2;
    let upper = lane & distance != 0;
    let (kept, given) = if upper { (states[1], states[0]) } else { (states[0], states[1]) };
    states[0] = R::merge(kept, given.of_lane_across(distance));
    let first = if upper { pair + 1 } else { pair };
    let writes = lane & (distance - 1) == 0;
    while distance > 1 {
        distance /= 2;
        states[0] = R::merge(states[0], states[0].of_lane_above(distance));
    }
    (first, usize::from(writes))
}
