//! Which tile of C comes when.
//!
//! ```text
//!   0  4  8 12 │        Tiles are walked through in groups of GROUP rows, within a group column by column: the blocks that
//!   1  5  9 13 │ group  work at the same time, one tile each, then share rows of A and columns of B, which the L2 cache holds.
//!   2  6 10 14 │
//!   3  7 11 15 │        A wave of 132 blocks of 128 × 256 in groups of 8 takes 1024 rows of A and 4224 columns of B.
//! ```

use core::num::NonZeroU32;

/// Rows of tiles in a group.
pub const GROUP: u32 = 8;

/// Rows of a tile, or columns, that a block of a cluster has fetched at a time, where all blocks read so many: an equal part; where that
/// is no multiple of the 8 with which the pattern of swizzled boxes begins again, 16.
///
/// ```
/// use gpu::hopper::gemm::tiles::fetched;
/// assert_eq!((fetched(256, 1), fetched(256, 2), fetched(144, 4)), (256, 128, 16));
/// ```
#[must_use]
pub const fn fetched(edge: u32, cluster: u32) -> u32 {
    let part = edge / cluster;
    if part.is_multiple_of(8) { part } else { 16 }
}

/// The grids of tiles of the matrices C, which come one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Tiles {
    /// Rows of tiles of a matrix.
    pub rows: u32,
    /// Its columns of tiles.
    pub cols: u32,
}

impl Tiles {
    /// Tiles of a matrix.
    #[inline(always)]
    #[must_use]
    pub const fn per_matrix(self) -> u32 {
        self.rows * self.cols
    }

    /// Matrix, row and column of a tile.
    ///
    /// ```
    /// use gpu::hopper::gemm::tiles::Tiles;
    /// let tiles = Tiles { rows: 20, cols: 3 };
    /// assert_eq!((tiles.at(59), tiles.at(60), tiles.at(61)), ((0, 19, 2), (1, 0, 0), (1, 1, 0)));
    /// ```
    #[inline(always)]
    #[must_use]
    pub fn at(self, tile: u32) -> (u32, u32, u32) {
        let per_matrix = self.per_matrix();
        let matrix = tile / per_matrix.max(1);
        let (row, col) = place(tile - matrix * per_matrix, self.rows, self.cols);
        (matrix, row, col)
    }
}

/// Row and column of tile `index` in a grid of `rows` × `cols` tiles.
///
/// ```
/// use gpu::hopper::gemm::tiles::{GROUP, place};
/// assert_eq!((place(0, 20, 3), place(1, 20, 3), place(GROUP, 20, 3)), ((0, 0), (1, 0), (0, 1)));
/// // The last group has 4 rows.
/// assert_eq!((place(48, 20, 3), place(52, 20, 3), place(59, 20, 3)), ((16, 0), (16, 1), (19, 2)));
/// ```
#[inline(always)]
pub fn place(index: u32, rows: u32, cols: u32) -> (u32, u32) {
    let of_group = at_least_1(GROUP.saturating_mul(cols));
    let first = index / of_group * GROUP;
    let height = at_least_1(rows.saturating_sub(first).min(GROUP));
    let within = index % of_group;
    (first + within % height, within / height)
}

/// What divides without a check.
#[inline(always)]
fn at_least_1(x: u32) -> NonZeroU32 {
    NonZeroU32::new(x).unwrap_or(NonZeroU32::MIN)
}
