//! What each block multiplies: whole tiles, and a range of the steps of tiles that are shared.
//!
//! ```text
//!  tiles shared   │   0   │   1   │   2   │      their steps along k one after the other, S each, cut evenly:
//!  blocks         │ 0  │ 1  │ 2  │ 3  │ 4 │
//!                      └── block 1 has the end of tile 0, which it finishes, and the beginning of tile 1, which block 2 does
//!  the other tiles: block b has tile shared + b, shared + b + blocks, …
//! ```
//!
//! So that tiles which fill no wave of blocks leave none idle (*stream-K*, Osama, Merrill, Cecka, Garland and Owens 2023). Who has
//! the last steps of a tile finishes it, and needs the sums of those before. A block goes through its range from the end to the
//! beginning: first the tile of which it has no end, whose sums it hands on (`parts`); then tiles that it has
//! whole; at last the tile of which it has no beginning. It then waits for blocks of lower index alone, and these hand on first of
//! all, so nobody waits in a circle, nor for a block that has not started: blocks start in the order of their index.

/// Tiles that are cut along k, of `tiles`, where so many blocks share the work: none if they fill its waves, all if there is less than
/// one wave. Else those beyond the last whole wave; and that wave too if they are less than half of one, since then more than
/// two blocks would have to share each.
///
/// ```
/// use gpu::hopper::gemm::share::shared;
/// assert_eq!([264, 32, 512, 688].map(|tiles| shared(tiles, 132)), [0, 32, 116, 160]);
/// ```
#[must_use]
pub const fn shared(tiles: u32, blocks: u32) -> u32 {
    if blocks == 0 {
        return 0;
    }
    let rest = tiles % blocks;
    if rest == 0 || rest >= blocks.div_ceil(2) || tiles < blocks { rest } else { rest + blocks }
}

/// [`shared`] where a block goes on with the sums of the one before it: none if there is less than one wave, for no tile is then done
/// sooner. Else those beyond the last whole wave and that wave, so that no tile has more than two blocks.
///
/// ```
/// use gpu::hopper::gemm::share::shared_in_order;
/// assert_eq!([528, 256, 1024, 4096].map(|tiles| shared_in_order(tiles, 264)), [0, 0, 496, 400]);
/// ```
#[must_use]
pub const fn shared_in_order(tiles: u32, blocks: u32) -> u32 {
    if blocks == 0 || tiles < blocks || tiles.is_multiple_of(blocks) { 0 } else { tiles % blocks + blocks }
}

/// The range of block `block` of `blocks` that share `steps` steps evenly: where it begins. Those of the first blocks are
/// longer by one, where it must be.
#[inline(always)]
#[must_use]
pub const fn start(block: u32, blocks: u32, steps: u32) -> u32 {
    let blocks = if blocks == 0 { 1 } else { blocks };
    let (each, more) = (steps / blocks, steps % blocks);
    block * each + if block < more { block } else { more }
}

/// Steps of one tile: `from..to` of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Which tile.
    pub tile: u32,
    /// Its first step.
    pub from: u32,
    /// The step after its last.
    pub to: u32,
}

/// What is left for a block to do.
#[derive(Clone, Copy, Debug)]
pub struct Share {
    /// Its range of the steps of shared tiles.
    first: u32,
    end: u32,
    /// Its next whole tile.
    whole: u32,
    blocks: u32,
    tiles: u32,
    /// Steps of a tile.
    steps: u32,
}

impl Share {
    /// The share of block `block` of `blocks` in `tiles` tiles of `steps` steps, of which the first `shared` are cut.
    #[inline(always)]
    #[must_use]
    pub const fn new([block, blocks]: [u32; 2], tiles: u32, shared: u32, steps: u32) -> Self {
        let all = shared * steps;
        let (first, end) = (start(block, blocks, all), start(block + 1, blocks, all));
        Self { first, end, whole: shared + block, blocks, tiles, steps }
    }

    /// The next piece.
    ///
    /// ```
    /// use gpu::hopper::gemm::share::{Piece, Share};
    /// // Block 1 of the picture: 3 tiles of 5 steps for 5 blocks.
    /// let mut share = Share::new([1, 5], 3, 3, 5);
    /// assert_eq!(share.next_piece(), Some(Piece { tile: 1, from: 0, to: 1 }));
    /// assert_eq!(share.next_piece(), Some(Piece { tile: 0, from: 3, to: 5 }));
    /// assert_eq!(share.next_piece(), None);
    /// ```
    #[inline(always)]
    pub const fn next_piece(&mut self) -> Option<Piece> {
        let steps = if self.steps == 0 { 1 } else { self.steps };
        if self.end > self.first {
            let tile = (self.end - 1) / steps;
            let start = tile * steps;
            let from = if self.first > start { self.first } else { start };
            let to = self.end - start;
            self.end = from;
            return Some(Piece { tile, from: from - start, to });
        }
        let tile = self.whole;
        if tile >= self.tiles {
            return None;
        }
        self.whole = tile + self.blocks;
        Some(Piece { tile, from: 0, to: steps })
    }
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::*;

    /// Every step of every tile belongs to one block; who finishes a tile finds all that it needs with blocks of lower index, each of
    /// which hands on once, before it finishes anything.
    #[test]
    fn every_step_is_done_once_and_nobody_waits_in_a_circle() {
        for blocks in 1..12 {
            for tiles in 0..30 {
                for steps in 1..8 {
                    for cut in [shared(tiles, blocks), tiles] {
                        check(blocks, tiles, cut, steps);
                    }
                }
            }
        }
    }

    fn check(blocks: u32, tiles: u32, cut: u32, steps: u32) {
        let mut seen = vec![0; (tiles * steps) as usize];
        for block in 0..blocks {
            let mut share = Share::new([block, blocks], tiles, cut, steps);
            let (mut handed_on, mut number) = (0, 0);
            while let Some(Piece { tile, from, to }) = share.next_piece() {
                assert!(from < to && to <= steps && tile < tiles);
                (tile * steps + from..tile * steps + to).for_each(|step| seen[step as usize] += 1);
                if to < steps {
                    assert_eq!((handed_on, number), (0, 0), "first, and once");
                    handed_on += 1;
                } else if from > 0 {
                    // Block for block down to the first step.
                    let first = (0..block).rev().find(|&other| start(other, blocks, cut * steps) <= tile * steps);
                    assert!(first.is_some());
                }
                number += 1;
            }
        }
        assert!(seen.iter().all(|&times| times == 1), "{blocks} blocks, {tiles} tiles, {cut} shared, {steps} steps");
    }
}
