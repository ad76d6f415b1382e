//! Asynchronous copies, mbarriers, clusters, dependent launches, tensor cores.

use super::races::Words;
use simt::async_copy::{cp_async, cp_async_commit, cp_async_wait_all, cp_async_wait_group};
use simt::cluster::{cluster_rank, cluster_sync};
use simt::grid::dependency_wait;
use simt::mbarrier::{Mbarriers, fence_mbarrier_init};
use simt::prelude::*;
use simt::shared::SharedArray;
use simt::sync::fence_proxy_async;
use simt::tma::{Swizzle, TensorMap, TensorMapMut, load_2d, store_2d, store_commit, store_wait_read};
use simt::warp::sync_warp;
use simt::wgmma::{Accumulators, KMajor, Operand};
use warpwright::half::f16;

#[repr(C)]
#[derive(Shared)]
pub(super) struct HandOver {
    words: SharedArray<u32, 32>,
    written: Mbarriers<1>,
}

/// One lane arrives for the 32 that have written (NVIDIA/cudnn-frontend #426).
#[kernel(block = 64)]
pub(super) fn one_arrival_for_a_warp(#[shared] shared: &HandOver, faulty: u32, y: VecMut<u32>) {
    let t = thread_idx_x();
    if t == 0 {
        shared.written.init(0, if faulty == 0 { 32 } else { 1 });
        fence_mbarrier_init();
    }
    sync_threads();
    if t < 32 {
        shared.words.set(t, t + 16);
        if faulty == 0 || t == 0 {
            shared.written.arrive(0);
        }
    } else {
        shared.written.wait(0, 0);
        if shared.words.get(63 - t) == 47 {
            y.set(0, 47);
        }
    }
}

/// A kernel with programmatic dependent launch reads before the grid ahead of it has ended (NVIDIA/cutlass #2760).
#[kernel(pdl, block = 32)]
pub(super) fn no_dependency_wait(faulty: u32, y: VecMut<u32>) {
    if faulty == 0 {
        dependency_wait();
    }
    if thread_idx_x() == 0 {
        y.set(0, 47);
    }
}

/// A block of a cluster ends while its peer still arrives at one of its mbarriers (facebookexperimental/triton #1105).
#[kernel(block = 32, cluster = 2)]
pub(super) fn exit_before_the_peer(#[shared] shared: &HandOver, faulty: u32, y: VecMut<u32>) {
    if thread_idx_x() == 0 {
        shared.written.init(0, 1);
        fence_mbarrier_init();
    }
    cluster_sync();
    if thread_idx_x() == 0 && cluster_rank() == 0 {
        shared.written.arrive_at(0, 1);
        y.set(0, 47);
    }
    if faulty == 0 {
        cluster_sync();
    }
}

/// Elements past the end of the input are not copied, and what the tile holds there is used (thu-ml/SageAttention
/// #376).
#[kernel(block = 32)]
pub(super) fn tail_not_filled(#[shared] shared: &Words, faulty: u32, x: VecRef<u32>, y: VecMut<u32>) {
    let t = thread_idx_x();
    if (t as usize) < x.len() {
        cp_async(shared.words.slot::<1>(t), x.slot(t as usize));
    } else if faulty == 0 {
        shared.words.set(t, 0);
    }
    cp_async_wait_all();
    sync_threads();
    let sum = (0..32).fold(0, |sum: u32, i| sum.wrapping_add(shared.words.get(i)));
    if t == 0 {
        y.set(0, sum);
    }
}

/// Scales are copied asynchronously; a barrier follows, but no wait (IST-DASLab/marlin #42).
#[kernel(block = 32)]
pub(super) fn scales_not_waited_for(#[shared] shared: &Words, faulty: u32, x: VecRef<u32>, y: VecMut<u32>) {
    let t = thread_idx_x();
    if (t as usize) < x.len() {
        cp_async(shared.words.slot::<1>(t), x.slot(t as usize));
    }
    cp_async_commit();
    if faulty == 0 {
        cp_async_wait_group::<0>();
    }
    sync_threads();
    if t == 0 {
        y.set(0, (0..x.len() as u32).fold(0, |sum: u32, i| sum.wrapping_add(shared.words.get(i))));
    }
}

/// Elements of a tile of 32 × 32.
pub(super) const TILE: usize = 1024;

#[repr(C, align(128))]
#[derive(Shared)]
pub(super) struct Staging {
    tiles: [SharedArray<f32, TILE>; 2],
}

/// TMA stores what threads have written without a proxy fence (MoonshotAI/FlashKDA #24).
#[kernel(block = 64)]
pub(super) fn no_proxy_fence(#[shared] staging: &Staging, faulty: u32, y: &TensorMapMut<f32>) {
    for i in (thread_idx_x()..TILE as u32).step_by(64) {
        staging.tiles[0].set(i, 47.0);
    }
    if faulty == 0 {
        fence_proxy_async();
    }
    sync_threads();
    if thread_idx_x() == 0 {
        store_2d(y, [0, 0], staging.tiles[0].slot::<TILE>(0));
        store_commit();
    }
    store_wait_read::<0>();
}

/// Two threads store a staging buffer each and wait for their own; then all threads write both (NVIDIA/cudnn-frontend
/// #1049).
#[kernel(block = 64)]
pub(super) fn staging_written_again(#[shared] staging: &Staging, faulty: u32, y: &TensorMapMut<f32>) {
    let t = thread_idx_x();
    for round in 0..2 {
        for tile in &staging.tiles {
            for i in (t..TILE as u32).step_by(64) {
                tile.set(i, 47.0);
            }
        }
        fence_proxy_async();
        sync_threads();
        if t.is_multiple_of(32) {
            store_2d(y, [0, (64 * round + t) as i32], staging.tiles[t as usize / 32].slot::<TILE>(0));
            store_commit();
            store_wait_read::<0>();
        }
        if faulty == 0 {
            sync_threads();
        }
    }
}

#[repr(C, align(128))]
#[derive(Shared)]
pub(super) struct Ring {
    tiles: [SharedArray<f32, TILE>; 2],
    full: Mbarriers<2>,
    empty: Mbarriers<1>,
}

impl Ring {
    /// Initialises the mbarriers for phases of one arrival.
    fn init(&self) {
        if thread_idx_x() == 0 {
            self.full.init(0, 1);
            self.full.init(1, 1);
            self.empty.init(0, 1);
            fence_mbarrier_init();
        }
        sync_threads();
    }

    /// Starts to load tile `k` of `x` into a stage.
    fn load(&self, x: &TensorMap<f32>, stage: u32, k: u32) {
        self.full.arrive_expect_tx(stage, 4 * TILE as u32);
        load_2d(self.tiles[stage as usize].slot::<TILE>(0), x, [0, 32 * k as i32], self.full.at(stage));
    }
}

/// One lane releases a stage for a warp whose other lanes may still read it (deepseek-ai/DeepEP #642).
#[kernel(block = 64)]
pub(super) fn one_lane_releases(#[shared] ring: &Ring, faulty: u32, x: &TensorMap<f32>, y: VecMut<u32>) {
    let t = thread_idx_x();
    ring.init();
    let mut sum = 45.0;
    for k in 0..2 {
        if t == 32 {
            ring.empty.wait(0, 1 - k % 2);
            ring.load(x, 0, k);
        } else if t < 32 {
            ring.full.wait(0, k % 2);
            sum += ring.tiles[0].get(t);
            fence_proxy_async();
            if faulty == 0 {
                sync_warp(u32::MAX);
            }
            if t == 0 {
                ring.empty.arrive(0);
            }
        }
    }
    if t == 0 {
        y.set(0, sum as u32);
    }
}

/// A pipeline goes on to load tiles past the last one while it drains (NVIDIA/cutlass #2944).
#[kernel(block = 32)]
pub(super) fn loads_past_the_end(#[shared] ring: &Ring, faulty: u32, x: &TensorMap<f32>, y: VecMut<u32>) {
    let (t, tiles) = (thread_idx_x(), 4);
    ring.init();
    if t == 0 {
        (0..2).for_each(|k| ring.load(x, k, k));
    }
    let mut sum = 43.0;
    for k in 0..tiles {
        ring.full.wait(k % 2, k / 2 % 2);
        sum += ring.tiles[k as usize % 2].get(t);
        fence_proxy_async();
        sync_warp(u32::MAX);
        if t == 0 && (faulty != 0 || k + 2 < tiles) {
            ring.load(x, k % 2, k + 2);
        }
    }
    if t == 0 {
        y.set(0, sum as u32);
    }
}

/// The phase of an mbarrier that each round uses is computed as if two took turns (tile-ai/tilelang #3087).
#[kernel(block = 32)]
pub(super) fn parity_of_a_ring(#[shared] ring: &Ring, faulty: u32, x: &TensorMap<f32>, y: VecMut<u32>) {
    let t = thread_idx_x();
    ring.init();
    let mut sum = 45.0;
    for k in 0..2 {
        if t == 0 {
            ring.load(x, 0, k);
        }
        ring.full.wait(0, if faulty == 0 { k % 2 } else { k / 2 % 2 });
        sum += ring.tiles[0].get(t);
        fence_proxy_async();
        sync_warp(u32::MAX);
    }
    ring.full.wait(0, 1);
    if t == 0 {
        y.set(0, sum as u32);
    }
}

/// A is 64 × 16 and B is 16 × 8, of ones.
#[repr(C, align(1024))]
#[derive(Shared)]
pub(super) struct Operands {
    a: SharedArray<f16, 1024>,
    b: SharedArray<f16, 256>,
}

/// A matrix with rows of 32 bytes along k, which swizzles: eight of them repeat every 256 bytes.
#[inline(always)]
#[track_caller]
fn rows_of_32_bytes<const N: usize>(tile: &SharedArray<f16, N>) -> Operand {
    Operand::new(tile.slot::<1>(0), 0, 256, Swizzle::B32)
}

/// The epilogue reads accumulators of a product under way (triton-lang/triton #8964).
#[kernel(block = 128)]
pub(super) fn accumulators_before_the_wait(#[shared] operands: &Operands, faulty: u32, y: VecMut<u32>) {
    for i in (thread_idx_x()..1024).step_by(128) {
        operands.a.set(i, f16::ONE);
    }
    for i in (thread_idx_x()..128).step_by(128) {
        operands.b.set(i, f16::ONE);
    }
    fence_proxy_async();
    sync_threads();
    let mut d = Accumulators::<8>::zeroed();
    d.multiply::<f16, 1, KMajor, KMajor, 1>(rows_of_32_bytes(&operands.a), rows_of_32_bytes(&operands.b), true);
    if faulty == 0 {
        d.wait::<0>();
    }
    let value = d.get(0);
    d.wait::<0>();
    if thread_idx_x() == 0 {
        y.set(0, value as u32 + 31);
    }
}
