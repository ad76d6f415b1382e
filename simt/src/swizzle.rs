//! The order of 16-byte pieces in shared memory that the copy engine writes and the tensor cores read.

/// How the 16-byte pieces of a box lie in shared memory: which bits of an address are replaced by their exclusive or
/// with the bits that count 128-byte lines, so that a column of pieces falls into different banks.
///
/// The first dimension of the box has at most the bytes that the name says. The pattern is one of addresses: the
/// destination is aligned to 256, 512 or 1024 bytes for it to begin at the box's start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Swizzle {
    /// In order.
    #[default]
    None = 0,
    /// Address bit 4 with bit 7: rows of 32 bytes.
    B32 = 1,
    /// Address bits 4 and 5 with bits 7 and 8: rows of 64 bytes.
    B64 = 2,
    /// Address bits 4 to 6 with bits 7 to 9: rows of 128 bytes. Piece c of row r of a box of such rows is at c ^ (r % 8).
    B128 = 3,
}

impl Swizzle {
    /// The most bytes that the first dimension of a box may have; none for [`Swizzle::None`].
    #[must_use]
    pub const fn span(self) -> Option<u32> {
        match self {
            Self::None => None,
            Self::B32 => Some(32),
            Self::B64 => Some(64),
            Self::B128 => Some(128),
        }
    }

    /// Where the byte lies that would be at `offset` without a swizzle, counted from a place aligned to 1024 bytes.
    ///
    /// ```
    /// use simt::wgmma::Swizzle;
    /// // Row 3, piece 2 of 128-byte rows.
    /// assert_eq!(Swizzle::B128.place(3 * 128 + 2 * 16), 3 * 128 + (2 ^ 3) * 16);
    /// ```
    #[inline(always)]
    #[must_use]
    pub const fn place(self, offset: u32) -> u32 {
        offset ^ (offset >> 7 & (1 << self as u32) - 1) << 4
    }
}
