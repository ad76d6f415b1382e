//! Clusters.

use super::llvm;

#[inline(always)]
pub(crate) fn rank() -> u32 {
    // SAFETY: reads a special register.
    unsafe { llvm::cluster_rank() }
}
#[inline(always)]
pub(crate) fn size() -> u32 {
    // SAFETY: as above.
    unsafe { llvm::cluster_size() }
}

#[inline(always)]
pub(crate) fn sync() {
    // SAFETY: a barrier; which threads reach it is the kernel's matter, and no matter of memory safety.
    unsafe {
        llvm::cluster_arrive();
        llvm::cluster_wait();
    }
}
