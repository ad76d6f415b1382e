//! A product whose arguments agree with each other.

use gpu::gemm::call::{BIAS_PER_COLUMN, BIAS_PER_ROW};

use super::stored::OperandLayout;
use super::{Bias, CALL};
use crate::error::{ArgumentRule, BadArgument, Result};

/// C = A·B with op already taken: A is m × k, B k × n, C m × n and row by row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Problem {
    pub(super) m: usize,
    pub(super) n: usize,
    /// 0 where the product is left out.
    pub(super) k: usize,
    /// Number of products.
    pub(super) batch: usize,
    pub(super) a: OperandLayout,
    pub(super) b: OperandLayout,
    pub(super) c: OperandLayout,
    /// The bias's bit of a call's flags.
    pub(super) bias: u32,
    /// Whether `a` is the second operand of the caller's and `b` the first: a C that lies column by column is the transpose
    /// of Bᵀ·Aᵀ.
    pub(super) exchanged: bool,
}

impl Problem {
    /// `a` and `b` are op(A) and op(B). `product` tells whether alpha is not 0.
    pub(super) fn new(
        a: OperandLayout,
        b: OperandLayout,
        c: OperandLayout,
        bias: Option<(Bias, usize)>,
        product: bool,
    ) -> Result<Self> {
        let (m, n) = inner(a, b)?;
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
                .remedy("leave the call out where there is nothing to multiply")
                .into());
        }
        problem.a.stride = stride("a", a, batch)?;
        problem.b.stride = stride("b", b, batch)?;
        problem.bias = match bias {
            None => 0,
            Some((Bias::PerColumn, len)) => one_each(len, n, "columns", BIAS_PER_COLUMN)?,
            Some((Bias::PerRow, len)) => one_each(len, m, "rows", BIAS_PER_ROW)?,
        };
        if !product {
            problem.k = 0;
        }
        if problem.k > u32::MAX as usize {
            return Err(bad("a", ArgumentRule::Extent)
                .expected(format_args!("at most {} columns of op(A)", u32::MAX))
                .found(problem.k)
                .remedy("add up products of parts along k, with beta = 1 from the second on")
                .into());
        }
        Ok(if c.transposed { problem.exchange() } else { problem })
    }

    /// Rows and columns of C.
    pub(super) fn is_empty(&self) -> bool {
        self.m == 0 || self.n == 0
    }

    /// Something about A and about B, in the caller's order or back.
    pub(super) fn in_order<X>(&self, [a, b]: [X; 2]) -> [X; 2] {
        if self.exchanged { [b, a] } else { [a, b] }
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

/// Rows and columns of the product of two operands that agree.
pub(super) fn inner(a: OperandLayout, b: OperandLayout) -> Result<(usize, usize)> {
    if a.cols == b.rows {
        return Ok((a.rows, b.cols));
    }
    Err(bad("b", ArgumentRule::Shape)
        .expected(format_args!("op(B) with {} rows, as many as op(A) has columns", a.cols))
        .found(format_args!("{} x {}", b.rows, b.cols))
        .remedy("check the order of the factors, or transpose one with transpose_a or transpose_b")
        .into())
}

/// The number of matrices that two operands give together, if either has an axis for it.
pub(super) fn batch(a: OperandLayout, b: OperandLayout) -> Option<usize> {
    a.batch.filter(|&count| count != 1).or(b.batch).or(a.batch)
}

fn bad(argument: &str, rule: ArgumentRule) -> BadArgument {
    BadArgument::new(rule, CALL, argument)
}

/// Elements from matrix to matrix of an operand: one matrix is that of every product.
fn stride(argument: &str, operand: OperandLayout, batch: usize) -> Result<usize> {
    match operand.batch {
        None | Some(1) => Ok(0),
        Some(count) if count == batch => Ok(operand.stride),
        Some(count) => Err(bad(argument, ArgumentRule::Shape)
            .expected(format_args!("one matrix, or a batch of {batch} as C is"))
            .found(format_args!("{count} matrices"))
            .remedy("give all batches one length; C has an axis for them if A or B has")
            .into()),
    }
}

/// The flag of a bias that has one number for each row or column of C.
fn one_each(len: usize, extent: usize, of: &str, flag: u32) -> Result<u32> {
    if len == extent {
        return Ok(flag);
    }
    Err(bad("bias", ArgumentRule::Length)
        .expected(format_args!("{extent} numbers, one for each of C's {of}"))
        .found(len)
        .remedy("bias adds one number to each column, bias_per_row one to each row; take a slice of a longer vector")
        .into())
}
