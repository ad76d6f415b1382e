//! Reduces contiguous elements of a line by a group of lanes: 16 bytes at a time, four loads in flight, at any
//! alignment.
//!
//! ```text
//!  line   │head│ 16 bytes │ 16 bytes │ …                      │tail│   head and tail: less than 16 bytes
//!  lane     0..     0          1     … lanes − 1  0  1 …     h..      lane i has vectors i, i + lanes, …
//! ```
//!
//! A lane's first element of head or tail is loaded before its vectors, so that it causes no wait of its own.

use simt::element::{Lanes, Vector};
use simt::global::{VecRef, Window};

use super::IN_FLIGHT;
use crate::reduce::reducer::Reducer;
use crate::unroll::each;

/// The merged state of four vectors. Vector i is at (`rows[i]`, 0); its first element has index `first` + i·`step` in
/// the line.
#[cfg_attr(optimised, inline(always))]
fn reduce_four<R: Reducer, const N: usize>(
    r: R,
    own: &Window<Vector<R::Element, N>>,
    rows: [u32; IN_FLIGHT],
    within: impl Fn(usize) -> bool,
    (first, step): (u64, u64),
    parameter: u64,
) -> R::State
where
    R::Element: Lanes<N>,
{
    let nothing = simt::element::zeroed::<Vector<R::Element, N>>();
    let [v0, v1, v2, v3] = each!(rows, |row| own.get_cs_or(row, 0, nothing));
    let of = |vector: Vector<R::Element, N>, i: usize| {
        let state = r.of_vector(&vector.lanes, first + i as u64 * step, parameter);
        if within(i) { state } else { r.identity() }
    };
    r.merge(r.merge(of(v0, 0), of(v1, 1)), r.merge(of(v2, 2), of(v3, 3)))
}

/// The state of the elements of lane `lane` of `1 << shift` in `x`, whose first element has index `first` in the line.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub(crate) fn reduce_line<R: Reducer, const N: usize>(
    r: R,
    x: VecRef<R::Element>,
    first: u64,
    lane: u32,
    shift: u32,
    parameter: u64,
) -> R::State
where
    R::Element: Lanes<N>,
{
    let lanes = 1_u32 << shift;
    let (head, body, _) = x.align_to::<N>();
    // Index of element `edge` of head and tail together; outside `x` if there are fewer.
    let at = |edge: u32| {
        let edge = edge as usize;
        if edge < head.len() { edge } else { edge + body.len() * N }
    };
    let of_edge = |x: R::Element, edge: u32| r.of(x, first + at(edge) as u64, parameter);
    let early = x.get_or(at(lane), simt::element::zeroed());
    let mut state = r.identity();
    // The lane's vectors: lane, lane + lanes, … of the body, as rows of a window one vector wide.
    let count = (body.len() as u32).saturating_sub(lane).div_ceil(lanes);
    if count > 0
        && let Some(own) = body.window(u64::from(lane), count, 1, u64::from(lanes))
    {
        let number = |row: u32| first + head.len() as u64 + (u64::from(lane) + (u64::from(row) << shift)) * N as u64;
        let step = u64::from(lanes) * N as u64;
        let mut row = 0;
        while let Some(four) = own.part(row, 0, IN_FLIGHT as u32, 1) {
            state =
                r.merge(state, reduce_four::<R, N>(r, &four, [0, 1, 2, 3], |_| true, (number(row), step), parameter));
            row += IN_FLIGHT as u32;
        }
        if row < count {
            // A missing vector is read from the position of the last one and not merged, so the loads are issued
            // together.
            let last = count - 1;
            let rows = each!([0, 1, 2, 3], |i| (row + i).min(last));
            let within = |i: usize| row + i as u32 <= last;
            state = r.merge(state, reduce_four::<R, N>(r, &own, rows, within, (number(row), step), parameter));
        }
    }
    if at(lane) < x.len() {
        state = r.merge(state, of_edge(early, lane));
    }
    let mut edge = lane + lanes;
    while at(edge) < x.len() {
        state = r.merge(state, of_edge(x.get_or(at(edge), simt::element::zeroed()), edge));
        edge += lanes;
    }
    state
}
