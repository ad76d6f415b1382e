//! Bodies of the intrinsics for PTX.
//!
//! What threads of a warp or block must execute *together* is an LLVM intrinsic, which the optimiser knows to be
//! convergent; it may duplicate or sink an `asm!`. Every other instruction that Rust cannot express is `asm!`: with
//! `nomem` or `readonly` where it is pure, without where it orders memory. `matrix` and `wgmma` are the exception to
//! the first rule and state why.

pub(crate) mod async_copy;
pub(crate) mod atomic;
pub(crate) mod cluster;
pub(crate) mod convert;
pub(crate) mod grid;
mod llvm;
mod load_store;
pub(crate) mod math;
pub(crate) mod matrix;
pub(crate) mod mbarrier;
pub(crate) mod memory;
mod message;
pub(crate) mod print;
#[cfg(warpwright_report)]
mod report;
pub(crate) mod sync;
pub(crate) mod thread;
pub(crate) mod tma;
pub(crate) mod warp;
pub(crate) mod wgmma;

/// On the host this is the simulator's trait for the bits of an element; here it has no methods.
///
/// # Safety
/// The type has no padding, and any bytes are a valid value.
pub unsafe trait Plain: Copy + 'static {}

macro_rules! plain {
    ($($t:ty)+) => {$(
        // SAFETY: a number.
        unsafe impl Plain for $t {}
    )+};
}
plain! { u8 i8 u16 i16 u32 i32 u64 i64 f32 f64 }

#[inline(always)]
pub(crate) fn opaque(x: u32) -> u32 {
    let mut x = x;
    // SAFETY: no instruction.
    unsafe { core::arch::asm!("/* {} */", inout(reg32) x, options(nomem, nostack, preserves_flags)) }
    x
}

#[inline(always)]
pub(crate) fn branch(condition: bool) -> bool {
    condition
}

/// A panic ends the kernel, with a report: see [`crate::report`].
#[cfg(warpwright_report)]
#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    report::panic(info)
}

/// A panic ends the kernel without a message. The audit refuses kernels of this project that contain a panic.
#[cfg(not(warpwright_report))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // SAFETY: ends the kernel.
    unsafe { core::arch::nvptx::trap() }
}
