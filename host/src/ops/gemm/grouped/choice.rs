//! Which kernel computes a grouped product.

use gpu::gemm::args::GroupedGemmKernel;
use gpu::gemm::configs::WgmmaKernel;

use super::problem::GroupedProblem;
use super::{CALL, GroupedGemm, GroupedMultiply};
use crate::error::{ArgumentRule, BadArgument, Result};

/// Tiles that blocks count in 32 bits, the number of blocks added.
const MOST_TILES: usize = 1 << 31;

/// A kernel on tensor cores with its row of the table.
pub(super) type Entry<T> = WgmmaKernel<GroupedGemmKernel<T>>;

/// The kernel that was named, or the one that is estimated to be the fastest; none for the reference.
pub(super) fn choose<T: GroupedMultiply>(
    gemm: &GroupedGemm<'_, T>,
    problem: &GroupedProblem,
) -> Result<Option<&'static Entry<T>>> {
    let applies = |entry: &&Entry<T>| {
        gemm.device.has_kernel(entry.kernel.info()) && applies(entry, problem) && !problem.is_empty()
    };
    let Some(named) = gemm.kernel else {
        let cost = |entry: &&Entry<T>| cost(entry, problem, gemm.sm_count());
        return Ok(T::KERNELS.iter().filter(applies).min_by(|x, y| cost(x).total_cmp(&cost(y))));
    };
    if *named == *T::REFERENCE.info() {
        return Ok(None);
    }
    if let Some(entry) = T::KERNELS.iter().find(|entry| *entry.kernel.info() == *named).filter(applies) {
        return Ok(Some(entry));
    }
    let names: Vec<_> = T::KERNELS.iter().filter(applies).map(|entry| entry.kernel.info().name).collect();
    Err(BadArgument::new(ArgumentRule::Algorithm, CALL, "kernel")
        .expected(format_args!("{}, or one of: {}", T::REFERENCE.info().name, names.join(", ")))
        .found(named.name)
        .remedy("leave the choice to the call; kernels on tensor cores need rows at multiples of 16 bytes")
        .into())
}

/// Whether a kernel can compute the problem: TMA loads A and B, and tiles can be counted.
fn applies<T: GroupedMultiply>(entry: &Entry<T>, problem: &GroupedProblem) -> bool {
    let &GroupedProblem { m, n, k, groups, a, b, .. } = problem;
    let bytes = size_of::<T>();
    k > 0
        && !a.transposed
        && b.transposed == entry.layout.transpose_b
        && a.tma_loadable(1, bytes)
        && b.tma_loadable(groups, bytes)
        && most_tiles(entry, [m, n], groups) < MOST_TILES
}

/// Tiles, whatever the offsets: a group's last tile may have one row.
pub(super) fn most_tiles<T: GroupedMultiply>(entry: &Entry<T>, [m, n]: [usize; 2], groups: usize) -> usize {
    let [rows, cols] = entry.config.tile().map(|edge| edge as usize);
    (m.div_ceil(rows) + groups.min(m)).saturating_mul(n.div_ceil(cols))
}

/// The estimated time in FFMAs of an SM, if all groups had the mean number of rows: how long they are only the device
/// knows.
fn cost<T: GroupedMultiply>(entry: &Entry<T>, problem: &GroupedProblem, sm_count: u32) -> f64 {
    let &GroupedProblem { m, n, k, groups, .. } = problem;
    let [rows, cols] = entry.config.tile();
    let tiles = groups * m.div_ceil(groups).div_ceil(rows as usize) * n.div_ceil(cols as usize);
    let (waves, model) = (tiles.div_ceil(sm_count as usize) as f64, &entry.config.model);
    waves * f64::from(rows * cols) * (k as f64 + model.tile_overhead[0]) / model.efficiency[1]
}
