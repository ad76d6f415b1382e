//! The pool that a device's memory comes from.
//!
//! Allocating from the driver's default heap (`cuMemAlloc`) maps memory, which takes tens of microseconds, and freeing
//! waits for the whole device. A pool keeps what was freed, and orders an allocation and its release like any other
//! work of a stream: neither waits (CUDA driver API, "Stream Ordered Memory Allocator").

use std::ptr;

use cust::sys;

use super::driver::{self, Failure};

/// A pool of device memory, and a stream on which nothing ever runs.
pub(super) struct Pool {
    raw: sys::CUmemoryPool,
    idle: sys::CUstream,
}

// SAFETY: the driver's handles may be used from any thread, several at once, with the context current.
unsafe impl Send for Pool {}
// SAFETY: as above.
unsafe impl Sync for Pool {}

impl Pool {
    /// A pool on `device`, whose context is current. Fails where the device or the driver has no pools.
    pub(super) fn new(device: sys::CUdevice) -> Result<Self, Failure> {
        let properties = sys::CUmemPoolProps {
            allocType: sys::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
            handleTypes: sys::CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE,
            location: sys::CUmemLocation { type_: sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id: device },
            win32SecurityAttributes: ptr::null_mut(),
            reserved: [0; 64],
        };
        let (mut raw, mut idle) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: both are readable and writable as the function needs them.
        driver::check("cuMemPoolCreate", unsafe { sys::cuMemPoolCreate(&raw mut raw, &raw const properties) })?;
        let flags = sys::CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
        // SAFETY: `idle` is writable.
        let stream = driver::check("cuStreamCreateWithPriority", unsafe {
            sys::cuStreamCreateWithPriority(&raw mut idle, flags, 0)
        });
        let pool = Self { raw, idle };
        match stream.and_then(|()| pool.configure()) {
            Ok(()) => Ok(pool),
            Err(failure) => {
                // SAFETY: nothing was allocated.
                unsafe { pool.destroy() };
                Err(failure)
            }
        }
    }

    fn configure(&self) -> Result<(), Failure> {
        // What was freed is kept, for as long as the device is open.
        self.set(sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, u64::MAX)?;
        // An allocation never waits for another stream to release memory: it would delay the work behind it.
        self.set(sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES, 0_i32)
    }

    /// Sets an attribute, whose value has the type that the driver's documentation names.
    fn set<T>(&self, attribute: sys::CUmemPool_attribute, mut value: T) -> Result<(), Failure> {
        // SAFETY: the pool is alive; `value` is of the attribute's type.
        driver::check("cuMemPoolSetAttribute", unsafe {
            sys::cuMemPoolSetAttribute(self.raw, attribute, (&raw mut value).cast())
        })
    }

    /// Allocates `bytes` bytes: for work behind this point of `stream`, or without one for any work.
    pub(super) fn allocate(&self, bytes: usize, stream: Option<sys::CUstream>) -> Result<sys::CUdeviceptr, Failure> {
        let mut address = 0;
        // SAFETY: `address` is writable; pool and stream are alive.
        driver::check("cuMemAllocFromPoolAsync", unsafe {
            sys::cuMemAllocFromPoolAsync(&raw mut address, bytes, self.raw, stream.unwrap_or(self.idle))
        })?;
        if stream.is_none() {
            // SAFETY: the stream is alive. It has no work but allocations, so this does not wait for the device.
            let done = driver::check("cuStreamSynchronize", unsafe { sys::cuStreamSynchronize(self.idle) });
            if let Err(failure) = done {
                // SAFETY: allocated above, released once, and nobody uses it. There is no handling of another failure.
                let _ = unsafe { self.free(address, None) };
                return Err(failure);
            }
        }
        Ok(address)
    }

    /// Releases an allocation of this pool behind all work of `stream` so far, or without one at once.
    ///
    /// # Safety
    /// It is released once, and only work of `stream` so far may still use it.
    pub(super) unsafe fn free(&self, address: sys::CUdeviceptr, stream: Option<sys::CUstream>) -> Result<(), Failure> {
        // SAFETY: as the caller promises.
        driver::check("cuMemFreeAsync", unsafe { sys::cuMemFreeAsync(address, stream.unwrap_or(self.idle)) })
    }

    /// Returns to the driver what is not in use.
    pub(super) fn trim(&self) -> Result<(), Failure> {
        // SAFETY: the pool is alive.
        driver::check("cuMemPoolTrimTo", unsafe { sys::cuMemPoolTrimTo(self.raw, 0) })
    }

    /// Destroys pool and stream; the context is current.
    ///
    /// # Safety
    /// Called once, when no allocation is left.
    pub(super) unsafe fn destroy(&self) {
        // There is no stream if it could not be created; null is the driver's own default stream.
        if !self.idle.is_null() {
            // SAFETY: as the caller promises. There is no handling of a failure.
            let _ = unsafe { sys::cuStreamDestroy_v2(self.idle) };
        }
        // SAFETY: as above.
        let _ = unsafe { sys::cuMemPoolDestroy(self.raw) };
    }
}
