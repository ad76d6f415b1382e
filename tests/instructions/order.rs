//! Memory order: writes of one thread that become visible to another.

use gpu::lab::instructions::order::{self as kernels, BLOCK, CELLS};
use simt::Kernel;
use simt::global::VecMut;
use warpwright::{Device, Launch};

use crate::case::{CANARY, Case, Outcome, noise, same};

pub(crate) const CASES: &[Case] = &[
    Case { kernel: kernels::orders_and_scopes.info(), run: orders_and_scopes },
    Case { kernel: kernels::shared_flag.info(), run: flag },
    Case {
        kernel: kernels::last_block_by_fence.info(),
        run: |device| last_block(device, kernels::last_block_by_fence),
    },
    Case {
        kernel: kernels::last_block_by_order.info(),
        run: |device| last_block(device, kernels::last_block_by_order),
    },
];

fn orders_and_scopes(device: &Device) -> Outcome {
    let before: Vec<_> = (0..CELLS as u32).collect();
    let expected: Vec<_> = before.iter().map(|cell| cell + BLOCK * BLOCK).collect();
    let mut out = device.upload(&before[..])?;
    device.launch(&kernels::orders_and_scopes, Launch::grid(1), (&mut out,))?;
    Ok(same(&out.download()?, &expected, "cells"))
}

fn flag(device: &Device) -> Outcome {
    // Halved, so that the kernel's + 1 does not overflow.
    let x: Vec<_> = noise(32).into_iter().map(|x| x / 2).collect();
    let expected: Vec<_> = x.iter().map(|x| x + 1).collect();
    let (input, mut out) = (device.upload(&x[..])?, device.upload(&[CANARY; 32])?);
    device.launch(&kernels::shared_flag, Launch::grid(1), (&input, &mut out))?;
    Ok(same(&out.download()?, &expected, "words"))
}

type LastBlock = Kernel<(VecMut<'static, u32>, VecMut<'static, u32>, VecMut<'static, u32>)>;

fn last_block(device: &Device, kernel: LastBlock) -> Outcome {
    const BLOCKS: u32 = 37;
    let parts: Vec<_> = (0..BLOCKS).map(|b| 3 * b).collect();
    let mut partial = device.upload(&[CANARY; BLOCKS as usize])?;
    let (mut ticket, mut out) = (device.upload(&[0_u32])?, device.upload(&[CANARY])?);
    device.launch(&kernel, Launch::grid(BLOCKS), (&mut partial, &mut ticket, &mut out))?;
    let all = [
        same(&partial.download()?, &parts, "parts"),
        same(&ticket.download()?, &[BLOCKS], "ticket"),
        same(&out.download()?, &[parts.iter().sum()], "sum"),
    ];
    Ok(all.concat())
}
