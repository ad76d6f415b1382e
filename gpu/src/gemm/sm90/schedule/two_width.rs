//! Two-width schedule: wide tiles in full waves, narrow tiles for the rest.
//!
//! ```text
//!   row panel 0  │ 192 │ 192 │ 192 │128│128│     row panels of 256 rows, those of all matrices one below the other
//!   row panel 1  │ 192 │ 192 │ 192 │128│128│
//!   row panel 2  │ 192 │ 192 │128│128│128│       first all wide tiles in raster order, then the narrow ones
//! ```
//!
//! Wide tiles load the fewest bytes for each multiply-add. One block per SM computes tile after tile, so that the time
//! is that of whole waves: as many waves as are full are of wide tiles, and what is left of each row panel, less than a
//! wave, is cut into narrow tiles, which take two thirds of the time. In a wave all blocks are at the same step along
//! k, and find in the L2 cache what another block has loaded.

use super::raster::place;

/// Rows of a tile.
pub const ROWS: u32 = 256;
/// Columns of a wide tile.
pub const WIDE: u32 = 192;
/// Columns of a narrow tile.
pub const NARROW: u32 = 128;

/// A tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile {
    /// Its panel of [`ROWS`] rows, counted through all matrices.
    pub panel: u32,
    /// The first column.
    pub col: u32,
    /// [`WIDE`] or [`NARROW`] columns.
    pub is_wide: bool,
}

/// How row panels of n columns are cut into tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TwoWidth {
    panels: u32,
    /// Wide tiles of a panel,
    wide: u32,
    /// of which the first panels, so many, have one more.
    more: u32,
    /// Narrow tiles of these panels, and of the others.
    narrow: [u32; 2],
}

impl TwoWidth {
    /// Words of 32 bits that it is.
    pub const WORDS: usize = 5;

    /// Calls `put` with each of its words and the number of that.
    #[cfg_attr(optimised, inline(always))]
    pub fn into_words(self, mut put: impl FnMut(u32, u32)) {
        let [first, second] = self.narrow;
        for (i, word) in (0..).zip([self.panels, self.wide, self.more, first, second]) {
            put(i, word);
        }
    }

    /// The one that has these words.
    #[cfg_attr(optimised, inline(always))]
    #[must_use]
    pub fn from_words(get: impl Fn(u32) -> u32) -> Self {
        Self { panels: get(0), wide: get(1), more: get(2), narrow: [get(3), get(4)] }
    }

    /// The cut for so many blocks: of two, full rounds of wide tiles and then narrow ones, or wide ones alone, that
    /// which takes less time.
    ///
    /// ```
    /// use gpu::gemm::sm90::schedule::two_width::TwoWidth;
    /// // 4096²: two rounds of 132 wide tiles, and one of 120 narrow ones.
    /// let schedule = TwoWidth::new(16, 4096, 132);
    /// assert_eq!((schedule.count_wide(), schedule.count(), schedule.columns(132)), (264, 384, [2 * 192, 128]));
    /// // A round of wide tiles alone.
    /// assert_eq!(TwoWidth::new(11, 2304, 132).columns(132), [192, 0]);
    /// ```
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    #[must_use]
    pub const fn new(panels: u32, n: u32, blocks: u32) -> Self {
        let (panels_or_1, blocks) = (if panels == 0 { 1 } else { panels }, if blocks == 0 { 1 } else { blocks });
        // No wide tile of a full round reaches beyond n.
        let count = panels * (n / WIDE) / blocks * blocks;
        let (wide, more) = (count / panels_or_1, count % panels_or_1);
        let rest = n - wide * WIDE;
        let narrow = [rest.saturating_sub(WIDE).div_ceil(NARROW), rest.div_ceil(NARROW)];
        let mixed = Self { panels, wide, more, narrow };
        let all = Self { panels, wide: n.div_ceil(WIDE), more: 0, narrow: [0, 0] };
        let ([wide, narrow], [alone, _]) = (mixed.columns(blocks), all.columns(blocks));
        if wide + narrow <= alone { mixed } else { all }
    }

    /// Wide tiles.
    #[cfg_attr(optimised, inline(always))]
    #[must_use]
    pub const fn count_wide(&self) -> u32 {
        self.panels * self.wide + self.more
    }

    /// Tiles.
    #[cfg_attr(optimised, inline(always))]
    #[must_use]
    pub const fn count(&self) -> u32 {
        self.count_wide() + self.more * self.narrow[0] + (self.panels - self.more) * self.narrow[1]
    }

    /// Columns of tiles that the block with most work has, where so many blocks go from tile to tile: in wide ones, and
    /// in narrow ones.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
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
    /// use gpu::gemm::sm90::schedule::two_width::{TwoWidth, Tile};
    /// let schedule = TwoWidth::new(3, 700, 8);
    /// let tiles: Vec<Tile> = (0..schedule.count()).map(|tile| schedule.at(tile)).collect();
    /// assert_eq!(tiles[0], Tile { panel: 0, col: 0, is_wide: true });
    /// assert_eq!(tiles[7], Tile { panel: 1, col: 2 * 192, is_wide: true });
    /// assert_eq!(tiles[8], Tile { panel: 0, col: 3 * 192, is_wide: false });
    /// assert_eq!(tiles[11], Tile { panel: 2, col: 2 * 192 + 128, is_wide: false });
    /// ```
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    #[must_use]
    pub fn at(&self, tile: u32) -> Tile {
        let even = self.panels * self.wide;
        if tile < even {
            let (panel, col) = place(tile, self.panels, self.wide);
            return Tile { panel, col: col * WIDE, is_wide: true };
        }
        let tile = tile - even;
        if tile < self.more {
            return Tile { panel: tile, col: self.wide * WIDE, is_wide: true };
        }
        let tile = tile - self.more;
        let with_more = self.more * self.narrow[0];
        let (first, wide, (panel, col)) = if tile < with_more {
            (0, self.wide + 1, place(tile, self.more, self.narrow[0]))
        } else {
            (self.more, self.wide, place(tile - with_more, self.panels - self.more, self.narrow[1]))
        };
        Tile { panel: first + panel, col: wide * WIDE + col * NARROW, is_wide: false }
    }
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::*;

    /// Every column of every row panel belongs to one tile, none begins beyond n, and wide ones come in full rounds
    /// before all others.
    #[test]
    fn tiles_cover_every_panel_once() {
        for blocks in [1, 2, 7, 132] {
            for panels in 1..20 {
                for n in (1..1500).step_by(37).chain([64, 128, 192, 256, 384, 4096]) {
                    let schedule = TwoWidth::new(panels, n, blocks);
                    let mut ends = vec![Vec::new(); panels as usize];
                    for number in 0..schedule.count() {
                        let Tile { panel, col, is_wide } = schedule.at(number);
                        assert_eq!(is_wide, number < schedule.count_wide());
                        assert!(col < n, "{schedule:?}: tile {number} begins at {col} of {n}");
                        ends[panel as usize].push((col, col + if is_wide { WIDE } else { NARROW }));
                    }
                    for tiles in &mut ends {
                        tiles.sort_unstable();
                        assert_eq!(tiles[0].0, 0, "{schedule:?}");
                        assert!(tiles.windows(2).all(|pair| pair[0].1 == pair[1].0), "{schedule:?}: {tiles:?}");
                        assert!(tiles[tiles.len() - 1].1 >= n, "{schedule:?}: {tiles:?} for {n}");
                    }
                    let is_mixed = schedule.count() > schedule.count_wide();
                    assert!(!is_mixed || schedule.count_wide().is_multiple_of(blocks), "{schedule:?}");
                }
            }
        }
    }

    /// What is left never makes more than a round that wide tiles would have made too.
    #[test]
    fn narrow_tiles_save_time_or_are_not_there() {
        for panels in 1..70 {
            for n in (64..20_000).step_by(511) {
                let schedule = TwoWidth::new(panels, n, 132);
                let wide = (panels * n.div_ceil(WIDE)).div_ceil(132) * WIDE;
                assert!(schedule.columns(132).iter().sum::<u32>() <= wide, "{schedule:?}");
            }
        }
    }
}
