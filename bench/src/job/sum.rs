//! The sum of a vector, launch after launch until one value is left.

use anyhow::{Result, ensure};
use gpu::reduce::dynamic::{grid, reduce_sum_dynamic};
use rayon::prelude::*;
use warpwright::{Buffer, Device, Launch, oracle};

use super::{Finding, Job, Task};
use crate::data::{Poison, uniform};
use crate::units::{Work, count};

/// Threads of a block, and so elements that become one.
const THREADS: usize = 256;

struct Sum {
    x: Vec<f32>,
    on_device: Buffer<f32>,
    /// One sum per block of the level before; the last has one element.
    levels: Vec<Buffer<f32>>,
}

/// Adds `n` elements; reads them once, the sums of blocks weigh little.
pub(super) fn job(n: usize, seed: u64) -> Job {
    Job {
        kernel: reduce_sum_dynamic.info().name,
        shape: format!("{} elements", count(n)),
        work: Work::Bytes(4.0 * n as f64),
        prepare: Box::new(move |device| {
            let x = uniform(n, seed, 5);
            let on_device = device.upload(&x)?;
            let mut levels = vec![device.alloc(n.div_ceil(THREADS))?];
            while let Some(last) = levels.last().filter(|last| last.len() > 1) {
                levels.push(device.alloc(last.len().div_ceil(THREADS))?);
            }
            Ok(Box::new(Sum { x, on_device, levels }))
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

    fn launch(&mut self, device: &Device) -> Result<()> {
        let mut from = &self.on_device;
        for to in &mut self.levels {
            let launch = Launch::grid(grid(from.len(), THREADS as u32)).block(THREADS as u32).shared_elements(THREADS);
            device.launch(&reduce_sum_dynamic, launch, (from, &mut *to))?;
            from = to;
        }
        Ok(())
    }

    fn output(&self) -> Result<Vec<f32>> {
        let mut values = Vec::new();
        for level in &self.levels {
            values.extend(level.download()?);
        }
        Ok(values)
    }

    /// Each value of each level against the sum of the elements of `x` below it: ℓ levels down, 256^ℓ elements and 8·ℓ
    /// additions deep.
    fn check(&self, output: &[f32]) -> Result<Finding> {
        let values: usize = self.levels.iter().map(Buffer::len).sum();
        ensure!(output.len() == values, "{} values instead of {values}", output.len());
        let (mut section, mut depth, mut rest) = (1, 0, output);
        let mut worst = Finding { worst: 0.0, detail: "nothing to compare".into() };
        for (number, level) in self.levels.iter().enumerate() {
            section *= THREADS;
            depth += u64::from(THREADS.ilog2());
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
        let verdict = oracle::sum(section, depth).check([sum]).expect("one value for one sum");
        Finding { worst: verdict.worst, detail: format!("block {block}: {verdict}") }
    };
    let worse = |a: Finding, b: Finding| if b.worst > a.worst { b } else { a };
    let findings = x.par_chunks(section).zip(sums).enumerate().map(judge);
    findings.reduce_with(worse).unwrap_or(Finding { worst: 0.0, detail: "no sums".into() })
}
