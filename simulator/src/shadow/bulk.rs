//! Shadow of what the copy engine and the tensor cores do in shared memory.
//!
//! A write under way stands in the cells as one by the mbarrier's own thread, marked as under way; a wait for its phase
//! makes it an ordinary one ([`SharedShadow::settle`]). Reads under way are few and are kept in a list, in which every
//! write looks; when they end they become reads of their issuer.

use super::shared::{ASYNC, FLAGS, LOAD, SharedShadow, clock, place, stamp_of, thread};
use super::{Accessed, Touch, before, before_otherwise, knows};
use crate::block::Block;
use crate::bulk::Landing;
use crate::lane::Lane;
use crate::report::Kind;
use std::ops::Range;
use std::panic::Location;

/// What is under way, and what came in boxes.
#[derive(Default)]
pub(super) struct Bulk {
    readings: Vec<Reading>,
    tokens: u64,
    /// Per 16 bytes: 0, or which piece of a box came there last, and nothing since.
    pieces: Vec<u64>,
    /// Where reads that have ended were issued.
    sites: Vec<&'static Location<'static>>,
}

/// A read under way.
struct Reading {
    token: u64,
    range: Range<usize>,
    thread: u16,
    site: &'static Location<'static>,
}

const PIECE_USED: u64 = 1 << 63;

impl Bulk {
    /// Whether writes must be looked at closely.
    #[inline(always)]
    pub(super) fn is_used(&self) -> bool {
        !self.pieces.is_empty() || !self.readings.is_empty()
    }

    pub(super) fn reset(&mut self) {
        self.readings.clear();
        self.pieces.clear();
        self.sites.clear();
    }

    /// Takes out a read that has ended.
    fn end(&mut self, token: u64) -> Option<Reading> {
        let at = self.readings.iter().position(|reading| reading.token == token)?;
        let reading = self.readings.swap_remove(at);
        if !self.is_reading_at(reading.site) {
            self.sites.push(reading.site);
        }
        Some(reading)
    }

    /// Whether a read that was issued there is an asynchronous one.
    pub(super) fn is_reading_at(&self, site: &'static Location<'static>) -> bool {
        self.sites.iter().any(|&known| std::ptr::eq(known, site))
    }
}

impl SharedShadow {
    /// A load of a box begins to write, on behalf of thread `writer`; gives the stamp by which [`Self::settle`] knows it.
    pub(crate) fn bulk_write(&mut self, block: &Block, lane: &Lane, accessed: Accessed, writer: u16) -> u64 {
        let Accessed { address, size, location, .. } = accessed;
        let cells = self.cells(address, size);
        self.access(block, lane, Accessed { size: cells.len() << self.shift, ..accessed });
        let stamp = stamp_of(writer, lane.clock.get(), location, ASYNC);
        self.writes[cells].fill(stamp);
        stamp
    }

    /// What a load wrote is now ordered, as by `thread` at `clock`, unless something else was written there meanwhile.
    pub(crate) fn settle(&mut self, landing: Landing, thread: u16, clock: u32) {
        let cells = self.cells(landing.address, landing.size);
        let stamp = stamp_of(thread, clock, landing.site, 0);
        for write in self.writes[cells].iter_mut().filter(|write| **write == landing.stamp) {
            *write = stamp;
        }
    }

    /// The piece of 16 bytes at an address now comes from this place of a box.
    pub(crate) fn note_piece(&mut self, address: usize, row: u32, piece: u32) {
        if self.bulk.pieces.is_empty() {
            self.bulk.pieces = vec![0; (self.writes.len() << self.shift).div_ceil(16)];
        }
        if let Some(noted) = self.bulk.pieces.get_mut((address - self.base) / 16) {
            *noted = PIECE_USED | u64::from(row) << 32 | u64::from(piece);
        }
    }

    /// Row and piece, in its box, of the 16 bytes that an address lies in, if a load brought them and nothing was written
    /// since.
    pub(crate) fn piece(&self, address: usize) -> Option<(u32, u32)> {
        let noted = *self.bulk.pieces.get(address.checked_sub(self.base)? / 16)?;
        (noted & PIECE_USED != 0).then_some((((noted & !PIECE_USED) >> 32) as u32, noted as u32))
    }

    /// An asynchronous read begins; gives its token.
    pub(crate) fn begin_read(&mut self, block: &Block, lane: &Lane, accessed: Accessed) -> u64 {
        self.access(block, lane, accessed);
        let Accessed { address, size, location, .. } = accessed;
        self.bulk.tokens += 1;
        let (token, range) = (self.bulk.tokens, address..address + size);
        self.bulk.readings.push(Reading { token, range, thread: lane.linear, site: location });
        token
    }

    /// An asynchronous read has ended, for its issuer.
    pub(crate) fn end_read(&mut self, block: &Block, lane: &Lane, token: u64) {
        let Some(Reading { range, site, .. }) = self.bulk.end(token) else { return };
        let accessed = Accessed { address: range.start, size: range.len(), touch: Touch::BulkRead, location: site };
        for index in self.cells(range.start, range.len()) {
            self.note_read(index, block, lane, accessed);
        }
    }

    /// An asynchronous read has ended, for all who learn of `reader`'s clock, and of nothing else that they would not know.
    /// `known` is what the whole block knows.
    pub(crate) fn end_read_by(&mut self, block: &Block, (reader, clock): (u16, u32), known: u32, token: u64) {
        let Some(Reading { range, site, .. }) = self.bulk.end(token) else { return };
        for index in self.cells(range.start, range.len()) {
            let reads = self.reads[index];
            let own = thread(reads) == reader && reads & FLAGS == 0;
            if reads == 0 || own || self::clock(reads) <= known || reads & FLAGS == LOAD {
                self.reads[index] = stamp_of(reader, clock, site, 0);
            } else {
                self.several(index, reads, (reader, clock), block, site);
            }
        }
    }

    /// The cells of a range of addresses, as far as it lies in shared memory.
    fn cells(&self, address: usize, size: usize) -> Range<usize> {
        let first = (address - self.base) >> self.shift;
        let end = (address - self.base + size).div_ceil(1 << self.shift);
        first.min(self.writes.len())..end.min(self.writes.len())
    }

    /// A write: nothing may be reading there, and what is there no longer comes from a box.
    pub(super) fn check_readings(&mut self, block: &Block, lane: &Lane, accessed: Accessed) {
        let range = accessed.address..accessed.address + accessed.size;
        for at in (range.start - self.base) / 16..(range.end - self.base).div_ceil(16) {
            if let Some(piece) = self.bulk.pieces.get_mut(at) {
                *piece = 0;
            }
        }
        let overlaps = |reading: &&Reading| reading.range.start < range.end && range.start < reading.range.end;
        let Some(reading) = self.bulk.readings.iter().find(overlaps) else { return };
        let (site, who) = (reading.site, reading.thread);
        block.fault(lane, Kind::AsyncRace, accessed.location, Some(site), || {
            let (what, name) = (accessed.touch.verb(), block.name_shared(accessed.address));
            format!("{what} of {name} while the read that {} began there is under way", block.name_thread(who))
        });
    }

    /// One cell of an asynchronous read that begins: written, in order, and fenced.
    pub(super) fn bulk_read_cell(&mut self, index: usize, block: &Block, lane: &Lane, accessed: Accessed) {
        let Some(&write) = self.writes.get(index) else { return };
        if write == 0 {
            self.unwritten.hold(index, lane, accessed, block);
        } else if write & ASYNC != 0 || !before(lane, thread(write), clock(write)) {
            self.unordered_write(index, write, block, lane, accessed);
        } else {
            Self::check_fenced(write, block, lane, accessed);
        }
    }

    /// An access of the engine, or to what it wrote, that scalar clocks do not order.
    pub(super) fn unordered_bulk(&mut self, index: usize, write: u64, block: &Block, lane: &Lane, accessed: Accessed) {
        let under_way = write & ASYNC != 0;
        if !under_way && before_otherwise(block, lane, Self::stamped(block, write)) {
            if accessed.touch.is_bulk() {
                Self::check_fenced(write, block, lane, accessed);
            }
            return;
        }
        self.unwritten.race(index);
        block.fault(lane, Kind::AsyncRace, accessed.location, Some(place(write)), || {
            let (what, name) = (accessed.touch.verb(), block.name_shared(accessed.address));
            let writer = thread(write);
            match (block.is_engine(writer), under_way) {
                (true, true) => {
                    format!("{what} of {name} while the copy to it is under way, or not waited for by anybody")
                }
                (true, false) => format!("{what} of {name} by a thread that has not waited for the copy to it"),
                _ => format!("{what} of {name} has no order with the write by {}", block.name_thread(writer)),
            }
        });
    }

    /// An ordinary write that the engine is to see or to follow: behind it, its thread has fenced, and the lane knows.
    pub(super) fn check_fenced(write: u64, block: &Block, lane: &Lane, accessed: Accessed) {
        let (writer, at) = (thread(write), clock(write));
        if block.is_engine(writer)
            || block.has_fenced(writer, at).is_some_and(|fence| knows(block, lane, writer, fence))
        {
            return;
        }
        block.fault(lane, Kind::ProxyFence, accessed.location, Some(place(write)), || {
            let (what, name) = (accessed.touch.verb(), block.name_shared(accessed.address));
            let writer = block.name_thread(writer);
            format!("{what} of {name}, which {writer} wrote without a proxy fence between its write and the barrier")
        });
    }
}
