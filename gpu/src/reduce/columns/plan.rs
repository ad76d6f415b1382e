//! How threads and blocks share columns, from shapes and alignment alone: it decides the order of merges.

use super::unit::{BATCH, SPREAD_BATCH};
use crate::reduce::along::{THREADS, TICKETS};

/// Threads side by side at most where lines are long: 512 bytes of each row.
const ACROSS: u64 = 32;
/// Blocks that keep a GPU evenly busy to the end.
const PLENTY: u64 = 4224;
/// Tiles from which no line is shared by blocks.
const ENOUGH: u64 = PLENTY / 2;
/// Blocks that fill a GPU in two equal turns.
const FULL: u64 = 1056;
/// Words of all states of a tile that one block merges in a few microseconds.
const MERGED: u64 = 10_240;
/// Least bytes of a piece.
const PIECE: u64 = 1 << 15;

/// What the units of a kernel are: values of the first number of its `cut`. One line to a thread; a vector of neighbouring lines;
/// some lines to a thread, each TX from the next.
pub(crate) const SINGLE: u32 = 0;
pub(crate) const VECTORS: u32 = 1;
pub(crate) const SPREAD: u32 = 2;

/// Lines of a thread where they are spread, of elements of `bytes` bytes: 16 bytes, but no more than four lines.
pub(crate) const fn spread(bytes: u64) -> u64 {
    if bytes < 4 { 4 } else { 16 / bytes }
}

/// Lines: how many units of them, and of what.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Units: vectors of lines, or lines.
    pub units: u32,
    /// Lines of a unit.
    pub per: u64,
    /// Elements of a line.
    pub length: u64,
    /// Bytes of an element.
    pub bytes: u64,
    /// Words of a state.
    pub state: u64,
    /// Whether the elements of a line lie nearer to each other than lines do.
    pub along: bool,
}

/// How the kernels go about them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Blocks.
    pub blocks: u32,
    /// Elements of a line for a block.
    pub per_piece: u64,
    /// What the kernel is told: what its units are, the logarithm of the threads side by side, tiles, pieces.
    pub cut: [u32; 4],
    /// Lines of a tile.
    lines: u64,
    state: u64,
}

impl Plan {
    /// The plan; there is a unit at least.
    ///
    /// ```
    /// use gpu::reduce::columns::plan::{Plan, Shape};
    /// let shape = |units, length| Shape { units, per: 4, length, bytes: 4, state: 1, along: false };
    /// // 16 rows of 2²⁴ floats: a thread for each 4 columns.
    /// assert_eq!(Plan::new(shape(1 << 22, 16)).cut, [1, 8, 1 << 14, 1]);
    /// // 2²⁰ rows of 256 floats: 128 blocks for each 32 columns.
    /// assert_eq!(Plan::new(shape(64, 1 << 20)).cut, [1, 3, 8, 128]);
    /// // 33 rows of 8134407 floats, no two aligned alike: 4 columns to a thread, 128 from one to the next.
    /// let odd = Shape { per: 1, ..shape(8_134_407, 33) };
    /// assert_eq!(Plan::new(odd).cut, [2, 7, 15_888, 1]);
    /// ```
    pub fn new(shape: Shape) -> Self {
        let Shape { units, per, length, bytes, state, along } = shape;
        let units = u64::from(units.max(1));
        let most_down = if along { u64::from(THREADS) } else { u64::from(THREADS) / ACROSS };
        let down = below(length / (2 * u64::from(BATCH)), most_down);
        // Lines beside 16-byte boundaries, enough for each access of a warp to be of 32 neighbours.
        let is_spread = per == 1 && !along && units >= 32 * spread(bytes);
        let (per, least_across) = if is_spread { (spread(bytes), 32) } else { (per, 8) };
        let units = if is_spread { units.div_ceil(per) } else { units };
        let mut across = (u64::from(THREADS) / down).min(units.next_power_of_two());
        let tiles = |across: u64| units.div_ceil(across);
        let most = |across: u64| (MERGED / (across * per * state)).max(1);
        let long = |across: u64| length >= 2 * u64::from(BATCH) * u64::from(THREADS) / across;
        while across > least_across && tiles(across) * most(across) < FULL && long(across / 2) {
            across /= 2;
        }
        let (tiles, most) = (tiles(across), most(across));
        let wanted = if tiles < ENOUGH { PLENTY.div_ceil(tiles) } else { 1 };
        let worth = length.saturating_mul(across * per * bytes) / PIECE;
        let mut pieces = wanted.min(worth).max(1);
        if pieces > most {
            pieces = most.min((FULL / tiles).max(1));
        }
        let turn = u64::from(BATCH) * u64::from(THREADS) / across;
        // A window of a piece has at most 2³² − 1 rows.
        let per_piece = length.div_ceil(pieces).max(1).next_multiple_of(turn).min(1 << 31);
        let pieces = length.div_ceil(per_piece).max(1);
        let kind = match (is_spread, per) {
            (true, _) => SPREAD,
            (_, 1) => SINGLE,
            _ => VECTORS,
        };
        let cut = [kind, across.trailing_zeros(), tiles as u32, pieces as u32];
        Self { blocks: (tiles * pieces) as u32, per_piece, cut, lines: across * per, state }
    }

    /// 8-byte words of a workspace: 0 if none is needed.
    pub fn workspace_words(&self) -> usize {
        let [_, _, tiles, pieces] = self.cut.map(u64::from);
        if pieces == 1 { 0 } else { TICKETS + (tiles * pieces * self.lines * self.state) as usize }
    }

    /// The most merges that an element passes through.
    pub fn depth(&self) -> u64 {
        let [_, shift, _, pieces] = self.cut.map(u64::from);
        let down = u64::from(THREADS) >> shift;
        let batch = if self.cut[0] == SPREAD { SPREAD_BATCH } else { BATCH };
        let turns = self.per_piece.div_ceil(u64::from(batch) * down);
        let last = if pieces == 1 { 0 } else { pieces + u64::from(THREADS) / self.lines.min(u64::from(THREADS)) };
        u64::from(BATCH) + turns + 1 + 5 + 8 + last
    }
}

/// The greatest power of two that is at most `x` and `most`, a power of two; at least 1.
fn below(x: u64, most: u64) -> u64 {
    if x >= most { most } else { 1 << x.max(1).ilog2() }
}
