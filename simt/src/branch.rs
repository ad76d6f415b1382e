//! Branches that the simulator counts.

/// The condition itself. Written round the condition of an `if`, it has the simulator record which lanes of each warp
/// take the branch, so that divergent branches can be counted: `if branch(i < n) { … }`. On PTX it is nothing.
#[inline(always)]
#[track_caller]
#[must_use]
pub fn branch(condition: bool) -> bool {
    crate::arch::branch(condition)
}

/// `x`, of which the compiler no longer knows where it comes from. What depends on it is computed after this line and not
/// kept in registers from before a loop: for addresses that are needed once in a while, where registers are scarce.
#[inline(always)]
#[must_use]
pub fn opaque(x: u32) -> u32 {
    crate::arch::opaque(x)
}
