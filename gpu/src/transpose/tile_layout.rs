//! The swizzled layout of a tile in shared memory, for elements of 1, 2, 4, 8 and 16 bytes.
//!
//! A transposition moves bits and never interprets them, so five types, one for each size, stand for all elements.
//! Shared memory has banks of 4 bytes, so the tile is an array of *words* of at least 4 bytes: 4 elements of 1 byte, 2
//! of 2 bytes, otherwise one element. A row of the tile is a row of B. A *vector* is 16 bytes: 4, 2 or 1 words.
//!
//! ```text
//!   size   type        elements   words       elements      word w of row r, in vector v, is stored in
//!                      per word   per vector  per vector
//!    1     u8             4          4          16          vector  v ^ (r / 16)
//!    2     u16            2          4           8                  v ^ (r / 8)      of the row,
//!    4     f32            1          4           4                  v ^ (r / 4)      there as word
//!    8     u64            1          2           2                  v ^ (r / 2)      w ^ (r / elements per word)
//!   16     Vec4<u32>      1          1           1                  v ^ r
//! ```
//!
//! In one store, the lanes of a warp write one column of the tile, in rows that are one vector of elements apart (after
//! 16-byte loads) or one word of elements apart (after narrow loads). The first exclusive or maps rows a vector apart
//! to different vectors, the second maps rows a word apart to different words. With at least 8 vectors in a row, every
//! one of the 32 banks is used once. Where r is known up to a multiple of a vector, the order of words in the vector is
//! a compile-time constant, and reordering them only renames registers.

use simt::element::{Element, Vec2, Vec4, Vector, bits_as};
use simt::global::{Window, WindowMut};
use simt::math::byte_perm;
use simt::prelude::*;

use crate::unroll::each;

/// A 16-byte vector in registers.
pub type VectorBits = [u32; 4];

/// An element of 1, 2, 4, 8 or 16 bytes: how it moves between global memory and a tile.
pub trait TileElement: Element {
    /// The word of which a tile is an array.
    type Word: Element;
    /// A square of [`Self::PER_WORD`]² elements, transposed: one word for each column of A.
    type Square: Copy;
    /// Elements in a word.
    const PER_WORD: u32;
    /// Words in a vector.
    const WORDS: u32;
    /// Elements in a vector.
    const PER_VECTOR: u32 = Self::PER_WORD * Self::WORDS;

    /// Whether every row starts at a multiple of 16 bytes.
    fn has_aligned_vectors(window: &Window<Self>) -> bool;
    /// Loads a vector of a row, at a multiple of 16 bytes.
    fn load_vector(from: &Window<Self>, row: u32, col: u32) -> VectorBits;
    /// Stores a vector of a row, at a multiple of 16 bytes.
    fn store_vector(to: &WindowMut<Self>, row: u32, col: u32, vector: VectorBits);
    /// Writes vectors of rows `row` to `row + 3` of A to the tile, transposed: the tile's rows are A's columns.
    fn put_vectors<const C: usize, const W: usize>(
        tile: &SharedTile<Self::Word, C, W>,
        row: u32,
        col: u32,
        rows: [VectorBits; 4],
    );
    /// Reads vector `vector` of row `row` of the tile.
    fn take_vector<const C: usize, const W: usize>(
        tile: &SharedTile<Self::Word, C, W>,
        row: u32,
        vector: u32,
    ) -> VectorBits;

    /// Whether all aligned words that the square overlaps are in A, so that [`Self::load_words`] may be called.
    fn words_in_bounds(from: &Window<Self>, row: u32, col: u32) -> bool;
    /// Loads a square of [`Self::PER_WORD`]² elements of A at any alignment: each row's word from the two aligned words
    /// that it overlaps. Where a word is one element, elements outside A are zero.
    fn load_words(from: &Window<Self>, row: u32, col: u32) -> Self::Square;
    /// Loads the square element by element; elements outside A are zero.
    fn load_elements(from: &Window<Self>, row: u32, col: u32) -> Self::Square;
    /// Writes a square to the tile.
    fn put_square<const C: usize, const W: usize>(
        tile: &SharedTile<Self::Word, C, W>,
        row: u32,
        col: u32,
        square: Self::Square,
    );
    /// Writes one aligned word of a row of B at any alignment: the word that starts at or just below word `word` of the
    /// tile's row. Incomplete words at either end of the row are left to [`Self::store_edge`].
    fn store_word<const C: usize, const W: usize>(
        tile: &SharedTile<Self::Word, C, W>,
        to: &WindowMut<Self>,
        row: u32,
        word: u32,
    );
    /// Writes element `which`, below [`Self::PER_WORD`], of the incomplete words that [`Self::store_word`] leaves out.
    fn store_edge<const C: usize, const W: usize>(
        tile: &SharedTile<Self::Word, C, W>,
        to: &WindowMut<Self>,
        row: u32,
        which: u32,
    );
    /// Writes the elements of word `from` (row, word) of the tile one by one, from (`to_row`, `to_col`) of B on.
    fn store_elements<const C: usize, const W: usize>(
        tile: &SharedTile<Self::Word, C, W>,
        from: (u32, u32),
        to: &WindowMut<Self>,
        to_row: u32,
        to_col: u32,
    );
}

/// The swizzled position of word `word` of row `row`, where rows have `width` words.
#[cfg_attr(optimised, inline(always))]
fn position<T: TileElement>(row: u32, word: u32, width: usize) -> u32 {
    let vector = ((word / T::WORDS) ^ (row / T::PER_VECTOR)) % (width as u32 / T::WORDS);
    vector * T::WORDS + (word ^ (row / T::PER_WORD)) % T::WORDS
}

/// The swizzled position of the first word of the vector that word `word` of row `row` is in.
#[cfg_attr(optimised, inline(always))]
fn vector_position<T: TileElement>(row: u32, word: u32, width: usize) -> u32 {
    ((word / T::WORDS) ^ (row / T::PER_VECTOR)) % (width as u32 / T::WORDS) * T::WORDS
}

/// Reorders the words of a vector of row `row` from the tile's swizzled order to the row's, or back.
#[cfg_attr(optimised, inline(always))]
fn ordered<T: TileElement, U: Copy>([a, b, c, d]: [U; 4], row: u32) -> [U; 4] {
    let swap = row / T::PER_WORD;
    let [a, b, c, d] = if swap & 1 == 0 { [a, b, c, d] } else { [b, a, d, c] };
    if swap & 2 == 0 { [a, b, c, d] } else { [c, d, a, b] }
}

/// Transposes 4 × 4 bytes.
#[cfg_attr(optimised, inline(always))]
pub(super) fn transpose_bytes_4x4([a, b, c, d]: [u32; 4]) -> [u32; 4] {
    let (low, high) =
        ([byte_perm(a, b, 0x5140), byte_perm(a, b, 0x7362)], [byte_perm(c, d, 0x5140), byte_perm(c, d, 0x7362)]);
    [
        byte_perm(low[0], high[0], 0x5410),
        byte_perm(low[0], high[0], 0x7632),
        byte_perm(low[1], high[1], 0x5410),
        byte_perm(low[1], high[1], 0x7632),
    ]
}

/// Transposes 2 × 2 elements of 16 bits.
#[cfg_attr(optimised, inline(always))]
pub(super) fn transpose_halves_2x2([a, b]: [u32; 2]) -> [u32; 2] {
    [byte_perm(a, b, 0x5410), byte_perm(a, b, 0x7632)]
}

/// Implements the methods on vectors in global memory, for elements of which several fill a vector.
macro_rules! vectors {
    ($lanes:literal) => {
        #[cfg_attr(optimised, inline(always))]
        fn has_aligned_vectors(window: &Window<Self>) -> bool {
            window.has_aligned_rows::<$lanes>()
        }

        #[cfg_attr(optimised, inline(always))]
        fn load_vector(from: &Window<Self>, row: u32, col: u32) -> VectorBits {
            let zero = bits_as(Vec4::new([0_u32; 4]));
            bits_as::<_, Vec4<u32>>(from.get_vec_cs_or::<$lanes>(row, col, zero)).lanes
        }

        #[cfg_attr(optimised, inline(always))]
        fn store_vector(to: &WindowMut<Self>, row: u32, col: u32, vector: VectorBits) {
            to.set_vec_cs_within::<$lanes>(row, col, bits_as(Vec4::new(vector)));
        }
    };
}

/// Implements [`TileElement`] for elements of less than 4 bytes, `$lanes` of them in a word. `$digits` in a `byte_perm`
/// selector shifts by one element.
macro_rules! narrow {
    ($lanes:literal: $($i:literal)+, $all:literal, $digits:literal, $transpose:ident) => {
        type Word = u32;
        type Square = [u32; $lanes];
        const PER_WORD: u32 = $lanes;
        const WORDS: u32 = 4;

        vectors!($all);

        #[cfg_attr(optimised, inline(always))]
        fn take_vector<const C: usize, const W: usize>(
            tile: &SharedTile<u32, C, W>,
            row: u32,
            vector: u32,
        ) -> VectorBits {
            ordered::<Self, _>(tile.get_vec4(row, vector_position::<Self>(row, 4 * vector, W)).lanes, row)
        }

        #[cfg_attr(optimised, inline(always))]
        fn words_in_bounds(from: &Window<Self>, row: u32, col: u32) -> bool {
            let mut whole = row < from.rows() && from.rows() - row >= $lanes && col < from.cols();
            $({
                let past = from.misalignment::<$lanes>(row.wrapping_add($i), col);
                whole &= past <= col && from.cols().wrapping_sub(col).wrapping_add(past) >= 2 * $lanes;
            })+
            whole
        }

        #[cfg_attr(optimised, inline(always))]
        fn load_words(from: &Window<Self>, row: u32, col: u32) -> Self::Square {
            $transpose([$({
                let row = row.wrapping_add($i);
                let past = from.misalignment::<$lanes>(row, col);
                // SAFETY: `words_in_bounds` was true for the square, so both words are in the row.
                let word = |col| bits_as(unsafe { from.get_vec_unchecked::<$lanes>(row, col) });
                byte_perm(word(col - past), word(col - past + $lanes), 0x3210 + $digits * past)
            }),+])
        }

        #[cfg_attr(optimised, inline(always))]
        fn load_elements(from: &Window<Self>, row: u32, col: u32) -> Self::Square {
            let word = |row: u32| {
                let mut word = 0;
                for i in 0..$lanes {
                    word |= (from.get_or(row, col.saturating_add(i), 0) as u32) << (32 / $lanes * i);
                }
                word
            };
            $transpose([$(word(row.saturating_add($i))),+])
        }

        #[cfg_attr(optimised, inline(always))]
        fn put_square<const C: usize, const W: usize>(
            tile: &SharedTile<u32, C, W>,
            row: u32,
            col: u32,
            square: Self::Square,
        ) {
            $(tile.set(col + $i, position::<Self>(col + $i, row / $lanes, W), square[$i]);)+
        }

        #[cfg_attr(optimised, inline(always))]
        fn store_word<const C: usize, const W: usize>(
            tile: &SharedTile<u32, C, W>,
            to: &WindowMut<Self>,
            row: u32,
            word: u32,
        ) {
            let past = to.misalignment::<$lanes>(row, 0);
            let at = |word| tile.get(row, position::<Self>(row, word, W));
            let bits = byte_perm(at(word.saturating_sub(1)), at(word), 0x7654 - $digits * past);
            if word > 0 || past == 0 {
                to.set_vec_within::<$lanes>(row, word * $lanes - past, bits_as(bits));
            }
        }

        #[cfg_attr(optimised, inline(always))]
        fn store_edge<const C: usize, const W: usize>(
            tile: &SharedTile<u32, C, W>,
            to: &WindowMut<Self>,
            row: u32,
            which: u32,
        ) {
            let past = to.misalignment::<$lanes>(row, 0);
            if past > 0 {
                // The row's elements before its first aligned word, or those after its last.
                let col = if which < $lanes - past { which } else { (W as u32 - 1) * $lanes + which };
                let word = tile.get(row, position::<Self>(row, col / $lanes, W));
                to.set_within(row, col, (word >> (32 / $lanes * (col % $lanes))) as Self);
            }
        }

        #[cfg_attr(optimised, inline(always))]
        fn store_elements<const C: usize, const W: usize>(
            tile: &SharedTile<u32, C, W>,
            (row, word): (u32, u32),
            to: &WindowMut<Self>,
            to_row: u32,
            to_col: u32,
        ) {
            let elements: Vector<Self, $lanes> = bits_as(tile.get(row, position::<Self>(row, word, W)));
            $(to.set_within(to_row, to_col.saturating_add($i), elements.lanes[$i]);)+
        }
    };
}

impl TileElement for u8 {
    narrow!(4: 0 1 2 3, 16, 0x1111, transpose_bytes_4x4);

    #[cfg_attr(optimised, inline(always))]
    fn put_vectors<const C: usize, const W: usize>(
        tile: &SharedTile<u32, C, W>,
        row: u32,
        col: u32,
        rows: [VectorBits; 4],
    ) {
        for word in 0..4 {
            Self::put_square(tile, row, col + 4 * word, transpose_bytes_4x4(each!(rows, |row| row[word as usize])));
        }
    }
}

impl TileElement for u16 {
    narrow!(2: 0 1, 8, 0x2222, transpose_halves_2x2);

    #[cfg_attr(optimised, inline(always))]
    fn put_vectors<const C: usize, const W: usize>(
        tile: &SharedTile<u32, C, W>,
        row: u32,
        col: u32,
        [a, b, c, d]: [VectorBits; 4],
    ) {
        for word in 0..4 {
            let w = word as usize;
            let (low, high) = (transpose_halves_2x2([a[w], b[w]]), transpose_halves_2x2([c[w], d[w]]));
            for i in 0..2 {
                let (to, k) = (col + 2 * word + i, i as usize);
                let pair = if word & 1 == 0 { [low[k], high[k]] } else { [high[k], low[k]] };
                tile.set_vec(to, position::<Self>(to, row / 2, W) / 2 * 2, Vec2::new(pair));
            }
        }
    }
}

/// Implements [`TileElement`] for elements that are words: no transposition within a word, no shifts.
macro_rules! wide {
    ($word:ty, $words:literal, $zero:expr) => {
        type Word = $word;
        type Square = $word;
        const PER_WORD: u32 = 1;
        const WORDS: u32 = $words;

        #[cfg_attr(optimised, inline(always))]
        fn words_in_bounds(_: &Window<Self>, _: u32, _: u32) -> bool {
            true
        }

        #[cfg_attr(optimised, inline(always))]
        fn load_words(from: &Window<Self>, row: u32, col: u32) -> Self::Square {
            bits_as(from.get_or(row, col, $zero))
        }

        #[cfg_attr(optimised, inline(always))]
        fn load_elements(from: &Window<Self>, row: u32, col: u32) -> Self::Square {
            Self::load_words(from, row, col)
        }

        #[cfg_attr(optimised, inline(always))]
        fn put_square<const C: usize, const W: usize>(
            tile: &SharedTile<$word, C, W>,
            row: u32,
            col: u32,
            word: Self::Square,
        ) {
            tile.set(col, position::<Self>(col, row, W), word);
        }

        #[cfg_attr(optimised, inline(always))]
        fn store_word<const C: usize, const W: usize>(
            tile: &SharedTile<$word, C, W>,
            to: &WindowMut<Self>,
            row: u32,
            word: u32,
        ) {
            to.set_within(row, word, bits_as(tile.get(row, position::<Self>(row, word, W))));
        }

        #[cfg_attr(optimised, inline(always))]
        fn store_edge<const C: usize, const W: usize>(
            _: &SharedTile<$word, C, W>,
            _: &WindowMut<Self>,
            _: u32,
            _: u32,
        ) {
        }

        #[cfg_attr(optimised, inline(always))]
        fn store_elements<const C: usize, const W: usize>(
            tile: &SharedTile<$word, C, W>,
            (row, word): (u32, u32),
            to: &WindowMut<Self>,
            to_row: u32,
            to_col: u32,
        ) {
            to.set_within(to_row, to_col, bits_as(tile.get(row, position::<Self>(row, word, W))));
        }
    };
}

impl TileElement for f32 {
    wide!(u32, 4, 0.0);
    vectors!(4);

    #[cfg_attr(optimised, inline(always))]
    fn put_vectors<const C: usize, const W: usize>(
        tile: &SharedTile<u32, C, W>,
        row: u32,
        col: u32,
        rows: [VectorBits; 4],
    ) {
        for i in 0..4 {
            let words = ordered::<Self, _>(each!(rows, |row| row[i as usize]), i);
            tile.set_vec4(col + i, vector_position::<Self>(col + i, row, W), Vec4::new(words));
        }
    }

    #[cfg_attr(optimised, inline(always))]
    fn take_vector<const C: usize, const W: usize>(tile: &SharedTile<u32, C, W>, row: u32, vector: u32) -> VectorBits {
        ordered::<Self, _>(tile.get_vec4(row, vector_position::<Self>(row, 4 * vector, W)).lanes, row)
    }
}

impl TileElement for u64 {
    wide!(u64, 2, 0);
    vectors!(2);

    #[cfg_attr(optimised, inline(always))]
    fn put_vectors<const C: usize, const W: usize>(
        tile: &SharedTile<u64, C, W>,
        row: u32,
        col: u32,
        rows: [VectorBits; 4],
    ) {
        let [a, b, c, d] = each!(rows, |row| bits_as::<_, Vec2<u64>>(Vec4::new(row)).lanes);
        let two = |row, upper: [u64; 2], lower: [u64; 2]| {
            tile.set_vec(col, vector_position::<Self>(col, row, W), Vec2::new([upper[0], lower[0]]));
            tile.set_vec(col + 1, vector_position::<Self>(col + 1, row, W), Vec2::new([lower[1], upper[1]]));
        };
        two(row, a, b);
        two(row + 2, c, d);
    }

    #[cfg_attr(optimised, inline(always))]
    fn take_vector<const C: usize, const W: usize>(tile: &SharedTile<u64, C, W>, row: u32, vector: u32) -> VectorBits {
        let [a, b] = tile.get_vec::<2>(row, vector_position::<Self>(row, 2 * vector, W)).lanes;
        let ordered = if row & 1 == 0 { [a, b] } else { [b, a] };
        bits_as::<_, Vec4<u32>>(Vec2::new(ordered)).lanes
    }
}

impl TileElement for Vec4<u32> {
    wide!(Self, 1, Self::new([0; 4]));

    #[cfg_attr(optimised, inline(always))]
    fn has_aligned_vectors(_: &Window<Self>) -> bool {
        true
    }

    #[cfg_attr(optimised, inline(always))]
    fn load_vector(from: &Window<Self>, row: u32, col: u32) -> VectorBits {
        from.get_cs_or(row, col, Self::new([0; 4])).lanes
    }

    #[cfg_attr(optimised, inline(always))]
    fn store_vector(to: &WindowMut<Self>, row: u32, col: u32, vector: VectorBits) {
        to.set_cs_within(row, col, Self::new(vector));
    }

    #[cfg_attr(optimised, inline(always))]
    fn put_vectors<const C: usize, const W: usize>(
        tile: &SharedTile<Self, C, W>,
        row: u32,
        col: u32,
        rows: [VectorBits; 4],
    ) {
        for i in 0..4 {
            Self::put_square(tile, row + i, col, Self::new(rows[i as usize]));
        }
    }

    #[cfg_attr(optimised, inline(always))]
    fn take_vector<const C: usize, const W: usize>(tile: &SharedTile<Self, C, W>, row: u32, vector: u32) -> VectorBits {
        tile.get(row, position::<Self>(row, vector, W)).lanes
    }
}
