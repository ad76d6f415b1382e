//! TMA loads and stores of boxes of a tensor.

use simt::{
    mbarrier::{Mbarriers, fence_mbarrier_init},
    prelude::*,
    sync::fence_proxy_async,
    tma::{
        CachePolicy, TensorMap, TensorMapMut, load_2d, load_2d_with_policy, load_3d_with_policy, prefetch, prefetch_2d,
        prefetch_3d, store_2d, store_3d, store_commit, store_wait, store_wait_read,
    },
};

/// Threads of a block.
pub const BLOCK: u32 = 64;

/// Elements of a box.
pub const BOX: usize = 1024;

/// The loaded box, the box to store, and the mbarrier of the load.
#[repr(C, align(1024))]
#[derive(Shared)]
pub struct Buffers {
    loaded: SharedArray<f32, BOX>,
    outgoing: SharedArray<f32, BOX>,
    full: Mbarriers<1>,
}

/// Initialises the mbarrier and makes it visible to the async proxy and to the block.
#[cfg_attr(optimised, inline(always))]
fn init_barrier(buffers: &Buffers) {
    if thread_idx_x() == 0 {
        buffers.full.init(0, 1);
        fence_mbarrier_init();
    }
    sync_threads();
}

/// Writes element i of the loaded box plus 1 to element i of the box to store.
#[cfg_attr(optimised, inline(always))]
fn add_one(buffers: &Buffers) {
    for i in (thread_idx_x()..BOX as u32).step_by(BLOCK as usize) {
        buffers.outgoing.set(i, buffers.loaded.get(i) + 1.0);
    }
    fence_proxy_async();
    sync_threads();
}

/// The box of [`BOX`] elements at (`cols_in_box` · block x, `rows_in_box` · block y) of `y` becomes that of `x` plus 1,
/// where both are in bounds. Both tensor maps have the same box and swizzle.
#[kernel(block = (BLOCK), barriers = 2)]
pub fn tma_copy(
    #[shared] buffers: &Buffers,
    x: &TensorMap<f32>,
    y: &TensorMapMut<f32>,
    cols_in_box: u32,
    rows_in_box: u32,
) {
    let at = [(block_idx_x() * cols_in_box) as i32, (block_idx_y() * rows_in_box) as i32];
    init_barrier(buffers);
    if thread_idx_x() == 0 {
        prefetch(x);
        buffers.full.arrive_expect_tx(0, (BOX * 4) as u32);
        load_2d(buffers.loaded.slot::<BOX>(0), x, at, buffers.full.at(0));
    }
    buffers.full.wait(0, 0);
    add_one(buffers);
    if thread_idx_x() == 0 {
        store_2d(y, at, buffers.outgoing.slot::<BOX>(0));
        store_commit();
        store_wait_read::<0>();
    }
}

/// [`tma_copy`] for boxes at (`cols_in_box` · block x, `rows_in_box` · block y, block z), the third extent of the box
/// being 1.
#[kernel(block = (BLOCK), barriers = 2)]
pub fn tma_copy_3d(
    #[shared] buffers: &Buffers,
    x: &TensorMap<f32>,
    y: &TensorMapMut<f32>,
    cols_in_box: u32,
    rows_in_box: u32,
) {
    let at = [(block_idx_x() * cols_in_box) as i32, (block_idx_y() * rows_in_box) as i32, block_idx_z() as i32];
    init_barrier(buffers);
    if thread_idx_x() == 0 {
        buffers.full.expect_tx(0, (BOX * 4) as u32);
        prefetch_3d(x, at);
        load_3d_with_policy(buffers.loaded.slot::<BOX>(0), x, at, buffers.full.at(0), CachePolicy::evict_first());
        buffers.full.arrive(0);
    }
    while !buffers.full.test(0, 0) {}
    add_one(buffers);
    if thread_idx_x() == 0 {
        store_3d(y, at, buffers.outgoing.slot::<BOX>(0));
        store_commit();
        store_wait::<0>();
    }
}

/// The first [`BOX`] elements of `y` become the box of `x` at (`left`, `top`) in the order of shared memory, with its
/// swizzle; the next ones become the same box, loaded again after the mbarrier was invalidated and initialised again.
/// One block.
#[kernel(block = (BLOCK), barriers = 5)]
pub fn tma_layout(#[shared] buffers: &Buffers, x: &TensorMap<f32>, left: i32, top: i32, y: VecMut<f32>) {
    init_barrier(buffers);
    for round in 0..2 {
        if thread_idx_x() == 0 {
            buffers.full.arrive_expect_tx(0, (BOX * 4) as u32);
            prefetch_2d(x, [left, top]);
            let policy = CachePolicy::evict_normal();
            load_2d_with_policy(buffers.loaded.slot::<BOX>(0), x, [left, top], buffers.full.at(0), policy);
        }
        buffers.full.wait(0, 0);
        for i in (thread_idx_x()..BOX as u32).step_by(BLOCK as usize) {
            y.set_within(round * BOX + i as usize, buffers.loaded.get(i));
        }
        // TMA, which writes there next, must not overtake a load.
        fence_proxy_async();
        sync_threads();
        if thread_idx_x() == 0 {
            buffers.full.invalidate(0);
        }
        init_barrier(buffers);
    }
}
