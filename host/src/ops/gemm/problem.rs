//! A GEMM problem: arguments that were checked against each other.

use gpu::gemm::args::{BIAS_PER_COLUMN, BIAS_PER_ROW};

use super::operands::OperandLayout;
use super::options::{Arithmetic, Bias, CALL};
use crate::device::Device;
use crate::error::{ArgumentRule, BadArgument, Result};

/// C = A·B, with the ops applied: A is m × k, B is k × n, C is m × n and row-major.
#[derive(Clone, Copy, Debug)]
pub(super) struct Problem {
    pub(super) m: usize,
    pub(super) n: usize,
    /// 0 if alpha is 0.
    pub(super) k: usize,
    /// Number of products.
    pub(super) batch: usize,
    pub(super) a: OperandLayout,
    pub(super) b: OperandLayout,
    pub(super) c: OperandLayout,
    /// The kernels' flag for the kind of bias, or 0.
    pub(super) bias: u32,
    /// Whether `a` is the caller's B and `b` the caller's A: a column-major C is computed as Cᵀ = Bᵀ·Aᵀ.
    pub(super) exchanged: bool,
}

/// What a plan depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request<'r> {
    pub(super) problem: &'r Problem,
    pub(super) epilogue: Epilogue,
    pub(super) arithmetic: Arithmetic,
    /// The device, which has PTX for some of the kernels.
    pub(super) device: &'r Device,
    /// SMs that the cost is estimated for.
    pub(super) sm_count: u32,
}

/// What follows the product.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent properties of a call")]
pub(super) struct Epilogue {
    /// alpha is not 1.
    pub(super) scales: bool,
    /// Rows or columns have factors of their own.
    pub(super) has_scales: bool,
    /// Blocks of the operands have factors.
    pub(super) has_block_scales: bool,
    /// There is a bias or an activation.
    pub(super) transforms: bool,
    /// beta is not 0.
    pub(super) accumulates: bool,
    /// Bytes of an element of C.
    pub(super) output_bytes: usize,
}

impl Request<'_> {
    /// Whether TMA can store C: it is the product, scaled at most, the kernel stores elements of so many bytes, and TMA
    /// can address them.
    pub(super) fn allows_tma_store(&self, stores: impl Fn(usize) -> bool) -> bool {
        let Problem { c, batch, .. } = self.problem;
        let bytes = self.epilogue.output_bytes;
        self.is_scaled_only() && stores(bytes) && c.tma_storable(*batch, bytes)
    }

    /// Whether C is alpha times the product.
    pub(super) fn is_scaled_only(&self) -> bool {
        !self.epilogue.transforms && !self.epilogue.accumulates
    }
}

impl Problem {
    /// The problem with the operands op(A) and op(B). `has_product` is false if alpha is 0.
    pub(super) fn new(
        a: OperandLayout,
        b: OperandLayout,
        c: OperandLayout,
        bias: Option<(Bias, usize)>,
        has_product: bool,
    ) -> Result<Self> {
        let (m, n) = product_shape(a, b)?;
        if (c.rows, c.cols) != (m, n) {
            return Err(bad("c", ArgumentRule::Shape)
                .expected(format_args!("{m} x {n}, rows of op(A) by columns of op(B)"))
                .found(format_args!("{} x {}", c.rows, c.cols))
                .remedy("give C the shape of the product")
                .into());
        }
        let batch = c.batch.unwrap_or(1);
        let mut problem = Self { m, n, k: a.cols, batch, a, b, c, bias: 0, exchanged: false };
        if batch == 0 {
            return Err(bad("c", ArgumentRule::Elements)
                .expected("at least one matrix in a batch")
                .found("none")
                .remedy("skip the call for an empty batch")
                .into());
        }
        problem.a.stride = batch_stride("a", a, batch)?;
        problem.b.stride = batch_stride("b", b, batch)?;
        problem.bias = match bias {
            None => 0,
            Some((Bias::PerColumn, len)) => bias_flag(len, n, "columns", BIAS_PER_COLUMN)?,
            Some((Bias::PerRow, len)) => bias_flag(len, m, "rows", BIAS_PER_ROW)?,
        };
        if !has_product {
            problem.k = 0;
        }
        if problem.k > u32::MAX as usize {
            return Err(bad("a", ArgumentRule::Extent)
                .expected(format_args!("at most {} columns of op(A)", u32::MAX))
                .found(problem.k)
                .remedy("multiply slices along k, all but the first with beta = 1")
                .into());
        }
        Ok(if c.transposed { problem.exchange() } else { problem })
    }

    /// Whether C has no elements.
    pub(super) fn is_empty(&self) -> bool {
        self.m == 0 || self.n == 0
    }

    /// A pair for A and B in the caller's order, or from that order into this problem's.
    pub(super) fn in_order<X>(&self, [a, b]: [X; 2]) -> [X; 2] {
        if self.exchanged { [b, a] } else { [a, b] }
    }

    /// Whether A and B are K-major: their rows in memory run along k.
    pub(super) fn k_major(&self) -> [bool; 2] {
        [!self.a.transposed, self.b.transposed]
    }

    /// A and B as batches along k: the next matrix begins `part` elements of k later.
    pub(super) fn batched_along_k(&self, part: usize) -> [OperandLayout; 2] {
        [
            OperandLayout { stride: self.a.offset(0, part), ..self.a },
            OperandLayout { stride: self.b.offset(part, 0), ..self.b },
        ]
    }

    /// Cᵀ = Bᵀ·Aᵀ.
    fn exchange(self) -> Self {
        let bias = match self.bias {
            BIAS_PER_COLUMN => BIAS_PER_ROW,
            BIAS_PER_ROW => BIAS_PER_COLUMN,
            none => none,
        };
        let (m, n, a, b, c) = (self.n, self.m, self.b.t(), self.a.t(), self.c.t());
        Self { m, n, a, b, c, bias, exchanged: !self.exchanged, ..self }
    }
}

/// Rows and columns of op(A)·op(B).
pub(super) fn product_shape(a: OperandLayout, b: OperandLayout) -> Result<(usize, usize)> {
    if a.cols == b.rows {
        return Ok((a.rows, b.cols));
    }
    Err(bad("b", ArgumentRule::Shape)
        .expected(format_args!("op(B) with {} rows, as many as op(A) has columns", a.cols))
        .found(format_args!("{} x {}", b.rows, b.cols))
        .remedy("check the order of the operands, or transpose one with transpose_a or transpose_b")
        .into())
}

/// The batch size of the product, if either operand has a batch axis.
pub(super) fn batch_size(a: OperandLayout, b: OperandLayout) -> Option<usize> {
    a.batch.filter(|&count| count != 1).or(b.batch).or(a.batch)
}

fn bad(argument: &str, rule: ArgumentRule) -> BadArgument {
    BadArgument::new(rule, CALL, argument)
}

/// Elements from matrix to matrix of an operand; a single matrix serves the whole batch.
fn batch_stride(argument: &str, operand: OperandLayout, batch: usize) -> Result<usize> {
    match operand.batch {
        None | Some(1) => Ok(0),
        Some(count) if count == batch => Ok(operand.stride),
        Some(count) => Err(bad(argument, ArgumentRule::Shape)
            .expected(format_args!("one matrix, or a batch of {batch}, as C is"))
            .found(format_args!("{count} matrices"))
            .remedy("use one batch size for all; C has a batch axis if A or B has one")
            .into()),
    }
}

/// `flag`, if the bias has one element for each row or column of C.
fn bias_flag(len: usize, extent: usize, of: &str, flag: u32) -> Result<u32> {
    if len == extent {
        return Ok(flag);
    }
    Err(bad("bias", ArgumentRule::Length)
        .expected(format_args!("{extent} elements, one for each of C's {of}"))
        .found(len)
        .remedy("bias adds one number to each column, bias_per_row one to each row; pass a slice of a longer vector")
        .into())
}
