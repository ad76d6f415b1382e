//! The Hopper GEMM kernels by launch: every kernel of `gpu::gemm::configs`, with all of its epilogues.

mod bytes;
mod f64;
mod ffma;
mod ffma_split;
mod wgmma;
