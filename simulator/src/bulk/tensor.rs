//! The bytes of a box, in global and in shared memory.

use crate::tensor_map::TensorMap;

/// A row of a box: the part of it that lies in the tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// Its number in the box.
    pub(crate) number: usize,
    /// Bytes of the row before the part inside, and bytes inside.
    pub(crate) skip: usize,
    pub(crate) bytes: usize,
    /// Address of the part inside, in global memory.
    pub(crate) address: u64,
}

/// Bytes of a row of a box.
pub(crate) fn row_bytes(map: &TensorMap) -> usize {
    (map.boxes[0] * map.element) as usize
}

/// The rows of the box at `at` that lie, wholly or in part, in the tensor.
pub(crate) fn rows(map: &TensorMap, at: [i32; 5]) -> impl Iterator<Item = Row> + use<> {
    let map = *map;
    let along = |dimension: usize| i64::from(map.boxes[dimension]);
    let count: i64 = (1..5).map(along).product();
    let first = i64::from(at[0]);
    let from = (-first).clamp(0, along(0));
    let to = (map.extents[0] as i64 - first).clamp(0, along(0));
    (0..count).filter_map(move |number| {
        if from >= to {
            return None;
        }
        let mut rest = number;
        let mut address = map.base as i64 + (first + from) * i64::from(map.element);
        for (dimension, &first) in at.iter().enumerate().skip(1) {
            let index = i64::from(first) + rest % i64::from(map.boxes[dimension]);
            rest /= i64::from(map.boxes[dimension]);
            if index < 0 || index >= map.extents[dimension] as i64 {
                return None;
            }
            address += index * map.strides[dimension] as i64;
        }
        let element = map.element as usize;
        let (skip, bytes) = (from as usize * element, (to - from) as usize * element);
        Some(Row { number: number as usize, skip, bytes, address: address as u64 })
    })
}

/// The rows of the box at `at` as a store writes them: in whole 16-byte vectors, as an H200 does. Where the tensor ends
/// inside a vector, the rest of it is written, too, past the end of the row.
pub(crate) fn stored_rows(map: &TensorMap, at: [i32; 5]) -> impl Iterator<Item = Row> + use<> {
    let length = row_bytes(map);
    rows(map, at).map(move |row| {
        let end = (row.address + row.bytes as u64).next_multiple_of(16);
        Row { bytes: ((end - row.address) as usize).min(length - row.skip), ..row }
    })
}

/// Where the byte that would be at `offset` of shared memory lies with a swizzle: address bits 4 and up, exclusive or
/// with bits 7 and up.
pub(crate) fn swizzle(kind: u32, offset: usize) -> usize {
    offset ^ (((offset >> 7) & ((1 << kind) - 1)) << 4)
}

/// Rounds each `f32` to `tf32`: to 10 bits of mantissa, to the nearest, ties to even, as an H200 does.
pub(crate) fn to_tf32(bytes: &mut [u8]) {
    for element in bytes.chunks_exact_mut(4) {
        let bits = u32::from_le_bytes([element[0], element[1], element[2], element[3]]);
        let is_finite = bits >> 23 & 0xff != 0xff;
        let is_nan = !is_finite && bits << 9 != 0;
        let rounded = if is_finite {
            (bits + 0xfff + (bits >> 13 & 1)) & !0x1fff
        } else if is_nan {
            (bits | 1 << 22) & !0x1fff
        } else {
            bits
        };
        element.copy_from_slice(&rounded.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::{Row, rows, stored_rows, swizzle, to_tf32};
    use crate::tensor_map::TensorMap;

    const MAP: TensorMap = TensorMap {
        base: 1000,
        tag: 0,
        element: 4,
        rank: 2,
        extents: [10, 3, 1, 1, 1],
        strides: [4, 48, 0, 0, 0],
        boxes: [4, 2, 1, 1, 1],
        swizzle: 0,
        tf32: false,
    };

    #[test]
    fn rows_are_clipped_on_every_side() {
        let at = |x, y| rows(&MAP, [x, y, 0, 0, 0]).collect::<Vec<_>>();
        let row = |number, skip, bytes, address| Row { number, skip, bytes, address };
        assert_eq!(at(4, 1), [row(0, 0, 16, 1000 + 48 + 16), row(1, 0, 16, 1000 + 96 + 16)]);
        assert_eq!(at(8, 2), [row(0, 0, 8, 1000 + 96 + 32)]);
        assert_eq!(at(-3, -1), [row(1, 12, 4, 1000)]);
        assert_eq!(at(10, 0), []);
        assert_eq!(at(-4, 0), []);
        assert_eq!(at(0, 3), []);
        assert_eq!(at(i32::MIN, i32::MAX), []);
    }

    #[test]
    fn stores_write_whole_vectors() {
        let map = TensorMap { base: 1024, boxes: [8, 2, 1, 1, 1], ..MAP };
        let bytes = |x| stored_rows(&map, [x, 0, 0, 0, 0]).map(|row| (row.skip, row.bytes)).collect::<Vec<_>>();
        assert_eq!(bytes(0), [(0, 32); 2]);
        assert_eq!(bytes(8), [(0, 16); 2], "two elements inside, two outside");
        assert_eq!(bytes(4), [(0, 32); 2], "to the end of the vector, which is the end of the box");
        assert_eq!(bytes(-4), [(16, 16); 2]);
    }

    #[test]
    fn swizzles_exchange_vectors_within_their_span() {
        for (kind, span) in [(0, 16), (1, 32), (2, 64), (3, 128)] {
            let mut seen: Vec<usize> = (0..2048).step_by(16).map(|offset| swizzle(kind, offset)).collect();
            assert!(seen.iter().zip((0..2048).step_by(16)).all(|(&to, from)| to / span == from / span));
            seen.sort_unstable();
            assert_eq!(seen, (0..2048).step_by(16).collect::<Vec<_>>(), "a permutation, kind {kind}");
        }
        assert_eq!(swizzle(3, 3 * 128 + 2 * 16), 3 * 128 + 16);
        assert_eq!(swizzle(2, 3 * 128 + 2 * 16), 3 * 128 + 16);
        assert_eq!(swizzle(1, 3 * 128 + 16), 3 * 128);
    }

    #[test]
    fn tf32_is_nearest_with_ties_to_even() {
        let cases = [
            (0x3f80_0000, 0x3f80_0000),
            (0x3f80_0fff, 0x3f80_0000),
            (0x3f80_1000, 0x3f80_0000),
            (0x3f80_1001, 0x3f80_2000),
            (0xbf80_1000, 0xbf80_0000),
            (0xbf80_3000, 0xbf80_4000),
            (0x7f7f_ffff, 0x7f80_0000),
            (0x7f80_0000, 0x7f80_0000),
            (0x7f80_0001, 0x7fc0_0000),
            (0x0000_1000, 0x0000_0000),
            (0x0000_3000, 0x0000_4000),
        ];
        for (from, to) in cases {
            let mut bytes = u32::to_le_bytes(from);
            to_tf32(&mut bytes);
            assert_eq!(u32::from_le_bytes(bytes), to, "{from:#x}");
        }
    }
}
