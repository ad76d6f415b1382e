//! From a builder to a checked problem, its plan and its launches.

use std::sync::Arc;

use gpu::gemm::args::{INTEGER_C, SCALE_BLOCK, SCALES};
use simt::element::Element;

use super::algorithm::{Algorithm, Plan};
use super::builder::Gemm;
use super::choice::{KeptPlan, Planned};
use super::element::{Multiply, Output, OutputBuffers};
use super::launch::{Task, is_paired};
use super::launch_config::GridLimits;
use super::operands::OperandLayout;
use super::options::{Activation, CALL, Op};
use super::problem::{Epilogue, Problem, Request};
use super::{choice, planner, problem};
use crate::backend::{Pair, Queue};
use crate::device::Device;
use crate::error::{ArgumentRule, BadArgument, Error, Result};
use crate::memory::{BufferView, BufferViewMut, Matrix, TensorView, TensorViewMut};

impl<T: Multiply> Gemm<'_, T> {
    pub(super) fn allocate<C: Output<T>>(self) -> Result<Matrix<C>> {
        let [a, b] = self.operands()?;
        let (m, n) = problem::product_shape(a, b)?;
        self.check_no_beta()?;
        if let Some(batch) = problem::batch_size(a, b) {
            return Err(BadArgument::new(ArgumentRule::Axes, CALL, "a")
                .expected("two matrices, whose product is a matrix")
                .found(format_args!("a batch of {batch}"))
                .remedy("use run_batch")
                .into());
        }
        let mut c = self.device.alloc_matrix_on(self.stream_queue()?, m, n)?;
        self.into_with_workspace(c.view_mut().into())?;
        Ok(c)
    }

    /// [`Gemm::into`], with a workspace of its own if the cheapest algorithm needs one and none was given.
    pub(super) fn into_with_workspace<C: Output<T>>(self, mut c: TensorViewMut<'_, C>) -> Result<()> {
        let planned = self.planned(c.view())?;
        let (device, grid) = (self.device, self.device.limits().grid);
        let cheapest = planned.cheapest(usize::MAX);
        let with_workspace = cheapest.filter(|kept| self.workspace.is_none() && kept.plan.workspace_len() > 0);
        let Some(kept @ KeptPlan { plan, .. }) = with_workspace else {
            let kept = self.choose(&planned)?;
            return self.queue(&planned.problem, kept, &mut c, grid);
        };
        let mut workspace = match device.alloc_on(self.stream_queue()?, plan.workspace_len()) {
            // Some algorithms need none.
            Err(Error::OutOfMemory { .. }) if self.algorithm.is_none() => return self.into(c),
            workspace => workspace?,
        };
        if let Some(schedule) = plan.work.stream_k {
            schedule.memory(&T::configurations()[plan.configuration]).zero_flags(&mut workspace)?;
        }
        let gemm = Gemm { workspace: Some(workspace.view_mut()), ..self };
        gemm.queue(&planned.problem, kept, &mut c, grid)
    }

    /// [`Gemm::into`] with grids of at most so many blocks along x, y and z.
    pub(super) fn into_with_grid<C: Output<T>>(self, c: &mut TensorViewMut<'_, C>, grid: [u32; 3]) -> Result<()> {
        let planned = self.planned(c.view())?;
        let kept = self.choose(&planned)?;
        self.queue(&planned.problem, kept, c, grid)
    }

    pub(super) fn operands(&self) -> Result<[OperandLayout; 2]> {
        let [a, b] = self.ops;
        let [a, b] = [OperandLayout::of("a", self.a.axes(), a)?, OperandLayout::of("b", self.b.axes(), b)?];
        Ok([a.at(self.a.address()), b.at(self.b.address())])
    }

    /// The queue of the stream; refuses one of another device.
    pub(super) fn stream_queue(&self) -> Result<&Queue> {
        let Some(stream) = self.stream else { return Ok(self.device.queue()) };
        self.device.check_same(stream.device(), CALL, "stream")?;
        Ok(stream.queue())
    }

    /// The problem, with all arguments checked.
    pub(super) fn problem<C: Output<T>>(&self, c: TensorView<'_, C>) -> Result<Problem> {
        self.check_integers::<C>()?;
        let [a, b] = self.operands()?;
        let bias = self.bias.as_ref().map(|(kind, numbers)| (*kind, numbers.len()));
        let to = OperandLayout::of("c", c.axes(), Op::N)?.at(c.address());
        let problem = Problem::new(a, b, to, bias, self.alpha != T::Wide::from(0.0))?;
        self.check_arguments(c, &problem)?;
        Ok(problem)
    }

    /// The problem and its plans, with all arguments checked.
    fn planned<C: Output<T>>(&self, c: TensorView<'_, C>) -> Result<Arc<Planned>> {
        let planned = choice::kept(self, c, || {
            let problem = self.problem(c)?;
            let request = self.request::<C>(&problem);
            // Without a product any algorithm is accepted, and the epilogue alone is planned.
            let is_product = problem.k > 0 && !problem.is_empty();
            if let Some(algorithm) = self.algorithm.filter(|_| is_product) {
                let plan = Self::plan_for(&request, algorithm)?;
                return Ok(Planned::new(problem, [plan].into_iter()));
            }
            let is_allowed = |plan: &Plan| !self.sequential || T::configurations()[plan.configuration].is_sequential;
            let plans = planner::plans::<T>(&request).into_iter().filter(is_allowed);
            Ok(Planned::new(problem, plans))
        })?;
        self.check_arguments(c, &planned.problem)?;
        Ok(planned)
    }

    /// Checks what calls with the same problem and options may differ in: devices, and the factors.
    fn check_arguments<C: Output<T>>(&self, c: TensorView<'_, C>, problem: &Problem) -> Result<()> {
        let check_device = |device: &Device, argument| self.device.check_same(device, CALL, argument);
        check_device(self.a.device(), "a")?;
        check_device(self.b.device(), "b")?;
        check_device(c.device(), "c")?;
        self.bias.as_ref().map_or(Ok(()), |(_, bias)| check_device(bias.device(), "bias"))?;
        let [m, n] = problem.in_order([problem.m, problem.n]);
        check_scales((self.device, CALL), [(m, "rows of C"), (n, "columns of C")], &self.scales)?;
        self.check_block_scales(problem)?;
        self.workspace.as_ref().map_or(Ok(()), |workspace| check_device(workspace.device(), "workspace"))?;
        self.stream_queue().map(drop)
    }

    /// What the plan for `problem` depends on.
    pub(super) fn request<'r, C: Element>(&'r self, problem: &'r Problem) -> Request<'r> {
        Request {
            problem,
            epilogue: Epilogue {
                scales: self.alpha != T::Wide::from(1.0),
                has_scales: self.scales.iter().any(Option::is_some),
                has_block_scales: self.block_scales.is_some(),
                transforms: self.bias.is_some() || self.activation != Activation::None,
                accumulates: self.beta != T::Wide::from(0.0),
                output_bytes: size_of::<C>(),
            },
            arithmetic: self.arithmetic,
            device: self.device,
            sm_count: self.sm_count(),
        }
    }

    /// SMs that the work may occupy.
    pub(super) fn sm_count(&self) -> u32 {
        let all = self.device.limits().sm_count;
        self.sm_count_target.map_or(all, |target| target.min(all))
    }

    /// The plan for the algorithm that was named, or the cheapest for which there is workspace.
    fn choose<'p>(&self, planned: &'p Planned) -> Result<&'p KeptPlan> {
        let available = self.workspace.as_ref().map_or(0, BufferViewMut::len);
        if let Some(kept) = planned.cheapest(available) {
            return Ok(kept);
        }
        let Some(KeptPlan { plan, .. }) = planned.cheapest(usize::MAX).filter(|_| self.algorithm.is_some()) else {
            return Err(not_applicable("any", "none"));
        };
        Err(BadArgument::new(ArgumentRule::Length, CALL, "workspace")
            .expected(format_args!("at least {} elements for {}", plan.workspace_len(), plan.algorithm()))
            .found(available)
            .remedy("allocate Plan::workspace_len elements, or use an algorithm without splits and copies")
            .into())
    }

    /// The plan for an algorithm.
    pub(super) fn plan_for(request: &Request<'_>, algorithm: Algorithm) -> Result<Plan> {
        planner::plan_for::<T>(request, algorithm).map_err(|unsupported| {
            let plans = planner::plans::<T>(request);
            let mut names: Vec<_> = plans.iter().map(|plan| plan.algorithm().kernel().name).collect();
            names.sort_unstable();
            names.dedup();
            not_applicable(&names.join(", "), &format!("{algorithm}, which {unsupported}"))
        })
    }

    /// Whether there is a factor for each block, and nothing that is not computed with them.
    fn check_block_scales(&self, problem: &Problem) -> Result<()> {
        let Some(factors) = &self.block_scales else { return Ok(()) };
        let bad = |rule, argument| BadArgument::new(rule, CALL, argument);
        let blocks = |extent: usize| extent.div_ceil(SCALE_BLOCK as usize);
        let [m, n] = problem.in_order([problem.m, problem.n]);
        // With alpha = 0 the problem has no k.
        let k = self.operands()?[0].cols;
        let expected = [("a_scales", [m, blocks(k)]), ("b_scales", [blocks(n), blocks(k)])];
        for ((argument, [rows, cols]), factors) in expected.into_iter().zip(factors) {
            self.device.check_same(factors.device(), CALL, argument)?;
            if (factors.rows(), factors.cols()) != (rows, cols) {
                return Err(bad(ArgumentRule::Shape, argument)
                    .expected(format_args!("{rows} x {cols} factors for a product of {m} x {n} x {k}"))
                    .found(format_args!("{} x {}", factors.rows(), factors.cols()))
                    .remedy("give a factor for each row of op(A), or 128 columns of op(B), and each 128 of k")
                    .into());
            }
        }
        let refuse = |argument, expected, found: String, remedy| {
            Err(bad(ArgumentRule::Shape, argument).expected(expected).found(found).remedy(remedy).into())
        };
        for (argument, factors) in SCALES_ARGUMENTS.into_iter().zip(&self.scales) {
            if let Some(factors) = factors {
                let expected = "none beside factors of blocks";
                return refuse(argument, expected, factors.len().to_string(), "give these factors, or those of blocks");
            }
        }
        if problem.batch != 1 {
            let expected = "one matrix with factors of blocks";
            return refuse("c", expected, problem.batch.to_string(), "multiply the matrices of the batch one by one");
        }
        if problem.exchanged {
            let (expected, found) = ("a row-major matrix with factors of blocks", "a column-major one".into());
            return refuse("c", expected, found, "compute a row-major C, and transpose it afterwards");
        }
        Ok(())
    }

    /// Refuses whatever is applied to sums of integers that C takes as they are.
    fn check_integers<C: Output<T>>(&self) -> Result<()> {
        let is_product = self.alpha == T::Wide::from(1.0)
            && self.beta == T::Wide::from(0.0)
            && self.bias.is_none()
            && self.scales.iter().all(Option::is_none)
            && self.activation == Activation::None;
        if C::FLAGS & INTEGER_C == 0 || is_product {
            return Ok(());
        }
        Err(BadArgument::new(ArgumentRule::Elements, CALL, "c")
            .expected(
                "elements of f32, bf16 or f16, since alpha, beta, factors, bias and activation are applied in f32",
            )
            .found("i32")
            .remedy("give C another element type, or multiply with alpha = 1 and beta = 0 alone")
            .into())
    }

    pub(super) fn check_no_beta(&self) -> Result<()> {
        if self.beta == T::Wide::from(0.0) {
            return Ok(());
        }
        Err(BadArgument::new(ArgumentRule::Shape, CALL, "beta")
            .expected("0, since C is newly allocated")
            .found(format_args!("{:?}", self.beta))
            .remedy("use Gemm::into, with the C to add to")
            .into())
    }

    /// Launches what the plan says.
    pub(super) fn queue<C: Output<T>>(
        mut self,
        problem: &Problem,
        KeptPlan { plan, config }: &KeptPlan,
        c: &mut TensorViewMut<'_, C>,
        grid: [u32; 3],
    ) -> Result<()> {
        if problem.is_empty() {
            return Ok(());
        }
        let (a, b) = if problem.exchanged { (self.b, self.a) } else { (self.a, self.b) };
        let limits = GridLimits { sm_count: self.sm_count(), is_sm_target: self.sm_count_target.is_some(), grid };
        let alpha = if problem.k == 0 { T::Wide::from(0.0) } else { self.alpha };
        let pair = is_paired(plan).then(|| self.device.backend().pair());
        let task = Task {
            device: self.device,
            stream: self.stream,
            problem,
            plan,
            config,
            a: a.elements(),
            b: b.elements(),
            source: None,
            bias: self.bias.map(|(_, numbers)| numbers),
            scales: problem.in_order(self.scales),
            block_scales: self.block_scales,
            scale: [alpha, self.beta],
            flags: problem.bias
                | self.activation.flag()
                | if self.scales.iter().any(Option::is_some) { SCALES } else { 0 },
            limits,
            pair: pair.as_ref(),
        };
        let elements = c.view().elements().len();
        task.run(OutputBuffers::of(c.cast_range_mut::<C>(0, elements)), self.workspace.as_mut())?;
        pair.map_or(Ok(()), Pair::finish)
    }
}

/// The arguments of factors of rows and of columns.
const SCALES_ARGUMENTS: [&str; 2] = ["row_scales", "column_scales"];

/// Whether there are as many factors of rows, and of columns, as `expected` says, and what of.
pub(super) fn check_scales(
    (device, call): (&Device, &'static str),
    expected: [(usize, &str); 2],
    scales: &[Option<BufferView<'_, f32>>; 2],
) -> Result<()> {
    for ((argument, (expected, of)), factors) in SCALES_ARGUMENTS.into_iter().zip(expected).zip(scales) {
        let Some(factors) = factors else { continue };
        device.check_same(factors.device(), call, argument)?;
        if factors.len() != expected {
            return Err(BadArgument::new(ArgumentRule::Length, call, argument)
                .expected(format_args!("{expected} factors, one for each of the {of}"))
                .found(factors.len())
                .remedy("give one factor for each; a factor of all is alpha")
                .into());
        }
    }
    Ok(())
}

fn not_applicable(expected: &str, found: &str) -> Error {
    BadArgument::new(ArgumentRule::Algorithm, CALL, "algorithm")
        .expected(format_args!("an algorithm that is applicable: {expected}"))
        .found(found)
        .remedy("use one that Gemm::plans lists, or leave the choice to the planner")
        .into()
}
