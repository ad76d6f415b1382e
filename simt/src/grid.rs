//! Programmatic dependent launch: a grid that starts while its predecessor in the stream ends (compute capability 9.0).
//!
//! Without it a grid starts when everything before it in its stream is complete. A kernel that is declared
//! `#[kernel(pdl)]` starts earlier: as soon as each block of the preceding grid has exited or has called
//! [`launch_dependents`], and an SM has room. Its prologue, such as the initialisation of mbarriers, then overlaps with
//! the predecessor. The kernel must keep two rules, which the simulator checks:
//!
//! - No thread accesses global memory before its own [`dependency_wait`]: no load, store, atomic or TMA copy.
//!   Parameters, shared memory and [`prefetch`](crate::tma::prefetch) of a tensor map are permitted.
//! - Some thread of every block calls it. Otherwise the grid could complete before its predecessor, and the grid after
//!   it, which waits for this one only, would start too early.
//!
//! ```
//! use simt::{grid, prelude::*};
//!
//! /// y = 2·x, one element per thread.
//! #[kernel(pdl, block = (256))]
//! pub fn double(x: VecRef<f32>, y: VecMut<f32>) {
//!     let i = index_1d();
//!     grid::launch_dependents();
//!     grid::dependency_wait();
//!     if branch(i < x.len().min(y.len())) {
//!         y.set(i, 2.0 * x.get(i));
//!     }
//! }
//!
//! assert!(double.info().pdl);
//! ```
//!
//! In a kernel without `pdl`, and in a launch without the attribute, there is nothing to wait for and both intrinsics
//! have no effect.

use crate::arch;

/// Waits until all that precedes this grid in its stream is complete and visible to this grid (`griddepcontrol.wait`).
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub fn dependency_wait() {
    arch::grid::dependency_wait();
}

/// Lets the next grid of the stream start, if its kernel is declared `pdl`, once all blocks have called this or exited
/// (`griddepcontrol.launch_dependents`). One thread of a block suffices.
///
/// The next grid never takes the place of a block of this grid, and its [`dependency_wait`] waits for all writes of
/// this grid, before this call or after. So the call orders nothing and may be the first statement of a kernel.
#[cfg_attr(optimised, inline(always))]
pub fn launch_dependents() {
    arch::grid::launch_dependents();
}

/// End of a thread in a kernel that is declared `pdl`. For `#[kernel]` only.
#[cfg(not(target_arch = "nvptx64"))]
#[doc(hidden)]
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub fn end() {
    arch::grid::end();
}
