//! Reductions of whole vectors to one number: every kernel, from every offset to 16 bytes, at the edges of tiles.
//!
//! Reductions along an axis of tensors with gaps and axes in any order are here, too (`axis`).
//!
//! Each case launches twice with one workspace, on the device under test and on its counterpart, and demands four times the
//! same bits; canaries stand round the vector and the result.

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
