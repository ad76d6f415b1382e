//! Atomic operations on elements of shared and global memory.
//!
//! A view returns a handle: `counts.atomic(i).fetch_add(1, Order::Relaxed, Scope::Device)`. Order and scope are written
//! as constants, so that the choice of the instruction folds away. Floating-point sums depend on the order in which the
//! threads arrive; integer results do not.
//!
//! ```
//! use simt::prelude::*;
//!
//! /// Counts the elements of `x` in four bins, by their two lowest bits.
//! #[kernel(block = 256)]
//! pub fn histogram(x: VecRef<u32>, counts: VecMut<u32>) {
//!     let i = index_1d();
//!     if branch(i < x.len()) {
//!         counts.atomic(x.get(i) as usize % 4).fetch_add(1, Order::Relaxed, Scope::Device);
//!     }
//! }
//! ```

use core::marker::PhantomData;

use crate::{
    access::{Access, Space},
    arch,
    element::Element,
    sync::{Order, Scope},
};

/// Numbers with atomic loads, stores and swaps: `u32`, `i32`, `u64`, `i64`, `f32`, `f64`.
pub trait AtomicElement: Element + arch::atomic::Cell {}
/// Numbers with an atomic sum: `u32`, `i32`, `u64`, `f32`, `f64`.
pub trait AtomicAdd: AtomicElement + arch::atomic::Add {}
/// Integers with atomic minimum, maximum and compare-exchange: `u32`, `i32`, `u64`, `i64`.
pub trait AtomicInteger: AtomicElement + arch::atomic::Integer {}
/// Integers with atomic bit operations: `u32`, `u64`.
pub trait AtomicBits: AtomicElement + arch::atomic::Bits {}

macro_rules! implement {
    ($($name:ident: $($t:ty)+;)*) => {$($(impl $name for $t {})+)*};
}
implement! {
    AtomicElement: u32 i32 u64 i64 f32 f64;
    AtomicAdd: u32 i32 u64 f32 f64;
    AtomicInteger: u32 i32 u64 i64;
    AtomicBits: u32 u64;
}

/// An element of shared or global memory on which threads operate atomically.
#[derive(Clone, Copy, Debug)]
pub struct Atomic<'a, T> {
    space: Space,
    /// Null for an element outside its view, after the report: operations then have no effect and return zero.
    ptr: *mut T,
    memory: PhantomData<&'a T>,
}

impl<T: AtomicElement> Atomic<'_, T> {
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    pub(crate) fn new<const D: usize>(access: Access<T, D>) -> Self {
        Self { space: access.space, ptr: access.address(true), memory: PhantomData }
    }

    /// Reads the value (`ld.relaxed` or `ld.acquire`). A load cannot release: `Release` is treated as `Relaxed`,
    /// `AcqRel` as `Acquire`.
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    pub fn load(&self, order: Order, scope: Scope) -> T {
        let order = match order {
            Order::Relaxed | Order::Release => Order::Relaxed,
            Order::Acquire | Order::AcqRel => Order::Acquire,
        };
        // SAFETY: null or inside a view, whose constructor guarantees its memory.
        unsafe { arch::atomic::load(self.space, self.ptr, order, scope) }
    }

    /// Writes the value (`st.relaxed` or `st.release`). A store cannot acquire: `Acquire` is treated as `Relaxed`,
    /// `AcqRel` as `Release`.
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    pub fn store(&self, value: T, order: Order, scope: Scope) {
        let order = match order {
            Order::Relaxed | Order::Acquire => Order::Relaxed,
            Order::Release | Order::AcqRel => Order::Release,
        };
        // SAFETY: null or inside a view, whose constructor guarantees its memory.
        unsafe { arch::atomic::store(self.space, self.ptr, value, order, scope) }
    }

    /// Writes `value`, returns the old value (`atom.exch`).
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    pub fn swap(&self, value: T, order: Order, scope: Scope) -> T {
        // SAFETY: null or inside a view, whose constructor guarantees its memory.
        unsafe { arch::atomic::swap(self.space, self.ptr, value, order, scope) }
    }
}

impl<T: AtomicAdd> Atomic<'_, T> {
    /// Adds `value` (integers wrap), returns the old value (`atom.add`).
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    pub fn fetch_add(&self, value: T, order: Order, scope: Scope) -> T {
        // SAFETY: null or inside a view, whose constructor guarantees its memory.
        unsafe { arch::atomic::add(self.space, self.ptr, value, order, scope) }
    }
}

impl<T: AtomicInteger> Atomic<'_, T> {
    /// Writes the smaller of both values, returns the old value (`atom.min`).
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    pub fn fetch_min(&self, value: T, order: Order, scope: Scope) -> T {
        // SAFETY: null or inside a view, whose constructor guarantees its memory.
        unsafe { arch::atomic::min(self.space, self.ptr, value, order, scope) }
    }

    /// Writes the greater of both values, returns the old value (`atom.max`).
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    pub fn fetch_max(&self, value: T, order: Order, scope: Scope) -> T {
        // SAFETY: null or inside a view, whose constructor guarantees its memory.
        unsafe { arch::atomic::max(self.space, self.ptr, value, order, scope) }
    }

    /// Writes `new` if the value is `expected` (`atom.cas`).
    ///
    /// # Errors
    /// `Err(found)` if the value is `found`, not `expected`; nothing is written then. `Ok(expected)` otherwise.
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    pub fn compare_exchange(&self, expected: T, new: T, order: Order, scope: Scope) -> Result<T, T> {
        // SAFETY: null or inside a view, whose constructor guarantees its memory.
        unsafe { arch::atomic::compare_exchange(self.space, self.ptr, expected, new, order, scope) }
    }
}

impl<T: AtomicBits> Atomic<'_, T> {
    /// Writes the bitwise and of both values, returns the old value (`atom.and`).
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    pub fn fetch_and(&self, value: T, order: Order, scope: Scope) -> T {
        // SAFETY: null or inside a view, whose constructor guarantees its memory.
        unsafe { arch::atomic::and(self.space, self.ptr, value, order, scope) }
    }

    /// Writes the bitwise or of both values, returns the old value (`atom.or`).
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    pub fn fetch_or(&self, value: T, order: Order, scope: Scope) -> T {
        // SAFETY: null or inside a view, whose constructor guarantees its memory.
        unsafe { arch::atomic::or(self.space, self.ptr, value, order, scope) }
    }

    /// Writes the bitwise exclusive or of both values, returns the old value (`atom.xor`).
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    pub fn fetch_xor(&self, value: T, order: Order, scope: Scope) -> T {
        // SAFETY: null or inside a view, whose constructor guarantees its memory.
        unsafe { arch::atomic::xor(self.space, self.ptr, value, order, scope) }
    }
}
