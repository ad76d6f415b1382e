//! The result of a launch.

/// The data that an accepted launch returns: nothing from a GPU, which runs it asynchronously.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Execution {
    /// The simulator's counters, at the checking level that counts.
    pub counters: Option<simulator::Counters>,
    /// Steps of the simulator's logical clock: those of the longest block.
    pub clock: Option<u64>,
    /// Peak bytes of the simulator's shadow memory.
    pub shadow_bytes: Option<usize>,
}
