//! What a block does.

use simt::grid::dependency_wait;
use simt::mbarrier::Mbarriers;
use simt::opaque;
use simt::prelude::*;
use simt::sync::{fence_proxy_async, named_barrier};
use simt::tma::{TensorMap, load_3d, prefetch};
use simt::warp::sync_warp;

use super::finish::{put_down, write};
use super::turn::turn_over;
use crate::gemm::place::{Place, accumulate};
use crate::hopper::gemm::finish::Finish;
use crate::hopper::gemm::ring::{Turn, begin};
use crate::hopper::gemm::tiles::Tiles;
use crate::unroll::unroll;

/// Steps of k in a stage: a swizzled line of 128 bytes.
pub const DEPTH: u32 = 32;
/// Lines that the loop is written out for. With few the compiler leaves the multiply-adds in the order in which they share operands.
const PART: usize = 2;

/// Shared memory: the ring, each stage a box of A and one of B, with `ELEMENTS` elements in all `STAGES` stages. Stage s is that of group
/// s % GROUPS.
#[repr(C, align(1024))]
#[derive(Shared)]
pub struct Stages<const ELEMENTS: usize, const STAGES: usize> {
    ring: SharedArray<f32, ELEMENTS>,
    full: Mbarriers<STAGES>,
    empty: Mbarriers<STAGES>,
}

/// The tiles of C that this block computes, `M` × `N` each: those whose index is that of the block modulo the grid's size.
///
/// `GROUPS` groups of `WARPS` warps with `OWN` stages of the ring each; a thread has `MQ` · 4 × 8 sums. With `TURN_A` A lies as m × k, else
/// as k × m; with `TURN_B` B as n × k, else as k × n. `batches` says by how much A's and B's matrix in the map goes on with C's: 1, or 0 for
/// the same one again.
#[inline(always)]
#[track_caller]
pub(super) fn product<
    const M: usize,
    const N: usize,
    const MQ: usize,
    const WARPS: u32,
    const GROUPS: u32,
    const OWN: u32,
    const ELEMENTS: usize,
    const STAGES: usize,
    const BOX_A: usize,
    const BOX_B: usize,
    const TURN_A: bool,
    const TURN_B: bool,
>(
    stages: &Stages<ELEMENTS, STAGES>,
    a: &TensorMap<f32>,
    b: &TensorMap<f32>,
    [m, n, k, count]: [u32; 4],
    batches: [u32; 2],
    how: Finish<'_, f32>,
) {
    const {
        assert!(WARPS as usize * 32 * MQ * 32 == M * N && STAGES == (OWN * GROUPS) as usize);
        assert!(BOX_A == M * DEPTH as usize && BOX_B == N * DEPTH as usize && ELEMENTS == (BOX_A + BOX_B) * STAGES);
        // The sums of all groups are put down where the ring was.
        assert!(GROUPS as usize * M * N <= ELEMENTS && N == 64);
    }
    let stage_len = (BOX_A + BOX_B) as u32;
    // Whether a stage is loaded again while the next one is multiplied: one warp need not wait for others.
    let late = const { WARPS > 1 && OWN > 1 };
    let t = thread_idx_x() % (WARPS * GROUPS * 32);
    if k == 0 {
        dependency_wait();
        return;
    }
    if t == 0 {
        prefetch(a);
        prefetch(b);
    }
    let ring = STAGES as u32;
    begin!(stages, ring, t, WARPS, 1);
    let (lane, within) = (t % 32, t % (WARPS * 32));
    let group = opaque(t / (WARPS * 32)).min(GROUPS - 1);
    let tiles = Tiles { rows: m.div_ceil(M as u32), cols: n.div_ceil(N as u32) };
    let (steps, all) = (k.div_ceil(DEPTH), tiles.per_matrix() * count);
    let mine = Place::of::<N, MQ, 2>(within);
    // Of the group's own stages.
    let (mut turn, mut ahead) = (Turn::<OWN>::FULL, Turn::<OWN>::EMPTY);
    // Which group has the tile's first step.
    let mut first = 0;
    // Matrix, first row and first column.
    let at = |tile: u32| {
        let (matrix, row, col) = tiles.at(tile);
        [matrix, row * M as u32, col * N as u32]
    };
    let mut tile = block_idx_x();
    // The first place is known before the predecessor ends.
    let mut place = at(tile).map(opaque);
    dependency_wait();
    while tile < all {
        let [matrix, row, col] = place;
        // The first step of this group. What it adds up has the same place among the groups' sums, whichever group it is.
        let start = (group + GROUPS - first) % GROUPS;
        // Has the copy engine bring the group's step of this number, if there is one. Its warps take turns.
        let mut load = |number: u32| {
            let step = start + number * GROUPS;
            if step < steps {
                if within == number % WARPS * 32 {
                    let at = (step * DEPTH) as i32;
                    let stage = ahead.stage() * GROUPS + group;
                    stages.empty.wait(stage, ahead.parity);
                    stages.full.arrive_expect_tx(stage, stage_len * size_of::<f32>() as u32);
                    let bar = stages.full.at(stage);
                    let [across, down] = if TURN_A { [at, row as i32] } else { [row as i32, at] };
                    let place = [across, down, (matrix * batches[0]) as i32];
                    load_3d(stages.ring.slot::<BOX_A>(stage * stage_len), a, place, bar);
                    let [across, down] = if TURN_B { [at, col as i32] } else { [col as i32, at] };
                    let place = [across, down, (matrix * batches[1]) as i32];
                    load_3d(stages.ring.slot::<BOX_B>(stage * stage_len + BOX_A as u32), b, place, bar);
                }
                ahead.advance();
            }
        };
        for number in 0..OWN {
            load(number);
        }
        let mut sums = const { [[[[0.0_f32; 4]; 2]; 4]; MQ] };
        let mut number = 0;
        while start + number * GROUPS < steps {
            // The compiler has forgotten that it is one.
            let stage = (opaque(turn.stage()) * GROUPS + group).min(STAGES as u32 - 1);
            stages.full.wait(stage, turn.parity);
            let (in_a, in_b) = (stage * stage_len, stage * stage_len + BOX_A as u32);
            if TURN_A {
                turn_over::<M, WARPS, ELEMENTS>(&stages.ring, in_a, within);
            }
            if TURN_B {
                turn_over::<N, WARPS, ELEMENTS>(&stages.ring, in_b, within);
            }
            if TURN_A | TURN_B {
                // The copy engine will overwrite what has been written.
                fence_proxy_async();
                // Barrier 0 is the block's.
                if WARPS == 1 { sync_warp(u32::MAX) } else { named_barrier(group + 1, WARPS * 32) }
            }
            // A box that was turned over is 32 x 32 after 32 x 32.
            let (line_a, right_a) = if TURN_A { (32, 1024) } else { (M as u32, 32) };
            let (line_b, right_b) = if TURN_B { (32, 1024) } else { (N as u32, 32) };
            let from_a = opaque(in_a + mine.row / 32 * right_a + mine.row % 32);
            let from_b = opaque(in_b + mine.col);
            let fragments = |line: u32| {
                let (at_a, at_b) = (from_a + line * line_a, from_b + line * line_b);
                let mut column = [[0.0_f32; 4]; MQ];
                unroll!(for i in 0..4 {
                    if i < MQ {
                        column[i] = four(&stages.ring, at_a + i as u32 / 2 * right_a + i as u32 % 2 * 16);
                    }
                });
                (column, [four(&stages.ring, at_b), four(&stages.ring, at_b + right_b)])
            };
            let (mut x, mut y) = fragments(0);
            for part in 0..DEPTH / PART as u32 - 1 {
                unroll!(for k in 1..17 {
                    if k <= PART {
                        let next = fragments(part * PART as u32 + k as u32);
                        accumulate(&mut sums, &x, &y);
                        (x, y) = next;
                    }
                });
            }
            unroll!(for k in 1..17 {
                if k < PART {
                    let next = fragments(DEPTH - PART as u32 + k as u32);
                    if k == PART / 2 && late && number > 0 {
                        // By now most warps of the group have read the stage before this one.
                        load(number - 1 + OWN);
                    }
                    accumulate(&mut sums, &x, &y);
                    (x, y) = next;
                }
            });
            // All of the stage is in registers. Every lane has read before one says so.
            sync_warp(u32::MAX);
            if lane == 0 {
                stages.empty.arrive(stage);
            }
            if !late {
                load(number + OWN);
            }
            accumulate(&mut sums, &x, &y);
            turn.advance();
            number += 1;
        }
        first = (first + steps) % GROUPS;
        // The ring is empty, and nothing on its way.
        sync_threads();
        put_down::<M, N, MQ, ELEMENTS>(&sums, &stages.ring, mine, start);
        sync_threads();
        write::<M, N, GROUPS, WARPS, ELEMENTS>(&stages.ring, t, [row, col, matrix], [m, n], how);
        tile += grid_dim_x();
        if tile < all {
            place = at(tile);
            fence_proxy_async();
            sync_threads();
        }
    }
}

/// Four elements of a box: `at` is in a stage of the ring.
#[inline(always)]
#[track_caller]
pub(super) fn four<const LEN: usize>(ring: &SharedArray<f32, LEN>, at: u32) -> [f32; 4] {
    // SAFETY: the ring has whole boxes, all callers name a stage below STAGES, and in it a line and a multiple of four of it that the box
    // has. The compiler does not see that through the places of threads, and would check each load in the loop.
    unsafe { core::hint::assert_unchecked(at as usize <= LEN - 4) }
    ring.get_vec4(at).lanes
}
