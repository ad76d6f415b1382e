//! Copies of rows of bytes.

use std::ffi::c_void;
use std::ptr;

use cust::sys;

use super::driver::{self, Failure};
use super::driver_stream::Queue;
use crate::contract::Region;

/// Largest pitch of a two-dimensional copy (`CU_DEVICE_ATTRIBUTE_MAX_PITCH`).
const MAX_PITCH: usize = i32::MAX as usize;

/// Describes a copy, for messages.
pub(super) fn doing(direction: &str, region: &Region) -> String {
    format!("copying {} bytes {direction} the device", region.len())
}

/// Queues a copy of contiguous rows at `from` to the rows of `to`.
///
/// # Safety
/// The region lies in the allocation at `base`; `from` has its length; both live until the queue has passed this point.
pub(super) unsafe fn to_device(queue: &Queue, base: u64, to: &Region, from: *const u8) -> Result<(), Failure> {
    if to.rows == 1 {
        // SAFETY: as the caller promises.
        return driver::check("cuMemcpyHtoDAsync_v2", unsafe {
            sys::cuMemcpyHtoDAsync_v2(base + to.offset as u64, from.cast(), to.row, queue.raw())
        });
    }
    if to.pitch > MAX_PITCH {
        return each_row(to, &Region::rows(0, to.rows, to.row, to.row), |to, start, row| {
            // SAFETY: one row of what the caller promises.
            unsafe { to_device(queue, base, &Region::bytes(to, row), from.add(start)) }
        });
    }
    let copy = sys::CUDA_MEMCPY2D {
        srcMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_HOST,
        srcHost: from.cast(),
        srcPitch: to.row,
        dstMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_DEVICE,
        dstDevice: base + to.offset as u64,
        dstPitch: to.pitch,
        WidthInBytes: to.row,
        Height: to.rows,
        ..no_copy()
    };
    // SAFETY: as the caller promises.
    unsafe { rows(queue, &copy) }
}

/// Queues a copy of the rows of `from` to contiguous rows at `to`.
///
/// # Safety
/// As for [`to_device`].
pub(super) unsafe fn to_host(queue: &Queue, base: u64, from: &Region, to: *mut u8) -> Result<(), Failure> {
    if from.rows == 1 {
        // SAFETY: as the caller promises.
        return driver::check("cuMemcpyDtoHAsync_v2", unsafe {
            sys::cuMemcpyDtoHAsync_v2(to.cast(), base + from.offset as u64, from.row, queue.raw())
        });
    }
    if from.pitch > MAX_PITCH {
        return each_row(&Region::rows(0, from.rows, from.row, from.row), from, |start, from, row| {
            // SAFETY: one row of what the caller promises.
            unsafe { to_host(queue, base, &Region::bytes(from, row), to.add(start)) }
        });
    }
    let copy = sys::CUDA_MEMCPY2D {
        srcMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_DEVICE,
        srcDevice: base + from.offset as u64,
        srcPitch: from.pitch,
        dstMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_HOST,
        dstHost: to.cast::<c_void>(),
        dstPitch: from.row,
        WidthInBytes: from.row,
        Height: from.rows,
        ..no_copy()
    };
    // SAFETY: as the caller promises.
    unsafe { rows(queue, &copy) }
}

/// Queues a copy of the rows of `from` in the allocation at `source` to the rows of `to` in that at `base`.
///
/// # Safety
/// The regions lie in their allocations, have the same rows, and do not overlap; the allocations live until the queue
/// has passed this point.
pub(super) unsafe fn on_device(
    queue: &Queue,
    base: u64,
    to: &Region,
    source: u64,
    from: &Region,
) -> Result<(), Failure> {
    if to.rows == 1 && from.rows == 1 {
        // SAFETY: as the caller promises.
        return driver::check("cuMemcpyDtoDAsync_v2", unsafe {
            sys::cuMemcpyDtoDAsync_v2(base + to.offset as u64, source + from.offset as u64, to.row, queue.raw())
        });
    }
    if to.pitch > MAX_PITCH || from.pitch > MAX_PITCH {
        return each_row(to, from, |to, from, row| {
            // SAFETY: one row of what the caller promises.
            unsafe { on_device(queue, base, &Region::bytes(to, row), source, &Region::bytes(from, row)) }
        });
    }
    let copy = sys::CUDA_MEMCPY2D {
        srcMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_DEVICE,
        srcDevice: source + from.offset as u64,
        srcPitch: from.pitch,
        dstMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_DEVICE,
        dstDevice: base + to.offset as u64,
        dstPitch: to.pitch,
        WidthInBytes: to.row,
        Height: to.rows,
        ..no_copy()
    };
    // SAFETY: as the caller promises.
    unsafe { rows(queue, &copy) }
}

fn each_row(
    to: &Region,
    from: &Region,
    mut copy: impl FnMut(usize, usize, usize) -> Result<(), Failure>,
) -> Result<(), Failure> {
    to.starts().zip(from.starts()).try_for_each(|(to_start, from_start)| copy(to_start, from_start, to.row))
}

/// The arguments of a copy without memory.
fn no_copy() -> sys::CUDA_MEMCPY2D {
    sys::CUDA_MEMCPY2D {
        srcXInBytes: 0,
        srcY: 0,
        srcMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_HOST,
        srcHost: ptr::null(),
        srcDevice: 0,
        srcArray: ptr::null_mut(),
        srcPitch: 0,
        dstXInBytes: 0,
        dstY: 0,
        dstMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_HOST,
        dstHost: ptr::null_mut(),
        dstDevice: 0,
        dstArray: ptr::null_mut(),
        dstPitch: 0,
        WidthInBytes: 0,
        Height: 0,
    }
}

/// Queues the copy that `copy` describes.
///
/// # Safety
/// The memory that it describes is allocated until the queue has passed this point.
unsafe fn rows(queue: &Queue, copy: &sys::CUDA_MEMCPY2D) -> Result<(), Failure> {
    // SAFETY: as the caller promises; `copy` itself is read before the call returns.
    driver::check("cuMemcpy2DAsync_v2", unsafe { sys::cuMemcpy2DAsync_v2(copy, queue.raw()) })
}
