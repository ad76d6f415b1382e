//! What a block sees of a operand.

use simt::element::Element;
use simt::global::Window;
use simt::prelude::*;

/// A operand of the product: op(A) by its rows, or op(B) by its columns, both called rows here.
#[derive(Clone, Copy)]
pub(super) struct Operand<'a, T: Element> {
    pub(super) elements: VecRef<'a, T>,
    /// Elements from matrix to matrix, from row to row, and from one step of k to the next.
    pub(super) batch: u64,
    pub(super) across: u64,
    pub(super) k_major: u64,
    /// The block's first row, and how many there are in all.
    pub(super) first: u32,
    pub(super) extent: u32,
}

/// The block's rows of a operand.
#[derive(Clone, Copy)]
pub(super) struct Strip<'a, T: Element> {
    /// Rows by k where their elements lie side by side, else k by rows. None where there is no product.
    pub(super) window: Option<Window<'a, T>>,
    /// Whether the elements of a row lie side by side.
    pub(super) k_major: bool,
}

impl<'a, T: Element> Operand<'a, T> {
    /// How many rows the block has, at most `most`.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn count(&self, most: u32) -> u32 {
        (self.extent - self.first).min(most)
    }

    /// The first `count` of them, in a matrix of the batch.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn strip(&self, matrix: u32, count: u32, k: u32) -> Strip<'a, T> {
        let first = (self.first as u64).wrapping_mul(self.across);
        let start = (matrix as u64).wrapping_mul(self.batch).wrapping_add(first);
        let k_major = self.k_major == 1;
        let (rows, cols, ld) = if k_major { (count, k, self.across) } else { (k, count, self.k_major) };
        Strip { window: self.elements.window(start, rows, cols, ld), k_major }
    }
}
