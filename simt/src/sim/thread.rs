//! Indices, the block's barrier, clocks.

use simulator::device;

macro_rules! indices {
    ($($name:ident = $of:ident[$axis:literal];)*) => {$(
        #[cfg_attr(optimised, inline(always))]
        pub(crate) fn $name() -> u32 {
            device::$of()[$axis]
        }
    )*};
}
indices! {
    thread_idx_x = thread_idx[0];
    thread_idx_y = thread_idx[1];
    thread_idx_z = thread_idx[2];
    block_idx_x = block_idx[0];
    block_idx_y = block_idx[1];
    block_idx_z = block_idx[2];
    block_dim_x = block_dim[0];
    block_dim_y = block_dim[1];
    block_dim_z = block_dim[2];
    grid_dim_x = grid_dim[0];
    grid_dim_y = grid_dim[1];
    grid_dim_z = grid_dim[2];
}

#[cfg_attr(optimised, inline(always))]
pub(crate) fn index_in_block() -> u32 {
    device::linear_thread()
}

#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) fn sync_threads() {
    device::sync_threads();
}
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) fn sync_threads_count(predicate: bool) -> u32 {
    device::sync_threads_vote(predicate).count
}
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) fn sync_threads_and(predicate: bool) -> bool {
    device::sync_threads_vote(predicate).all
}
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) fn sync_threads_or(predicate: bool) -> bool {
    device::sync_threads_vote(predicate).any
}

#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) fn nanosleep(_nanoseconds: u32) {
    device::yield_now();
}
#[cfg_attr(optimised, inline(always))]
pub(crate) fn clock() -> u64 {
    device::clock()
}
#[cfg_attr(optimised, inline(always))]
pub(crate) fn global_timer() -> u64 {
    device::clock()
}
