//! z = x + y.

use anyhow::Result;
use simt::Kernel;
use simt::global::{VecMut, VecRef};
use warpwright::simulator::Counters;
use warpwright::{Buffer, Device, Launch, reference};

use super::{Finding, Job, Output, Task};
use crate::data::{Poison, uniform};
use crate::units::{Work, count};

/// A kernel that adds two vectors.
pub(crate) type AddKernel = &'static Kernel<(VecRef<'static, f32>, VecRef<'static, f32>, VecMut<'static, f32>)>;

struct Add {
    kernel: AddKernel,
    grid: fn(usize) -> [u32; 3],
    x: Vec<f32>,
    y: Vec<f32>,
    on_device: [Buffer<f32>; 3],
}

/// Adds two vectors of `n` elements: reads two, writes one.
pub(crate) fn job(kernel: AddKernel, grid: fn(usize) -> [u32; 3], n: usize, seed: u64) -> Job {
    Job {
        kernel: kernel.info(),
        shape: format!("{} elements", count(n)),
        work: Work::Bytes(12.0 * n as f64),
        prepare: Box::new(move |device| {
            let (x, y) = (uniform(n, seed, 0), uniform(n, seed, 1));
            let on_device = [device.upload(&x)?, device.upload(&y)?, device.alloc(n)?];
            Ok(Box::new(Add { kernel, grid, x, y, on_device }))
        }),
    }
}

impl Task for Add {
    fn poison(&mut self, poison: &Poison) -> Result<()> {
        Ok(poison.fill(&mut self.on_device[2])?)
    }

    fn launch(&mut self, device: &Device) -> Result<Option<Counters>> {
        let [x, y, z] = &mut self.on_device;
        Ok(device.launch(self.kernel, Launch::grid((self.grid)(x.len())), (&*x, &*y, z))?.counters)
    }

    fn output(&self) -> Result<Output> {
        Ok(self.on_device[2].download()?.into())
    }

    fn check(&self, output: &Output) -> Result<Finding> {
        Ok(Finding::of_bits(reference::add(&self.x, &self.y), output))
    }
}
