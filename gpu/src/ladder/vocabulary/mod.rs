//! One small kernel for each word of `simt`, so that its meaning is tested on the simulator and on a GPU alike.
//!
//! What a kernel leaves in its outputs is said where it is defined, as a rule that a test can compute.

pub mod arithmetic;
pub mod async_copy;
pub mod atomics;
pub mod barriers;
pub mod geometry;
pub mod matrices;
pub mod order;
pub mod vectors;
pub mod warps;
