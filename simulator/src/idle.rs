//! Whether a launch in which threads poll makes progress: whether another block should become resident, and whether
//! it hangs.
//!
//! Progress is the exit of a thread, or what TMA and the tensor cores complete. A launch without it hangs if the memory
//! that its threads can see is the same after many polls, and plain reads were of the same places: barriers and warp
//! operations alone change nothing. Everything is counted in polls and not in time, so that a seed repeats itself; only
//! at [`Level::Off`], where other OS threads may be at work, must some time pass, too.

use crate::config::Level;
use crate::threads::LaunchState;
use std::time::{Duration, Instant};

/// Time at [`Level::Off`] without a change of memory, before a launch counts as hung.
const PATIENCE: Duration = Duration::from_millis(700);
/// Rounds with polls after which another block becomes resident although barriers are completed.
const ROUNDS: u64 = 64;
/// Times the limit after which a launch without progress hangs although its memory changes: threads may count their
/// polls.
const CHANGING: u64 = 64;

/// What was seen of a launch in the rounds before.
pub(crate) struct Idle {
    progress: u64,
    activity: u64,
    /// Polls up to the last round, the last progress, and the last look at the memory.
    spins: [u64; 3],
    rounds: u64,
    /// The content of the memory at the last look, and since when it is that.
    memory: Option<(u64, Instant)>,
    /// Whether the blocks of this OS thread only wait, as far as that can be seen.
    pub(crate) is_stalled: bool,
}

/// What a round of turns asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Another round.
    Round,
    /// Another round, with one more resident block.
    Admit,
    /// The end: the launch hangs, if the blocks of other OS threads do, too.
    Hang,
}

impl Idle {
    pub(crate) fn new() -> Self {
        Self { progress: 0, activity: 0, spins: [0; 3], rounds: 0, memory: None, is_stalled: false }
    }

    /// After a round of turns. `finished` counts what other OS threads have finished, `memory` gives a hash of all that
    /// threads of these blocks can see, and of whether they read on in other places.
    pub(crate) fn after_round(&mut self, state: &LaunchState<'_>, finished: u64, memory: impl FnOnce() -> u64) -> Next {
        let (spins, activity) = (state.spins.get(), state.activity.get());
        let progress = state.progress.get().wrapping_add(finished);
        let [last, at_progress, at_look] = self.spins;
        if spins == last {
            return Next::Round;
        }
        self.spins[0] = spins;
        if progress != self.progress {
            (self.progress, self.activity, self.rounds, self.memory) = (progress, activity, 0, None);
            self.spins = [spins; 3];
            self.is_stalled = false;
            return Next::Round;
        }
        self.rounds += 1;
        let is_active = std::mem::replace(&mut self.activity, activity) != activity;
        let limit = state.config.hang_turns.max(2);
        if spins - at_progress > limit.saturating_mul(CHANGING) {
            self.is_stalled = true;
            return Next::Hang;
        }
        if spins - at_look >= limit / 2 {
            self.spins[2] = spins;
            let now = memory();
            match self.memory {
                Some((before, since)) if before == now => {
                    if state.config.level != Level::Off || since.elapsed() >= PATIENCE {
                        self.is_stalled = true;
                        return Next::Hang;
                    }
                }
                _ => {
                    self.memory = Some((now, Instant::now()));
                    self.is_stalled = false;
                }
            }
        }
        if is_active && !self.rounds.is_multiple_of(ROUNDS) { Next::Round } else { Next::Admit }
    }
}

/// A hash of what `hash` is of, and of one word more.
pub(crate) fn mix(hash: u64, word: u64) -> u64 {
    (hash.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// A hash of memory that other OS threads may write by atomics meanwhile.
///
/// # Safety
/// The bytes are allocated, and nothing accesses them but this OS thread, or others by atomics.
#[expect(clippy::cast_ptr_alignment, reason = "words are read only where they are aligned")]
pub(crate) unsafe fn hash(mut hash: u64, start: *mut u8, bytes: usize) -> u64 {
    use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};
    // Allocations begin at a multiple of 256 bytes, shared memory at one of 1024.
    let words = if start.cast::<u64>().is_aligned() { bytes / 8 } else { 0 };
    for word in 0..words {
        // SAFETY: aligned, and inside the allocation, as the caller promises.
        hash = mix(hash, unsafe { AtomicU64::from_ptr(start.cast::<u64>().add(word)) }.load(Relaxed));
    }
    for byte in words * 8..bytes {
        // SAFETY: as above.
        hash = mix(hash, u64::from(unsafe { AtomicU8::from_ptr(start.add(byte)) }.load(Relaxed)));
    }
    hash
}
