//! A kernel with a data race, and the simulator's report: the two source lines, the block and the threads.
//!
//! The kernel reverses each block's section in shared memory without a barrier between writing and reading. On a GPU it
//! may return correct results for years.

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
    // `sync_threads()` is missing here.
    y.set(i, section.values.get(THREADS - 1 - t));
}

fn main() -> Result<()> {
    let device = Device::simulator();
    let x = device.upload(&[1.0_f32; 128])?;
    let mut y = device.alloc(128)?;
    match device.launch(&reverse_without_barrier, Launch::grid(2), (&x, &mut y)) {
        Err(Error::Faults(report)) => println!("{report}"),
        Err(other) => return Err(other),
        Ok(_) => println!("no fault was found, which is a bug of the simulator"),
    }
    // A faulty launch leaves the device usable.
    println!("\nthe sum of x is {}", device.sum(&x)?);
    Ok(())
}
