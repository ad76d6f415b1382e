//! The functions that kernels call: the simulator's side of `simt`'s intrinsics.
//!
//! Everything that accesses memory, synchronises or communicates is `#[track_caller]`: the caller's source location
//! identifies the instruction. Indices are available anywhere; functions that need a running kernel panic outside one.

mod atomics;
mod cluster;
mod copies;
mod mbarrier;
mod memory;
mod sync;
mod tensor;
mod tensor_cores;

pub use atomics::{AtomicPlain, atomic_compare_exchange, atomic_load, atomic_store, atomic_update, fence};
pub use cluster::{cluster_rank, cluster_size, cluster_sync, mbarrier_arrive_at, tensor_load_multicast};
pub use copies::{cp_async, cp_async_commit, cp_async_wait_all, cp_async_wait_group};
pub use mbarrier::{
    fence_mbarrier_init, mbarrier_arrive, mbarrier_expect_tx, mbarrier_init, mbarrier_invalidate, mbarrier_test,
    mbarrier_wait,
};
pub use memory::{
    SharedNames, name_shared_memory, out_of_bounds, read_global, read_shared, read_unchecked, shared_memory,
    write_global, write_shared, write_unchecked,
};
pub use sync::{
    BlockVote, WarpOp, branch, dependency_wait, end_of_kernel, named_barrier, sync_threads, sync_threads_vote,
    warp_gather, warp_op, warp_shuffle, yield_now,
};
pub use tensor::{
    async_shared_read, async_shared_read_done, fence_proxy_async, tensor_load, tensor_store, tensor_store_commit,
    tensor_store_wait, written_by_box,
};
pub use tensor_cores::{
    TensorKind, TensorOperand, WarpgroupProduct, matrix_load, matrix_multiply, matrix_multiply_f64, matrix_store,
    operand_start, warpgroup_multiply, warpgroup_unsettled, warpgroup_wait,
};

pub use crate::ordering::{Order, Scope};

use crate::block::Block;
use crate::lane::current;

/// Which memory an address lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Shared memory of the block.
    Shared,
    /// Global memory.
    Global {
        /// Index of the buffer among the launch's bindings.
        tag: u32,
    },
}

/// A plain value of 1, 2, 4, 8 or 16 bytes for which any bytes are valid.
///
/// # Safety
/// No padding, no invalid bit pattern, size 1, 2, 4, 8 or 16, alignment at most its size.
pub unsafe trait Plain: Copy + 'static {}

macro_rules! plain {
    ($($t:ty)*) => {$(
        // SAFETY: a primitive number: no padding, every bit pattern valid, a power of two of bytes.
        unsafe impl Plain for $t {}
    )*};
}
plain!(u8 i8 u16 i16 u32 i32 u64 i64 u128 i128 f32 f64);

/// Thread index in its block.
#[inline(always)]
pub fn thread_idx() -> [u32; 3] {
    current().thread.map(u32::from)
}

/// Block index in the grid.
#[inline(always)]
pub fn block_idx() -> [u32; 3] {
    current().geometry().block_idx
}

/// Threads per block.
#[inline(always)]
pub fn block_dim() -> [u32; 3] {
    current().geometry().block_dim
}

/// Blocks in the grid.
#[inline(always)]
pub fn grid_dim() -> [u32; 3] {
    current().geometry().grid_dim
}

/// Linear index of the thread in its block, x fastest.
#[inline(always)]
pub fn linear_thread() -> u32 {
    u32::from(current().linear)
}

/// Index of the thread in its warp.
#[inline(always)]
pub fn lane_id() -> u32 {
    u32::from(current().lane)
}

/// Threads per warp.
#[inline(always)]
pub fn warp_size() -> u32 {
    current().geometry().warp_size
}

/// Prints a line, as one piece: as the launch says, else on standard output.
pub fn print(line: std::fmt::Arguments<'_>) {
    let lane = current();
    if lane.is_in_launch()
        && let Some(print) = Block::of(&lane).state.threads.launch().launch.print
    {
        print(&line.to_string());
    } else {
        println!("{line}");
    }
}

/// Logical clock of the block: accesses (when watched), barriers, atomics and warp operations of its threads so far.
#[inline]
pub fn clock() -> u64 {
    let lane = current();
    if lane.is_in_launch() { Block::of(&lane).state.threads.steps() } else { 0 }
}
