//! Device memory: buffers, matrices, views of them, and copies.
//!
//! A [`Buffer`] owns elements one after the other, a [`Matrix`] is a buffer with a [`Layout`], a [`Tensor`] one with up to six
//! axes. Views borrow either, whole or
//! in part, as slices borrow a `Vec`: [`BufferView`] and [`MatrixView`] for reading, any number of them;
//! [`BufferViewMut`] and [`MatrixViewMut`] for writing, one at a time for each element; [`TensorView`] and [`TensorViewMut`]
//! see any of them with any strides. [`TmaTensor`] and [`TmaTensorMut`] are what the copy engine sees of a view.
//!
//! Memory is freed when its owner is dropped; on a GPU the drop waits for the work that uses it. Elements are
//! numbers or short vectors of them, for which any bits are a value.

mod allocation;
mod axes;
mod boxes;
mod buffer;
mod buffer_view;
pub(crate) mod bytes;
mod host_data;
mod layout;
mod matrix;
mod matrix_view;
mod pinned;
mod region;
mod tensor;
mod tensor_view;

pub(crate) use allocation::Allocation;
pub(crate) use axes::Axes;
pub use boxes::{TmaTensor, TmaTensorMut};
pub use buffer::Buffer;
pub use buffer_view::{BufferView, BufferViewMut};
pub use host_data::HostData;
pub use layout::Layout;
pub use matrix::Matrix;
pub use matrix_view::{MatrixView, MatrixViewMut};
pub(crate) use pinned::release;
pub use pinned::{PinnedBuffer, Transfer};
pub(crate) use region::Region;
pub use tensor::Tensor;
pub use tensor_view::{TensorView, TensorViewMut};
