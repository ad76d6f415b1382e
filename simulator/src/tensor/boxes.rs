//! Whether an operand's descriptor agrees with how the copy engine laid the data down.
//!
//! Of each 16-byte piece that a box brought it is known which it was: its row in the box and its place in that row. Within
//! an atom the descriptor must find them in order; from one atom to the next along the rows it goes on by 8 rows, or with the
//! first row of another box.

use super::layout::Piece;
use std::collections::HashMap;

/// A piece that is not the one that the descriptor takes it for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Disagreement {
    /// The piece.
    pub(crate) piece: Piece,
    /// Row of the box and place in it that the descriptor takes it for.
    pub(crate) expected: (i64, i64),
    /// Those that it has.
    pub(crate) found: (u32, u32),
}

/// The first piece that disagrees; `written` says which piece of a box lies at a byte of shared memory.
pub(crate) fn disagreement(
    pieces: impl Iterator<Item = Piece>,
    written: impl Fn(usize) -> Option<(u32, u32)>,
) -> Option<Disagreement> {
    // Row and place in its box at which each atom begins.
    let mut begins: HashMap<(usize, usize), (i64, i64)> = HashMap::new();
    for piece in pieces {
        let Some(found) = written(piece.offset) else { continue };
        let here = (i64::from(found.0) - piece.row as i64, i64::from(found.1) - piece.chunk as i64);
        let begin = *begins.entry(piece.atom).or_insert(here);
        let wrong = |(row, chunk): (i64, i64)| {
            let expected = (row + piece.row as i64, chunk + piece.chunk as i64);
            Some(Disagreement { piece, expected, found })
        };
        if here != begin {
            return wrong(begin);
        }
        let (along, across) = piece.atom;
        let before = along.checked_sub(1).and_then(|along| begins.get(&(along, across)));
        let first = begins.get(&(0, across));
        if let (Some(&(row, chunk)), Some(&first)) = (before, first)
            && begin != (row + 8, chunk)
            && begin != first
        {
            return wrong((row + 8, chunk));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::Layout;
    use super::*;

    /// A box of rows of `span` bytes that the copy engine laid down at byte 0 with a swizzle of so many bits.
    fn laid(span: usize, bits: u32) -> impl Fn(usize) -> Option<(u32, u32)> {
        move |offset| {
            let line = offset ^ (offset >> 7 & ((1 << bits) - 1)) << 4;
            Some(((line / span) as u32, (line % span / 16) as u32))
        }
    }

    fn check(mode: u64, leading: u64, stride: u64, mn_major: bool, span: usize, bits: u32) -> Option<Disagreement> {
        let layout = Layout::new(leading >> 4 << 16 | stride >> 4 << 32 | mode << 62, mn_major);
        disagreement(layout.pieces(64).map(|(.., piece)| piece), laid(span, bits))
    }

    #[test]
    fn the_right_descriptor_agrees() {
        assert_eq!(check(1, 0, 1024, false, 128, 3), None, "B128 along k");
        assert_eq!(check(2, 0, 512, false, 64, 2), None, "B64 along k");
        assert_eq!(check(3, 0, 256, false, 32, 1), None, "B32 along k");
        assert_eq!(
            check(0, 1024, 128, false, 16, 0),
            None,
            "16-byte rows along k, the second 16 bytes in the next box"
        );
        assert_eq!(check(1, 0, 1024, true, 128, 3), None, "B128 along m");
    }

    #[test]
    fn wrong_ones_do_not() {
        assert!(check(0, 16, 1024, false, 128, 3).is_some(), "no swizzle where there is one");
        assert!(check(1, 0, 1024, false, 128, 0).is_some(), "a swizzle where there is none");
        assert!(check(2, 0, 512, false, 128, 3).is_some(), "B64 of rows of 128 bytes");
        assert!(check(1, 0, 512, false, 128, 3).is_some(), "stride too small");
        assert!(check(1, 0, 2048, false, 128, 3).is_some(), "stride too large");
        assert!(check(1, 0, 128, true, 128, 3).is_some(), "leading and stride exchanged");
    }
}
