//! The main job, the counters beside the profiler's, and what they share.
//!
//! | program | does |
//! |---|---|
//! | `warpwright-run` ([`run`]) | every kernel on real-sized input, checked against the oracle, timed: one table |
//! | `warpwright-counters` ([`counters`]) | the simulator's counters beside those of `ncu` |

pub mod counters;
pub mod data;
pub mod job;
pub mod run;
pub mod units;
