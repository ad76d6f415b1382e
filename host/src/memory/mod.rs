//! Device memory: buffers, matrices, views of them, and copies.
//!
//! A [`Buffer`] owns contiguous elements, a [`Matrix`] is a buffer with a [`Layout`], a [`Tensor`] a buffer with up to
//! six axes. Views borrow them, whole or in part, as slices borrow a `Vec`: [`BufferView`] and [`MatrixView`] for
//! reading, any number at a time; [`BufferViewMut`] and [`MatrixViewMut`] for writing, one at a time for each element.
//! [`TensorView`] and [`TensorViewMut`] have any strides. [`TmaTensor`] and [`TmaTensorMut`] are views as TMA tensor
//! maps.
//!
//! Memory is freed when its owner is dropped; on a GPU the drop waits for the work that uses it. Elements are numbers
//! or short vectors of them, for which every bit pattern is valid.
//!
//! Imports: `allocation`, `layout`, `axes`, `bytes`, `untyped` ← `buffer_view` ← `buffer`; `buffer_view` ←
//! `matrix_view` ← `tensor_view`; each view ← its owner (`matrix`, `tensor`) ← `upload`, `host_data`.

mod allocation;
mod axes;
mod buffer;
mod buffer_view;
pub(crate) mod bytes;
mod host_data;
mod layout;
mod matrix;
mod matrix_view;
mod span;
mod tensor;
mod tensor_view;
mod tma_tensor;
mod transfer;
mod untyped;
mod upload;
mod view_pair;

pub(crate) use allocation::Allocation;
pub(crate) use axes::Axes;
#[cfg(feature = "reduce")]
pub(crate) use axes::MOST_AXES;
pub use buffer::Buffer;
pub(crate) use buffer_view::UntypedBuffer;
pub use buffer_view::{BufferView, BufferViewMut};
pub use host_data::HostData;
pub use layout::Layout;
pub use matrix::Matrix;
pub use matrix_view::{MatrixView, MatrixViewMut};
pub(crate) use matrix_view::{UntypedMatrix, UntypedMatrixMut};
pub use tensor::Tensor;
pub use tensor_view::{TensorView, TensorViewMut};
pub(crate) use tensor_view::{UntypedTensor, UntypedTensorMut};
pub(crate) use tma_tensor::{EncodedMap, KeptTensor, KeptTensorMut};
#[cfg(feature = "gemm")]
pub(crate) use tma_tensor::{TmaShape, TmaShapeMut};
pub use tma_tensor::{TmaTensor, TmaTensorMut};
pub(crate) use transfer::release;
pub use transfer::{PinnedBuffer, Transfer};
