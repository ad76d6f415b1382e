//! A colour picture to a grey one.

use anyhow::Result;
use gpu::lab::tutorial::warps::color_to_gray::{color_to_gray, grid};
use rayon::prelude::*;
use warpwright::simulator::Counters;
use warpwright::{Buffer, Device, Launch, Layout};

use crate::data::{Poison, uniform_integers};
use crate::job::{Finding, Job, Output, Task};
use crate::units::Work;

struct Picture {
    shape: [usize; 2],
    rgb: Vec<u8>,
    on_device: Buffer<u8>,
    gray: Buffer<u8>,
}

/// Converts a picture of this width and height: reads three bytes for each pixel and writes one.
pub(in crate::tutorial) fn job([width, height]: [usize; 2], seed: u64) -> Job {
    let pixels = width * height;
    Job {
        kernel: color_to_gray.info(),
        shape: format!("{width} x {height} pixels"),
        work: Work::Bytes(4.0 * pixels as f64),
        prepare: Box::new(move |device| {
            let rgb = uniform_integers(3 * pixels, seed, 7);
            let (on_device, gray) = (device.upload(&rgb)?, device.alloc(pixels)?);
            Ok(Box::new(Picture { shape: [width, height], rgb, on_device, gray }))
        }),
    }
}

impl Task for Picture {
    fn poison(&mut self, poison: &Poison) -> Result<()> {
        Ok(poison.fill(&mut self.gray)?)
    }

    fn launch(&mut self, device: &Device) -> Result<Option<Counters>> {
        let [width, height] = self.shape;
        let gray = self.gray.view_mut().as_matrix(Layout::contiguous(height, width))?;
        let launch = Launch::grid(grid(height as u32, width as u32));
        Ok(device.launch(&color_to_gray, launch, (&self.on_device, gray))?.counters)
    }

    fn output(&self) -> Result<Output> {
        Ok(self.gray.download()?.into())
    }

    fn check(&self, output: &Output) -> Result<Finding> {
        let weigh = |pixel: &[u8]| {
            let [r, g, b] = [0, 1, 2].map(|channel| u32::from(pixel[channel]));
            ((21 * r + 72 * g + 7 * b) / 100) as u8
        };
        Ok(Finding::of_bits(self.rgb.par_chunks(3).map(weigh).collect::<Vec<u8>>(), output))
    }
}
