//! Global memory: views of vectors and matrices, with bounds.
//!
//! Views are small `#[repr(C)]` structs that travel to a kernel by value. All threads of a grid hold the same view, so
//! writing takes `&self`, and [`VecMut`] and [`MatMut`] are `Copy` like the reading views: the kernel shares out the
//! elements among its threads, no borrow checker does. Two threads that access an element with nothing ordering them, at
//! least one writing, are a *data race*, a bug of the kernel. It is never undefined behaviour of the program: on a GPU
//! a racing reader gets the old or the new value of each naturally aligned word of up to 8 bytes (a vector may tear
//! into its lanes), and the simulator reports the race with both lines. What orders threads: barriers within a block,
//! atomics and fences with an [`Order`](crate::sync::Order) across blocks, and the end of a launch.
//!
//! An index outside a view never touches memory: `get` and `set` end the kernel with a trap on a GPU and give a report
//! on the simulator (which goes on with zero, or without the store), `get_or` and `set_within` make it a case of its own.

mod mat;
mod vec;
mod window;

pub use mat::{MatMut, MatRef};
pub use vec::{VecMut, VecRef};
pub use window::{Window, WindowMut};
