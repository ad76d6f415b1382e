//! Simulated device memory: bytes at a 256-byte boundary, and marks for those that were ever written.

use std::alloc::{Layout, alloc, dealloc};
use std::cell::UnsafeCell;
use std::ops::Range;
use std::ptr::NonNull;

/// Alignment of every allocation, as `cudaMalloc` gives it: sectors are counted from real addresses.
const ALIGN: usize = 256;
/// Content of memory that nothing has written.
const POISON: u8 = 0xa5;

/// The host could not give the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllocError {
    /// Bytes asked for.
    pub bytes: usize,
}

impl std::fmt::Display for AllocError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the host has no {} bytes for simulated device memory", self.bytes)
    }
}

impl std::error::Error for AllocError {}

/// One allocation of simulated device memory.
///
/// Launches share it; while a launch may write it, nothing else may access it (that is up to the callers of
/// [`crate::launch`] and of the `unsafe` methods here).
pub struct Memory {
    base: NonNull<u8>,
    bytes: usize,
    /// Bytes of an element.
    element: usize,
    /// log2 of the bytes that share one mark: the element size, at most 8.
    shift: u32,
    written: UnsafeCell<Marks>,
}

/// Which granules were written: all, or those whose bit is set.
struct Marks {
    all: bool,
    bits: Vec<u64>,
}

// SAFETY: the bytes are raw memory; the unsafe methods and `launch` state who may touch them when.
unsafe impl Send for Memory {}
// SAFETY: as above; the safe methods read only what never changes.
unsafe impl Sync for Memory {}

impl Memory {
    /// Allocates `bytes` bytes for elements of `element` bytes (1, 2, 4, 8 or 16). Nothing counts as written.
    ///
    /// # Errors
    /// When the host has no such amount of memory.
    pub fn new(bytes: usize, element: usize) -> Result<Self, AllocError> {
        let shift = element.clamp(1, 8).ilog2();
        let base = if bytes == 0 {
            NonNull::<u8>::dangling()
        } else {
            let layout = Layout::from_size_align(bytes, ALIGN).map_err(|_| AllocError { bytes })?;
            // SAFETY: the layout's size is not 0.
            let base = NonNull::new(unsafe { alloc(layout) }).ok_or(AllocError { bytes })?;
            // SAFETY: `base` points to `bytes` fresh bytes.
            unsafe { base.write_bytes(POISON, bytes) };
            base
        };
        let marks = Marks { all: bytes == 0, bits: Vec::new() };
        Ok(Self { base, bytes, element: element.max(1), shift, written: UnsafeCell::new(marks) })
    }

    /// Size in bytes.
    pub fn len(&self) -> usize {
        self.bytes
    }

    /// Whether the size is 0.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// Address of the first byte, a multiple of 256 (dangling if empty).
    pub fn as_ptr(&self) -> *mut u8 {
        self.base.as_ptr()
    }

    /// Copies `data` to the bytes from `offset` on.
    ///
    /// # Panics
    /// If the range does not lie in the memory.
    /// # Safety
    /// No launch is under way that uses this memory, and no other thread touches it.
    pub unsafe fn write(&self, offset: usize, data: &[u8]) {
        self.range(offset, data.len());
        // SAFETY: the range lies in the allocation and is accessed by nothing else now.
        unsafe { self.as_ptr().add(offset).copy_from_nonoverlapping(data.as_ptr(), data.len()) };
        // SAFETY: as the caller promises.
        unsafe { self.mark(offset, data.len()) };
    }

    /// Sets `len` bytes from `offset` on to `value`.
    ///
    /// # Panics
    /// If the range does not lie in the memory.
    /// # Safety
    /// As [`Memory::write`].
    pub unsafe fn fill(&self, offset: usize, len: usize, value: u8) {
        self.range(offset, len);
        // SAFETY: the range lies in the allocation and is accessed by nothing else now.
        unsafe { self.as_ptr().add(offset).write_bytes(value, len) };
        // SAFETY: as the caller promises.
        unsafe { self.mark(offset, len) };
    }

    /// The `len` bytes from `offset` on count as written, with what they hold: for memory whose content does not
    /// matter.
    ///
    /// # Panics
    /// If the range does not lie in the memory.
    /// # Safety
    /// As [`Memory::write`].
    pub unsafe fn assume_init(&self, offset: usize, len: usize) {
        self.range(offset, len);
        // SAFETY: as the caller promises.
        unsafe { self.mark(offset, len) };
    }

    /// Copies the bytes from `offset` on to `out`.
    ///
    /// # Panics
    /// If the range does not lie in the memory.
    /// # Safety
    /// No launch is under way that writes this memory, and no other thread writes it.
    pub unsafe fn read(&self, offset: usize, out: &mut [u8]) {
        self.range(offset, out.len());
        // SAFETY: the range lies in the allocation and nobody writes it now.
        unsafe { out.as_mut_ptr().copy_from_nonoverlapping(self.as_ptr().add(offset), out.len()) };
    }

    /// Copies `len` bytes of `source` to this memory. Those that nothing has written there count as unwritten here,
    /// too.
    ///
    /// # Panics
    /// If a range does not lie in its memory.
    /// # Safety
    /// As [`Memory::write`] for this memory and [`Memory::read`] for `source`.
    pub unsafe fn copy_from(&self, offset: usize, source: &Self, source_offset: usize, len: usize) {
        self.range(offset, len);
        source.range(source_offset, len);
        // SAFETY: both ranges lie in their allocations; `copy` allows them to overlap.
        unsafe { self.as_ptr().add(offset).copy_from(source.as_ptr().add(source_offset), len) };
        // SAFETY: as the caller promises.
        unsafe {
            self.mark(offset, len);
            for range in source.unwritten(source_offset, len) {
                let start = range.start - source_offset + offset;
                self.unmark(start..start + range.len());
            }
        }
    }

    /// The bytes of the range that were never written, as ranges in ascending order.
    ///
    /// # Panics
    /// If the range does not lie in the memory.
    /// # Safety
    /// As [`Memory::read`].
    pub unsafe fn unwritten(&self, offset: usize, len: usize) -> Vec<Range<usize>> {
        self.range(offset, len);
        // SAFETY: nobody writes the marks now.
        let marks = unsafe { &*self.written.get() };
        let mut ranges: Vec<Range<usize>> = Vec::new();
        if marks.all || len == 0 {
            return ranges;
        }
        for granule in offset >> self.shift..=(offset + len - 1) >> self.shift {
            if marks.get(granule) {
                continue;
            }
            let start = (granule << self.shift).max(offset);
            let end = ((granule + 1) << self.shift).min(offset + len);
            match ranges.last_mut() {
                Some(last) if last.end == start => last.end = end,
                _ => ranges.push(start..end),
            }
        }
        ranges
    }

    /// First byte of the range that was never written, if any.
    ///
    /// # Panics
    /// If the range does not lie in the memory.
    /// # Safety
    /// As [`Memory::read`].
    pub unsafe fn first_unwritten(&self, offset: usize, len: usize) -> Option<usize> {
        self.range(offset, len);
        // SAFETY: nobody writes the marks now.
        let marks = unsafe { &*self.written.get() };
        if marks.all {
            return None;
        }
        (offset..offset + len).find(|&byte| !marks.get(byte >> self.shift))
    }

    fn range(&self, offset: usize, len: usize) {
        let fits = offset.checked_add(len).is_some_and(|end| end <= self.bytes);
        assert!(fits, "bytes {offset}..{offset}+{len} do not lie in simulated memory of {} bytes", self.bytes);
    }

    /// Marks a range as written.
    ///
    /// # Safety
    /// Nothing else accesses the marks now.
    pub(crate) unsafe fn mark(&self, offset: usize, len: usize) {
        // SAFETY: as the caller promises.
        let marks = unsafe { &mut *self.written.get() };
        if marks.all || len == 0 {
            return;
        }
        if offset == 0 && len == self.bytes {
            *marks = Marks { all: true, bits: Vec::new() };
            return;
        }
        if marks.bits.is_empty() {
            marks.bits = vec![0; (self.bytes >> self.shift) / 64 + 1];
        }
        for granule in offset >> self.shift..=(offset + len - 1) >> self.shift {
            marks.bits[granule / 64] |= 1 << (granule % 64);
        }
    }

    /// Marks a range as unwritten, but for granules that it does not contain whole.
    ///
    /// # Safety
    /// Nothing else accesses the marks now.
    unsafe fn unmark(&self, range: Range<usize>) {
        // SAFETY: as the caller promises.
        let marks = unsafe { &mut *self.written.get() };
        if marks.all {
            *marks = Marks { all: false, bits: vec![u64::MAX; (self.bytes >> self.shift) / 64 + 1] };
        }
        for granule in range.start.div_ceil(1 << self.shift)..range.end >> self.shift {
            if let Some(word) = marks.bits.get_mut(granule / 64) {
                *word &= !(1 << (granule % 64));
            }
        }
    }

    /// Whether the granule of byte `offset` was written.
    ///
    /// # Safety
    /// Nobody else writes the marks now; `offset` lies in the memory.
    #[inline]
    pub(crate) unsafe fn is_marked(&self, offset: usize) -> bool {
        // SAFETY: as the caller promises.
        let marks = unsafe { &*self.written.get() };
        marks.all || marks.get(offset >> self.shift)
    }

    /// Bytes of an element that the memory was allocated for.
    pub fn element(&self) -> usize {
        self.element
    }

    /// log2 of the bytes per mark.
    pub(crate) fn shift(&self) -> u32 {
        self.shift
    }
}

impl Marks {
    fn get(&self, granule: usize) -> bool {
        self.bits.get(granule / 64).is_some_and(|word| word >> (granule % 64) & 1 != 0)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.bytes != 0 {
            let layout = Layout::from_size_align(self.bytes, ALIGN).expect("the layout it was allocated with");
            // SAFETY: allocated in `new` with this layout, freed once.
            unsafe { dealloc(self.base.as_ptr(), layout) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_follow_writes() {
        let memory = Memory::new(64, 4).unwrap();
        assert_eq!(memory.as_ptr() as usize % 256, 0);
        // SAFETY: this thread alone holds the memory.
        unsafe {
            assert_eq!(memory.first_unwritten(0, 64), Some(0));
            memory.write(4, &[1; 8]);
            assert_eq!(memory.first_unwritten(4, 8), None);
            assert_eq!(memory.first_unwritten(4, 60), Some(12));
            memory.fill(0, 64, 7);
            assert_eq!(memory.first_unwritten(0, 64), None);
            let mut out = [0; 64];
            memory.read(0, &mut out);
            assert_eq!(out, [7; 64]);
        }
    }

    #[test]
    fn copies_of_unwritten_bytes_are_unwritten() {
        let (source, target) = (Memory::new(64, 4).unwrap(), Memory::new(64, 4).unwrap());
        // SAFETY: this thread alone holds the memories.
        unsafe {
            target.fill(0, 64, 7);
            source.write(8, &[1; 12]);
            assert_eq!(source.unwritten(0, 64), [0..8, 20..64]);
            assert_eq!(source.unwritten(6, 18), [6..8, 20..24]);
            target.copy_from(32, &source, 0, 32);
            assert_eq!(target.unwritten(0, 64), [32..40, 52..64]);
            target.copy_from(32, &source, 8, 8);
            assert_eq!(target.first_unwritten(0, 64), Some(52));
            target.assume_init(0, 64);
            assert_eq!((target.unwritten(0, 64), target.unwritten(64, 0)), (vec![], vec![]));
        }
    }

    #[test]
    fn empty_memory_is_all_written() {
        let memory = Memory::new(0, 4).unwrap();
        // SAFETY: this thread alone holds the memory.
        assert_eq!(unsafe { memory.first_unwritten(0, 0) }, None);
    }

    #[test]
    #[should_panic(expected = "do not lie in simulated memory")]
    fn ranges_are_checked() {
        let memory = Memory::new(8, 1).unwrap();
        // SAFETY: this thread alone holds the memory.
        unsafe { memory.write(4, &[0; 5]) };
    }
}
