//! Grouped schedule: the tiles of products of different numbers of rows, which the device reads from memory.
//!
//! ```text
//!   offsets        0        3   3          8         rows of A and C, where a group ends and the next begins
//!   groups         │   0    │ 1 │    2     │
//!   tiles          │ 0 2    │   │ 4 7 10   │         tiles of two rows; group 2 has three rows of tiles and so on:
//!                  │ 1 3    │   │ 5 8 11   │         numbered in raster order within a group, then in the next
//!                                6 9 12
//! ```
//!
//! Block b of a persistent grid computes tiles b, b + blocks, b + 2·blocks … A warp finds the group of a tile with the
//! next 32 groups in its lanes: it reads 32 offsets at once, and adds up the tiles before each group by shuffles. As
//! tiles come in ascending order, each offset is read once by each warp.
//!
//! Tiles of a group follow each other, so the blocks that run at once read few matrices B, which the L2 cache holds.
//!
//! With so few groups that a warp has them all in its lanes, it knows how many tiles there are before it computes the
//! first: those that fill no wave of blocks are then split along k ([`work`]).

use simt::prelude::*;
use simt::warp::{lane_id, warp_shuffle_idx, warp_shuffle_up, warp_vote_ballot};

use super::raster::place;
use super::stream_k::{Blocks, StreamK, split_tiles};
use crate::unroll::{each, unroll};

/// Groups that a warp has in its lanes.
pub const WINDOW: u32 = 32;
/// What the fix-up of a split tile takes, in steps of the main loop.
pub const FIXUP_STEPS: u32 = 16;
/// Shuffles that add up a number of each lane: as many as double distances up to the window.
const SCAN_STEPS: usize = 5;
const ALL: u32 = u32::MAX;

/// A tile: of group `group`, whose rows end before `end`; its first row and its column of tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupTile {
    /// The group.
    pub group: u32,
    /// The first row, counted through all groups.
    pub row: u32,
    /// Where the group's rows end.
    pub end: u32,
    /// The column of tiles.
    pub col: u32,
}

/// Where the groups lie in the rows of A and C.
///
/// A group begins where the one before ends, and ends at its offset, but no earlier than it begins and within the rows
/// that there are: whatever the offsets are, a row belongs to one group at most.
#[derive(Clone, Copy, Debug)]
pub struct Groups<'a> {
    /// The end of each group; one element more where the first is the beginning of group 0, which is 0 otherwise.
    pub offsets: VecRef<'a, u32>,
    /// How many there are.
    pub count: u32,
    /// Rows of A and C.
    pub rows: u32,
}

/// The tiles of the groups, in ascending order. All lanes of a warp call each method together.
#[derive(Clone, Copy, Debug)]
pub struct GroupTiles<'a> {
    groups: Groups<'a>,
    /// Rows of a tile, and columns of tiles.
    height: u32,
    cols: u32,
    /// The group after those in the lanes.
    next: u32,
    /// Rows and tiles before that.
    row: u32,
    tiles: u32,
    /// Of this lane's group: its rows, and how many tiles there are up to its last.
    start: u32,
    end: u32,
    last: u32,
}

/// Tiles to split along k, of `tiles` of `steps` steps each, among so many blocks: [`split_tiles`] where that saves
/// each block more than the fix-up takes, and where no tile has more than three blocks.
///
/// ```
/// use gpu::gemm::sm90::schedule::grouped::worth_splitting;
/// assert_eq!([264, 4096, 230].map(|tiles| worth_splitting(tiles, 132, 112)), [0, 136, 98]);
/// // 33 blocks for each tile; a saving of 4 steps of 32, or of 7 of 8.
/// assert_eq!([(4, 112), (250, 32), (140, 8)].map(|(tiles, steps)| worth_splitting(tiles, 132, steps)), [0, 0, 0]);
/// ```
#[cfg_attr(target_arch = "nvptx64", inline(always))]
#[must_use]
pub const fn worth_splitting(tiles: u32, blocks: u32, steps: u32) -> u32 {
    if blocks == 0 || tiles < blocks.div_ceil(2) {
        return 0;
    }
    // Of the last wave so many blocks have no tile, and would wait for others.
    let idle = blocks - tiles % blocks;
    if idle as u64 * steps as u64 > FIXUP_STEPS as u64 * blocks as u64 { split_tiles(tiles, blocks) } else { 0 }
}

/// The work of block `block` on these tiles, which ends where [`GroupTiles::seek`] finds no more, and the blocks that
/// share split tiles: none with `splits` false, or with more groups than a warp has lanes.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn work(tiles: &mut GroupTiles<'_>, splits: bool, block: u32, blocks: u32, steps: u32) -> (StreamK, Blocks) {
    let split = if splits && tiles.groups.count <= WINDOW {
        tiles.advance();
        worth_splitting(tiles.tiles, blocks, steps)
    } else {
        0
    };
    let blocks = Blocks { count: blocks, parts: 0, tiles: split, steps };
    (StreamK::new(block, blocks, u32::MAX), blocks)
}

impl<'a> GroupTiles<'a> {
    /// The tiles of `height` rows, `cols` of them side by side.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    #[must_use]
    pub fn new(groups: Groups<'a>, height: u32, cols: u32) -> Self {
        let Groups { offsets, count, rows } = groups;
        let row = if offsets.len() > count as usize { offsets.get_or(0, 0).min(rows) } else { 0 };
        Self { groups, height, cols, next: 0, row, tiles: 0, start: 0, end: 0, last: 0 }
    }

    /// Tile number `tile`; none if there are fewer. With more groups than [`WINDOW`] it is no less than the one before.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn seek(&mut self, tile: u32) -> Option<GroupTile> {
        loop {
            let later = warp_vote_ballot(ALL, tile < self.last);
            if later != 0 {
                let lane = later.trailing_zeros();
                let [start, end, last] =
                    each!([self.start, self.end, self.last], |of_lane| warp_shuffle_idx(ALL, of_lane, lane, WINDOW).0);
                let rows = (end - start).div_ceil(self.height);
                let (row, col) = place(tile - (last - rows * self.cols), rows, self.cols);
                let group = self.next - WINDOW + lane;
                return Some(GroupTile { group, row: start + row * self.height, end, col });
            }
            if self.next >= self.groups.count {
                return None;
            }
            self.advance();
        }
    }

    /// Takes the next groups into the lanes.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn advance(&mut self) {
        let Groups { offsets, count, rows } = self.groups;
        let group = self.next + lane_id();
        let first = offsets.len().saturating_sub(count as usize);
        // Beyond the last group there are empty ones.
        let offset = if group < count { offsets.get_or(group as usize + first, 0).min(rows) } else { 0 };
        let mut end = offset.max(self.row);
        unroll!(for i in 0..SCAN_STEPS {
            // Without a lane so far below it is the lane's own.
            end = end.max(warp_shuffle_up(ALL, end, 1 << i, WINDOW).0);
        });
        let (before, has_before) = warp_shuffle_up(ALL, end, 1, WINDOW);
        let start = if has_before { before } else { self.row };
        let mut last = (end - start).div_ceil(self.height) * self.cols;
        unroll!(for i in 0..SCAN_STEPS {
            let (below, has_below) = warp_shuffle_up(ALL, last, 1 << i, WINDOW);
            last += if has_below { below } else { 0 };
        });
        last += self.tiles;
        self.row = warp_shuffle_idx(ALL, end, WINDOW - 1, WINDOW).0;
        self.tiles = warp_shuffle_idx(ALL, last, WINDOW - 1, WINDOW).0;
        (self.start, self.end, self.last) = (start, end, last);
        self.next += WINDOW;
    }
}
