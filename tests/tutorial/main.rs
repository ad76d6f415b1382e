//! The tutorial kernels compared with the CPU reference, on the device that `WARPWRIGHT_DEVICE` names.
//!
//! There is one module for each topic. Each kernel runs on edge-case shapes surrounded by canaries, on the device under
//! test and on a second device that must give the same bits; see [`support`](../properties/support).

mod banks;
mod matmul;
mod matmul_sm90;
mod squares;
mod transposes;
mod warps;

#[path = "../properties/support/mod.rs"]
#[allow(dead_code, unused_imports, unused_macros, reason = "each test program uses a different part of the support")]
mod support;
