//! The copy engine and mbarriers of one block: what goes on beside its threads.
//!
//! A load or store of a box is an *operation*: issued by a thread, carried out at a time that the seed chooses, at the
//! latest when nobody can go on without it. A load reads global memory and writes shared memory when it lands; its bytes
//! then count on an [mbarrier](Mbarrier). A store first reads shared memory, then writes global memory.
//!
//! What the checks know of it:
//! - A load writes its destination from its issue until somebody has waited for its phase. Who touches the destination
//!   meanwhile races with it. What it wrote is ordered before all who have waited for that phase, or are ordered after
//!   one who has: in vectors of clocks each mbarrier has a place of its own, beside the threads (see [`Block::engine_thread`]).
//! - An asynchronous read (a store's, a matrix product's) lasts until its issuer has waited for it. Who writes there
//!   meanwhile races with it.
//! - A load may be sent to several blocks of a cluster; in each it is an operation of its own, which lands when that block's
//!   engine has it land. See `block/cluster.rs` for the order that it needs.
//! - Ordinary writes must have passed a proxy fence of their thread before the engine reads or overwrites what they wrote.
//!
//! [`Block::engine_thread`]: crate::block::Block::engine_thread

mod bytes;
mod mbarrier;
mod operation;
mod tensor;

pub(crate) use bytes::{bytes_from, bytes_to};
pub(crate) use mbarrier::{Landing, Mbarrier, Visit, Waiter};
pub(crate) use operation::{Operation, Stage};
pub(crate) use tensor::{Row, row_bytes, rows, stored_rows, swizzle, to_tf32};

/// Most arrivals of a phase, and most bytes that one can wait for: 20 bits (PTX ISA, mbarrier).
pub(crate) const MOST_PENDING: u32 = (1 << 20) - 1;
