//! Plain accesses. Elements are passed as their `Bits`, types that the simulator supports.

use core::alloc::Layout;
use core::fmt;

use simulator::device::{self, Place, SharedNames};

use crate::{access::Space, element::Element, shared::Shared};

#[cfg_attr(optimised, inline(always))]
pub(super) const fn place(space: Space) -> Place {
    match space {
        Space::Shared => Place::Shared,
        Space::Global { tag } => Place::Global { tag },
    }
}

#[cfg_attr(optimised, inline(always))]
fn bits<T: Element>(value: T) -> T::Bits {
    // SAFETY: `Element` promises the same size, and that any bytes are valid for both.
    unsafe { core::mem::transmute_copy::<T, T::Bits>(&value) }
}

#[cfg_attr(optimised, inline(always))]
fn value<T: Element>(bits: T::Bits) -> T {
    // SAFETY: as above.
    unsafe { core::mem::transmute_copy::<T::Bits, T>(&bits) }
}

/// Whether a vector access is misaligned, although every lane is aligned. Such an access uses the simulator's unchecked
/// functions, which report it.
#[cfg_attr(optimised, inline(always))]
fn misaligned<T: Element>(ptr: *const T) -> bool {
    T::LANE < size_of::<T>() && !ptr.is_aligned()
}

/// # Safety
/// `ptr` is inside allocated memory of `space`.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) unsafe fn read<T: Element>(space: Space, ptr: *const T) -> T {
    if misaligned(ptr) {
        return value(device::read_unchecked(place(space), ptr.cast::<T::Bits>()));
    }
    value(match space {
        // SAFETY: the caller's promise; aligned.
        Space::Shared => unsafe { device::read_shared(ptr.cast::<T::Bits>()) },
        // SAFETY: as above.
        Space::Global { tag } => unsafe { device::read_global(ptr.cast::<T::Bits>(), tag) },
    })
}

/// # Safety
/// `ptr` is inside allocated, writable memory of `space`.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) unsafe fn write<T: Element>(space: Space, ptr: *mut T, new: T) {
    if misaligned(ptr) {
        return device::write_unchecked(place(space), ptr.cast::<T::Bits>(), bits(new));
    }
    match space {
        // SAFETY: the caller's promise; aligned.
        Space::Shared => unsafe { device::write_shared(ptr.cast::<T::Bits>(), bits(new)) },
        // SAFETY: as above.
        Space::Global { tag } => unsafe { device::write_global(ptr.cast::<T::Bits>(), tag, bits(new)) },
    }
}

/// # Safety
/// As for [`read`]. Caches are not simulated.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) unsafe fn read_streaming<T: Element>(space: Space, ptr: *const T) -> T {
    // SAFETY: the caller's promise.
    unsafe { read(space, ptr) }
}

/// # Safety
/// As for [`write`]. Caches are not simulated.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) unsafe fn write_streaming<T: Element>(space: Space, ptr: *mut T, new: T) {
    // SAFETY: the caller's promise.
    unsafe { write(space, ptr, new) }
}

/// # Safety
/// None: the simulator checks the address. Unsafe like its PTX twin.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) unsafe fn read_unchecked<T: Element>(space: Space, ptr: *const T) -> T {
    value(device::read_unchecked(place(space), ptr.cast::<T::Bits>()))
}

/// # Safety
/// None: the simulator checks the address. Unsafe like its PTX twin.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) unsafe fn write_unchecked<T: Element>(space: Space, ptr: *mut T, new: T) {
    device::write_unchecked(place(space), ptr.cast::<T::Bits>(), bits(new));
}

/// Reports an access outside its view.
///
/// Takes its arrays by value and is not inlined, so that accesses inside the view need not store them to memory.
#[cold]
#[inline(never)]
#[track_caller]
pub(crate) fn outside<const D: usize>(space: Space, write: bool, index: [u64; D], extent: [u64; D]) {
    device::out_of_bounds(place(space), write, &index, &extent);
}

/// Start and length in bytes of the block's shared memory.
#[cfg_attr(optimised, inline(always))]
pub(crate) fn shared_bytes() -> (*mut u8, usize) {
    device::shared_memory()
}

/// [`shared_bytes`] of a kernel that takes it as elements, which have no name but their number.
#[cfg_attr(optimised, inline(always))]
pub(crate) fn shared_elements<T>() -> (*mut u8, usize) {
    device::name_shared_memory(|offset, out| write!(out, "{}", offset / size_of::<T>()));
    shared_bytes()
}

/// The block's shared memory as a `T`.
///
/// # Panics
/// The launch reserved too little shared memory, or aligned it too coarsely. The crate `warpwright` checks its
/// launches, so that kernels launched through it never panic here.
#[cfg_attr(optimised, inline(always))]
pub(crate) fn shared_layout<T: Shared>() -> *const T {
    shared_memory(write_name::<T>, Layout::new::<T>(), std::any::type_name::<T>).cast::<T>()
}

/// The name of the part of a layout at an offset.
fn write_name<T: Shared>(offset: usize, out: &mut dyn fmt::Write) -> fmt::Result {
    T::PARTS.write_name(offset, out)
}

/// Not a part of [`shared_layout`], which is compiled for each layout.
fn shared_memory(names: SharedNames, layout: Layout, name: fn() -> &'static str) -> *const u8 {
    device::name_shared_memory(names);
    let (base, bytes) = device::shared_memory();
    assert!(
        bytes >= layout.size() && base.addr().is_multiple_of(layout.align()),
        "the launch reserved {bytes} bytes of shared memory at {base:p}; `{}` needs {} bytes aligned to {}",
        name(),
        layout.size(),
        layout.align()
    );
    base.cast_const()
}

/// No effect: [`read`] and [`write`] check the alignment of the address.
#[cfg_attr(optimised, inline(always))]
pub(crate) fn expect_aligned(_offset: u32, _lanes: u32) {}

/// The address `offset` elements after `start`.
#[cfg_attr(optimised, inline(always))]
pub(crate) fn offset_by_number<T>(start: *mut T, offset: u32) -> *mut T {
    start.wrapping_add(offset as usize)
}
