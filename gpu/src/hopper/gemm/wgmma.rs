//! Experimental.
use half::bf16;
use simt::convert::bf16_from_f32;
use simt::matrix::stmatrix;
use simt::mbarrier::{Mbarriers, fence_mbarrier_init};
use simt::prelude::*;
use simt::sync::{fence_proxy_async, named_barrier, named_barrier_arrive};
use simt::tma::{TensorMap, TensorMapMut, load_2d, store_2d, store_commit, store_wait_read};
use simt::warp::lane_id;
use simt::warpgroup::warpgroup_id;
use simt::wgmma::{Accumulators, Operand, Swizzle};

use super::ring::Place;
use super::tiles::place;

const ROWS: u32 = 128;
const COLS: u32 = 256;
const DEPTH: u32 = 64;
const STAGES: u32 = 4;
const A: usize = (ROWS * DEPTH) as usize;
const B: usize = (COLS * DEPTH) as usize;

/// Shared memory.
#[repr(C, align(1024))]
#[derive(Shared)]
pub struct Tiles {
    a: SharedArray<bf16, { A * STAGES as usize }>,
    b: SharedArray<bf16, { B * STAGES as usize }>,
    c: SharedArray<bf16, { 4 * 64 * 64 }>,
    full: Mbarriers<{ STAGES as usize }>,
    empty: Mbarriers<{ STAGES as usize }>,
}

#[inline(always)]
fn pack(low: f32, high: f32) -> u32 {
    u32::from(bf16_from_f32(low).to_bits()) | u32::from(bf16_from_f32(high).to_bits()) << 16
}

#[inline(always)]
fn product<const TA: bool, const TB: bool, const AS: u32, const BS: u32, const PENDING: u32, const STAGGER: bool, const GROUP: u32>(
    tiles: &Tiles,
    a: &TensorMap<bf16>,
    b: &TensorMap<bf16>,
    c: &TensorMapMut<bf16>,
    m: u32,
    n: u32,
    k: u32,
) {
    let t = thread_idx_x();
    if t == 0 {
        for stage in 0..STAGES {
            tiles.full.init(stage, 1);
            tiles.empty.init(stage, 8);
        }
        fence_mbarrier_init();
    }
    sync_threads();
    let (tile_rows, tile_cols, steps) = (m.div_ceil(ROWS), n.div_ceil(COLS), k.div_ceil(DEPTH));
    let count = tile_rows * tile_cols;
    let group = warpgroup_id();
    if group == 0 {
        if t == 0 {
            let mut at = Place::<STAGES>::first(1);
            let mut tile = block_idx_x();
            while tile < count {
                let (row, col) = place::<GROUP>(tile, tile_rows, tile_cols);
                let (row, col) = ((row * ROWS) as i32, (col * COLS) as i32);
                for step in 0..steps {
                    let depth = (step * DEPTH) as i32;
                    tiles.empty.wait(at.stage, at.parity);
                    tiles.full.arrive_expect_tx(at.stage, ((A + B) * 2) as u32);
                    let bar = tiles.full.at(at.stage);
                    let (a0, b0) = (at.stage * A as u32, at.stage * B as u32);
                    if TA {
                        load_2d(tiles.a.slot::<4096>(a0), a, [row, depth], bar);
                        load_2d(tiles.a.slot::<4096>(a0 + 4096), a, [row + 64, depth], bar);
                    } else {
                        load_2d(tiles.a.slot::<A>(a0), a, [depth, row], bar);
                    }
                    if TB {
                        load_2d(tiles.b.slot::<4096>(b0), b, [col, depth], bar);
                        load_2d(tiles.b.slot::<4096>(b0 + 4096), b, [col + 64, depth], bar);
                        load_2d(tiles.b.slot::<4096>(b0 + 8192), b, [col + 128, depth], bar);
                        load_2d(tiles.b.slot::<4096>(b0 + 12288), b, [col + 192, depth], bar);
                    } else {
                        load_2d(tiles.b.slot::<B>(b0), b, [depth, col], bar);
                    }
                    at.advance();
                }
                tile += grid_dim_x();
            }
        }
    } else {
        let w = group - 1;
        let (warp, lane) = (t / 32 % 4, lane_id());
        let mut at = Place::<STAGES>::first(0);
        let mut tile = block_idx_x();
        let half = w * 64 * 64;
        let row = warp * 16 + (lane / 8 % 2) * 8 + lane % 8;
        let mut buffer = 0;
        if STAGGER && w == 1 {
            named_barrier(3, 256);
        }
        let mut first = STAGGER && w == 0;
        while tile < count {
            let mut d = Accumulators::<256>::zeroed();
            if PENDING == 0 {
                for step in 0..steps {
                    tiles.full.wait(at.stage, at.parity);
                    let x = Operand::new(tiles.a.slot::<8>(at.stage * A as u32 + half), 0, 1024, Swizzle::B128);
                    let y = Operand::new(tiles.b.slot::<8>(at.stage * B as u32), 8192, 1024, Swizzle::B128);
                    d.multiply::<bf16, 4, AS, BS, TA, TB, 0>(x, y, step == 0);
                    if lane == 0 {
                        tiles.empty.arrive(at.stage);
                    }
                    at.advance();
                }
            } else {
                tiles.full.wait(at.stage, at.parity);
                let x = Operand::new(tiles.a.slot::<8>(at.stage * A as u32 + half), 0, 1024, Swizzle::B128);
                let y = Operand::new(tiles.b.slot::<8>(at.stage * B as u32), 8192, 1024, Swizzle::B128);
                d.multiply::<bf16, 4, AS, BS, TA, TB, 1>(x, y, true);
                let mut before = at.stage;
                at.advance();
                if first {
                    first = false;
                    named_barrier_arrive(3, 256);
                }
                for _ in 1..steps {
                    tiles.full.wait(at.stage, at.parity);
                    let x = Operand::new(tiles.a.slot::<8>(at.stage * A as u32 + half), 0, 1024, Swizzle::B128);
                    let y = Operand::new(tiles.b.slot::<8>(at.stage * B as u32), 8192, 1024, Swizzle::B128);
                    d.multiply::<bf16, 4, AS, BS, TA, TB, 1>(x, y, false);
                    if lane == 0 {
                        tiles.empty.arrive(before);
                    }
                    before = at.stage;
                    at.advance();
                }
                d.wait::<0>();
                if lane == 0 {
                    tiles.empty.arrive(before);
                }
            }
            let (tr, tc) = place::<GROUP>(tile, tile_rows, tile_cols);
            let (tr, tc) = ((tr * ROWS + w * 64) as i32, (tc * COLS) as i32);
            d.for_each_16_columns(|col, v| {
                if col % 64 == 0 {
                    if t % 128 == 0 {
                        store_wait_read::<1>();
                    }
                    named_barrier(w + 1, 128);
                }
                let piece = (col % 64) / 8 + lane / 16;
                let at = (2 * w + buffer) * 4096 + row * 64 + ((piece ^ (row % 8)) * 8);
                stmatrix::<4, false, _, 8>(
                    tiles.c.slot::<8>(at),
                    [pack(v[0], v[1]), pack(v[2], v[3]), pack(v[4], v[5]), pack(v[6], v[7])],
                );
                if col % 64 == 48 {
                    fence_proxy_async();
                    named_barrier(w + 1, 128);
                    if t % 128 == 0 {
                        store_2d(c, [tc + (col - 48) as i32, tr], tiles.c.slot::<4096>((2 * w + buffer) * 4096));
                        store_commit();
                    }
                    buffer ^= 1;
                }
            });
            tile += grid_dim_x();
        }
        if t % 128 == 0 {
            store_wait_read::<0>();
        }
    }
}

macro_rules! products {
    ($($name:ident $ta:literal $tb:literal $as:literal $bs:literal $pending:literal $stagger:literal $group:literal;)+) => {$(
        /// Experimental.
        #[kernel(block = (384), barriers = 20, traps = 20)]
        pub fn $name(
            #[shared] tiles: &Tiles,
            a: &TensorMap<bf16>,
            b: &TensorMap<bf16>,
            c: &TensorMapMut<bf16>,
            m: u32,
            n: u32,
            k: u32,
        ) {
            product::<$ta, $tb, $as, $bs, $pending, $stagger, $group>(tiles, a, b, c, m, n, k);
        }
    )+
        /// Kernels.
        #[cfg(not(target_arch = "nvptx64"))]
        pub const KERNELS: &[&simt::KernelInfo] = &[$($name.info()),+];
    };
}
products! {
    wgemm_bf16_nt false false 32 32 1 false 16;
    wgemm_bf16_nn4 false true 32 2048 1 false 4;
    wgemm_bf16_nn8 false true 32 2048 1 false 8;
    wgemm_bf16_nn16 false true 32 2048 1 false 16;
    wgemm_bf16_nn32 false true 32 2048 1 false 32;
}
