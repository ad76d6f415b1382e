//! Fences and named barriers.

use core::arch::asm;

use super::llvm;
use crate::sync::Scope;

/// Not `nomem`: the compiler must not move writes below the fence, nor reads above it.
#[inline(always)]
pub(crate) fn fence(scope: Scope) {
    // SAFETY: a fence.
    unsafe {
        match scope {
            Scope::Block => asm!("fence.acq_rel.cta;", options(nostack, preserves_flags)),
            Scope::Device => asm!("fence.acq_rel.gpu;", options(nostack, preserves_flags)),
            Scope::System => asm!("fence.acq_rel.sys;", options(nostack, preserves_flags)),
        }
    }
}

/// Not `nomem`, as [`fence`].
#[inline(always)]
pub(crate) fn fence_proxy_async() {
    // SAFETY: a fence.
    unsafe { asm!("fence.proxy.async.shared::cta;", options(nostack, preserves_flags)) }
}

#[inline(always)]
pub(crate) fn named_barrier(id: u32, threads: u32) {
    // SAFETY: a barrier; memory safety does not depend on which threads reach it.
    unsafe { llvm::barrier_count(id, threads) }
}
#[inline(always)]
pub(crate) fn named_barrier_arrive(id: u32, threads: u32) {
    // SAFETY: as above.
    unsafe { llvm::barrier_arrive(id, threads) }
}
