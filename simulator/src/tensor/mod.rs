//! What tensor cores compute, and the layout of their operands in shared memory.

mod boxes;
mod fragments;
mod layout;
mod numbers;

pub(crate) use boxes::{Disagreement, disagreement};
pub(crate) use fragments::{DoubleFragments, Fragments, d_position, multiply_doubles, multiply_fragments, store_a};
pub(crate) use layout::Layout;
pub use numbers::TensorKind;
pub(crate) use numbers::add_product;
