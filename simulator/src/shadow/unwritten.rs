//! Reads of memory that nothing had written, held back until it is clear whether they are part of a race.

use super::access::Accessed;
use crate::lane::Lane;
use crate::report::Kind;
use crate::threads::Threads;
use std::collections::HashSet;
use std::panic::Location;

/// Reads of memory that nothing had written, held back: if another thread writes it in no order with the read, that is
/// a race, and only the race is reported.
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

/// Most reads held back at once; further ones are dropped.
const HELD: usize = 1 << 16;

impl Unwritten {
    #[cold]
    pub(super) fn hold(&mut self, cell: usize, lane: &Lane, accessed: Accessed, threads: &Threads) {
        if self.reads.len() < HELD {
            let Accessed { address, size, location, .. } = accessed;
            let (block, thread) = (threads.index(), lane.thread_index());
            self.reads.push(UnwrittenRead { cell, address, size, location, block, thread });
        }
    }

    #[cold]
    pub(super) fn race(&mut self, cell: usize) {
        self.raced.insert(cell);
    }

    /// Each cell has become `parts` cells.
    pub(super) fn refine(&mut self, parts: usize) {
        self.reads.iter_mut().for_each(|read| read.cell *= parts);
        self.raced = self.raced.iter().flat_map(|cell| cell * parts..(cell + 1) * parts).collect();
    }

    /// Reports the reads that are no part of a race.
    pub(crate) fn settle(&mut self, threads: &Threads, name: impl Fn(usize) -> String) {
        for read in self.reads.drain(..) {
            if !self.raced.contains(&read.cell) {
                threads.fault_at(Kind::Uninitialised, read.location, None, read.block, read.thread, || {
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
