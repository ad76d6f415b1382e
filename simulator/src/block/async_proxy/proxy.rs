//! The state of one block's async proxy.

use crate::bulk::{Mbarrier, Operation};
use std::cell::UnsafeCell;

/// The mbarriers of one block, and its TMA operations under way.
#[derive(Default)]
pub(crate) struct AsyncProxy {
    inner: UnsafeCell<Inner>,
}

#[derive(Default)]
pub(super) struct Inner {
    /// In the order in which they were first initialised.
    pub(super) mbarriers: Vec<Mbarrier>,
    /// Operations under way, in the order in which they were issued.
    pub(super) operations: Vec<Operation>,
    /// Operations issued so far.
    pub(super) issued: u64,
}

impl AsyncProxy {
    #[expect(clippy::mut_from_ref, reason = "one OS thread; no two of these borrows live at once")]
    #[inline]
    pub(super) fn inner(&self) -> &mut Inner {
        // SAFETY: only this OS thread touches the block, and callers end the borrow before the next call or switch.
        unsafe { &mut *self.inner.get() }
    }
}

impl Inner {
    /// The mbarrier at an address, if it is initialised.
    pub(super) fn find(&self, address: usize) -> Option<usize> {
        self.mbarriers.iter().position(|mbarrier| mbarrier.address == address && mbarrier.valid)
    }
}
