//! One reduction, ready to be launched.

use gpu::reduce::whole::partition::{blocks, blocks_of_pairs};
use simt::Kernel;
use simt::element::Element;
use simt::global::{VecMut, VecRef};

use crate::device::Device;
use crate::error::Result;
use crate::launch::Launch;
use crate::memory::{BufferView, BufferViewMut};
use crate::ops::resident;
use crate::stream::Stream;

/// What a kernel takes that reduces one vector; with `N`, numbers behind.
type Arguments<T, U> = (VecRef<'static, T>, VecMut<'static, u64>, VecMut<'static, U>);
type ArgumentsWith<T, U> = (VecRef<'static, T>, VecMut<'static, u64>, VecMut<'static, U>, u64);
type ArgumentsOfTwo<T, U> = (VecRef<'static, T>, VecRef<'static, T>, VecMut<'static, u64>, VecMut<'static, U>);

/// Where a reduction runs and where its result goes. `out` has one element.
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
        let launch = Launch::grid(blocks);
        match self.stream {
            Some(stream) => launch.stream(stream),
            None => launch,
        }
    }

    /// Launches a kernel for elements `S` of the size of `T` and a result `V` of the size of `U`.
    pub(super) fn launch<S: Element, V: Element>(self, kernel: &Kernel<Arguments<S, V>>) -> Result<()> {
        let launch = self.grid(blocks(self.x.len(), size_of::<T>(), resident(kernel.info())));
        self.device.launch(kernel, launch, (self.x.cast::<S>(), self.workspace, self.out.cast::<V>()))?;
        Ok(())
    }

    /// The same with the kernel's parameter.
    pub(super) fn launch_with<S: Element, V: Element>(
        self,
        kernel: &Kernel<ArgumentsWith<S, V>>,
        parameter: u64,
    ) -> Result<()> {
        let launch = self.grid(blocks(self.x.len(), size_of::<T>(), resident(kernel.info())));
        self.device.launch(kernel, launch, (self.x.cast::<S>(), self.workspace, self.out.cast::<V>(), parameter))?;
        Ok(())
    }

    /// The same with a second vector of the same length.
    pub(super) fn launch_of_two<S: Element, V: Element>(
        self,
        kernel: &Kernel<ArgumentsOfTwo<S, V>>,
        y: BufferView<'_, T>,
    ) -> Result<()> {
        let launch = self.grid(blocks_of_pairs(self.x.len(), size_of::<T>(), resident(kernel.info())));
        let arguments = (self.x.cast::<S>(), y.cast::<S>(), self.workspace, self.out.cast::<V>());
        self.device.launch(kernel, launch, arguments)?;
        Ok(())
    }
}
