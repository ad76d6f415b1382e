//! A driver for tests without a GPU: memory is the host's, and work is put off as long as the driver's contract allows.
//!
//! A queue's work is done only when somebody waits for it, or for an event behind which it stands; so a missing
//! wait between queues gives a wrong result every time, and memory that is freed while queued work needs it is noticed.
//! Each device has a character of its own ([`Character`]), so that tests do not disturb each other.

mod functions;
mod machine;

use std::sync::{MutexGuard, PoisonError};

pub(super) use machine::Machine;

/// What is special about a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Character {
    /// Nothing: capability 9.0.
    Plain,
    /// Capability 7.5.
    Old,
    /// Capability 8.0.
    Ampere,
    /// Every kernel fails while it runs.
    Failing,
    /// The PTX compiler refuses everything as too new.
    Strict,
    /// At most 1000 bytes can be allocated.
    Small,
    /// Waiting for a queue gives a status that `cust` does not know.
    Newfangled,
    /// Kernels may have 32 threads per block.
    Narrow,
    /// Nothing; for the test that looks at launches.
    Geometric,
    /// Nothing; for the test that launches clusters.
    Clustered,
    /// Nothing; for the test that counts waits.
    Single,
    /// Nothing; for the test that counts modules.
    Embedded,
    /// Launches take a while to be queued, so that two threads meet there.
    Slow,
    /// Nothing; for the test that looks at launches with an attribute.
    Overlapping,
    /// Launches have no attributes: the driver is older than that.
    Unattributed,
}

/// One device for each test that looks at counts, then the others.
const CHARACTERS: [Character; 22] = [
    Character::Plain,
    Character::Plain,
    Character::Plain,
    Character::Plain,
    Character::Plain,
    Character::Plain,
    Character::Plain,
    Character::Plain,
    Character::Old,
    Character::Failing,
    Character::Strict,
    Character::Small,
    Character::Newfangled,
    Character::Narrow,
    Character::Geometric,
    Character::Single,
    Character::Slow,
    Character::Embedded,
    Character::Ampere,
    Character::Overlapping,
    Character::Unattributed,
    Character::Clustered,
];

/// Puts the mock in the driver's place. Panics if a driver is loaded already.
pub(super) fn install() {
    static INSTALLED: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    let installed = *INSTALLED.get_or_init(|| super::driver::install(functions::find));
    assert!(installed, "unit tests of the CUDA back end run on the mock; a real driver was loaded first");
}

/// The number of the first device of a character.
pub(super) fn ordinal(character: Character) -> u32 {
    CHARACTERS.iter().position(|&it| it == character).expect("every character has a device") as u32
}

/// The state of device `ordinal`.
pub(super) fn machine(ordinal: u32) -> MutexGuard<'static, Machine> {
    functions::MACHINES[ordinal as usize].lock().unwrap_or_else(PoisonError::into_inner)
}
