//! What a launch tells.

/// What is known of a launch that was accepted. A GPU runs it later and tells nothing; the simulator has run it.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Execution {
    /// The simulator's counters, at the level that counts.
    pub counters: Option<simulator::Counters>,
    /// Steps of the simulator's logical clock: those of the longest block.
    pub clock: Option<u64>,
    /// Most bytes of the simulator's shadow memory in use at once.
    pub shadow_bytes: Option<usize>,
}
