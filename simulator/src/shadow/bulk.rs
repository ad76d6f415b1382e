//! Asynchronous reads of shared memory that are under way, and the boxes that its content came from.

use std::ops::Range;
use std::panic::Location;

/// Asynchronous reads under way, and where in a box each 16 bytes came from.
#[derive(Default)]
pub(super) struct Bulk {
    /// Whether there is anything here.
    pub(super) used: bool,
    pub(super) readings: Vec<Reading>,
    pub(super) tokens: u64,
    /// Per 16 bytes: the vector of a box that a load wrote there, 0 where there is none or something was written since.
    pub(super) vectors: Vec<u64>,
    /// Where reads that have ended were issued.
    sites: Vec<&'static Location<'static>>,
}

/// A read under way.
pub(super) struct Reading {
    pub(super) token: u64,
    pub(super) range: Range<usize>,
    pub(super) thread: u16,
    pub(super) site: &'static Location<'static>,
}

pub(super) const VECTOR_USED: u64 = 1 << 63;

impl Bulk {
    /// Whether writes must be checked against it.
    #[inline(always)]
    pub(super) fn is_used(&self) -> bool {
        self.used
    }

    pub(super) fn reset(&mut self) {
        self.used = false;
        self.readings.clear();
        self.vectors.clear();
        self.sites.clear();
    }

    /// Removes a read that has ended.
    pub(super) fn end(&mut self, token: u64) -> Option<Reading> {
        let at = self.readings.iter().position(|reading| reading.token == token)?;
        let reading = self.readings.swap_remove(at);
        if !self.is_reading_at(reading.site) {
            self.sites.push(reading.site);
        }
        Some(reading)
    }

    /// Whether asynchronous reads were issued there.
    pub(super) fn is_reading_at(&self, site: &'static Location<'static>) -> bool {
        self.sites.iter().any(|&other| std::ptr::eq(other, site))
    }
}
