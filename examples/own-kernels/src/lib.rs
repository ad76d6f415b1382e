//! Eight small kernels, one file each: what it computes, then the kernel. And `print`: kernels that print lines.

pub mod histogram;
pub mod matmul;
pub mod mma;
pub mod print;
pub mod saxpy;
pub mod scan;
pub mod softmax;
pub mod stencil;
pub mod transpose;
