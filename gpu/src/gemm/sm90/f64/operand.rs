//! From a stage in shared memory to fragments of `mma.sync`.
//!
//! An operand comes in blocks of 16 *lines*, rows of op(A) or columns of op(B), and 16 of k, in rows of 128 bytes whose
//! vectors of 16 bytes TMA has swizzled: vector v of row r is where vector v ⊕ (r mod 8) would be.
//!
//! ```text
//!   K-major: a line is a row.                        MN-major: an element of k is a row.
//!
//!      line 0 │ k 0 1 │ 2 3 │ … │ 14 15 │             k 0 │ line 0 1 │ 2 3 │ … │ 14 15 │
//!           1 │  2 3  │ 0 1 │ …                         1 │      2 3 │ 0 1 │ …
//! ```
//!
//! Lane 4·g + t needs 4·j + t of k, j from 0 to 3, of two lines: of A rows g and g + 8 of the instruction, of B column
//! g of two instructions. Which lines these are is free, since a sum does not depend on its place: so they are those
//! that take different banks. A load of 8 bytes reads for 16 lanes at once, four g: of a K-major operand rows 0, 2, 4
//! and 6, whose pairs of vectors are different ones; of an MN-major B both lines of two vectors that are four apart. An
//! MN-major A is loaded by 16 bytes, both lines at once, for 8 lanes, two g: again vectors that are four apart.

use simt::prelude::*;

use super::{BLOCK, DEPTH};
use crate::unroll::{each, unroll};

/// Which operand, and whether it is K-major.
pub(super) trait Operand {
    /// Whether a lane's two elements are neighbours in registers, so that one load can bring both.
    const IS_A: bool;
    /// Whether rows in memory run along k.
    const K_MAJOR: bool;
}

/// A.
pub(super) struct A<const K_MAJOR: bool>;
/// B.
pub(super) struct B<const K_MAJOR: bool>;

impl<const K_MAJOR: bool> Operand for A<K_MAJOR> {
    const IS_A: bool = true;
    const K_MAJOR: bool = K_MAJOR;
}
impl<const K_MAJOR: bool> Operand for B<K_MAJOR> {
    const IS_A: bool = false;
    const K_MAJOR: bool = K_MAJOR;
}

/// The line in a block that lanes of group g have for `half`, 0 or 1.
#[cfg_attr(optimised, inline(always))]
pub(super) const fn line<O: Operand>(g: u32, half: u32) -> u32 {
    match (O::K_MAJOR, O::IS_A) {
        (true, _) => g % 4 * 2 + g / 4 + 8 * half,
        (false, true) => (g / 2 + g % 2 * 4) * 2 + half,
        (false, false) => g % 2 + g / 2 % 2 * 8 + g / 4 * 2 + 4 * half,
    }
}

/// Where a lane's elements are in a stage.
#[derive(Clone, Copy)]
pub(super) struct Fragments {
    /// Of a K-major operand for each j; of an MN-major one for even and odd j, of B first for `half` 0, then for 1.
    first: [u32; 4],
}

impl Fragments {
    /// Those of a lane of the warp whose first block is this one.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn new<O: Operand>(lane: u32, block: u32) -> Self {
        let (g, t) = (lane / 4, lane % 4);
        let first = each!([0, 1, 2, 3], |i| {
            let (j, half) = if O::K_MAJOR { (i, 0) } else { (i % 2, i / 2) };
            let (k, line) = (4 * j + t, line::<O>(g, half));
            let (row, column) = if O::K_MAJOR { (line, k) } else { (k, line) };
            block * BLOCK + row * DEPTH + ((column / 2) ^ (row % 8)) * 2 + column % 2
        });
        Self { first }
    }

    /// Elements (`half`, j) of the warp's block `block`, in places 2·j + `half`, from the stage that begins at element
    /// `start`.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn load<O: Operand, const LEN: usize>(
        &self,
        stages: &SharedArray<f64, LEN>,
        start: u32,
        block: usize,
    ) -> [f64; 8] {
        let from = |i: usize, further: u32| {
            // SAFETY: the sums do not overflow, and the last of the elements is below LEN, because callers name a stage
            // that there is, in which the warps' blocks are. The compiler does not see that through the lanes' places,
            // and would check each load.
            unsafe {
                let at = start.unchecked_add(self.first[i]).unchecked_add(block as u32 * BLOCK + further);
                core::hint::assert_unchecked(at as usize <= LEN - if !O::K_MAJOR && O::IS_A { 2 } else { 1 });
                at
            }
        };
        let mut fragment = [0.0; 8];
        unroll!(for j in 0..4 {
            // Eight rows further the swizzle is the same.
            let further = j as u32 / 2 * 8 * DEPTH;
            let (first, second) = match (O::K_MAJOR, O::IS_A) {
                (true, _) => (stages.get(from(j, 0)), stages.get(from(j, 8 * DEPTH))),
                (false, true) => stages.get_vec::<2>(from(j % 2, further)).lanes.into(),
                (false, false) => (stages.get(from(j % 2, further)), stages.get(from(2 + j % 2, further))),
            };
            (fragment[2 * j], fragment[2 * j + 1]) = (first, second);
        });
        fragment
    }
}
