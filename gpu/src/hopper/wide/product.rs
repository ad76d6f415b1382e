//! What a block does.

use simt::element::Element;
use simt::grid::dependency_wait;
use simt::matrix::Kind;
use simt::mbarrier::Mbarriers;
use simt::opaque;
use simt::prelude::*;
use simt::tma::{TensorMap, TensorMapMut, load_3d, prefetch};
use simt::warpgroup::{WARPGROUP_SIZE, decrease_registers, increase_registers, warpgroup_id};
use simt::wgmma::{Accumulators, Columns, Operand, Swizzle, Width};

use super::tiles::{Mix, NARROW, ROWS, WIDE};
use crate::hopper::gemm::finish::{self, Finish, Half, STAGING, TMA_STORE};
use crate::hopper::gemm::product::{DEPTH, LOADER_REGISTERS, REGISTERS};
use crate::hopper::gemm::ring::{Turn, begin};

/// Threads of a block: a warpgroup that loads and two that multiply.
pub const THREADS: u32 = 3 * WARPGROUP_SIZE;
/// Stages of the ring: all that there is room for.
pub const STAGES: usize = 3;
const RING: u32 = STAGES as u32;
/// Elements of the boxes in which an operand comes that is not along k, and B always: 64 of m or n, [`DEPTH`] of k.
const BOX: usize = 64 * DEPTH as usize;
/// Elements of a stage.
const OF_A: u32 = ROWS * DEPTH;
const OF_B: u32 = WIDE * DEPTH;

/// Shared memory: the ring, and where C is put together.
#[repr(C, align(1024))]
#[derive(Shared)]
pub struct Stages<T: Element> {
    a: SharedArray<T, { STAGES * OF_A as usize }>,
    b: SharedArray<T, { STAGES * OF_B as usize }>,
    c: SharedArray<f32, { 2 * STAGING }>,
    /// The block's [`Mix`] and its number: here they take no registers while a tile is multiplied and finished.
    mix: SharedArray<u32, { Mix::WORDS + 1 }>,
    full: Mbarriers<STAGES>,
    empty: Mbarriers<STAGES>,
}

/// Every tile of this block: number `block_idx_x()`, and so on by the number of blocks.
///
/// A is m × k, with `TRANS_A` k × m; B is n × k, with `TRANS_B` k × n; `STEP_A` and `STEP_B` are the bytes in shared memory from one
/// product of 16 of k to the next. `batches` says by how much A's and B's matrix in the map goes on with C's: 1, or 0 for the
/// same one again. k is not 0.
#[inline(always)]
#[track_caller]
#[allow(clippy::too_many_arguments, reason = "a product is told much: see `gemm::call`")]
pub(super) fn product<
    T: Kind + Half,
    const TRANS_A: bool,
    const TRANS_B: bool,
    const STEP_A: u32,
    const STEP_B: u32,
>(
    stages: &Stages<T>,
    a: &TensorMap<T>,
    b: &TensorMap<T>,
    stored: &TensorMapMut<T>,
    [m, n, k, count]: [u32; 4],
    batches: [u32; 2],
    how: Finish<'_, T>,
) {
    if k == 0 {
        dependency_wait();
        return;
    }
    let t = thread_idx_x();
    if t == 0 {
        prefetch(a);
        prefetch(b);
        if how.flags & TMA_STORE != 0 {
            prefetch(stored);
        }
    }
    let bands = m.div_ceil(ROWS);
    if t == 0 {
        Mix::new(bands * count, n, grid_dim_x()).into_words(|i, word| stages.mix.set(i, word));
        stages.mix.set(Mix::WORDS as u32, block_idx_x());
    }
    begin!(stages, RING, t, 2 * WARPGROUP_SIZE / 32, 1);
    let mix = || Mix::from_words(|i| stages.mix.get(i));
    // Matrix, first row and first column of a tile.
    let at = |tile: u32| {
        let place = mix().at(tile);
        let bands = m.div_ceil(ROWS);
        let matrix = if count > 1 { place.band / bands.max(1) } else { 0 };
        [(place.band - matrix * bands) * ROWS, place.col, matrix]
    };
    let mut tile = block_idx_x();
    let group = warpgroup_id();
    if group == 0 {
        decrease_registers::<LOADER_REGISTERS>();
        if t == 0 {
            // The first place is known before the predecessor ends.
            let mut place = at(tile).map(opaque);
            dependency_wait();
            let mut turn = Turn::<RING>::EMPTY;
            while tile < mix().count() {
                let [row, col, matrix] = place;
                let (row, col) = (row as i32, col as i32);
                let (in_a, in_b) = ((matrix * batches[0]) as i32, (matrix * batches[1]) as i32);
                let width = if tile < mix().count_wide() { WIDE } else { NARROW };
                for step in 0..k.div_ceil(DEPTH) {
                    let depth = (step * DEPTH) as i32;
                    stages.empty.wait(turn.stage(), turn.parity);
                    stages.full.arrive_expect_tx(turn.stage(), (ROWS + width) * DEPTH * size_of::<T>() as u32);
                    let bar = stages.full.at(turn.stage());
                    let (a_at, b_at) = (turn.stage() * OF_A, turn.stage() * OF_B);
                    if TRANS_A {
                        for part in 0..ROWS / 64 {
                            let slot = stages.a.slot::<BOX>(a_at + part * BOX as u32);
                            load_3d(slot, a, [row + (part * 64) as i32, depth, in_a], bar);
                        }
                    } else {
                        let slot = stages.a.slot::<{ OF_A as usize }>(a_at);
                        load_3d(slot, a, [depth, row, in_a], bar);
                    }
                    for part in 0..width / 64 {
                        let slot = stages.b.slot::<BOX>(b_at + part * BOX as u32);
                        let col = col + (part * 64) as i32;
                        load_3d(slot, b, if TRANS_B { [col, depth, in_b] } else { [depth, col, in_b] }, bar);
                    }
                    turn.advance();
                }
                tile += grid_dim_x();
                if tile < mix().count() {
                    place = at(tile);
                }
            }
        }
        return;
    }

    increase_registers::<REGISTERS>();
    dependency_wait();
    // 0 or 1; so the compiler sees it.
    let half = (group - 1).min(1);
    // Tiles done so far: all else that goes on from tile to tile follows from it, and takes no registers while one is finished.
    let mut done = 0;
    loop {
        let tile = stages.mix.get(Mix::WORDS as u32) + done * grid_dim_x();
        if tile >= mix().count() {
            break;
        }
        let own = Own { stages, half, m, n, k, stored, how, done };
        let place = || at(tile).map(opaque);
        if tile < mix().count_wide() {
            own.tile::<{ WIDE as usize }, TRANS_A, TRANS_B, STEP_A, STEP_B>(place);
        } else {
            own.tile::<{ NARROW as usize }, TRANS_A, TRANS_B, STEP_A, STEP_B>(place);
        }
        done += 1;
    }
    finish::drain(how.flags);
}

/// What a warpgroup that multiplies knows.
#[derive(Clone, Copy)]
struct Own<'a, T: Half> {
    stages: &'a Stages<T>,
    /// Which of the two it is.
    half: u32,
    m: u32,
    n: u32,
    k: u32,
    stored: &'a TensorMapMut<T>,
    how: Finish<'a, T>,
    /// Tiles that it has finished.
    done: u32,
}

impl<T: Kind + Half> Own<'_, T> {
    /// This warpgroup's 128 rows of the tile at `place`, 64 and 64, each step of both before the next.
    #[inline(always)]
    #[track_caller]
    fn tile<const COLS: usize, const TRANS_A: bool, const TRANS_B: bool, const STEP_A: u32, const STEP_B: u32>(
        &self,
        place: impl Fn() -> [u32; 3],
    ) where
        Columns<COLS>: Width,
    {
        let Self { stages, half, m, n, k, stored, how, done } = *self;
        let (lane, steps) = (opaque(thread_idx_x()) % 32, opaque(k).div_ceil(DEPTH));
        let mut turn = Turn::<RING>::after(done as u64 * steps as u64);
        let release = |stage: u32| {
            if lane == 0 {
                stages.empty.arrive(stage);
            }
        };
        let operands = |stage: u32, slab: u32| {
            let a = stages.a.slot::<8>(stage * OF_A + (half * 2 + slab) * BOX as u32);
            let b = stages.b.slot::<8>(stage * OF_B);
            // The second counts where boxes lie side by side along m or n.
            (Operand::new(a, 0, 1024, Swizzle::B128), Operand::new(b, 128 * DEPTH, 1024, Swizzle::B128))
        };
        let mut upper = Accumulators::<COLS>::zeroed();
        let mut lower = Accumulators::<COLS>::zeroed();
        stages.full.wait(turn.stage(), turn.parity);
        let (x, y) = operands(turn.stage(), 0);
        upper.multiply::<T, 4, STEP_A, STEP_B, TRANS_A, TRANS_B, 1>(x, y, true);
        let (x, y) = operands(turn.stage(), 1);
        lower.multiply::<T, 4, STEP_A, STEP_B, TRANS_A, TRANS_B, 1>(x, y, true);
        // Where the tile lies is computed while products are under way.
        let [row, col, matrix] = place();
        let row = row + half * (ROWS / 2);
        let mut before = turn.stage();
        turn.advance();
        for _ in 1..steps {
            stages.full.wait(turn.stage(), turn.parity);
            let (x, y) = operands(turn.stage(), 0);
            upper.multiply::<T, 4, STEP_A, STEP_B, TRANS_A, TRANS_B, 1>(x, y, false);
            // All but the group just started are done: the stage before can be filled again.
            release(before);
            let (x, y) = operands(turn.stage(), 1);
            lower.multiply::<T, 4, STEP_A, STEP_B, TRANS_A, TRANS_B, 1>(x, y, false);
            before = turn.stage();
            turn.advance();
        }
        upper.wait::<0>();
        lower.wait::<0>();
        release(before);
        // A tile is put together in an even number of parts, so that each finds the buffers in turn from the first on.
        let buffer = &mut 0;
        finish::tile::<_, _, false>(&upper, &stages.c, stored, [row, col, matrix], [m, n], buffer, how);
        finish::tile::<_, _, false>(&lower, &stages.c, stored, [row + ROWS / 4, col, matrix], [m, n], buffer, how);
    }
}
