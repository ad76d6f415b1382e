//! Hints to the simulator and the optimiser.

/// Returns `condition`. As the condition of an `if` it lets the simulator record which lanes of each warp take the
/// branch, and so count divergent branches: `if branch(i < n) { … }`. It has no effect on PTX.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
#[must_use]
pub fn branch(condition: bool) -> bool {
    crate::arch::branch(condition)
}

/// Returns `x` and hides its origin from the optimiser. What depends on it is computed after this line instead of
/// before a loop, where it would occupy registers: for addresses that are rarely needed in kernels with high register
/// pressure.
#[cfg_attr(optimised, inline(always))]
#[must_use]
pub fn opaque(x: u32) -> u32 {
    crate::arch::opaque(x)
}
