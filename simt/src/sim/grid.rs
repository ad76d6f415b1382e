//! Programmatic dependent launch.

use simulator::device;

#[inline(always)]
#[track_caller]
pub(crate) fn dependency_wait() {
    device::dependency_wait();
}

/// No effect: the simulator runs launches one after the other.
#[inline(always)]
pub(crate) fn launch_dependents() {}

#[inline(always)]
#[track_caller]
pub(crate) fn end() {
    device::end_of_kernel();
}
