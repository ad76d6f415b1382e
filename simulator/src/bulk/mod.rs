//! TMA operations and mbarriers of one block, as data.
//!
//! A load or store of a box is an *operation*: issued by a thread, carried out at a time that the seed chooses, at the
//! latest when no thread can go on without it. A load reads global memory and writes shared memory when it lands; its
//! bytes then count on an [mbarrier](Mbarrier). A store first reads shared memory, then writes global memory.
//!
//! How it is checked:
//! - A load writes its destination from its issue until a thread has waited for its phase; accesses to the destination
//!   meanwhile race with it. Its writes come before all that follows a wait for that phase: in vector clocks each
//!   mbarrier has an entry of its own, behind those of the threads (see `Threads::tma_thread`).
//! - An asynchronous read (of a store or a matrix product) lasts until its issuer has waited for it; writes meanwhile
//!   race with it.
//! - A multicast load is an operation of its own in each block of the cluster, and lands there by itself.
//!   `block/peers.rs` has the order that it needs.
//! - After an ordinary write its thread must execute a proxy fence before TMA reads or overwrites the location.
//! - After an ordinary read, too, before TMA overwrites the location, unless it begins a `wgmma` of registers between.

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
