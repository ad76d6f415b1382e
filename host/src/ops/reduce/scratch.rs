//! What a reduction that waits for its result needs besides its input.

use std::sync::{Mutex, PoisonError};

use gpu::reduce::whole::partition::WORKSPACE_WORDS;
use simt::element::Element;

use super::workspace::Workspace;
use crate::backend::Memory;
use crate::device::Device;
use crate::error::Result;
use crate::memory::Buffer;

/// Bytes of the largest result.
const RESULT_BYTES: usize = 8;

/// A workspace and the memory of a result.
pub(super) struct Scratch<U: Element> {
    pub(super) workspace: Workspace,
    pub(super) out: Buffer<U>,
}

/// The memory of scratch that is not in use, on one GPU: workspace, result.
#[derive(Default)]
struct Kept(Mutex<Vec<[Memory; 2]>>);

impl Kept {
    fn list(&self) -> std::sync::MutexGuard<'_, Vec<[Memory; 2]>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<U: Element> Scratch<U> {
    /// Scratch that an earlier reduction has left, or new one.
    pub(super) fn take(device: &Device) -> Result<Self> {
        const { assert!(size_of::<U>() <= RESULT_BYTES) };
        if let Some([words, out]) = device.cache::<Kept>().list().pop() {
            // SAFETY: memory of this device that was allocated below, with at least as many bytes; kept on GPUs alone.
            let (words, out) =
                unsafe { (Buffer::from_memory(device, words, WORKSPACE_WORDS), Buffer::from_memory(device, out, 1)) };
            return Ok(Self { workspace: Workspace::of(words), out });
        }
        let on_simulator = device.backend().simulator_config().is_some();
        let bytes = if on_simulator { size_of::<U>() } else { RESULT_BYTES };
        let out = device.backend().allocate_result(bytes)?;
        // SAFETY: memory of this device, for one element.
        let out = unsafe { Buffer::from_memory(device, out, 1) };
        Ok(Self { workspace: Workspace::new(device)?, out })
    }

    /// Waits for the result, and keeps the memory for the next reduction. On the simulator it is freed, so that a
    /// reduction which does not write its result is reported.
    pub(super) fn finish(self) -> Result<U> {
        let result = self.out.download()?[0];
        let device = self.out.device().clone();
        if device.backend().simulator_config().is_none() {
            let memory = [self.workspace.into_words().into_memory(), self.out.into_memory()];
            device.cache::<Kept>().list().push(memory);
        }
        Ok(result)
    }
}
