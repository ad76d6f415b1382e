//! How an operand of `wgmma` lies in shared memory, for every swizzle and both major orders: what a kernel must know that
//! writes operands by itself instead of having the copy engine bring them.

use simt::{
    prelude::*,
    wgmma::{Operand, Swizzle},
};

/// A matrix of `extent` along m or n and `depth` along k, in the smallest space that its atoms allow.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Order of the 16-byte pieces.
    pub swizzle: Swizzle,
    /// Numbers along m or n are contiguous, not those along k.
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
    const fn span(self) -> u32 {
        16 << self.swizzle as u32
    }

    /// Bytes of an atom.
    const fn atom(self) -> u32 {
        8 * self.span()
    }

    /// The descriptor's leading byte offset.
    #[must_use]
    pub const fn leading(self) -> u32 {
        match (self.mn_major, self.swizzle) {
            // Atoms that follow one another along k are neighbours.
            (false, Swizzle::None) => self.atom(),
            (false, _) => 0,
            (true, Swizzle::None) => self.extent / 8 * self.atom(),
            (true, _) => self.depth / 8 * self.atom(),
        }
    }

    /// The descriptor's stride byte offset.
    #[must_use]
    pub const fn stride(self) -> u32 {
        match (self.mn_major, self.swizzle) {
            (false, Swizzle::None) => self.depth * self.bytes / 16 * self.atom(),
            _ => self.atom(),
        }
    }

    /// Bytes from one instruction's part along k to the next one's.
    #[must_use]
    pub const fn step(self) -> u32 {
        match (self.mn_major, self.swizzle) {
            (_, Swizzle::None) => 2 * self.leading(),
            (false, _) => 32,
            (true, _) => 2 * self.stride(),
        }
    }

    /// The byte at which number (`mn`, `k`) lies.
    #[inline(always)]
    #[must_use]
    pub const fn place(self, mn: u32, k: u32) -> u32 {
        let (row, byte) = if self.mn_major { (k, mn * self.bytes) } else { (mn, k * self.bytes) };
        let (along, across) = match (self.mn_major, self.swizzle) {
            (true, Swizzle::None) => (self.leading(), self.stride()),
            (true, _) | (false, Swizzle::None) => (self.stride(), self.leading()),
            // One atom is as wide as the matrix is deep.
            (false, _) => (self.stride(), self.atom()),
        };
        let span = self.span();
        self.swizzle.place(row / 8 * along + byte / span * across + row % 8 * span + byte % span)
    }

    /// Writes the matrix, whose number (`mn`, `k`) is `number(mn, k)`, with `threads` threads of which this is `thread`; it starts at
    /// byte `start` of `memory`, a multiple of 1024.
    #[inline(always)]
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
            memory.set((start + self.place(mn, k)) / self.bytes, number(mn, k));
            i += threads;
        }
    }

    /// The descriptor of the matrix at byte `start` of `memory`.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub fn operand<T: simt::element::Element, const N: usize>(self, memory: &SharedArray<T, N>, start: u32) -> Operand {
        Operand::new(memory.slot::<1>(start / self.bytes), self.leading(), self.stride(), self.swizzle)
    }
}
