//! Kernels whose output depends on the thread alone: the partition into warps, and a branch.

use anyhow::Result;
use gpu::lab::tutorial::warps::divergent_branch::{self, ROUNDS, divergent_branch};
use gpu::lab::tutorial::warps::partition::warp_partition;
use rayon::prelude::*;
use warpwright::simulator::Counters;
use warpwright::{Buffer, Device, Launch};

use crate::data::Poison;
use crate::job::{Finding, Job, Output, Task};
use crate::units::{Work, count};

/// A block of three dimensions: x fastest, then y, then z. 64 threads, the texts' third example.
const SHAPE: [u32; 3] = [4, 8, 2];
/// Lanes of a warp.
const LANES: usize = 32;

struct Partitioned {
    blocks: u32,
    warps: Buffer<u32>,
    lanes: Buffer<u32>,
}

/// Each thread of `blocks` blocks writes its warp and its lane.
pub(in crate::tutorial) fn partition(blocks: usize) -> Job {
    let threads = blocks * block();
    Job {
        kernel: warp_partition.info(),
        shape: format!("{} blocks of 4 x 8 x 2", count(blocks)),
        work: Work::Bytes(8.0 * threads as f64),
        prepare: Box::new(move |device| {
            Ok(Box::new(Partitioned {
                blocks: blocks as u32,
                warps: device.alloc(threads)?,
                lanes: device.alloc(threads)?,
            }))
        }),
    }
}

/// Threads of a block of [`SHAPE`].
fn block() -> usize {
    SHAPE.iter().product::<u32>() as usize
}

impl Task for Partitioned {
    fn poison(&mut self, poison: &Poison) -> Result<()> {
        poison.fill(&mut self.warps)?;
        Ok(poison.fill(&mut self.lanes)?)
    }

    fn launch(&mut self, device: &Device) -> Result<Option<Counters>> {
        let launch = Launch::grid(self.blocks).block(SHAPE);
        Ok(device.launch(&warp_partition, launch, (&mut self.warps, &mut self.lanes))?.counters)
    }

    fn output(&self) -> Result<Output> {
        let mut values = self.warps.download()?;
        values.extend(self.lanes.download()?);
        Ok(values.into())
    }

    fn check(&self, output: &Output) -> Result<Finding> {
        let threads = self.blocks as usize * block();
        let warps = (0..threads).map(|t| (t % block() / LANES) as u32);
        let lanes = (0..threads).map(|t| (t % block() % LANES) as u32);
        Ok(Finding::of_bits(warps.chain(lanes).collect::<Vec<_>>(), output))
    }
}

struct Branched {
    threshold: u32,
    out: Buffer<u32>,
}

/// Each of `n` threads scrambles its number, in one of two ways.
pub(in crate::tutorial) fn branch(threshold: u32, n: usize) -> Job {
    Job {
        kernel: divergent_branch.info(),
        shape: format!("{} threads, tx > {threshold}", count(n)),
        work: Work::Elements(n as f64),
        prepare: Box::new(move |device| Ok(Box::new(Branched { threshold, out: device.alloc(n)? }))),
    }
}

impl Task for Branched {
    fn poison(&mut self, poison: &Poison) -> Result<()> {
        Ok(poison.fill(&mut self.out)?)
    }

    fn launch(&mut self, device: &Device) -> Result<Option<Counters>> {
        let launch = Launch::grid(divergent_branch::grid(self.out.len()));
        Ok(device.launch(&divergent_branch, launch, (self.threshold, &mut self.out))?.counters)
    }

    fn output(&self) -> Result<Output> {
        Ok(self.out.download()?.into())
    }

    fn check(&self, output: &Output) -> Result<Finding> {
        let expected: Vec<u32> =
            (0..self.out.len()).into_par_iter().map(|i| scrambled(i as u32, self.threshold)).collect();
        Ok(Finding::of_bits(expected, output))
    }
}

/// What thread `i` should write, as the kernel's documentation says.
fn scrambled(i: u32, threshold: u32) -> u32 {
    let above = i % divergent_branch::BLOCK > threshold;
    (0..ROUNDS).fold(i.wrapping_add(1), |mut value, _| {
        if above {
            value ^= value << 13;
            value ^= value >> 17;
            value ^ value << 5
        } else {
            value = (value ^ value >> 16).wrapping_mul(0x85eb_ca6b);
            value ^ value >> 13
        }
    })
}
