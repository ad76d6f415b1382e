//! The driver functions that this crate calls, directly or through `cust`: typed, their status recorded.
//!
//! Signatures are those of `cuda.h` (CUDA 11.0 and later) with handles as untyped pointers and enums as `i32`. Where
//! the header renames a function to a later version (`cuMemAlloc` to `cuMemAlloc_v2`), the later name stands here, as
//! it does in `cust_raw`.

use std::ffi::{c_char, c_void};
use std::ptr;
use std::sync::atomic::Ordering;

use super::codes;
use super::library::{Function, Slot, load};
use super::status::record;

/// A handle of the driver: context, module, function, stream, event.
type Handle = *mut c_void;
/// An address in device memory.
type Address = u64;

/// The address in `slot`, the driver loaded first if nothing did so yet. Else the status of a call without a driver, or
/// of one to a function that the driver lacks.
fn target(slot: &Slot) -> Result<*mut c_void, i32> {
    let address = slot.load(Ordering::Acquire);
    if !address.is_null() {
        return Ok(address);
    }
    load().map_err(|_| codes::NO_DEVICE)?;
    let address = slot.load(Ordering::Acquire);
    if address.is_null() { Err(codes::NOT_SUPPORTED) } else { Ok(address) }
}

macro_rules! forwards {
    ($($name:ident($($argument:ident: $type:ty),*);)*) => {
        #[allow(non_upper_case_globals)]
        mod slots {
            use super::*;
            $(pub(super) static $name: Slot = Slot::new(ptr::null_mut());)*
        }

        mod typed {
            use super::*;
            $(
                /// Calls the driver's function of the same name; the status as the driver gave it.
                ///
                /// # Safety
                /// That function's contract.
                #[allow(non_snake_case, clippy::too_many_arguments)]
                pub(super) unsafe fn $name($($argument: $type),*) -> i32 {
                    let address = match target(&slots::$name) {
                        Ok(address) => address,
                        Err(status) => return status,
                    };
                    // SAFETY: a slot that is not empty holds the address of the driver's function of this name, whose
                    // C signature is this one.
                    let function: unsafe extern "C" fn($($type),*) -> i32 = unsafe { std::mem::transmute(address) };
                    // SAFETY: the caller keeps the function's contract.
                    unsafe { function($($argument),*) }
                }
            )*
        }

        mod entries {
            use super::*;
            $(
                /// What `cust` calls by this name.
                ///
                /// # Safety
                /// The contract of the driver's function of the same name.
                #[unsafe(no_mangle)]
                #[allow(clippy::too_many_arguments)]
                unsafe extern "C" fn $name($($argument: $type),*) -> i32 {
                    // SAFETY: the caller keeps the function's contract.
                    record(unsafe { typed::$name($($argument),*) })
                }
            )*
        }

        /// Every function of this file.
        pub(super) static FUNCTIONS: &[Function] = &[$(Function {
            // A literal with a zero at its end.
            name: match std::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => unreachable!(),
            },
            slot: &slots::$name,
            missing: None,
        }),*];
    };
}

forwards! {
    // Driver and devices.
    cuInit(flags: u32);
    cuDriverGetVersion(version: *mut i32);
    cuDeviceGet(device: *mut i32, ordinal: i32);
    cuDeviceGetCount(count: *mut i32);
    cuDeviceGetName(name: *mut c_char, length: i32, device: i32);
    cuDeviceGetAttribute(value: *mut i32, attribute: i32, device: i32);
    cuDeviceTotalMem_v2(bytes: *mut usize, device: i32);
    cuGetErrorName(status: i32, text: *mut *const c_char);
    cuGetErrorString(status: i32, text: *mut *const c_char);
    // Contexts.
    cuDevicePrimaryCtxRetain(context: *mut Handle, device: i32);
    cuDevicePrimaryCtxRelease_v2(device: i32);
    cuCtxSetCurrent(context: Handle);
    cuCtxSynchronize();
    // Memory.
    cuMemGetInfo_v2(free: *mut usize, total: *mut usize);
    cuMemAlloc_v2(address: *mut Address, bytes: usize);
    cuMemFree_v2(address: Address);
    cuMemAllocHost_v2(address: *mut *mut c_void, bytes: usize);
    cuMemFreeHost(address: *mut c_void);
    cuMemcpyHtoDAsync_v2(to: Address, from: *const c_void, bytes: usize, stream: Handle);
    cuMemcpyDtoHAsync_v2(to: *mut c_void, from: Address, bytes: usize, stream: Handle);
    cuMemcpyDtoDAsync_v2(to: Address, from: Address, bytes: usize, stream: Handle);
    cuMemcpy2DAsync_v2(copy: *const c_void, stream: Handle);
    cuMemsetD8Async(address: Address, value: u8, bytes: usize, stream: Handle);
    // Streams and events.
    cuStreamCreateWithPriority(stream: *mut Handle, flags: u32, priority: i32);
    cuStreamDestroy_v2(stream: Handle);
    cuStreamSynchronize(stream: Handle);
    cuStreamWaitEvent(stream: Handle, event: Handle, flags: u32);
    cuEventCreate(event: *mut Handle, flags: u32);
    cuEventDestroy_v2(event: Handle);
    cuEventRecord(event: Handle, stream: Handle);
    cuEventSynchronize(event: Handle);
    cuEventQuery(event: Handle);
    cuEventElapsedTime(milliseconds: *mut f32, start: Handle, end: Handle);
    // Modules and launches.
    cuModuleLoadDataEx(module: *mut Handle, image: *const c_void, count: u32, options: *mut i32, values: *mut *mut c_void);
    cuModuleUnload(module: Handle);
    cuModuleGetFunction(function: *mut Handle, module: Handle, name: *const c_char);
    cuFuncGetAttribute(value: *mut i32, attribute: i32, function: Handle);
    cuFuncSetAttribute(function: Handle, attribute: i32, value: i32);
    cuLaunchKernel(
        function: Handle,
        grid_x: u32, grid_y: u32, grid_z: u32,
        block_x: u32, block_y: u32, block_z: u32,
        shared_bytes: u32,
        stream: Handle,
        arguments: *mut *mut c_void,
        extra: *mut *mut c_void
    );
}

/// Stores the driver's name for `status`; gives its own status.
pub(super) fn error_name(status: i32, text: *mut *const c_char) -> i32 {
    // SAFETY: any status is allowed, and `text` is a place for an address.
    unsafe { typed::cuGetErrorName(status, text) }
}

/// Stores the driver's sentence for `status`; gives its own status.
pub(super) fn error_string(status: i32, text: *mut *const c_char) -> i32 {
    // SAFETY: any status is allowed, and `text` is a place for an address.
    unsafe { typed::cuGetErrorString(status, text) }
}
