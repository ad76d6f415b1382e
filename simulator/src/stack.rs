//! Stacks for fibers: slots of one reserved mapping. From low to high addresses each has a guard page, a reserve, which
//! is opened when a thread has used up the rest, and the part that kernels may use.
//!
//! Two measured facts shape it. The stride between slots is an odd number of pages, because with a power of two the
//! stacks of 1024 fibers fall into a handful of TLB sets; and the top of slot `i` is lowered by `11·i mod 48` cache
//! lines, because otherwise the hot ends of all stacks share a few cache sets. Together they halve the cost of a
//! switch. The factor keeps the frames of neighbours, which run one after the other, from the same places of a page.

use corosensei::stack::{Stack, StackPointer};
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};

/// Page size this file counts in; guard pages are multiples of it on every supported system.
const PAGE: usize = 4096;
/// Bytes a kernel may use: address space, of which only what is touched becomes memory. The library's own kernels,
/// checks and a panic included, touch 8 KiB; a kernel with large local arrays more.
pub(crate) const USABLE: usize = 256 * 1024;
/// Bytes in which a thread that has overflowed its stack is unwound. Every function of the simulator needs less.
const RESERVE: usize = 64 * 1024;
/// Guard page, reserve, usable part: 81 pages.
const STRIDE: usize = PAGE + RESERVE + USABLE;
/// Slots per mapping.
const SLOTS: usize = 1024;
/// Most mappings: 65 536 fibers.
const REGIONS: usize = 64;
/// Stack tops take this many different cache-line offsets.
const COLOURS: usize = 48;
/// From one slot to the next, in cache lines: prime to [`COLOURS`], and longer than the hot end of a stack.
const COLOUR_STEP: usize = 11;
const LINE: usize = 64;

/// Start of each mapping, 0 if there is none: read by the signal handler, so it is no lock.
static BASES: [AtomicUsize; REGIONS] = [const { AtomicUsize::new(0) }; REGIONS];
static FREE: Mutex<Slots> = Mutex::new(Slots { regions: 0, free: Vec::new() });

struct Slots {
    regions: usize,
    free: Vec<usize>,
}

/// One slot, given back when dropped.
pub(crate) struct FiberStack {
    slot: usize,
    /// Both ends, kept because every switch asks for the base.
    base: StackPointer,
    limit: StackPointer,
}

impl FiberStack {
    /// Takes a free slot, mapping more where there is none.
    pub(crate) fn new() -> io::Result<Self> {
        let mut slots = FREE.lock().unwrap_or_else(PoisonError::into_inner);
        if slots.free.is_empty() {
            let region = slots.regions;
            if region * SLOTS >= most() {
                return Err(exhausted());
            }
            BASES[region].store(map()?, Ordering::Release);
            slots.regions += 1;
            slots.free.extend((region * SLOTS..(region + 1) * SLOTS).rev());
        }
        let slot = slots.free.pop().ok_or_else(exhausted)?;
        let start = BASES[slot / SLOTS].load(Ordering::Acquire) + slot % SLOTS * STRIDE;
        let end = |address| StackPointer::new(address).expect("a mapped address is not 0");
        Ok(Self {
            slot,
            base: end(start + STRIDE - slot * COLOUR_STEP % COLOURS * LINE),
            limit: end(start + PAGE + RESERVE),
        })
    }
}

impl FiberStack {
    /// Closes the reserve, which the last lane may have opened. No fiber has the stack.
    pub(crate) fn close_reserve(&self) {
        if let Some(place) = Place::of(self.limit.get()) {
            // SAFETY: no fiber has the stack, so nothing lies in it.
            unsafe { place.close_reserve() };
        }
    }
}

impl Drop for FiberStack {
    fn drop(&mut self) {
        FREE.lock().unwrap_or_else(PoisonError::into_inner).free.push(self.slot);
    }
}

/// The error for one thread too many.
fn exhausted() -> io::Error {
    let text = format!("more than {} simulated threads are blocked at once", most());
    io::Error::new(io::ErrorKind::OutOfMemory, text)
}

/// How many threads can be blocked at once: each needs two of the mappings that the system allows a process.
pub(crate) fn most() -> usize {
    /// Mappings that are left to the rest of the process.
    const OTHERS: usize = 4096;
    static MOST: LazyLock<usize> = LazyLock::new(|| {
        let allowed =
            std::fs::read_to_string("/proc/sys/vm/max_map_count").ok().and_then(|text| text.trim().parse().ok());
        let stacks = |allowed: usize| allowed.saturating_sub(OTHERS) / 2 / SLOTS * SLOTS;
        allowed.map_or(REGIONS * SLOTS, stacks).clamp(SLOTS, REGIONS * SLOTS)
    });
    *MOST
}

/// Reserves one mapping, its guard pages and reserves closed.
fn map() -> io::Result<usize> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: an anonymous mapping at an address of the system's choice touches nothing that exists.
    let base =
        unsafe { libc::mmap(std::ptr::null_mut(), SLOTS * STRIDE, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
    if base == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    for slot in 0..SLOTS {
        // SAFETY: the pages lie in the mapping just made, which is not shared yet.
        if unsafe { libc::mprotect(base.byte_add(slot * STRIDE), PAGE + RESERVE, libc::PROT_NONE) } != 0 {
            // SAFETY: the mapping just made, of which nothing knows yet.
            unsafe { libc::munmap(base, SLOTS * STRIDE) };
            return Err(exhausted());
        }
    }
    Ok(base as usize)
}

/// Where an address lies in the slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Start of the slot.
    slot: usize,
    /// Bytes from there.
    offset: usize,
}

#[cfg_attr(
    not(all(target_os = "linux", target_arch = "x86_64")),
    expect(dead_code, reason = "elsewhere an overflow ends the process")
)]
impl Place {
    /// The place of an address, if it lies in a slot. Safe in a signal handler.
    pub(crate) fn of(address: usize) -> Option<Self> {
        BASES.iter().find_map(|base| {
            let base = base.load(Ordering::Acquire);
            let is_inside = base != 0 && address >= base && address < base + SLOTS * STRIDE;
            is_inside.then(|| {
                let offset = (address - base) % STRIDE;
                Self { slot: address - offset, offset }
            })
        })
    }

    /// Whether it lies in the guard page or in the reserve, that is, whether a fault there is a stack overflow.
    pub(crate) fn is_below_limit(self) -> bool {
        self.offset < PAGE + RESERVE
    }

    /// Whether it lies in the guard page.
    pub(crate) fn is_guard(self) -> bool {
        self.offset < PAGE
    }

    /// Whether both lie in the same slot.
    pub(crate) fn shares_slot(self, other: Self) -> bool {
        self.slot == other.slot
    }

    /// Bytes between this place and the guard page.
    pub(crate) fn room(self) -> usize {
        self.offset.saturating_sub(PAGE)
    }

    /// Opens the slot's reserve. Safe in a signal handler.
    pub(crate) fn open_reserve(self) -> bool {
        let reserve = (self.slot + PAGE) as *mut libc::c_void;
        // SAFETY: pages of a slot, which nothing uses before they are opened.
        unsafe { libc::mprotect(reserve, RESERVE, libc::PROT_READ | libc::PROT_WRITE) == 0 }
    }

    /// Closes the slot's reserve and gives its memory back.
    ///
    /// # Safety
    /// Nothing lies in it any more.
    pub(crate) unsafe fn close_reserve(self) {
        let reserve = (self.slot + PAGE) as *mut libc::c_void;
        // SAFETY: pages of a slot, which nothing uses, as the caller promises.
        unsafe {
            libc::madvise(reserve, RESERVE, libc::MADV_DONTNEED);
            libc::mprotect(reserve, RESERVE, libc::PROT_NONE);
        }
    }
}

// SAFETY: `limit..base` is mapped read-write, belongs to this slot alone until it is dropped, has a guard page below
// it (and before that a closed reserve), and both ends are multiples of 64.
unsafe impl Stack for FiberStack {
    #[inline(always)]
    fn base(&self) -> StackPointer {
        self.base
    }

    #[inline(always)]
    fn limit(&self) -> StackPointer {
        self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_apart_and_guarded() {
        let (a, b) = (FiberStack::new().unwrap(), FiberStack::new().unwrap());
        assert_ne!(a.limit(), b.limit());
        let is_closed = |address| Place::of(address).expect("a place in a slot").is_below_limit();
        let (limit, base) = (a.limit().get(), a.base().get());
        assert!(is_closed(limit - 1) && is_closed(limit - PAGE - RESERVE));
        assert!(!is_closed(limit) && !is_closed(base - 1));
        assert_eq!(a.base().get() % 64, 0);
    }

    #[test]
    fn dropped_slots_are_used_again() {
        let before = FREE.lock().unwrap().regions;
        for _ in 0..10 * SLOTS {
            drop(FiberStack::new().unwrap());
        }
        assert!(FREE.lock().unwrap().regions <= before.max(1) + 1);
    }
}
