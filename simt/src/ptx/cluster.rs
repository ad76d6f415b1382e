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
    // SAFETY: a barrier; memory safety does not depend on which threads reach it.
    unsafe {
        llvm::cluster_arrive();
        llvm::cluster_wait();
    }
}
