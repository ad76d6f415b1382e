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

pub use dims::{Dims, Extent};
use kernel_args::BindEach;
pub(crate) use kernel_args::sealed::Sealed;
pub use kernel_args::{Arg, Fields, KernelArgs};
pub(crate) use run::Binder;

use crate::module::Module;
use crate::stream::Stream;

/// The configuration of a launch: grid, block, shared memory, stream, PTX module.
///
/// ```
/// use warpwright::prelude::*;
///
/// /// The sum of the block's elements of `x`, by thread 0.
/// #[kernel]
/// pub fn block_sums(#[shared] copy: DynShared<u32>, x: VecRef<u32>, sums: VecMut<u32>) {
///     let thread = thread_idx_x();
///     copy.set(thread, x.get(index_1d()));
///     sync_threads();
///     if branch(thread == 0) {
///         sums.set(block_idx_x() as usize, (0..block_dim_x()).map(|i| copy.get(i)).sum());
///     }
/// }
///
/// let device = Device::simulator();
/// let x = device.upload(&[1_u32; 512])?;
/// let mut sums = device.alloc(4)?;
/// // As many blocks of 128 threads as 512 elements need, with 128 elements of shared memory each.
/// let launch = Launch::cover(x.len(), 128).shared_elements(128);
/// device.launch(&block_sums, launch, (&x, &mut sums))?;
/// assert_eq!(sums.download()?, [128; 4]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use = "a launch configuration launches nothing: pass it to Device::launch"]
pub struct Launch<'a> {
    grid: Dims,
    block: Option<Dims>,
    shared_elements: Option<i128>,
    stream: Option<&'a Stream>,
    module: Option<&'a Module>,
}

impl<'a> Launch<'a> {
    /// A grid of this many blocks along x, or (x, y), or (x, y, z).
    ///
    /// The block shape is the one that the kernel requires, if any; else set it with [`Launch::block`].
    pub fn grid(blocks: impl Into<Dims>) -> Self {
        Self { grid: blocks.into(), block: None, shared_elements: None, stream: None, module: None }
    }

    /// The fewest blocks of `block` threads along x that have at least `threads` threads.
    pub fn cover(threads: impl Extent, block: impl Extent) -> Self {
        // Device::launch refuses a block without threads.
        let per_block = block.value().max(1);
        let blocks = (threads.value() + per_block - 1).div_euclid(per_block);
        Self { grid: Dims([blocks, 1, 1]), ..Self::grid(0) }.block(block)
    }

    /// Threads of a block along x, or (x, y), or (x, y, z).
    pub fn block(self, threads: impl Into<Dims>) -> Self {
        Self { block: Some(threads.into()), ..self }
    }

    /// Elements of shared memory for each block, for a kernel whose shared memory is sized at launch.
    pub fn shared_elements(self, elements: impl Extent) -> Self {
        Self { shared_elements: Some(elements.value()), ..self }
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
