//! The lines of a tensor along an axis, and how a kernel reduces them.

use gpu::reduce::along::dims::DIMS;
use gpu::reduce::{columns, rows};
use smallvec::SmallVec;

use crate::error::{ArgumentRule, BadArgument, Result};
use crate::memory::{Axes, MOST_AXES};

/// Maximum lines of a launch: kernels count them in 32 bits, and round up.
const MAX_LINES: usize = u32::MAX as usize - (1 << 12);

/// A dimension other than the axis: its extent, and its strides in the tensor and in the result, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Dim {
    extent: usize,
    x: usize,
    out: usize,
}

type Dims = SmallVec<[Dim; MOST_AXES]>;

/// The lines along an axis, and their layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lines {
    /// Elements of a line, and the stride between them.
    pub(super) length: usize,
    stride: usize,
    /// Number of lines.
    pub(super) count: usize,
    /// Extents of the result.
    pub(super) shape: SmallVec<[usize; MOST_AXES]>,
    /// From the slowest to the fastest of the result, without dimensions of extent 1, contiguous ones merged.
    dims: Dims,
}

/// The kernel family, with its arguments.
pub(super) enum Strategy {
    /// Lines whose elements are contiguous.
    Rows { plan: rows::plan::Plan, extents: [u32; DIMS], strides: [u64; DIMS] },
    /// Lines with a stride. A unit is a vector of neighbouring lines, or one line. Strides count units in the tensor,
    /// elements in the result.
    Columns {
        plan: columns::plan::Plan,
        extents: [u32; DIMS],
        strides: [u64; DIMS],
        out_strides: [u64; DIMS],
        /// Units between neighbours in a line.
        stride: u64,
        /// Elements of the result between the lines of a unit.
        out_step: u64,
    },
}

impl Lines {
    pub(super) fn new(call: &str, axes: &Axes, axis: usize) -> Result<Self> {
        let rank = axes.shape().len();
        if axis >= rank {
            return Err(BadArgument::new(ArgumentRule::Axes, call, "axis")
                .expected(format_args!("one of the {rank} axes of shape {:?}, from 0 on", axes.shape()))
                .found(axis)
                .remedy("axes are numbered from the slowest, starting with 0; a tensor without axes has none")
                .into());
        }
        let [mut shape, mut strides] = [axes.shape(), axes.strides()].map(SmallVec::<[usize; MOST_AXES]>::from_slice);
        let (length, stride) = (shape.remove(axis), strides.remove(axis));
        // A tensor without elements along the axis may have more lines than the address space.
        let count = if shape.contains(&0) {
            0
        } else {
            shape.iter().try_fold(1_usize, |product, &extent| product.checked_mul(extent)).unwrap_or(usize::MAX)
        };
        if count > MAX_LINES {
            return Err(BadArgument::new(ArgumentRule::Extent, call, "x")
                .expected(format_args!("at most {MAX_LINES} results"))
                .found(format_args!("shape {:?} without axis {axis}", axes.shape()))
                .remedy("work on slices along another axis")
                .into());
        }
        let mut dims = Dims::new();
        let mut out = count;
        for (&extent, &x) in shape.iter().zip(&strides).filter(|(extent, _)| **extent > 1 && count > 0) {
            out /= extent;
            match dims.last_mut() {
                Some(outer) if Some(outer.x) == x.checked_mul(extent) => {
                    *outer = Dim { extent: outer.extent * extent, x, out };
                }
                _ => dims.push(Dim { extent, x, out }),
            }
        }
        Ok(Self { length, stride, count, shape, dims })
    }

    /// The strategy for elements of `bytes` bytes, the first at `address`, with accesses of `vector` bytes and partial
    /// results of `state` words. There is at least one line.
    pub(super) fn strategy(&self, address: usize, bytes: usize, vector: u64, state: usize) -> Strategy {
        if self.length == 0 || self.stride == 1 && self.length > 1 {
            self.rows(address, bytes, vector)
        } else {
            self.columns(address, bytes, vector, state)
        }
    }

    fn rows(&self, address: usize, bytes: usize, vector: u64) -> Strategy {
        let aligned = |place: usize| (place as u64).is_multiple_of(vector);
        let plan = rows::plan::Plan::new(
            rows::plan::Shape {
                lines: self.count as u32,
                length: self.length as u64,
                bytes: bytes as u64,
                evenly_spaced: self.dims.len() <= 1,
                aligned: aligned(address) && self.dims.iter().all(|dim| aligned(dim.x.wrapping_mul(bytes))),
            },
            vector,
        );
        let dims: Dims = self.dims.iter().rev().copied().collect();
        Strategy::Rows {
            plan,
            extents: slots(&dims, 1, |dim| dim.extent as u32),
            strides: slots(&dims, 0, |dim| dim.x as u64),
        }
    }

    fn columns(&self, address: usize, bytes: usize, vector: u64, state: usize) -> Strategy {
        let mut dims = self.dims.clone();
        // Neighbouring threads take the elements with the smallest distance.
        dims.sort_by_key(|dim| dim.x);
        let per = vector as usize / bytes;
        let fits = |elements: usize| elements.is_multiple_of(per);
        let first = dims.first().copied();
        let vectors = per > 1
            && (address as u64).is_multiple_of(vector)
            && (fits(self.stride) || self.length == 1)
            && first.is_some_and(|first| first.x == 1 && fits(first.extent))
            && dims.iter().skip(1).all(|dim| fits(dim.x));
        let (mut per_unit, mut stride, mut out_step) = (1, self.stride, 0);
        if vectors {
            out_step = dims[0].out;
            dims[0] = Dim { extent: dims[0].extent / per, x: per, out: dims[0].out * per };
            for dim in &mut dims {
                dim.x /= per;
            }
            (per_unit, stride) = (per, stride / per);
        }
        let units: usize = dims.iter().map(|dim| dim.extent).product();
        let plan = columns::plan::Plan::new(columns::plan::Shape {
            items: units as u32,
            lines_per_item: per_unit as u64,
            length: self.length as u64,
            bytes: bytes as u64,
            state: state as u64,
            dense_lines: dims.first().is_none_or(|first| stride < first.x),
        });
        Strategy::Columns {
            plan,
            extents: slots(&dims, 1, |dim| dim.extent as u32),
            strides: slots(&dims, 0, |dim| dim.x as u64),
            out_strides: slots(&dims, 0, |dim| dim.out as u64),
            stride: stride as u64,
            out_step: out_step as u64,
        }
    }
}

/// One number for each dimension of a kernel. The slowest, the last of `dims`, has the last slot.
fn slots<N: Copy>(dims: &[Dim], fill: N, number: impl Fn(&Dim) -> N) -> [N; DIMS] {
    let mut slots = [fill; DIMS];
    if let Some((slowest, others)) = dims.split_last() {
        for (slot, dim) in slots.iter_mut().zip(others) {
            *slot = number(dim);
        }
        slots[DIMS - 1] = number(slowest);
    }
    slots
}

impl Strategy {
    /// 8-byte words of the workspace.
    pub(super) fn workspace_words(&self, lines: usize, state: usize) -> usize {
        match self {
            Self::Rows { plan, .. } => plan.workspace_words(lines as u32, state),
            Self::Columns { plan, .. } => plan.workspace_words(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(shape: &[usize], strides: &[usize], axis: usize) -> Lines {
        Lines::new("test", &Axes::strided("test", shape, strides).unwrap(), axis).unwrap()
    }

    fn dims(dims: &[(usize, usize, usize)]) -> Dims {
        dims.iter().map(|&(extent, x, out)| Dim { extent, x, out }).collect()
    }

    #[test]
    fn contiguous_dimensions_are_merged() {
        let whole = |axis| lines(&[2, 3, 4, 5], &[60, 20, 5, 1], axis);
        assert_eq!(whole(0).dims, dims(&[(60, 1, 1)]));
        assert_eq!(whole(1).dims, dims(&[(2, 60, 20), (20, 1, 1)]));
        assert_eq!(whole(3).dims, dims(&[(24, 5, 1)]));
        assert_eq!((whole(1).length, whole(1).stride, whole(1).count), (3, 20, 40));
        // Dimensions with gaps are not merged; those of extent 1 are dropped.
        assert_eq!(lines(&[2, 1, 4, 5], &[60, 7, 10, 1], 3).dims, dims(&[(2, 60, 4), (4, 10, 1)]));
        assert_eq!(lines(&[7], &[3], 0).dims, dims(&[]));
    }

    #[test]
    fn aligned_columns_are_read_as_vectors() {
        let strategy = |lines: Lines, address| match lines.strategy(address, 4, 16, 1) {
            Strategy::Rows { .. } => None,
            Strategy::Columns { plan, extents, strides, out_strides, stride, out_step } => {
                Some((plan.config[0], extents[4], strides[4], out_strides[4], stride, out_step))
            }
        };
        assert_eq!(strategy(lines(&[10, 8], &[8, 1], 0), 256), Some((1, 2, 1, 4, 2, 1)));
        assert_eq!(strategy(lines(&[10, 8], &[8, 1], 0), 260), Some((0, 8, 1, 1, 8, 0)));
        assert_eq!(strategy(lines(&[10, 7], &[7, 1], 0), 256), Some((0, 7, 1, 1, 7, 0)));
        assert_eq!(strategy(lines(&[10, 8], &[9, 1], 0), 256), Some((0, 8, 1, 1, 9, 0)));
        assert_eq!(strategy(lines(&[10, 8], &[8, 1], 1), 256), None);
        // The reduced axis is the fastest in memory, with a stride: neighbouring threads go along it.
        assert_eq!(strategy(lines(&[10, 8], &[16, 2], 1), 256), Some((0, 10, 16, 1, 2, 0)));
    }

    #[test]
    fn the_error_for_a_missing_axis_names_it() {
        let axes = Axes::contiguous("sum", &[2, 3]).unwrap();
        let text = Lines::new("reduce_axis", &axes, 2).unwrap_err().to_string();
        assert!(text.starts_with("reduce_axis: argument `axis`: expected one of the 2 axes of shape [2, 3]"), "{text}");
        let many = Axes::strided("sum", &[1 << 20, 1 << 20, 0], &[0, 0, 0]).unwrap();
        assert!(Lines::new("reduce_axis", &many, 2).unwrap_err().to_string().contains("results"));
        assert_eq!(Lines::new("reduce_axis", &many, 0).unwrap().count, 0);
    }
}
