//! GEMM problems C = A·B: shapes and positions of the three matrices, their data, and a kernel's launch.

use ndarray::{Array2, ArrayView2};
use proptest::prelude::*;
use simt::Kernel;
use simt::global::{MatMut, MatRef};
use warpwright::{Device, Launch, Result};

use super::frame::{Frame, Place};
use super::problem::{Expected, OnDevice, Outcome, Problem, unless_empty};
use super::{shapes, values};

/// A GEMM kernel.
pub(crate) type Gemm = Kernel<(MatRef<'static, f32>, MatRef<'static, f32>, MatMut<'static, f32>)>;

/// A shape, three positions, and seeds of data and schedule.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) m: usize,
    pub(crate) k: usize,
    pub(crate) n: usize,
    pub(crate) places: [Place; 3],
    pub(crate) data: u64,
    pub(crate) schedule: u64,
}

/// Cases with the extents m, k and n of `extents`.
pub(crate) fn case_of(extents: impl Strategy<Value = [usize; 3]>) -> impl Strategy<Value = Case> {
    let places = [shapes::place(), shapes::place(), shapes::place()];
    (extents, places, any::<u64>(), any::<u64>()).prop_map(|([m, k, n], places, data, schedule)| Case {
        m,
        k,
        n,
        places,
        data,
        schedule,
    })
}

/// A case where no matrix is aligned.
pub(crate) fn sample(m: usize, k: usize, n: usize) -> Case {
    let places = [(3, 1, 2), (0, 5, 1), (1, 2, 4)].map(|(offset, gap, after)| Place { offset, gap, after });
    Case { m, k, n, places, data: 5, schedule: 6 }
}

impl Case {
    pub(crate) fn problem(&self, a: &Array2<f32>, b: &Array2<f32>, expected: Vec<Expected>) -> Problem {
        let [in_a, in_b, in_c] = self.places;
        Problem {
            inputs: vec![Frame::holding(a.view(), in_a), Frame::holding(b.view(), in_b)],
            output: Frame::blank(self.m, self.n, in_c),
            expected,
        }
    }

    /// A and B of small integers.
    pub(crate) fn integers(&self) -> (Array2<f32>, Array2<f32>) {
        let mut rng = values::rng(self.data);
        (values::integers(self.m, self.k, &mut rng), values::integers(self.k, self.n, &mut rng))
    }

    /// A and B of reals up to `scale`.
    pub(crate) fn reals(&self, scale: f32) -> (Array2<f32>, Array2<f32>) {
        let mut rng = values::rng(self.data);
        (values::reals(self.m, self.k, scale, &mut rng), values::reals(self.k, self.n, scale, &mut rng))
    }
}

/// A·B with `i64`, exact while it stays below 2²⁴.
pub(crate) fn integer_product(a: ArrayView2<f32>, b: ArrayView2<f32>) -> Vec<f32> {
    let mut product = Vec::with_capacity(a.nrows() * b.ncols());
    for row in a.rows() {
        for col in b.columns() {
            let sum: i64 = row.iter().zip(col).map(|(&x, &y)| x as i64 * y as i64).sum();
            assert!(sum.abs() < 1 << 24, "the data is too large for the test");
            product.push(sum as f32);
        }
    }
    product
}

/// Launches a kernel with `launch(m, n)` for the m × n elements of C.
pub(crate) fn by_launch(
    device: &Device,
    problem: &Problem,
    kernel: &Gemm,
    launch: impl Fn(u32, u32) -> Launch<'static>,
) -> Result<Outcome> {
    let mut on = problem.upload(device)?;
    let OnDevice { inputs, output } = &mut on;
    let a = inputs[0].view().as_matrix(problem.inputs[0].layout())?;
    let b = inputs[1].view().as_matrix(problem.inputs[1].layout())?;
    let c = output.view_mut().as_matrix(problem.output.layout())?;
    let (launch, empty) = (launch(c.rows() as u32, c.cols() as u32), c.is_empty());
    unless_empty(empty, device.launch(kernel, launch, (a, b, c)))?;
    on.download()
}
