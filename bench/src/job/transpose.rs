//! B = Aᵀ.

use anyhow::Result;
use gpu::transpose::padded::{grid, transpose_smem_pad1, transpose_smem_pad2};
use ndarray::ArrayView2;
use simt::Kernel;
use simt::global::{MatMut, MatRef};
use warpwright::{Buffer, Device, Launch, Layout, oracle};

use super::{Finding, Job, Task};
use crate::data::{Poison, uniform};
use crate::units::Work;

type Transpose = &'static Kernel<(MatRef<'static, f32>, MatMut<'static, f32>)>;

struct Transposed {
    kernel: Transpose,
    n: usize,
    a: Vec<f32>,
    on_device: [Buffer<f32>; 2],
}

/// Transposes an `n` × `n` matrix by each kernel: reads it once, writes it once.
pub(super) fn jobs(n: usize, seed: u64) -> impl Iterator<Item = Job> {
    let kernels: [Transpose; 2] = [&transpose_smem_pad1, &transpose_smem_pad2];
    kernels.into_iter().map(move |kernel| Job {
        kernel: kernel.info().name,
        shape: format!("{n} x {n}"),
        work: Work::Bytes(8.0 * (n * n) as f64),
        prepare: Box::new(move |device| {
            let a = uniform(n * n, seed, 2);
            let on_device = [device.upload(&a)?, device.alloc(n * n)?];
            Ok(Box::new(Transposed { kernel, n, a, on_device }))
        }),
    })
}

impl Task for Transposed {
    fn poison(&mut self, poison: &Poison) -> Result<()> {
        Ok(poison.fill(&mut self.on_device[1])?)
    }

    fn launch(&mut self, device: &Device) -> Result<()> {
        let [a, b] = &mut self.on_device;
        let layout = Layout::contiguous(self.n, self.n);
        let (a, b) = (a.view().as_matrix(layout)?, b.view_mut().as_matrix(layout)?);
        device.launch(self.kernel, Launch::grid(grid(self.n as u32, self.n as u32)), (a, b))?;
        Ok(())
    }

    fn output(&self) -> Result<Vec<f32>> {
        Ok(self.on_device[1].download()?)
    }

    fn check(&self, output: &[f32]) -> Result<Finding> {
        let expected = oracle::transpose(ArrayView2::from_shape((self.n, self.n), &self.a)?);
        Ok(Finding::of_bits(expected.as_slice().unwrap_or_default(), output))
    }
}
