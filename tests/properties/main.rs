//! Property tests of the operations, compared with the CPU reference, on the device that `WARPWRIGHT_DEVICE` names.
//!
//! There is one module for each operation. It runs the same properties on every implementation: the kernels by launch,
//! and the methods of `Device`.
//!
//! | module | contents |
//! |---|---|
//! | [`support::shapes`] | edge-case shapes and positions in a buffer: empty, prime, tile edges, leading dimensions |
//! | [`support::values`] | small integers (sums are exact in any order), reals, any bits |
//! | [`support::frame`] | a matrix inside a larger buffer filled with canaries |
//! | [`support::problem`] | inputs, output and expected result: one check for all properties |
//! | [`support::device`] | the device under test, and its counterpart that must give the same bits |
//! | [`support::runner`] | number of cases, and random numbers |
//! | [`selftest`] | tests that the check detects wrong results |
//!
//! `WARPWRIGHT_CASES=1000` runs more cases, `WARPWRIGHT_SEED=7` different ones.

mod add;
mod gemm;
mod gemm_grouped;
mod gemm_mma;
mod gemm_sm90;
mod huge;
mod matmul;
mod reduce;
mod selftest;
mod sum;
mod support;
mod transpose;
