//! Transposition, permutation of dimensions, and copies between strides.

pub mod boxed;
pub mod boxes;
pub mod cell;
pub mod in_place;
pub mod padded;
pub mod permute;
pub mod shift;
pub mod shifted;
pub mod strided;
pub mod swizzled;
pub mod tile;

/// The family's kernels.
#[cfg(not(target_arch = "nvptx64"))]
pub const KERNELS: &[&simt::KernelInfo] = &[
    boxes::permute_boxes_b8.info(),
    boxes::permute_boxes_b16.info(),
    boxes::permute_boxes_b32.info(),
    boxes::permute_boxes_b64.info(),
    boxes::permute_boxes_b128.info(),
    in_place::transpose_in_place_b8.info(),
    in_place::transpose_in_place_b16.info(),
    in_place::transpose_in_place_b32.info(),
    in_place::transpose_in_place_b64.info(),
    in_place::transpose_in_place_b128.info(),
    padded::transpose_smem_pad1.info(),
    padded::transpose_smem_pad2.info(),
    permute::permute_b8.info(),
    permute::permute_b16.info(),
    permute::permute_b32.info(),
    permute::permute_b64.info(),
    permute::permute_b128.info(),
    shifted::transpose_shifted_b8.info(),
    shifted::transpose_shifted_b16.info(),
    shifted::transpose_shifted_b32.info(),
    shifted::transpose_shifted_b64.info(),
    shifted::transpose_shifted_b128.info(),
    strided::copy_strided_b8.info(),
    strided::copy_strided_b16.info(),
    strided::copy_strided_b32.info(),
    strided::copy_strided_b64.info(),
    strided::copy_strided_b128.info(),
    swizzled::transpose_b8.info(),
    swizzled::transpose_b16.info(),
    swizzled::transpose_b32.info(),
    swizzled::transpose_b64.info(),
    swizzled::transpose_b128.info(),
];
