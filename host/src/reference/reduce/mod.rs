//! References and error bounds of reductions of a vector, or of the [`lines()`] of a tensor.
//!
//! Inputs are `f64`, which represents every element of the shorter types. Sums are exact ([`Scalar`] has the part that
//! `f64` cannot represent), so that results in `f64` can be checked, too. `depth` is the depth of the reduction tree:
//! [`reduction_depth`](crate::reduce::reduction_depth), [`dot_depth`](crate::reduce::dot_depth),
//! [`axis_depth`](crate::reduce::axis_depth).

mod arithmetic;
mod best;
mod exact;
mod lines;
mod moments;
mod scalar;

pub use arithmetic::{Added, dot, mean, norm, product, sum};
pub use best::{Nan, best};
pub use lines::{lines, segments};
pub use moments::variance;
pub use scalar::{Format, Scalar};

use super::{ETA_F32, U_F32, U_F64, gamma};
