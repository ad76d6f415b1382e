//! C1: every thread of a block of any shape writes its warp and its lane.

use gpu::lab::tutorial::warps::partition::warp_partition;
use proptest::prelude::*;
use warpwright::simulator::{Config, Level};
use warpwright::{Device, Launch, Result};

use crate::support::device::{counterpart, under_test};
use crate::support::runner::check;

const CANARY: u32 = 0xdead_beef;

/// Warps and lanes of the threads of a grid along x, with a canary before and after; the outputs are `missing` elements
/// too short.
fn run(device: &Device, blocks: u32, block: [u32; 3], missing: usize) -> Result<[Vec<u32>; 2]> {
    let threads = (blocks * block.iter().product::<u32>()) as usize;
    let len = threads - missing.min(threads);
    let mut outputs = [device.upload(&vec![CANARY; len + 2][..])?, device.upload(&vec![CANARY; len + 2][..])?];
    let [warps, lanes] = &mut outputs;
    let views = (warps.slice_mut(1..len + 1)?, lanes.slice_mut(1..len + 1)?);
    device.launch(&warp_partition, Launch::grid(blocks).block(block), views)?;
    Ok([outputs[0].download()?, outputs[1].download()?])
}

/// Numbers threads with x fastest, then y, then z, `lanes` to a warp.
fn expected(blocks: u32, [x, y, z]: [u32; 3], missing: usize, lanes: u32) -> [Vec<u32>; 2] {
    let mut places = Vec::new();
    for _ in 0..blocks {
        let (mut warp, mut lane) = (0, 0);
        for _ in (0..z).flat_map(|z| (0..y).flat_map(move |y| (0..x).map(move |x| (z, y, x)))) {
            places.push([warp, lane]);
            lane += 1;
            if lane == lanes {
                (warp, lane) = (warp + 1, 0);
            }
        }
    }
    places.truncate(places.len() - missing.min(places.len()));
    [0, 1].map(|which| {
        let inner = places.iter().map(|place| place[which]);
        [CANARY].into_iter().chain(inner).chain([CANARY]).collect()
    })
}

fn verify(blocks: u32, block: [u32; 3], missing: usize, seed: u64) -> std::result::Result<f64, String> {
    for device in [under_test(seed), counterpart(seed)] {
        let got = run(&device, blocks, block, missing).map_err(|error| format!("{}: {error}", device.name()))?;
        if got != expected(blocks, block, missing, 32) {
            return Err(format!("{}: warps and lanes are {got:?}", device.name()));
        }
    }
    Ok(0.0)
}

#[test]
fn threads_of_any_block_are_numbered_x_first() {
    let side = || prop_oneof![Just(1_u32), 1..12_u32];
    check((1..4_u32, side(), side(), side(), 0..5_usize, any::<u64>()), |&(blocks, x, y, z, missing, seed)| {
        // A block has at most 1024 threads, fewer than 11 · 11 · 11.
        verify(blocks, [x, y, z.min(1024 / (x * y))], missing, seed)
    });
}

/// The texts' blocks, and the largest along each axis.
#[test]
fn threads_of_the_texts_blocks_are_numbered_x_first() {
    for block in [[48, 1, 1], [8, 8, 1], [4, 8, 2], [1024, 1, 1], [1, 1024, 1], [1, 1, 64], [16, 1, 64], [5, 7, 3]] {
        verify(2, block, 0, 1).unwrap_or_else(|error| panic!("{block:?}: {error}"));
    }
}

/// The simulator's warps may have fewer lanes.
#[test]
fn threads_are_numbered_for_other_warp_sizes() {
    for lanes in [1, 2, 8, 16] {
        let device = Device::simulator_with(Config::new(Level::Checks).warp_size(lanes));
        let got = run(&device, 2, [5, 3, 2], 0).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(got, expected(2, [5, 3, 2], 0, lanes), "warps of {lanes}");
    }
}
