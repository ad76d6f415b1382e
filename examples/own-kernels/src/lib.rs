//! Seven small kernels, one file each: what it computes, then the kernel.

pub mod histogram;
pub mod matmul;
pub mod saxpy;
pub mod scan;
pub mod softmax;
pub mod stencil;
pub mod transpose;
