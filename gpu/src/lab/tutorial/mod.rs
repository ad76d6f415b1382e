//! The kernels of the tutorial: a series of steps for each topic.

pub mod banks;
pub mod matmul;
pub mod squares;
pub mod transposes;
pub mod vector_add;
pub mod warps;

/// The kernels of this module.
#[cfg(not(target_arch = "nvptx64"))]
pub const KERNELS: &[&simt::KernelInfo] = &[
    banks::rectangular::set_row_read_col_rect.info(),
    banks::rectangular::set_row_read_col_rect_dyn.info(),
    banks::rectangular::set_row_read_col_rect_dyn_pad2.info(),
    banks::rectangular::set_row_read_col_rect_pad1.info(),
    banks::rectangular::set_row_read_col_rect_pad2.info(),
    banks::square::set_row_read_col.info(),
    banks::square::set_row_read_col_dyn.info(),
    banks::square::set_row_read_col_dyn_pad.info(),
    banks::square::set_row_read_col_pad.info(),
    matmul::block_tiled::matmul_block_tiled.info(),
    matmul::single_block::matmul_single_block.info(),
    squares::partials::sum_squares_partials.info(),
    squares::thread0::sum_squares_thread0.info(),
    squares::tree_mask::sum_squares_tree_mask.info(),
    transposes::naive::transpose_naive_col.info(),
    transposes::naive::transpose_naive_row.info(),
    transposes::smem::transpose_smem.info(),
    transposes::unrolled::transpose_smem_unroll_pad1.info(),
    transposes::unrolled::transpose_smem_unroll_pad2.info(),
    vector_add::vector_add.info(),
    warps::color_to_gray::color_to_gray.info(),
    warps::divergent_branch::divergent_branch.info(),
    warps::interleaved::reduce_interleaved.info(),
    warps::partition::warp_partition.info(),
    warps::sequential::reduce_sequential.info(),
    warps::shuffle::reduce_shuffle.info(),
];
