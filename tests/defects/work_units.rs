//! Work units that one warp passes to another through shared memory: a unit is stored when its first stage is empty,
//! and loaded when that stage is full. The defects have too few slots, or lanes that do not wait for the one that
//! releases.

use crate::case::{Bench, Case, Group};
use simt::Kernel;
use simt::mbarrier::{Mbarriers, fence_mbarrier_init};
use simt::prelude::*;
use simt::warp::sync_warp;
use simulator::Kind;
use warpwright_tests::sim::{Buffer, Grid};

pub(crate) const GROUP: Group = Group {
    file: file!(),
    text: include_str!("work_units.rs"),
    cases: &[
        Case::new("as many slots for work units as stages", Kind::Race, |b| units(b, (slots_faulty, slots_fixed))),
        Case::new("lanes a unit ahead of the one that releases", Kind::Race, |b| units(b, (ahead_faulty, ahead_fixed))),
    ],
};

/// Units, and slots for them: one more than there are stages.
const UNITS: u32 = 7;
const SLOTS: u32 = 3;
const STAGES: u32 = 2;
/// Stages that a unit takes in the second case: a multiple of two rounds of them.
const STEPS: u32 = 4;
const ALL: u32 = u32::MAX;

#[repr(C)]
#[derive(Shared)]
struct Ring {
    units: SharedArray<u32, 3>,
    full: Mbarriers<2>,
    empty: Mbarriers<2>,
}

/// Initialises the mbarriers: one thread fills a stage, one lane releases it.
#[track_caller]
fn init_barriers(ring: &Ring) {
    if thread_idx_x() == 0 {
        for stage in 0..STAGES {
            ring.full.init(stage, 1);
            ring.empty.init(stage, 1);
        }
        fence_mbarrier_init();
    }
    sync_threads();
}

#[track_caller]
fn wait_full(ring: &Ring, step: u32) {
    ring.full.wait(step % STAGES, step / STAGES % 2);
}

#[track_caller]
fn wait_empty(ring: &Ring, step: u32) {
    ring.empty.wait(step % STAGES, (step / STAGES % 2) ^ 1);
}

/// One thread of the first warp passes the numbers from 1 on; each lane of the second stores them, after one has
/// released the stage.
#[kernel(block = 64)]
fn slots_fixed(#[shared] ring: &Ring, y: VecMut<u32>) {
    init_barriers(ring);
    let (t, lane) = (thread_idx_x(), thread_idx_x() % 32);
    for unit in 0..UNITS {
        if t == 0 {
            wait_empty(ring, unit);
            ring.units.set(unit % SLOTS, unit + 1);
            ring.full.arrive(unit % STAGES);
        } else if t >= 32 {
            wait_full(ring, unit);
            sync_warp(ALL);
            if lane == 0 {
                ring.empty.arrive(unit % STAGES);
            }
            y.set((unit * 32 + lane) as usize, ring.units.get(unit % SLOTS));
        }
    }
}

#[kernel(block = 64)]
fn slots_faulty(#[shared] ring: &Ring, y: VecMut<u32>) {
    init_barriers(ring);
    let (t, lane) = (thread_idx_x(), thread_idx_x() % 32);
    for unit in 0..UNITS {
        if t == 0 {
            wait_empty(ring, unit);
            ring.units.set(unit % STAGES, unit + 1); // FAULT
            ring.full.arrive(unit % STAGES);
        } else if t >= 32 {
            wait_full(ring, unit);
            sync_warp(ALL);
            if lane == 0 {
                ring.empty.arrive(unit % STAGES);
            }
            y.set((unit * 32 + lane) as usize, ring.units.get(unit % STAGES)); // FAULT
        }
    }
}

/// The same with several stages for each unit, which one lane releases for all.
#[kernel(block = 64)]
fn ahead_fixed(#[shared] ring: &Ring, y: VecMut<u32>) {
    init_barriers(ring);
    let (t, lane) = (thread_idx_x(), thread_idx_x() % 32);
    for unit in 0..UNITS {
        let first = unit * STEPS;
        if t == 0 {
            wait_empty(ring, first);
            ring.units.set(unit % SLOTS, unit + 1);
            for step in first..first + STEPS {
                wait_empty(ring, step);
                ring.full.arrive(step % STAGES);
            }
        } else if t >= 32 {
            wait_full(ring, first);
            y.set((unit * 32 + lane) as usize, ring.units.get(unit % SLOTS));
            sync_warp(ALL);
            for step in first..first + STEPS {
                if lane == 0 {
                    wait_full(ring, step);
                    ring.empty.arrive(step % STAGES);
                }
            }
            sync_warp(ALL);
        }
    }
}

#[kernel(block = 64)]
fn ahead_faulty(#[shared] ring: &Ring, y: VecMut<u32>) {
    init_barriers(ring);
    let (t, lane) = (thread_idx_x(), thread_idx_x() % 32);
    for unit in 0..UNITS {
        let first = unit * STEPS;
        if t == 0 {
            wait_empty(ring, first);
            ring.units.set(unit % SLOTS, unit + 1); // FAULT
            for step in first..first + STEPS {
                wait_empty(ring, step);
                ring.full.arrive(step % STAGES);
            }
        } else if t >= 32 {
            wait_full(ring, first); // lanes that have released nothing find the end of a phase of the unit before
            y.set((unit * 32 + lane) as usize, ring.units.get(unit % SLOTS)); // FAULT
            sync_warp(ALL);
            for step in first..first + STEPS {
                if lane == 0 {
                    wait_full(ring, step);
                    ring.empty.arrive(step % STAGES);
                }
            }
        }
    }
}

type Units = Kernel<(VecMut<'static, u32>,)>;

fn units(bench: &mut Bench, kernels: (Units, Units)) -> bool {
    let mut y = Buffer::zeroed((UNITS * 32) as usize);
    bench.launch(kernels, Grid::line(1, 64), (&mut y,));
    y.to_vec() == (0..UNITS * 32).map(|i| i / 32 + 1).collect::<Vec<_>>()
}
