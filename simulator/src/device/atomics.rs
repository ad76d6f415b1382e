//! Atomic operations and fences.
//!
//! The operation itself is a compare-and-swap loop on the host's atomics, sequentially consistent, so that kernels that
//! synchronise through atomics work across cores, too. The checks use the order that the *kernel* asked for.

use super::memory::is_inside;
use super::{Order, Place, Plain, Scope};
use crate::block::Block;
use crate::counters::{Access, What};
use crate::happens_before::AtomicOp;
use crate::lane::{COUNTERS, current, suspend};
use crate::mutation::{self, Change, mutated};
use crate::overflow::{enter, enter_at};
use crate::shadow::{AccessKind, Accessed};
use std::panic::Location;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::SeqCst};

/// Values that atomics work on: 4 or 8 bytes.
pub trait AtomicPlain: Plain + PartialEq {}
impl AtomicPlain for u32 {}
impl AtomicPlain for i32 {}
impl AtomicPlain for u64 {}
impl AtomicPlain for i64 {}
impl AtomicPlain for f32 {}
impl AtomicPlain for f64 {}

/// Bits of a value of 4 or 8 bytes.
fn to_bits<T: AtomicPlain>(value: T) -> u64 {
    let from = &raw const value;
    if size_of::<T>() == 4 {
        // SAFETY: the value has 4 bytes without padding.
        u64::from(unsafe { from.cast::<u32>().read_unaligned() })
    } else {
        // SAFETY: the value has 8 bytes without padding.
        unsafe { from.cast::<u64>().read_unaligned() }
    }
}

/// Value of the low 4, or all 8, bytes.
fn from_bits<T: AtomicPlain>(bits: u64) -> T {
    let low = bits as u32;
    let from = if size_of::<T>() == 4 { (&raw const low).cast::<T>() } else { (&raw const bits).cast::<T>() };
    // SAFETY: `from` points to as many bytes as `T` has, and any bytes are a valid `T`.
    unsafe { from.read_unaligned() }
}

/// A compare-and-swap loop: replaces `old` by `new(old)`, or gives up where that is `None`.
///
/// # Safety
/// `ptr` is aligned and lies in memory that others access only by atomics now.
unsafe fn swap<T: AtomicPlain>(ptr: *mut T, new: impl Fn(T) -> Option<T>) -> (T, bool) {
    let update = |bits: u64| new(from_bits::<T>(bits)).map(to_bits::<T>);
    let result = if size_of::<T>() == 4 {
        // SAFETY: as the caller promises.
        let cell = unsafe { AtomicU32::from_ptr(ptr.cast()) };
        cell.fetch_update(SeqCst, SeqCst, |bits| update(u64::from(bits)).map(|bits| bits as u32))
            .map(u64::from)
            .map_err(u64::from)
    } else {
        // SAFETY: as the caller promises.
        unsafe { AtomicU64::from_ptr(ptr.cast()) }.fetch_update(SeqCst, SeqCst, update)
    };
    match result {
        Ok(bits) => (from_bits(bits), true),
        Err(bits) => (from_bits(bits), false),
    }
}

/// Atomically replaces the value by `update(value)` and gives the old one. `update` may be called several times.
///
/// # Safety
/// The value lies in the memory of `place`, which the launch may write.
#[track_caller]
pub unsafe fn atomic_update<T: AtomicPlain>(
    place: Place,
    ptr: *mut T,
    order: Order,
    scope: Scope,
    update: impl Fn(T) -> T,
) -> T {
    let (address, location) = (ptr as usize, Location::caller());
    if !begin::<T>(place, address, AtomicOp::Update, location) {
        return from_bits(0);
    }
    // SAFETY: aligned, as `begin` has checked, and as the caller promises.
    let old = unsafe { swap(ptr, |old| Some(update(old))) }.0;
    check::<T>(place, address, AtomicOp::Update, (order, scope), location);
    old
}

/// Compares by bits and exchanges; gives the old value and whether the exchange happened.
///
/// # Safety
/// As [`atomic_update`].
#[track_caller]
pub unsafe fn atomic_compare_exchange<T: AtomicPlain>(
    place: Place,
    ptr: *mut T,
    expected: T,
    new: T,
    order: Order,
    scope: Scope,
) -> (T, bool) {
    let (address, location) = (ptr as usize, Location::caller());
    if !begin::<T>(place, address, AtomicOp::Update, location) {
        return (from_bits(0), false);
    }
    // SAFETY: aligned, as `begin` has checked, and as the caller promises.
    let (old, exchanged) = unsafe { swap(ptr, |old| (to_bits(old) == to_bits(expected)).then_some(new)) };
    // One that fails writes nothing, and so releases nothing.
    let op = if exchanged { AtomicOp::Update } else { AtomicOp::Load };
    check::<T>(place, address, op, (order, scope), location);
    (old, exchanged)
}

/// Atomic load.
///
/// # Safety
/// The value lies in the memory of `place`.
#[track_caller]
pub unsafe fn atomic_load<T: AtomicPlain>(place: Place, ptr: *const T, order: Order, scope: Scope) -> T {
    let (address, location) = (ptr as usize, Location::caller());
    if !begin::<T>(place, address, AtomicOp::Load, location) {
        return from_bits(0);
    }
    check::<T>(place, address, AtomicOp::Load, (order, scope), location);
    let ptr = ptr.cast_mut();
    // SAFETY: aligned, as `begin` has checked, and as the caller promises.
    let bits = unsafe {
        if size_of::<T>() == 4 {
            u64::from(AtomicU32::from_ptr(ptr.cast()).load(SeqCst))
        } else {
            AtomicU64::from_ptr(ptr.cast()).load(SeqCst)
        }
    };
    from_bits(bits)
}

/// Atomic store.
///
/// # Safety
/// As [`atomic_update`].
#[track_caller]
pub unsafe fn atomic_store<T: AtomicPlain>(place: Place, ptr: *mut T, value: T, order: Order, scope: Scope) {
    let (address, location) = (ptr as usize, Location::caller());
    if !begin::<T>(place, address, AtomicOp::Store, location) {
        return;
    }
    // SAFETY: aligned, as `begin` has checked, and as the caller promises.
    unsafe {
        if size_of::<T>() == 4 {
            AtomicU32::from_ptr(ptr.cast()).store(to_bits(value) as u32, SeqCst);
        } else {
            AtomicU64::from_ptr(ptr.cast()).store(to_bits(value), SeqCst);
        }
    }
    check::<T>(place, address, AtomicOp::Store, (order, scope), location);
}

/// The access of an atomic operation.
fn accessed<T>(address: usize, op: AtomicOp, location: &'static Location<'static>) -> Accessed {
    let kind = match op {
        AtomicOp::Load => AccessKind::AtomicRead,
        AtomicOp::Store => AccessKind::AtomicWrite,
        AtomicOp::Update => AccessKind::AtomicUpdate,
    };
    Accessed { address, size: size_of::<T>(), kind, location }
}

/// Begins an atomic operation, and at times lets other threads run before it. Gives whether it may go ahead.
#[inline(never)]
fn begin<T: AtomicPlain>(place: Place, address: usize, op: AtomicOp, location: &'static Location<'static>) -> bool {
    let lane = enter_at(location);
    let state = &Block::of(&lane).state;
    state.threads.count_step();
    let accessed = accessed::<T>(address, op, location);
    if !accessed.is_aligned() {
        accessed.report_misaligned(&state.threads, &lane);
        return false;
    }
    // Others run before this operation takes its place in the order of accesses, not between that and the operation
    // itself.
    if state.poll(&lane, location, Some(address)) {
        suspend(&lane);
    }
    !lane.watched() || is_inside(place, address, accessed.size, accessed.kind.writes(), location)
}

/// Counts and checks an atomic operation, and makes the order that it makes. No other thread of the launch runs between
/// the operation and this: one OS thread works on a watched launch.
#[inline(never)]
fn check<T: AtomicPlain>(
    place: Place,
    address: usize,
    op: AtomicOp,
    (order, scope): (Order, Scope),
    location: &'static Location<'static>,
) {
    let lane = current();
    if !lane.watched() {
        return;
    }
    let state = &Block::of(&lane).state;
    let accessed = accessed::<T>(address, op, location);
    let (order, scope) = mutation::atomic(location, op, (order, scope));
    match place {
        Place::Shared => {
            if lane.watch.get() & COUNTERS != 0 {
                state.count(&lane, location, What::new(Access::SharedAtomic, accessed.size), address);
            }
            state.check_shared(&lane, accessed);
        }
        Place::Global { tag } => state.check_global_atomic(&lane, tag, accessed, scope),
    }
    // Order among some threads of the block: readers must then be recorded one by one.
    if order != Order::Relaxed && (scope == Scope::Block || place == Place::Shared) {
        state.enable_per_thread_clocks();
    }
    // Whoever waits for what this thread has published may go on before this thread does.
    if state.order_atomic(&lane, address, op, (order, scope)) && state.pause_after_release(&lane) {
        suspend(&lane);
    }
}

/// `fence.acq_rel` of the given scope.
#[track_caller]
pub fn fence(scope: Scope) {
    let (lane, location) = (enter(), Location::caller());
    if mutated(location, Change::Remove) {
        return;
    }
    let scope = mutation::scope(location, scope);
    let state = &Block::of(&lane).state;
    state.threads.count_step();
    std::sync::atomic::fence(SeqCst);
    if lane.watched() {
        if scope == Scope::Block {
            state.enable_per_thread_clocks();
        }
        state.threads.order_fence(&lane, scope);
    }
}
