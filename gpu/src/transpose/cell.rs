//! Elements by size, and how a tile of them lies in shared memory.
//!
//! A transposition moves bits and never looks at them: five types, one for each size, stand for all elements. Shared memory
//! is served in banks of 4 bytes, so a tile is kept in *units* of at least 4 bytes: 4 elements of 1 byte, 2 of 2 bytes, else
//! one. Rows of the tile are rows of B; four, two or one units make a *chunk* of 16 bytes, the widest access.
//!
//! ```text
//!   size   type        elements   units     elements     unit u of row r lies at unit
//!                      per unit   per chunk per chunk
//!    1     u8             4          4         16          chunk   c ^ (r / 16)
//!    2     u16            2          4          8                  c ^ (r / 8)      of the row's chunks,
//!    4     f32            1          4          4                  c ^ (r / 4)      there at unit
//!    8     u64            1          2          2                  c ^ (r / 2)      u ^ (r / elements per unit)
//!   16     Vec4<u32>      1          1          1                  c ^ r
//! ```
//!
//! What is written at once by the lanes of a warp lies in one column of the tile, in rows that are one chunk of elements (by
//! 16-byte loads) or one unit of elements apart (by narrow ones). The first exclusive or sends rows a chunk apart to
//! different chunks, the second sends rows a unit apart to different units of them. With at least 8 chunks in a row, all 32
//! banks are used once. Where r is known but for a multiple of a chunk, the order of units in the chunk is known when the
//! kernel is compiled, and putting them in order is renaming registers.

use simt::element::{Element, Vec2, Vec4, Vector, bits_as};
use simt::global::{Window, WindowMut};
use simt::math::byte_perm;
use simt::prelude::*;

/// 16 bytes in registers.
pub type Chunk = [u32; 4];

/// An element of 1, 2, 4, 8 or 16 bytes, as tiles keep it.
pub trait Cell: Element {
    /// What a tile is made of.
    type Unit: Element;
    /// A unit from each of [`Self::PER_UNIT`] rows; turned, a unit for each of as many columns.
    type Block: Copy;
    /// Elements in a unit.
    const PER_UNIT: u32;
    /// Units in 16 bytes.
    const UNITS: u32;
    /// Elements in 16 bytes.
    const PER_CHUNK: u32 = Self::PER_UNIT * Self::UNITS;

    /// Whether every row starts at a multiple of 16 bytes.
    fn is_chunked(window: &Window<Self>) -> bool;
    /// 16 bytes of a row, at a multiple of 16 bytes.
    fn load_chunk(from: &Window<Self>, row: u32, col: u32) -> Chunk;
    /// Writes 16 bytes of a row.
    fn store_chunk(to: &WindowMut<Self>, row: u32, col: u32, chunk: Chunk);
    /// Writes 16 bytes from each of four rows of A to the tile, whose rows are A's columns: A's rows `row` to `row + 3`.
    fn put_chunks<const C: usize, const W: usize>(
        tile: &SharedTile<Self::Unit, C, W>,
        row: u32,
        col: u32,
        rows: [Chunk; 4],
    );
    /// Chunk `chunk` of row `row` of the tile.
    fn take_chunk<const C: usize, const W: usize>(tile: &SharedTile<Self::Unit, C, W>, row: u32, chunk: u32) -> Chunk;

    /// Whether [`Self::load_words`] may be used: A has the words that the square lies in.
    fn is_whole(from: &Window<Self>, row: u32, col: u32) -> bool;
    /// A square of [`Self::PER_UNIT`]² elements of A from anywhere, each row's unit from the two aligned words that it lies in.
    /// Where a unit is an element, zero for one that A lacks.
    fn load_words(from: &Window<Self>, row: u32, col: u32) -> Self::Block;
    /// The same by elements, zero for those that A lacks.
    fn load_elements(from: &Window<Self>, row: u32, col: u32) -> Self::Block;
    /// Writes such a square to the tile.
    fn put_block<const C: usize, const W: usize>(
        tile: &SharedTile<Self::Unit, C, W>,
        row: u32,
        col: u32,
        block: Self::Block,
    );
    /// Writes a row of the tile to a row of B that starts anywhere: the share of unit `unit`, which is the one that starts at
    /// or below it where B is cut at multiples of 4 bytes. Leaves out what is less than a unit at either end.
    fn store_unit<const C: usize, const W: usize>(
        tile: &SharedTile<Self::Unit, C, W>,
        to: &WindowMut<Self>,
        row: u32,
        unit: u32,
    );
    /// Writes what [`Self::store_unit`] leaves out, element `which` of [`Self::PER_UNIT`].
    fn store_end<const C: usize, const W: usize>(
        tile: &SharedTile<Self::Unit, C, W>,
        to: &WindowMut<Self>,
        row: u32,
        which: u32,
    );
    /// Writes the elements of a unit of the tile, `from` its row and number, one by one from (`to_row`, `to_col`) on.
    fn store_elements<const C: usize, const W: usize>(
        tile: &SharedTile<Self::Unit, C, W>,
        from: (u32, u32),
        to: &WindowMut<Self>,
        to_row: u32,
        to_col: u32,
    );
}

/// Where unit `unit` of row `row` lies, of `width` in a row.
#[inline(always)]
fn place<T: Cell>(row: u32, unit: u32, width: usize) -> u32 {
    let chunk = ((unit / T::UNITS) ^ (row / T::PER_CHUNK)) % (width as u32 / T::UNITS);
    chunk * T::UNITS + (unit ^ (row / T::PER_UNIT)) % T::UNITS
}

/// Where the chunk starts that unit `unit` of row `row` lies in.
#[inline(always)]
fn place_of_chunk<T: Cell>(row: u32, unit: u32, width: usize) -> u32 {
    ((unit / T::UNITS) ^ (row / T::PER_CHUNK)) % (width as u32 / T::UNITS) * T::UNITS
}

/// The units of a chunk of row `row`, from the order of the tile to that of the row, or back.
#[inline(always)]
fn ordered<T: Cell, U: Copy>([a, b, c, d]: [U; 4], row: u32) -> [U; 4] {
    let turn = row / T::PER_UNIT;
    let [a, b, c, d] = if turn & 1 == 0 { [a, b, c, d] } else { [b, a, d, c] };
    if turn & 2 == 0 { [a, b, c, d] } else { [c, d, a, b] }
}

/// Columns of four rows of bytes.
#[inline(always)]
pub(super) fn turned_bytes([a, b, c, d]: [u32; 4]) -> [u32; 4] {
    let (low, high) =
        ([byte_perm(a, b, 0x5140), byte_perm(a, b, 0x7362)], [byte_perm(c, d, 0x5140), byte_perm(c, d, 0x7362)]);
    [
        byte_perm(low[0], high[0], 0x5410),
        byte_perm(low[0], high[0], 0x7632),
        byte_perm(low[1], high[1], 0x5410),
        byte_perm(low[1], high[1], 0x7632),
    ]
}

/// Columns of two rows of 16-bit halves.
#[inline(always)]
pub(super) fn turned_halves([a, b]: [u32; 2]) -> [u32; 2] {
    [byte_perm(a, b, 0x5410), byte_perm(a, b, 0x7632)]
}

/// The four methods on chunks of an element of which several fill one.
macro_rules! chunks {
    ($lanes:literal) => {
        #[inline(always)]
        fn is_chunked(window: &Window<Self>) -> bool {
            window.has_aligned_rows::<$lanes>()
        }

        #[inline(always)]
        #[track_caller]
        fn load_chunk(from: &Window<Self>, row: u32, col: u32) -> Chunk {
            let zero = bits_as(Vec4::new([0_u32; 4]));
            bits_as::<_, Vec4<u32>>(from.get_vec_cs_or::<$lanes>(row, col, zero)).lanes
        }

        #[inline(always)]
        #[track_caller]
        fn store_chunk(to: &WindowMut<Self>, row: u32, col: u32, chunk: Chunk) {
            to.set_vec_cs_within::<$lanes>(row, col, bits_as(Vec4::new(chunk)));
        }
    };
}

/// Elements of less than 4 bytes: `$lanes` of them are a unit, `$digits` in a selector of bytes moves it on by one.
macro_rules! narrow {
    ($lanes:literal: $($i:literal)+, $all:literal, $digits:literal, $turned:ident) => {
        type Unit = u32;
        type Block = [u32; $lanes];
        const PER_UNIT: u32 = $lanes;
        const UNITS: u32 = 4;

        chunks!($all);

        #[inline(always)]
        fn take_chunk<const C: usize, const W: usize>(tile: &SharedTile<u32, C, W>, row: u32, chunk: u32) -> Chunk {
            ordered::<Self, _>(tile.get_vec4(row, place_of_chunk::<Self>(row, 4 * chunk, W)).lanes, row)
        }

        #[inline(always)]
        fn is_whole(from: &Window<Self>, row: u32, col: u32) -> bool {
            let mut whole = row < from.rows() && from.rows() - row >= $lanes && col < from.cols();
            $({
                let past = from.past_alignment::<$lanes>(row.wrapping_add($i), col);
                whole &= past <= col && from.cols().wrapping_sub(col).wrapping_add(past) >= 2 * $lanes;
            })+
            whole
        }

        #[inline(always)]
        fn load_words(from: &Window<Self>, row: u32, col: u32) -> Self::Block {
            $turned([$({
                let row = row.wrapping_add($i);
                let past = from.past_alignment::<$lanes>(row, col);
                // SAFETY: the block is whole, so that both words lie in the row.
                let word = |col| bits_as(unsafe { from.get_vec_unchecked::<$lanes>(row, col) });
                byte_perm(word(col - past), word(col - past + $lanes), 0x3210 + $digits * past)
            }),+])
        }

        #[inline(always)]
        fn load_elements(from: &Window<Self>, row: u32, col: u32) -> Self::Block {
            let unit = |row: u32| {
                let mut unit = 0;
                for i in 0..$lanes {
                    unit |= (from.get_or(row, col.saturating_add(i), 0) as u32) << (32 / $lanes * i);
                }
                unit
            };
            $turned([$(unit(row.saturating_add($i))),+])
        }

        #[inline(always)]
        fn put_block<const C: usize, const W: usize>(
            tile: &SharedTile<u32, C, W>,
            row: u32,
            col: u32,
            block: Self::Block,
        ) {
            $(tile.set(col + $i, place::<Self>(col + $i, row / $lanes, W), block[$i]);)+
        }

        #[inline(always)]
        fn store_unit<const C: usize, const W: usize>(
            tile: &SharedTile<u32, C, W>,
            to: &WindowMut<Self>,
            row: u32,
            unit: u32,
        ) {
            let past = to.past_alignment::<$lanes>(row, 0);
            let at = |unit| tile.get(row, place::<Self>(row, unit, W));
            let word = byte_perm(at(unit.saturating_sub(1)), at(unit), 0x7654 - $digits * past);
            if unit > 0 || past == 0 {
                to.set_vec_within::<$lanes>(row, unit * $lanes - past, bits_as(word));
            }
        }

        #[inline(always)]
        fn store_end<const C: usize, const W: usize>(
            tile: &SharedTile<u32, C, W>,
            to: &WindowMut<Self>,
            row: u32,
            which: u32,
        ) {
            let past = to.past_alignment::<$lanes>(row, 0);
            if past > 0 {
                // The first of the row up to the alignment, or as many from the alignment on to the last.
                let col = if which < $lanes - past { which } else { (W as u32 - 1) * $lanes + which };
                let unit = tile.get(row, place::<Self>(row, col / $lanes, W));
                to.set_within(row, col, (unit >> (32 / $lanes * (col % $lanes))) as Self);
            }
        }

        #[inline(always)]
        fn store_elements<const C: usize, const W: usize>(
            tile: &SharedTile<u32, C, W>,
            (row, unit): (u32, u32),
            to: &WindowMut<Self>,
            to_row: u32,
            to_col: u32,
        ) {
            let elements: Vector<Self, $lanes> = bits_as(tile.get(row, place::<Self>(row, unit, W)));
            $(to.set_within(to_row, to_col.saturating_add($i), elements.lanes[$i]);)+
        }
    };
}

impl Cell for u8 {
    narrow!(4: 0 1 2 3, 16, 0x1111, turned_bytes);

    #[inline(always)]
    fn put_chunks<const C: usize, const W: usize>(tile: &SharedTile<u32, C, W>, row: u32, col: u32, rows: [Chunk; 4]) {
        for word in 0..4 {
            Self::put_block(tile, row, col + 4 * word, turned_bytes(rows.map(|row| row[word as usize])));
        }
    }
}

impl Cell for u16 {
    narrow!(2: 0 1, 8, 0x2222, turned_halves);

    #[inline(always)]
    fn put_chunks<const C: usize, const W: usize>(
        tile: &SharedTile<u32, C, W>,
        row: u32,
        col: u32,
        [a, b, c, d]: [Chunk; 4],
    ) {
        for word in 0..4 {
            let w = word as usize;
            let (low, high) = (turned_halves([a[w], b[w]]), turned_halves([c[w], d[w]]));
            for i in 0..2 {
                let (to, k) = (col + 2 * word + i, i as usize);
                let pair = if word & 1 == 0 { [low[k], high[k]] } else { [high[k], low[k]] };
                tile.set_vec(to, place::<Self>(to, row / 2, W) / 2 * 2, Vec2::new(pair));
            }
        }
    }
}

/// Elements that are units: nothing to turn, nothing to shift.
macro_rules! wide {
    ($unit:ty, $units:literal, $zero:expr) => {
        type Unit = $unit;
        type Block = $unit;
        const PER_UNIT: u32 = 1;
        const UNITS: u32 = $units;

        #[inline(always)]
        fn is_whole(_: &Window<Self>, _: u32, _: u32) -> bool {
            true
        }

        #[inline(always)]
        fn load_words(from: &Window<Self>, row: u32, col: u32) -> Self::Block {
            bits_as(from.get_or(row, col, $zero))
        }

        #[inline(always)]
        fn load_elements(from: &Window<Self>, row: u32, col: u32) -> Self::Block {
            Self::load_words(from, row, col)
        }

        #[inline(always)]
        fn put_block<const C: usize, const W: usize>(
            tile: &SharedTile<$unit, C, W>,
            row: u32,
            col: u32,
            unit: Self::Block,
        ) {
            tile.set(col, place::<Self>(col, row, W), unit);
        }

        #[inline(always)]
        fn store_unit<const C: usize, const W: usize>(
            tile: &SharedTile<$unit, C, W>,
            to: &WindowMut<Self>,
            row: u32,
            unit: u32,
        ) {
            to.set_within(row, unit, bits_as(tile.get(row, place::<Self>(row, unit, W))));
        }

        #[inline(always)]
        fn store_end<const C: usize, const W: usize>(_: &SharedTile<$unit, C, W>, _: &WindowMut<Self>, _: u32, _: u32) {
        }

        #[inline(always)]
        fn store_elements<const C: usize, const W: usize>(
            tile: &SharedTile<$unit, C, W>,
            (row, unit): (u32, u32),
            to: &WindowMut<Self>,
            to_row: u32,
            to_col: u32,
        ) {
            to.set_within(to_row, to_col, bits_as(tile.get(row, place::<Self>(row, unit, W))));
        }
    };
}

impl Cell for f32 {
    wide!(u32, 4, 0.0);
    chunks!(4);

    #[inline(always)]
    fn put_chunks<const C: usize, const W: usize>(tile: &SharedTile<u32, C, W>, row: u32, col: u32, rows: [Chunk; 4]) {
        for i in 0..4 {
            let units = ordered::<Self, _>(rows.map(|row| row[i as usize]), i);
            tile.set_vec4(col + i, place_of_chunk::<Self>(col + i, row, W), Vec4::new(units));
        }
    }

    #[inline(always)]
    fn take_chunk<const C: usize, const W: usize>(tile: &SharedTile<u32, C, W>, row: u32, chunk: u32) -> Chunk {
        ordered::<Self, _>(tile.get_vec4(row, place_of_chunk::<Self>(row, 4 * chunk, W)).lanes, row)
    }
}

impl Cell for u64 {
    wide!(u64, 2, 0);
    chunks!(2);

    #[inline(always)]
    fn put_chunks<const C: usize, const W: usize>(tile: &SharedTile<u64, C, W>, row: u32, col: u32, rows: [Chunk; 4]) {
        let [a, b, c, d] = rows.map(|row| bits_as::<_, Vec2<u64>>(Vec4::new(row)).lanes);
        let two = |row, upper: [u64; 2], lower: [u64; 2]| {
            tile.set_vec(col, place_of_chunk::<Self>(col, row, W), Vec2::new([upper[0], lower[0]]));
            tile.set_vec(col + 1, place_of_chunk::<Self>(col + 1, row, W), Vec2::new([lower[1], upper[1]]));
        };
        two(row, a, b);
        two(row + 2, c, d);
    }

    #[inline(always)]
    fn take_chunk<const C: usize, const W: usize>(tile: &SharedTile<u64, C, W>, row: u32, chunk: u32) -> Chunk {
        let [a, b] = tile.get_vec::<2>(row, place_of_chunk::<Self>(row, 2 * chunk, W)).lanes;
        let ordered = if row & 1 == 0 { [a, b] } else { [b, a] };
        bits_as::<_, Vec4<u32>>(Vec2::new(ordered)).lanes
    }
}

impl Cell for Vec4<u32> {
    wide!(Self, 1, Self::new([0; 4]));

    #[inline(always)]
    fn is_chunked(_: &Window<Self>) -> bool {
        true
    }

    #[inline(always)]
    #[track_caller]
    fn load_chunk(from: &Window<Self>, row: u32, col: u32) -> Chunk {
        from.get_cs_or(row, col, Self::new([0; 4])).lanes
    }

    #[inline(always)]
    #[track_caller]
    fn store_chunk(to: &WindowMut<Self>, row: u32, col: u32, chunk: Chunk) {
        to.set_cs_within(row, col, Self::new(chunk));
    }

    #[inline(always)]
    fn put_chunks<const C: usize, const W: usize>(tile: &SharedTile<Self, C, W>, row: u32, col: u32, rows: [Chunk; 4]) {
        for i in 0..4 {
            Self::put_block(tile, row + i, col, Self::new(rows[i as usize]));
        }
    }

    #[inline(always)]
    fn take_chunk<const C: usize, const W: usize>(tile: &SharedTile<Self, C, W>, row: u32, chunk: u32) -> Chunk {
        tile.get(row, place::<Self>(row, chunk, W)).lanes
    }
}
