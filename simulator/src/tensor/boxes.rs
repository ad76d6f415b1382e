//! Whether an operand's descriptor agrees with the layout in which TMA wrote the data.
//!
//! Shadow memory knows the row and column in its box of each 16-byte vector that TMA wrote. Within an atom the
//! descriptor must find them in order; from one atom to the next along the rows it must advance by 8 rows, or to the
//! first row of another box.

use super::layout::Vector;
use std::collections::HashMap;

/// A vector that is not the one that the descriptor expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Disagreement {
    /// The vector.
    pub(crate) vector: Vector,
    /// The row of the box, and the vector in it, that the descriptor expects.
    pub(crate) expected: (i64, i64),
    /// Those that are there.
    pub(crate) found: (u32, u32),
}

/// The first vector that disagrees; `written` gives row and vector of a box for a byte of shared memory.
pub(crate) fn disagreement(
    vectors: impl Iterator<Item = Vector>,
    written: impl Fn(usize) -> Option<(u32, u32)>,
) -> Option<Disagreement> {
    // Row and vector of its box at which each atom begins.
    let mut begins: HashMap<(usize, usize), (i64, i64)> = HashMap::new();
    // The atom of the vector before: nearly every vector is in the same one.
    let mut latest = None;
    for vector in vectors {
        let Some(found) = written(vector.offset) else { continue };
        let here = (i64::from(found.0) - vector.row as i64, i64::from(found.1) - vector.chunk as i64);
        if latest == Some((vector.atom, here)) {
            continue;
        }
        latest = Some((vector.atom, here));
        let begin = *begins.entry(vector.atom).or_insert(here);
        let wrong = |(row, chunk): (i64, i64)| {
            let expected = (row + vector.row as i64, chunk + vector.chunk as i64);
            Some(Disagreement { vector, expected, found })
        };
        if here != begin {
            return wrong(begin);
        }
        let (along, across) = vector.atom;
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

    /// A box of rows of `span` bytes that TMA wrote at byte 0 with a swizzle of so many bits.
    fn laid(span: usize, bits: u32) -> impl Fn(usize) -> Option<(u32, u32)> {
        move |offset| {
            let line = offset ^ (offset >> 7 & ((1 << bits) - 1)) << 4;
            Some(((line / span) as u32, (line % span / 16) as u32))
        }
    }

    fn check(mode: u64, leading: u64, stride: u64, mn_major: bool, span: usize, bits: u32) -> Option<Disagreement> {
        let layout = Layout::new(leading >> 4 << 16 | stride >> 4 << 32 | mode << 62, mn_major);
        disagreement(layout.vectors(64).map(|(.., vector)| vector), laid(span, bits))
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
