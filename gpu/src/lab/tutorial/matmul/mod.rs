//! Matrix multiplication: the steps before and after the naive and tiled kernels of [`crate::gemm`].

pub mod block_tiled;
pub mod single_block;
