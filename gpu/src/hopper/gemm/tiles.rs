//! Which block computes which tiles of C, and in which order.

/// Rows of tiles that are walked through together, so that the blocks under way share rows of A and columns of B in the L2
/// cache.
pub const GROUP_: u32 = 8;

/// Place of tile `index` in a grid of `rows` × `cols` tiles: groups of `GROUP` rows, in each column by column.
#[inline(always)]
pub fn place<const GROUP: u32>(index: u32, rows: u32, cols: u32) -> (u32, u32) {
    let per_group = (GROUP * cols).max(1);
    let group = index / per_group;
    let first = group * GROUP;
    let height = rows.saturating_sub(first).clamp(1, GROUP);
    let within = index % per_group;
    (first + within % height, within / height)
}
