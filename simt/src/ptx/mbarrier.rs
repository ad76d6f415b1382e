//! Mbarriers. Not `nomem`: arrivals release and waits acquire.

use core::arch::asm;

use super::memory::shared_address;

macro_rules! on {
    ($mbarrier:ident, $op:literal $(, $name:ident = $value:expr)*) => {
        asm!(
            concat!("mbarrier.", $op, ";"),
            mbarrier = in(reg32) shared_address($mbarrier),
            $($name = in(reg32) $value,)*
            options(nostack, preserves_flags)
        )
    };
}

/// # Safety
/// `mbarrier` is the address of 8 aligned bytes of shared memory.
#[inline(always)]
pub(crate) unsafe fn init(mbarrier: *mut u64, arrivals: u32) {
    // SAFETY: the caller's promise.
    unsafe { on!(mbarrier, "init.shared::cta.b64 [{mbarrier}], {arrivals}", arrivals = arrivals) }
}

/// # Safety
/// As for [`init`].
#[inline(always)]
pub(crate) unsafe fn arrive(mbarrier: *mut u64) {
    // SAFETY: the caller's promise.
    unsafe { on!(mbarrier, "arrive.shared::cta.b64 _, [{mbarrier}]") }
}

/// Without `.release.cluster`, for which ptxas writes a memory barrier of GPU scope before each arrival, which waits
/// for all stores of the thread. The plain form releases to the block. That is enough where the thread has only read
/// what it releases.
///
/// # Safety
/// As for [`init`].
#[inline(always)]
pub(crate) unsafe fn arrive_at(mbarrier: *mut u64, rank: u32) {
    // SAFETY: the caller's promise.
    unsafe {
        asm!(
            "{{ .reg .b32 there; mapa.shared::cluster.u32 there, {mbarrier}, {rank}; \
             mbarrier.arrive.shared::cluster.b64 _, [there]; }}",
            mbarrier = in(reg32) shared_address(mbarrier),
            rank = in(reg32) rank,
            options(nostack, preserves_flags)
        );
    }
}

/// # Safety
/// As for [`init`].
#[inline(always)]
pub(crate) unsafe fn expect_tx(mbarrier: *mut u64, bytes: u32) {
    // SAFETY: the caller's promise.
    unsafe { on!(mbarrier, "expect_tx.relaxed.cta.shared::cta.b64 [{mbarrier}], {bytes}", bytes = bytes) }
}

/// # Safety
/// As for [`init`].
#[inline(always)]
pub(crate) unsafe fn arrive_expect_tx(mbarrier: *mut u64, bytes: u32) {
    // SAFETY: the caller's promise.
    unsafe { on!(mbarrier, "arrive.expect_tx.shared::cta.b64 _, [{mbarrier}], {bytes}", bytes = bytes) }
}

macro_rules! ask {
    ($mbarrier:ident, $parity:ident, $op:literal) => {{
        let over: u32;
        asm!(
            concat!(
                "{{ .reg .pred over; mbarrier.",
                $op,
                ".parity.shared::cta.b64 over, [{mbarrier}], {parity}; selp.b32 {over}, 1, 0, over; }}"
            ),
            over = out(reg32) over,
            mbarrier = in(reg32) shared_address($mbarrier),
            parity = in(reg32) $parity,
            options(nostack, preserves_flags)
        );
        over != 0
    }};
}

/// # Safety
/// As for [`init`].
#[inline(always)]
pub(crate) unsafe fn test(mbarrier: *mut u64, parity: u32) -> bool {
    // SAFETY: the caller's promise.
    unsafe { ask!(mbarrier, parity, "test_wait") }
}

/// # Safety
/// As for [`init`].
#[inline(always)]
pub(crate) unsafe fn wait(mbarrier: *mut u64, parity: u32) {
    // SAFETY: the caller's promise. The hardware suspends the thread for a while before it answers "not yet".
    while !unsafe { ask!(mbarrier, parity, "try_wait") } {}
}

/// # Safety
/// As for [`init`].
#[inline(always)]
pub(crate) unsafe fn invalidate(mbarrier: *mut u64) {
    // SAFETY: the caller's promise.
    unsafe { on!(mbarrier, "inval.shared::cta.b64 [{mbarrier}]") }
}

#[inline(always)]
pub(crate) fn fence_init() {
    // SAFETY: a fence.
    unsafe { asm!("fence.mbarrier_init.release.cluster;", options(nostack, preserves_flags)) }
}
