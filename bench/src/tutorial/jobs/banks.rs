//! A numbered tile, written along its rows and read along its columns by one block.

use anyhow::Result;
use simt::global::VecMut;
use simt::{Kernel, SharedSpec};
use warpwright::simulator::Counters;
use warpwright::{Buffer, Device, Launch};

use crate::data::Poison;
use crate::job::{Finding, Job, Output, Task};
use crate::units::Work;

/// A kernel that writes the transposed tile to its output.
pub(in crate::tutorial) type Tile = &'static Kernel<(VecMut<'static, i32>,)>;

struct Transposed {
    kernel: Tile,
    pitch: usize,
    out: Buffer<i32>,
}

/// Columns of every tile.
const COLS: usize = 32;

/// One block of 32 × `rows` threads. The rows of its tile are `pitch` elements apart, which a kernel whose shared
/// memory is sized at launch is given room for.
pub(in crate::tutorial) fn job(kernel: Tile, rows: usize, pitch: usize) -> Job {
    Job {
        kernel: kernel.info(),
        shape: format!("tile [{rows}][{pitch}]"),
        work: Work::Elements((rows * COLS) as f64),
        prepare: Box::new(move |device| Ok(Box::new(Transposed { kernel, pitch, out: device.alloc(rows * COLS)? }))),
    }
}

impl Transposed {
    fn rows(&self) -> usize {
        self.out.len() / COLS
    }
}

impl Task for Transposed {
    fn poison(&mut self, poison: &Poison) -> Result<()> {
        Ok(poison.fill(&mut self.out)?)
    }

    fn launch(&mut self, device: &Device) -> Result<Option<Counters>> {
        let mut launch = Launch::grid(1);
        if matches!(self.kernel.info().shared, SharedSpec::PerLaunch { .. }) {
            launch = launch.shared_elements(self.rows() * self.pitch);
        }
        Ok(device.launch(self.kernel, launch, (&mut self.out,))?.counters)
    }

    fn output(&self) -> Result<Output> {
        Ok(self.out.download()?.into())
    }

    fn check(&self, output: &Output) -> Result<Finding> {
        let rows = self.rows();
        let expected: Vec<i32> = (0..rows * COLS).map(|t| (t % rows * COLS + t / rows) as i32).collect();
        Ok(Finding::of_bits(expected, output))
    }
}
