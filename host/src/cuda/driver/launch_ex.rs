//! Kernel launches, with the attribute for programmatic dependent launch: `cust` has no launch attributes.

use std::ffi::c_void;
use std::ptr;

use simt::ArgType;

use super::forward::typed;
use super::launch_attribute::{Attribute, Config};
use super::status::{Failure, Handle, codes, result};

/// The arguments of a launch.
pub(crate) struct Launch {
    pub(crate) function: Handle,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) shared_bytes: u32,
    pub(crate) stream: Handle,
    /// Addresses of the arguments.
    pub(crate) arguments: *mut *mut c_void,
    /// Their types.
    pub(crate) types: &'static [ArgType],
    /// Whether the kernel uses programmatic dependent launch (PDL).
    pub(crate) pdl: bool,
}

/// Queues the kernel. A driver that lacks `cuLaunchKernelEx`, which came with CUDA 11.8, launches it without PDL: the
/// kernel's `dependency_wait` then returns at once.
///
/// # Safety
/// The contract of `cuLaunchKernel`. With `pdl` each thread of the kernel waits for its predecessor before it accesses
/// global memory and before it exits.
pub(crate) unsafe fn launch(args: &Launch) -> Result<(), Failure> {
    let &Launch { function, grid, block, shared_bytes, stream, arguments, pdl, .. } = args;
    if pdl {
        let attribute = Attribute::pdl();
        let config = Config { grid, block, shared_bytes, stream, attributes: &raw const attribute, count: 1 };
        // SAFETY: the caller's promise; the configuration is read before the call returns.
        let status = unsafe { typed::cuLaunchKernelEx(&raw const config, function, arguments, ptr::null_mut()) };
        if status != codes::NOT_SUPPORTED {
            return result("cuLaunchKernelEx", status);
        }
    }
    let ([gx, gy, gz], [bx, by, bz]) = (grid, block);
    // SAFETY: the caller's promise.
    let status = unsafe {
        typed::cuLaunchKernel(function, gx, gy, gz, bx, by, bz, shared_bytes, stream, arguments, ptr::null_mut())
    };
    result("cuLaunchKernel", status)
}
