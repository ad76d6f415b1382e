//! The source of a `cp.async`, which nothing may overwrite before the copy has been waited for.

use super::global::{Buffer, GlobalShadow};
use super::global_stamp::{clock, name, place};
use crate::async_queues::Source;
use crate::lane::Lane;
use crate::report::Kind;
use crate::threads::Threads;
use std::panic::Location;

/// The last writes of up to 16 bytes, in four parts. Two writes of one element at one place by one thread, without a
/// point of order between, are not told apart.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct SourceWrites {
    shift: u32,
    parts: [u64; 4],
}

impl GlobalShadow {
    /// The last writes of what a copy reads; none if the launch cannot write it.
    pub(crate) fn source_writes(&self, tag: u32, address: usize, size: usize) -> Option<SourceWrites> {
        let buffer = self.buffer(tag).filter(|buffer| buffer.writable)?;
        let mut parts = [0_u64; 4];
        for (part, write) in buffer.cells_of(address, size) {
            parts[part] = parts[part].wrapping_add(write);
        }
        Some(SourceWrites { shift: buffer.shift, parts })
    }

    /// Reports that the source of a copy was overwritten before its wait, if so.
    pub(crate) fn check_source(
        &self,
        threads: &Threads,
        lane: &Lane,
        source: Source,
        size: usize,
        site: &'static Location<'static>,
    ) {
        let now = self.source_writes(source.tag, source.address, size);
        let Some((buffer, now)) = self.buffer(source.tag).zip(now) else { return };
        if now == source.writes || now.shift != source.writes.shift {
            return;
        }
        let changed = |&(part, _): &(usize, u64)| now.parts[part] != source.writes.parts[part];
        let latest = buffer.cells_of(source.address, size).filter(changed).max_by_key(|&(_, write)| clock(write));
        let Some((_, write)) = latest else { return };
        let at = self.location(place(write));
        threads.fault(lane, Kind::AsyncNotWaited, at, Some(site), || {
            let (what, who) = (threads.name_global(source.address), name(threads, write));
            format!("write by {who} of {what} while the copy from there that this thread issued is under way")
        });
    }
}

impl Buffer {
    /// The last write of each element of a range, with the part of [`SourceWrites`] that it belongs to.
    fn cells_of(&self, address: usize, size: usize) -> impl Iterator<Item = (usize, u64)> {
        let first = (address - self.base) >> self.shift;
        let count = size >> self.shift;
        let writes = self.writes.get(first..first + count).unwrap_or(&[]);
        writes.iter().enumerate().map(move |(i, &write)| (i * 4 / count, write))
    }
}
