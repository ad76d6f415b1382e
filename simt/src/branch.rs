//! Branches that the simulator counts.

/// The condition itself. Written round the condition of an `if`, it has the simulator record which lanes of each warp
/// take the branch, so that divergent branches can be counted: `if branch(i < n) { … }`. On PTX it is nothing.
#[inline(always)]
#[track_caller]
#[must_use]
pub fn branch(condition: bool) -> bool {
    crate::arch::branch(condition)
}
