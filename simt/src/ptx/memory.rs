//! Plain accesses. Numbers in shared memory are ordinary loads and stores, whose address space LLVM infers, and which
//! it may merge; everything else is one instruction of its own: see `load_store`.

use core::{arch::asm, intrinsics::gpu::gpu_launch_sized_workgroup_mem};

use super::load_store;
use crate::{access::Space, element::Element};

/// Whether `T` is a vector, whose parts LLVM might access one by one.
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

/// An access outside its container: the kernel ends.
#[inline(always)]
pub(crate) fn outside<const D: usize>(_space: Space, _write: bool, _index: [u64; D], _extent: [u64; D]) {
    // SAFETY: ends the kernel. (No `!` in the signature: the simulator's twin returns, and so do the callers for it.)
    unsafe { core::arch::nvptx::trap() }
}

/// A vector that starts at element `offset` of memory that is aligned for it is aligned, or the kernel ends. Where the
/// offset is written as a multiple, nothing is left of the test.
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

/// The block's shared memory as a `T`.
#[inline(always)]
pub(crate) fn shared_layout<T>() -> *const T {
    #[repr(C, align(16))]
    struct Aligned<T>(T);

    gpu_launch_sized_workgroup_mem::<Aligned<T>>().cast()
}

/// The address in the shared window of a place in the block's shared memory, for `asm!`.
///
/// As the distance from the start, which LLVM computes and folds like any other arithmetic, plus the address of the
/// start by its name: where it is converted instead, 64 bits wide, the assembler keeps a pair of registers for every
/// place of conversion.
#[inline(always)]
pub(crate) fn shared_address<T>(place: *const T) -> u32 {
    let address: u32;
    // SAFETY: an address. `place` lies in this memory, so there is a symbol of this name.
    unsafe {
        asm!(
            "mov.u32 {address}, gpu_launch_sized_workgroup_mem;",
            address = out(reg32) address,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    address + (place.addr() - gpu_launch_sized_workgroup_mem::<u64>().addr()) as u32
}

/// `offset` elements on from `start`, for [`shared_address`]: as numbers the start is subtracted again and nothing is
/// left of it; a pointer LLVM would convert to the shared window and back, 64 bits wide, at every place.
#[inline(always)]
pub(crate) fn offset_by_number<T>(start: *mut T, offset: u32) -> *mut T {
    core::ptr::with_exposed_provenance_mut(start.expose_provenance() + offset as usize * size_of::<T>())
}
