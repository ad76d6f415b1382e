//! Lines that kernels print.
//!
//! ```
//! use simt::{prelude::*, println};
//!
//! /// Names the elements that are not finite.
//! #[kernel(block = 256)]
//! pub fn check(x: VecRef<f32>) {
//!     let i = index_1d();
//!     if i < x.len() && !x.get(i).is_finite() {
//!         println!("x[{i}] = {}, block {}", x.get(i), block_idx_x());
//!     }
//! }
//! ```

use core::fmt::Arguments;

use crate::arch;

/// Prints a line from a kernel, as `std::println!` does on the host: on standard output, unless
/// `warpwright::Device::on_print` says where to.
///
/// On the simulator the line appears at once. On a GPU the kernel leaves a template and values in host memory, and the
/// host formats and prints them when it next waits for the device: a download, `synchronize`, or the error of a kernel
/// that has failed. Values are those of a message of a panic: numbers, `bool`, `char`, strings and references to them;
/// in place of others stands `…`. A line of a GPU has at most 496 bytes of template and values, and at most 2048 lines
/// are kept between two such waits: the host says how many more there were.
///
/// Lines of one thread are in order; those of different threads are in any order. On a GPU a kernel that prints takes
/// 32 to some 50 registers, and local memory for the values; one that does not print has nothing of it in its PTX.
/// Outside a kernel the macro prints on standard output.
#[macro_export]
macro_rules! println {
    ($($argument:tt)*) => {
        $crate::print::line(::core::format_args!($($argument)*))
    };
}

/// For `println!` only.
#[doc(hidden)]
#[cfg_attr(optimised, inline(always))]
pub fn line(message: Arguments<'_>) {
    arch::print::line(message);
}
