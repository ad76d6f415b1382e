//! A grid and those before and after it in its stream: launches that begin while their predecessor ends (compute capability
//! 9.0, *programmatic dependent launch*).
//!
//! A launch ordinarily begins when everything before it in its stream is done, its writes included. A kernel that is declared
//! `#[kernel(pdl)]` begins sooner: as soon as each block of the grid before it has exited or has called
//! [`launch_dependents`], and there is room. What it does then that needs nothing from before – making mbarriers, setting
//! up its shared memory – no longer counts. The price is a promise, which the simulator checks:
//!
//! - No thread touches global memory before its own [`dependency_wait`]: no load, store, atomic, nor a copy of a box in
//!   either direction. Parameters, shared memory and [`prefetch`](crate::tma::prefetch) of a tensor map are free.
//! - Some thread of every block calls it. For a grid that ended sooner would be done before its predecessor is, and its own
//!   successor, which waits for it alone, would come too soon.
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
//! In a kernel without `pdl`, and where the driver launches it the ordinary way, there is nothing to wait for and both
//! words do nothing.

use crate::arch;

/// Waits until all that comes before this grid in its stream is done and its writes are visible to this grid
/// (`griddepcontrol.wait`).
#[inline(always)]
#[track_caller]
pub fn dependency_wait() {
    arch::grid::dependency_wait();
}

/// From this block's side the next grid of the stream may begin, if its kernel is declared `pdl`
/// (`griddepcontrol.launch_dependents`). One thread of a block suffices.
///
/// It begins once every block has called this or exited, so never in the place of a block of this grid; and it waits itself for
/// all that this grid writes, before this call or after. So the call orders nothing, and may stand first of all.
#[inline(always)]
pub fn launch_dependents() {
    arch::grid::launch_dependents();
}

/// The thread has come to the end of a kernel that is declared `pdl`. Called by `#[kernel]`, for nothing else.
#[cfg(not(target_arch = "nvptx64"))]
#[doc(hidden)]
#[inline(always)]
#[track_caller]
pub fn end() {
    arch::grid::end();
}
