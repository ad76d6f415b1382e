//! The kernels of the ladder against the CPU oracle, on the device that `WARPWRIGHT_DEVICE` names.
//!
//! One module per family of the texts' tables. Each kernel runs on hostile shapes between canaries, on the device under test
//! and on another that must give the same bits; [`support`](../properties/support) says how.

mod banks;
mod matmul;
mod squares;
mod transposes;
mod warps;

#[path = "../properties/support/mod.rs"]
#[allow(dead_code, unused_imports, unused_macros, reason = "each test program uses its own part of the support")]
mod support;
