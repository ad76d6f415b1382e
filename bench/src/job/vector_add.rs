//! z = x + y.

use anyhow::Result;
use gpu::ladder::vector_add::{grid, vector_add};
use warpwright::{Buffer, Device, Launch, oracle};

use super::{Finding, Job, Task};
use crate::data::{Poison, uniform};
use crate::units::{Work, count};

struct Add {
    x: Vec<f32>,
    y: Vec<f32>,
    on_device: [Buffer<f32>; 3],
}

/// Adds two vectors of `n` elements: reads two, writes one.
pub(super) fn job(n: usize, seed: u64) -> Job {
    Job {
        kernel: vector_add.info().name,
        shape: format!("{} elements", count(n)),
        work: Work::Bytes(12.0 * n as f64),
        prepare: Box::new(move |device| {
            let (x, y) = (uniform(n, seed, 0), uniform(n, seed, 1));
            let on_device = [device.upload(&x)?, device.upload(&y)?, device.alloc(n)?];
            Ok(Box::new(Add { x, y, on_device }))
        }),
    }
}

impl Task for Add {
    fn poison(&mut self, poison: &Poison) -> Result<()> {
        Ok(poison.fill(&mut self.on_device[2])?)
    }

    fn launch(&mut self, device: &Device) -> Result<()> {
        let [x, y, z] = &mut self.on_device;
        device.launch(&vector_add, Launch::grid(grid(x.len())), (&*x, &*y, z))?;
        Ok(())
    }

    fn output(&self) -> Result<Vec<f32>> {
        Ok(self.on_device[2].download()?)
    }

    fn check(&self, output: &[f32]) -> Result<Finding> {
        Ok(Finding::of_bits(&oracle::add(&self.x, &self.y), output))
    }
}
