//! Dot products: Σ x·y, both vectors read 16 bytes at a time.
//!
//! ```text
//!  x   │head│ 16 bytes │ 16 bytes │ …          the head is peeled so that x is aligned; y is then read
//!  y    │head│ 16 bytes │ 16 bytes │ …         by vectors if it is aligned too, else element by element
//! ```
//!
//! Two slices of the same alignment are read by vectors, whatever it is. Otherwise the elements of y that a warp reads
//! are still in one range of 512 bytes, and all but the first of its loads hit the L1 cache.
//!
//! Products are exact in `f64` for the shorter types; those of `f64` are computed with their rounding error, as in
//! [`squares`](super::squares); those of integers wrap.

use core::marker::PhantomData;

use half::{bf16, f16};
use simt::element::Lanes;
use simt::global::{VecMut, VecRef};
use simt::math::fma;
use simt::thread::{block_idx_x, grid_dim_x, thread_idx_x};

use super::block::{Scratch, reduce_block};
use super::grid::reduce_grid;
use super::number::{ExactInF64, Integer};
use super::partition::{IN_FLIGHT, THREADS};
use super::reduction::{Merge, PairReduction, PairStateOf, State};
use super::sums::{AddCompensated, AddF64, AddWrapping};
use crate::reduce::reducer::Static;
use crate::unroll::each;

/// Vectors of each operand in a tile.
const TILE: usize = THREADS as usize * IN_FLIGHT / 2;

/// Σ x·y in `f64`, rounded to `f32`.
pub struct Dot<T>(PhantomData<T>);
/// Σ x·y of `f64`, compensated.
pub struct DotOfF64;
/// Σ x·y of integers, modulo 2⁶⁴.
pub struct DotOfIntegers<T>(PhantomData<T>);

impl<T: ExactInF64> PairReduction for Dot<T> {
    type Merges = AddF64;
    type Element = T;
    type Output = f32;
    #[cfg_attr(optimised, inline(always))]
    fn of_pair(x: T, y: T) -> f64 {
        x.to_f64() * y.to_f64()
    }
    #[cfg_attr(optimised, inline(always))]
    fn finish(sum: f64) -> f32 {
        sum as f32
    }
}

impl PairReduction for DotOfF64 {
    type Merges = AddCompensated;
    type Element = f64;
    type Output = f64;
    #[cfg_attr(optimised, inline(always))]
    fn of_pair(x: f64, y: f64) -> (f64, f64) {
        let product = x * y;
        (product, fma(x, y, -product))
    }
    #[cfg_attr(optimised, inline(always))]
    fn finish(state: (f64, f64)) -> f64 {
        AddCompensated::total(state)
    }
}

impl<T: Integer> PairReduction for DotOfIntegers<T> {
    type Merges = AddWrapping;
    type Element = T;
    type Output = T::Wide;
    #[cfg_attr(optimised, inline(always))]
    fn of_pair(x: T, y: T) -> u64 {
        x.residue().wrapping_mul(y.residue())
    }
    #[cfg_attr(optimised, inline(always))]
    fn finish(sum: u64) -> T::Wide {
        T::of_residue(sum)
    }
}

/// The body of a kernel. If the lengths differ, elements beyond the shorter vector are ignored.
#[cfg_attr(optimised, inline(always))]
fn whole<P: PairReduction, const N: usize, const W: usize>(
    scratch: &Scratch<W>,
    x: VecRef<P::Element>,
    y: VecRef<P::Element>,
    workspace: VecMut<u64>,
    out: VecMut<P::Output>,
) where
    P::Element: Lanes<N>,
{
    let n = x.len().min(y.len());
    let (Some(x), Some(y)) = (x.part(0, n), y.part(0, n)) else {
        return;
    };
    let (x_head, x_body, x_tail) = x.align_to::<N>();
    let (Some(y_body), Some(y_tail)) = (y.part(x_head.len(), x_body.len() * N), y.part(n - x_tail.len(), x_tail.len()))
    else {
        return;
    };
    let (y_head, y_vectors, _) = y_body.align_to::<N>();
    let mut state = if y_head.is_empty() && y_vectors.len() == x_body.len() {
        reduce_tiles::<P, N>(x_body, |vector| y_vectors.get(vector).lanes)
    } else {
        reduce_tiles::<P, N>(x_body, |vector| core::array::from_fn(|lane| y_body.get(vector * N + lane)))
    };
    if block_idx_x() == 0 {
        let t = thread_idx_x() as usize;
        if t < x_head.len() {
            state = P::Merges::merge(state, P::of_pair(x_head.get(t), y.get(t)));
        }
        if t < x_tail.len() {
            state = P::Merges::merge(state, P::of_pair(x_tail.get(t), y_tail.get(t)));
        }
    }
    let state = reduce_block(Static::<P::Merges>::NEW, scratch, state);
    let Some(state) = reduce_grid(Static::<P::Merges>::NEW, scratch, state, workspace) else {
        return;
    };
    if thread_idx_x() == 0 {
        out.set_within(0, P::finish(state));
    }
}

/// The state of this thread's vectors in its tiles. `y` gives the elements that belong to a vector of x.
#[cfg_attr(optimised, inline(always))]
fn reduce_tiles<P: PairReduction, const N: usize>(
    x: VecRef<simt::element::Vector<P::Element, N>>,
    y: impl Fn(usize) -> [P::Element; N],
) -> PairStateOf<P>
where
    P::Element: Lanes<N>,
{
    let (t, block, blocks) = (thread_idx_x() as usize, block_idx_x() as usize, grid_dim_x() as usize);
    let of = |x: [P::Element; N], y: [P::Element; N]| {
        let mut state = P::of_pair(x[0], y[0]);
        for lane in 1..N {
            state = P::Merges::merge(state, P::of_pair(x[lane], y[lane]));
        }
        state
    };
    let mut state = P::Merges::identity();
    if x.len() <= blocks * THREADS as usize {
        let own = block * THREADS as usize + t;
        return if own < x.len() { of(x.get(own).lanes, y(own)) } else { state };
    }
    let mut tile = block * TILE;
    while tile < x.len() {
        // A missing vector is read from the position of the last one and not merged: see `thread`.
        let last = x.len() - 1;
        let at = |i: usize| tile + i * THREADS as usize + t;
        let xs = each!([0, 1], |i| x.get(at(i).min(last)).lanes);
        let ys = each!([0, 1], |i| y(at(i).min(last)));
        let of = |i: usize| {
            let state = of(xs[i], ys[i]);
            if at(i) <= last { state } else { P::Merges::identity() }
        };
        state = P::Merges::merge(state, P::Merges::merge(of(0), of(1)));
        tile += blocks * TILE;
    }
    state
}

macro_rules! dots {
    ($(
        $(#[$doc:meta])*
        at $blocks:literal blocks, traps $traps:literal: $name:ident($t:ident by $n:literal => $out:ident) $pairing:ty;
    )+) => {
        $(
            $(#[$doc])*
            #[cfg(not(all(target_arch = "nvptx64", feature = "algebra")))]
            #[simt::kernel(
                block = (THREADS),
                min_blocks = $blocks,
                registers = super::partition::registers($blocks),
                barriers = 3,
                traps = $traps,
                global_load_bytes = size_of::<$t>() as u32,
                global_store_bytes = size_of::<$out>() as u32
            )]
            pub fn $name(
                #[shared] scratch: &Scratch<{ <PairStateOf<$pairing> as State>::WORDS }>,
                x: VecRef<$t>,
                y: VecRef<$t>,
                workspace: VecMut<u64>,
                out: VecMut<$out>,
            ) {
                whole::<$pairing, $n, _>(scratch, x, y, workspace, out);
            }
        )+

        /// The kernels of this module.
        #[cfg(not(target_arch = "nvptx64"))]
        pub const KERNELS: &[&simt::KernelInfo] = &[$($name.info()),+];
    };
}
dots! {
    /// `out[0]` = Σ x·y.
    at 3 blocks, traps 5: reduce_dot_f32(f32 by 4 => f32) Dot<f32>;
    /// `out[0]` = Σ x·y.
    at 2 blocks, traps 5: reduce_dot_f16(f16 by 8 => f32) Dot<f16>;
    /// `out[0]` = Σ x·y.
    at 2 blocks, traps 5: reduce_dot_bf16(bf16 by 8 => f32) Dot<bf16>;
    /// `out[0]` = Σ x·y.
    at 2 blocks, traps 4: reduce_dot_f64(f64 by 2 => f64) DotOfF64;
    /// `out[0]` = Σ x·y modulo 2⁶⁴.
    at 3 blocks, traps 5: reduce_dot_i32(i32 by 4 => i64) DotOfIntegers<i32>;
    /// `out[0]` = Σ x·y modulo 2⁶⁴.
    at 3 blocks, traps 5: reduce_dot_u32(u32 by 4 => u64) DotOfIntegers<u32>;
    /// `out[0]` = Σ x·y modulo 2⁶⁴; with the same bits for `i64`.
    at 3 blocks, traps 4: reduce_dot_u64(u64 by 2 => u64) DotOfIntegers<u64>;
}
