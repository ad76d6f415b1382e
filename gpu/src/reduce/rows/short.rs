//! Short lines, of few vectors if aligned, otherwise of few elements: some lanes of a warp for each, with the loads of
//! four lines in flight in each lane.
//!
//! ```text
//!  a warp, 4 lanes a line    │ line 0 │ line 1 │ … │ line 7 │   64 bytes each: one load of 512 bytes,
//!                            │ 64 …   │                           and three more, each 8 warps further on
//!  exchange                  lanes 0, 1 keep lines 0 and 64, lanes 2, 3 the other two; then each lane keeps one:
//!                            3 shuffles, where four lines one by one take 8, and every lane writes a result
//! ```

use simt::element::{Element, Lanes, Vector, zeroed};
use simt::global::Window;
use simt::prelude::*;

use super::{RowArgs, plan};
use crate::reduce::along::{IN_FLIGHT, THREADS};
use crate::reduce::reducer::Reducer;
use crate::unroll::{each, unroll};

/// Reduces the block's evenly spaced lines: by vectors if all lines are aligned whole vectors, otherwise by elements.
#[cfg_attr(optimised, inline(always))]
pub(super) fn reduce<R: Reducer, const N: usize>(
    r: R,
    x: VecRef<R::Element>,
    out: VecMut<R::Output>,
    args: RowArgs,
    config: [u32; 4],
) where
    R::Element: Lanes<N>,
{
    let RowArgs { length, strides: [.., distance], parameter } = args;
    let (count, length) = (out.len() as u32, length as u32);
    if config[0] == plan::SHORT_LINES_VECTORS {
        let of =
            |vector: Vector<R::Element, N>, col: u32| r.of_vector(&vector.lanes, u64::from(col) * N as u64, parameter);
        if let Some(window) = x.vectors::<N>().window(0, count, length / N as u32, distance / N as u64) {
            each(r, window, out, parameter, config, of);
        }
    } else if let Some(window) = x.window(0, count, length, distance) {
        each(r, window, out, parameter, config, |x, col| r.of(x, u64::from(col), parameter));
    }
}

/// Reduces the block's rows of `window`; `of` is the state of an entry, given its column.
#[cfg_attr(optimised, inline(always))]
fn each<R: Reducer, E: Element>(
    r: R,
    window: Window<E>,
    out: VecMut<R::Output>,
    parameter: u64,
    [_, shift, lines_per_block, _]: [u32; 4],
    of: impl Fn(E, u32) -> R::State,
) {
    let (t, lanes, groups) = (thread_idx_x(), 1_u32 << shift, THREADS >> shift);
    let (group, lane) = (t >> shift, t & (lanes - 1));
    let (rows, cols) = (window.rows(), window.cols());
    if rows == 0 || cols == 0 {
        return;
    }
    let mut base = block_idx_x().saturating_mul(lines_per_block);
    let end = base.saturating_add(lines_per_block).min(rows);
    // All lanes of a warp iterate together, for the shuffles: those without a line or column read another one and do
    // not merge it.
    while base < end {
        let row = |i: usize| (base + i as u32 * groups).saturating_add(group);
        let mut states = [r.identity(); IN_FLIGHT];
        let mut at = 0;
        while at < cols {
            let col = at + lane;
            let loaded = each!([0, 1, 2, 3], |i| window.get_cs_or(row(i).min(rows - 1), col.min(cols - 1), zeroed()));
            unroll!(for i in 0..IN_FLIGHT {
                let merged = r.merge(states[i], of(loaded[i], col));
                states[i] = if col < cols { merged } else { states[i] };
            });
            at += lanes;
        }
        let (first, held) = exchange(r, &mut states, lane, lanes);
        unroll!(for i in 0..IN_FLIGHT {
            let row = row(first + i);
            if i < held && row < end {
                out.set_within(row as usize, r.finish(states[i], parameter));
            }
        });
        base = base.saturating_add(IN_FLIGHT as u32 * groups);
    }
}

/// Lines that a lane keeps of four after the first exchange.
const HALF: usize = IN_FLIGHT / 2;

/// Merges the states of the group's four lines over its lanes. Returns which line is then in `states[0]`, and how many
/// lines the lane holds: one if there are four lanes or more, none in lanes whose states were merged into others.
#[cfg_attr(optimised, inline(always))]
fn exchange<R: Reducer>(r: R, states: &mut [R::State; IN_FLIGHT], lane: u32, lanes: u32) -> (usize, usize) {
    if lanes == 1 {
        return (0, IN_FLIGHT);
    }
    let mut distance = lanes / 2;
    let upper = lane & distance != 0;
    let ([a, b], [c, d]) = ([states[0], states[1]], [states[2], states[3]]);
    let (kept, given) = if upper { ([c, d], [a, b]) } else { ([a, b], [c, d]) };
    let theirs = r.shuffle_xor(given, distance);
    unroll!(for i in 0..HALF {
        states[i] = r.merge(kept[i], theirs[i]);
    });
    let pair = if upper { HALF } else { 0 };
    if lanes == 2 {
        return (pair, HALF);
    }
    distance /= 2;
    let upper = lane & distance != 0;
    let (kept, given) = if upper { (states[1], states[0]) } else { (states[0], states[1]) };
    let [theirs] = r.shuffle_xor([given], distance);
    states[0] = r.merge(kept, theirs);
    let first = if upper { pair + 1 } else { pair };
    let writes = lane & (distance - 1) == 0;
    [states[0]] = r.reduce_strided([states[0]], distance, 1);
    (first, usize::from(writes))
}
