//! Sum of squares of integers: exact, since it wraps.

use anyhow::{Result, ensure};
use gpu::lab::tutorial::squares::partials::sum_squares_partials;
use gpu::lab::tutorial::squares::thread0::sum_squares_thread0;
use gpu::lab::tutorial::squares::tree_mask::sum_squares_tree_mask;
use rayon::prelude::*;
use simt::Kernel;
use simt::global::{VecMut, VecRef};
use warpwright::simulator::Counters;
use warpwright::{Buffer, Device, Launch};

use crate::data::{Poison, uniform_integers};
use crate::job::{Finding, Job, Output, Task};
use crate::units::{Work, count};

/// A kernel that adds squares and notes the time.
pub(in crate::tutorial) type Squares =
    &'static Kernel<(VecRef<'static, i32>, VecMut<'static, i32>, VecMut<'static, u64>)>;

/// Values that come back.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::tutorial) enum Sums {
    /// One for each thread; no shared memory.
    PerThread,
    /// One for each block, by way of an element of shared memory for each thread.
    PerBlock,
}

/// The kernels by what comes back.
pub(in crate::tutorial) const PARTIALS: (Squares, Sums) = (&sum_squares_partials, Sums::PerThread);
/// As [`PARTIALS`].
pub(in crate::tutorial) const THREAD0: (Squares, Sums) = (&sum_squares_thread0, Sums::PerBlock);
/// As [`PARTIALS`].
pub(in crate::tutorial) const TREE_MASK: (Squares, Sums) = (&sum_squares_tree_mask, Sums::PerBlock);

/// Threads of a block, as in the texts.
const THREADS: usize = 256;

struct Squared {
    kernel: Squares,
    sums: Sums,
    blocks: usize,
    x: Vec<i32>,
    on_device: Buffer<i32>,
    result: Buffer<i32>,
    time: Buffer<u64>,
}

/// Adds the squares of `n` integers by `blocks` blocks; reads them once.
pub(in crate::tutorial) fn job((kernel, sums): (Squares, Sums), n: usize, blocks: usize, seed: u64) -> Job {
    Job {
        kernel: kernel.info(),
        shape: format!("{} integers, {blocks} blocks", count(n)),
        work: Work::Bytes(4.0 * n as f64),
        prepare: Box::new(move |device| {
            let x = uniform_integers(n, seed, 6);
            let on_device = device.upload(&x)?;
            let values = if sums == Sums::PerThread { blocks * THREADS } else { blocks };
            // Zeros: the clock is read before the first launch, too, when the check itself is tested.
            let (result, time) = (device.alloc(values)?, device.alloc_zeros(2 * blocks)?);
            Ok(Box::new(Squared { kernel, sums, blocks, x, on_device, result, time }))
        }),
    }
}

impl Task for Squared {
    fn poison(&mut self, poison: &Poison) -> Result<()> {
        Ok(poison.fill(&mut self.result)?)
    }

    fn launch(&mut self, device: &Device) -> Result<Option<Counters>> {
        let mut launch = Launch::grid(self.blocks as u32).block(THREADS as u32);
        if self.sums == Sums::PerBlock {
            launch = launch.shared_elements(THREADS);
        }
        Ok(device.launch(self.kernel, launch, (&self.on_device, &mut self.result, &mut self.time))?.counters)
    }

    fn output(&self) -> Result<Output> {
        Ok(self.result.download()?.into())
    }

    /// The clock is another one in every launch, so of it only this is checked: no block ends before it starts.
    fn check(&self, output: &Output) -> Result<Finding> {
        let time = self.time.download()?;
        let (starts, ends) = time.split_at(self.blocks);
        ensure!(starts.iter().zip(ends).all(|(start, end)| start <= end), "a block ends before it starts");
        let partials = partials(&self.x, self.blocks * THREADS);
        let expected = match self.sums {
            Sums::PerThread => partials,
            Sums::PerBlock => {
                partials.chunks(THREADS).map(|block| block.iter().fold(0, |a: i32, b| a.wrapping_add(*b))).collect()
            }
        };
        Ok(Finding::of_bits(expected, output))
    }
}

/// The sum of squares of each of `stride` threads: thread t has elements t, t + stride, …
fn partials(x: &[i32], stride: usize) -> Vec<i32> {
    let add = |mut sums: Vec<i32>, round: &[i32]| {
        for (sum, value) in sums.iter_mut().zip(round) {
            *sum = sum.wrapping_add(value.wrapping_mul(*value));
        }
        sums
    };
    let zero = || vec![0; stride];
    let both = |mut a: Vec<i32>, b: Vec<i32>| {
        for (a, b) in a.iter_mut().zip(b) {
            *a = a.wrapping_add(b);
        }
        a
    };
    x.par_chunks(stride).fold(zero, add).reduce(zero, both)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partial_sums_are_those_of_the_grid_stride_loop() {
        let x: Vec<i32> = uniform_integers(1000, 1, 0);
        let partials = partials(&x, 64);
        for (t, partial) in partials.iter().enumerate() {
            let own = x.iter().skip(t).step_by(64).fold(0_i32, |sum, v| sum.wrapping_add(v.wrapping_mul(*v)));
            assert_eq!(*partial, own, "thread {t}");
        }
    }
}
