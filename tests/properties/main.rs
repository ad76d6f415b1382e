//! Property tests of the operations against the oracle, on the device that `WARPWRIGHT_DEVICE` names.
//!
//! One module per operation; each runs the same properties on every *way* to the result: the kernels by launch, and the
//! device's own method. What a property is made of:
//!
//! | module | holds |
//! |---|---|
//! | [`support::shapes`] | hostile shapes and places in a buffer: empty, prime, tile edges, odd leading dimensions and offsets |
//! | [`support::values`] | small integers (every order of addition is exact), reals, any bits |
//! | [`support::frame`] | a matrix inside a larger buffer, all else filled with canaries |
//! | [`support::problem`] | inputs, output and what is expected: one judgement for all properties |
//! | [`support::device`] | the device under test, and its counterpart that must give the same bits |
//! | [`support::runner`] | how many cases, which random numbers |
//! | [`selftest`] | proof that the judgement notices a wrong result |
//!
//! `WARPWRIGHT_CASES=1000` runs more cases, `WARPWRIGHT_SEED=7` other ones.

mod add;
mod gemm;
mod gemm_mma;
mod gemm_sm90;
mod graphs;
mod huge;
mod matmul;
mod reduce;
mod selftest;
mod sum;
mod support;
mod transpose;
