//! D8 to D11: the transposes, from the naive ones to two padded tiles per block.

use gpu::lab::tutorial::transposes::naive::{grid_col, grid_row, transpose_naive_col, transpose_naive_row};
use gpu::lab::tutorial::transposes::smem::{self, transpose_smem};
use gpu::lab::tutorial::transposes::unrolled::{self, transpose_smem_unroll_pad1, transpose_smem_unroll_pad2};
use gpu::transpose::padded::{self, transpose_smem_pad1, transpose_smem_pad2};
use simt::Kernel;
use simt::global::{MatMut, MatRef};
use warpwright::Launch;

use super::Case;
use crate::data::uniform;

type Transpose = &'static Kernel<(MatRef<'static, f32>, MatMut<'static, f32>)>;
type Grid = fn(u32, u32) -> [u32; 3];

pub(super) fn cases() -> Vec<Case> {
    let kernels: [(Transpose, Grid); 7] = [
        (&transpose_naive_row, grid_row),
        (&transpose_naive_col, grid_col),
        (&transpose_smem, smem::grid),
        (&transpose_smem_pad1, padded::grid),
        (&transpose_smem_pad2, padded::grid),
        (&transpose_smem_unroll_pad1, unrolled::grid),
        (&transpose_smem_unroll_pad2, unrolled::grid),
    ];
    let shapes = [[1024, 768], [1003, 771]];
    kernels.into_iter().flat_map(|(kernel, grid)| shapes.map(|shape| case(kernel, grid, shape))).collect()
}

fn case(kernel: Transpose, grid: Grid, [rows, cols]: [usize; 2]) -> Case {
    Case {
        kernel: kernel.info().name,
        shape: format!("{rows} x {cols}"),
        make: Box::new(move |device| {
            let a = device.upload_matrix(&uniform(rows * cols, 1, 5), rows, cols)?;
            let mut b = device.alloc_matrix(cols, rows)?;
            device.launch(kernel, Launch::grid(grid(rows as u32, cols as u32)), (&a, &mut b))
        }),
    }
}
