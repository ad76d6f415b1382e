//! A mock driver for tests without a GPU: memory is the host's, and work is delayed as long as the driver's contract
//! allows.
//!
//! A queue's work is done only when something waits for it, or for a later event in it. So a missing wait between
//! queues gives a wrong result every time, and freeing memory that queued work needs is detected. Each work item knows
//! the memory that it uses, that of a kernel from the types of its arguments: one that overtakes an earlier one on the
//! same memory is noted ([`Machine::violations`]), as are handles and memory of another device. Each test that counts
//! something has its own device ([`Character`]), so that tests do not affect each other.

mod machine;
mod mock_functions;

use std::sync::{MutexGuard, PoisonError};

pub(super) use machine::Machine;
pub(super) use mock_functions::{current, is_driving, leave_context, set_current, watch};

/// The special behaviour of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Character {
    /// None: capability 9.0.
    Plain,
    /// Capability 7.5.
    Old,
    /// Capability 8.0.
    Ampere,
    /// Every kernel fails while it runs.
    Failing,
    /// The PTX compiler rejects all PTX as too new.
    Strict,
    /// At most 1000 bytes can be allocated.
    Small,
    /// Waiting for a queue returns a status that `cust` does not list.
    UnlistedStatus,
    /// Kernels may have at most 32 threads per block.
    Narrow,
    /// None; for the test of launch geometry.
    Geometric,
    /// None; for the test that launches clusters.
    Clustered,
    /// None; for the test that counts waits.
    Single,
    /// None; for the test that counts modules.
    Embedded,
    /// None; for the test that loads kernels in advance.
    Prepared,
    /// Queueing a launch takes some time, so that two threads do it concurrently.
    Slow,
    /// None; for the test of programmatic dependent launch.
    Pdl,
    /// A driver without launch attributes and without kernels in graphs.
    OldDriver,
    /// None; for the test in which waits fail.
    Interrupted,
    /// None; for the test that counts streams.
    Counted,
    /// None; for the test of memory that is freed later.
    Pooled,
    /// None; for the test of memory that is kept.
    Reused,
    /// None; for the test that counts the waits of a reader.
    Waiting,
    /// None; for the test of reads after a write on one stream.
    Rereading,
    /// None; for the test of PTX of other kernels.
    Declared,
    /// None; for the tests of random calls.
    Random,
    /// None; for the tests of launches as graphs.
    Graphs,
    GraphsAgain,
    GraphsOfOthers,
    GraphsThatFail,
    Pairs,
    PairsThatFail,
    Packed,
    /// None; for the test that counts allocations.
    Repeated,
    /// Every kernel panics, and reports it.
    Panicking,
    /// None; for the test of lines that kernels print.
    Printing,
    /// For the test in which every call fails in turn: at most
    /// [`CAPACITY`] bytes can be allocated.
    Faulty,
    /// As [`Character::Faulty`], and it has no memory pools.
    FaultyWithoutPools,
}

impl Character {
    /// Whether calls of this device fail in turn.
    fn is_faulty(self) -> bool {
        matches!(self, Self::Faulty | Self::FaultyWithoutPools)
    }

    /// The most bytes of an allocation.
    fn capacity(self) -> usize {
        match self {
            Self::Small => 1000,
            _ if self.is_faulty() => CAPACITY,
            _ => usize::MAX,
        }
    }
}

/// The most bytes of an allocation on [`Character::Faulty`].
pub(super) const CAPACITY: usize = 1 << 24;

/// The devices: plain ones first.
const CHARACTERS: [Character; 49] = [
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
    Character::UnlistedStatus,
    Character::Narrow,
    Character::Geometric,
    Character::Single,
    Character::Slow,
    Character::Embedded,
    Character::Prepared,
    Character::Ampere,
    Character::Pdl,
    Character::OldDriver,
    Character::Clustered,
    Character::Interrupted,
    Character::Counted,
    Character::Pooled,
    Character::Reused,
    Character::Waiting,
    Character::Faulty,
    Character::FaultyWithoutPools,
    Character::Declared,
    Character::Rereading,
    Character::Random,
    Character::Random,
    Character::Random,
    Character::Random,
    Character::Random,
    Character::Random,
    Character::Random,
    Character::Panicking,
    Character::Printing,
    Character::Graphs,
    Character::GraphsAgain,
    Character::GraphsOfOthers,
    Character::GraphsThatFail,
    Character::Pairs,
    Character::PairsThatFail,
    Character::Packed,
    Character::Repeated,
];

/// Installs the mock in place of the driver. Panics if a driver is loaded already.
pub(super) fn install() {
    static INSTALLED: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    let installed = *INSTALLED.get_or_init(|| super::driver::install(mock_functions::find));
    assert!(installed, "unit tests of the CUDA back end run on the mock; a real driver was loaded first");
}

/// The number of the first device with this character.
pub(super) fn ordinal(character: Character) -> u32 {
    CHARACTERS.iter().position(|&it| it == character).expect("every character has a device") as u32
}

/// The state of device `ordinal`.
pub(super) fn machine(ordinal: u32) -> MutexGuard<'static, Machine> {
    mock_functions::MACHINES[ordinal as usize].lock().unwrap_or_else(PoisonError::into_inner)
}
