//! Programmatic dependent launch. Kernels for Hopper only.

use gpu::lab::instructions_sm90::pdl::{BLOCK, pdl_relay};
use warpwright::{Device, Launch};

use crate::case::{CANARY, Case, Outcome, noise, same};

pub(crate) const CASES: &[Case] = &[Case { kernel: pdl_relay.info(), run: relay }];

/// Launches in sequence, each of which reads the output of the previous one.
const LAUNCHES: u32 = 9;

fn relay(device: &Device) -> Outcome {
    let mut all = Vec::new();
    // Less than a block, some blocks, and more blocks than SMs.
    for (n, nanoseconds) in
        [(1, 20_000), (100, 20_000), (5 * BLOCK as usize + 3, 20_000), (300 * BLOCK as usize - 1, 1000)]
    {
        let x: Vec<u32> = noise(n).iter().map(|x| x / 2).collect();
        let (mut x_on_device, mut y) = (device.upload(&x[..])?, device.upload(&vec![CANARY; n + 1][..])?);
        for _ in 0..LAUNCHES / 2 {
            let launch = || Launch::cover(n, BLOCK);
            device.launch(&pdl_relay, launch(), (&x_on_device, &mut y, nanoseconds))?;
            device.launch(&pdl_relay, launch(), (&y, &mut x_on_device, nanoseconds))?;
        }
        device.launch(&pdl_relay, Launch::cover(n, BLOCK), (&x_on_device, &mut y, nanoseconds))?;
        let mut expected: Vec<u32> = x.iter().rev().map(|x| x + LAUNCHES).collect();
        expected.push(CANARY);
        all.extend(same(&y.download()?, &expected, &format!("{n} numbers through {LAUNCHES} launches")));
    }
    Ok(all)
}
