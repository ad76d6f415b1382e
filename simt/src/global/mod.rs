//! Global memory: views of vectors and matrices with bounds checks.
//!
//! A view is a small `#[repr(C)]` struct that a launch passes to a kernel by value. All threads of a grid hold the same
//! view, so writing takes `&self`, and [`VecMut`] and [`MatMut`] are `Copy` like the read-only views: the kernel
//! assigns elements to threads, and no borrow checker verifies it.
//!
//! A *data race* is two unordered accesses of different threads to one element, at least one of them a write. It is a
//! bug of the kernel, but never undefined behaviour of the program: on a GPU a racing reader gets the old or the new
//! value of each naturally aligned scalar of up to 8 bytes (a vector may tear into its lanes), and the simulator
//! reports the race with both source lines. Threads are ordered by barriers within a block, by atomics and fences with
//! an [`Order`](crate::sync::Order) across blocks, and by the end of a launch.
//!
//! An index outside a view never accesses memory. `get` and `set` then trap on a GPU; on the simulator they report and
//! continue with zero, or without the store. `get_or` returns a default, `set_within` returns `false`.
//!
//! ```
//! use simt::prelude::*;
//!
//! /// y[i] = x[i − 1] + x[i + 1], where elements outside count as 0.
//! #[kernel(block = 256)]
//! pub fn neighbours(x: VecRef<f32>, y: VecMut<f32>) {
//!     let i = index_1d();
//!     y.set_within(i, x.get_or(i.wrapping_sub(1), 0.0) + x.get_or(i + 1, 0.0));
//! }
//! ```

mod mat;
mod vec;
mod window;

pub use mat::{MatMut, MatRef};
pub use vec::{VecMut, VecRef};
pub use window::{Window, WindowMut};
