//! The sum of a vector in one launch.

use anyhow::{Context as _, Result};
use gpu::reduce::sum::{blocks, sum_f32};
use warpwright::simulator::Counters;
use warpwright::{Buffer, Device, Launch, oracle, sum_depth};

use super::{Finding, Job, Output, Task};
use crate::data::{Poison, uniform};
use crate::units::{Work, count};

struct Sum {
    x: Vec<f32>,
    on_device: Buffer<f32>,
    partials: Buffer<f64>,
    ticket: Buffer<u32>,
    out: Buffer<f32>,
}

/// Adds `n` elements; reads them once.
pub(crate) fn job(n: usize, seed: u64) -> Job {
    Job {
        kernel: sum_f32.info(),
        shape: format!("{} elements", count(n)),
        work: Work::Bytes(4.0 * n as f64),
        prepare: Box::new(move |device| {
            let x = uniform(n, seed, 5);
            let on_device = device.upload(&x)?;
            let (partials, ticket) = (device.alloc(blocks(n) as usize)?, device.alloc_zeros(1)?);
            Ok(Box::new(Sum { x, on_device, partials, ticket, out: device.alloc(1)? }))
        }),
    }
}

impl Task for Sum {
    fn poison(&mut self, poison: &Poison) -> Result<()> {
        Ok(poison.fill(&mut self.out)?)
    }

    /// The ticket is 0 again after each launch: the next needs no other work before it.
    fn launch(&mut self, device: &Device) -> Result<Option<Counters>> {
        let arguments = (&self.on_device, &mut self.partials, &mut self.ticket, &mut self.out);
        Ok(device.launch(&sum_f32, Launch::grid(blocks(self.x.len())), arguments)?.counters)
    }

    fn output(&self) -> Result<Output> {
        Ok(self.out.download()?.into())
    }

    fn check(&self, output: &Output) -> Result<Finding> {
        let reference = oracle::sum_in_f64(&self.x, sum_depth(self.x.len()));
        let verdict = reference.check(output.reals()).context("the sum")?;
        Ok(Finding { worst: verdict.worst, detail: verdict.to_string() })
    }
}
