//! A grouped product: arguments that were checked against each other.

use simt::element::Element;

use super::{CALL, GroupedGemm, GroupedMultiply};
use crate::backend::Queue;
use crate::device::Device;
use crate::error::{ArgumentRule, BadArgument, Error, Result};
use crate::memory::TensorView;
use crate::ops::gemm::dispatch::check_scales;
use crate::ops::gemm::operands::OperandLayout;
use crate::ops::gemm::options::Op;

/// `C_g = A_g·B_g` with the op applied: A is m × k, each B k × n, C m × n, by rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct GroupedProblem {
    pub(super) m: usize,
    pub(super) n: usize,
    /// 0 if alpha is 0.
    pub(super) k: usize,
    pub(super) groups: usize,
    pub(super) a: OperandLayout,
    pub(super) b: OperandLayout,
    pub(super) c: OperandLayout,
}

fn bad(argument: &str, rule: ArgumentRule) -> BadArgument {
    BadArgument::new(rule, CALL, argument)
}

/// A and op(B), and the number of groups.
fn operands<T: GroupedMultiply>(gemm: &GroupedGemm<'_, T>) -> Result<(OperandLayout, OperandLayout, usize)> {
    let a = OperandLayout::of_call((CALL, "a"), gemm.a.axes(), Op::N)?.at(gemm.a.address());
    let b = OperandLayout::of_call((CALL, "b"), gemm.b.axes(), gemm.op_b)?.at(gemm.b.address());
    if a.batch.is_some() {
        return Err(bad("a", ArgumentRule::Axes)
            .expected("two axes: the rows of all groups, and k")
            .found(format_args!("shape {:?}", gemm.a.shape()))
            .remedy("merge the axes of groups and rows: the offsets say where groups begin")
            .into());
    }
    let Some(groups) = b.batch else {
        return Err(bad("b", ArgumentRule::Axes)
            .expected("three axes: groups, k and n, or with transpose_b groups, n and k")
            .found(format_args!("shape {:?}", gemm.b.shape()))
            .remedy("pass the groups' matrices as one tensor; a product with one matrix is Device::gemm")
            .into());
    };
    if a.cols != b.rows {
        return Err(bad("b", ArgumentRule::Shape)
            .expected(format_args!("op(B) with {} rows, as many as A has columns", a.cols))
            .found(format_args!("{} x {}", b.rows, b.cols))
            .remedy("check the order of B's axes, or use transpose_b")
            .into());
    }
    Ok((a, b, groups))
}

/// Rows and columns of C.
pub(super) fn product_shape<T: GroupedMultiply>(gemm: &GroupedGemm<'_, T>) -> Result<[usize; 2]> {
    let (a, b, _) = operands(gemm)?;
    Ok([a.rows, b.cols])
}

impl GroupedProblem {
    pub(super) fn new<T: GroupedMultiply, C: Element>(gemm: &GroupedGemm<'_, T>, c: TensorView<'_, C>) -> Result<Self> {
        let (a, b, groups) = operands(gemm)?;
        let to = OperandLayout::of_call((CALL, "c"), c.axes(), Op::N)?.at(c.address());
        let (m, n, k) = (a.rows, b.cols, a.cols);
        if to.batch.is_some() || (to.rows, to.cols) != (m, n) {
            return Err(bad("c", ArgumentRule::Shape)
                .expected(format_args!("{m} x {n}, rows of A by columns of op(B)"))
                .found(format_args!("shape {:?}", c.shape()))
                .remedy("give C the shape of the product, the rows of all groups one below the other")
                .into());
        }
        if to.transposed && m > 0 && n > 0 {
            return Err(bad("c", ArgumentRule::LeadingDimension)
                .expected("contiguous rows")
                .found(format_args!("strides {:?}", c.strides()))
                .remedy("pass a C by rows, and transpose it afterwards")
                .into());
        }
        let offsets = gemm.offsets.len();
        if offsets != groups && offsets != groups + 1 {
            return Err(bad("offsets", ArgumentRule::Length)
                .expected(format_args!("{groups} offsets, where each group ends, or {}", groups + 1))
                .found(offsets)
                .remedy("group g has rows offsets[g] to offsets[g + 1] - 1; the first offset may be left out")
                .into());
        }
        if let Some(extent) = [m, n, k, groups].into_iter().find(|&extent| extent >= u32::MAX as usize) {
            return Err(bad("a", ArgumentRule::Extent)
                .expected(format_args!("m, n, k and groups below {}", u32::MAX))
                .found(extent)
                .remedy("multiply parts of the groups")
                .into());
        }
        let check_device = |device: &Device, argument| gemm.device.check_same(device, CALL, argument);
        check_device(gemm.a.device(), "a")?;
        check_device(gemm.b.device(), "b")?;
        check_device(gemm.offsets.device(), "offsets")?;
        check_device(c.device(), "c")?;
        gemm.workspace.as_ref().map_or(Ok(()), |workspace| check_device(workspace.device(), "workspace"))?;
        gemm.stream_queue()?;
        // The extents are below 2³².
        let columns = n * groups;
        check_scales((gemm.device, CALL), [(m, "rows of A"), (columns, "columns of each group")], &gemm.scales)?;
        if gemm.scales[1].is_some() && columns > u32::MAX as usize {
            return Err(bad("column_scales", ArgumentRule::Extent)
                .expected(format_args!("at most {} factors, which kernels count with 32 bits", u32::MAX))
                .found(columns)
                .remedy("multiply parts of the groups")
                .into());
        }
        let k = if gemm.scale[0] == 0.0 { 0 } else { k };
        Ok(Self { m, n, k, groups, a, b, c: to })
    }

    /// Whether nothing is to be written.
    pub(super) fn is_empty(&self) -> bool {
        self.m == 0 || self.n == 0 || self.groups == 0
    }
}

impl<T: GroupedMultiply> GroupedGemm<'_, T> {
    /// The queue of the stream; refuses one of another device.
    pub(super) fn stream_queue(&self) -> Result<&Queue> {
        let Some(stream) = self.stream else { return Ok(self.device.queue()) };
        self.device.check_same(stream.device(), CALL, "stream")?;
        Ok(stream.queue())
    }

    pub(super) fn check_no_beta(&self) -> Result<()> {
        if self.scale[1] == 0.0 {
            return Ok(());
        }
        Err(bad("beta", ArgumentRule::Shape)
            .expected("0, since C is newly allocated")
            .found(self.scale[1])
            .remedy("use GroupedGemm::into, with the C to add to")
            .into())
    }
}

/// Refuses offsets that decrease, or are past the last row.
pub(super) fn check_offsets(offsets: &[u32], problem: &GroupedProblem) -> Result<()> {
    let refuse = |at: usize, expected: String| -> Error {
        bad("offsets", ArgumentRule::Range)
            .expected(expected)
            .found(format_args!("{} at index {at}", offsets[at] as i32))
            .remedy("group g has rows offsets[g] to offsets[g + 1] - 1; a GPU would clamp the offset without a word")
            .into()
    };
    let mut before = 0;
    for (at, &offset) in offsets.iter().enumerate() {
        if offset as usize > problem.m {
            return Err(refuse(at, format!("offsets of at most {}, the rows of A", problem.m)));
        }
        if offset < before {
            return Err(refuse(at, format!("offsets that do not decrease, here at least {before}")));
        }
        before = offset;
    }
    Ok(())
}
