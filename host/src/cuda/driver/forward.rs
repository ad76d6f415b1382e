//! The driver functions that this crate calls, directly or through `cust`: typed, their status recorded.
//!
//! Signatures are those of `cuda.h` (CUDA 11.0 and later) with handles as untyped pointers and enums as `i32`. Where
//! the header renames a function to a later version (`cuMemAlloc` to `cuMemAlloc_v2`), the later name stands here, as
//! it does in `cust_raw`.

use std::ffi::{c_char, c_void};
use std::ptr;
use std::sync::atomic::Ordering;

use super::codes;
use super::launch::Config;
use super::library::{Function, Slot, load};
use super::status::{Failure, record};

/// A handle of the driver: context, module, function, stream, event.
pub(super) type Handle = *mut c_void;
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

        pub(super) mod typed {
            use super::*;
            $(
                /// Calls the driver's function of the same name; the status as the driver gave it.
                ///
                /// # Safety
                /// That function's contract.
                #[allow(non_snake_case, clippy::too_many_arguments)]
                pub(in super::super) unsafe fn $name($($argument: $type),*) -> i32 {
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
    cuStreamIsCapturing(stream: Handle, status: *mut u32);
    cuThreadExchangeStreamCaptureMode(mode: *mut u32);
    cuEventCreate(event: *mut Handle, flags: u32);
    cuEventDestroy_v2(event: Handle);
    cuEventRecord(event: Handle, stream: Handle);
    cuEventSynchronize(event: Handle);
    cuEventQuery(event: Handle);
    cuEventElapsedTime(milliseconds: *mut f32, start: Handle, end: Handle);
    // Tensor maps.
    cuTensorMapEncodeTiled(
        map: *mut c_void,
        kind: i32,
        rank: u32,
        base: *mut c_void,
        extents: *const u64,
        strides: *const u64,
        boxes: *const u32,
        steps: *const u32,
        interleave: i32,
        swizzle: i32,
        promotion: i32,
        fill: i32
    );
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
    cuLaunchKernelEx(
        config: *const Config,
        function: Handle,
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

/// What `cuTensorMapEncodeTiled` is asked, which `cust` has no word for.
pub(crate) struct Encode<'a> {
    /// `CUtensorMapDataType`.
    pub(crate) kind: i32,
    /// Address of the first element.
    pub(crate) base: u64,
    /// Elements along each dimension, as many as there are dimensions.
    pub(crate) extents: &'a [u64],
    /// Bytes between neighbours along each dimension but the first.
    pub(crate) strides: &'a [u64],
    /// Elements of a box along each dimension.
    pub(crate) boxes: &'a [u32],
    /// `CUtensorMapSwizzle`.
    pub(crate) swizzle: i32,
    /// `CUtensorMapL2promotion`.
    pub(crate) promotion: i32,
}

/// The map's 128 bytes.
pub(crate) fn encode_tensor_map(ask: &Encode<'_>) -> Result<[u64; 16], Failure> {
    /// The driver wants its place aligned so.
    #[repr(C, align(64))]
    struct Map([u64; 16]);

    let rank = ask.extents.len();
    assert!((1..=5).contains(&rank) && ask.strides.len() + 1 == rank && ask.boxes.len() == rank);
    let mut map = Map([0; 16]);
    // SAFETY: the map's place is writable and aligned; the slices have as many numbers as the rank says, the strides one
    // less, and so have the steps, all 1. The base is only a number here.
    let status = unsafe {
        typed::cuTensorMapEncodeTiled(
            (&raw mut map).cast(),
            ask.kind,
            rank as u32,
            ptr::without_provenance_mut(ask.base as usize),
            ask.extents.as_ptr(),
            ask.strides.as_ptr(),
            ask.boxes.as_ptr(),
            [1; 5].as_ptr(),
            0,
            ask.swizzle,
            ask.promotion,
            0,
        )
    };
    if status == 0 { Ok(map.0) } else { Err(Failure { call: "cuTensorMapEncodeTiled", code: status }) }
}
