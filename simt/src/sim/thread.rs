//! Indices, the block's barrier, clocks.

use simulator::device;

#[inline(always)]
pub(crate) fn thread_idx_x() -> u32 {
    device::thread_idx()[0]
}
#[inline(always)]
pub(crate) fn thread_idx_y() -> u32 {
    device::thread_idx()[1]
}
#[inline(always)]
pub(crate) fn thread_idx_z() -> u32 {
    device::thread_idx()[2]
}
#[inline(always)]
pub(crate) fn block_idx_x() -> u32 {
    device::block_idx()[0]
}
#[inline(always)]
pub(crate) fn block_idx_y() -> u32 {
    device::block_idx()[1]
}
#[inline(always)]
pub(crate) fn block_idx_z() -> u32 {
    device::block_idx()[2]
}
#[inline(always)]
pub(crate) fn block_dim_x() -> u32 {
    device::block_dim()[0]
}
#[inline(always)]
pub(crate) fn block_dim_y() -> u32 {
    device::block_dim()[1]
}
#[inline(always)]
pub(crate) fn block_dim_z() -> u32 {
    device::block_dim()[2]
}
#[inline(always)]
pub(crate) fn grid_dim_x() -> u32 {
    device::grid_dim()[0]
}
#[inline(always)]
pub(crate) fn grid_dim_y() -> u32 {
    device::grid_dim()[1]
}
#[inline(always)]
pub(crate) fn grid_dim_z() -> u32 {
    device::grid_dim()[2]
}
#[inline(always)]
pub(crate) fn index_in_block() -> u32 {
    device::linear_thread()
}

#[inline(always)]
#[track_caller]
pub(crate) fn sync_threads() {
    device::sync_threads();
}
#[inline(always)]
#[track_caller]
pub(crate) fn sync_threads_count(predicate: bool) -> u32 {
    device::sync_threads_vote(predicate).count
}
#[inline(always)]
#[track_caller]
pub(crate) fn sync_threads_and(predicate: bool) -> bool {
    device::sync_threads_vote(predicate).all
}
#[inline(always)]
#[track_caller]
pub(crate) fn sync_threads_or(predicate: bool) -> bool {
    device::sync_threads_vote(predicate).any
}

#[inline(always)]
#[track_caller]
pub(crate) fn nanosleep(_nanoseconds: u32) {
    device::yield_now();
}
#[inline(always)]
pub(crate) fn clock() -> u64 {
    device::clock()
}
#[inline(always)]
pub(crate) fn global_timer() -> u64 {
    device::clock()
}
