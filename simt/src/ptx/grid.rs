//! The grids before and after this one. Not `nomem`: LLVM must keep accesses to memory behind the wait.

use core::arch::asm;

#[inline(always)]
pub(crate) fn dependency_wait() {
    // SAFETY: waits.
    unsafe { asm!("griddepcontrol.wait;", options(nostack, preserves_flags)) }
}

#[inline(always)]
pub(crate) fn launch_dependents() {
    // SAFETY: lets another grid begin, which waits for this one before it touches memory.
    unsafe { asm!("griddepcontrol.launch_dependents;", options(nostack, preserves_flags)) }
}
