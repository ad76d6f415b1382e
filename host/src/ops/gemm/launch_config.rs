//! The launch configuration of a TMA kernel: tensor maps and grid, from the kernel's configuration and the operands.

use std::ops::Range;
use std::sync::OnceLock;

use gpu::gemm::args::{STREAMS_A, STREAMS_B};
use gpu::gemm::number::Number;
use gpu::gemm::sm90::schedule::two_width::TwoWidth;
use simt::tma::Swizzle;

use super::configuration::{Configuration, TmaConfig};
use super::operands::OperandLayout;
use super::options::{Arithmetic, CALL};
use crate::error::{Error, Result};
use crate::memory::{Axes, TmaShape, TmaShapeMut};

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GridLimits {
    pub(super) sm_count: u32,
    /// Whether no more blocks may be launched than run on so many SMs at once.
    pub(super) is_sm_target: bool,
    /// Largest grid along x, y and z.
    pub(super) grid: [u32; 3],
}

/// An operand as TMA loads it: a tensor of three axes (matrix, row and column in memory).
#[derive(Debug)]
pub(super) struct OperandMap {
    /// Its first element in the operand's buffer.
    pub(super) start: usize,
    pub(super) shape: TmaShape,
}

/// Tensor maps and grid of a TMA kernel.
#[derive(Debug)]
pub(super) struct LaunchConfig {
    pub(super) a: OperandMap,
    pub(super) b: OperandMap,
    /// The map by which TMA stores C, if the kernel and C's layout allow it.
    pub(super) c: Option<TmaShapeMut>,
    /// For A and B: 1 if the batch has matrices of its own, 0 if it has one for all.
    pub(super) batch_advance: [u32; 2],
    /// Clusters of the grid, without stream-K.
    pub(super) clusters: u32,
    /// [`STREAMS_A`] and [`STREAMS_B`].
    pub(super) flags: u32,
}

/// The launch configuration that a plan had at its first call, for the next ones.
#[derive(Debug, Default)]
pub(super) struct KeptConfig(OnceLock<Box<(GridLimits, LaunchConfig)>>);

impl KeptConfig {
    /// The configuration, if it is for these limits. The first time it is what `make` makes for them.
    pub(super) fn get_or_make(
        &self,
        limits: GridLimits,
        make: impl FnOnce() -> Result<LaunchConfig>,
    ) -> Result<Option<&LaunchConfig>> {
        if self.0.get().is_none() {
            let made = Box::new((limits, make()?));
            self.0.get_or_init(|| made);
        }
        Ok(self.0.get().filter(|kept| kept.0 == limits).map(|kept| &kept.1))
    }
}

/// The launch configuration for a TMA kernel with this row, C having elements of `output_bytes` bytes.
pub(super) fn launch_config<T: Number>(
    configuration: &Configuration<T>,
    tma: TmaConfig,
    operands: &Operands,
    output_bytes: usize,
    limits: GridLimits,
) -> Result<LaunchConfig> {
    let Operands { a, b, c, batch, ref k } = *operands;
    let load_line = (SWIZZLE_BYTES / tma.operand_bytes()) as u32;
    let [a_edge, b_edge] = tma.box_edges();
    let load = |x: OperandLayout, start: usize, is_k_major: bool, edge: u32| {
        let (box_rows, box_cols, swizzle) = match tma {
            TmaConfig::Ffma(config) if !is_k_major => (config.depth, edge, Swizzle::None),
            _ if is_k_major => (edge, load_line, Swizzle::B128),
            _ => (load_line, load_line, Swizzle::B128),
        };
        let matrices = if x.stride == 0 { 1 } else { batch };
        let shape = TmaShape::new(tma.operand_bytes(), &axes(x, matrices)?, &[1, box_rows, box_cols], swizzle)?;
        let is_tf32 = configuration.arithmetic == Arithmetic::Tf32;
        Ok::<_, Error>(OperandMap { start, shape: if is_tf32 { shape.rounded_to_tf32() } else { shape } })
    };
    let row_len = tma.row_len(k.len());
    let (a_part, b_part) = (OperandLayout { cols: row_len, ..a }, OperandLayout { rows: row_len, ..b });
    let store_rows = tma.store_box_rows(output_bytes).filter(|_| c.tma_storable(batch, output_bytes));
    // The map of C has elements of `T`: bytes where these have 8 bits.
    let times = output_bytes / size_of::<T>();
    let stored = OperandLayout { cols: c.cols * times, ld: c.ld * times, stride: c.stride * times, ..c };
    let store_line = (SWIZZLE_BYTES / size_of::<T>()) as u32;
    let from_a = load(a_part, a.offset(0, k.start), !a.transposed, a_edge)?;
    let from_b = load(b_part, b.offset(k.start, 0), b.transposed, b_edge)?;
    let [rows, cols] = configuration.tile.map(|edge| edge as usize);
    let streams = |x: OperandLayout, map: &OperandMap, (extent, edge): (usize, usize), flag: u32| {
        let is_loaded_once = extent <= edge.min(STREAMED_BESIDE) && (batch == 1 || x.stride != 0);
        if is_loaded_once && map.shape.span() * tma.operand_bytes() > STREAMED_FROM { flag } else { 0 }
    };
    let to_c = |rows| TmaShapeMut::new(size_of::<T>(), &axes(stored, batch)?, &[1, rows, store_line], Swizzle::B128);
    Ok(LaunchConfig {
        flags: streams(a, &from_a, (c.cols, cols), STREAMS_A) | streams(b, &from_b, (c.rows, rows), STREAMS_B),
        a: from_a,
        b: from_b,
        c: store_rows.map(to_c).transpose()?,
        batch_advance: [a, b].map(|x| u32::from(x.stride != 0)),
        clusters: clusters(configuration, tma, operands, limits),
    })
}

/// The axes of `count` matrices as they are stored: matrix, row and column in memory.
pub(super) fn axes(x: OperandLayout, count: usize) -> Result<Axes> {
    let [rows, cols] = x.stored_shape();
    Axes::strided(CALL, &[count, rows, cols], &[x.stride, x.ld, 1])
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
