//! What tensor cores compute, and how their operands lie in shared memory: the rules, apart from who calls when.

mod boxes;
mod fragments;
mod layout;
mod numbers;

pub(crate) use boxes::{Disagreement, disagreement};
pub(crate) use fragments::{Fragments, a_position, d_position, multiply_fragments, part_of_row};
pub(crate) use layout::Layout;
pub use numbers::TensorKind;
pub(crate) use numbers::add_product;
