//! Stream-K schedule: each block computes whole tiles, and a range of the steps of tiles that are split along k.
//!
//! ```text
//!  split tiles    │   0   │   1   │   2   │      their steps along k one after the other, S each, divided evenly:
//!  blocks         │ 0  │ 1  │ 2  │ 3  │ 4 │
//!                      └── block 1 has the end of tile 0, which it finishes, and the beginning of tile 1, for block 2
//!  other tiles: block b has tile split + b, split + b + blocks, …
//! ```
//!
//! The picture is of blocks that share tiles unevenly; where each tile has equally many, [`Blocks`] orders them
//! otherwise.
//!
//! Tiles that fill no wave of blocks then leave none idle (*stream-K*, Osama, Merrill, Cecka, Garland and Owens 2023).
//! The block that has the last steps of a tile finishes it, and needs the partials of those before. A block goes
//! through its range from the end to the beginning: first the tile whose end it lacks, whose partials it stores
//! (`fixup`); then whole tiles; last the tile whose beginning it lacks. It then waits only for
//! blocks of lower index, which store their partials first of all: so there is no circular wait, nor a wait for a block
//! that has not started, because blocks start in the order of their index.

/// Tiles to split along k, of `tiles`, among so many blocks: none if they fill whole waves, all if there is less than
/// one wave. Else those beyond the last whole wave; and that wave too if they are less than half of one, since then
/// more than two blocks would have to work on each.
///
/// ```
/// use gpu::gemm::sm90::schedule::stream_k::split_tiles;
/// assert_eq!([264, 32, 512, 688].map(|tiles| split_tiles(tiles, 132)), [0, 32, 116, 160]);
/// ```
#[must_use]
pub const fn split_tiles(tiles: u32, blocks: u32) -> u32 {
    if blocks == 0 {
        return 0;
    }
    let rest = tiles % blocks;
    if rest == 0 || rest >= blocks.div_ceil(2) || tiles < blocks { rest } else { rest + blocks }
}

/// [`split_tiles`] where a block continues the accumulation of the one before it: none if there is less than one wave,
/// since no tile is then done sooner. Else those beyond the last whole wave and that wave, so that no tile has more
/// than two blocks.
///
/// ```
/// use gpu::gemm::sm90::schedule::stream_k::split_tiles_in_order;
/// assert_eq!([528, 256, 1024, 4096].map(|tiles| split_tiles_in_order(tiles, 264)), [0, 0, 496, 400]);
/// ```
#[must_use]
pub const fn split_tiles_in_order(tiles: u32, blocks: u32) -> u32 {
    if blocks == 0 || tiles < blocks || tiles.is_multiple_of(blocks) { 0 } else { tiles % blocks + blocks }
}

/// The first step of block `block` of `blocks` among which `steps` steps are divided evenly, the first ones having one
/// more where that does not come out even.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
#[must_use]
pub const fn start(block: u32, blocks: u32, steps: u32) -> u32 {
    let blocks = if blocks == 0 { 1 } else { blocks };
    let (each, more) = (steps / blocks, steps % blocks);
    block * each + if block < more { block } else { more }
}

/// The blocks that share the steps of split tiles.
#[derive(Clone, Copy, Debug)]
pub struct Blocks {
    /// How many there are.
    pub count: u32,
    /// How many each tile has, if all have equally many; else 0.
    ///
    /// Then neighbouring blocks have the same part of neighbouring tiles: they load the same rows or columns at the
    /// same time, and those that add up a tile are the last to start.
    pub parts: u32,
    /// Tiles that are split.
    pub tiles: u32,
    /// Steps of a tile.
    pub steps: u32,
}

impl Blocks {
    /// The steps of block `block`, from the first to the one after the last.
    ///
    /// ```
    /// use gpu::gemm::sm90::schedule::stream_k::Blocks;
    /// // Two tiles of five steps: in three parts each, first the beginnings of both; among five blocks.
    /// let even = Blocks { count: 6, parts: 3, tiles: 2, steps: 5 };
    /// let ranges = [0, 1, 2, 3, 4, 5].map(|block| even.range(block));
    /// assert_eq!(ranges, [[0, 2], [5, 7], [2, 4], [7, 9], [4, 5], [9, 10]]);
    /// let uneven = Blocks { count: 5, parts: 0, ..even };
    /// assert_eq!([0, 1, 2, 3, 4].map(|block| uneven.range(block)), [[0, 2], [2, 4], [4, 6], [6, 8], [8, 10]]);
    /// ```
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    #[must_use]
    pub const fn range(self, block: u32) -> [u32; 2] {
        if self.tiles == 0 {
            return [0, 0];
        }
        if self.parts == 0 {
            let all = self.tiles * self.steps;
            return [start(block, self.count, all), start(block + 1, self.count, all)];
        }
        let (first, part) = (block % self.tiles * self.steps, block / self.tiles);
        [first + start(part, self.parts, self.steps), first + start(part + 1, self.parts, self.steps)]
    }

    /// How many blocks before a block the one is that has the steps before its own.
    #[cfg_attr(optimised, inline(always))]
    #[must_use]
    pub const fn distance(self) -> u32 {
        if self.parts == 0 { 1 } else { self.tiles }
    }

    /// How many blocks have steps of a tile, whose first is step `first`, before those of block `block`.
    ///
    /// ```
    /// use gpu::gemm::sm90::schedule::stream_k::Blocks;
    /// // Three tiles of five steps among five blocks, three each: of tile 1 blocks 1, 2 and 3 have one, three and one.
    /// let blocks = Blocks { count: 5, parts: 0, tiles: 3, steps: 5 };
    /// assert_eq!([1, 2, 3].map(|block| blocks.before(block, 5)), [0, 1, 2]);
    /// ```
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    #[must_use]
    pub const fn before(self, block: u32, first: u32) -> u32 {
        let (mut block, mut count) = (block, 0);
        while block >= self.distance() && self.range(block)[0] > first {
            block -= self.distance();
            count += 1;
        }
        count
    }
}

/// A work unit: steps `from..to` of one tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkUnit {
    /// Which tile.
    pub tile: u32,
    /// Its first step.
    pub from: u32,
    /// The step after its last.
    pub to: u32,
}

/// The work units that are left for a block.
#[derive(Clone, Copy, Debug)]
pub struct StreamK {
    /// Its range of the steps of split tiles.
    first: u32,
    end: u32,
    /// Its next whole tile.
    whole: u32,
    blocks: u32,
    tiles: u32,
    /// Steps of a tile.
    steps: u32,
}

impl StreamK {
    /// The work of block `block` on `tiles` tiles, of which the first ones are split among `blocks`.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    #[must_use]
    pub const fn new(block: u32, blocks: Blocks, tiles: u32) -> Self {
        let [first, end] = blocks.range(block);
        Self { first, end, whole: blocks.tiles + block, blocks: blocks.count, tiles, steps: blocks.steps }
    }

    /// The next work unit.
    ///
    /// ```
    /// use gpu::gemm::sm90::schedule::stream_k::{Blocks, StreamK, WorkUnit};
    /// // Block 1 of the picture: 3 tiles of 5 steps for 5 blocks.
    /// let mut schedule = StreamK::new(1, Blocks { count: 5, parts: 0, tiles: 3, steps: 5 }, 3);
    /// assert_eq!(schedule.next_unit(), Some(WorkUnit { tile: 1, from: 0, to: 1 }));
    /// assert_eq!(schedule.next_unit(), Some(WorkUnit { tile: 0, from: 3, to: 5 }));
    /// assert_eq!(schedule.next_unit(), None);
    /// ```
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub const fn next_unit(&mut self) -> Option<WorkUnit> {
        let steps = if self.steps == 0 { 1 } else { self.steps };
        if self.end > self.first {
            let tile = (self.end - 1) / steps;
            let start = tile * steps;
            let from = if self.first > start { self.first } else { start };
            let to = self.end - start;
            self.end = from;
            return Some(WorkUnit { tile, from: from - start, to });
        }
        let tile = self.whole;
        if tile >= self.tiles {
            return None;
        }
        self.whole = tile + self.blocks;
        Some(WorkUnit { tile, from: 0, to: steps })
    }

    /// Work unit number `number` of those that are left, from 0 on: for a kernel that has no registers for what comes
    /// after the present one.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    #[must_use]
    pub const fn unit(&self, number: u32) -> Option<WorkUnit> {
        let steps = if self.steps == 0 { 1 } else { self.steps };
        let mut shared = 0;
        if self.end > self.first {
            let last = (self.end - 1) / steps;
            shared = last + 1 - self.first / steps;
            if number < shared {
                let tile = last - number;
                let start = tile * steps;
                let from = self.first.saturating_sub(start);
                let to = if self.end - start < steps { self.end - start } else { steps };
                return Some(WorkUnit { tile, from, to });
            }
        }
        let tile = self.whole + (number - shared) * self.blocks;
        if tile < self.tiles { Some(WorkUnit { tile, from: 0, to: steps }) } else { None }
    }
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::*;

    /// Every step of every tile belongs to one block; the block that finishes a tile needs partials of blocks of lower
    /// index alone, each of which stores them once, before it finishes anything.
    #[test]
    fn every_step_is_done_once_without_a_circular_wait() {
        for count in 1..12 {
            for tiles in 0..30 {
                for steps in 1..8 {
                    for split in [split_tiles(tiles, count), tiles] {
                        let blocks = Blocks { count, parts: 0, tiles: split, steps };
                        check(blocks, tiles);
                        if split > 0 && count.is_multiple_of(split) {
                            check(Blocks { parts: count / split, ..blocks }, tiles);
                        }
                    }
                }
            }
        }
    }

    fn check(blocks: Blocks, tiles: u32) {
        let steps = blocks.steps;
        let mut seen = vec![0; (tiles * steps) as usize];
        for block in 0..blocks.count {
            let mut schedule = StreamK::new(block, blocks, tiles);
            let (all, mut stored, mut number) = (schedule, 0, 0);
            while let Some(WorkUnit { tile, from, to }) = schedule.next_unit() {
                assert_eq!(all.unit(number), Some(WorkUnit { tile, from, to }));
                assert!(from < to && to <= steps && tile < tiles);
                (tile * steps + from..tile * steps + to).for_each(|step| seen[step as usize] += 1);
                if to < steps {
                    assert_eq!((stored, number), (0, 0), "first, and once");
                    stored += 1;
                } else if from > 0 {
                    // Block for block down to the first step.
                    let mut of = block;
                    while blocks.range(of)[0] > tile * steps {
                        let before = of.checked_sub(blocks.distance()).expect("a block of lower index");
                        let [first, end] = blocks.range(before);
                        assert!(first < end && end == blocks.range(of)[0], "the steps before");
                        of = before;
                    }
                }
                number += 1;
            }
            assert_eq!(all.unit(number), None);
        }
        assert!(seen.iter().all(|&times| times == 1), "{blocks:?}, {tiles} tiles");
    }
}
