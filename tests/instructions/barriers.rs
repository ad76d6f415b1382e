//! Voting barriers, named barriers, and the warp barrier.

use gpu::lab::instructions::barriers::{self as kernels, BLOCK};
use warpwright::{Device, Launch};

use crate::case::{CANARY, Case, Outcome, noise, same};

pub(crate) const CASES: &[Case] = &[
    Case { kernel: kernels::barrier_votes.info(), run: votes },
    Case { kernel: kernels::named_barrier_pipeline.info(), run: pipeline },
    Case { kernel: kernels::warp_rotate.info(), run: rotate },
];

fn votes(device: &Device) -> Outcome {
    let mut all = Vec::new();
    for threads in [1, 48, 256] {
        for x in [noise(2 * threads), vec![1; 2 * threads], vec![2; 2 * threads]] {
            let vote = |block: &[u32]| {
                let odd = block.iter().filter(|&&x| x % 2 == 1).count();
                [odd as u32, u32::from(odd == threads), u32::from(odd > 0)].repeat(threads)
            };
            let expected: Vec<_> = x.chunks(threads).flat_map(vote).collect();
            let input = device.upload(&x[..])?;
            let mut out = device.upload_matrix(&vec![CANARY; expected.len()], 2 * threads, 3)?;
            let launch = Launch::grid(2).block(threads as u32);
            device.launch(&kernels::barrier_votes, launch, (&input, &mut out))?;
            let got = out.into_buffer().download()?;
            all.extend(same(&got, &expected, &format!("blocks of {threads} threads")));
        }
    }
    Ok(all)
}

fn pipeline(device: &Device) -> Outcome {
    let x = noise(5 * 32);
    let expected: Vec<_> = (0..x.len()).map(|i| x[i ^ 31]).collect();
    let (input, mut out) = (device.upload(&x[..])?, device.upload(&vec![CANARY; x.len()][..])?);
    device.launch(&kernels::named_barrier_pipeline, Launch::grid(1), (&input, &mut out))?;
    Ok(same(&out.download()?, &expected, "rows reversed"))
}

fn rotate(device: &Device) -> Outcome {
    let x = noise(128);
    let expected: Vec<_> = (0..128).map(|i| x[i / 32 * 32 + (i + 1) % 32]).collect();
    let (input, mut out) = (device.upload(&x[..])?, device.upload(&[CANARY; 128])?);
    device.launch(&kernels::warp_rotate, Launch::cover(128, BLOCK), (&input, &mut out))?;
    Ok(same(&out.download()?, &expected, "the next lane's"))
}
