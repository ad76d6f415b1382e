//! A strided tensor at any position in a buffer, with axes in any order, reduced along one axis twice with one
//! workspace, on two devices.

use proptest::prelude::*;
use warpwright::reduce::{AxisReduction, LinesWorkspace, axis_depth};
use warpwright::reference::reduce::lines;
use warpwright_tests::sim::bytes_of;

use super::agreement::{agreed, twice};
use super::case::Bits;
use crate::support::device::under_test;

/// Layout of a tensor, the axis to be reduced, and seeds of data and schedule.
#[derive(Clone, Debug)]
pub(super) struct AxisCase {
    pub(super) shape: Vec<usize>,
    pub(super) strides: Vec<usize>,
    pub(super) axis: usize,
    /// Elements of the buffer before the first.
    pub(super) before: usize,
    pub(super) data: u64,
    pub(super) schedule: u64,
}

impl AxisCase {
    /// A contiguous tensor at the start of its buffer.
    pub(super) fn plain(shape: &[usize], axis: usize, schedule: u64) -> Self {
        let strides = (0..shape.len()).map(|axis| shape[axis + 1..].iter().product()).collect();
        Self { shape: shape.to_vec(), strides, axis, before: 0, data: schedule, schedule }
    }

    /// Elements from the first to the last of the tensor.
    pub(super) fn span(&self) -> usize {
        if self.shape.contains(&0) {
            return 0;
        }
        1 + self.shape.iter().zip(&self.strides).map(|(extent, stride)| (extent - 1) * stride).sum::<usize>()
    }

    /// Elements of a line.
    pub(super) fn length(&self) -> usize {
        self.shape[self.axis]
    }

    /// The lines of `x`, which holds the span of the tensor.
    pub(super) fn lines<T: Copy>(&self, x: &[T]) -> Vec<Vec<T>> {
        lines(x, &self.shape, &self.strides, self.axis)
    }

    /// For each element of the span, whether it belongs to the tensor.
    fn contains(&self) -> Vec<bool> {
        let mut within = vec![false; self.span()];
        let mut places = vec![0];
        for (&extent, &stride) in self.shape.iter().zip(&self.strides) {
            places = places.iter().flat_map(|place| (0..extent).map(move |i| place + i * stride)).collect();
        }
        for place in places {
            within[place] = true;
        }
        within
    }
}

/// Extents of up to four axes whose product stays small, in any order in memory, with gaps of any size or none.
fn any_layout(bytes: usize) -> impl Strategy<Value = (Vec<usize>, Vec<usize>, usize)> {
    let lanes = 16 / bytes;
    let few = [1, 2, 3, 4, 9, 11, 15].map(|vectors| vectors * lanes);
    let edges = [&few[..], &[1, 2, 3, lanes + 1, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 8 * lanes + 1]].concat();
    // Misaligned columns, four for each thread.
    let wide = proptest::sample::select(vec![63, 64, 127, 128, 129, 131, 160, 257, 515]);
    let long =
        vec![127, 128, 257, 500, 16 * lanes, 64 * lanes, 128 * lanes, 129 * lanes, 600 * lanes, 1024 * lanes + 3];
    let small = prop_oneof![3 => Just(1), 2 => 2..6_usize];
    let extent = proptest::sample::select(edges).boxed();
    let other = prop_oneof![5 => extent.clone(), 1 => wide];
    let long = prop_oneof![3 => extent, 2 => proptest::sample::select(long)];
    (2..=4_usize).prop_flat_map(move |rank| {
        let short = proptest::collection::vec(small.clone(), rank - 2);
        let gap = prop_oneof![3 => Just(0), 1 => 1..4_usize, 1 => Just(lanes)];
        let gaps = proptest::collection::vec(gap, rank);
        let innermost = prop_oneof![5 => Just(1), 1 => 2..4_usize];
        let positions = Just((0..rank).collect::<Vec<_>>()).prop_shuffle();
        (short, long.clone(), other.clone(), gaps, innermost, positions.clone(), positions).prop_map(
            move |(short, long, other, gaps, innermost, extents, memory)| {
                // The axis that is reduced is the long one.
                let mut list = vec![long, other];
                list.extend(short);
                let shape: Vec<usize> = extents.iter().map(|&place| list[place]).collect();
                let axis = extents.iter().position(|&place| place == 0).unwrap_or(0);
                let mut strides = vec![0; rank];
                let mut stride = innermost;
                for (&axis, gap) in memory.iter().zip(gaps) {
                    strides[axis] = stride;
                    stride = stride * shape[axis] + gap;
                }
                (shape, strides, axis)
            },
        )
    })
}

/// Tensors of elements of `bytes` bytes.
pub(super) fn any_tensor(bytes: usize) -> impl Strategy<Value = AxisCase> {
    (any_layout(bytes), 0..(16 / bytes + 1), any::<u64>(), any::<u64>()).prop_map(
        |((shape, strides, axis), before, data, schedule)| AxisCase { shape, strides, axis, before, data, schedule },
    )
}

/// The results of a reduction of the tensor in `x`, if they are the same twice on the device under test and twice on
/// its counterpart. Tensor, gaps and results are surrounded by canaries.
pub(super) fn reduce_axis<T: Bits, R: AxisReduction<T>>(
    case: &AxisCase,
    reduction: R,
    x: &[T],
) -> Result<Vec<R::Output>, String>
where
    R::Output: Bits,
{
    let within = case.contains();
    let mut image = vec![T::CANARY; case.before];
    image.extend(x.iter().zip(&within).map(|(&x, &within)| if within { x } else { T::CANARY }));
    image.extend([T::CANARY; 5]);
    agreed(case.schedule, &|device| {
        let on = device.upload(&image)?;
        let view = on.slice(case.before..on.len())?.as_tensor_strided(&case.shape, &case.strides)?;
        let count = view.len() / case.length().max(1);
        let mut workspace = LinesWorkspace::new(device, device.reduce_axis_bytes(reduction, view, case.axis)?)?;
        let results = twice(device, count, &mut |_, out| {
            device.reduce_axis_into(reduction, view, case.axis, out, &mut workspace, None)
        })?;
        assert!(bytes_of(&on.download()?) == bytes_of(&image), "the input changed");
        Ok(results)
    })
}

/// The depth of the tree of merges on the device under test.
pub(super) fn depth<T: Bits, R: AxisReduction<T>>(case: &AxisCase, reduction: R) -> u64 {
    let device = under_test(0);
    let on = device.upload(&vec![T::CANARY; case.before + case.span()]).expect("memory");
    let view = on.slice(case.before..on.len()).and_then(|on| on.as_tensor_strided(&case.shape, &case.strides));
    axis_depth(reduction, view.expect("it fits"), case.axis).expect("there is such an axis")
}
