//! Runs a grid of GPU threads on the CPU and reports what is wrong with it.
//!
//! The kernel is ordinary compiled Rust. Each GPU thread that blocks has a stack of its own (a fiber); a scheduler with
//! a seed chooses the order in which threads run. Every access to shared and global memory goes through [`device`],
//! where it is checked against *shadow memory* (who wrote this last, who read it since, and did that come before?) and
//! counted as the profiler of a GPU counts it.
//!
//! | level | sees | runs on |
//! |---|---|---|
//! | [`Level::Off`] | bounds of views, barriers and warp operations that can never complete | all cores |
//! | [`Level::Checks`] | also races, uninitialised reads, misaligned and invalid addresses | one core |
//! | [`Level::Counters`] | also requests, sectors, wavefronts, barriers, divergent branches | one core |
//!
//! A race is two accesses to one location by different threads, at least one of them a write, not both atomic with
//! scopes that include the other's thread, and neither ordered before the other by barriers of the block or cluster,
//! `sync_warp`, mbarriers, or atomics and fences of sufficient scope. Shuffles and votes order nothing. A race is found
//! whether or not the schedule made it visible.
//!
//! Modules import in one direction: `config`, `report`, `memory`, `schedule`, `tensor` → `fiber`, `happens_before` →
//! `lane` → `panics` → `overflow` → `threads` (clocks and faults of a block) → `shadow` → `block` → `device` (what
//! kernels call) and `cluster` → `idle` (whether threads that poll make progress), `workers` (OS threads) → `grid` (the
//! loop of a launch).

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
mod idle;
mod lane;
mod launch;
mod local;
mod memory;
mod mutation;
mod ordering;
mod overflow;
mod panics;
mod report;
mod schedule;
mod shadow;
#[cfg(unix)]
mod stack;
mod tensor;
mod tensor_map;
mod threads;
mod variables;
mod workers;

pub use config::{Config, Level};
pub use counters::{Access, Counters, SiteCounts, Step};
pub use grid::launch;
pub use launch::{Binding, Launch, LaunchError, MAX_CLUSTER, MAX_THREADS, MULTIPROCESSOR, Multiprocessor, Outcome};
pub use memory::{AllocError, Memory};
pub use report::{Kind, Report, Site};
pub use tensor_map::TensorMap;
