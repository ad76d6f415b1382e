//! One access, as shadow memory checks it.

use crate::lane::Lane;
use crate::report::Kind;
use crate::threads::Threads;
use std::panic::Location;

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccessKind {
    Read,
    Write,
    /// Atomic load: in order with other atomics, not with plain writes.
    AtomicRead,
    /// Atomic store.
    AtomicWrite,
    /// Atomic read-modify-write.
    AtomicUpdate,
    /// The write of a `cp.async`, when it is issued.
    AsyncWrite,
    /// The write of a TMA load, when it is issued.
    BulkWrite,
    /// The read of a TMA store or of a matrix product, when it is issued.
    BulkRead,
}

impl AccessKind {
    pub(crate) fn writes(self) -> bool {
        matches!(self, Self::Write | Self::AtomicWrite | Self::AtomicUpdate | Self::AsyncWrite | Self::BulkWrite)
    }

    pub(super) fn is_atomic(self) -> bool {
        matches!(self, Self::AtomicRead | Self::AtomicWrite | Self::AtomicUpdate)
    }

    /// Whether it is an access by the async proxy.
    pub(super) fn is_bulk(self) -> bool {
        matches!(self, Self::BulkWrite | Self::BulkRead)
    }

    pub(super) fn verb(self) -> &'static str {
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
    pub(crate) kind: AccessKind,
    pub(crate) location: &'static Location<'static>,
}

impl Accessed {
    /// Whether the address is a multiple of the size.
    #[inline(always)]
    pub(crate) fn is_aligned(self) -> bool {
        self.address & (self.size - 1) == 0
    }

    /// Reports a misaligned access. The access is carried out where possible, so that later reports are of other
    /// faults.
    ///
    /// By value and not inlined: a reference makes the callers copy each access, which costs a checked kernel 10 %.
    #[cold]
    #[inline(never)]
    pub(crate) fn report_misaligned(self, threads: &Threads, lane: &Lane) {
        threads.fault(lane, Kind::Misaligned, self.location, None, || {
            let Self { address, size, .. } = self;
            let what = if self.kind.writes() { "write" } else { "read" };
            let name = threads.name_address(address);
            format!("{what} of {size} bytes at {name}, {} bytes past a multiple of {size}", address & (size - 1))
        });
    }
}
