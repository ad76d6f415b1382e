//! Raster order of the tiles of kernels with a block per tile.

/// Rows of C in a raster group: see [`tile_of`].
const GROUP_ROWS: u32 = 2048;

/// First row and column of tile number `block` of an m × n matrix in tiles of `rows` × `cols`. Tiles are numbered
/// column by column in a group of [`GROUP_ROWS`] rows, then in the group below: the tiles that run at once need few
/// rows of A and few columns of B, and find them in the L2 cache.
#[cfg_attr(optimised, inline(always))]
pub(crate) fn tile_of(block: u32, [rows, cols]: [u32; 2], m: u32, n: u32) -> (u32, u32) {
    let (down, across) = (m.div_ceil(rows), n.div_ceil(cols));
    let group = GROUP_ROWS / rows;
    let above = block.checked_div(group * across).unwrap_or(0) * group;
    let height = (down - above).min(group);
    let within = block - above * across;
    let col = within.checked_div(height).unwrap_or(0);
    ((above + within - col * height) * rows, col * cols)
}
