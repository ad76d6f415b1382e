//! One small kernel for each of Hopper's words, so that its meaning is tested on the simulator and on a GPU alike.
//!
//! What a kernel leaves in its outputs is said where it is defined, as a rule that a test can compute.

pub mod boxes;
pub mod clusters;
pub mod matrix_stores;
pub mod multicast;
pub mod operand;
pub mod overlap;
pub mod product_ring;
pub mod products;
pub mod ring;
