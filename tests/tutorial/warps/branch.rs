//! C2: each side of the branch computes its own result, wherever the branch divides the block.

use gpu::lab::tutorial::warps::divergent_branch::{BLOCK, ROUNDS, divergent_branch, grid};
use proptest::prelude::*;
use warpwright::{Device, Launch, Result};

use crate::support::device::{counterpart, under_test};
use crate::support::runner::check;
use crate::support::shapes;

const CANARY: u32 = 0xdead_beef;

/// The output with `around` canaries before and after.
fn run(device: &Device, threshold: u32, n: usize, around: usize) -> Result<Vec<u32>> {
    let mut out = device.upload(&vec![CANARY; n + 2 * around][..])?;
    // A grid has at least one block; its threads write nothing if n is 0.
    let launch = Launch::grid(grid(n.max(1)));
    device.launch(&divergent_branch, launch, (threshold, out.slice_mut(around..around + n)?))?;
    out.download()
}

/// By the definition of the two hash functions, on 64-bit integers truncated to 32 bits.
fn expected(threshold: u32, n: usize, around: usize) -> Vec<u32> {
    let low_32 = |wide: u64| wide & 0xffff_ffff;
    let element = |i: u64| {
        let mut value = i + 1;
        for _ in 0..ROUNDS {
            if i % u64::from(BLOCK) > u64::from(threshold) {
                value = low_32(value ^ value << 13);
                value ^= value >> 17;
                value = low_32(value ^ value << 5);
            } else {
                value = low_32((value ^ value >> 16) * 0x85eb_ca6b);
                value ^= value >> 13;
            }
        }
        value as u32
    };
    let canaries = || std::iter::repeat_n(CANARY, around);
    canaries().chain((0..n as u64).map(element)).chain(canaries()).collect()
}

#[test]
fn each_side_of_the_branch_computes_its_result() {
    let threshold = prop_oneof![0..70_u32, Just(u32::MAX)];
    check((threshold, shapes::length(), 0..5_usize, any::<u64>()), |&(threshold, n, around, seed)| {
        let expected = expected(threshold, n, around);
        for device in [under_test(seed), counterpart(seed)] {
            let got = run(&device, threshold, n, around).map_err(|error| format!("{}: {error}", device.name()))?;
            if let Some(i) = (0..got.len()).find(|&i| got[i] != expected[i]) {
                return Err(format!("{}: element {i} is {:#x}, expected {:#x}", device.name(), got[i], expected[i]));
            }
        }
        Ok(0.0)
    });
}
