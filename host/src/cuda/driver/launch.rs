//! Launches, with the one attribute that they may have: `cust` knows of none.

use std::ffi::c_void;
use std::ptr;

use super::codes;
use super::forward::{Handle, typed};
use super::status::Failure;

/// `CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION`.
const OVERLAP: i32 = 6;

/// `CUlaunchAttribute`: its value is a union of 64 bytes, of which ours is an `int`.
#[repr(C, align(8))]
struct Attribute {
    id: i32,
    padding: i32,
    value: [i32; 16],
}

/// `CUlaunchConfig`.
#[repr(C)]
pub(crate) struct Config {
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) shared_bytes: u32,
    pub(crate) stream: Handle,
    attributes: *const Attribute,
    count: u32,
}

// As `cuda.h` of CUDA 12 has them, where pointers have 8 bytes.
const _: () = assert!(size_of::<Attribute>() == 72 && size_of::<Config>() == 56);

impl Config {
    /// Whether the launch may begin before its predecessor in the stream is done. For the mock.
    #[cfg(test)]
    pub(crate) fn overlaps(&self) -> bool {
        // SAFETY: `launch` made it, with as many attributes.
        let attributes = unsafe { std::slice::from_raw_parts(self.attributes, self.count as usize) };
        attributes.iter().any(|it| (it.id, it.value[0]) == (OVERLAP, 1))
    }
}

/// What is to be launched.
pub(crate) struct Launch {
    pub(crate) function: Handle,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) shared_bytes: u32,
    pub(crate) stream: Handle,
    /// Addresses of the arguments.
    pub(crate) arguments: *mut *mut c_void,
    /// It may begin before its predecessor in the stream is done.
    pub(crate) pdl: bool,
}

/// Queues the kernel. A driver that lacks `cuLaunchKernelEx`, which came with CUDA 11.8, launches the ordinary way: the waits of
/// an overlapping kernel then find nothing to wait for.
///
/// # Safety
/// The contract of `cuLaunchKernel`. With `pdl` each thread of the kernel waits for its predecessor before it touches
/// global memory and before it ends.
pub(crate) unsafe fn launch(ask: &Launch) -> Result<(), Failure> {
    let &Launch { function, grid, block, shared_bytes, stream, arguments, pdl } = ask;
    let done = |call, code| if code == 0 { Ok(()) } else { Err(Failure { call, code }) };
    if pdl {
        let mut attribute = Attribute { id: OVERLAP, padding: 0, value: [0; 16] };
        attribute.value[0] = 1;
        let config = Config { grid, block, shared_bytes, stream, attributes: &raw const attribute, count: 1 };
        // SAFETY: the caller's promise; the configuration is read before the call returns.
        let status = unsafe { typed::cuLaunchKernelEx(&raw const config, function, arguments, ptr::null_mut()) };
        if status != codes::NOT_SUPPORTED {
            return done("cuLaunchKernelEx", status);
        }
    }
    let ([gx, gy, gz], [bx, by, bz]) = (grid, block);
    // SAFETY: the caller's promise.
    let status = unsafe {
        typed::cuLaunchKernel(function, gx, gy, gz, bx, by, bz, shared_bytes, stream, arguments, ptr::null_mut())
    };
    done("cuLaunchKernel", status)
}
