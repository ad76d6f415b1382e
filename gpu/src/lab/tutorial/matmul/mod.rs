//! Matrix multiplication: the steps before and after [`crate::gemm`]'s naive and tiled kernels.

pub mod block_tiled;
pub mod single_block;
