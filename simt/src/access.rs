//! One access to shared or global memory after its bounds check. Every view's accessors go through [`Access`].

use crate::{arch, element::Element};

/// The state space of an address. It is a constant wherever it is used, so that comparisons with it fold away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(unreachable_pub, reason = "on PTX, supertraits of public traits use it in signatures")]
pub enum Space {
    /// Shared memory of the block.
    Shared,
    /// Global memory: buffer `tag` of the launch, which only the simulator uses.
    Global {
        /// Index of the buffer among the launch's bindings.
        tag: u32,
    },
}

/// An element addressed by `D` indices: its address, and whether it is inside its view.
#[derive(Clone, Copy)]
pub(crate) struct Access<T, const D: usize> {
    pub(crate) space: Space,
    /// The element's address; meaningless where `inside` is false.
    pub(crate) ptr: *mut T,
    pub(crate) inside: bool,
    /// For the report only: the requested indices and the view's extents.
    pub(crate) index: [u64; D],
    pub(crate) extent: [u64; D],
}

/// Checked accesses. Outside the view `get` and `set` report (trap on PTX); the others do not.
macro_rules! accesses {
    ($($get:ident, $get_or:ident, $set:ident, $set_within:ident: $read:ident, $write:ident;)+) => {$(
        #[cfg_attr(optimised, inline(always))]
        #[track_caller]
        pub(crate) fn $get(self) -> T {
            if self.inside {
                // SAFETY: inside a view, whose constructor guarantees its memory.
                unsafe { arch::memory::$read(self.space, self.ptr) }
            } else {
                arch::memory::outside(self.space, false, self.index, self.extent);
                zero()
            }
        }

        #[cfg_attr(optimised, inline(always))]
        #[track_caller]
        pub(crate) fn $get_or(self, default: T) -> T {
            if self.inside {
                // SAFETY: inside a view, whose constructor guarantees its memory.
                unsafe { arch::memory::$read(self.space, self.ptr) }
            } else {
                default
            }
        }

        #[cfg_attr(optimised, inline(always))]
        #[track_caller]
        pub(crate) fn $set(self, value: T) {
            if self.inside {
                // SAFETY: inside a writable view, whose constructor guarantees its memory.
                unsafe { arch::memory::$write(self.space, self.ptr, value) }
            } else {
                arch::memory::outside(self.space, true, self.index, self.extent);
            }
        }

        #[cfg_attr(optimised, inline(always))]
        #[track_caller]
        pub(crate) fn $set_within(self, value: T) -> bool {
            if self.inside {
                // SAFETY: inside a writable view, whose constructor guarantees its memory.
                unsafe { arch::memory::$write(self.space, self.ptr, value) }
            }
            self.inside
        }
    )+};
}

impl<T: Element> Access<T, 1> {
    /// Elements `i` to `i + LANES − 1` of an array of `len` elements in shared memory.
    #[cfg_attr(optimised, inline(always))]
    pub(crate) fn shared<const LANES: usize>(base: *mut T, i: u32, len: u32) -> Self {
        Self {
            space: Space::Shared,
            ptr: base.wrapping_add(i as usize),
            inside: fits32::<LANES>(i, len),
            index: [i as u64],
            extent: [len as u64],
        }
    }
}

impl<T: Element, const D: usize> Access<T, D> {
    /// The same address seen as an element of another type, such as a vector that starts there.
    #[cfg_attr(optimised, inline(always))]
    pub(crate) fn cast<U: Element>(self) -> Access<U, D> {
        let Self { space, ptr, inside, index, extent } = self;
        Access { space, ptr: ptr.cast(), inside, index, extent }
    }

    accesses! {
        get, get_or, set, set_within: read, write;
        get_streaming, get_or_streaming, set_streaming, set_within_streaming: read_streaming, write_streaming;
    }

    /// # Safety
    /// The element is inside its view. (The simulator checks.)
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    pub(crate) unsafe fn get_unchecked(self) -> T {
        // SAFETY: the caller's promise.
        unsafe { arch::memory::read_unchecked(self.space, self.ptr) }
    }

    /// # Safety
    /// The element is inside its view. (The simulator checks.)
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    pub(crate) unsafe fn set_unchecked(self, value: T) {
        // SAFETY: the caller's promise.
        unsafe { arch::memory::write_unchecked(self.space, self.ptr, value) }
    }

    /// The address; outside the view null, after a report. (On PTX an access outside has trapped.)
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    pub(crate) fn address(self, write: bool) -> *mut T {
        if self.inside {
            self.ptr
        } else {
            arch::memory::outside(self.space, write, self.index, self.extent);
            core::ptr::null_mut()
        }
    }
}

/// The element whose bytes are zero.
#[cfg_attr(optimised, inline(always))]
pub(crate) fn zero<T: Element>() -> T {
    // SAFETY: any bytes are a valid `Element`.
    unsafe { core::mem::zeroed() }
}

/// Whether `lanes` elements starting at `index` lie inside an extent.
#[cfg_attr(optimised, inline(always))]
pub(crate) fn fits<const LANES: usize>(index: u64, extent: u64) -> bool {
    if LANES == 1 { index < extent } else { index < extent && extent - index >= LANES as u64 }
}

/// [`fits`] in 32 bits, the width in which rows, columns and shared memory are counted.
#[cfg_attr(optimised, inline(always))]
pub(crate) fn fits32<const LANES: usize>(index: u32, extent: u32) -> bool {
    if LANES == 1 { index < extent } else { index < extent && extent - index >= LANES as u32 }
}
