//! The launch of one reduction.

use gpu::reduce::whole::partition::{blocks, blocks_of_pairs};
use simt::Kernel;
use simt::element::Element;
use simt::global::{VecMut, VecRef};

use crate::device::Device;
use crate::error::Result;
use crate::launch::Launch;
use crate::memory::{BufferView, BufferViewMut};
use crate::ops::{blocks_per_sm, on};
use crate::stream::Stream;

/// The arguments of a kernel that reduces one vector, without and with a parameter, and of one that reduces two.
type Arguments<T, U> = (VecRef<'static, T>, VecMut<'static, u64>, VecMut<'static, U>);
type ArgumentsWith<T, U> = (VecRef<'static, T>, VecMut<'static, u64>, VecMut<'static, U>, u64);
type ArgumentsOfTwo<T, U> = (VecRef<'static, T>, VecRef<'static, T>, VecMut<'static, u64>, VecMut<'static, U>);

/// The device, stream and memory of a reduction. `out` has one element.
#[doc(hidden)]
#[derive(Debug)]
pub struct Task<'a, T: Element, U: Element> {
    pub(super) device: &'a Device,
    pub(super) stream: Option<&'a Stream>,
    pub(super) x: BufferView<'a, T>,
    pub(super) workspace: BufferViewMut<'a, u64>,
    pub(super) out: BufferViewMut<'a, U>,
}

impl<'a, T: Element, U: Element> Task<'a, T, U> {
    fn grid(&self, blocks: u32) -> Launch<'a> {
        on(self.stream, Launch::grid(blocks))
    }

    /// Launches a kernel for elements `S`, of the size of `T`, and a result `V`, of the size of `U`.
    pub(super) fn launch<S: Element, V: Element>(self, kernel: &Kernel<Arguments<S, V>>) -> Result<()> {
        let launch = self.grid(blocks(self.x.len(), size_of::<T>(), blocks_per_sm(kernel.info())));
        self.device.launch(kernel, launch, (self.x.cast::<S>(), self.workspace, self.out.cast::<V>()))?;
        Ok(())
    }

    /// [`Task::launch`] with a parameter for the kernel.
    pub(super) fn launch_with<S: Element, V: Element>(
        self,
        kernel: &Kernel<ArgumentsWith<S, V>>,
        parameter: u64,
    ) -> Result<()> {
        let launch = self.grid(blocks(self.x.len(), size_of::<T>(), blocks_per_sm(kernel.info())));
        self.device.launch(kernel, launch, (self.x.cast::<S>(), self.workspace, self.out.cast::<V>(), parameter))?;
        Ok(())
    }

    /// [`Task::launch`] with a second vector of the same length.
    pub(super) fn launch_of_two<S: Element, V: Element>(
        self,
        kernel: &Kernel<ArgumentsOfTwo<S, V>>,
        y: BufferView<'_, T>,
    ) -> Result<()> {
        let launch = self.grid(blocks_of_pairs(self.x.len(), size_of::<T>(), blocks_per_sm(kernel.info())));
        let arguments = (self.x.cast::<S>(), y.cast::<S>(), self.workspace, self.out.cast::<V>());
        self.device.launch(kernel, launch, arguments)?;
        Ok(())
    }
}
