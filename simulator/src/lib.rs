//! Runs a grid of GPU threads on the CPU and tells what is wrong with it.
//!
//! The kernel is ordinary compiled Rust. Each GPU thread that blocks has a stack of its own (a fiber); a scheduler with a
//! seed decides who runs when. Every access to shared and global memory comes through [`device`], where it is checked
//! against *shadow memory* (who wrote this last, who read it since, and did that come before?) and counted as the
//! profiler of a real GPU would count it.
//!
//! | level | sees | runs on |
//! |---|---|---|
//! | [`Level::Off`] | bounds of views, barriers and warp operations that can never complete | all cores |
//! | [`Level::Checks`] | also races, uninitialised, misaligned and wild accesses | one core, one block after another |
//! | [`Level::Counters`] | also requests, sectors, wavefronts, barriers, divergent branches | one core |
//!
//! What is a race: two accesses to one place by different threads, at least one of them a write, not both atomic, and
//! neither ordered before the other by barriers of the block or the cluster, `sync_warp`, mbarriers, or atomics and fences of sufficient scope. Shuffles and votes
//! order nothing. The finding does not depend on the schedule having made the race visible.

pub mod device;

mod async_queues;
mod block;
mod bulk;
mod cluster;
mod config;
mod counters;
mod fiber;
mod grid;
mod happens_before;
mod lane;
mod launch;
mod memory;
mod ordering;
mod panics;
mod report;
mod schedule;
mod shadow;
#[cfg(unix)]
mod stack;
mod tensor;
mod tensor_map;
mod threads;

pub use config::{Config, Level};
pub use counters::{Access, Counters, SiteCounts, Step};
pub use grid::launch;
pub use launch::{Binding, Launch, LaunchError, MAX_CLUSTER, MAX_THREADS, Outcome};
pub use memory::{AllocError, Memory};
pub use report::{Kind, Report, Site};
pub use tensor_map::TensorMap;
