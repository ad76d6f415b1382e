//! Shape and strides of tensors.

use std::fmt;

use smallvec::SmallVec;

use crate::error::{ArgumentRule, BadArgument, Error, Result};

/// Maximum number of axes of a tensor.
pub(crate) const MOST_AXES: usize = 6;

/// Extents and strides of up to six axes; strides count elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Axes {
    rank: usize,
    extents: [usize; MOST_AXES],
    strides: [usize; MOST_AXES],
}

impl Axes {
    /// Axes of a contiguous tensor, the last one fastest.
    pub(crate) fn contiguous(call: &str, shape: &[usize]) -> Result<Self> {
        check_rank(call, "shape", shape.len())?;
        let mut axes = Self { rank: shape.len(), extents: [1; MOST_AXES], strides: [0; MOST_AXES] };
        let mut stride = 1_usize;
        for (axis, &extent) in shape.iter().enumerate().rev() {
            (axes.extents[axis], axes.strides[axis]) = (extent, stride);
            // With an extent of 0 there is no element whose offset could overflow.
            stride = stride.checked_mul(extent.max(1)).ok_or_else(|| too_many(call, shape))?;
        }
        Ok(axes)
    }

    pub(crate) fn strided(call: &str, shape: &[usize], strides: &[usize]) -> Result<Self> {
        check_rank(call, "shape", shape.len())?;
        if shape.len() != strides.len() {
            return Err(BadArgument::new(ArgumentRule::Axes, call, "strides")
                .expected(format_args!("{} strides, one for each extent of the shape {shape:?}", shape.len()))
                .found(format_args!("{strides:?}"))
                .remedy("pass one stride for each axis: the number of elements between neighbours")
                .into());
        }
        let mut axes = Self { rank: shape.len(), extents: [1; MOST_AXES], strides: [0; MOST_AXES] };
        axes.extents[..shape.len()].copy_from_slice(shape);
        axes.strides[..shape.len()].copy_from_slice(strides);
        Ok(axes)
    }

    /// The axes of a matrix.
    pub(super) fn of_matrix(rows: usize, cols: usize, ld: usize) -> Self {
        Self { rank: 2, extents: [rows, cols, 1, 1, 1, 1], strides: [ld, 1, 0, 0, 0, 0] }
    }

    pub(crate) fn shape(&self) -> &[usize] {
        &self.extents[..self.rank]
    }

    pub(crate) fn strides(&self) -> &[usize] {
        &self.strides[..self.rank]
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.shape().contains(&0)
    }

    /// Number of elements; `None` on overflow.
    pub(crate) fn len(&self) -> Option<usize> {
        if self.is_empty() {
            return Some(0);
        }
        self.shape().iter().try_fold(1, |product: usize, &extent| product.checked_mul(extent))
    }

    /// Elements from the first to the last one in memory; `None` on overflow.
    pub(crate) fn span(&self) -> Option<usize> {
        if self.is_empty() {
            return Some(0);
        }
        let mut along = self.shape().iter().zip(self.strides());
        along.try_fold(1_usize, |end, (extent, stride)| end.checked_add((extent - 1).checked_mul(*stride)?))
    }

    /// Checks that `len` elements are enough.
    pub(crate) fn check(&self, call: &str, len: usize) -> Result<()> {
        match self.span() {
            Some(span) if span <= len && self.len().is_some() => Ok(()),
            span => Err(BadArgument::new(ArgumentRule::Length, call, "buffer")
                .expected(match span {
                    Some(span) => format!("at least {span} elements ({self})"),
                    None => format!("more elements than the address space has ({self})"),
                })
                .found(len)
                .remedy("use a longer buffer, smaller extents or smaller strides")
                .into()),
        }
    }

    /// Checks that no two elements share memory: the stride of an axis is at least the span of the axes with smaller
    /// strides.
    pub(crate) fn check_distinct(&self, call: &str) -> Result<()> {
        if self.is_empty() {
            return Ok(());
        }
        let along = self.shape().iter().zip(self.strides()).filter(|(extent, _)| **extent > 1);
        let mut along: SmallVec<[_; MOST_AXES]> = along.collect();
        along.sort_by_key(|(_, stride)| **stride);
        let mut span = 1_usize;
        for (&extent, &stride) in along {
            if stride < span {
                return Err(BadArgument::new(ArgumentRule::Overlap, call, "strides")
                    .expected(format_args!("a stride of at least {span} along the axis of extent {extent} ({self})"))
                    .found(stride)
                    .remedy(
                        "use strides that are at least the span of the inner axes, so that no elements share memory",
                    )
                    .into());
            }
            span = span.saturating_add((extent - 1).saturating_mul(stride));
        }
        Ok(())
    }

    /// These axes in another order: axis k of the result is axis `order[k]`.
    pub(crate) fn permuted(&self, call: &str, order: &[usize]) -> Result<Self> {
        let rank = self.rank;
        let mut sorted = order.to_vec();
        sorted.sort_unstable();
        if !sorted.iter().copied().eq(0..rank) {
            return Err(BadArgument::new(ArgumentRule::Axes, call, "axes")
                .expected(format_args!("each of the {rank} axes 0 to {} once, in any order", rank.saturating_sub(1)))
                .found(format_args!("{order:?}"))
                .remedy("pass for each axis of the result the axis of the source")
                .into());
        }
        let mut axes = *self;
        for (axis, &from) in order.iter().enumerate() {
            (axes.extents[axis], axes.strides[axis]) = (self.extents[from], self.strides[from]);
        }
        Ok(axes)
    }
}

impl fmt::Display for Axes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "shape {:?}, strides {:?}", self.shape(), self.strides())
    }
}

fn check_rank(call: &str, argument: &str, rank: usize) -> Result<()> {
    if rank <= MOST_AXES {
        return Ok(());
    }
    Err(BadArgument::new(ArgumentRule::Axes, call, argument)
        .expected(format_args!("at most {MOST_AXES} axes"))
        .found(rank)
        .remedy("merge axes that are contiguous, or work on slices along the first axis")
        .into())
}

fn too_many(call: &str, shape: &[usize]) -> Error {
    BadArgument::new(ArgumentRule::Extent, call, "shape")
        .expected("no more elements than the address space has")
        .found(format_args!("{shape:?}"))
        .remedy("work on slices along the first axis")
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule<T>(result: Result<T>) -> Option<ArgumentRule> {
        match result {
            Ok(_) => None,
            Err(Error::Argument(bad)) => Some(bad.rule),
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn strides_follow_the_shape() {
        let axes = Axes::contiguous("test", &[2, 3, 4]).unwrap();
        assert_eq!((axes.strides(), axes.len(), axes.span()), (&[12, 4, 1][..], Some(24), Some(24)));
        let permuted = axes.permuted("test", &[2, 0, 1]).unwrap();
        assert_eq!((permuted.shape(), permuted.strides()), (&[4, 2, 3][..], &[1, 12, 4][..]));
        let none = Axes::contiguous("test", &[usize::MAX, 0, 5]);
        assert_eq!(rule(none), Some(ArgumentRule::Extent));
        let point = Axes::contiguous("test", &[]).unwrap();
        assert_eq!((point.len(), point.span()), (Some(1), Some(1)));
        assert_eq!(rule(Axes::contiguous("test", &[1; 7])), Some(ArgumentRule::Axes));
    }

    #[test]
    fn a_short_buffer_is_refused() {
        let axes = Axes::strided("test", &[2, 3], &[10, 2]).unwrap();
        assert_eq!(axes.span(), Some(15));
        assert_eq!(rule(axes.check("test", 15)), None);
        assert_eq!(rule(axes.check("test", 14)), Some(ArgumentRule::Length));
        let far = Axes::strided("test", &[2, 3], &[usize::MAX, 2]).unwrap();
        assert_eq!(rule(far.check("test", usize::MAX)), Some(ArgumentRule::Length));
        // Every index refers to the same element.
        let many = Axes::strided("test", &[usize::MAX, 3], &[0, 0]).unwrap();
        assert_eq!(rule(many.check("test", 1)), Some(ArgumentRule::Length));
        assert_eq!(rule(Axes::strided("test", &[2, 3], &[3])), Some(ArgumentRule::Axes));
    }

    #[test]
    fn elements_that_share_memory_are_refused() {
        let distinct = |shape: &[usize], strides: &[usize]| {
            rule(Axes::strided("test", shape, strides).unwrap().check_distinct("test"))
        };
        assert_eq!(distinct(&[2, 3], &[3, 1]), None);
        assert_eq!(distinct(&[3, 2], &[1, 3]), None);
        assert_eq!(distinct(&[1, 3], &[0, 5]), None);
        assert_eq!(distinct(&[0, 3], &[0, 0]), None);
        assert_eq!(distinct(&[2, 3], &[2, 1]), Some(ArgumentRule::Overlap));
        assert_eq!(distinct(&[2, 3], &[0, 1]), Some(ArgumentRule::Overlap));
    }

    #[test]
    fn an_order_names_every_axis_once() {
        let axes = Axes::contiguous("test", &[2, 3, 4]).unwrap();
        for order in [&[0, 1][..], &[0, 1, 1], &[0, 1, 3], &[0, 1, 2, 3]] {
            assert_eq!(rule(axes.permuted("permute", order)), Some(ArgumentRule::Axes), "{order:?}");
        }
        let text = axes.permuted("permute", &[0, 0, 2]).unwrap_err().to_string();
        assert_eq!(
            text,
            "permute: argument `axes`: expected each of the 3 axes 0 to 2 once, in any order, found [0, 0, 2]; pass \
             for each axis of the result the axis of the source"
        );
    }
}
