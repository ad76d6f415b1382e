//! Operations: tuned kernels for arguments of any shape, including empty ones.
//!
//! | operation | kernels | result |
//! |---|---|---|
//! | [`gemm`](crate::Device::gemm) | those of the module [`gemm`] | act(alpha · op(A)·op(B) + beta · C + bias) |
//! | [`grouped_gemm`](crate::Device::grouped_gemm) | `gemm_grouped_…` | `C_g = A_g·B_g` for groups of rows |
//! | [`matmul`](crate::Device::matmul) | the same as of `gemm` | A·B |
//! | [`transpose`](crate::Device::transpose) | `transpose_…`; `transpose_misaligned_…` for misaligned rows | Aᵀ |
//! | [`transpose_in_place`](crate::Device::transpose_in_place) | `transpose_in_place_…` | A becomes Aᵀ |
//! | [`transpose_batch`](crate::Device::transpose_batch) | as `permute` | Aᵀ of each matrix |
//! | [`permute`](crate::Device::permute) | `permute_…`, `permute_nd_…`, `copy_strided_…` | axes in another order |
//! | [`sum`](crate::Device::sum), [`max`](crate::Device::max) … | `reduce_…`, see [`reduce`] | one number |
//! | [`reduce_axis`](crate::Device::reduce_axis) | `rows_…`, `columns_…` | a number for each line along an axis |
//! | [`reduce_segments`](crate::Device::reduce_segments) | `segments_…` | a number for each segment of a vector |
//! | [`add`](crate::Device::add) | `add_f32` | x + y |
//!
//! Matrices may have any leading dimension. Each operation allocates its result; if the result is a matrix or vector, a
//! second form with the suffix `_into` writes it to an argument. Work is queued on the device's default stream.

#[cfg(feature = "elementwise")]
mod add;
#[cfg(feature = "gemm")]
pub mod gemm;
#[cfg(feature = "gemm")]
mod matmul;
#[cfg(feature = "transpose")]
mod move_kernels;
#[cfg(any(feature = "elementwise", feature = "reduce"))]
mod operand;
#[cfg(feature = "transpose")]
mod permute;
#[cfg(feature = "transpose")]
mod plan_cache;
#[cfg(feature = "reduce")]
pub mod reduce;
#[cfg(feature = "transpose")]
mod transpose;

#[cfg(any(feature = "elementwise", feature = "reduce"))]
pub use operand::Operand;

use std::ops::Range;

use simt::KernelInfo;

use crate::error::{ArgumentRule, BadArgument, Error, Result};
use crate::launch::Launch;
use crate::stream::Stream;

/// The error of an argument whose shape does not match the other arguments.
fn shape(call: &str, argument: &str, expected: &str, found: &str, remedy: &str) -> Error {
    BadArgument::new(ArgumentRule::Shape, call, argument).expected(expected).found(found).remedy(remedy).into()
}

/// Refuses `y` if its rows and columns are not those of `x`.
fn same_shape(call: &str, x: (usize, usize), y: (usize, usize)) -> Result<()> {
    if x == y {
        return Ok(());
    }
    let describe = |(rows, cols): (usize, usize)| format!("{rows} x {cols}");
    let remedy = "pass two operands of the same shape (a vector counts as one row)";
    Err(shape(call, "y", &format!("{}, the shape of x", describe(x)), &describe(y), remedy))
}

/// The launch on the stream, if there is one.
fn on<'s>(stream: Option<&'s Stream>, launch: Launch<'s>) -> Launch<'s> {
    match stream {
        Some(stream) => launch.stream(stream),
        None => launch,
    }
}

/// Blocks of a kernel per SM.
fn blocks_per_sm(kernel: &KernelInfo) -> u32 {
    kernel.min_blocks.unwrap_or(1)
}

/// The parts of `0..len` for one launch each, if a grid has at most `blocks` blocks along the axis and each block
/// covers `per_block`.
fn grid_parts(len: usize, per_block: u32, blocks: u32) -> impl Iterator<Item = Range<usize>> {
    let part = per_block as usize * blocks as usize;
    (0..len).step_by(part).map(move |start| start..len.min(start + part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grid_parts_cover_everything_once() {
        let parts = |len| grid_parts(len, 32, 3).map(|part| (part.start, part.end)).collect::<Vec<_>>();
        assert_eq!(parts(0), []);
        assert_eq!(parts(96), [(0, 96)]);
        assert_eq!(parts(97), [(0, 96), (96, 97)]);
        assert_eq!(parts(300), [(0, 96), (96, 192), (192, 288), (288, 300)]);
    }
}
