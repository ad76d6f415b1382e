//! What the kernels of products take, as types: see [`call`](crate::gemm::call).

use simt::Kernel;
use simt::global::{VecMut, VecRef};
use simt::tma::{TensorMap, TensorMapMut};

/// A kernel for a product of numbers `T`, whose sums are `W`: the maps of A, of B and of C; C, C in `W` and the bias; m, n, k and the
/// number of matrices; how A's and B's matrix goes on with C's; elements of C from row to row and from matrix to matrix;
/// alpha and beta; flags. One of both C is empty, and the map of C counts only with
/// [`TMA_STORE`](super::gemm::finish::TMA_STORE).
pub type Boxed<T, W = f32> = Kernel<(
    TensorMap<T>,
    TensorMap<T>,
    TensorMapMut<T>,
    VecMut<'static, T>,
    VecMut<'static, W>,
    VecRef<'static, W>,
    [u32; 4],
    [u32; 2],
    [u64; 2],
    [W; 2],
    u32,
)>;

/// A [`Boxed`] kernel whose blocks may share tiles along k: at the end how many tiles they share, room for sums that are handed
/// on, their flags, and the launch's token, which no flag may be beforehand. See [`share`](super::gemm::share).
pub type Shared<T, W = f32> = Kernel<(
    TensorMap<T>,
    TensorMap<T>,
    TensorMapMut<T>,
    VecMut<'static, T>,
    VecMut<'static, W>,
    VecRef<'static, W>,
    [u32; 4],
    [u32; 2],
    [u64; 2],
    [W; 2],
    u32,
    u32,
    VecMut<'static, f32>,
    VecMut<'static, u64>,
    u64,
)>;
