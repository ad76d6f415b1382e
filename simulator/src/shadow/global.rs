//! Shadow of global memory: for each element of a buffer that the launch may write, its last write and the reads since.
//! The element is that of the allocation, or that of the launch's accesses, if those are smaller.
//!
//! Buffers that the launch only reads have no shadow: they cannot race.

use super::access::{AccessKind, Accessed};
use super::cells::{available, refined, zeroed};
use super::global_atomics::Atomics;
use super::global_stamp::{
    ATOMIC, BLOCK_SHIFT, CLOCK_SHIFT, FLAGS, PLACE_BITS, PLACE_SHIFT, THREAD_SHIFT, block_number, clock, name, place,
    stamped, thread,
};
use super::locations::Numbers;
use super::readers::{LISTED, LOADS, Readers, come_before};
use super::unwritten::Unwritten;
use crate::lane::Lane;
use crate::memory::Memory;
use crate::ordering::Scope;
use crate::report::Kind;
use crate::threads::{Threads, is_before};
use std::io;
use std::panic::Location;

/// Shadow of one buffer.
pub(super) struct Buffer {
    pub(super) base: usize,
    bytes: usize,
    pub(super) shift: u32,
    /// Every element counts as written.
    pub(super) full: bool,
    pub(super) writable: bool,
    /// The host had no memory to check it to the end.
    gave_up: bool,
    pub(super) writes: Vec<u64>,
    /// Made at the first read of a writable buffer.
    pub(super) reads: Vec<u64>,
    /// Readers of elements that several threads have read.
    readers: Readers,
    /// Atomic operations that the last write of their element does not stand for.
    pub(super) atomics: Atomics,
    pub(super) unwritten: Unwritten,
}

/// Elements up to which the memory of the host is not asked for.
const SMALL: u128 = 1 << 22;

/// Cells of a buffer that may be written.
fn cells(memory: &Memory) -> usize {
    memory.len() >> memory.shift()
}

fn out_of_memory(bytes: u128) -> io::Error {
    let text = format!("the checks need {bytes} bytes of shadow memory; `Level::Off` needs none");
    io::Error::new(io::ErrorKind::OutOfMemory, text)
}

/// Shadows of a launch's buffers, by tag.
pub(crate) struct GlobalShadow {
    buffers: Vec<Buffer>,
    places: Numbers,
}

impl GlobalShadow {
    /// Shadows of buffers, each with whether it may be written.
    ///
    /// # Errors
    /// If the host has no memory for them.
    pub(crate) fn new<'a>(buffers: impl Iterator<Item = (&'a Memory, bool)> + Clone) -> io::Result<Self> {
        // Writes and reads. The system would promise the memory and end the process when it is used.
        let needed: u128 =
            buffers.clone().filter(|(_, writable)| *writable).map(|(memory, _)| cells(memory) as u128).sum();
        if needed > SMALL && available().is_some_and(|available| needed * 16 > u128::from(available)) {
            return Err(out_of_memory(needed * 16));
        }
        let buffers = buffers.map(|(memory, writable)| {
            // SAFETY: the launch's contract: only this launch writes the memory.
            let full = unsafe { memory.first_unwritten(0, memory.len()) }.is_none();
            let cells = if writable { cells(memory) } else { 0 };
            Ok(Buffer {
                base: memory.as_ptr() as usize,
                bytes: memory.len(),
                shift: memory.shift(),
                full,
                writable,
                gave_up: false,
                writes: zeroed(cells).ok_or_else(|| out_of_memory(cells as u128 * 8))?,
                reads: Vec::new(),
                readers: Readers::default(),
                atomics: Atomics::default(),
                unwritten: Unwritten::default(),
            })
        });
        Ok(Self { buffers: buffers.collect::<io::Result<_>>()?, places: Numbers::default() })
    }

    /// Bytes of these shadows.
    pub(crate) fn bytes(&self) -> usize {
        let bytes = |buffer: &Buffer| {
            (buffer.writes.len() + buffer.reads.len()) * 8 + buffer.readers.bytes() + buffer.atomics.bytes()
        };
        self.buffers.iter().map(bytes).sum()
    }

    /// The shadow of a buffer.
    pub(super) fn buffer(&self, tag: u32) -> Option<&Buffer> {
        self.buffers.get(tag as usize)
    }

    /// Whether the buffer `tag` is written by nobody during the launch, and was before it: there is nothing to check.
    #[inline(always)]
    pub(crate) fn is_input(&self, tag: u32) -> bool {
        self.buffers.get(tag as usize).is_some_and(|buffer| buffer.full && !buffer.writable)
    }

    /// The location of a stamp's number.
    pub(super) fn location(&self, number: u64) -> &'static Location<'static> {
        self.places.location(number)
    }

    /// Checks and records one access to the buffer `tag`, in which the address lies; an atomic operation if it has a
    /// scope.
    #[inline(always)]
    pub(crate) fn access(
        &mut self,
        tag: u32,
        memory: &Memory,
        threads: &Threads,
        lane: &Lane,
        accessed: Accessed,
        scope: Option<Scope>,
    ) {
        let Self { buffers, places } = self;
        let Some(buffer) = buffers.get_mut(tag as usize) else { return };
        if buffer.full && !buffer.writable {
            return;
        }
        if accessed.size < 1 << buffer.shift && !buffer.refine(accessed.size) {
            buffer.give_up(threads, lane, accessed.location);
            return;
        }
        if scope.is_some() && buffer.writable {
            buffer.see_atomic_size(accessed.size);
        }
        let first = (accessed.address - buffer.base) >> buffer.shift;
        let count = accessed.size >> buffer.shift;
        for index in first..first + count {
            match scope {
                None => buffer.cell(index, places, memory, threads, lane, accessed),
                Some(scope) => buffer.atomic_cell(index, places, memory, threads, lane, accessed, scope),
            }
        }
    }

    /// Reports the uninitialised reads that are held back, and marks what was written.
    pub(crate) fn finish<'a>(&mut self, threads: Option<&Threads>, memories: impl Iterator<Item = &'a Memory>) {
        for (buffer, memory) in self.buffers.iter_mut().zip(memories) {
            if let Some(threads) = threads
                && !buffer.unwritten.is_settled()
            {
                buffer.unwritten.settle(threads, |address| threads.name_global(address));
            }
            if buffer.gave_up {
                // SAFETY: the launch is over; the memory is still this launch's alone, because only buffers that it may
                // write are given up. Any byte may have been written.
                unsafe { memory.mark(0, memory.len()) };
            }
            if buffer.full || !buffer.writable {
                continue;
            }
            let mut index = 0;
            while index < buffer.writes.len() {
                let start = index;
                while index < buffer.writes.len() && buffer.writes[index] != 0 {
                    index += 1;
                }
                let end = if index == buffer.writes.len() { buffer.bytes } else { index << buffer.shift };
                // SAFETY: the launch is over; the memory is still this launch's alone.
                unsafe { memory.mark(start << buffer.shift, end - (start << buffer.shift)) };
                index += 1;
            }
        }
    }
}

impl Buffer {
    /// Splits the cells to `size` bytes: the kernel accesses smaller elements than the memory was allocated for. False:
    /// the host has no memory for it.
    #[cold]
    fn refine(&mut self, size: usize) -> bool {
        let finer = self.shift - size.ilog2();
        let parts = 1 << finer;
        let Some((writes, reads)) = refined(&self.writes, parts).zip(refined(&self.reads, parts)) else { return false };
        (self.writes, self.reads) = (writes, reads);
        self.readers.refine(parts);
        self.atomics.refine(parts);
        self.unwritten.refine(parts);
        self.shift -= finer;
        true
    }

    /// Makes room for the stamps of readers, at the first read of a writable buffer. False: the host has none.
    #[inline(always)]
    pub(super) fn has_reads(&mut self, threads: &Threads, lane: &Lane, accessed: Accessed) -> bool {
        if self.reads.is_empty() {
            match zeroed(self.writes.len()) {
                Some(reads) => self.reads = reads,
                None => self.give_up(threads, lane, accessed.location),
            }
        }
        !self.reads.is_empty()
    }

    /// Checks this buffer no further: the host has no memory for that.
    #[cold]
    #[inline(never)]
    fn give_up(&mut self, threads: &Threads, lane: &Lane, location: &'static Location<'static>) {
        (self.full, self.writable, self.gave_up) = (true, false, true);
        (self.writes, self.reads) = (Vec::new(), Vec::new());
        threads.fault(lane, Kind::Limit, location, None, || {
            format!("the host has no memory to check this buffer of {} bytes any further", self.bytes)
        });
    }

    /// Holds back a read of an element that nothing has written.
    #[inline(always)]
    pub(super) fn hold_unwritten(
        &mut self,
        index: usize,
        memory: &Memory,
        threads: &Threads,
        lane: &Lane,
        accessed: Accessed,
    ) {
        // SAFETY: the launch's contract; the index lies in the memory because the address does.
        let marked = unsafe { memory.is_marked(index << self.shift) };
        if !marked {
            self.unwritten.hold(index, lane, accessed, threads);
        }
    }

    #[inline(always)]
    fn cell(
        &mut self,
        index: usize,
        places: &mut Numbers,
        memory: &Memory,
        threads: &Threads,
        lane: &Lane,
        accessed: Accessed,
    ) {
        let write = self.writes.get(index).copied().unwrap_or(0);
        let is_read = accessed.kind == AccessKind::Read;
        if write == 0 && !self.full && is_read {
            self.hold_unwritten(index, memory, threads, lane, accessed);
        }
        if !self.writable || index >= self.writes.len() {
            return;
        }
        let stamp = stamp_of(places, threads, lane, accessed);
        if write != 0 && !is_trivially_before(write, threads, lane) {
            self.unordered_write(index, write, places, threads, lane, accessed);
        }
        if is_read {
            if write & ATOMIC != 0 {
                self.check_atomics(index, places, threads, lane, accessed);
            }
            if !self.has_reads(threads, lane, accessed) {
                return;
            }
            let (reads, loads) = (self.reads[index] & !LOADS, self.reads[index] & LOADS);
            if matches!(reads ^ stamp, 0 | LISTED) {
                // The latest reader again.
                return;
            }
            self.reads[index] = loads
                | if reads == 0 || come_before(reads, threads, lane) {
                    stamp
                } else {
                    self.readers.add(index, reads, stamp, threads)
                };
            return;
        }
        let reads = self.reads.get_mut(index).map_or(0, std::mem::take);
        self.check_readers(index, reads & !LOADS, places, threads, lane, accessed);
        if write & ATOMIC != 0 || reads & LOADS != 0 {
            self.check_atomics(index, places, threads, lane, accessed);
            self.atomics.forget(index);
        }
        self.writes[index] = stamp;
    }

    /// Checks a write against the plain reads of its element.
    #[inline(always)]
    pub(super) fn check_readers(
        &mut self,
        index: usize,
        reads: u64,
        places: &Numbers,
        threads: &Threads,
        lane: &Lane,
        accessed: Accessed,
    ) {
        if reads != 0 && !come_before(reads, threads, lane) {
            self.unordered_reads(index, reads, places, threads, lane, accessed);
        }
    }

    /// Checks an access against a write, or an atomic load, of its element that scalar clocks do not order.
    #[cold]
    #[inline(never)]
    pub(super) fn unordered_write(
        &mut self,
        index: usize,
        write: u64,
        places: &Numbers,
        threads: &Threads,
        lane: &Lane,
        accessed: Accessed,
    ) {
        if threads.is_ordered(lane, stamped(threads, write)) {
            return;
        }
        self.unwritten.race(index);
        let other = (places.location(place(write)), block_number(write));
        threads.global_race(lane, accessed.location, other, None, || {
            let what = accessed.kind.verb();
            let how = if write & ATOMIC == 0 { "write" } else { "atomic write" };
            let (where_, who) = (threads.name_global(accessed.address), name(threads, write));
            format!("{what} of {where_} has no order with the {how} by {who}")
        });
    }

    #[cold]
    #[inline(never)]
    fn unordered_reads(
        &mut self,
        index: usize,
        reads: u64,
        places: &Numbers,
        threads: &Threads,
        lane: &Lane,
        accessed: Accessed,
    ) {
        let Some(reads) = self.readers.take_unordered(index, reads, threads, lane) else { return };
        self.unwritten.race(index);
        let other = (places.location(place(reads)), block_number(reads));
        threads.global_race(lane, accessed.location, other, None, || {
            let what = accessed.kind.verb();
            let itself = block_number(reads) == threads.number() && thread(reads) == lane.linear;
            let (how, who) = match reads & FLAGS {
                0 => ("read", name(threads, reads)),
                _ if itself => ("read", "other threads".to_owned()),
                _ => ("read", format!("{} and others", name(threads, reads))),
            };
            let where_ = threads.name_global(accessed.address);
            format!("{what} of {where_} has no order with the {how} by {who}")
        });
    }
}

/// The stamp of an access.
#[inline(always)]
pub(super) fn stamp_of(places: &mut Numbers, threads: &Threads, lane: &Lane, accessed: Accessed) -> u64 {
    u64::from(lane.clock()) << CLOCK_SHIFT
        | u64::from(threads.number()) << BLOCK_SHIFT
        | u64::from(lane.linear) << THREAD_SHIFT
        | places.number(accessed.location, PLACE_BITS) << PLACE_SHIFT
}

/// Whether two comparisons show that the access of one thread comes before what `lane` does now.
#[inline(always)]
pub(super) fn is_trivially_before(stamp: u64, threads: &Threads, lane: &Lane) -> bool {
    block_number(stamp) == threads.number() && is_before(lane, thread(stamp), clock(stamp))
}
