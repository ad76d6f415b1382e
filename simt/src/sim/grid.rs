//! Programmatic dependent launch.

use simulator::device;

#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) fn dependency_wait() {
    device::dependency_wait();
}

/// No effect: the simulator runs launches one after the other.
#[cfg_attr(optimised, inline(always))]
pub(crate) fn launch_dependents() {}

#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) fn end() {
    device::end_of_kernel();
}
