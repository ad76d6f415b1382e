//! Copies of operands in the workspace, for kernels that cannot read them as they are.
//!
//! ```text
//! workspace   │ partial products │ up to 124 bytes │ copy of A, rows padded │ copy of B, rows padded │
//!                                                  └ a multiple of 128 bytes ┘                        ┘
//! ```
//!
//! The rows of a copy begin at multiples of 128 bytes. TMA needs only 16, but then reads each 128 bytes of a row as one
//! cache line. A copy has the layout that the kernel needs, so it may be a transpose, which is a launch of its own. One
//! launch makes the copies that keep their layout. The padding is never read.
//!
//! Where a kernel multiplies planes of `bf16`, the copies are those: rows of all three along k, padded with zeros, by
//! one launch ([`gpu::gemm::sm90::bf16x6`]).

use std::ops::Range;

use gpu::gemm::sm90::bf16x6::split::{self, gemm_sm90_bf16x6_split};
use gpu::gemm::sm90::pack::{self, Pack, gemm_sm90_pack_b8, gemm_sm90_pack_b16, gemm_sm90_pack_b32};
use half::bf16;
use simt::element::{Element, Vec4};

use super::operands::OperandLayout;
use super::options::CALL;
use super::problem::Problem;
use crate::backend::Pair;
use crate::contract::Role;
use crate::device::Device;
use crate::error::Result;
use crate::launch::{Fields, Launch};
use crate::memory::{BufferView, BufferViewMut, Layout, UntypedBuffer};
use crate::ops::move_kernels::by_size;
use crate::ops::{on, permute, transpose};
use crate::stream::Stream;

/// Alignment in bytes of the rows of a copy.
const ALIGNMENT: usize = 128;
/// Bytes of a vector.
const VECTOR: usize = size_of::<Vec4<u32>>();
/// `f32` of workspace for aligning the first copy, whatever the address of the workspace.
const SLACK: usize = ALIGNMENT / size_of::<f32>();

/// The operands that a kernel reads, and which of them are copies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packing {
    /// A and B as the kernel reads them.
    pub(super) operands: [OperandLayout; 2],
    /// `None` if the operand is not copied.
    copies: [Option<Copy>; 2],
    /// Bytes of an element of the copies.
    element_bytes: u32,
    /// Whether the copies are planes of the operands.
    is_split: bool,
}

/// A copy of an operand.
#[derive(Clone, Copy, Debug)]
struct Copy {
    /// Elements with the padding.
    elements: usize,
    /// Vectors of 16 bytes that the rows of all matrices have together, if the kernels of [`pack`] make the copy: they
    /// do not transpose, and count in 32 bits. Of planes the blocks that make them.
    vectors: Option<u32>,
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
        let operands = [problem.a, problem.b];
        let mut packing = Self { operands, copies: [None; 2], element_bytes: element_bytes as u32, is_split: false };
        for number in (0..2).filter(|&number| packed[number]) {
            let copy = packed_layout(packing.operands[number], transposed[number], element_bytes)?;
            let (count, [rows, cols]) = (matrices(copy, problem), copy.stored_shape());
            let keeps_layout = copy.transposed == packing.operands[number].transposed;
            let vectors =
                [count, rows].into_iter().try_fold((cols * element_bytes).div_ceil(VECTOR), usize::checked_mul);
            packing.copies[number] = Some(Copy {
                elements: rows.checked_mul(copy.ld)?.checked_mul(count)?,
                vectors: vectors.filter(|&vectors| keeps_layout && i32::try_from(vectors).is_ok()).map(|n| n as u32),
            });
            packing.operands[number] = copy;
        }
        packing.fits().then_some(packing)
    }

    /// The planes of both operands of `problem`. `None` if their size overflows, or is too large for one launch.
    pub(super) fn split(problem: &Problem) -> Option<Self> {
        let len = split::row_len(problem.k);
        let planes = |operand: OperandLayout, lines: usize, is_k_major: bool| {
            let (stride, count) = (lines.checked_mul(len)?, matrices(operand, problem));
            let copy = Copy {
                elements: stride.checked_mul(count)?,
                vectors: Some(split::blocks(count, lines, problem.k, is_k_major)?),
            };
            let stride = if operand.stride == 0 { 0 } else { stride };
            Some((copy, OperandLayout { ld: len, stride, misalignment: 0, ..operand }))
        };
        let [is_k_major_a, is_k_major_b] = problem.k_major();
        let (copy_a, a) = planes(problem.a, problem.m, is_k_major_a)?;
        let (copy_b, b) = planes(problem.b, problem.n, is_k_major_b)?;
        let operands =
            [OperandLayout { cols: len, transposed: false, ..a }, OperandLayout { rows: len, transposed: true, ..b }];
        let copies = [Some(copy_a), Some(copy_b)];
        let packing = Self { operands, copies, element_bytes: size_of::<bf16>() as u32, is_split: true };
        packing.fits().then_some(packing)
    }

    /// Whether the size of the copies in bytes does not overflow.
    fn fits(&self) -> bool {
        let [a, b] = self.elements();
        let bytes = a.checked_add(b).and_then(|elements| elements.checked_mul(self.element_bytes()));
        bytes.is_some_and(|bytes| bytes.checked_add(2 * ALIGNMENT).is_some())
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

    /// Launches that copy: one for each operand that is transposed, and one for the others together.
    pub(super) fn launches(&self) -> usize {
        self.single_launches() + usize::from(self.copies.iter().flatten().any(|copy| copy.vectors.is_some()))
    }

    /// Whether one launch makes the copies, and none of them alone.
    pub(super) fn is_one_launch(&self) -> bool {
        self.effort() == (1, 0)
    }

    /// Launches that copy, and those among them that are for one operand alone: an order of preference.
    pub(super) fn effort(&self) -> (usize, usize) {
        (self.launches(), self.single_launches())
    }

    /// Operands of 16 bits that are transposed.
    pub(super) fn transpositions_of_16_bits(&self) -> usize {
        if self.element_bytes == 2 { self.single_launches() } else { 0 }
    }

    /// Launches that copy one operand alone.
    pub(super) fn single_launches(&self) -> usize {
        self.copies.iter().flatten().filter(|copy| copy.vectors.is_none()).count()
    }

    fn element_bytes(&self) -> usize {
        self.element_bytes as usize
    }

    /// Elements of each copy.
    fn elements(&self) -> [usize; 2] {
        self.copies.map(|copy| copy.map_or(0, |copy| copy.elements))
    }

    /// Bytes of all copies.
    pub(super) fn bytes(&self) -> usize {
        self.elements().iter().sum::<usize>() * self.element_bytes()
    }

    /// `f32` of workspace for the copies.
    pub(super) fn workspace_len(&self) -> usize {
        if self.launches() == 0 { 0 } else { self.bytes().div_ceil(size_of::<f32>()) + SLACK }
    }

    /// The range of `workspace` for each copy.
    fn ranges(&self, workspace: BufferView<'_, f32>) -> [Range<usize>; 2] {
        let misalignment = workspace.address().addr() % ALIGNMENT / size_of::<f32>();
        let mut next = (SLACK - misalignment) % SLACK;
        self.elements().map(|elements| {
            let start = next;
            next += (elements * self.element_bytes()).div_ceil(size_of::<f32>());
            start..next
        })
    }

    /// Copies the operands to be packed to `workspace`, of [`Packing::workspace_len`] elements. If it is one launch
    /// ([`Packing::is_one_launch`]), there may be a pair, of which it is the first one.
    pub(super) fn pack(
        &self,
        (device, stream, pair): (&Device, Option<&Stream>, Option<&Pair<'_>>),
        problem: &Problem,
        operands: [UntypedBuffer<'_>; 2],
        workspace: &mut BufferViewMut<'_, f32>,
    ) -> Result<()> {
        let ranges = self.ranges(workspace.view());
        if self.is_split {
            return self.split_operands((device, stream, pair), problem, operands, (workspace, ranges));
        }
        for number in 0..2 {
            if !self.copies[number].is_some_and(|copy| copy.elements > 0 && copy.vectors.is_none()) {
                continue;
            }
            let (source, target) = (operands[number], workspace.view_mut().slice(ranges[number].clone())?);
            by_size!(source.element_bytes(), U => {
                self.pack_alone::<U>((device, stream), problem, number, source, target)
            })?;
        }
        match operands[0].element_bytes() {
            1 => self.pack_rows(&gemm_sm90_pack_b8, (device, stream, pair), problem, operands, (workspace, ranges)),
            2 => self.pack_rows(&gemm_sm90_pack_b16, (device, stream, pair), problem, operands, (workspace, ranges)),
            // An element of 8 bytes is two.
            4 | 8 => {
                self.pack_rows(&gemm_sm90_pack_b32, (device, stream, pair), problem, operands, (workspace, ranges))
            }
            // No other elements are loaded by TMA.
            _ => Ok(()),
        }
    }

    /// Copies or transposes operand `number` by launches of its own; `U` is an element of its size.
    fn pack_alone<U: Element>(
        &self,
        (device, stream): (&Device, Option<&Stream>),
        problem: &Problem,
        number: usize,
        source: UntypedBuffer<'_>,
        target: BufferViewMut<'_, f32>,
    ) -> Result<()> {
        let (from, to) = ([problem.a, problem.b][number], self.operands[number]);
        let (elements, count) = (self.elements()[number], matrices(from, problem));
        let target = target.cast_start::<U>(elements);
        let source = source.range::<U>(0, from.extent(count, from.rows, from.cols));
        let ([from_rows, from_cols], [rows, cols]) = (from.stored_shape(), to.stored_shape());
        let transposes = to.transposed != from.transposed;
        if transposes && count == 1 {
            let source = source.as_matrix(Layout::contiguous(from_rows, from_cols).ld(from.ld))?;
            let target = target.as_matrix(Layout::contiguous(rows, cols).ld(to.ld))?;
            return transpose::into(device, stream, source.untyped(), target.untyped());
        }
        let source = source.as_tensor_strided(&[count, from_rows, from_cols], &[from.stride, from.ld, 1])?;
        // A single matrix may have a stride of 0, which a tensor to be written must not have.
        let stride = if count == 1 { elements } else { to.stride };
        let target = target.as_tensor_strided(&[count, rows, cols], &[stride, to.ld, 1])?;
        let axes = if transposes { &[0, 2, 1] } else { &[0, 1, 2] };
        permute::run(device, stream, CALL, (source.untyped(), axes), target.untyped())
    }

    /// Copies the operands that are not transposed, in one launch, by a kernel whose elements are as large or smaller.
    fn pack_rows<U: Element>(
        &self,
        kernel: &Pack<U>,
        (device, stream, pair): (&Device, Option<&Stream>, Option<&Pair<'_>>),
        problem: &Problem,
        operands: [UntypedBuffer<'_>; 2],
        (workspace, [of_a, of_b]): (&mut BufferViewMut<'_, f32>, [Range<usize>; 2]),
    ) -> Result<()> {
        let vectors = self.copies.map(|copy| copy.and_then(|copy| copy.vectors).unwrap_or(0));
        // Elements `U` in one of the operand, and operand's elements in a vector.
        let size = operands[0].element_bytes();
        let (words, lanes) = (size / size_of::<U>(), VECTOR / size);
        if vectors == [0; 2] {
            return Ok(());
        }
        let is_copied = vectors.map(|vectors| vectors > 0);
        let copied = [0, 1].map(|number| if is_copied[number] { self.elements()[number] / lanes } else { 0 });
        let (first, second) = workspace.view_mut().split_at(of_b.start)?;
        let of_a = first.slice(of_a)?.cast_start::<Vec4<u32>>(copied[0]);
        let of_b = second.slice(0..of_b.len())?.cast_start::<Vec4<u32>>(copied[1]);
        let arguments = |number: usize, copy| {
            let (from, to) = ([problem.a, problem.b][number], self.operands[number]);
            let len = if is_copied[number] { from.extent(matrices(from, problem), from.rows, from.cols) } else { 0 };
            let [rows, cols] = from.stored_shape();
            Fields((
                operands[number].range::<U>(0, len * words),
                copy,
                [from.ld * words, from.stride * words].map(|stride| stride as u64),
                [to.ld / lanes, to.stride / lanes].map(|stride| stride as u64),
                [rows, cols * words].map(|extent| extent as u32),
                vectors[number],
            ))
        };
        let launch = on(stream, Launch::grid(pack::grid(vectors)));
        let pair = pair.map(|pair| (pair, Role::First));
        device.launch_of_pair(pair, kernel, launch, (arguments(0, of_a), arguments(1, of_b)))?;
        Ok(())
    }

    /// Splits both operands into planes, in one launch.
    fn split_operands(
        &self,
        (device, stream, pair): (&Device, Option<&Stream>, Option<&Pair<'_>>),
        problem: &Problem,
        operands: [UntypedBuffer<'_>; 2],
        (workspace, [of_a, of_b]): (&mut BufferViewMut<'_, f32>, [Range<usize>; 2]),
    ) -> Result<()> {
        let blocks = self.copies.map(|copy| copy.and_then(|copy| copy.vectors).unwrap_or(0));
        let vectors = self.elements().map(|elements| elements * self.element_bytes() / VECTOR);
        let (first, second) = workspace.view_mut().split_at(of_b.start)?;
        let of_a = first.slice(of_a)?.cast_start::<Vec4<u32>>(vectors[0]);
        let of_b = second.slice(0..of_b.len())?.cast_start::<Vec4<u32>>(vectors[1]);
        let arguments = |number: usize, planes| {
            let (from, rows) = ([problem.a, problem.b][number], [problem.m, problem.n][number]);
            let len = from.extent(matrices(from, problem), from.rows, from.cols);
            Fields((
                operands[number].range::<f32>(0, len),
                planes,
                [from.ld, from.stride].map(|stride| stride as u64),
                rows as u32,
                problem.k as u32,
                matrices(from, problem) as u32,
                u32::from(problem.k_major()[number]),
                blocks[number],
            ))
        };
        let launch = on(stream, Launch::grid(blocks[0] + blocks[1]));
        let pair = pair.map(|pair| (pair, Role::First));
        device.launch_of_pair(pair, &gemm_sm90_bf16x6_split, launch, (arguments(0, of_a), arguments(1, of_b)))?;
        Ok(())
    }

    /// The operands that the kernel reads: those given, or their copies in `workspace`.
    pub(super) fn packed_operands<'t, T: Element>(
        &self,
        mut operands: [BufferView<'t, T>; 2],
        workspace: BufferView<'t, f32>,
    ) -> Result<[BufferView<'t, T>; 2]> {
        for (number, range) in self.ranges(workspace).into_iter().enumerate() {
            if let Some(Copy { elements, .. }) = self.copies[number] {
                let elements = elements * self.element_bytes() / size_of::<T>();
                operands[number] = workspace.slice(range)?.cast_range(0, elements);
            }
        }
        Ok(operands)
    }
}

/// The number of different matrices of an operand.
fn matrices(operand: OperandLayout, problem: &Problem) -> usize {
    if operand.stride == 0 { 1 } else { problem.batch }
}

/// The layout of a copy of `from`, with padded rows.
fn packed_layout(from: OperandLayout, transposed: bool, element_bytes: usize) -> Option<OperandLayout> {
    let to = OperandLayout { transposed, ..from };
    let [rows, cols] = to.stored_shape();
    let ld = cols.max(1).checked_next_multiple_of(ALIGNMENT / element_bytes)?;
    let stride = if from.stride == 0 { 0 } else { rows.checked_mul(ld)? };
    Some(OperandLayout { ld, stride, misalignment: 0, ..to })
}
