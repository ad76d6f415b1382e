//! The sum of a vector in one launch.

use anyhow::{Context as _, Result};
use gpu::reduce::whole::depth::reduction_depth;
use gpu::reduce::whole::partition::{blocks, workspace_words};
use gpu::reduce::whole::sums::reduce_sum_f32;
use warpwright::simulator::Counters;
use warpwright::{Buffer, Device, Launch, reference};

use super::{Finding, Job, Output, Task};
use crate::data::{Poison, uniform};
use crate::units::{Work, count};

struct Sum {
    x: Vec<f32>,
    on_device: Buffer<f32>,
    workspace: Buffer<u64>,
    out: Buffer<f32>,
}

/// Blocks for `n` elements.
fn grid(n: usize) -> u32 {
    blocks(n, 4, reduce_sum_f32.info().min_blocks.unwrap_or(1))
}

/// Adds `n` elements; reads them once.
pub(crate) fn job(n: usize, seed: u64) -> Job {
    Job {
        kernel: reduce_sum_f32.info(),
        shape: format!("{} elements", count(n)),
        work: Work::Bytes(4.0 * n as f64),
        prepare: Box::new(move |device| {
            let x = uniform(n, seed, 5);
            let on_device = device.upload(&x)?;
            // A state is one word.
            let workspace = device.alloc_zeros(workspace_words(grid(n), 1))?;
            Ok(Box::new(Sum { x, on_device, workspace, out: device.alloc(1)? }))
        }),
    }
}

impl Task for Sum {
    fn poison(&mut self, poison: &Poison) -> Result<()> {
        Ok(poison.fill(&mut self.out)?)
    }

    /// The workspace is 0 again after each launch: the next needs no other work before it.
    fn launch(&mut self, device: &Device) -> Result<Option<Counters>> {
        let arguments = (&self.on_device, &mut self.workspace, &mut self.out);
        Ok(device.launch(&reduce_sum_f32, Launch::grid(grid(self.x.len())), arguments)?.counters)
    }

    fn output(&self) -> Result<Output> {
        Ok(self.out.download()?.into())
    }

    fn check(&self, output: &Output) -> Result<Finding> {
        let reference = reference::sum_in_f64(&self.x, reduction_depth(self.x.len(), 4));
        let verdict = reference.check(output.reals().iter()).context("the sum")?;
        Ok(Finding { worst: verdict.worst, detail: verdict.to_string() })
    }
}
