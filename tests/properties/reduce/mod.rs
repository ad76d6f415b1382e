//! Reductions of whole vectors: every kernel, at every alignment to 16 bytes, and lengths around the edges of tiles.
//! Also reductions along an axis of strided tensors (`axis`), and of segments (`segments`).
//!
//! Each case launches twice with one workspace, on the device under test and on its counterpart, and requires the same
//! bits all four times; the vector and the result are surrounded by canaries.

mod agreement;
mod axis;
mod axis_case;
mod axis_operation;
mod case;
mod judge;
mod moments;
mod operation;
mod order;
mod segments;
mod sums;
mod values;
