//! Values of several lanes for one of them, which a reduction by shuffles merges in a tree.

use super::group::{Group, lanes};
use super::ops::WarpOps;
use crate::block::state::BlockState;

/// What a lane gives and receives.
pub(crate) struct Gathered {
    /// Room for 32 values, of which the first is the lane's own.
    pub(crate) values: *mut u8,
    /// How many values there are: 1, or as many as the lane has received with its own.
    pub(crate) count: usize,
}

impl WarpOps {
    /// Hands each lane that is the first of its tree the values of the others. Its own stands for one that is missing,
    /// which is reported.
    ///
    /// # Safety
    /// Each value of a lane that has arrived is the address of a [`Gathered`] of values of `bytes` bytes on the stack
    /// of that lane, which waits.
    pub(super) unsafe fn gather(
        &self,
        state: &BlockState,
        group: &Group,
        (width, stride): (usize, usize),
        bytes: usize,
    ) {
        let of = |lane: usize| std::ptr::with_exposed_provenance_mut::<Gathered>(group.values[lane] as usize);
        // SAFETY: the caller's promise. Nothing else accesses it while the lane waits.
        let values = |lane: usize| unsafe { (*of(lane)).values };
        for first in lanes(group.arrived).filter(|lane| lane % width < stride) {
            for at in 1..width / stride {
                let mut source = first + at * stride;
                if group.arrived >> source & 1 == 0 {
                    self.report_source(state, group, first, source as u32);
                    source = first;
                }
                // SAFETY: a value of a lane, and room for one in another array or in another place of the same.
                unsafe { copy(values(source), values(first).add(at * bytes), bytes) };
            }
            // SAFETY: the caller's promise.
            unsafe { (*of(first)).count = width / stride };
        }
    }
}

/// Copies a value of `bytes` bytes. Those of the usual sizes without a call.
///
/// # Safety
/// So many bytes may be read and written, and do not overlap.
#[inline(always)]
unsafe fn copy(from: *const u8, to: *mut u8, bytes: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        match bytes {
            4 => from.copy_to_nonoverlapping(to, 4),
            8 => from.copy_to_nonoverlapping(to, 8),
            16 => from.copy_to_nonoverlapping(to, 16),
            24 => from.copy_to_nonoverlapping(to, 24),
            32 => from.copy_to_nonoverlapping(to, 32),
            _ => from.copy_to_nonoverlapping(to, bytes),
        }
    }
}
