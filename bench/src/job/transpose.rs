//! B = Aᵀ.

use anyhow::Result;
use gpu::transpose::padded::{self, transpose_smem_pad1, transpose_smem_pad2};
use gpu::transpose::swizzled::{self, transpose_b32};
use ndarray::ArrayView2;
use simt::Kernel;
use simt::global::{MatMut, MatRef};
use warpwright::simulator::Counters;
use warpwright::{Buffer, Device, Launch, Layout, reference};

use super::{Finding, Job, Output, Task};
use crate::data::{Poison, uniform};
use crate::units::Work;

/// A kernel that transposes.
pub(crate) type Transpose = &'static Kernel<(MatRef<'static, f32>, MatMut<'static, f32>)>;

/// Blocks for a matrix of so many rows and columns.
pub(crate) type Grid = fn(u32, u32) -> [u32; 3];

/// The kernels of the main job.
pub(super) const KERNELS: [(Transpose, Grid); 3] =
    [(&transpose_smem_pad1, padded::grid), (&transpose_smem_pad2, padded::grid), (&transpose_b32, swizzled::grid)];

struct Transposed {
    kernel: Transpose,
    grid: Grid,
    n: usize,
    a: Vec<f32>,
    on_device: [Buffer<f32>; 2],
}

/// Transposes an `n` × `n` matrix: reads it once, writes it once.
pub(crate) fn job(kernel: Transpose, grid: Grid, n: usize, seed: u64) -> Job {
    Job {
        kernel: kernel.info(),
        shape: format!("{n} x {n}"),
        work: Work::Bytes(8.0 * (n * n) as f64),
        prepare: Box::new(move |device| {
            let a = uniform(n * n, seed, 2);
            let on_device = [device.upload(&a)?, device.alloc(n * n)?];
            Ok(Box::new(Transposed { kernel, grid, n, a, on_device }))
        }),
    }
}

impl Task for Transposed {
    fn poison(&mut self, poison: &Poison) -> Result<()> {
        Ok(poison.fill(&mut self.on_device[1])?)
    }

    fn launch(&mut self, device: &Device) -> Result<Option<Counters>> {
        let [a, b] = &mut self.on_device;
        let layout = Layout::contiguous(self.n, self.n);
        let (a, b) = (a.view().as_matrix(layout)?, b.view_mut().as_matrix(layout)?);
        let grid = (self.grid)(self.n as u32, self.n as u32);
        Ok(device.launch(self.kernel, Launch::grid(grid), (a, b))?.counters)
    }

    fn output(&self) -> Result<Output> {
        Ok(self.on_device[1].download()?.into())
    }

    fn check(&self, output: &Output) -> Result<Finding> {
        let expected = reference::transpose(ArrayView2::from_shape((self.n, self.n), &self.a)?);
        Ok(Finding::of_bits(expected.into_raw_vec_and_offset().0, output))
    }
}
