//! A kernel with a data race, found by the simulator: which two lines, which block and threads, what to look at.
//!
//! The kernel reverses each block's section in shared memory and forgets the barrier between writing and reading. On a GPU it
//! may give the right answer for years.

use simt::prelude::*;
use warpwright::{Device, Error, Launch, Result};

/// Threads of a block: two warps, so that some of them exchange data across warps.
const THREADS: u32 = 64;

/// A block's section.
#[repr(C)]
#[derive(Shared)]
struct Section {
    values: SharedArray<f32, { THREADS as usize }>,
}

#[kernel(block = (THREADS))]
fn reverse_without_barrier(#[shared] section: &Section, x: VecRef<f32>, y: VecMut<f32>) {
    let (i, t) = (index_1d(), thread_idx_x());
    section.values.set(t, x.get(i));
    // Here `sync_threads()` is missing.
    y.set(i, section.values.get(THREADS - 1 - t));
}

fn main() -> Result<()> {
    let device = Device::simulator();
    let x = device.upload(&[1.0_f32; 128])?;
    let mut y = device.alloc(128)?;
    match device.launch(&reverse_without_barrier, Launch::grid(2), (&x, &mut y)) {
        Err(Error::Faults(report)) => println!("{report}"),
        Err(other) => return Err(other),
        Ok(_) => println!("no fault was found, which is a fault of the simulator"),
    }
    // A faulty launch leaves the device usable.
    println!("\nthe sum of x is {}", device.sum(&x)?);
    Ok(())
}
