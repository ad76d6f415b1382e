//! Products of matrices on Hopper's tensor cores.
pub mod ring;
pub mod tiles;
pub mod wgmma;
