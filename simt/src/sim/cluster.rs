//! Clusters.

use simulator::device;

#[cfg_attr(optimised, inline(always))]
pub(crate) fn rank() -> u32 {
    device::cluster_rank()
}
#[cfg_attr(optimised, inline(always))]
pub(crate) fn size() -> u32 {
    device::cluster_size()
}
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) fn sync() {
    device::cluster_sync();
}
