//! Transposition, permutation of dimensions, and strided copies.
//!
//! | module | kernels |
//! |---|---|
//! | [`swizzled`] | B = Aᵀ, aligned rows; [`misaligned`]: rows at any address; [`in_place`]: A = Aᵀ |
//! | [`permute`] | permutations by 2-D tiles; [`permute_nd`]: by N-dimensional tiles, for short fastest dimensions |
//! | [`strided`] | copies between any strides |
//! | [`padded`] | B = Aᵀ through a padded tile, of 4-byte elements |
//!
//! Parts: [`tile`] and [`tile_layout`] (a swizzled tile), [`funnel_shift`] (misaligned rows), [`word_access`] (words of
//! a row).

pub mod funnel_shift;
pub mod in_place;
pub mod misaligned;
pub mod padded;
pub mod permute;
pub mod permute_nd;
pub mod strided;
pub mod swizzled;
pub mod tile;
pub mod tile_layout;
pub mod word_access;

/// The family's kernels.
#[cfg(not(target_arch = "nvptx64"))]
pub const KERNELS: &[&simt::KernelInfo] = &[
    permute_nd::permute_nd_b8.info(),
    permute_nd::permute_nd_b16.info(),
    permute_nd::permute_nd_b32.info(),
    permute_nd::permute_nd_b64.info(),
    permute_nd::permute_nd_b128.info(),
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
    misaligned::transpose_misaligned_b8.info(),
    misaligned::transpose_misaligned_b16.info(),
    misaligned::transpose_misaligned_b32.info(),
    misaligned::transpose_misaligned_b64.info(),
    misaligned::transpose_misaligned_b128.info(),
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
