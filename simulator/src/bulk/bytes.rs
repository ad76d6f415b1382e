//! Copies from and to global memory by relaxed atomics: TMA's accesses may race with those of other cores.

use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::Relaxed};

/// Copies from global memory by relaxed atomics, of the widest kind that both address and length allow.
///
/// # Safety
/// The bytes lie in memory that others access at most by relaxed atomics now.
pub(crate) unsafe fn bytes_from(address: usize, to: &mut [u8]) {
    macro_rules! by {
        ($atomic:ty, $word:ty) => {
            for (at, to) in to.chunks_exact_mut(size_of::<$word>()).enumerate() {
                let from = (address + at * size_of::<$word>()) as *mut $word;
                // SAFETY: as the caller promises; aligned, as tested.
                let word = unsafe { <$atomic>::from_ptr(from) }.load(Relaxed);
                to.copy_from_slice(&word.to_ne_bytes());
            }
        };
    }
    match (address | to.len()).trailing_zeros() {
        0 => by!(AtomicU8, u8),
        1 => by!(AtomicU16, u16),
        2 => by!(AtomicU32, u32),
        _ => by!(AtomicU64, u64),
    }
}

/// Copies to global memory, as [`bytes_from`].
///
/// # Safety
/// The bytes lie in memory that the launch may write and that others access at most by relaxed atomics now.
pub(crate) unsafe fn bytes_to(address: usize, from: &[u8]) {
    macro_rules! by {
        ($atomic:ty, $word:ty) => {
            for (at, from) in from.chunks_exact(size_of::<$word>()).enumerate() {
                let to = (address + at * size_of::<$word>()) as *mut $word;
                let mut bytes = [0; size_of::<$word>()];
                bytes.copy_from_slice(from);
                // SAFETY: as the caller promises; aligned, as tested.
                unsafe { <$atomic>::from_ptr(to) }.store(<$word>::from_ne_bytes(bytes), Relaxed);
            }
        };
    }
    match (address | from.len()).trailing_zeros() {
        0 => by!(AtomicU8, u8),
        1 => by!(AtomicU16, u16),
        2 => by!(AtomicU32, u32),
        _ => by!(AtomicU64, u64),
    }
}
