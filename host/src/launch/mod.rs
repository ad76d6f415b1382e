//! Kernel launches: the compiler checks the arguments, [`Device::launch`](crate::Device::launch) the geometry.
//!
//! ```
//! use gpu::elementwise::add;
//! use warpwright::{Device, Launch};
//!
//! let device = Device::simulator();
//! let (x, y) = (device.upload(&[1.0_f32; 1000])?, device.upload(&[2.0_f32; 1000])?);
//! let mut sum = device.alloc(1000)?;
//! device.launch(&add::add_f32, Launch::grid(add::grid(1000)), (&x, &y, &mut sum))?;
//! assert_eq!(sum.download()?, [3.0; 1000]);
//! # Ok::<(), warpwright::Error>(())
//! ```

mod dims;
mod kernel_args;
mod run;
mod validate;

pub use dims::Dims;
pub(crate) use kernel_args::sealed::Sealed;
pub use kernel_args::{Arg, Fields, KernelArgs};
pub(crate) use run::Binder;

use crate::module::Module;
use crate::stream::Stream;

/// The configuration of a launch: grid, block, shared memory, stream, PTX module.
#[derive(Clone, Copy, Debug)]
#[must_use = "a launch configuration launches nothing: pass it to Device::launch"]
pub struct Launch<'a> {
    grid: [u64; 3],
    block: Option<Dims>,
    shared_elements: Option<usize>,
    stream: Option<&'a Stream>,
    module: Option<&'a Module>,
}

impl<'a> Launch<'a> {
    /// A grid of this many blocks along x, or (x, y), or (x, y, z).
    ///
    /// The block shape is the one that the kernel requires, if any; else set it with [`Launch::block`].
    pub fn grid(blocks: impl Into<Dims>) -> Self {
        let Dims([x, y, z]) = blocks.into();
        Self { grid: [x.into(), y.into(), z.into()], block: None, shared_elements: None, stream: None, module: None }
    }

    /// The fewest blocks of `block` threads along x that have at least `threads` threads.
    pub fn cover(threads: usize, block: u32) -> Self {
        let mut launch = Self::grid(0).block(block);
        // Device::launch refuses a block without threads.
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

    /// The stream on which the kernel runs; by default, the device's default stream.
    pub fn stream(self, stream: &'a Stream) -> Self {
        Self { stream: Some(stream), ..self }
    }

    /// PTX from elsewhere that holds the kernel. Kernels of the crate `gpu`, and those of packages with a build script
    /// that makes PTX (`warpwright_build::KernelBuilder`), need none; nor does the simulator.
    pub fn module(self, module: &'a Module) -> Self {
        Self { module: Some(module), ..self }
    }
}
