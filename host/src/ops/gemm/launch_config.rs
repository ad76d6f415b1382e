//! The launch configuration of a TMA kernel: tensor maps and grid, from the kernel's configuration and the operands.

use std::ops::Range;

use gpu::gemm::args::{STREAMS_A, STREAMS_B};
use gpu::gemm::number::Number;
use gpu::gemm::sm90::schedule::two_width::TwoWidth;
use simt::tma::Swizzle;

use super::configuration::{Configuration, TmaConfig};
use super::operands::OperandLayout;

/// Bytes of a row of a swizzled box.
const SWIZZLE_BYTES: usize = 128;
/// Bytes of an operand of which the L2 cache (50 MB) keeps little until the next launch: half of it.
const STREAMED_FROM: usize = 25 << 20;
/// Most rows or columns of the tile of the other operand: with 128, of which the cache must keep more, 8192 × 128 ×
/// 8192 takes 3 % longer.
const STREAMED_BESIDE: usize = 64;

/// The operands of one kernel launch: C = A·B for a range of k.
#[derive(Clone, Debug)]
pub(super) struct Operands {
    pub(super) a: OperandLayout,
    pub(super) b: OperandLayout,
    pub(super) c: OperandLayout,
    pub(super) batch: usize,
    pub(super) k: Range<usize>,
}

/// How many blocks a launch may have.
#[derive(Clone, Copy, Debug)]
pub(super) struct GridLimits {
    pub(super) sm_count: u32,
    /// Whether no more blocks may be launched than run on so many SMs at once.
    pub(super) is_sm_target: bool,
    /// Largest grid along x, y and z.
    pub(super) grid: [u32; 3],
}

/// A tensor map: a tensor of three axes (matrix, row and column in memory) and the box that one load or store moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MapConfig {
    /// The tensor's elements in the operand's buffer.
    pub(super) elements: Range<usize>,
    pub(super) shape: [usize; 3],
    pub(super) strides: [usize; 3],
    pub(super) box_shape: [u32; 3],
    pub(super) swizzle: Swizzle,
}

/// Tensor maps and grid of a TMA kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LaunchConfig {
    pub(super) a: MapConfig,
    pub(super) b: MapConfig,
    /// The map by which TMA stores C, if the kernel and C's layout allow it.
    pub(super) c: Option<MapConfig>,
    /// For A and B: 1 if the batch has matrices of its own, 0 if it has one for all.
    pub(super) batch_advance: [u32; 2],
    /// Clusters of the grid, without stream-K.
    pub(super) clusters: u32,
    /// [`STREAMS_A`] and [`STREAMS_B`].
    pub(super) flags: u32,
}

/// The launch configuration for a TMA kernel with this row, C having elements of `output_bytes` bytes.
pub(super) fn launch_config<T: Number>(
    configuration: &Configuration<T>,
    tma: TmaConfig,
    operands: &Operands,
    output_bytes: usize,
    limits: GridLimits,
) -> LaunchConfig {
    let Operands { a, b, c, batch, ref k } = *operands;
    let load_line = (SWIZZLE_BYTES / tma.operand_bytes()) as u32;
    let [a_edge, b_edge] = tma.box_edges();
    let load = |x: OperandLayout, start: usize, is_k_major: bool, edge: u32| {
        let (box_rows, box_cols, swizzle) = match tma {
            TmaConfig::Ffma(config) if !is_k_major => (config.depth, edge, Swizzle::None),
            _ if is_k_major => (edge, load_line, Swizzle::B128),
            _ => (load_line, load_line, Swizzle::B128),
        };
        map(x, start, if x.stride == 0 { 1 } else { batch }, ([1, box_rows, box_cols], swizzle))
    };
    let row_len = tma.row_len(k.len());
    let (a_part, b_part) = (OperandLayout { cols: row_len, ..a }, OperandLayout { rows: row_len, ..b });
    let store_rows = tma.store_box_rows(output_bytes).filter(|_| c.tma_storable(batch, output_bytes));
    // The map of C has elements of `T`: bytes where these have 8 bits.
    let times = output_bytes / size_of::<T>();
    let stored = OperandLayout { cols: c.cols * times, ld: c.ld * times, stride: c.stride * times, ..c };
    let store_line = (SWIZZLE_BYTES / size_of::<T>()) as u32;
    let from_a = load(a_part, a.offset(0, k.start), !a.transposed, a_edge);
    let from_b = load(b_part, b.offset(k.start, 0), b.transposed, b_edge);
    let [rows, cols] = configuration.tile.map(|edge| edge as usize);
    let streams = |x: OperandLayout, map: &MapConfig, (extent, edge): (usize, usize), flag: u32| {
        let is_loaded_once = extent <= edge.min(STREAMED_BESIDE) && (batch == 1 || x.stride != 0);
        if is_loaded_once && map.elements.len() * tma.operand_bytes() > STREAMED_FROM { flag } else { 0 }
    };
    LaunchConfig {
        flags: streams(a, &from_a, (c.cols, cols), STREAMS_A) | streams(b, &from_b, (c.rows, rows), STREAMS_B),
        a: from_a,
        b: from_b,
        c: store_rows.map(|box_rows| map(stored, 0, batch, ([1, box_rows, store_line], Swizzle::B128))),
        batch_advance: [a, b].map(|x| u32::from(x.stride != 0)),
        clusters: clusters(configuration, tma, operands, limits),
    }
}

/// The tensor map of `count` matrices that begin with element `start`.
pub(super) fn map(
    x: OperandLayout,
    start: usize,
    count: usize,
    (box_shape, swizzle): ([u32; 3], Swizzle),
) -> MapConfig {
    let [rows, cols] = x.stored_shape();
    MapConfig {
        elements: start..start + x.extent(count, x.rows, x.cols),
        shape: [count, rows, cols],
        strides: [x.stride, x.ld, 1],
        box_shape,
        swizzle,
    }
}

/// A cluster for each tile, but no more of a persistent kernel than run at the same time.
fn clusters<T: Number>(
    configuration: &Configuration<T>,
    tma: TmaConfig,
    Operands { c, batch, .. }: &Operands,
    limits: GridLimits,
) -> u32 {
    let [rows, cols] = configuration.tile;
    let slots = configuration.cluster_slots(limits.sm_count).min(limits.grid[0]);
    let tiles = tiles([c.rows, c.cols], [rows, cols]) as usize * batch;
    match tma {
        TmaConfig::Wgmma(config) if config.two_width => {
            let panels = c.rows.div_ceil(rows as usize) as u32 * *batch as u32;
            TwoWidth::new(panels, c.cols as u32, slots).count().min(slots)
        }
        TmaConfig::Wgmma(_) | TmaConfig::MmaF64(_) => tiles.min(slots as usize) as u32,
        TmaConfig::Ffma(_) => {
            let resident = configuration.resident_clusters(limits.sm_count);
            let most = if limits.is_sm_target { resident.min(limits.grid[0]) } else { limits.grid[0] };
            tiles.min(most as usize) as u32
        }
    }
}

/// Tiles of a matrix.
pub(super) fn tiles([height, width]: [usize; 2], [rows, cols]: [u32; 2]) -> u32 {
    (height.div_ceil(rows as usize) * width.div_ceil(cols as usize)) as u32
}
