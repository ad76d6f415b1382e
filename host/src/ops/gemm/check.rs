//! From a description to a checked product, its plan and its launches.

use gpu::gemm::call::{GELU, RELU};
use simt::element::Element;

use super::element::Destination;
use super::plan::Demands;
use super::problem::Problem;
use super::run::Task;
use super::stored::OperandLayout;
use super::{Activation, Algorithm, CALL, Gemm, Multiply, Op, Output, Plan, plan, problem};
use crate::device::Device;
use crate::error::{ArgumentRule, BadArgument, Error, Result};
use crate::memory::{BufferViewMut, Matrix, TensorView, TensorViewMut};

impl<T: Multiply> Gemm<'_, T> {
    pub(super) fn allocate<C: Output<T>>(self) -> Result<Matrix<C>> {
        let [a, b] = self.operands()?;
        let (m, n) = problem::inner(a, b)?;
        self.without_beta()?;
        if let Some(batch) = problem::batch(a, b) {
            return Err(BadArgument::new(ArgumentRule::Axes, CALL, "a")
                .expected("two matrices, for a result that is one")
                .found(format_args!("a batch of {batch}"))
                .remedy("take run_batch")
                .into());
        }
        let mut c = self.device.alloc_matrix(m, n)?;
        self.with_memory(c.view_mut().into())?;
        Ok(c)
    }

    /// [`Gemm::into`], with a workspace if the cheapest way needs one that was not given.
    pub(super) fn with_memory<C: Output<T>>(self, mut c: TensorViewMut<'_, C>) -> Result<()> {
        let problem = self.problem(c.view())?;
        let demands = self.demands::<C>();
        let wanted = match self.algorithm {
            Some(algorithm) => plan::named::<T>(&problem, demands, algorithm).ok(),
            None => plan::plans::<T>(&problem, demands).first().copied(),
        };
        match wanted {
            Some(plan) if self.workspace.is_none() && plan.workspace > 0 => {
                let device = self.device;
                let mut workspace = match device.alloc(plan.workspace) {
                    // There are ways that need none.
                    Err(Error::OutOfMemory { .. }) if self.algorithm.is_none() => return self.into(c),
                    workspace => workspace?,
                };
                if let Some(cut) = plan.cut {
                    // Whatever they hold is right, but nobody should read what was never written.
                    workspace.slice_mut(0..cut.flags())?.zero()?;
                }
                Gemm { workspace: Some(workspace.view_mut()), ..self }.queue(
                    &problem,
                    &plan,
                    &mut c,
                    device.limits().grid,
                )
            }
            _ => self.into(c),
        }
    }

    /// [`Gemm::into`], by launches of at most so many blocks along x, y and z.
    pub(super) fn into_sections<C: Output<T>>(self, c: &mut TensorViewMut<'_, C>, grid: [u32; 3]) -> Result<()> {
        let problem = self.problem(c.view())?;
        let plan = self.choose(&problem, self.demands::<C>())?;
        self.queue(&problem, &plan, c, grid)
    }

    pub(super) fn operands(&self) -> Result<[OperandLayout; 2]> {
        let [a, b] = self.ops;
        let [a, b] = [OperandLayout::of("a", self.a.axes(), a)?, OperandLayout::of("b", self.b.axes(), b)?];
        Ok([a.at(self.a.address()), b.at(self.b.address())])
    }

    /// The product, checked.
    pub(super) fn problem<C: Element>(&self, c: TensorView<'_, C>) -> Result<Problem> {
        let [a, b] = self.operands()?;
        let bias = self.bias.as_ref().map(|(kind, numbers)| (*kind, numbers.len()));
        let to = OperandLayout::of("c", c.axes(), Op::N)?.at(c.address());
        let problem = Problem::new(a, b, to, bias, self.alpha != T::Wide::from(0.0))?;
        let same = |device: &Device, argument| self.device.check_same(device, CALL, argument);
        same(self.a.device(), "a")?;
        same(self.b.device(), "b")?;
        same(c.device(), "c")?;
        self.bias.as_ref().map_or(Ok(()), |(_, numbers)| same(numbers.device(), "bias"))?;
        self.workspace.as_ref().map_or(Ok(()), |workspace| same(workspace.device(), "workspace"))?;
        Ok(problem)
    }

    pub(super) fn demands<C: Element>(&self) -> Demands<'_> {
        Demands {
            device: self.device,
            arithmetic: self.arithmetic,
            scaled: self.alpha != T::Wide::from(1.0),
            finished: self.bias.is_some() || self.activation != Activation::None,
            adds_to_c: self.beta != T::Wide::from(0.0),
            element: size_of::<C>(),
            sm_count: self.device.limits().sm_count,
        }
    }

    /// The way that was named, or the cheapest for which there is workspace.
    pub(super) fn choose(&self, problem: &Problem, demands: Demands<'_>) -> Result<Plan> {
        let room = self.workspace.as_ref().map_or(0, BufferViewMut::len);
        // Where there is no product there is no way to it to be chosen.
        let Some(algorithm) = self.algorithm.filter(|_| problem.k > 0) else {
            // The plain kernel computes everything, without workspace.
            let fits =
                |plan: &Plan| plan.workspace <= room && (!self.chained || T::CANDIDATES[plan.candidate].is_chain);
            return plan::plans::<T>(problem, demands)
                .into_iter()
                .find(fits)
                .ok_or_else(|| not_applicable("any", "none"));
        };
        let plan = Self::named(problem, demands, algorithm)?;
        if plan.workspace <= room {
            return Ok(plan);
        }
        Err(BadArgument::new(ArgumentRule::Length, CALL, "workspace")
            .expected(format_args!("at least {} elements for {}", plan.workspace, plan.algorithm()))
            .found(room)
            .remedy(
                "allocate as many as Plan::workspace_len says, or take a algorithm without a split and without copies",
            )
            .into())
    }

    /// The plan for this way.
    pub(super) fn named(problem: &Problem, demands: Demands<'_>, algorithm: Algorithm) -> Result<Plan> {
        plan::named::<T>(problem, demands, algorithm).map_err(|unfit| {
            let plans = plan::plans::<T>(problem, demands);
            let mut names: Vec<_> = plans.iter().map(|plan| plan.algorithm().kernel().name).collect();
            names.sort_unstable();
            names.dedup();
            not_applicable(&names.join(", "), &format!("{algorithm}, which {unfit}"))
        })
    }

    pub(super) fn without_beta(&self) -> Result<()> {
        if self.beta == T::Wide::from(0.0) {
            return Ok(());
        }
        Err(BadArgument::new(ArgumentRule::Shape, CALL, "beta")
            .expected("0, since C is new memory")
            .found(format_args!("{:?}", self.beta))
            .remedy("take Gemm::into with the C that is to be added to")
            .into())
    }

    /// Launches what the plan says.
    pub(super) fn queue<C: Output<T>>(
        mut self,
        problem: &Problem,
        plan: &Plan,
        c: &mut TensorViewMut<'_, C>,
        grid: [u32; 3],
    ) -> Result<()> {
        if problem.is_empty() {
            return Ok(());
        }
        let activation = match self.activation {
            Activation::None => 0,
            Activation::Relu => RELU,
            Activation::Gelu => GELU,
        };
        let (a, b) = if problem.exchanged { (self.b, self.a) } else { (self.a, self.b) };
        let alpha = if problem.k == 0 { T::Wide::from(0.0) } else { self.alpha };
        let task = Task {
            device: self.device,
            stream: self.stream,
            problem,
            plan,
            a,
            b,
            bias: self.bias.map(|(_, numbers)| numbers),
            scale: [alpha, self.beta],
            flags: problem.bias | activation,
            grid,
        };
        let elements = c.view().axes().span().unwrap_or(0);
        task.run(Destination::of(c.cast_range_mut::<C>(0, elements)), self.workspace.as_mut())
    }
}

fn not_applicable(expected: &str, found: &str) -> Error {
    BadArgument::new(ArgumentRule::Algorithm, CALL, "algorithm")
        .expected(format_args!("a algorithm to this product: {expected}"))
        .found(found)
        .remedy("take one that Gemm::plans lists, or none")
        .into()
}
