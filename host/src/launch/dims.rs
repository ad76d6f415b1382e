//! Extents of grids and blocks.

use super::Sealed;

/// Extents along x, y and z. Made from `x`, `(x, y)`, `(x, y, z)` or an array, of any [`Extent`]s; omitted extents
/// are 1. [`Device::launch`](crate::Device::launch) refuses those that kernel or device do not allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dims(pub(super) [i128; 3]);

/// A number of blocks, threads or elements: `u32`, `u64`, `usize` or `i32`, the type of a literal.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an extent of a launch",
    note = "pass `x`, `(x, y)`, `(x, y, z)` or an array, of `u32`, `u64`, `usize` or `i32`"
)]
pub trait Extent: Sealed + Copy {
    /// Its value, for the launch to check.
    #[doc(hidden)]
    fn value(self) -> i128;
}

macro_rules! extents {
    ($($t:ty)+) => {$(
        impl Extent for $t {
            fn value(self) -> i128 {
                self as i128
            }
        }
    )+};
}
extents! { u32 u64 usize i32 }

// The other types of `extents!` are sealed as arguments of kernels.
impl Sealed for usize {}

impl<X: Extent> From<X> for Dims {
    fn from(x: X) -> Self {
        Self([x.value(), 1, 1])
    }
}

impl<X: Extent, Y: Extent> From<(X, Y)> for Dims {
    fn from((x, y): (X, Y)) -> Self {
        Self([x.value(), y.value(), 1])
    }
}

impl<X: Extent, Y: Extent, Z: Extent> From<(X, Y, Z)> for Dims {
    fn from((x, y, z): (X, Y, Z)) -> Self {
        Self([x.value(), y.value(), z.value()])
    }
}

impl<X: Extent> From<[X; 3]> for Dims {
    fn from(extents: [X; 3]) -> Self {
        Self(extents.map(X::value))
    }
}
