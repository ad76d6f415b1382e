//! B1 to B3: sums of squares of any integers, wrapping, and the times of the blocks.

use gpu::lab::tutorial::squares::partials::sum_squares_partials;
use gpu::lab::tutorial::squares::thread0::sum_squares_thread0;
use gpu::lab::tutorial::squares::tree_mask::sum_squares_tree_mask;
use proptest::prelude::*;
use rand::Rng;
use simt::Kernel;
use simt::global::{VecMut, VecRef};
use warpwright::{Device, Launch, Result};

use crate::support::device::{counterpart, under_test};
use crate::support::runner::check;
use crate::support::{shapes, suite, values};

suite! {
    [
        any_integers_are_summed,
        block_edges_are_summed,
        short_outputs_are_filled_and_not_exceeded,
        the_shape_of_the_text_is_summed,
    ];
    partials => PARTIALS;
    thread0 => THREAD0;
    tree_mask => TREE_MASK;
}

type Squares = Kernel<(VecRef<'static, i32>, VecMut<'static, i32>, VecMut<'static, u64>)>;

/// A kernel, and whether it writes one sum per block, using shared memory, or one per thread.
#[derive(Clone, Copy)]
struct Variant {
    kernel: &'static Squares,
    per_block: bool,
}

const PARTIALS: Variant = Variant { kernel: &sum_squares_partials, per_block: false };
const THREAD0: Variant = Variant { kernel: &sum_squares_thread0, per_block: true };
const TREE_MASK: Variant = Variant { kernel: &sum_squares_tree_mask, per_block: true };

/// Geometry, lengths, and elements before and after each vector in its buffer.
#[derive(Clone, Copy, Debug)]
struct Case {
    n: usize,
    blocks: u32,
    threads: u32,
    around: [usize; 2],
    /// Elements by which the outputs are too short.
    missing: usize,
    data: u64,
    schedule: u64,
}

fn any_case() -> impl Strategy<Value = Case> {
    let threads = prop_oneof![
        2 => proptest::sample::select(&[1_u32, 2, 31, 32, 33, 64, 128, 256, 1024][..]),
        1 => 1..=1024_u32,
    ];
    (shapes::length(), 1..9_u32, threads, [0..5_usize, 0..5], any::<[u64; 2]>()).prop_map(
        |(n, blocks, threads, around, [data, schedule])| Case {
            n,
            blocks,
            threads,
            around,
            missing: 0,
            data,
            schedule,
        },
    )
}

/// Canaries around vectors and in outputs: negative and odd, so that they are neither sums of few squares nor times.
const CANARY: i32 = -0x1234_5679;
const NO_TIME: u64 = u64::MAX - 12;

/// Buffers after a launch.
#[derive(PartialEq)]
struct Outcome {
    x: Vec<i32>,
    sums: Vec<i32>,
    time: Vec<u64>,
}

impl Case {
    /// The input in its buffer: integers of all sizes.
    fn input(self) -> Vec<i32> {
        let mut rng = values::rng(self.data);
        let mut image = vec![CANARY; self.around[0] + self.n + self.around[1]];
        image[self.around[0]..][..self.n].fill_with(|| rng.random::<i32>() >> rng.random_range(0..32));
        image
    }

    /// The sums by definition: thread t of block b takes every B·T-th element from b·T + t on.
    fn sums(self, variant: Variant) -> Vec<i32> {
        let grid = (self.blocks * self.threads) as usize;
        let mut partials = vec![0_i64; grid];
        for (i, &x) in self.input()[self.around[0]..][..self.n].iter().enumerate() {
            // Modulo 2³² the order of additions does not matter; 64-bit sums that wrap give the same result.
            partials[i % grid] = partials[i % grid].wrapping_add(i64::from(x) * i64::from(x));
        }
        let section = if variant.per_block { self.threads as usize } else { 1 };
        partials.chunks(section).map(|sums| sums.iter().fold(0_i64, |sum, x| sum.wrapping_add(*x)) as i32).collect()
    }

    fn run(self, variant: Variant, device: &Device) -> Result<Outcome> {
        let [before, after] = self.around;
        let stored = self.sums(variant).len() - self.missing.min(self.sums(variant).len());
        let times = 2 * self.blocks as usize - self.missing.min(2 * self.blocks as usize);
        let x = device.upload(&self.input()[..])?;
        let mut sums = device.upload(&vec![CANARY; before + stored + after][..])?;
        let mut time = device.upload(&vec![NO_TIME; before + times + after][..])?;
        let mut launch = Launch::grid(self.blocks).block(self.threads);
        if variant.per_block {
            launch = launch.shared_elements(self.threads as usize);
        }
        let arguments = (
            x.slice(before..before + self.n)?,
            sums.slice_mut(before..before + stored)?,
            time.slice_mut(before..before + times)?,
        );
        device.launch(variant.kernel, launch, arguments)?;
        Ok(Outcome { x: x.download()?, sums: sums.download()?, time: time.download()? })
    }

    fn judge(self, variant: Variant, outcome: &Outcome) -> std::result::Result<(), String> {
        let [before, after] = self.around;
        if outcome.x != self.input() {
            return Err("the input changed".into());
        }
        let mut expected = self.sums(variant);
        expected.truncate(expected.len() - self.missing.min(expected.len()));
        let expected = [vec![CANARY; before], expected, vec![CANARY; after]].concat();
        if let Some(at) = (0..expected.len()).find(|&at| outcome.sums[at] != expected[at]) {
            let (got, expected) = (outcome.sums[at], expected[at]);
            return Err(format!("element {at} of the sums' buffer is {got}, expected {expected}"));
        }
        let inside = before..outcome.time.len() - after;
        for (at, &time) in outcome.time.iter().enumerate() {
            if inside.contains(&at) == (time == NO_TIME) {
                return Err(format!("element {at} of the times' buffer is {time}; the times are at {inside:?}"));
            }
        }
        let (blocks, times) = (self.blocks as usize, &outcome.time[inside]);
        match (0..blocks).find(|&b| times.get(blocks + b).is_some_and(|&end| end < times[b])) {
            Some(block) => Err(format!("block {block} ends before it starts: {times:?}")),
            None => Ok(()),
        }
    }

    fn verify(self, variant: Variant) -> std::result::Result<f64, String> {
        for device in [under_test(self.schedule), counterpart(self.schedule)] {
            let outcome = self.run(variant, &device).map_err(|error| format!("{}: {error}", device.name()))?;
            self.judge(variant, &outcome).map_err(|error| format!("{}: {error}", device.name()))?;
        }
        Ok(0.0)
    }
}

fn any_integers_are_summed(variant: Variant) {
    check(any_case(), |case| case.verify(variant));
}

/// Lengths around a block, and around one pass of the grid.
fn block_edges_are_summed(variant: Variant) {
    for (blocks, threads) in [(1, 1), (1, 32), (3, 33), (2, 256), (1, 1024), (5, 7)] {
        let (block, grid) = (threads as usize, (blocks * threads) as usize);
        for n in [0, 1, block - 1, block, block + 1, grid - 1, grid, grid + 1, 2 * grid, 3 * grid + 1] {
            let case = Case { n, blocks, threads, around: [3, 2], missing: 0, data: n as u64, schedule: 1 };
            case.verify(variant).unwrap_or_else(|error| panic!("{case:?}: {error}"));
        }
    }
}

/// Outputs that are too short are filled, and nothing outside them changes.
fn short_outputs_are_filled_and_not_exceeded(variant: Variant) {
    check((any_case(), 1..20_usize), |(case, missing)| Case { missing: *missing, ..*case }.verify(variant));
}

/// 1 048 576 elements, 32 blocks of 256 threads.
fn the_shape_of_the_text_is_summed(variant: Variant) {
    let case = Case { n: 1 << 20, blocks: 32, threads: 256, around: [0; 2], missing: 0, data: 1, schedule: 0 };
    assert_eq!(case.sums(variant).len(), if variant.per_block { 32 } else { 8192 }, "returned values");
    case.verify(variant).unwrap_or_else(|error| panic!("{error}"));
}
