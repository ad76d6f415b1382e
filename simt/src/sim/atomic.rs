//! Atomic operations. A null address is an element outside its view, already reported: the operation has no effect.

use simulator::device::{self, AtomicPlain};

use super::{
    memory::place,
    sync::{order, scope},
};
use crate::{
    access::{Space, zero},
    element::Element,
    sync::{Order, Scope},
};

/// Numbers with atomic loads, stores and swaps.
pub trait Cell: Element + AtomicPlain {}
/// Numbers with an atomic sum.
pub trait Add: Cell {
    /// The sum; integers wrap.
    #[must_use]
    fn plus(self, other: Self) -> Self;
}
/// Integers with atomic comparisons.
pub trait Integer: Cell + Ord {}
/// Integers with atomic bit operations.
pub trait Bits:
    Cell + core::ops::BitAnd<Output = Self> + core::ops::BitOr<Output = Self> + core::ops::BitXor<Output = Self>
{
}

macro_rules! implement {
    ($($name:ident: $($t:ty)+;)*) => {$($(impl $name for $t {})+)*};
}
implement! {
    Cell: u32 i32 u64 i64 f32 f64;
    Integer: u32 i32 u64 i64;
    Bits: u32 u64;
}

macro_rules! sums {
    ($($t:ty: $a:ident, $b:ident => $sum:expr;)*) => {$(
        impl Add for $t {
            #[cfg_attr(optimised, inline(always))]
            fn plus(self, other: Self) -> Self {
                let ($a, $b) = (self, other);
                $sum
            }
        }
    )*};
}
sums! {
    u32: a, b => a.wrapping_add(b);
    i32: a, b => a.wrapping_add(b);
    u64: a, b => a.wrapping_add(b);
    f32: a, b => a + b;
    f64: a, b => a + b;
}

/// # Safety
/// `ptr` is null or inside allocated memory of `space`.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) unsafe fn load<T: Cell>(space: Space, ptr: *const T, sem: Order, of: Scope) -> T {
    if ptr.is_null() {
        return zero();
    }
    // SAFETY: the caller's promise.
    unsafe { device::atomic_load(place(space), ptr, order(sem), scope(of)) }
}

/// # Safety
/// `ptr` is null or inside allocated, writable memory of `space`.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) unsafe fn store<T: Cell>(space: Space, ptr: *mut T, new: T, sem: Order, of: Scope) {
    if !ptr.is_null() {
        // SAFETY: the caller's promise.
        unsafe { device::atomic_store(place(space), ptr, new, order(sem), scope(of)) }
    }
}

macro_rules! updates {
    ($($name:ident: $bound:ident, $old:ident, $arg:ident => $new:expr;)*) => {$(
        /// # Safety
        /// `ptr` is null or inside allocated, writable memory of `space`.
        #[cfg_attr(optimised, inline(always))]
        #[track_caller]
        pub(crate) unsafe fn $name<T: $bound>(space: Space, ptr: *mut T, $arg: T, sem: Order, of: Scope) -> T {
            if ptr.is_null() {
                return zero();
            }
            // SAFETY: the caller's promise.
            unsafe { device::atomic_update(place(space), ptr, order(sem), scope(of), |$old| $new) }
        }
    )*};
}
updates! {
    swap: Cell, _old, new => new;
    add: Add, old, more => old.plus(more);
    min: Integer, old, other => Ord::min(old, other);
    max: Integer, old, other => Ord::max(old, other);
    and: Bits, old, other => old & other;
    or: Bits, old, other => old | other;
    xor: Bits, old, other => old ^ other;
}

/// # Safety
/// `ptr` is null or inside allocated, writable memory of `space`.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) unsafe fn compare_exchange<T: Integer>(
    space: Space,
    ptr: *mut T,
    expected: T,
    new: T,
    sem: Order,
    of: Scope,
) -> Result<T, T> {
    if ptr.is_null() {
        return Err(zero());
    }
    // SAFETY: the caller's promise.
    let (found, done) =
        unsafe { device::atomic_compare_exchange(place(space), ptr, expected, new, order(sem), scope(of)) };
    if done { Ok(found) } else { Err(found) }
}
