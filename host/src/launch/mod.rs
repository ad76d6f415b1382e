//! Launching kernels: arguments checked by the compiler, geometry and sizes before the launch.
//!
//! ```
//! use warpwright::{Device, Launch};
//!
//! let device = Device::simulator();
//! let (x, y) = (device.upload(&[1.0_f32; 1000])?, device.upload(&[2.0_f32; 1000])?);
//! let mut sum = device.alloc(1000)?;
//! device.launch(&gpu::elementwise::add::add_f32, Launch::cover(1000, 64), (&x, &y, &mut sum))?;
//! assert_eq!(sum.download()?, [3.0; 1000]);
//! # Ok::<(), warpwright::Error>(())
//! ```

mod arguments;
mod execution;
mod geometry;
mod run;

pub use arguments::{Arg, Fields, KernelArgs};
pub use execution::Execution;
pub use geometry::Dims;
pub(crate) use geometry::Geometry;
pub(crate) use run::{Bound, Request};

use crate::module::Module;
use crate::stream::Stream;

/// Where and how a kernel is to run: grid, block, shared memory, stream, PTX module.
#[derive(Clone, Copy, Debug)]
#[must_use = "a description of a launch launches nothing: pass it to Device::launch"]
pub struct Launch<'a> {
    grid: [u64; 3],
    block: Option<Dims>,
    shared_elements: Option<usize>,
    stream: Option<&'a Stream>,
    module: Option<&'a Module>,
}

impl<'a> Launch<'a> {
    /// A grid of so many blocks along x, or (x, y), or (x, y, z).
    ///
    /// The block shape is the one that the kernel requires, if it requires one; else give it with [`Launch::block`].
    pub fn grid(blocks: impl Into<Dims>) -> Self {
        let Dims([x, y, z]) = blocks.into();
        Self { grid: [x.into(), y.into(), z.into()], block: None, shared_elements: None, stream: None, module: None }
    }

    /// As few blocks of `block` threads along x as make at least `threads` threads.
    pub fn cover(threads: usize, block: u32) -> Self {
        let mut launch = Self::grid(0).block(block);
        // A block of no threads is refused when the kernel is launched.
        launch.grid = [(threads as u64).div_ceil(u64::from(block.max(1))), 1, 1];
        launch
    }

    /// Threads of a block along x, or (x, y), or (x, y, z).
    pub fn block(self, threads: impl Into<Dims>) -> Self {
        Self { block: Some(threads.into()), ..self }
    }

    /// Elements of shared memory for each block, for a kernel whose shared memory is sized at launch.
    pub fn shared_elements(self, elements: usize) -> Self {
        Self { shared_elements: Some(elements), ..self }
    }

    /// The stream whose work it becomes; without it, the device's default stream.
    pub fn stream(self, stream: &'a Stream) -> Self {
        Self { stream: Some(stream), ..self }
    }

    /// The PTX that holds the kernel, for kernels outside the crate `gpu`. The simulator needs none and ignores it.
    pub fn module(self, module: &'a Module) -> Self {
        Self { module: Some(module), ..self }
    }
}
