//! What the simulator counts while `block_sums` runs.

use first::{THREADS, block_sums};
use warpwright::prelude::*;
use warpwright::simulator::{Access, Config, Level};

fn main() -> Result<()> {
    let device = Device::simulator_with(Config::new(Level::Counters));
    let x = device.upload(&vec![1_u32; 10_000])?;
    let mut sums = device.alloc(40)?;
    let launch = device.launch(&block_sums, Launch::cover(10_000, THREADS), (&x, &mut sums))?;
    let counters = launch
        .counters
        .expect("the simulator counts at this level");

    let loads = counters.total(Access::GlobalLoad);
    println!("global loads: {} requests, {} sectors", loads.requests, loads.sectors);
    println!("barriers: {}", counters.barriers);
    println!("divergent branches: {}", counters.total(Access::Branch).divergent);
    for ((site, access, _), counts) in &counters.sites {
        if access.is_shared() {
            println!("{site}: {access:?}, {} requests, {} wavefronts", counts.requests, counts.wavefronts);
        }
    }
    Ok(())
}
