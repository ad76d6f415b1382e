//! Memory order and scope of atomic operations and fences, as PTX has them.

/// Memory order of an atomic operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Atomic, orders nothing else.
    Relaxed,
    /// What comes after sees what came before the matching release.
    Acquire,
    /// What came before is visible to the matching acquire.
    Release,
    /// Acquire and release.
    AcqRel,
}

/// The threads that an atomic operation or a fence synchronises with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Threads of the block.
    Block,
    /// Threads of the device.
    Device,
    /// All threads, the host's included.
    System,
}
