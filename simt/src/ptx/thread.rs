//! Indices, the block's barrier, clocks.

use core::arch::nvptx;

use super::llvm;

macro_rules! registers {
    ($($name:ident = $register:ident;)*) => {$(
        #[inline(always)]
        pub(crate) fn $name() -> u32 {
            // SAFETY: reads a special register.
            unsafe { nvptx::$register() }
        }
    )*};
}
registers! {
    thread_idx_x = _thread_idx_x;
    thread_idx_y = _thread_idx_y;
    thread_idx_z = _thread_idx_z;
    block_idx_x = _block_idx_x;
    block_idx_y = _block_idx_y;
    block_idx_z = _block_idx_z;
    block_dim_x = _block_dim_x;
    block_dim_y = _block_dim_y;
    block_dim_z = _block_dim_z;
    grid_dim_x = _grid_dim_x;
    grid_dim_y = _grid_dim_y;
    grid_dim_z = _grid_dim_z;
}

#[inline(always)]
pub(crate) fn index_in_block() -> u32 {
    (thread_idx_z() * block_dim_y() + thread_idx_y()) * block_dim_x() + thread_idx_x()
}

#[inline(always)]
pub(crate) fn sync_threads() {
    // SAFETY: a barrier; memory safety does not depend on which threads reach it.
    unsafe { llvm::barrier(0) }
}
#[inline(always)]
pub(crate) fn sync_threads_count(predicate: bool) -> u32 {
    // SAFETY: as above.
    unsafe { llvm::barrier_popc(0, predicate) }
}
#[inline(always)]
pub(crate) fn sync_threads_and(predicate: bool) -> bool {
    // SAFETY: as above.
    unsafe { llvm::barrier_and(0, predicate) }
}
#[inline(always)]
pub(crate) fn sync_threads_or(predicate: bool) -> bool {
    // SAFETY: as above.
    unsafe { llvm::barrier_or(0, predicate) }
}

#[inline(always)]
pub(crate) fn nanosleep(nanoseconds: u32) {
    // SAFETY: sleeps.
    unsafe { llvm::nanosleep(nanoseconds) }
}
#[inline(always)]
pub(crate) fn clock() -> u64 {
    // SAFETY: reads a special register.
    unsafe { llvm::clock() }
}
#[inline(always)]
pub(crate) fn global_timer() -> u64 {
    // SAFETY: reads a special register.
    unsafe { llvm::global_timer() }
}
