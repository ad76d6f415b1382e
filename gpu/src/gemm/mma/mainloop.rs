//! What a block does.

use simt::async_copy::{cp_async_commit, cp_async_wait_group};
use simt::element::Lanes;
use simt::matrix::mma_sync;
use simt::prelude::*;
use simt::warp::{lane_id, warp_shuffle_idx};

use super::element::MmaElement;
use super::operand::Panel;
use super::store::Store;
use super::{STAGES, Stages};
use crate::gemm::args::{GemmArgs, Operands};
use crate::gemm::order::{Order, is_k_major};
use crate::gemm::raster::tile_of;
use crate::unroll::unroll;

/// A block of `M` × `N` elements of C: `MT` · 16 × `NT` · 8 per warp.
pub(super) struct Block<
    'a,
    T: MmaElement + Lanes<CHUNK>,
    OA: Order,
    OB: Order,
    const CHUNK: usize,
    const M: usize,
    const N: usize,
    const LEN_A: usize,
    const LEN_B: usize,
    const MT: usize,
    const NT: usize,
> {
    a: Panel<'a, T, OA, M, CHUNK, LEN_A>,
    b: Panel<'a, T, OB, N, CHUNK, LEN_B>,
    k: u32,
}

impl<
    'a,
    T: MmaElement + Lanes<CHUNK>,
    OA: Order,
    OB: Order,
    const CHUNK: usize,
    const M: usize,
    const N: usize,
    const LEN_A: usize,
    const LEN_B: usize,
    const MT: usize,
    const NT: usize,
> Block<'a, T, OA, OB, CHUNK, M, N, LEN_A, LEN_B, MT, NT>
{
    /// Threads of a block.
    const THREADS: usize = M * N / (MT * NT * 4);
    /// Extent of a step along k.
    const DEPTH: u32 = 4 * CHUNK as u32;

    /// C's tile of this block, in every matrix of the batch that is its, for operands of these orders.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) fn run(
        (order_a, order_b): (OA, OB),
        stages: &'a Stages<T, LEN_A, LEN_B>,
        operands: Operands<'a, T>,
        gemm: GemmArgs<'a, T>,
    ) {
        const { assert!(MT <= 4 && NT <= 8 && NT.is_multiple_of(2)) }
        let (m, n, k) = (gemm.m, gemm.n, gemm.k);
        let mut matrix = block_idx_z();
        while matrix < gemm.batch {
            let (row0, col0) = tile_of(block_idx_x(), [M as u32, N as u32], m, n);
            let mut accumulators = const { [[[0.0_f32; 4]; NT]; MT] };
            if k > 0 {
                let (rows_a, cols_a) = if is_k_major!(OA: order_a) { (m, k) } else { (k, m) };
                let (rows_b, cols_b) = if is_k_major!(OB: order_b) { (n, k) } else { (k, n) };
                let from = |i: usize| (matrix as u64).wrapping_mul(operands.stride[i]);
                let Some(a) = operands.a.window(from(0), rows_a, cols_a, operands.ld[0]) else { return };
                let Some(b) = operands.b.window(from(1), rows_b, cols_b, operands.ld[1]) else { return };
                let (a, b) = (Panel::new(order_a, &stages.a, a, row0), Panel::new(order_b, &stages.b, b, col0));
                let block = Self { a, b, k };
                let inside = block.a.is_inside() && block.b.is_inside();
                let whole = if inside { k / Self::DEPTH } else { 0 };
                if whole > 0 {
                    block.accumulate_whole(&mut accumulators, whole);
                }
                if whole < block.steps() {
                    block.accumulate_edges(&mut accumulators, whole);
                }
            }
            let thread = Self::thread();
            let (row, col) = Self::place(thread);
            let store =
                Store::<T, LEN_B, MT, NT> { staging: &stages.b, gemm: &gemm, warp: thread / 32, lane: thread % 32 };
            store.tile(&accumulators, matrix, (row0.saturating_add(row), col0.saturating_add(col)));
            matrix = matrix.saturating_add(grid_dim_z());
            // The next matrix comes to the memory that this one was written through.
            sync_threads();
        }
    }

    /// The thread's number, by a shuffle, which no compiler moves: each part of the kernel then computes again what
    /// follows from it. All of it, computed before the loop over matrices, would not fit into the registers.
    #[cfg_attr(optimised, inline(always))]
    fn thread() -> u32 {
        // The remainder tells the compiler what the launch has made sure of.
        warp_shuffle_idx(u32::MAX, thread_idx_x(), lane_id(), 32).0 % Self::THREADS as u32
    }

    /// Row and column in the block's tile of a warp's.
    #[cfg_attr(optimised, inline(always))]
    const fn place(thread: u32) -> (u32, u32) {
        let (warp, across) = (thread / 32, (N / (8 * NT)) as u32);
        (warp / across * (16 * MT as u32), warp % across * (8 * NT as u32))
    }

    /// Steps along k.
    #[cfg_attr(optimised, inline(always))]
    const fn steps(&self) -> u32 {
        self.k.div_ceil(Self::DEPTH)
    }

    /// Loads one of a warp's fragments of half a step, in the order in which [`Fragments::add`] needs them.
    #[cfg_attr(optimised, inline(always))]
    fn load(&self, into: &mut Fragments<MT, NT>, number: usize, place: (u32, u32), thread: u32) {
        let ((row, col), lane, pairs) = (Self::place(thread), thread % 32, NT / 2);
        if number == 0 || number > pairs {
            let tile = number.saturating_sub(pairs);
            into.a[tile] = self.a.rows(place, row, (tile, MT), lane);
        } else {
            let pair = number - 1;
            let [left, right] = self.b.cols(place, col, (pair, pairs), lane);
            (into.b[2 * pair], into.b[2 * pair + 1]) = (left, right);
        }
    }

    /// [`Self::load`] of all.
    #[cfg_attr(optimised, inline(always))]
    fn load_all(&self, place: (u32, u32), thread: u32) -> Fragments<MT, NT> {
        let mut fragments = Fragments::new();
        unroll!(for number in 0..8 {
            if number < Fragments::<MT, NT>::LOADS {
                self.load(&mut fragments, number, place, thread);
            }
        });
        fragments
    }

    /// Starts to copy a step that [is inside](Panel::is_inside), or zeros where there is none, as a group: waiting
    /// counts groups.
    #[cfg_attr(optimised, inline(always))]
    fn copy(&self, step: u32, thread: u32) {
        self.a.copy(Self::THREADS, step, thread);
        self.b.copy(Self::THREADS, step, thread);
        cp_async_commit();
    }

    /// Adds the product of the first `steps` steps to a warp's accumulators, at least one, all of which are in the
    /// panels. Three steps are on their way to shared memory while the fourth is multiplied, and of that one half of
    /// the fragments is loaded while the half before is multiplied, over the end of a step, too.
    ///
    /// The loop has no branch, and its only barrier stands at its start: there are always products between a load and
    /// what waits for it, and none that the assembler can move before the barrier.
    #[cfg_attr(optimised, inline(always))]
    fn accumulate_whole(&self, accumulators: &mut [[[f32; 4]; NT]; MT], steps: u32) {
        let thread = Self::thread();
        let mut step = 0;
        while step < STAGES - 1 {
            self.copy(step, thread);
            step += 1;
        }
        // Nothing comes before the first half: zeros are multiplied.
        let (mut first, mut second) = (Fragments::new(), Fragments::new());
        step = 0;
        while step < steps {
            // This step has come, and everybody has loaded all of the one before: its stage may be overwritten.
            cp_async_wait_group::<{ STAGES - 2 }>();
            sync_threads();
            self.load_and_add(&mut first, (step, 0), thread, (&second, accumulators), || ());
            self.load_and_add(&mut second, (step, 1), thread, (&first, accumulators), || {
                self.copy(step + STAGES - 1, thread);
            });
            step += 1;
        }
        second.add_all::<T>(accumulators);
        // Zeros, where there was no step any more: to what is used for something else now.
        cp_async_wait_group::<0>();
    }

    /// Loads a warp's fragments of half a step while those of the half before are multiplied; then, before the rest of
    /// the products, does what `then` does.
    #[cfg_attr(optimised, inline(always))]
    fn load_and_add(
        &self,
        into: &mut Fragments<MT, NT>,
        place: (u32, u32),
        thread: u32,
        (before, accumulators): (&Fragments<MT, NT>, &mut [[[f32; 4]; NT]; MT]),
        then: impl Fn(),
    ) {
        unroll!(for part in 0..16 {
            if part < Fragments::<MT, NT>::LOADS {
                self.load(into, part, place, thread);
            }
            if part == Fragments::<MT, NT>::LOADS - 1 {
                then();
            }
            if part < Fragments::<MT, NT>::PARTS {
                before.add::<T>(part, accumulators);
            }
        });
    }

    /// Adds the product of the steps from `from` on, which may reach over the edges of the panels or lie at any
    /// address. What is copied through registers takes them from the fragments.
    #[cfg_attr(optimised, inline(always))]
    fn accumulate_edges(&self, accumulators: &mut [[[f32; 4]; NT]; MT], from: u32) {
        let thread = Self::thread();
        let copy = |step| {
            if step < self.steps() {
                self.a.copy_edges(Self::THREADS, step, thread);
                self.b.copy_edges(Self::THREADS, step, thread);
            }
            cp_async_commit();
        };
        // Nobody needs what was in the stages.
        sync_threads();
        let mut step = from;
        while step < from + STAGES - 1 {
            copy(step);
            step += 1;
        }
        step = from;
        while step < self.steps() {
            cp_async_wait_group::<{ STAGES - 2 }>();
            sync_threads();
            copy(step + STAGES - 1);
            let mut half = 0;
            while half < 2 {
                self.load_all((step, half), thread).add_all::<T>(accumulators);
                half += 1;
            }
            step += 1;
        }
    }
}

/// A warp's fragments of half a step.
struct Fragments<const MT: usize, const NT: usize> {
    a: [[u32; 4]; MT],
    b: [[u32; 2]; NT],
}

impl<const MT: usize, const NT: usize> Fragments<MT, NT> {
    /// How many loads bring them: one for 16 rows or 16 columns.
    const LOADS: usize = MT + NT / 2;
    /// In how many parts they are multiplied: two products each.
    const PARTS: usize = MT * NT / 2;

    /// Zeros.
    #[cfg_attr(optimised, inline(always))]
    const fn new() -> Self {
        Self { a: [[0; 4]; MT], b: [[0; 2]; NT] }
    }

    /// Adds part `part` of their product. Every second row of it is done from right to left: each instruction has an
    /// operand in common with the one before.
    #[cfg_attr(optimised, inline(always))]
    fn add<T: MmaElement>(&self, part: usize, accumulators: &mut [[[f32; 4]; NT]; MT]) {
        let i = 2 * part / NT;
        unroll!(for j in 0..2 {
            let j = 2 * part % NT + j;
            let j = if i.is_multiple_of(2) { j } else { NT - 1 - j };
            accumulators[i][j] = mma_sync::<T::Kind>(self.a[i], self.b[j], accumulators[i][j]);
        });
    }

    /// Adds their product.
    #[cfg_attr(optimised, inline(always))]
    fn add_all<T: MmaElement>(&self, accumulators: &mut [[[f32; 4]; NT]; MT]) {
        unroll!(for part in 0..16 {
            if part < Self::PARTS {
                self.add::<T>(part, accumulators);
            }
        });
    }
}
