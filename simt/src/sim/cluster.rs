//! Clusters.

use simulator::device;

#[inline(always)]
pub(crate) fn rank() -> u32 {
    device::cluster_rank()
}
#[inline(always)]
pub(crate) fn size() -> u32 {
    device::cluster_size()
}
#[inline(always)]
#[track_caller]
pub(crate) fn sync() {
    device::cluster_sync();
}
