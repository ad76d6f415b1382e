//! Sums.

use gpu::reduce::dynamic::reduce_sum_dynamic;

use super::add::Operand;
use crate::device::Device;
use crate::error::Result;
use crate::launch::Launch;
use crate::memory::{Buffer, BufferView};

/// Threads of a block, and so elements of which one launch makes one: 8 warps, of which several blocks fit a multiprocessor.
const THREADS: u32 = 256;

impl Device {
    /// The sum of all elements of a vector or matrix in `f32`, 0 if there is none.
    ///
    /// Added along a tree of depth [`sum_depth`], the same on every device, so the result has the same bits everywhere.
    /// Waits for the result. A matrix with gaps between its rows is copied without them first.
    ///
    /// ```
    /// let device = warpwright::Device::simulator();
    /// let x = device.upload(&[0.5_f32; 1000])?;
    /// assert_eq!(device.sum(&x)?, 500.0);
    /// assert_eq!(device.sum(x.slice(0..0)?)?, 0.0);
    /// # Ok::<(), warpwright::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Device::alloc`] and [`Device::launch`]; [`crate::Error::DeviceLost`] if work before it failed.
    pub fn sum<'a>(&self, x: impl Operand<'a>) -> Result<f32> {
        let contiguous = x.contiguous()?;
        let x = contiguous.view();
        if x.is_empty() {
            return Ok(0.0);
        }
        let mut sums = self.sum_blocks(x)?;
        while sums.len() > 1 {
            sums = self.sum_blocks(sums.view())?;
        }
        let mut sum = [0.0];
        sums.view().download_into(&mut sum)?;
        Ok(sum[0])
    }

    /// One sum for each block of elements.
    fn sum_blocks(&self, x: BufferView<'_, f32>) -> Result<Buffer<f32>> {
        let mut sums = self.alloc(x.len().div_ceil(THREADS as usize))?;
        let launch = Launch::cover(x.len(), THREADS).shared_elements(THREADS as usize);
        self.launch(&reduce_sum_dynamic, launch, (x, &mut sums))?;
        Ok(sums)
    }
}

/// The most additions that an element passes through in [`Device::sum`] of `n` elements, additions of a zero that stands
/// for a missing one aside: the depth for [`crate::oracle::sum`].
///
/// ```
/// use warpwright::sum_depth;
/// assert_eq!([0, 1, 2, 256, 257, 65536, 65537].map(sum_depth), [0, 0, 1, 8, 9, 16, 17]);
/// ```
pub fn sum_depth(n: usize) -> u64 {
    let (mut left, mut depth) = (n, 0);
    while left > 1 {
        // A block halves its section until one element is left.
        depth += u64::from(left.min(THREADS as usize).next_power_of_two().ilog2());
        left = left.div_ceil(THREADS as usize);
    }
    depth
}
