//! Copies of operands in the workspace, for kernels that cannot read them as they are.
//!
//! ```text
//! workspace   │ partial products │ up to 124 bytes │ copy of A, rows padded │ copy of B, rows padded │
//!                                                  └ a multiple of 128 bytes ┘                        ┘
//! ```
//!
//! The rows of a copy begin at multiples of 128 bytes. TMA needs only 16, but then reads each 128 bytes of a row as one
//! cache line. A copy has the layout that the kernel needs, so it may be a transpose. The padding is never read.

use std::ops::Range;

use super::operands::OperandLayout;
use super::options::CALL;
use super::problem::Problem;
use crate::device::Device;
use crate::error::Result;
use crate::memory::{BufferView, BufferViewMut, Layout, TensorView};
use crate::ops::{permute, transpose};
use crate::stream::Stream;
use simt::element::Element;

/// Alignment in bytes of the rows of a copy.
const ALIGNMENT: usize = 128;
/// `f32` of workspace for aligning the first copy, whatever the address of the workspace.
const SLACK: usize = ALIGNMENT / size_of::<f32>();

/// The operands that a kernel reads, and which of them are copies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packing {
    /// A and B as the kernel reads them.
    pub(super) operands: [OperandLayout; 2],
    /// Elements of each copy; `None` if the operand is not copied.
    copies: [Option<usize>; 2],
    element_bytes: usize,
}

impl Packing {
    /// The operands of `problem`, copied into the layouts `transposed` where `packed` says so. `None` if the size of
    /// the copies overflows.
    pub(super) fn new(
        problem: &Problem,
        packed: [bool; 2],
        transposed: [bool; 2],
        element_bytes: usize,
    ) -> Option<Self> {
        let mut packing = Self { operands: [problem.a, problem.b], copies: [None; 2], element_bytes };
        for number in (0..2).filter(|&number| packed[number]) {
            let copy = packed_layout(packing.operands[number], transposed[number], element_bytes)?;
            let count = if copy.stride == 0 { 1 } else { problem.batch };
            packing.copies[number] = Some(copy.stored_shape()[0].checked_mul(copy.ld)?.checked_mul(count)?);
            packing.operands[number] = copy;
        }
        let [a, b] = packing.copies.map(Option::unwrap_or_default);
        a.checked_add(b)?.checked_mul(element_bytes)?.checked_add(2 * ALIGNMENT)?;
        Some(packing)
    }

    /// The problem with the operands that the kernel reads.
    pub(super) fn apply(&self, problem: &Problem) -> Problem {
        let [a, b] = self.operands;
        Problem { a, b, ..*problem }
    }

    /// Which operands are copied.
    pub(super) fn packed(&self) -> [bool; 2] {
        self.copies.map(|copy| copy.is_some())
    }

    /// The number of copies, and of those among them that do not transpose: an order of preference. Transposing a
    /// misaligned operand runs at the speed of memory, in tiles; copying it element by element takes longer.
    pub(super) fn effort(&self, problem: &Problem) -> (usize, usize) {
        let operands = [problem.a, problem.b].into_iter().zip(self.operands);
        let transposes = operands.filter(|(from, to)| from.transposed != to.transposed).count();
        (self.launches(), self.launches() - transposes)
    }

    /// Launches that copy.
    pub(super) fn launches(&self) -> usize {
        self.copies.iter().flatten().count()
    }

    /// Bytes of all copies.
    pub(super) fn bytes(&self) -> usize {
        self.copies.iter().flatten().sum::<usize>() * self.element_bytes
    }

    /// `f32` of workspace for the copies.
    pub(super) fn workspace_len(&self) -> usize {
        if self.launches() == 0 { 0 } else { self.bytes().div_ceil(size_of::<f32>()) + SLACK }
    }

    /// The range of `workspace` for each copy.
    fn ranges(&self, workspace: BufferView<'_, f32>) -> [Range<usize>; 2] {
        let misalignment = workspace.address().addr() % ALIGNMENT / size_of::<f32>();
        let mut next = (SLACK - misalignment) % SLACK;
        self.copies.map(|copy| {
            let start = next;
            next += (copy.unwrap_or(0) * self.element_bytes).div_ceil(size_of::<f32>());
            start..next
        })
    }

    /// Copies the operands to be packed to `workspace`, of [`Packing::workspace_len`] elements.
    pub(super) fn pack<T: Element>(
        &self,
        (device, stream): (&Device, Option<&Stream>),
        problem: &Problem,
        operands: [TensorView<'_, T>; 2],
        workspace: &mut BufferViewMut<'_, f32>,
    ) -> Result<()> {
        let ranges = self.ranges(workspace.view());
        for (number, from) in [problem.a, problem.b].into_iter().enumerate() {
            let Some(elements) = self.copies[number].filter(|&elements| elements > 0) else { continue };
            let range = ranges[number].clone();
            let mut copy = workspace.view_mut().slice(range.clone())?.as_tensor(&[range.len()])?;
            let (to, target) = (self.operands[number], copy.cast_range_mut::<T>(0, elements));
            let count = if from.stride == 0 { 1 } else { problem.batch };
            let source = operands[number].cast_range::<T>(0, from.extent(count, from.rows, from.cols));
            let ([from_rows, from_cols], [rows, cols]) = (from.stored_shape(), to.stored_shape());
            let transposes = to.transposed != from.transposed;
            if transposes && count == 1 {
                let source = source.as_matrix(Layout::contiguous(from_rows, from_cols).ld(from.ld))?;
                let target = target.as_matrix(Layout::contiguous(rows, cols).ld(to.ld))?;
                transpose::into(device, stream, source, target)?;
                continue;
            }
            let source = source.as_tensor_strided(&[count, from_rows, from_cols], &[from.stride, from.ld, 1])?;
            // A single matrix may have a stride of 0, which a tensor to be written must not have.
            let stride = if count == 1 { elements } else { to.stride };
            let target = target.as_tensor_strided(&[count, rows, cols], &[stride, to.ld, 1])?;
            let axes = if transposes { &[0, 2, 1] } else { &[0, 1, 2] };
            permute::run(device, stream, CALL, (source, axes), target)?;
        }
        Ok(())
    }

    /// The operands that the kernel reads: those given, or their copies in `workspace`.
    pub(super) fn packed_operands<'t, T: Element>(
        &self,
        mut operands: [TensorView<'t, T>; 2],
        workspace: BufferView<'t, f32>,
    ) -> Result<[TensorView<'t, T>; 2]> {
        for (number, range) in self.ranges(workspace).into_iter().enumerate() {
            if let Some(elements) = self.copies[number] {
                let len = range.len();
                let copy = workspace.slice(range)?.as_tensor(&[len])?;
                operands[number] = copy.cast_range::<T>(0, elements).as_tensor(&[elements])?;
            }
        }
        Ok(operands)
    }
}

/// The layout of a copy of `from`, with padded rows.
fn packed_layout(from: OperandLayout, transposed: bool, element_bytes: usize) -> Option<OperandLayout> {
    let to = OperandLayout { transposed, ..from };
    let [rows, cols] = to.stored_shape();
    let ld = cols.max(1).checked_next_multiple_of(ALIGNMENT / element_bytes)?;
    let stride = if from.stride == 0 { 0 } else { rows.checked_mul(ld)? };
    Some(OperandLayout { ld, stride, misalignment: 0, ..to })
}
