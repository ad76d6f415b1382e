//! Thread and block indices, and clocks.

use gpu::lab::instructions::geometry::{self as kernels, FIELDS};
use warpwright::{Device, Launch};

use crate::case::{CANARY, Case, Outcome, same};

pub(crate) const CASES: &[Case] = &[
    Case { kernel: kernels::thread_geometry.info(), run: indices_and_extents },
    Case { kernel: kernels::clocks.info(), run: clocks },
];

fn indices_and_extents(device: &Device) -> Outcome {
    let (grid, block) = ([2, 3, 2], [4, 8, 2]);
    let mut expected = Vec::new();
    for (bz, by, bx) in indices(grid) {
        for (n, (z, y, x)) in (0..).zip(indices(block)) {
            expected.extend([x, y, z, bx, by, bz, 4, 8, 2, 2, 3, 2, n, n / 32, n % 32, 32]);
        }
    }
    let mut out = device.upload_matrix(&vec![CANARY; expected.len()], expected.len() / FIELDS, FIELDS)?;
    device.launch(&kernels::thread_geometry, Launch::grid(grid).block(block), (&mut out,))?;
    Ok(same(&out.into_buffer().download()?, &expected, "indices and extents"))
}

/// All (z, y, x) below the extents, x fastest.
fn indices([x, y, z]: [u32; 3]) -> impl Iterator<Item = (u32, u32, u32)> {
    (0..z).flat_map(move |z| (0..y).flat_map(move |y| (0..x).map(move |x| (z, y, x))))
}

/// Times depend on the device, so there are no bits to compare. The initial output would fail the check.
fn clocks(device: &Device) -> Outcome {
    let mut out = device.upload(&[1_u64, 0].repeat(2 * 64)[..])?;
    device.launch(&kernels::clocks, Launch::grid(2).block(32), (&mut out,))?;
    for (thread, times) in out.download()?.chunks(4).enumerate() {
        assert!(times[0] <= times[1] && times[2] <= times[3], "thread {thread}: {times:?}");
    }
    Ok(Vec::new())
}
