//! Copies of rows of bytes between host and device memory.

use std::ptr;

use cust::sys;

use super::driver::{self, Failure};
use super::driver_stream::Queue;
use crate::contract::Region;

/// Largest pitch of a two-dimensional copy (`CU_DEVICE_ATTRIBUTE_MAX_PITCH`).
const MAX_PITCH: usize = i32::MAX as usize;

/// The source or the target of a copy: rows of bytes in host or device memory.
#[derive(Clone, Copy)]
pub(super) struct Side {
    on_host: bool,
    /// The address that offsets of the region count from.
    base: *mut u8,
    region: Region,
}

impl Side {
    /// The rows of `region` in the allocation at `base`.
    pub(super) fn device(base: u64, region: &Region) -> Self {
        Self { on_host: false, base: ptr::without_provenance_mut(base as usize), region: *region }
    }

    /// Contiguous rows at `base` in host memory, as many and as long as those of `like`.
    pub(super) fn host(base: *mut u8, like: &Region) -> Self {
        Self { on_host: true, base, region: Region { offset: 0, pitch: like.row, ..*like } }
    }

    /// The row at offset `start` alone.
    fn row(self, start: usize) -> Self {
        Self { region: Region::bytes(start, self.region.row), ..self }
    }

    /// Address of the first row in device memory; 0 in host memory.
    fn device_address(&self) -> u64 {
        if self.on_host { 0 } else { (self.base.addr() + self.region.offset) as u64 }
    }

    /// Address of the first row in host memory; null in device memory.
    fn host_address(&self) -> *mut u8 {
        if self.on_host { self.base.wrapping_add(self.region.offset) } else { ptr::null_mut() }
    }

    fn memory_type(&self) -> sys::CUmemorytype {
        if self.on_host { sys::CUmemorytype::CU_MEMORYTYPE_HOST } else { sys::CUmemorytype::CU_MEMORYTYPE_DEVICE }
    }
}

/// Describes a copy, for messages.
pub(super) fn doing(direction: &str, region: &Region) -> String {
    format!("copying {} bytes {direction} the device", region.len())
}

/// Queues a copy of the rows of `from` to the rows of `to`, not both in host memory.
///
/// # Safety
/// The two have the same rows, lie in their allocations and do not overlap; the allocations live until the queue has
/// passed this point.
pub(super) unsafe fn rows(queue: &Queue, to: Side, from: Side) -> Result<(), Failure> {
    if to.region.rows == 1 {
        // SAFETY: as the caller promises.
        return unsafe { row(queue, to, from) };
    }
    if to.region.pitch > MAX_PITCH || from.region.pitch > MAX_PITCH {
        let mut starts = to.region.starts().zip(from.region.starts());
        // SAFETY: one row of what the caller promises.
        return starts
            .try_for_each(|(to_start, from_start)| unsafe { row(queue, to.row(to_start), from.row(from_start)) });
    }
    let copy = sys::CUDA_MEMCPY2D {
        srcXInBytes: 0,
        srcY: 0,
        srcMemoryType: from.memory_type(),
        srcHost: from.host_address().cast(),
        srcDevice: from.device_address(),
        srcArray: ptr::null_mut(),
        srcPitch: from.region.pitch,
        dstXInBytes: 0,
        dstY: 0,
        dstMemoryType: to.memory_type(),
        dstHost: to.host_address().cast(),
        dstDevice: to.device_address(),
        dstArray: ptr::null_mut(),
        dstPitch: to.region.pitch,
        WidthInBytes: to.region.row,
        Height: to.region.rows,
    };
    // SAFETY: as the caller promises; `copy` itself is read before the call returns.
    driver::check("cuMemcpy2DAsync_v2", unsafe { sys::cuMemcpy2DAsync_v2(&raw const copy, queue.raw()) })
}

/// Queues a copy of one row.
///
/// # Safety
/// As for [`rows`].
unsafe fn row(queue: &Queue, to: Side, from: Side) -> Result<(), Failure> {
    let bytes = to.region.row;
    match (to.on_host, from.on_host) {
        // SAFETY: as the caller promises.
        (false, true) => driver::check("cuMemcpyHtoDAsync_v2", unsafe {
            sys::cuMemcpyHtoDAsync_v2(to.device_address(), from.host_address().cast(), bytes, queue.raw())
        }),
        // SAFETY: as the caller promises.
        (true, false) => driver::check("cuMemcpyDtoHAsync_v2", unsafe {
            sys::cuMemcpyDtoHAsync_v2(to.host_address().cast(), from.device_address(), bytes, queue.raw())
        }),
        // SAFETY: as the caller promises.
        (false, false) => driver::check("cuMemcpyDtoDAsync_v2", unsafe {
            sys::cuMemcpyDtoDAsync_v2(to.device_address(), from.device_address(), bytes, queue.raw())
        }),
        (true, true) => unreachable!("one side is in device memory"),
    }
}
