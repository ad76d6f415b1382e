//! Device memory, which buffers own and views borrow.

use simt::element::Element;

use crate::backend::{Memory, Queue};
use crate::device::Device;
use crate::error::{ArgumentRule, BadArgument, Result};

/// Memory of a device, freed when dropped.
pub(crate) struct Allocation {
    // Before `device`: fields are dropped in this order.
    memory: Memory,
    device: Device,
}

impl Allocation {
    /// Memory for `len` elements, for use on `queue` first, or on any.
    pub(super) fn new<T: Element>(device: &Device, len: usize, queue: Option<&Queue>) -> Result<Self> {
        let bytes = bytes_of::<T>("alloc", len)?;
        Ok(Self { memory: device.backend().allocate(bytes, size_of::<T>(), queue)?, device: device.clone() })
    }

    /// `memory` of `device`.
    pub(super) fn of_memory(device: &Device, memory: Memory) -> Self {
        Self { memory, device: device.clone() }
    }

    pub(super) fn into_memory(self) -> Memory {
        self.memory
    }

    pub(crate) fn memory(&self) -> &Memory {
        &self.memory
    }

    pub(crate) fn device(&self) -> &Device {
        &self.device
    }
}

/// Bytes of `len` elements, within Rust's limit on the size of an object.
pub(super) fn bytes_of<T: Element>(call: &str, len: usize) -> Result<usize> {
    let size = size_of::<T>();
    len.checked_mul(size).filter(|&bytes| isize::try_from(bytes).is_ok()).ok_or_else(|| {
        BadArgument::new(ArgumentRule::Extent, call, "len")
            .expected(format_args!("at most {} elements of {size} bytes", isize::MAX as usize / size))
            .found(len)
            .remedy("check the computation of this length")
            .into()
    })
}
