//! Asynchronous copies to shared memory.

use gpu::lab::instructions::async_copy::{self as kernels, BLOCK, WIDTHS};
use warpwright::{Device, Launch};

use crate::case::{Case, Outcome, floats, reversed, same};

pub(crate) const CASES: &[Case] = &[
    Case { kernel: kernels::async_widths.info(), run: widths },
    Case { kernel: kernels::async_pipeline.info(), run: pipeline },
];

fn widths(device: &Device) -> Outcome {
    // The last block has too few elements and does not change them.
    let (full, n) = (3 * WIDTHS, 3 * WIDTHS + 5);
    let x = floats(n);
    let expected = [&reversed(&x[..full], WIDTHS)[..], &[-1.0; 5]].concat();
    let (input, mut y) = (device.upload(&x[..])?, device.upload(&vec![-1.0_f32; n][..])?);
    device.launch(&kernels::async_widths, Launch::grid(4), (&input, &mut y))?;
    Ok(same(&y.download()?, &expected, "sections reversed"))
}

fn pipeline(device: &Device) -> Outcome {
    let row = BLOCK as usize;
    let mut all = Vec::new();
    for rows in [0, 1, 2, 7] {
        let x = floats(rows * row + 9);
        let expected = [&reversed(&x[..rows * row], row)[..], &[-1.0; 9]].concat();
        let (input, mut y) = (device.upload(&x[..])?, device.upload(&vec![-1.0_f32; x.len()][..])?);
        device.launch(&kernels::async_pipeline, Launch::grid(1), (&input, &mut y))?;
        all.extend(same(&y.download()?, &expected, &format!("{rows} rows reversed")));
    }
    Ok(all)
}
