//! Fences, named barriers, and conversions of this crate's orders and scopes to the simulator's.

use simulator::device;

use crate::sync::{Order, Scope};

#[cfg_attr(optimised, inline(always))]
pub(super) const fn order(order: Order) -> device::Order {
    match order {
        Order::Relaxed => device::Order::Relaxed,
        Order::Acquire => device::Order::Acquire,
        Order::Release => device::Order::Release,
        Order::AcqRel => device::Order::AcqRel,
    }
}

#[cfg_attr(optimised, inline(always))]
pub(super) const fn scope(scope: Scope) -> device::Scope {
    match scope {
        Scope::Block => device::Scope::Block,
        Scope::Device => device::Scope::Device,
        Scope::System => device::Scope::System,
    }
}

#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) fn fence(of: Scope) {
    device::fence(scope(of));
}
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) fn fence_proxy_async() {
    device::fence_proxy_async();
}
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) fn named_barrier(id: u32, threads: u32) {
    device::named_barrier(id, threads, true);
}
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) fn named_barrier_arrive(id: u32, threads: u32) {
    device::named_barrier(id, threads, false);
}
