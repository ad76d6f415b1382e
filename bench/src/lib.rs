//! The main job, the counters beside the profiler's, and what they share.
//!
//! | program | does |
//! |---|---|
//! | `warpwright-run` ([`run`]) | the main kernels on large input, checked against the reference, timed: one table |
//! | `warpwright-tutorial` ([`tutorial`]) | each kernel step by step, and every figure of the teaching texts |
//! | `warpwright-bench` ([`versus`]) | ours beside cuBLAS, cuBLASLt, CUB and the driver's copy, in one process |
//! | `warpwright-counters` ([`counters`]) | the simulator's counters beside those of `ncu` |
//!
//! Without the feature `benchmarks` there is the first alone.

#![cfg_attr(not(feature = "benchmarks"), allow(dead_code, reason = "the main job does not use all that is shared"))]

#[cfg(feature = "benchmarks")]
pub mod counters;
pub mod data;
mod device;
pub mod job;
#[cfg(feature = "benchmarks")]
pub mod peers;
mod progress;
pub mod run;
#[cfg(feature = "benchmarks")]
pub mod tutorial;
pub mod units;
#[cfg(feature = "benchmarks")]
pub mod versus;
