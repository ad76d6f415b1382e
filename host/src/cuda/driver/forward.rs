//! Forwarding of the listed driver functions ([`super::functions`]): typed, their status recorded.

use std::ffi::{c_char, c_void};
use std::sync::atomic::Ordering;

use super::functions::driver_functions;
use super::kernel_graph::KernelNode;
use super::launch_attribute::Config;
use super::library::load;
use super::slots::{self, Slot};
use super::status::{Handle, codes, record};

/// An address in device memory.
type Address = u64;

/// The address in `slot`; loads the driver if it is not loaded yet. The error is the status of a call without a driver,
/// or of a call to a function that the driver lacks.
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
        pub(super) mod typed {
            use super::*;
            $(
                /// Calls the driver's function of the same name; returns the driver's status unchanged.
                ///
                /// # Safety
                /// That function's contract.
                #[allow(non_snake_case, clippy::too_many_arguments, reason = "name and signature are the driver's")]
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
                #[allow(clippy::too_many_arguments, reason = "the signature is the driver's")]
                unsafe extern "C" fn $name($($argument: $type),*) -> i32 {
                    // SAFETY: the caller keeps the function's contract.
                    record(unsafe { typed::$name($($argument),*) })
                }
            )*
        }
    };
}
driver_functions! { forwards }
