//! Reads and writes of memory.
//!
//! Global memory is read and written by relaxed atomics, so that two blocks on two cores that race give a wrong value
//! and never undefined behaviour; measured, it costs nothing. Shared memory belongs to one OS thread and needs none.

use super::{Place, Plain};
use crate::block::Block;
use crate::counters::{Access, Counted, What, trace};
use crate::lane::{COUNTERS, OVERFLOWED, current, is_watched, suspend};
use crate::overflow::{enter, enter_at};
use crate::report::Kind;
use crate::shadow::quick::{self, Read};
use crate::shadow::{AccessKind, Accessed};
use std::fmt;
use std::mem::MaybeUninit;
use std::panic::Location;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::Relaxed};

/// Start and length in bytes of the block's shared memory.
#[inline(always)]
pub fn shared_memory() -> (*mut u8, usize) {
    let lane = current();
    let geometry = lane.geometry();
    (geometry.shared, geometry.shared_len)
}

/// Writes the name that the kernel has for the byte at an offset of its shared memory, such as `a[3][4]`, or the number
/// of its element.
pub type SharedNames = fn(usize, &mut dyn fmt::Write) -> fmt::Result;

/// Reports of this launch name places of shared memory by `names`. Without checks they name bytes.
#[inline(always)]
pub fn name_shared_memory(names: SharedNames) {
    // A kernel with shared memory begins here, so that all of its accesses have this answer.
    if is_watched() {
        Block::of_watched(&current()).state.threads.shared_names.set(Some(names));
    }
}

/// Reads a value of shared memory.
///
/// # Safety
/// The value lies in the block's shared memory.
#[inline(always)]
#[track_caller]
pub unsafe fn read_shared<T: Plain>(ptr: *const T) -> T {
    if is_watched() {
        if size_of::<T>() == 4 {
            // SAFETY: as the caller promises.
            match unsafe { quick::check(ptr as usize) } {
                Read::Done => {}
                Read::Noted => {
                    let what = What::new(Access::SharedLoad, 4);
                    let counted = Counted { location: Location::caller(), what, address: ptr as usize };
                    if quick::is_sample() || !trace::write(counted) {
                        note_shared_read(ptr.cast(), Location::caller());
                    }
                }
                Read::Unchecked => shared_read_word(ptr.cast(), Location::caller()),
            }
        } else {
            shared_read(ptr.cast(), size_of::<T>(), Location::caller());
        }
    }
    // SAFETY: as the caller promises; any bytes are a valid `T`, and only this OS thread touches shared memory.
    unsafe { ptr.read_unaligned() }
}

/// Writes a value of shared memory.
///
/// # Safety
/// The place lies in the block's shared memory.
#[inline(always)]
#[track_caller]
pub unsafe fn write_shared<T: Plain>(ptr: *mut T, value: T) {
    if is_watched() {
        if size_of::<T>() == 4 {
            shared_write_word(ptr.cast(), Location::caller());
        } else {
            shared_write(ptr.cast(), size_of::<T>(), Location::caller());
        }
    }
    // SAFETY: as in `read_shared`.
    unsafe { ptr.write_unaligned(value) };
}

/// Reads a value of global memory.
///
/// # Safety
/// The value lies in the memory bound as `tag`.
#[inline(always)]
#[track_caller]
pub unsafe fn read_global<T: Plain>(ptr: *const T, tag: u32) -> T {
    if is_watched() {
        global_read(ptr.cast(), size_of::<T>(), tag, Location::caller());
    }
    // SAFETY: as the caller promises.
    unsafe { load(ptr) }
}

/// Writes a value of global memory.
///
/// # Safety
/// The place lies in the memory bound as `tag`, which the launch may write.
#[inline(always)]
#[track_caller]
pub unsafe fn write_global<T: Plain>(ptr: *mut T, tag: u32, value: T) {
    if is_watched() {
        global_write(ptr.cast(), size_of::<T>(), tag, Location::caller());
    }
    // SAFETY: as the caller promises.
    unsafe { store(ptr, value) };
}

/// Reads a value without a bounds check by the caller: an invalid address is reported and reads as zero bytes.
#[expect(clippy::not_unsafe_ptr_arg_deref, reason = "dereferenced only where it points into the launch's own memory")]
#[inline]
#[track_caller]
pub fn read_unchecked<T: Plain>(place: Place, ptr: *const T) -> T {
    if !is_inside(place, ptr as usize, size_of::<T>(), false, Location::caller()) {
        // SAFETY: any bytes are a valid `T`.
        return unsafe { MaybeUninit::zeroed().assume_init() };
    }
    match place {
        // SAFETY: inside, as just checked.
        Place::Shared => unsafe { read_shared(ptr) },
        Place::Global { tag } if !ptr.is_aligned() => {
            if is_watched() {
                global_read(ptr.cast(), size_of::<T>(), tag, Location::caller());
            }
            let mut value = MaybeUninit::<T>::uninit();
            // SAFETY: inside, as just checked; `value` has room, and any bytes are a valid `T`.
            unsafe {
                bytes_in(ptr.cast_mut().cast(), value.as_mut_ptr().cast(), size_of::<T>());
                value.assume_init()
            }
        }
        // SAFETY: inside, as just checked, and aligned.
        Place::Global { tag } => unsafe { read_global(ptr, tag) },
    }
}

/// Writes a value without a bounds check by the caller: an invalid address is reported and nothing is written.
#[expect(clippy::not_unsafe_ptr_arg_deref, reason = "dereferenced only where it points into the launch's own memory")]
#[inline]
#[track_caller]
pub fn write_unchecked<T: Plain>(place: Place, ptr: *mut T, value: T) {
    if !is_inside(place, ptr as usize, size_of::<T>(), true, Location::caller()) {
        return;
    }
    match place {
        // SAFETY: inside, as just checked.
        Place::Shared => unsafe { write_shared(ptr, value) },
        Place::Global { tag } if !ptr.is_aligned() => {
            if is_watched() {
                global_write(ptr.cast(), size_of::<T>(), tag, Location::caller());
            }
            // SAFETY: inside and writable, as just checked.
            unsafe { bytes_out((&raw const value).cast(), ptr.cast(), size_of::<T>()) };
        }
        // SAFETY: inside and writable, as just checked, and aligned.
        Place::Global { tag } => unsafe { write_global(ptr, tag, value) },
    }
}

/// Reports an index outside a view (`index` and `extent` have the view's dimensions). The caller drops the access and
/// goes on with a default value.
#[cold]
#[inline(never)]
#[track_caller]
pub fn out_of_bounds(place: Place, write: bool, index: &[u64], extent: &[u64]) {
    let (lane, location) = (enter(), Location::caller());
    let state = &Block::of(&lane).state;
    let threads = &state.threads;
    threads.fault(&lane, Kind::OutOfBounds, location, None, || {
        let what = if write { "write" } else { "read" };
        let name = match place {
            Place::Shared => "a shared array".to_owned(),
            Place::Global { tag } => threads
                .bindings()
                .get(tag as usize)
                .map_or("a view".to_owned(), |binding| format!("`{}`", binding.name)),
        };
        format!("{what} at index {} of {name}, whose extent is {}", tuple(index), tuple(extent))
    });
    // The thread may read this again and again, until the value changes that it does not have.
    if state.poll(&lane, location, None) {
        suspend(&lane);
    }
}

fn tuple(numbers: &[u64]) -> String {
    match numbers {
        [one] => one.to_string(),
        many => format!("({})", many.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")),
    }
}

/// Whether the address lies in its memory; reports it if not.
pub(super) fn is_inside(
    place: Place,
    address: usize,
    size: usize,
    write: bool,
    location: &'static Location<'static>,
) -> bool {
    let lane = enter_at(location);
    let threads = &Block::of(&lane).state.threads;
    let (name, start, len) = match place {
        Place::Shared => ("shared memory", lane.geometry().shared as usize, lane.geometry().shared_len),
        Place::Global { tag } => match threads.bindings().get(tag as usize) {
            Some(binding) => (
                binding.name,
                binding.memory.as_ptr() as usize,
                if write && !binding.writable { 0 } else { binding.memory.len() },
            ),
            None => ("an unknown buffer", 0, 0),
        },
    };
    let inside = address.checked_sub(start).and_then(|offset| offset.checked_add(size)).is_some_and(|end| end <= len);
    if !inside {
        threads.fault(&lane, Kind::OutOfBounds, location, None, || {
            let what = if write { "write" } else { "read" };
            let offset = address.wrapping_sub(start) as isize;
            format!("unchecked {what} of {size} bytes at byte {offset} of `{name}`, which has {len} bytes")
        });
    }
    inside
}

// Marked `cold` although a checked launch calls nothing more often: the compiler then keeps the kernel's values in
// registers past the test, and saves them only around the call. They take the pointer and not its address, so that a
// loop need not keep both. Each hook for shared memory first tries the most frequent kinds of access in a function
// without a stack frame, whose calls are its last instructions, and leaves the rest to a second one; for words it is
// compiled once more. A lane that has overflowed its stack is unwound before anything that needs more of it.
macro_rules! shared_hook {
    ($name:ident, $quickly:ident, $closely:ident, $count:ident, $kind:ident, $access:ident) => {
        #[cold]
        #[inline(never)]
        fn $name(ptr: *const u8, size: usize, location: &'static Location<'static>) {
            $quickly(ptr as usize, size, location);
        }

        #[inline(always)]
        fn $quickly(address: usize, size: usize, location: &'static Location<'static>) {
            let lane = current();
            let state = &Block::of_watched(&lane).state;
            let accessed = Accessed { address, size, kind: AccessKind::$kind, location };
            let is_sample = AccessKind::$kind == AccessKind::Read && state.is_sample_due();
            if is_sample || !state.check_shared_fast(&lane, accessed) {
                $closely(address, size, location);
            } else if lane.attention() & (COUNTERS | OVERFLOWED) != 0 {
                let is_counted = lane.attention() & OVERFLOWED == 0
                    && trace::write(Counted { location, what: What::new(Access::$access, size), address });
                if !is_counted {
                    $count(address, size, location);
                }
            }
        }

        #[inline(never)]
        fn $closely(address: usize, size: usize, location: &'static Location<'static>) {
            let lane = enter_at(location);
            let state = &Block::of_watched(&lane).state;
            let accessed = Accessed { address, size, kind: AccessKind::$kind, location };
            if AccessKind::$kind == AccessKind::Read && state.is_sample_due() {
                take_sample(address, location);
            }
            if !state.check_shared_simply(&lane, accessed) {
                if !accessed.is_aligned() {
                    accessed.report_misaligned(&state.threads, &lane);
                }
                state.check_shared(&lane, accessed);
            }
            if lane.watch.get() & COUNTERS != 0 {
                $count(address, size, location);
            }
        }

        /// Counts the access, if accesses are counted.
        #[inline(never)]
        fn $count(address: usize, size: usize, location: &'static Location<'static>) {
            let lane = enter_at(location);
            if lane.watch.get() & COUNTERS != 0 {
                Block::of(&lane).state.count(&lane, location, What::new(Access::$access, size), address);
            }
        }
    };
}
shared_hook!(shared_read, shared_read_quickly, shared_read_closely, count_shared_read, Read, SharedLoad);
shared_hook!(shared_write, shared_write_quickly, shared_write_closely, count_shared_write, Write, SharedStore);

/// A read of a word that is one of the first since the last barrier, or else needs a closer look.
#[cold]
#[inline(never)]
fn shared_read_word(ptr: *const u8, location: &'static Location<'static>) {
    let (lane, address) = (current(), ptr as usize);
    let state = &Block::of_watched(&lane).state;
    let attention = lane.attention() & (COUNTERS | OVERFLOWED);
    if attention & OVERFLOWED != 0 || state.is_sample_due() || !state.check_shared_word(&lane, address, location) {
        shared_read_closely(address, 4, location);
    } else if attention != 0 {
        count_shared_read(address, 4, location);
    }
}

/// A read of a word that is checked, and is a sample, or is counted and not what is expected.
#[cold]
#[inline(never)]
fn note_shared_read(ptr: *const u8, location: &'static Location<'static>) {
    let address = ptr as usize;
    if quick::is_sample() {
        take_sample(address, location);
        shared_read_closely(address, 4, location);
    } else {
        count_shared_read(address, 4, location);
    }
}

/// [`shared_write`] of a word.
#[cold]
#[inline(never)]
fn shared_write_word(ptr: *const u8, location: &'static Location<'static>) {
    shared_write_quickly(ptr as usize, 4, location);
}

/// Lets others run if this lane only reads the same again and again: it may wait for them.
#[cold]
#[inline(never)]
fn take_sample(address: usize, location: &'static Location<'static>) {
    let lane = enter_at(location);
    if Block::of(&lane).state.poll_plainly(&lane, location, address) {
        suspend(&lane);
    }
}

/// A read of global memory, most often of an input.
#[cold]
#[inline(never)]
fn global_read(ptr: *const u8, size: usize, tag: u32, location: &'static Location<'static>) {
    let lane = current();
    let state = &Block::of_watched(&lane).state;
    let accessed = Accessed { address: ptr as usize, size, kind: AccessKind::Read, location };
    if state.is_sample_due() || !accessed.is_aligned() || !state.check_input(&lane, tag, accessed) {
        global_read_closely(ptr, size, tag, location);
    }
}

macro_rules! global_hook {
    ($name:ident, $kind:ident, $access:ident) => {
        #[cold]
        #[inline(never)]
        fn $name(ptr: *const u8, size: usize, tag: u32, location: &'static Location<'static>) {
            let (lane, address) = (current(), ptr as usize);
            let accessed = Accessed { address, size, kind: AccessKind::$kind, location };
            if AccessKind::$kind == AccessKind::Read && Block::of(&lane).state.is_sample_due() {
                take_sample(address, location);
            }
            if !accessed.is_aligned() {
                report_misaligned(accessed);
            }
            Block::of(&lane).state.check_global(&lane, tag, accessed, Access::$access);
        }
    };
}
global_hook!(global_read_closely, Read, GlobalLoad);
global_hook!(global_write, Write, GlobalStore);

#[cold]
#[inline(never)]
fn report_misaligned(accessed: Accessed) {
    let lane = enter_at(accessed.location);
    accessed.report_misaligned(&Block::of(&lane).state.threads, &lane);
}

/// A relaxed atomic load, in units of at most 8 bytes.
///
/// # Safety
/// The value lies in memory that others access at most by relaxed atomics now.
#[inline(always)]
unsafe fn load<T: Plain>(ptr: *const T) -> T {
    let (mut value, from) = (MaybeUninit::<T>::uninit(), ptr.cast_mut());
    let to = value.as_mut_ptr();
    // SAFETY: every unit lies in the value, and is aligned: up to 4 bytes by the views' own invariant, the wider ones
    // as tested. The units fill `value`, of which any bytes are valid.
    unsafe {
        match size_of::<T>() {
            1 => to.cast::<u8>().write(AtomicU8::from_ptr(from.cast()).load(Relaxed)),
            2 => to.cast::<u16>().write_unaligned(AtomicU16::from_ptr(from.cast()).load(Relaxed)),
            4 => to.cast::<u32>().write_unaligned(AtomicU32::from_ptr(from.cast()).load(Relaxed)),
            _ if !from.cast::<u64>().is_aligned() => bytes_in(from.cast(), to.cast(), size_of::<T>()),
            size => {
                for unit in 0..size / 8 {
                    let bits = AtomicU64::from_ptr(from.cast::<u64>().add(unit)).load(Relaxed);
                    to.cast::<u64>().add(unit).write_unaligned(bits);
                }
            }
        }
        value.assume_init()
    }
}

/// A relaxed atomic store, in units of at most 8 bytes.
///
/// # Safety
/// As [`load`].
#[inline(always)]
unsafe fn store<T: Plain>(ptr: *mut T, value: T) {
    let from = &raw const value;
    // SAFETY: as in `load`.
    unsafe {
        match size_of::<T>() {
            1 => AtomicU8::from_ptr(ptr.cast()).store(from.cast::<u8>().read(), Relaxed),
            2 => AtomicU16::from_ptr(ptr.cast()).store(from.cast::<u16>().read_unaligned(), Relaxed),
            4 => AtomicU32::from_ptr(ptr.cast()).store(from.cast::<u32>().read_unaligned(), Relaxed),
            _ if !ptr.cast::<u64>().is_aligned() => bytes_out(from.cast(), ptr.cast(), size_of::<T>()),
            size => {
                for unit in 0..size / 8 {
                    let bits = from.cast::<u64>().add(unit).read_unaligned();
                    AtomicU64::from_ptr(ptr.cast::<u64>().add(unit)).store(bits, Relaxed);
                }
            }
        }
    }
}

/// A misaligned load, byte by byte: the GPU would fault, which the checks report.
///
/// # Safety
/// As [`load`]; `to` has room.
#[cold]
unsafe fn bytes_in(from: *mut u8, to: *mut u8, size: usize) {
    for i in 0..size {
        // SAFETY: as the caller promises.
        unsafe { to.add(i).write(AtomicU8::from_ptr(from.add(i)).load(Relaxed)) };
    }
}

/// A misaligned store, byte by byte.
///
/// # Safety
/// As [`store`].
#[cold]
unsafe fn bytes_out(from: *const u8, to: *mut u8, size: usize) {
    for i in 0..size {
        // SAFETY: as the caller promises.
        unsafe { AtomicU8::from_ptr(to.add(i)).store(from.add(i).read(), Relaxed) };
    }
}
