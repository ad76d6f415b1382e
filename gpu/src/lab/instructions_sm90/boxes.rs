//! TmaTensor of a tensor, loaded and stored by the copy engine.

use simt::{
    mbarrier::{Mbarriers, fence_mbarrier_init},
    prelude::*,
    sync::fence_proxy_async,
    tma::{
        TensorMap, TensorMapMut, load_2d, load_3d, prefetch, store_2d, store_3d, store_commit, store_wait,
        store_wait_read,
    },
};

/// Threads of a block.
pub const BLOCK: u32 = 64;

/// Elements of a box.
pub const BOX: usize = 1024;

/// A box as it arrives, one to send off, and the mbarrier on which the first completes.
#[repr(C, align(1024))]
#[derive(Shared)]
pub struct TmaTensor {
    came: SharedArray<f32, BOX>,
    goes: SharedArray<f32, BOX>,
    full: Mbarriers<1>,
}

/// Makes the mbarrier ready, and visible to the copy engine and to the block.
#[inline(always)]
fn begin(boxes: &TmaTensor) {
    if thread_idx_x() == 0 {
        boxes.full.init(0, 1);
        fence_mbarrier_init();
    }
    sync_threads();
}

/// Adds 1 to each element that came, on its way to where it leaves from: element i of the one becomes element i of the
/// other.
#[inline(always)]
fn add_one(boxes: &TmaTensor) {
    for i in (thread_idx_x()..BOX as u32).step_by(BLOCK as usize) {
        boxes.goes.set(i, boxes.came.get(i) + 1.0);
    }
    fence_proxy_async();
    sync_threads();
}

/// The box of [`BOX`] elements at (`cols_in_box` · block x, `rows_in_box` · block y) of `y` becomes that of `x` plus 1, where
/// both lie inside. Both maps have boxes of one shape and one swizzle.
#[kernel(block = (BLOCK), barriers = 2)]
pub fn box_copy(
    #[shared] boxes: &TmaTensor,
    x: &TensorMap<f32>,
    y: &TensorMapMut<f32>,
    cols_in_box: u32,
    rows_in_box: u32,
) {
    let at = [(block_idx_x() * cols_in_box) as i32, (block_idx_y() * rows_in_box) as i32];
    begin(boxes);
    if thread_idx_x() == 0 {
        prefetch(x);
        boxes.full.arrive_expect_tx(0, (BOX * 4) as u32);
        load_2d(boxes.came.slot::<BOX>(0), x, at, boxes.full.at(0));
    }
    boxes.full.wait(0, 0);
    add_one(boxes);
    if thread_idx_x() == 0 {
        store_2d(y, at, boxes.goes.slot::<BOX>(0));
        store_commit();
        store_wait_read::<0>();
    }
}

/// [`box_copy`] for boxes at (`cols_in_box` · block x, `rows_in_box` · block y, block z), the third extent of the box being 1.
#[kernel(block = (BLOCK), barriers = 2)]
pub fn box_copy_3d(
    #[shared] boxes: &TmaTensor,
    x: &TensorMap<f32>,
    y: &TensorMapMut<f32>,
    cols_in_box: u32,
    rows_in_box: u32,
) {
    let at = [(block_idx_x() * cols_in_box) as i32, (block_idx_y() * rows_in_box) as i32, block_idx_z() as i32];
    begin(boxes);
    if thread_idx_x() == 0 {
        boxes.full.expect_tx(0, (BOX * 4) as u32);
        load_3d(boxes.came.slot::<BOX>(0), x, at, boxes.full.at(0));
        boxes.full.arrive(0);
    }
    while !boxes.full.test(0, 0) {}
    add_one(boxes);
    if thread_idx_x() == 0 {
        store_3d(y, at, boxes.goes.slot::<BOX>(0));
        store_commit();
        store_wait::<0>();
    }
}

/// The box of `x` at (`left`, `top`), as it lies in shared memory, byte order of a swizzle included, becomes the first
/// [`BOX`] elements of `y`; then again, fetched after the mbarrier was made anew. One block.
#[kernel(block = (BLOCK), barriers = 5)]
pub fn box_places(#[shared] boxes: &TmaTensor, x: &TensorMap<f32>, left: i32, top: i32, y: VecMut<f32>) {
    begin(boxes);
    for turn in 0..2 {
        if thread_idx_x() == 0 {
            boxes.full.arrive_expect_tx(0, (BOX * 4) as u32);
            load_2d(boxes.came.slot::<BOX>(0), x, [left, top], boxes.full.at(0));
        }
        boxes.full.wait(0, 0);
        for i in (thread_idx_x()..BOX as u32).step_by(BLOCK as usize) {
            y.set_within(turn * BOX + i as usize, boxes.came.get(i));
        }
        sync_threads();
        if thread_idx_x() == 0 {
            boxes.full.invalidate(0);
        }
        begin(boxes);
    }
}
