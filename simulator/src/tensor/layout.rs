//! The layout of an operand in shared memory: the *matrix descriptor* of `wgmma`.
//!
//! An operand consists of atoms of 8 rows of 16, 32, 64 or 128 bytes; `simt::wgmma` has their order. The unit is a
//! vector of 16 bytes, which is always contiguous. (PTX ISA, "Asynchronous warpgroup level matrix shared memory
//! layout"; the same strides as in CUTLASS's canonical layouts, `cute/arch/mma_sm90_desc.hpp`.)

/// A decoded descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// Byte of shared memory at which the operand starts.
    pub(crate) start: usize,
    leading: usize,
    stride: usize,
    /// Address bits that the swizzle exchanges: 0 to 3, for rows of 16, 32, 64 or 128 bytes.
    bits: u32,
    /// MN-major: rows run along m or n instead of k.
    mn_major: bool,
}

/// 16 bytes of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Vector {
    /// The byte of shared memory at which it lies.
    pub(crate) offset: usize,
    /// The atom, by row and column of atoms.
    pub(crate) atom: (usize, usize),
    /// Row of the atom.
    pub(crate) row: usize,
    /// Position in that row.
    pub(crate) chunk: usize,
}

impl Layout {
    pub(crate) fn new(descriptor: u64, mn_major: bool) -> Self {
        let field = |shift: u32| (descriptor >> shift & 0x3fff) as usize * 16;
        let bits = [0, 3, 2, 1][(descriptor >> 62) as usize];
        Self { start: field(0), leading: field(16), stride: field(32), bits, mn_major }
    }

    /// The operand of the `step`-th instruction of a group.
    pub(crate) fn advanced(self, step: usize, bytes: usize) -> Self {
        Self { start: (self.start + step * bytes) & 0x3ffff, ..self }
    }

    /// Bytes of a row of an atom.
    pub(crate) fn span(self) -> usize {
        16 << self.bits
    }

    /// The swizzle's name.
    pub(crate) fn swizzle(self) -> &'static str {
        ["no swizzle", "swizzle B32", "swizzle B64", "swizzle B128"][self.bits as usize]
    }

    /// Distance in bytes of the first atom's first row from the start of the swizzle's pattern; must be 0.
    pub(crate) fn misplaced(self) -> usize {
        if self.bits == 0 { 0 } else { self.start & (7 * self.span()) }
    }

    /// The 16-byte vectors of one instruction, row by row in memory: `extent` numbers along m or n, 32 bytes (K-major)
    /// or 16 numbers (MN-major) along k. For each the operand's row (along m or n if K-major, else along k) and
    /// position in it.
    pub(crate) fn vectors(self, extent: usize) -> Vectors {
        let (rows, in_row) = if self.mn_major { (16, extent / 8) } else { (extent, 2) };
        // log2 of the vectors in a row of an atom; the strides to the next atom along the rows and along the columns.
        let (wide, along, across) = match (self.mn_major, self.bits) {
            (false, 0) => (0, self.stride, self.leading),
            // 32 bytes along k lie in one row, wherever in it they start.
            (false, _) => (1, self.stride, 0),
            (true, 0) => (0, self.leading, self.stride),
            (true, bits) => (bits, self.stride, self.leading),
        };
        Vectors { layout: self, rows, in_row, wide, along, across, row: 0, at: 0 }
    }
}

/// See [`Layout::vectors`].
pub(crate) struct Vectors {
    layout: Layout,
    rows: usize,
    /// Vectors in a row of the operand.
    in_row: usize,
    /// log2 of the vectors in a row of an atom.
    wide: u32,
    /// Bytes to the next atom along the rows, and along the columns.
    along: usize,
    across: usize,
    /// The next vector.
    row: usize,
    at: usize,
}

impl Iterator for Vectors {
    type Item = (usize, usize, Vector);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.row == self.rows || self.in_row == 0 {
            return None;
        }
        let (row, at, layout) = (self.row, self.at, self.layout);
        let (atom, chunk) = ((row / 8, at >> self.wide), at & ((1 << self.wide) - 1));
        let line = layout.start + atom.0 * self.along + atom.1 * self.across + row % 8 * layout.span() + chunk * 16;
        let vector = Vector { offset: swizzled(line, layout.bits), atom, row: row % 8, chunk };
        self.at += 1;
        if self.at == self.in_row {
            (self.row, self.at) = (row + 1, 0);
        }
        Some((row, at, vector))
    }
}

/// Bits 4 and up of an address are exchanged by those from bit 7 on.
fn swizzled(offset: usize, bits: u32) -> usize {
    offset ^ (offset >> 7 & ((1 << bits) - 1)) << 4
}

#[cfg(test)]
mod tests {
    use super::*;

    fn descriptor(start: u64, leading: u64, stride: u64, mode: u64) -> u64 {
        start >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | mode << 62
    }

    fn offset(layout: Layout, extent: usize, row: usize, at: usize) -> usize {
        layout.vectors(extent).find(|&(r, p, _)| (r, p) == (row, at)).unwrap().2.offset
    }

    #[test]
    fn rows_of_128_bytes_along_k() {
        let layout = Layout::new(descriptor(2048, 0, 1024, 1), false);
        assert_eq!((layout.span(), layout.misplaced()), (128, 0));
        assert_eq!(offset(layout, 64, 0, 1), 2048 + 16);
        assert_eq!(offset(layout, 64, 3, 0), 2048 + 3 * 128 + 3 * 16);
        assert_eq!(offset(layout, 64, 13, 1), 2048 + 1024 + 5 * 128 + (1 ^ 5) * 16);
        let third = layout.advanced(3, 32);
        assert_eq!(third.misplaced(), 0);
        assert_eq!(offset(third, 64, 5, 1), 2048 + 5 * 128 + (7 ^ 5) * 16);
        assert_eq!(layout.advanced(1, 128).misplaced(), 128);
    }

    #[test]
    fn rows_of_128_bytes_along_n() {
        // TMA boxes of 32 rows along k, 64 numbers wide.
        let layout = Layout::new(descriptor(0, 4096, 1024, 1), true);
        assert_eq!(offset(layout, 256, 0, 9), 4096 + 16);
        assert_eq!(offset(layout, 256, 10, 9), 4096 + 1024 + 2 * 128 + (1 ^ 2) * 16);
    }

    #[test]
    fn without_swizzle_leading_goes_along_k() {
        let k_major = Layout::new(descriptor(16, 512, 128, 0), false);
        assert_eq!(offset(k_major, 16, 9, 1), 16 + 512 + 128 + 16);
        let n_major = Layout::new(descriptor(16, 512, 128, 0), true);
        assert_eq!(offset(n_major, 16, 9, 1), 16 + 512 + 16 + 128);
    }

    #[test]
    fn narrow_swizzles_exchange_fewer_bits() {
        let b64 = Layout::new(descriptor(0, 0, 512, 2), false);
        assert_eq!(b64.span(), 64);
        assert_eq!(offset(b64, 8, 6, 0), (6 * 64) ^ (3 << 4));
        let b32 = Layout::new(descriptor(0, 0, 256, 3), false);
        assert_eq!(b32.span(), 32);
        assert_eq!(offset(b32, 8, 5, 1), (5 * 32 + 16) ^ (1 << 4));
    }
}
