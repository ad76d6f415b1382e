//! The layout of a `wgmma` operand in shared memory, for every swizzle and both major orders, for kernels that write
//! operands with ordinary stores instead of TMA loads.

use simt::{
    prelude::*,
    wgmma::{Operand, Swizzle},
};

/// A matrix of `extent` along m or n and `depth` along k, in consecutive core matrices (atoms).
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Order of the 16-byte vectors.
    pub swizzle: Swizzle,
    /// Whether the matrix is MN-major (contiguous along m or n) instead of K-major.
    pub mn_major: bool,
    /// Bytes of a number.
    pub bytes: u32,
    /// Numbers along m or n.
    pub extent: u32,
    /// Numbers along k.
    pub depth: u32,
}

impl Layout {
    /// Bytes of a row of an atom of 8 rows.
    const fn row_bytes(self) -> u32 {
        16 << self.swizzle as u32
    }

    /// Bytes of an atom.
    const fn atom_bytes(self) -> u32 {
        8 * self.row_bytes()
    }

    /// The descriptor's leading byte offset.
    #[must_use]
    pub const fn leading(self) -> u32 {
        match (self.mn_major, self.swizzle) {
            // Consecutive atoms along k are contiguous.
            (false, Swizzle::None) => self.atom_bytes(),
            (false, _) => 0,
            (true, Swizzle::None) => self.extent / 8 * self.atom_bytes(),
            (true, _) => self.depth / 8 * self.atom_bytes(),
        }
    }

    /// The descriptor's stride byte offset.
    #[must_use]
    pub const fn stride(self) -> u32 {
        match (self.mn_major, self.swizzle) {
            (false, Swizzle::None) => self.depth * self.bytes / 16 * self.atom_bytes(),
            _ => self.atom_bytes(),
        }
    }

    /// Descriptor advance from one instruction to the next along k, in bytes.
    #[must_use]
    pub const fn step(self) -> u32 {
        match (self.mn_major, self.swizzle) {
            (_, Swizzle::None) => 2 * self.leading(),
            (false, _) => 32,
            (true, _) => 2 * self.stride(),
        }
    }

    /// Byte offset of number (`mn`, `k`).
    #[cfg_attr(optimised, inline(always))]
    #[must_use]
    pub const fn offset(self, mn: u32, k: u32) -> u32 {
        let (row, byte) = if self.mn_major { (k, mn * self.bytes) } else { (mn, k * self.bytes) };
        let (row_stride, col_stride) = match (self.mn_major, self.swizzle) {
            (true, Swizzle::None) => (self.leading(), self.stride()),
            (true, _) | (false, Swizzle::None) => (self.stride(), self.leading()),
            // One atom spans the whole depth of the matrix.
            (false, _) => (self.stride(), self.atom_bytes()),
        };
        let row_bytes = self.row_bytes();
        self.swizzle
            .place(row / 8 * row_stride + byte / row_bytes * col_stride + row % 8 * row_bytes + byte % row_bytes)
    }

    /// Writes the matrix with number (`mn`, `k`) = `number(mn, k)`, by `threads` threads of which this is `thread`,
    /// from byte `start` of `memory` on, a multiple of 1024.
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    pub fn write<T: simt::element::Element, const N: usize>(
        self,
        memory: &SharedArray<T, N>,
        start: u32,
        (thread, threads): (u32, u32),
        number: impl Fn(u32, u32) -> T,
    ) {
        let mut i = thread;
        while i < self.extent * self.depth {
            let (mn, k) = (i / self.depth, i % self.depth);
            memory.set((start + self.offset(mn, k)) / self.bytes, number(mn, k));
            i += threads;
        }
    }

    /// The descriptor of the matrix at byte `start` of `memory`.
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    #[must_use]
    pub fn operand<T: simt::element::Element, const N: usize>(self, memory: &SharedArray<T, N>, start: u32) -> Operand {
        Operand::new(memory.slot::<1>(start / self.bytes), self.leading(), self.stride(), self.swizzle)
    }
}
