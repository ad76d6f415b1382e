//! Programmatic dependent launch. Not `nomem`: LLVM must not move memory accesses before the wait.

use core::arch::asm;

#[inline(always)]
pub(crate) fn dependency_wait() {
    // SAFETY: waits.
    unsafe { asm!("griddepcontrol.wait;", options(nostack, preserves_flags)) }
}

#[inline(always)]
pub(crate) fn launch_dependents() {
    // SAFETY: starts another grid, which waits for this one before it accesses memory.
    unsafe { asm!("griddepcontrol.launch_dependents;", options(nostack, preserves_flags)) }
}
