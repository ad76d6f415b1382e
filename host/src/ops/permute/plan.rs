//! The launches of a permutation: made once for a list of dimensions, then kept.
//!
//! The search for an N-dimensional tile takes 60 µs, twenty times as long as a launch.

use std::convert::Infallible;
use std::sync::Arc;

use gpu::transpose::permute as tiles_2d;
use gpu::transpose::strided;
use smallvec::SmallVec;

use super::dim_list::{Dim, array, split, strides};
use super::strategy::{Choice, Strategy};
use super::tile_nd::TileNd;
use crate::device::Device;
use crate::ops::move_kernels::{Extents, Strides};
use crate::ops::plan_cache;

/// How many bytes the widest element has: addresses count modulo that.
const WIDEST: usize = 16;

/// What the launches depend on besides the device.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    dims: SmallVec<[Dim; 6]>,
    size: usize,
    addresses: [usize; 2],
}

/// The launches of a device's permutations, by what they depend on.
type PlanCache = plan_cache::PlanCache<Key, Plan>;

/// The launches of a permutation.
#[derive(Debug)]
pub(super) struct Plan {
    /// Bytes of an element, the unit of extents and strides.
    pub(super) size: usize,
    pub(super) parts: Vec<Part>,
}

/// A launch, or a copy by the driver.
#[derive(Debug)]
pub(super) struct Part {
    /// The first element in A, and in B.
    pub(super) start: [usize; 2],
    /// Elements from the first to the last in A, and in B.
    pub(super) len: [usize; 2],
    pub(super) strides: (Strides, Strides),
    pub(super) work: Work,
}

/// What moves the elements.
#[derive(Debug)]
pub(super) enum Work {
    Copy,
    Tiles2d { grid: [u32; 2], extents: Extents },
    TilesNd { tile: TileNd, blocks: u32 },
    Elements { count: u32, extents: Extents },
}

impl Plan {
    /// The plan for elements of `size` bytes and extents above 0; `addresses` are those of the first elements.
    pub(super) fn of(
        device: &Device,
        dims: impl Iterator<Item = Dim>,
        size: usize,
        addresses: [usize; 2],
    ) -> Arc<Self> {
        let key = Key { dims: dims.collect(), size, addresses: addresses.map(|address| address % WIDEST) };
        let limits = device.limits().grid;
        let make = |key: &Key| Ok::<_, Infallible>(Arc::new(Self::new(key, limits)));
        let Ok(plan) = device.cache::<PlanCache>().get_or_make(key, make);
        plan
    }

    fn new(&Key { ref dims, size, addresses }: &Key, limits: [u32; 3]) -> Self {
        let Choice { strategy, size, dims } = Choice::new(dims.to_vec(), size, addresses);
        let work = |dims: &[Dim], (_, start): (usize, usize)| match strategy {
            Strategy::Contiguous => Some(Work::Copy),
            Strategy::Tiles2d => {
                let fits = dims.iter().all(|dim| u32::try_from(dim.extent).is_ok());
                let extents = array(dims, 1, |dim| dim.extent as u32);
                let [x, y] = tiles_2d::grid(size, extents);
                let fits = fits && x <= u64::from(limits[0]) && y <= u64::from(limits[1]);
                fits.then_some(Work::Tiles2d { grid: [x as u32, y as u32], extents })
            }
            Strategy::TilesNd => {
                let aligned = (addresses[1] + start * size).is_multiple_of(4);
                let tile = TileNd::new(dims, size, aligned)?;
                Some(Work::TilesNd { tile, blocks: tile.blocks()? })
            }
            Strategy::Elements => {
                let count = dims.iter().map(|dim| dim.extent).try_fold(1, usize::checked_mul);
                let count = count.filter(|&count| count <= strided::MOST as usize)? as u32;
                Some(Work::Elements { count, extents: array(dims, 1, |dim| dim.extent as u32) })
            }
        };
        let mut parts = Vec::new();
        split(&dims, (0, 0), &work, &mut |dims, (a, b), work| {
            let len =
                |stride: fn(&Dim) -> usize| 1 + dims.iter().map(|dim| (dim.extent - 1) * stride(dim)).sum::<usize>();
            let len = [len(|dim| dim.a), len(|dim| dim.b)];
            parts.push(Part { start: [a, b], len, strides: strides(dims), work });
        });
        Self { size, parts }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permutation_is_planned_once() {
        let device = Device::simulator();
        let known = || device.cache::<PlanCache>().len();
        let mut expected = 0;
        for (rows, cols, starts, is_new) in [
            (300, 3, [0, 0], true),
            (300, 3, [0, 0], false),
            (3, 300, [0, 0], true),
            (300, 4, [0, 0], true),
            // An address counts modulo 16 bytes.
            (300, 3, [1, 0], true),
            (300, 3, [0, 1], true),
            (300, 3, [4, 8], false),
            (300, 3, [5, 16], false),
            (300, 3, [0, 0], false),
        ] {
            let words: Vec<u32> = (0..rows * cols + 16).collect();
            let (a, mut b) = (device.upload(&words).unwrap(), device.upload(&words).unwrap());
            let [rows, cols] = [rows, cols].map(|extent| extent as usize);
            let [a_range, b_range] = starts.map(|start| start..start + rows * cols);
            let from = a.slice(a_range.clone()).unwrap().as_tensor(&[rows, cols]).unwrap();
            let to = b.slice_mut(b_range.clone()).unwrap().as_tensor(&[cols, rows]).unwrap();
            device.permute_into(from, &[1, 0], to).unwrap();
            expected += usize::from(is_new);
            assert_eq!(known(), expected, "{rows} x {cols} at {starts:?}");
            let moved = b.download().unwrap();
            let source = |i: usize| words[a_range.start + i % rows * cols + i / rows];
            assert!((0..rows * cols).all(|i| moved[b_range.start + i] == source(i)));
        }
    }
}
