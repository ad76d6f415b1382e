//! The GPU: asks the driver, loaded at run time, for its devices.
//!
//! Driver API reference: <https://docs.nvidia.com/cuda/cuda-driver-api/>.

use std::ffi::{CStr, c_char, c_int, c_uint};

use anyhow::{Context as _, Result, ensure};
use libloading::{Library, Symbol};

use super::{Check, Found};

/// `CUresult`; 0 is success.
type Status = c_int;

/// Looks for a driver and lists its devices.
pub fn check() -> Check {
    let found = match devices() {
        Ok(devices) => Found::Here(devices),
        Err(error) => Found::Missing {
            problem: format!("{error:#}"),
            remedy: "none is needed: the simulator runs every kernel; for an NVIDIA GPU install its driver \
                     (nvidia-smi must list it)"
                .to_owned(),
        },
    };
    Check { what: "GPU and driver", needed_by: "kernels on a GPU, benchmarks", required: false, found }
}

/// `CUDA 13.0: 0 NVIDIA H200 (sm_90)`
fn devices() -> Result<String> {
    // SAFETY: loading NVIDIA's driver library runs its initialisers, which have no preconditions.
    let library = unsafe { Library::new("libcuda.so.1") }.context("libcuda.so.1 cannot be loaded")?;
    // SAFETY: each type below is the function's declaration in cuda.h; pointers are passed as it asks, to values that
    // outlive the call, and the library stays loaded while the symbols are used.
    unsafe {
        let init: Symbol<'_, unsafe extern "C" fn(c_uint) -> Status> = library.get(b"cuInit\0")?;
        let driver_version: Symbol<'_, unsafe extern "C" fn(*mut c_int) -> Status> =
            library.get(b"cuDriverGetVersion\0")?;
        let device_count: Symbol<'_, unsafe extern "C" fn(*mut c_int) -> Status> =
            library.get(b"cuDeviceGetCount\0")?;
        let device_name: Symbol<'_, unsafe extern "C" fn(*mut c_char, c_int, c_int) -> Status> =
            library.get(b"cuDeviceGetName\0")?;
        let attribute: Symbol<'_, unsafe extern "C" fn(*mut c_int, c_int, c_int) -> Status> =
            library.get(b"cuDeviceGetAttribute\0")?;

        succeed("cuInit", init(0))?;
        let (mut version, mut count) = (0, 0);
        succeed("cuDriverGetVersion", driver_version(&raw mut version))?;
        succeed("cuDeviceGetCount", device_count(&raw mut count))?;
        ensure!(count > 0, "the driver is here and sees no GPU");
        let mut list = Vec::new();
        for device in 0..count {
            let mut name = [0; 128];
            succeed("cuDeviceGetName", device_name(name.as_mut_ptr(), 127, device))?;
            // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR.
            let mut capability = [0; 2];
            for (value, number) in capability.iter_mut().zip([75, 76]) {
                succeed("cuDeviceGetAttribute", attribute(value, number, device))?;
            }
            // The array's last byte is never written, so a zero ends the name.
            let name = CStr::from_ptr(name.as_ptr()).to_string_lossy();
            list.push(format!("{device} {name} (sm_{}{})", capability[0], capability[1]));
        }
        Ok(format!("CUDA {}.{}: {}", version / 1000, version % 1000 / 10, list.join(", ")))
    }
}

fn succeed(function: &str, status: Status) -> Result<()> {
    ensure!(status == 0, "{function} fails with CUDA error {status}");
    Ok(())
}
