//! Memory of a simulated device, shared by views and launches under a lock.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::contract::Region;
use crate::error::{ArgumentRule, BadArgument, Error};

/// One allocation.
///
/// The simulator requires that nothing else accesses memory that a launch may write. Borrows ensure that for whole
/// buffers, but two halves of one buffer may be borrowed separately and used by launches on two threads. Hence the
/// lock: each copy or launch holds it until it is done, for writing if it writes, else for reading.
pub(crate) struct Memory {
    lock: RwLock<simulator::Memory>,
    base: *mut u8,
}

// SAFETY: `base` is the address of the memory inside the lock, and is used only as an address in views, whose accesses
// happen while the launch holds the lock.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    pub(crate) fn new(device: &str, bytes: usize, element: usize) -> Result<Self, Error> {
        let memory = simulator::Memory::new(bytes, element).map_err(|error| Error::OutOfMemory {
            device: device.to_owned(),
            bytes,
            available: error.to_string(),
        })?;
        Ok(Self { base: memory.as_ptr(), lock: RwLock::new(memory) })
    }

    /// Address of the first byte.
    pub(crate) fn base(&self) -> *mut u8 {
        self.base
    }

    /// The memory, shared with other readers.
    pub(super) fn read_guard(&self) -> RwLockReadGuard<'_, simulator::Memory> {
        // A panic cannot leave the bytes behind the lock in an invalid state.
        self.lock.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The memory, exclusively for this thread.
    pub(super) fn write_guard(&self) -> RwLockWriteGuard<'_, simulator::Memory> {
        self.lock.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes `data` to the rows of `region`.
    pub(crate) fn write(&self, region: &Region, data: &[u8]) {
        let memory = self.write_guard();
        for (start, row) in region.starts().zip(data.chunks_exact(region.row.max(1))) {
            // SAFETY: the write guard excludes launches and other threads.
            unsafe { memory.write(start, row) };
        }
    }

    /// Reads the rows of `region` into `out`.
    ///
    /// # Errors
    /// Some of the bytes have never been written: the kernel was to write them, and no thread did.
    pub(crate) fn read(&self, region: &Region, out: &mut [u8]) -> Result<(), Error> {
        let memory = self.read_guard();
        check_written(&memory, region)?;
        for (start, row) in region.starts().zip(out.chunks_exact_mut(region.row.max(1))) {
            // SAFETY: the read guard excludes launches that write and other writers.
            unsafe { memory.read(start, row) };
        }
        Ok(())
    }

    /// The rows of `region` count as written, with what they hold.
    pub(crate) fn assume_init(&self, region: &Region) {
        let memory = self.write_guard();
        for start in region.starts() {
            // SAFETY: the write guard excludes launches and other threads.
            unsafe { memory.assume_init(start, region.row) };
        }
    }

    /// Sets the rows of `region` to zero.
    pub(crate) fn zero(&self, region: &Region) {
        let memory = self.write_guard();
        for start in region.starts() {
            // SAFETY: the write guard excludes launches and other threads.
            unsafe { memory.fill(start, region.row, 0) };
        }
    }

    /// Copies the rows of `from` in `source` to the rows of `to`; the regions have the same rows.
    pub(crate) fn copy(&self, to: &Region, source: &Self, from: &Region) {
        let rows = to.starts().zip(from.starts());
        if std::ptr::eq(self, source) {
            let memory = self.write_guard();
            for (to, start) in rows {
                // SAFETY: the write guard excludes launches and other threads.
                unsafe { memory.copy_from(to, &memory, start, from.row) };
            }
            return;
        }
        // Copies and launches take locks in the order of the addresses, so that no two threads deadlock.
        let (target, source) = if std::ptr::from_ref(self) < std::ptr::from_ref(source) {
            let target = self.write_guard();
            (target, source.read_guard())
        } else {
            let source = source.read_guard();
            (self.write_guard(), source)
        };
        for (to, start) in rows {
            // SAFETY: the guards exclude launches and other writers on both sides.
            unsafe { target.copy_from(to, &source, start, from.row) };
        }
    }
}

/// Refuses rows with elements that nothing has written, and says which these are.
fn check_written(memory: &simulator::Memory, region: &Region) -> Result<(), Error> {
    let (mut first, mut bytes) = (None, 0);
    for (row, start) in region.starts().enumerate() {
        // SAFETY: the caller's guard excludes launches that write and other writers.
        for range in unsafe { memory.unwritten(start, region.row) } {
            let from = row * region.row + range.start - start;
            first.get_or_insert(from..from + range.len());
            bytes += range.len();
        }
    }
    let (Some(first), element) = (first, memory.element()) else { return Ok(()) };
    let (from, to) = (first.start / element, (first.end - 1) / element);
    let place = if from == to { format!("element {from}") } else { format!("elements {from} to {to}") };
    Err(BadArgument::new(ArgumentRule::Unwritten, "download", "elements")
        .expected("elements that a kernel or the host has written")
        .found(format_args!(
            "{} of {} that nothing has written, first {place}",
            bytes.div_ceil(element),
            region.len() / element
        ))
        .remedy(
            "let the launch have a thread for each element, download the part that is written, or call `zero` or \
             `assume_init` before the launch",
        )
        .into())
}
