//! What a block does.

use simt::mbarrier::Mbarriers;
use simt::opaque;
use simt::prelude::*;
use simt::sync::fence_proxy_async;
use simt::tma::{TensorMap, load_3d};
use simt::warp::sync_warp;

use super::chain;
use super::finish::write;
use crate::gemm::place::{Place, accumulate};
use crate::hopper::gemm::finish::Finish;
use crate::hopper::gemm::parts::Parts;
use crate::hopper::gemm::ring::{Turn, begin};
use crate::hopper::gemm::share::{Piece, Share};
use crate::hopper::gemm::tiles::Tiles;
use crate::unroll::unroll;

/// Shared memory: the ring, each stage a box of A and one of B, with `ELEMENTS` elements in all `STAGES` stages.
#[repr(C, align(128))]
#[derive(Shared)]
pub struct Stages<const ELEMENTS: usize, const STAGES: usize> {
    ring: SharedArray<f32, ELEMENTS>,
    full: Mbarriers<STAGES>,
    empty: Mbarriers<STAGES>,
}

/// The tiles of C that this block computes, `M` × `N` each, and its steps of the first `shared` tiles: see
/// [`share`](crate::hopper::gemm::share) and [`chain`].
///
/// A is k × m, B is k × n; the loop is written out for `PART` lines, for a long program does not stay where instructions are fetched
/// from; a thread has `MQ` · 4 × `NQ` · 4 elements of a tile. The warps take turns in having boxes loaded, a
/// thread of theirs each. `batches` says by how much A's and B's matrix in the map goes on with C's: 1, or 0 for the same one again.
#[inline(always)]
#[track_caller]
#[allow(clippy::too_many_arguments, reason = "a product is told much: see `gemm::call`")]
pub(super) fn product<
    const M: usize,
    const N: usize,
    const DEPTH: usize,
    const MQ: usize,
    const NQ: usize,
    const THREADS: usize,
    const ELEMENTS: usize,
    const STAGES: usize,
    const RING: u32,
    const BOX_A: usize,
    const BOX_B: usize,
    const PART: usize,
>(
    stages: &Stages<ELEMENTS, STAGES>,
    a: &TensorMap<f32>,
    b: &TensorMap<f32>,
    [m, n, k, count]: [u32; 4],
    batches: [u32; 2],
    shared: u32,
    parts: Parts<'_>,
    how: Finish<'_, f32>,
) {
    const {
        assert!(THREADS * MQ * NQ * 16 == M * N && STAGES == RING as usize);
        assert!(BOX_A == M * DEPTH && BOX_B == N * DEPTH && ELEMENTS == (BOX_A + BOX_B) * STAGES);
        assert!(DEPTH.is_multiple_of(PART) && DEPTH > PART && PART <= 16);
    }
    let (depth, stage_len, warps) = (DEPTH as u32, (BOX_A + BOX_B) as u32, THREADS as u32 / 32);
    let t = thread_idx_x() % THREADS as u32;
    begin!(stages, RING, t, warps);
    if k == 0 {
        return;
    }
    let mine = Place::of::<N, MQ, NQ>(t);
    // Kept, not computed again for each stage. (The minima are what they cannot exceed, so that no access needs a check of its own.)
    let mine = Place {
        row: opaque(mine.row / 4).min(const { (M - 16 * (MQ - 1) - 4) / 4 } as u32) * 4,
        col: opaque(mine.col / 4).min(const { (N - 32 * (NQ - 1) - 4) / 4 } as u32) * 4,
    };
    let tiles = Tiles { rows: m.div_ceil(M as u32), cols: n.div_ceil(N as u32) };
    let steps = k.div_ceil(depth);
    let mut share = Share::new([block_idx_x(), grid_dim_x()], tiles.per_matrix() * count, shared, steps);
    let mut turn = Turn::<RING>::FULL;
    while let Some(Piece { tile, from, to }) = share.next_piece() {
        let (matrix, row, col) = tiles.at(tile);
        let (row, col) = (row * M as u32, col * N as u32);
        let load = |step: u32, ahead: Turn<RING>| {
            let at = (step * depth) as i32;
            stages.empty.wait(ahead.stage(), ahead.parity);
            stages.full.arrive_expect_tx(ahead.stage(), stage_len * size_of::<f32>() as u32);
            let bar = stages.full.at(ahead.stage());
            let to = ahead.stage() * stage_len;
            load_3d(stages.ring.slot::<BOX_A>(to), a, [row as i32, at, (matrix * batches[0]) as i32], bar);
            let to = to + BOX_A as u32;
            load_3d(stages.ring.slot::<BOX_B>(to), b, [col as i32, at, (matrix * batches[1]) as i32], bar);
        };
        for ahead in 0..(RING - 1).min(to - from) {
            if t == (from + ahead) % warps * 32 {
                load(from + ahead, turn.empty_after(ahead));
            }
        }
        let fragments = |stage: u32, line: u32| {
            let first = stage * stage_len;
            mine.fragments(&stages.ring, first + line * M as u32, first + BOX_A as u32 + line * N as u32)
        };
        // The compiler has forgotten that it is one.
        let stage_of = |turn: Turn<RING>| opaque(turn.stage()).min(RING - 1);
        let whole = (k / depth).min(to);
        let mut first = ([[0.0; 4]; MQ], [[0.0; 4]; NQ]);
        if from < whole {
            let stage = stage_of(turn);
            stages.full.wait(stage, turn.parity);
            first = fragments(stage, 0);
        }
        let mut sums = const { [[[[0.0_f32; 4]; NQ]; 4]; MQ] };
        if from > 0 {
            chain::take::<MQ, NQ, THREADS>(&parts, &mut sums);
        }
        if from < whole {
            let (mut x, mut y) = first;
            let mut step = from;
            loop {
                let stage = turn.stage();
                for part in 0..(DEPTH / PART) as u32 - 1 {
                    unroll!(for k in 1..17 {
                        if k <= PART {
                            let next = fragments(stage, part * PART as u32 + k as u32);
                            accumulate(&mut sums, &x, &y);
                            (x, y) = next;
                        }
                    });
                }
                let mut following = turn;
                following.advance();
                let mut is_full = false;
                unroll!(for k in 1..17 {
                    if k < PART {
                        let next = fragments(stage, (DEPTH - PART + k) as u32);
                        let ahead = step + RING - 1;
                        if k == PART / 2 && t == ahead % warps * 32 && ahead < to {
                            // By now all warps have read the stage before this one.
                            load(ahead, turn.empty_after(RING - 1));
                        }
                        if k + 1 == PART {
                            // Asked for before the answer is needed: a wait takes its time even where it is over.
                            is_full = stages.full.test(following.stage(), following.parity);
                        }
                        accumulate(&mut sums, &x, &y);
                        (x, y) = next;
                    }
                });
                // All of the stage is in registers. Every lane has read before one says so.
                sync_warp(u32::MAX);
                if t.is_multiple_of(32) {
                    stages.empty.arrive(stage);
                }
                turn = following;
                step += 1;
                if step == whole {
                    accumulate(&mut sums, &x, &y);
                    break;
                }
                let stage = stage_of(turn);
                if !is_full {
                    stages.full.wait(stage, turn.parity);
                }
                let next = fragments(stage, 0);
                accumulate(&mut sums, &x, &y);
                (x, y) = next;
            }
        }
        if whole < to {
            let stage = stage_of(turn);
            stages.full.wait(stage, turn.parity);
            for line in 0..k % depth {
                let (x, y) = fragments(stage, line % depth);
                accumulate(&mut sums, &x, &y);
            }
            sync_warp(u32::MAX);
            if t.is_multiple_of(32) {
                stages.empty.arrive(stage);
            }
            turn.advance();
        }
        if to < steps {
            chain::hand_on::<MQ, NQ, THREADS>(&parts, &sums);
            continue;
        }
        // The ring is empty, and nothing on its way.
        sync_threads();
        write::<M, N, MQ, NQ, THREADS, ELEMENTS>(&sums, &stages.ring, mine, [row, col, matrix], [m, n], how);
        fence_proxy_async();
        sync_threads();
    }
}

impl Place {
    /// The thread's elements of a line of A and one of B, which start at these elements of the ring.
    #[inline(always)]
    #[track_caller]
    fn fragments<const MQ: usize, const NQ: usize, const ELEMENTS: usize>(
        self,
        ring: &SharedArray<f32, ELEMENTS>,
        of_a: u32,
        of_b: u32,
    ) -> ([[f32; 4]; MQ], [[f32; 4]; NQ]) {
        let (mut a, mut b) = ([[0.0; 4]; MQ], [[0.0; 4]; NQ]);
        unroll!(for i in 0..4 {
            if i < NQ {
                b[i] = ring.get_vec4(of_b + self.col + 32 * i as u32).lanes;
            }
        });
        unroll!(for i in 0..4 {
            if i < MQ {
                a[i] = ring.get_vec4(of_a + self.row + 16 * i as u32).lanes;
            }
        });
        (a, b)
    }
}
