//! Element-wise addition.

use gpu::elementwise::add::{add_f32, grid};

use super::operand::Operand;
use super::same_shape;
use crate::device::Device;
use crate::error::Result;
use crate::launch::Launch;

impl Device {
    /// x + y in `f32`, element by element: two vectors of one length, or two matrices of one shape.
    ///
    /// A matrix whose rows are not contiguous is copied first.
    ///
    /// ```
    /// let device = warpwright::Device::simulator();
    /// let (x, y) = (device.upload(&[1.0_f32, 2.0])?, device.upload(&[10.0_f32, 20.0])?);
    /// assert_eq!(device.add(&x, &y)?.download()?, [11.0, 22.0]);
    /// # Ok::<(), warpwright::Error>(())
    /// ```
    ///
    /// # Errors
    /// The shapes differ; as [`Device::alloc`] and [`Device::launch`].
    pub fn add<'a, X, Y>(&self, x: X, y: Y) -> Result<X::Owned>
    where
        X: Operand<'a, Element = f32>,
        Y: Operand<'a, Element = f32, Owned = X::Owned>,
    {
        same_shape("add", x.shape(), y.shape())?;
        let (left, right) = (x.contiguous()?, y.contiguous()?);
        let n = left.view().len();
        let mut z = self.alloc_on(self.queue(), n)?;
        if n > 0 {
            self.launch(&add_f32, Launch::grid(grid(n)), (left.view(), right.view(), &mut z))?;
        }
        x.own(z)
    }
}
