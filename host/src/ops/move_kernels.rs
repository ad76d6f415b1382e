//! The kernels that move elements without looking at their values: one set for each element size.

use gpu::transpose::in_place::{
    transpose_in_place_b8, transpose_in_place_b16, transpose_in_place_b32, transpose_in_place_b64,
    transpose_in_place_b128,
};
use gpu::transpose::misaligned::{
    transpose_misaligned_b8, transpose_misaligned_b16, transpose_misaligned_b32, transpose_misaligned_b64,
    transpose_misaligned_b128,
};
use gpu::transpose::permute::{DIMS, permute_b8, permute_b16, permute_b32, permute_b64, permute_b128};
use gpu::transpose::permute_nd::{
    PermuteNdArgs, permute_nd_b8, permute_nd_b16, permute_nd_b32, permute_nd_b64, permute_nd_b128,
};
use gpu::transpose::strided::{
    copy_strided_b8, copy_strided_b16, copy_strided_b32, copy_strided_b64, copy_strided_b128,
};
use gpu::transpose::swizzled::{transpose_b8, transpose_b16, transpose_b32, transpose_b64, transpose_b128};
use simt::element::{Element, Vec4};
use simt::global::{MatMut, MatRef, VecMut, VecRef};
use simt::{Kernel, StructArg};

use crate::launch::Fields;

/// One stride for each dimension of a kernel.
pub(super) type Strides = [u64; DIMS];
/// One number for each dimension of a kernel.
pub(super) type Extents = [u32; DIMS];

/// Out-of-place transposition.
pub(super) type Transpose<U> = Kernel<(MatRef<'static, U>, MatMut<'static, U>)>;
/// In-place transposition.
pub(super) type TransposeInPlace<U> = Kernel<(MatMut<'static, U>,)>;
/// Permutation by 2D tiles.
pub(super) type Permute<U> = Kernel<(VecRef<'static, U>, VecMut<'static, U>, Extents, Strides, Strides)>;
/// Permutation by N-dimensional tiles.
pub(super) type PermuteNd<U> = Kernel<(VecRef<'static, U>, VecMut<'static, U>, Strides, Strides, PermuteNdArgs)>;
/// Strided copy, element by element.
pub(super) type CopyStrided<U> =
    Kernel<(VecRef<'static, U>, VecMut<'static, U>, u32, Extents, [u32; 2 * DIMS], Strides, Strides)>;

/// The fields of [`PermuteNdArgs`].
pub(super) type PermuteNdFields = Fields<<PermuteNdArgs as StructArg>::Fields>;

/// An element type that stands for all elements of its size, with the kernels for it.
pub(super) trait MoveKernels: Element {
    /// Matrices whose rows are aligned.
    const TRANSPOSE: Transpose<Self>;
    /// Matrices whose rows may start at any element.
    const TRANSPOSE_MISALIGNED: Transpose<Self>;
    const TRANSPOSE_IN_PLACE: TransposeInPlace<Self>;
    const PERMUTE: Permute<Self>;
    const PERMUTE_ND: PermuteNd<Self>;
    const COPY_STRIDED: CopyStrided<Self>;
}

macro_rules! move_kernels {
    ($(
        $t:ty: $transpose:ident $misaligned:ident $in_place:ident $permute:ident $permute_nd:ident $strided:ident;
    )+) => {$(
        impl MoveKernels for $t {
            const TRANSPOSE: Transpose<Self> = $transpose;
            const TRANSPOSE_MISALIGNED: Transpose<Self> = $misaligned;
            const TRANSPOSE_IN_PLACE: TransposeInPlace<Self> = $in_place;
            const PERMUTE: Permute<Self> = $permute;
            const PERMUTE_ND: PermuteNd<Self> = $permute_nd;
            const COPY_STRIDED: CopyStrided<Self> = $strided;
        }
    )+};
}
move_kernels! {
    u8: transpose_b8 transpose_misaligned_b8 transpose_in_place_b8 permute_b8 permute_nd_b8 copy_strided_b8;
    u16: transpose_b16 transpose_misaligned_b16 transpose_in_place_b16 permute_b16 permute_nd_b16 copy_strided_b16;
    f32: transpose_b32 transpose_misaligned_b32 transpose_in_place_b32 permute_b32 permute_nd_b32 copy_strided_b32;
    u64: transpose_b64 transpose_misaligned_b64 transpose_in_place_b64 permute_b64 permute_nd_b64 copy_strided_b64;
    Vec4<u32>:
        transpose_b128 transpose_misaligned_b128 transpose_in_place_b128 permute_b128 permute_nd_b128 copy_strided_b128;
}

/// Evaluates `$call` with `$U` as the [`MoveKernels`] type of `$size` bytes.
macro_rules! by_size {
    ($size:expr, $U:ident => $call:expr) => {
        match $size {
            1 => by_size!(@as u8, $U => $call),
            2 => by_size!(@as u16, $U => $call),
            4 => by_size!(@as f32, $U => $call),
            8 => by_size!(@as u64, $U => $call),
            _ => by_size!(@as ::simt::element::Vec4<u32>, $U => $call),
        }
    };
    (@as $t:ty, $U:ident => $call:expr) => {{
        type $U = $t;
        $call
    }};
}
pub(super) use by_size;
