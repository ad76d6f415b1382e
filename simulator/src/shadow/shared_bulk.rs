//! The accesses of TMA and the tensor cores in the shadow of shared memory.
//!
//! A write under way stands in the cells as a write by the mbarrier's own thread number, marked as under way; a wait
//! for its phase makes it an ordinary one ([`SharedShadow::settle`]). Reads under way are few and are kept in a list
//! that every write searches; when they end they become reads of their issuer.

use super::access::Accessed;
use super::bulk::{Reading, VECTOR_USED};
use super::ordered::Reader;
use super::shared::SharedShadow;
use super::shared_stamp::{ASYNC, FLAGS, clock, place, stamp_of, stamped, thread};
use crate::bulk::Landing;
use crate::lane::Lane;
use crate::report::Kind;
use crate::threads::{Threads, is_before};
use std::ops::Range;
use std::panic::Location;

impl SharedShadow {
    /// A TMA load begins to write, as thread number `writer`; gives the stamp that [`Self::settle`] looks for.
    pub(crate) fn bulk_write(&mut self, threads: &Threads, lane: &Lane, accessed: Accessed, writer: u16) -> u64 {
        let Accessed { address, size, location, .. } = accessed;
        let cells = self.cells(address, size);
        self.access(threads, lane, Accessed { size: cells.len() << self.shift, ..accessed });
        let stamp = stamp_of(writer, lane.clock(), location, ASYNC);
        self.writes[cells].fill(stamp);
        stamp
    }

    /// What a load wrote is now an ordinary write of `thread` at `clock`, unless something else was written there
    /// meanwhile.
    pub(crate) fn settle(&mut self, landing: Landing, thread: u16, clock: u32) {
        let cells = self.cells(landing.address, landing.size);
        let stamp = stamp_of(thread, clock, landing.site, 0);
        for write in self.writes[cells].iter_mut().filter(|write| **write == landing.stamp) {
            *write = stamp;
        }
    }

    /// The 16-byte vector at an address now comes from this row and vector of a box.
    pub(crate) fn note_box_vector(&mut self, address: usize, row: u32, vector: u32) {
        self.bulk.used = true;
        if self.bulk.vectors.is_empty() {
            self.bulk.vectors = vec![0; (self.writes.len() << self.shift).div_ceil(16)];
        }
        if let Some(noted) = self.bulk.vectors.get_mut((address - self.base) / 16) {
            *noted = VECTOR_USED | u64::from(row) << 32 | u64::from(vector);
        }
    }

    /// Row and vector, in its box, of the 16 bytes at an address, if a load wrote them and nothing did since.
    pub(crate) fn vector_of_box(&self, address: usize) -> Option<(u32, u32)> {
        let noted = *self.bulk.vectors.get(address.checked_sub(self.base)? / 16)?;
        (noted & VECTOR_USED != 0).then_some((((noted & !VECTOR_USED) >> 32) as u32, noted as u32))
    }

    /// An asynchronous read begins; gives its token.
    pub(crate) fn begin_read(&mut self, threads: &Threads, lane: &Lane, accessed: Accessed) -> u64 {
        self.access(threads, lane, accessed);
        let Accessed { address, size, location, .. } = accessed;
        self.bulk.used = true;
        self.bulk.tokens += 1;
        let (token, range) = (self.bulk.tokens, address..address + size);
        self.bulk.readings.push(Reading { token, range, thread: lane.linear, site: location });
        token
    }

    /// An asynchronous read has ended, for its issuer.
    pub(crate) fn end_read(&mut self, threads: &Threads, lane: &Lane, token: u64) {
        let Some(Reading { range, site, .. }) = self.bulk.end(token) else { return };
        let cells = self.cells(range.start, range.len());
        self.note_reads(cells, threads, Reader::new(lane, site));
    }

    /// An asynchronous read has ended, for all who acquire `reader`'s clock. `epoch` is that of the block.
    pub(crate) fn end_read_by(&mut self, threads: &Threads, (thread, clock): (u16, u32), epoch: u32, token: u64) {
        let Some(Reading { range, site, .. }) = self.bulk.end(token) else { return };
        let cells = self.cells(range.start, range.len());
        self.note_reads(cells, threads, Reader { thread, clock, epoch, location: site });
    }

    /// The cells of a range of addresses, as far as it lies in shared memory.
    fn cells(&self, address: usize, size: usize) -> Range<usize> {
        let first = (address - self.base) >> self.shift;
        let end = (address - self.base + size).div_ceil(1 << self.shift);
        first.min(self.writes.len())..end.min(self.writes.len())
    }

    /// A write: no asynchronous read may be under way there, and the content no longer comes from a box.
    pub(super) fn check_readings(&mut self, threads: &Threads, lane: &Lane, accessed: Accessed) {
        let range = accessed.address..accessed.address + accessed.size;
        for at in (range.start - self.base) / 16..(range.end - self.base).div_ceil(16) {
            if let Some(vector) = self.bulk.vectors.get_mut(at) {
                *vector = 0;
            }
        }
        let overlaps = |reading: &&Reading| reading.range.start < range.end && range.start < reading.range.end;
        let Some(reading) = self.bulk.readings.iter().find(overlaps) else { return };
        let (site, who) = (reading.site, reading.thread);
        threads.fault(lane, Kind::AsyncRace, accessed.location, Some(site), || {
            let (what, name) = (accessed.kind.verb(), threads.name_shared(accessed.address));
            format!("{what} of {name} while the read that {} began there is under way", threads.name_thread(who))
        });
    }

    /// Checks one cell of an asynchronous read that begins: it must be written, ordered, and fenced.
    pub(super) fn bulk_read_cell(&mut self, index: usize, threads: &Threads, lane: &Lane, accessed: Accessed) {
        let Some(&write) = self.writes.get(index) else { return };
        if write == 0 {
            self.unwritten.hold(index, lane, accessed, threads);
        } else if write & ASYNC != 0 || !is_before(lane, thread(write), clock(write)) {
            self.unordered_write(index, write, threads, lane, accessed);
        } else {
            Self::check_fenced(write, threads, lane, accessed);
        }
    }

    /// Checks an access of the async proxy, or to what it wrote, that scalar clocks do not order.
    pub(super) fn unordered_bulk(
        &mut self,
        index: usize,
        write: u64,
        threads: &Threads,
        lane: &Lane,
        accessed: Accessed,
    ) {
        let under_way = write & ASYNC != 0;
        if !under_way && threads.is_ordered(lane, stamped(threads, write)) {
            if accessed.kind.is_bulk() {
                Self::check_fenced(write, threads, lane, accessed);
            }
            return;
        }
        self.unwritten.race(index);
        threads.fault(lane, Kind::AsyncRace, accessed.location, Some(place(write)), || {
            let (what, name) = (accessed.kind.verb(), threads.name_shared(accessed.address));
            let writer = thread(write);
            match (threads.is_async_proxy(writer), under_way) {
                (true, true) => {
                    format!("{what} of {name} while the copy to it is under way, or not waited for by anybody")
                }
                (true, false) => format!("{what} of {name} by a thread that has not waited for the copy to it"),
                _ => format!("{what} of {name} has no order with the write by {}", threads.name_thread(writer)),
            }
        });
    }

    /// Whether a write is visible to the async proxy: its thread has fenced after it, and the lane is ordered behind
    /// that fence.
    pub(super) fn is_fenced(write: u64, threads: &Threads, lane: &Lane) -> bool {
        let (writer, at) = (thread(write), clock(write));
        threads.is_async_proxy(writer)
            || threads.proxy_fence_after(writer, at).is_some_and(|fence| threads.has_acquired(lane, writer, fence))
    }

    /// Whether the read of a cell is by one thread, and TMA may write there as far as that is concerned.
    pub(super) fn is_settled(&self, reads: u64, threads: &Threads, lane: &Lane) -> bool {
        reads & FLAGS == 0 && !self.is_unsettled(reads, threads, lane)
    }

    /// Whether an ordinary read comes before what a lane does, but its value may not yet be in a register.
    fn is_unsettled(&self, read: u64, threads: &Threads, lane: &Lane) -> bool {
        let (reader, at) = (thread(read), clock(read));
        !threads.is_async_proxy(reader)
            && !self.bulk.is_reading_at(place(read))
            && threads.has_acquired(lane, reader, at)
            && !threads.is_read_settled(lane, reader, at)
    }

    /// Reports an ordinary read of a cell that TMA writes, if its value may not yet be in a register. (Where clocks are
    /// not kept per thread, several readers are not known one by one.)
    pub(super) fn check_settled(&self, index: usize, threads: &Threads, lane: &Lane, accessed: Accessed) {
        let reads = self.reads[index];
        let one = [reads];
        let all = if reads & FLAGS == 0 { &one[..] } else { self.readers.of(index) };
        if let Some(&read) = all.iter().find(|&&read| self.is_unsettled(read, threads, lane)) {
            report_unfenced(threads, lane, accessed, (thread(read), place(read)), ["read", "read"]);
        }
    }

    /// Reports an ordinary write that is not visible to the async proxy.
    pub(super) fn check_fenced(write: u64, threads: &Threads, lane: &Lane, accessed: Accessed) {
        if !Self::is_fenced(write, threads, lane) {
            report_unfenced(threads, lane, accessed, (thread(write), place(write)), ["wrote", "write"]);
        }
    }
}

/// Reports an access by the async proxy after an ordinary one by a thread at a place, without a proxy fence between:
/// what that thread did, as a verb and as a noun.
#[cold]
fn report_unfenced(
    threads: &Threads,
    lane: &Lane,
    accessed: Accessed,
    (other, site): (u16, &'static Location<'static>),
    [did, how]: [&str; 2],
) {
    threads.fault(lane, Kind::ProxyFence, accessed.location, Some(site), || {
        let (what, name, other) =
            (accessed.kind.verb(), threads.name_shared(accessed.address), threads.name_thread(other));
        format!("{what} of {name}, which {other} {did} without a proxy fence between its {how} and the barrier")
    });
}
