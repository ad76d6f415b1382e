//! The memory of one case: operands and results. A case whose data would fit the L2 cache has several, used in
//! rotation.

use anyhow::Result;
use warpwright::{Buffer, Device};

use super::case::{Case, Dtype, Lengths, Shape, Work, group_ends, group_rows};
use super::data::{AnyBuffer, Period};

/// Operands and results of one call.
pub struct Slot {
    /// The first operand.
    pub a: AnyBuffer,
    /// The second, where there are two.
    pub b: Option<AnyBuffer>,
    /// The result, without gaps: of the operands' type, or of the type of their sums.
    pub out: AnyBuffer,
    /// The index that an argmax finds; the bits that are left of what is only read.
    pub index: Option<Buffer<u64>>,
    /// A sum of 32-bit integers in 64 bits, of implementations that return 64 bits.
    pub wide: Option<Buffer<i64>>,
    /// Boundaries of segments, one more than there are segments.
    pub offsets: Option<Buffer<u64>>,
    /// Where groups of rows end.
    pub ends: Option<Buffer<u32>>,
    /// Factors of blocks of A, and of B: enough for both, and for how cuBLASLt pads them; all 1.
    pub block_scales: Option<Buffer<f32>>,
    /// The result of a call that hands it to the host instead of writing `out`.
    pub returned: Option<f64>,
}

impl Slot {
    /// Memory for `case` with operands from `period`.
    ///
    /// # Errors
    /// The device has not so much.
    pub fn new(device: &Device, case: &Case, period: &Period) -> Result<Self> {
        let (a, b) = operands(case);
        let out = match case.work {
            Work::Copy
            | Work::Read
            | Work::Add
            | Work::Max
            | Work::MaxAxis0
            | Work::MaxAxis1
            | Work::Argmax
            | Work::Transpose
            | Work::Permute => case.dtype.stored(),
            Work::Gemm | Work::GroupedGemm => case.dtype.product(),
            _ => case.dtype.sum(),
        };
        let (index, offsets) = match &case.shape {
            Shape::Segments { n, segments, lengths } => {
                (None, Some(device.upload(&boundaries(*n, *segments, *lengths))?))
            }
            _ if matches!(case.work, Work::Argmax | Work::Read) => (Some(device.alloc(1)?), None),
            _ => (None, None),
        };
        let ends = match case.shape {
            Shape::Groups { groups, rows, .. } => Some(device.upload(&group_ends(groups, rows))?),
            _ => None,
        };
        let block_scales = match case.shape {
            Shape::Gemm { mnk: [m, n, k], .. } if case.dtype == Dtype::E4m3Blocks => {
                let [rows, blocks] = [m.max(n).next_multiple_of(128), k.div_ceil(128).next_multiple_of(4)];
                Some(device.upload(&vec![1.0; rows * blocks])?)
            }
            _ => None,
        };
        Ok(Self {
            a: period.buffer(device, a, 0)?,
            b: b.map(|len| period.buffer(device, len, Period::SECOND)).transpose()?,
            out: AnyBuffer::alloc(device, out, results(case))?,
            index,
            wide: (case.work == Work::Sum && case.dtype == Dtype::I32).then(|| device.alloc(1)).transpose()?,
            offsets,
            ends,
            block_scales,
            returned: None,
        })
    }

    /// Overwrites every result.
    ///
    /// # Errors
    /// The driver refuses.
    pub fn poison(&mut self) -> Result<()> {
        self.returned = None;
        if let Some(index) = &mut self.index {
            index.write(&[u64::MAX])?;
        }
        if let Some(wide) = &mut self.wide {
            wide.write(&[i64::MIN])?;
        }
        self.out.poison()
    }
}

/// Elements of the operands.
fn operands(case: &Case) -> (usize, Option<usize>) {
    match &case.shape {
        Shape::Vector { n, offset } => {
            let two = matches!(case.work, Work::Add | Work::Dot);
            (n + offset, two.then_some(n + offset))
        }
        Shape::Segments { n, .. } => (*n, None),
        Shape::Matrix { rows, ld, .. } => (rows * ld, None),
        Shape::Array { dims, .. } => (dims.iter().product(), None),
        Shape::Gemm { mnk: [m, n, k], batch, .. } => (m * k * batch, Some(k * n * batch)),
        Shape::Groups { groups, rows, nk: [n, k], .. } => (group_rows(*groups, *rows) * k, Some(groups * n * k)),
    }
}

/// Elements of the result.
pub fn results(case: &Case) -> usize {
    match &case.shape {
        Shape::Vector { n, .. } => {
            if matches!(case.work, Work::Copy | Work::Add) {
                *n
            } else {
                1
            }
        }
        Shape::Segments { segments, .. } => *segments,
        Shape::Matrix { rows, cols, .. } => match case.work {
            Work::SumAxis0 | Work::MaxAxis0 => *cols,
            Work::SumAxis1 | Work::MaxAxis1 => *rows,
            _ => rows * cols,
        },
        Shape::Array { dims, .. } => dims.iter().product(),
        Shape::Gemm { mnk: [m, n, _], batch, .. } => m * n * batch,
        Shape::Groups { groups, rows, nk: [n, _], .. } => group_rows(*groups, *rows) * n,
    }
}

/// Where each segment of a vector of `n` elements begins, and the end of the last.
pub fn boundaries(n: usize, segments: usize, lengths: Lengths) -> Vec<u64> {
    let weight = |segment: usize| match lengths {
        Lengths::Skewed => f64::powi(0.5, (segment % 16) as i32),
        Lengths::Giant if segment == segments / 2 => segments as f64,
        Lengths::Equal | Lengths::Giant => 1.0,
    };
    let total: f64 = (0..segments).map(weight).sum();
    let mut before = 0.0;
    let starts = (0..segments).map(|segment| {
        let start = (before / total * n as f64) as u64;
        before += weight(segment);
        start
    });
    let mut boundaries: Vec<u64> = starts.collect();
    boundaries.push(n as u64);
    boundaries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boundaries_rise_from_0_to_n() {
        for (lengths, longest) in [(Lengths::Equal, 63), (Lengths::Skewed, 500), (Lengths::Giant, 518)] {
            let boundaries = boundaries(1003, 16, lengths);
            assert_eq!((boundaries[0], boundaries[16], boundaries.len()), (0, 1003, 17));
            assert!(boundaries.is_sorted());
            let most = boundaries.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap();
            assert!(most.abs_diff(longest) <= 2, "{most} of {longest}");
        }
    }
}
