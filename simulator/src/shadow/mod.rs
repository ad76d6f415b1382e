//! Shadow memory: for each word who wrote it last and who read it since, and the checks made of that.

mod bulk;
mod global;
mod locations;
mod readers;
mod shared;

pub(crate) use global::{GlobalShadow, MAX_BLOCKS};
pub(crate) use shared::SharedShadow;

use crate::block::Block;
use crate::lane::Lane;
use crate::order::Stamp;
use crate::report::Kind;
use std::collections::HashSet;
use std::panic::Location;

/// Largest clock that stamps can hold.
pub(crate) const MAX_CLOCK: u32 =
    if shared::MAX_CLOCK < global::MAX_CLOCK { shared::MAX_CLOCK } else { global::MAX_CLOCK };

/// Largest number of a thread that stamps can hold.
pub(crate) const MAX_THREAD: usize = 0x3ff;

/// How a place is touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Touch {
    Read,
    Write,
    /// Atomic load: in order with other atomics, not with plain writes.
    AtomicRead,
    /// Atomic store.
    AtomicWrite,
    /// Atomic read-modify-write.
    AtomicUpdate,
    /// The write of an asynchronous copy, when it is issued.
    AsyncWrite,
    /// The write of the copy engine, when it is issued.
    BulkWrite,
    /// The read of the copy engine or of a matrix product, when it is issued.
    BulkRead,
}

impl Touch {
    pub(crate) fn writes(self) -> bool {
        matches!(self, Self::Write | Self::AtomicWrite | Self::AtomicUpdate | Self::AsyncWrite | Self::BulkWrite)
    }

    fn is_atomic(self) -> bool {
        matches!(self, Self::AtomicRead | Self::AtomicWrite | Self::AtomicUpdate)
    }

    /// Whether it goes past the path of ordinary accesses.
    fn is_bulk(self) -> bool {
        matches!(self, Self::BulkWrite | Self::BulkRead)
    }

    fn verb(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::AtomicRead => "atomic read",
            Self::AtomicWrite => "atomic write",
            Self::AtomicUpdate => "atomic update",
            Self::AsyncWrite => "asynchronous copy",
            Self::BulkWrite => "load of a box",
            Self::BulkRead => "asynchronous read",
        }
    }
}

/// One access, for the checks.
#[derive(Clone, Copy)]
pub(crate) struct Accessed {
    pub(crate) address: usize,
    pub(crate) size: usize,
    pub(crate) touch: Touch,
    pub(crate) location: &'static Location<'static>,
}

/// Whether an action of a thread of the running lane's block came before: the two answers that cost nothing.
#[inline(always)]
fn before(lane: &Lane, thread: u16, clock: u32) -> bool {
    clock <= lane.known.get() || thread == lane.linear
}

/// Whether the lane knows all that a thread of its block did up to a clock.
pub(crate) fn knows(block: &Block, lane: &Lane, thread: u16, clock: u32) -> bool {
    let stamp = Stamp { block: block.number(), thread, warp: block.warp_of(thread), clock };
    before(lane, thread, clock) || before_otherwise(block, lane, stamp)
}

/// The other answers: the warp's order, partial barriers, atomics; and other blocks.
#[cold]
fn before_otherwise(block: &Block, lane: &Lane, stamp: Stamp) -> bool {
    if stamp.block == block.number() {
        if stamp.warp == lane.warp && stamp.clock <= lane.known_warp.get() {
            return true;
        }
        if let Some(rare) = lane.rare_if_any()
            && let Some(vector) = &rare.vector
            && vector.get(usize::from(stamp.thread)).is_some_and(|&known| stamp.clock <= known)
        {
            return true;
        }
    }
    lane.rare_if_any().is_some_and(|rare| rare.acquired.covers(stamp, block.number()))
        || block.acquired().covers(stamp, block.number())
}

/// Reads of places that nothing had written, held back: if another thread writes the place unordered, it is a race, and
/// only a race is reported.
#[derive(Default)]
pub(crate) struct Unwritten {
    reads: Vec<UnwrittenRead>,
    raced: HashSet<usize>,
}

struct UnwrittenRead {
    cell: usize,
    address: usize,
    size: usize,
    location: &'static Location<'static>,
    block: [u32; 3],
    thread: [u32; 3],
}

/// Most reads held back at once; beyond, they count as what they are.
const HELD: usize = 1 << 16;

impl Unwritten {
    #[cold]
    fn hold(&mut self, cell: usize, lane: &Lane, accessed: Accessed, block: &Block) {
        if self.reads.len() < HELD {
            let Accessed { address, size, location, .. } = accessed;
            let (block, thread) = (block.index(), lane.thread_index());
            self.reads.push(UnwrittenRead { cell, address, size, location, block, thread });
        }
    }

    #[cold]
    fn race(&mut self, cell: usize) {
        self.raced.insert(cell);
    }

    /// Each cell has become `parts` cells.
    fn refine(&mut self, parts: usize) {
        self.reads.iter_mut().for_each(|read| read.cell *= parts);
        self.raced = self.raced.iter().flat_map(|cell| cell * parts..(cell + 1) * parts).collect();
    }

    /// Reports what turned out to be nothing but uninitialised.
    pub(crate) fn settle(&mut self, block: &Block, name: impl Fn(usize) -> String) {
        for read in self.reads.drain(..) {
            if !self.raced.contains(&read.cell) {
                block.fault_at(Kind::Uninitialised, read.location, None, read.block, read.thread, || {
                    format!("read of {} bytes at {} that nothing has written", read.size, name(read.address))
                });
            }
        }
        self.raced.clear();
    }

    pub(crate) fn is_settled(&self) -> bool {
        self.reads.is_empty() && self.raced.is_empty()
    }
}
