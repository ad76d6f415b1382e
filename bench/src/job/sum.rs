//! The sum of a vector, launch after launch until one value is left.

use anyhow::{Result, ensure};
use gpu::reduce::dynamic::grid;
use rayon::prelude::*;
use simt::Kernel;
use simt::global::{VecMut, VecRef};
use warpwright::simulator::Counters;
use warpwright::{Buffer, Device, Launch, reference};

use super::{Finding, Job, Output, Task};
use crate::data::{Poison, uniform};
use crate::units::{Work, count};

/// Threads of a block in the main job, and so elements that become one.
pub(super) const THREADS: usize = 256;

/// A kernel that leaves one sum for each block of threads, with an element of shared memory for each thread.
pub(crate) type Reduce = &'static Kernel<(VecRef<'static, f32>, VecMut<'static, f32>)>;

struct Sum {
    kernel: Reduce,
    threads: usize,
    x: Vec<f32>,
    on_device: Buffer<f32>,
    /// One sum per block of the level before; the last has one element.
    levels: Vec<Buffer<f32>>,
}

/// Adds `n` elements in blocks of `threads`, a power of two; reads them once, the sums of blocks weigh little.
pub(crate) fn job(kernel: Reduce, n: usize, threads: usize, seed: u64) -> Job {
    Job {
        kernel: kernel.info(),
        shape: format!("{} elements", count(n)),
        work: Work::Bytes(4.0 * n as f64),
        prepare: Box::new(move |device| {
            let x = uniform(n, seed, 5);
            let on_device = device.upload(&x)?;
            let mut levels = vec![device.alloc(n.div_ceil(threads))?];
            while let Some(last) = levels.last().filter(|last| last.len() > 1) {
                levels.push(device.alloc(last.len().div_ceil(threads))?);
            }
            Ok(Box::new(Sum { kernel, threads, x, on_device, levels }))
        }),
    }
}

impl Task for Sum {
    fn poison(&mut self, poison: &Poison) -> Result<()> {
        for level in &mut self.levels {
            poison.fill(level)?;
        }
        Ok(())
    }

    fn launch(&mut self, device: &Device) -> Result<Option<Counters>> {
        let (threads, mut from) = (self.threads, &self.on_device);
        let mut counters: Option<Counters> = None;
        for to in &mut self.levels {
            let launch = Launch::grid(grid(from.len(), threads as u32)).block(threads as u32).shared_elements(threads);
            let level = device.launch(self.kernel, launch, (from, &mut *to))?.counters;
            match (&mut counters, level) {
                (Some(all), Some(level)) => all.merge(&level),
                (all, level) => *all = level,
            }
            from = to;
        }
        Ok(counters)
    }

    fn output(&self) -> Result<Output> {
        let mut values = Vec::new();
        for level in &self.levels {
            values.extend(level.download()?);
        }
        Ok(values.into())
    }

    /// Each value of each level against the sum of the elements of `x` below it: ℓ levels down, T^ℓ elements of blocks
    /// of T and ℓ·log₂ T additions deep.
    fn check(&self, output: &Output) -> Result<Finding> {
        let output = &*output.reals();
        let values: usize = self.levels.iter().map(Buffer::len).sum();
        ensure!(output.len() == values, "{} values instead of {values}", output.len());
        let (mut section, mut depth, mut rest) = (1, 0, output);
        let mut worst = Finding { worst: 0.0, detail: "nothing to compare".into() };
        for (number, level) in self.levels.iter().enumerate() {
            section *= self.threads;
            depth += u64::from(self.threads.ilog2());
            let (sums, below) = rest.split_at(level.len());
            rest = below;
            let finding = check_level(&self.x, section, depth, sums);
            if number == 0 || finding.worst > worst.worst {
                worst = Finding { detail: format!("level {number}: {}", finding.detail), ..finding };
            }
        }
        Ok(worst)
    }
}

/// The worst of the sums of sections of `x`.
fn check_level(x: &[f32], section: usize, depth: u64, sums: &[f32]) -> Finding {
    let judge = |(block, (section, sum)): (usize, (&[f32], &f32))| {
        let verdict = reference::sum(section, depth).check([sum]).expect("one value for one sum");
        Finding { worst: verdict.worst, detail: format!("block {block}: {verdict}") }
    };
    let worse = |a: Finding, b: Finding| if b.worst > a.worst { b } else { a };
    let findings = x.par_chunks(section).zip(sums).enumerate().map(judge);
    findings.reduce_with(worse).unwrap_or(Finding { worst: 0.0, detail: "no sums".into() })
}
