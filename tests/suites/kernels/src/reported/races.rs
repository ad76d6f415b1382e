//! Accesses of threads to shared and global memory, barriers and warps.

use simt::prelude::*;
use simt::shared::SharedArray;
use simt::warp::{sync_warp, warp_shuffle_xor};

#[repr(C)]
#[derive(Shared)]
pub(super) struct Words {
    pub(super) words: SharedArray<u32, 64>,
}

/// The combined value of a block of 128 threads.
#[inline(always)]
fn block_reduce(shared: &Words, mut value: u32, combine: impl Fn(u32, u32) -> u32) -> u32 {
    let (warp, lane) = (thread_idx_x() / 32, thread_idx_x() % 32);
    for step in [16, 8, 4, 2, 1] {
        value = combine(value, warp_shuffle_xor(u32::MAX, value, step, 32).0);
    }
    if lane == 0 {
        shared.words.set(warp, value);
    }
    sync_threads();
    (1..4).fold(shared.words.get(0), |value, warp| combine(value, shared.words.get(warp)))
}

/// Two reductions use the same shared memory one after the other (ggml-org/llama.cpp #26385).
#[kernel(block = 128)]
pub(super) fn two_reductions(#[shared] shared: &Words, faulty: u32, y: VecMut<u32>) {
    let most = block_reduce(shared, thread_idx_x(), u32::max);
    if faulty == 0 {
        sync_threads();
    }
    let sum = block_reduce(shared, most - thread_idx_x(), |a, b| a + b);
    if thread_idx_x() == 0 {
        y.set(0, sum);
    }
}

/// The barrier between a write and a read by 48 of 64 threads is left out (tile-ai/tilelang #2556).
#[kernel(block = 64)]
pub(super) fn dropped_barrier(#[shared] shared: &Words, faulty: u32, y: VecMut<u32>) {
    let t = thread_idx_x();
    if t < 48 {
        shared.words.set(t, t);
    }
    if faulty == 0 {
        sync_threads();
    }
    if t < 48 && shared.words.get(47 - t) == 0 {
        y.set(0, t);
    }
}

/// A barrier is put into a branch that only even threads take (tile-ai/tilelang #1026).
#[kernel(block = 64)]
pub(super) fn barrier_in_branch(#[shared] shared: &Words, faulty: u32, y: VecMut<u32>) {
    let t = thread_idx_x();
    shared.words.set(t, t);
    sync_threads();
    if t.is_multiple_of(2) {
        let own = shared.words.get(t);
        if faulty != 0 {
            sync_threads();
        }
        shared.words.set(t + 1, own);
    }
    sync_threads();
    if t == 0 {
        y.set(0, shared.words.get(47) + 1);
    }
}

/// A warp writes entries in one loop and reads those of other lanes in the next (`ik_llama.cpp` #2502,
/// `llama.cpp` #28475).
#[kernel(block = 32)]
pub(super) fn next_loop(#[shared] shared: &Words, faulty: u32, y: VecMut<u32>) {
    let lane = thread_idx_x();
    for i in 0..2 {
        shared.words.set(2 * lane + i, 2 * lane + i);
    }
    if faulty == 0 {
        sync_warp(u32::MAX);
    }
    for i in (lane..64).step_by(32) {
        if shared.words.get(i) == 47 {
            y.set(0, i);
        }
    }
}

/// One lane sets up what the others of its warp read at once (ORNL/HeCBench #221).
#[kernel(block = 32)]
pub(super) fn one_lane_sets_up(#[shared] shared: &Words, faulty: u32, y: VecMut<u32>) {
    if thread_idx_x() == 0 {
        shared.words.set(0, 47);
    }
    if faulty == 0 {
        sync_warp(u32::MAX);
    }
    if shared.words.get(0) == 47 && thread_idx_x() == 31 {
        y.set(0, 47);
    }
}

/// The next round clears a histogram that other threads still read (flashinfer-ai/flashinfer #3529).
#[kernel(block = 64)]
pub(super) fn histogram_cleared(#[shared] shared: &Words, faulty: u32, y: VecMut<u32>) {
    let t = thread_idx_x();
    let mut sum = 15;
    for _ in 0..2 {
        shared.words.set(t, 0);
        sync_threads();
        shared.words.atomic(t % 4).fetch_add(1, Order::Relaxed, Scope::Block);
        sync_threads();
        sum += shared.words.get(3);
        if faulty == 0 {
            sync_threads();
        }
    }
    if t == 0 {
        y.set(0, sum);
    }
}

/// Each thread writes an entry of global memory, then one reads another's (vllm-project/vllm #34991).
#[kernel(block = 64)]
pub(super) fn store_then_load(faulty: u32, starts: VecMut<u32>, y: VecMut<u32>) {
    let t = thread_idx_x();
    starts.set(t as usize, t + 7);
    if faulty == 0 {
        sync_threads();
    }
    if t == 0 {
        y.set(0, starts.get(40));
    }
}

/// A block counts itself without a release behind what it wrote (NVIDIA/TensorRT-LLM #8612).
#[kernel(block = 32)]
pub(super) fn counted_without_release(faulty: u32, words: VecMut<u32>, y: VecMut<u32>) {
    if thread_idx_x() != 0 {
        return;
    }
    if block_idx_x() == 0 {
        words.set(1, 47);
        let order = if faulty == 0 { Order::Release } else { Order::Relaxed };
        words.atomic(0).fetch_add(1, order, Scope::Device);
    } else {
        while words.atomic(0).load(Order::Acquire, Scope::Device) == 0 {}
        y.set(0, words.get(1));
    }
}

/// Groups of 16 lanes reduce; all name the lower half of the warp (sgl-project/sglang #9620).
#[kernel(block = 32)]
pub(super) fn mask_of_the_lower_half(faulty: u32, y: VecMut<u32>) {
    let t = thread_idx_x();
    let mask = if faulty != 0 || t < 16 { 0xFFFF } else { 0xFFFF_0000 };
    let mut most = t;
    for step in [8, 4, 2, 1] {
        most = most.max(warp_shuffle_xor(mask, most, step, 16).0);
    }
    if t == 31 {
        y.set(0, most + 16);
    }
}

/// Threads beyond the last element return before a barrier (pytorch/FBGEMM #5857).
#[kernel(block = 64)]
pub(super) fn return_before_the_barrier(#[shared] shared: &Words, faulty: u32, y: VecMut<u32>) {
    let t = thread_idx_x();
    if t >= 48 && faulty != 0 {
        return;
    }
    if t < 48 {
        shared.words.set(t, t);
    }
    sync_threads();
    if t == 0 {
        y.set(0, shared.words.get(47));
    }
}

#[repr(C)]
#[derive(Shared)]
pub(super) struct Offsets {
    lengths: SharedArray<u32, 16>,
    offsets: SharedArray<u32, 16>,
}

/// All 32 lanes write the sums of 16 numbers to an array of 16 (pytorch/pytorch #192300).
#[kernel(block = 32)]
pub(super) fn lanes_past_the_array(#[shared] shared: &Offsets, faulty: u32, y: VecMut<u32>) {
    let lane = thread_idx_x();
    if lane < 16 {
        shared.lengths.set(lane, 3);
    }
    sync_warp(u32::MAX);
    let sum = (0..lane.min(16)).fold(2, |sum, i| sum + shared.lengths.get(i));
    if faulty != 0 || lane < 16 {
        // SAFETY: the simulator checks it. On a GPU, under compute-sanitizer, this is the defect.
        unsafe { shared.offsets.set_unchecked(lane, sum) };
    }
    sync_warp(u32::MAX);
    if lane == 0 {
        y.set(0, shared.offsets.get(15));
    }
}

/// Samples of three elements are read by vectors of two, although each second one begins in the middle of a vector
/// (apache/mahout #1108).
#[kernel(block = 32)]
pub(super) fn odd_samples(faulty: u32, x: VecRef<f64>, y: VecMut<u32>) {
    let first = 3 * thread_idx_x() as usize;
    if first < x.len() {
        let pair = if faulty != 0 || first.is_multiple_of(2) {
            x.get_vec::<2>(first).lanes
        } else {
            [x.get(first), x.get(first + 1)]
        };
        let sum = pair[0] + pair[1] + x.get(first + 2);
        if first == 3 {
            y.set(0, sum as u32);
        }
    }
}
