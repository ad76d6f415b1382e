//! Which tile of C comes when, and how wide it is.
//!
//! ```text
//!   band 0  │ 192 │ 192 │ 192 │128│128│     bands of 256 rows, those of all matrices one below the other
//!   band 1  │ 192 │ 192 │ 192 │128│128│
//!   band 2  │ 192 │ 192 │128│128│128│       at first all wide tiles, column by column in groups of bands, then the others
//! ```
//!
//! Wide tiles have the fewest bytes to load for each product. A block for each multiprocessor goes from tile to tile, so that
//! the time is that of whole rounds: as many rounds as are full are of wide tiles, and what is left of each band, less than a
//! round, is cut into narrow ones, which take two thirds of the time. In a round all blocks are at the same step along k, and
//! find in the L2 cache what another block has had loaded.

use crate::hopper::gemm::tiles::place;

/// Rows of a tile.
pub const ROWS: u32 = 256;
/// Columns of a wide tile.
pub const WIDE: u32 = 192;
/// Columns of a narrow tile.
pub const NARROW: u32 = 128;

/// A tile: its band, its first column, and whether it is a wide one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile {
    /// Which band of [`ROWS`] rows, counted through all matrices.
    pub band: u32,
    /// The first column.
    pub col: u32,
    /// [`WIDE`] or [`NARROW`] columns.
    pub is_wide: bool,
}

/// How bands of n columns are cut into tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mix {
    bands: u32,
    /// Wide tiles of a band,
    wide: u32,
    /// of which the first so many bands have one more.
    more: u32,
    /// Narrow tiles of these bands, and of the others.
    narrow: [u32; 2],
}

impl Mix {
    /// Words of 32 bits that it is.
    pub const WORDS: usize = 5;

    /// Calls `put` with each of its words and the number of that.
    #[inline(always)]
    #[track_caller]
    pub fn into_words(self, mut put: impl FnMut(u32, u32)) {
        let [first, second] = self.narrow;
        for (i, word) in (0..).zip([self.bands, self.wide, self.more, first, second]) {
            put(i, word);
        }
    }

    /// The one that has these words.
    #[inline(always)]
    #[must_use]
    #[track_caller]
    pub fn from_words(get: impl Fn(u32) -> u32) -> Self {
        Self { bands: get(0), wide: get(1), more: get(2), narrow: [get(3), get(4)] }
    }

    /// The cut for so many blocks: of two, full rounds of wide tiles and then narrow ones, or wide ones alone, that which takes less time.
    ///
    /// ```
    /// use gpu::hopper::wide::tiles::Mix;
    /// // 4096²: two rounds of 132 wide tiles, and one of 120 narrow ones.
    /// let mix = Mix::new(16, 4096, 132);
    /// assert_eq!((mix.count_wide(), mix.count(), mix.columns(132)), (264, 384, [2 * 192, 128]));
    /// // A round of wide tiles alone.
    /// assert_eq!(Mix::new(11, 2304, 132).columns(132), [192, 0]);
    /// ```
    #[inline(always)]
    #[must_use]
    pub const fn new(bands: u32, n: u32, blocks: u32) -> Self {
        let (bands_or_1, blocks) = (if bands == 0 { 1 } else { bands }, if blocks == 0 { 1 } else { blocks });
        // No wide tile of a full round reaches beyond n.
        let count = bands * (n / WIDE) / blocks * blocks;
        let (wide, more) = (count / bands_or_1, count % bands_or_1);
        let rest = n - wide * WIDE;
        let narrow = [rest.saturating_sub(WIDE).div_ceil(NARROW), rest.div_ceil(NARROW)];
        let mixed = Self { bands, wide, more, narrow };
        let all = Self { bands, wide: n.div_ceil(WIDE), more: 0, narrow: [0, 0] };
        let ([wide, narrow], [alone, _]) = (mixed.columns(blocks), all.columns(blocks));
        if wide + narrow <= alone { mixed } else { all }
    }

    /// Wide tiles.
    #[inline(always)]
    #[must_use]
    pub const fn count_wide(&self) -> u32 {
        self.bands * self.wide + self.more
    }

    /// Tiles.
    #[inline(always)]
    #[must_use]
    pub const fn count(&self) -> u32 {
        self.count_wide() + self.more * self.narrow[0] + (self.bands - self.more) * self.narrow[1]
    }

    /// Columns of tiles that the block with most work has, where so many blocks go from tile to tile: in wide ones, and in narrow ones.
    #[inline(always)]
    #[must_use]
    pub const fn columns(&self, blocks: u32) -> [u32; 2] {
        let blocks = if blocks == 0 { 1 } else { blocks };
        // Narrow tiles come after full rounds.
        let narrow = self.count() - self.count_wide();
        [self.count_wide().div_ceil(blocks) * WIDE, narrow.div_ceil(blocks) * NARROW]
    }

    /// Tile number `tile`.
    ///
    /// ```
    /// use gpu::hopper::wide::tiles::{Mix, Tile};
    /// let mix = Mix::new(3, 700, 8);
    /// let tiles: Vec<Tile> = (0..mix.count()).map(|tile| mix.at(tile)).collect();
    /// assert_eq!(tiles[0], Tile { band: 0, col: 0, is_wide: true });
    /// assert_eq!(tiles[7], Tile { band: 1, col: 2 * 192, is_wide: true });
    /// assert_eq!(tiles[8], Tile { band: 0, col: 3 * 192, is_wide: false });
    /// assert_eq!(tiles[11], Tile { band: 2, col: 2 * 192 + 128, is_wide: false });
    /// ```
    #[inline(always)]
    #[must_use]
    pub fn at(&self, tile: u32) -> Tile {
        let even = self.bands * self.wide;
        if tile < even {
            let (band, col) = place(tile, self.bands, self.wide);
            return Tile { band, col: col * WIDE, is_wide: true };
        }
        let tile = tile - even;
        if tile < self.more {
            return Tile { band: tile, col: self.wide * WIDE, is_wide: true };
        }
        let tile = tile - self.more;
        let with_more = self.more * self.narrow[0];
        let (first, wide, (band, col)) = if tile < with_more {
            (0, self.wide + 1, place(tile, self.more, self.narrow[0]))
        } else {
            (self.more, self.wide, place(tile - with_more, self.bands - self.more, self.narrow[1]))
        };
        Tile { band: first + band, col: wide * WIDE + col * NARROW, is_wide: false }
    }
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::*;

    /// Every column of every band belongs to one tile, none begins beyond n, and wide ones come in full rounds before all others.
    #[test]
    fn tiles_cover_every_band_once() {
        for blocks in [1, 2, 7, 132] {
            for bands in 1..20 {
                for n in (1..1500).step_by(37).chain([64, 128, 192, 256, 384, 4096]) {
                    let mix = Mix::new(bands, n, blocks);
                    let mut ends = vec![Vec::new(); bands as usize];
                    for number in 0..mix.count() {
                        let Tile { band, col, is_wide } = mix.at(number);
                        assert_eq!(is_wide, number < mix.count_wide());
                        assert!(col < n, "{mix:?}: tile {number} begins at {col} of {n}");
                        ends[band as usize].push((col, col + if is_wide { WIDE } else { NARROW }));
                    }
                    for tiles in &mut ends {
                        tiles.sort_unstable();
                        assert_eq!(tiles[0].0, 0, "{mix:?}");
                        assert!(tiles.windows(2).all(|pair| pair[0].1 == pair[1].0), "{mix:?}: {tiles:?}");
                        assert!(tiles[tiles.len() - 1].1 >= n, "{mix:?}: {tiles:?} for {n}");
                    }
                    let is_mixed = mix.count() > mix.count_wide();
                    assert!(!is_mixed || mix.count_wide().is_multiple_of(blocks), "{mix:?}");
                }
            }
        }
    }

    /// What is left never makes more than a round that wide tiles would have made too.
    #[test]
    fn narrow_tiles_save_time_or_are_not_there() {
        for bands in 1..70 {
            for n in (64..20_000).step_by(511) {
                let mix = Mix::new(bands, n, 132);
                let wide = (bands * n.div_ceil(WIDE)).div_ceil(132) * WIDE;
                assert!(mix.columns(132).iter().sum::<u32>() <= wide, "{mix:?}");
            }
        }
    }
}
