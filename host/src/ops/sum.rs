//! Sums.

use gpu::reduce::sum::{THREADS, TILE_ELEMENTS, blocks, sum_f32};

use super::add::Operand;
use crate::device::Device;
use crate::error::Result;
use crate::launch::Launch;

impl Device {
    /// The sum of all elements of a vector or matrix, added in `f64` and rounded to `f32` once; 0 if there is none.
    ///
    /// The order of additions depends on the number of elements and on how the first is aligned to 16 bytes, not on the
    /// device: the result has the same bits everywhere. Waits for the result. A matrix with gaps between its rows is copied
    /// without them first.
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
        let blocks = blocks(x.len());
        let (mut partials, mut ticket) = (self.alloc::<f64>(blocks as usize)?, self.alloc_zeros::<u32>(1)?);
        let mut out = self.alloc(1)?;
        self.launch(&sum_f32, Launch::grid(blocks), (x, &mut partials, &mut ticket, &mut out))?;
        let mut sum = [0.0];
        out.view().download_into(&mut sum)?;
        Ok(sum[0])
    }
}

/// The most additions that an element passes through in [`Device::sum`] of `n` elements: the depth for
/// [`crate::oracle::sum_in_f64`].
///
/// ```
/// use warpwright::sum_depth;
/// // A thread adds 16 elements at once, in 4 steps, to what it has; then come the ends, the warp and the block.
/// assert_eq!(sum_depth(1), 5 + 2 + 5 + 8);
/// // Two blocks: their two sums are added as a block's are.
/// assert_eq!(sum_depth(5000), (5 + 2 + 5 + 8) + (1 + 5 + 8));
/// ```
pub fn sum_depth(n: usize) -> u64 {
    let blocks = u64::from(blocks(n));
    // Up to 15 elements more may be needed than fill whole tiles, where the first is not aligned.
    let tiles = (n as u64).div_ceil(TILE_ELEMENTS as u64).div_ceil(blocks).max(1);
    let (warp, block) = (5, u64::from(THREADS / 32));
    let thread = 4 + tiles + 2;
    let last = if blocks == 1 { 0 } else { blocks.div_ceil(u64::from(THREADS)) + warp + block };
    thread + warp + block + last
}
