//! Shadow memory: for each location the last write and the reads since, and the checks that need them.

mod access;
mod atomic_sizes;
mod bulk;
mod cells;
mod global;
mod global_atomics;
mod global_stamp;
mod listed;
mod locations;
mod ordered;
pub(crate) mod quick;
mod readers;
mod shared;
mod shared_bulk;
mod shared_readers;
mod shared_stamp;
mod source;
mod unwritten;

pub(crate) use access::{AccessKind, Accessed};
pub(crate) use global::GlobalShadow;
pub(crate) use global_stamp::MAX_BLOCKS;
pub(crate) use shared::SharedShadow;
pub(crate) use source::SourceWrites;
