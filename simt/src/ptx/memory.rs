//! Plain accesses. Accesses to numbers in shared memory are ordinary loads and stores, whose state space LLVM infers
//! and which it may merge; all others are one instruction each: see `load_store`.

use core::{arch::asm, intrinsics::gpu::gpu_launch_sized_workgroup_mem};

use super::load_store;
use crate::{access::Space, element::Element};

/// Whether `T` is a vector, whose lanes LLVM might access one by one.
const fn is_vector<T: Element>() -> bool {
    T::LANE < size_of::<T>()
}

/// # Safety
/// `ptr` is inside allocated memory of `space`.
#[inline(always)]
pub(crate) unsafe fn read<T: Element>(space: Space, ptr: *const T) -> T {
    // SAFETY: the caller's promise.
    unsafe {
        match space {
            Space::Shared if is_vector::<T>() => load_store::load_shared(ptr),
            Space::Shared => *ptr,
            Space::Global { .. } => load_store::load_global(ptr),
        }
    }
}

/// # Safety
/// `ptr` is inside allocated, writable memory of `space`.
#[inline(always)]
pub(crate) unsafe fn write<T: Element>(space: Space, ptr: *mut T, new: T) {
    // SAFETY: the caller's promise.
    unsafe {
        match space {
            Space::Shared if is_vector::<T>() => load_store::store_shared(ptr, new),
            Space::Shared => *ptr = new,
            Space::Global { .. } => load_store::store_global(ptr, new),
        }
    }
}

/// # Safety
/// `ptr` is inside allocated global memory.
#[inline(always)]
pub(crate) unsafe fn read_streaming<T: Element>(_space: Space, ptr: *const T) -> T {
    // SAFETY: the caller's promise.
    unsafe { load_store::load_global_streaming(ptr) }
}

/// # Safety
/// `ptr` is inside allocated, writable global memory.
#[inline(always)]
pub(crate) unsafe fn write_streaming<T: Element>(_space: Space, ptr: *mut T, new: T) {
    // SAFETY: the caller's promise.
    unsafe { load_store::store_global_streaming(ptr, new) }
}

/// # Safety
/// As for [`read`].
#[inline(always)]
pub(crate) unsafe fn read_unchecked<T: Element>(space: Space, ptr: *const T) -> T {
    // SAFETY: the caller's promise.
    unsafe { read(space, ptr) }
}

/// # Safety
/// As for [`write`].
#[inline(always)]
pub(crate) unsafe fn write_unchecked<T: Element>(space: Space, ptr: *mut T, new: T) {
    // SAFETY: the caller's promise.
    unsafe { write(space, ptr, new) }
}

/// Handles an access outside its view: the kernel ends.
#[cfg(warpwright_report)]
#[inline(always)]
#[track_caller]
pub(crate) fn outside<const D: usize>(_space: Space, write: bool, index: [u64; D], extent: [u64; D]) {
    super::report::outside(write, index, extent)
}

/// Handles an access outside its view: the kernel ends.
#[cfg(not(warpwright_report))]
#[inline(always)]
pub(crate) fn outside<const D: usize>(_space: Space, _write: bool, _index: [u64; D], _extent: [u64; D]) {
    // SAFETY: ends the kernel. (The return type is not `!`: the simulator's twin returns.)
    unsafe { core::arch::nvptx::trap() }
}

/// Traps unless a vector at element `offset` is aligned, given that element 0 is. Where the compiler knows the offset
/// to be a multiple of `lanes`, the test disappears.
#[inline(always)]
pub(crate) fn expect_aligned(offset: u32, lanes: u32) {
    if !offset.is_multiple_of(lanes) {
        // SAFETY: ends the kernel.
        unsafe { core::arch::nvptx::trap() }
    }
}

/// Start and length in bytes of the block's shared memory, aligned to 16.
#[inline(always)]
pub(crate) fn shared_bytes() -> (*mut u8, usize) {
    #[repr(C, align(16))]
    struct Aligned([u8; 16]);

    let bytes: u32;
    // SAFETY: reads a special register.
    unsafe { asm!("mov.u32 {}, %dynamic_smem_size;", out(reg32) bytes, options(pure, nomem, nostack, preserves_flags)) }
    (gpu_launch_sized_workgroup_mem::<Aligned>().cast(), bytes as usize)
}

/// [`shared_bytes`] of a kernel that takes it as elements.
#[inline(always)]
pub(crate) fn shared_elements<T>() -> (*mut u8, usize) {
    shared_bytes()
}

/// The block's shared memory as a `T`.
#[inline(always)]
pub(crate) fn shared_layout<T>() -> *const T {
    #[repr(C, align(16))]
    struct Aligned<T>(T);

    gpu_launch_sized_workgroup_mem::<Aligned<T>>().cast()
}

/// The address of `place` in the shared state space, for `asm!`.
///
/// It is the distance from the start of shared memory, which LLVM computes and folds like other arithmetic, plus the
/// address of the start by its symbol. A conversion of the generic address is 64 bits wide, and ptxas keeps a pair of
/// registers for each of them.
#[inline(always)]
pub(crate) fn shared_address<T>(place: *const T) -> u32 {
    let address: u32;
    // SAFETY: reads an address. `place` is in this memory, so the symbol exists.
    unsafe {
        asm!(
            "mov.u32 {address}, gpu_launch_sized_workgroup_mem;",
            address = out(reg32) address,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    address + (place.addr() - gpu_launch_sized_workgroup_mem::<u64>().addr()) as u32
}

/// The address `offset` elements after `start`, for [`shared_address`]. It is computed with integers, so that the
/// subtraction of the start cancels; LLVM would convert a pointer to the shared state space and back, 64 bits wide, at
/// every use.
#[inline(always)]
pub(crate) fn offset_by_number<T>(start: *mut T, offset: u32) -> *mut T {
    core::ptr::with_exposed_provenance_mut(start.expose_provenance() + offset as usize * size_of::<T>())
}
