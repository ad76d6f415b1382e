//! Raster order: tiles are numbered column by column within groups of rows.
//!
//! ```text
//!   0  4  8 12 │        The blocks that run at the same time, one tile each, read the same rows of A and columns
//!   1  5  9 13 │ group  of B, which the L2 cache holds.
//!   2  6 10 14 │
//!   3  7 11 15 │        A wave of 132 blocks of 128 × 256 in groups of 8 reads 1024 rows of A and 4224 columns of B.
//! ```

use core::num::NonZeroU32;

/// Rows of tiles in a raster group.
pub const RASTER_GROUP: u32 = 8;

/// The grids of tiles of a batch of matrices C, numbered one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Tiles {
    /// Rows of tiles of a matrix.
    pub rows: u32,
    /// Its columns of tiles.
    pub cols: u32,
}

impl Tiles {
    /// Tiles of a matrix.
    #[cfg_attr(optimised, inline(always))]
    #[must_use]
    pub const fn per_matrix(self) -> u32 {
        self.rows * self.cols
    }

    /// Matrix, row and column of a tile.
    ///
    /// ```
    /// use gpu::gemm::sm90::schedule::raster::Tiles;
    /// let tiles = Tiles { rows: 20, cols: 3 };
    /// assert_eq!((tiles.at(59), tiles.at(60), tiles.at(61)), ((0, 19, 2), (1, 0, 0), (1, 1, 0)));
    /// ```
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
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
/// use gpu::gemm::sm90::schedule::raster::{RASTER_GROUP, place};
/// assert_eq!((place(0, 20, 3), place(1, 20, 3), place(RASTER_GROUP, 20, 3)), ((0, 0), (1, 0), (0, 1)));
/// // The last group has 4 rows.
/// assert_eq!((place(48, 20, 3), place(52, 20, 3), place(59, 20, 3)), ((16, 0), (16, 1), (19, 2)));
/// ```
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn place(index: u32, rows: u32, cols: u32) -> (u32, u32) {
    let of_group = at_least_1(RASTER_GROUP.saturating_mul(cols));
    let first = index / of_group * RASTER_GROUP;
    let height = at_least_1(rows.saturating_sub(first).min(RASTER_GROUP));
    let within = index % of_group;
    (first + within % height, within / height)
}

/// What divides without a check.
#[cfg_attr(optimised, inline(always))]
fn at_least_1(x: u32) -> NonZeroU32 {
    NonZeroU32::new(x).unwrap_or(NonZeroU32::MIN)
}
