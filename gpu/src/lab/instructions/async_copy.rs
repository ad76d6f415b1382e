//! Asynchronous copies to shared memory.

use simt::{
    async_copy::{cp_async, cp_async_commit, cp_async_wait_all, cp_async_wait_group},
    prelude::*,
};

/// Threads of a block.
pub const BLOCK: u32 = 64;

/// Elements that [`async_widths`] copies per block: 4, 8 and 16 bytes per thread.
pub const WIDTHS: usize = 7 * BLOCK as usize;

/// Each block reverses [`WIDTHS`] elements of `x` into `y`, loaded by copies of 4, 8 and 16 bytes per thread. Remaining
/// elements that do not fill a block are unchanged.
#[kernel(block = (BLOCK), barriers = 1)]
pub fn async_widths(#[shared] section: &SharedArray<f32, WIDTHS>, x: VecRef<f32>, y: VecMut<f32>) {
    let t = thread_idx_x();
    let first = block_idx_x() as usize * WIDTHS;
    let inside = first + WIDTHS <= x.len().min(y.len());
    if inside {
        let (four, two, one) = (4 * t, 4 * BLOCK + 2 * t, 6 * BLOCK + t);
        cp_async(section.slot::<4>(four), x.slot::<4>(first + four as usize));
        cp_async(section.slot::<2>(two), x.slot::<2>(first + two as usize));
        cp_async(section.slot::<1>(one), x.slot::<1>(first + one as usize));
    }
    cp_async_wait_all();
    sync_threads();
    if inside {
        for part in 0..7 {
            let i = part * BLOCK + t;
            y.set_within(first + i as usize, section.get(WIDTHS as u32 - 1 - i));
        }
    }
}

/// Rows of [`BLOCK`] elements in shared memory: one is read while the next is copied.
const STAGES: u32 = 2;

/// `y` becomes `x` with each row of [`BLOCK`] elements reversed. One block; a row is copied while the row before is
/// written. Remaining elements that do not fill a row are unchanged.
#[kernel(block = (BLOCK))]
pub fn async_pipeline(
    #[shared] rows: &SharedTile<f32, { STAGES as usize }, { BLOCK as usize }>,
    x: VecRef<f32>,
    y: VecMut<f32>,
) {
    let t = thread_idx_x();
    let count = x.len().min(y.len()) / BLOCK as usize;
    let fetch = |row: usize| {
        let i = row * BLOCK as usize + t as usize;
        if i < x.len() {
            cp_async(rows.slot::<1>(row as u32 % STAGES, t), x.slot::<1>(i));
        }
        // Commits a group even if it is empty, so that the number of groups in flight is constant.
        cp_async_commit();
    };
    fetch(0);
    for row in 0..count {
        fetch(row + 1);
        cp_async_wait_group::<1>();
        sync_threads();
        y.set_within(row * BLOCK as usize + t as usize, rows.get(row as u32 % STAGES, BLOCK - 1 - t));
        // The next iteration overwrites this stage.
        sync_threads();
    }
}
