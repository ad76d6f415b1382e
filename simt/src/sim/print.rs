//! Lines that kernels print.

use core::fmt::Arguments;

use simulator::device;

pub(crate) fn line(message: Arguments<'_>) {
    device::print(message);
}
