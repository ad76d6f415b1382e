//! Operands that are copied to the workspace first, because the kernel does not take them as they lie.
//!
//! ```text
//! workspace   │ partial products │ up to 124 bytes │ copy of A, lines padded │ copy of B, lines padded │
//!                                                  └ a multiple of 128 bytes ┘                         ┘
//! ```
//!
//! A copy's lines begin at multiples of 128 bytes: the copy engine wants 16, and reads each 128 bytes of a line at once then.
//! It lies as the kernel likes it, so it may be turned: of several kernels the one is listed for which
//! more is turned, which costs less than to copy lines that begin anywhere. The padding is never read.

use std::ops::Range;

use super::CALL;
use super::candidates::Candidate;
use super::element::Multiply;
use super::problem::Problem;
use super::stored::OperandLayout;
use super::unfit::Unsupported;
use crate::device::Device;
use crate::error::Result;
use crate::memory::{BufferView, BufferViewMut, TensorView};
use crate::ops::{permute, transpose};
use crate::stream::Stream;

/// Bytes at whose multiples the lines of a copy begin.
const LINE: usize = 128;
/// `f32` that are asked for so that the first copy can begin there, wherever the workspace does.
const SLACK: usize = LINE / size_of::<f32>();

/// The operands of a kernel, and which of them are copies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packing {
    /// A and B as the kernel is given them.
    pub(super) operands: [OperandLayout; 2],
    /// Elements of each copy; `None` where there is none.
    copies: [Option<usize>; 2],
    /// Bytes of an element.
    bytes: usize,
}

impl Packing {
    /// The operands of `problem`, those that `packed` names copied into the layout of the candidate.
    pub(super) fn new<T: Multiply>(
        candidate: &Candidate<T>,
        problem: &Problem,
        packed: [bool; 2],
    ) -> Result<Self, Unsupported> {
        let given = [problem.a, problem.b];
        let layout = candidate.layout.unwrap_or(given.map(|operand| operand.transposed));
        if packed != [false; 2] && candidate.program.boxes().is_none() {
            return Err(Unsupported::Packed);
        }
        let mut packing = Self { operands: given, copies: [None; 2], bytes: size_of::<T>() };
        for (operand, pack) in packed.into_iter().enumerate() {
            if pack {
                let copy = copied(given[operand], layout[operand], size_of::<T>()).ok_or(Unsupported::Extents)?;
                let count = if copy.stride == 0 { 1 } else { problem.batch };
                let elements = copy.lines()[0].checked_mul(copy.ld).and_then(|matrix| matrix.checked_mul(count));
                packing.operands[operand] = copy;
                packing.copies[operand] = Some(elements.ok_or(Unsupported::Extents)?);
            } else if given[operand].transposed != layout[operand] {
                return Err(Unsupported::Layout(layout));
            }
        }
        packing.copied_bytes().ok_or(Unsupported::Extents)?;
        Ok(packing)
    }

    /// Which operands of `problem` have to be copied for the candidate.
    pub(super) fn needed<T: Multiply>(candidate: &Candidate<T>, problem: &Problem) -> [bool; 2] {
        let (Some(_), Some(layout)) = (candidate.program.boxes(), candidate.layout) else { return [false; 2] };
        let needs = |operand: OperandLayout, transposed: bool| {
            operand.transposed != transposed || !operand.fits_boxes(problem.batch, size_of::<T>())
        };
        [needs(problem.a, layout[0]), needs(problem.b, layout[1])]
    }

    /// The problem, with the operands that the kernel is given.
    pub(super) fn of(&self, problem: &Problem) -> Problem {
        let [a, b] = self.operands;
        Problem { a, b, ..*problem }
    }

    /// Which operands are copied.
    pub(super) fn packed(&self) -> [bool; 2] {
        self.copies.map(|copy| copy.is_some())
    }

    /// Copies, and how many of them are not turned. Lines that begin anywhere are turned at the speed of memory, in tiles; to copy
    /// them element by element takes longer.
    pub(super) fn effort(&self, problem: &Problem) -> (usize, usize) {
        let turned =
            [problem.a, problem.b].into_iter().zip(self.operands).filter(|(x, y)| x.transposed != y.transposed);
        (self.launches(), self.launches() - turned.count())
    }

    /// Launches that copy.
    pub(super) fn launches(&self) -> usize {
        self.copies.iter().flatten().count()
    }

    /// Bytes of all copies, if they can be counted.
    fn copied_bytes(&self) -> Option<usize> {
        let elements = self.copies.iter().flatten().try_fold(0_usize, |sum, &copy| sum.checked_add(copy))?;
        elements.checked_mul(self.bytes)?.checked_add(2 * LINE)
    }

    /// Bytes of all copies.
    pub(super) fn moved(&self) -> usize {
        self.copies.iter().flatten().sum::<usize>() * self.bytes
    }

    /// `f32` of the workspace that the copies need.
    pub(super) fn room(&self) -> usize {
        if self.launches() == 0 { 0 } else { self.moved().div_ceil(size_of::<f32>()) + SLACK }
    }

    /// Where in `room` each copy lies, in `f32`.
    fn places(&self, room: BufferView<'_, f32>) -> [Range<usize>; 2] {
        let past = room.address().addr() % LINE / size_of::<f32>();
        let mut next = (SLACK - past) % SLACK;
        self.copies.map(|copy| {
            let start = next;
            next += (copy.unwrap_or(0) * self.bytes).div_ceil(size_of::<f32>());
            start..next
        })
    }

    /// Copies what is to be copied of the operands `given` to `room`.
    pub(super) fn pack<T: Multiply>(
        &self,
        (device, stream): (&Device, Option<&Stream>),
        problem: &Problem,
        given: [TensorView<'_, T>; 2],
        room: &mut BufferViewMut<'_, f32>,
    ) -> Result<()> {
        let places = self.places(room.view());
        for (operand, from) in [problem.a, problem.b].into_iter().enumerate() {
            let Some(elements) = self.copies[operand].filter(|&elements| elements > 0) else { continue };
            let mut own = room.view_mut().slice(places[operand].clone())?.as_tensor(&[places[operand].len()])?;
            let (to, target) = (self.operands[operand], own.cast_range_mut::<T>(0, elements));
            let count = if from.stride == 0 { 1 } else { problem.batch };
            let source = given[operand].cast_range::<T>(0, from.span(count, from.rows, from.cols));
            let ([from_lines, from_line], [lines, line]) = (from.lines(), to.lines());
            let turned = to.transposed != from.transposed;
            if turned && count == 1 {
                let source = source.as_matrix(super::rows(from_lines, from_line, from.ld))?;
                transpose::into(device, stream, source, target.as_matrix(super::rows(lines, line, to.ld))?)?;
                continue;
            }
            let source = source.as_tensor_strided(&[count, from_lines, from_line], &[from.stride, from.ld, 1])?;
            // One matrix has no neighbour, wherever that would be.
            let stride = if count == 1 { elements } else { to.stride };
            let target = target.as_tensor_strided(&[count, lines, line], &[stride, to.ld, 1])?;
            permute::run(device, stream, CALL, (source, if turned { &[0, 2, 1] } else { &[0, 1, 2] }), target)?;
        }
        Ok(())
    }

    /// What the kernel reads: the operands `given`, or their copies in `room`.
    pub(super) fn read<'t, T: Multiply>(
        &self,
        given: [TensorView<'t, T>; 2],
        room: BufferView<'t, f32>,
    ) -> Result<[TensorView<'t, T>; 2]> {
        let (places, mut packed) = (self.places(room), given);
        for (operand, place) in places.into_iter().enumerate() {
            if let Some(elements) = self.copies[operand] {
                let len = place.len();
                let copy = room.slice(place)?.as_tensor(&[len])?;
                packed[operand] = copy.cast_range::<T>(0, elements).as_tensor(&[elements])?;
            }
        }
        Ok(packed)
    }
}

/// `from` in lines of their own, in this layout.
fn copied(from: OperandLayout, transposed: bool, bytes: usize) -> Option<OperandLayout> {
    let turned = OperandLayout { transposed, ..from };
    let [lines, line] = turned.lines();
    let ld = line.max(1).checked_next_multiple_of(LINE / bytes)?;
    let stride = if from.stride == 0 { 0 } else { lines.checked_mul(ld)? };
    Some(OperandLayout { ld, stride, past: 0, ..turned })
}
