//! The steps: every kernel of the texts and beyond, by family, smallest idea first.
//!
//! To add a step, add one entry to [`FAMILIES`].

mod families;

pub use families::FAMILIES;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use simt::KernelInfo;
use warpwright::half::bf16;

use super::jobs::squares;
use crate::job::matmul::{Gemm, Plan, Problem};
use crate::job::sum::Reduce;
use crate::job::transpose::{Grid, Transpose};
use crate::job::{Job, matmul, sum, transpose, whole_sum};

/// Steps about one thing.
pub struct Family {
    /// What they compute.
    pub name: &'static str,
    /// What there is to learn, in one or two sentences.
    pub about: &'static str,
    /// Whether they run on tensor cores.
    pub tensor: bool,
    /// Smallest idea first.
    pub steps: &'static [Step],
}

/// One kernel at work.
pub struct Step {
    /// The row of the texts; `None` for kernels that they do not have.
    pub row: Option<&'static str>,
    /// What it computes. The speed of a step is compared with that of the step before where both compute the same.
    pub operation: &'static str,
    /// What it does better than the step before, in one line.
    pub idea: &'static str,
    job: fn(&Inputs) -> Job,
}

impl Step {
    /// The kernel with an input.
    pub(in crate::tutorial) fn job(&self, inputs: &Inputs) -> Job {
        (self.job)(inputs)
    }

    /// The kernel.
    pub fn kernel(&self) -> &'static KernelInfo {
        self.job(&Inputs::new(Size::Counted, 0)).kernel
    }
}

/// How large inputs are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tutorial) enum Size {
    /// For the simulator's counters: less than a second or two each.
    Counted,
    /// For a GPU with this many SMs: enough to keep it busy.
    Timed {
        /// Its SMs.
        sm_count: u32,
    },
}

/// What jobs are made from. Matrix products are kept, since several steps multiply the same matrices.
pub(in crate::tutorial) struct Inputs {
    size: Size,
    seed: u64,
    matmuls: Mutex<BTreeMap<usize, Arc<Problem<f32>>>>,
    of_bf16: Mutex<BTreeMap<usize, Arc<Problem<bf16>>>>,
}

impl Inputs {
    pub(in crate::tutorial) fn new(size: Size, seed: u64) -> Self {
        Self { size, seed, matmuls: Mutex::default(), of_bf16: Mutex::default() }
    }

    /// What chose them.
    pub(in crate::tutorial) fn seed(&self) -> u64 {
        self.seed
    }

    /// The one extent or the other.
    fn pick<T>(&self, counted: T, timed: T) -> T {
        if self.size == Size::Counted { counted } else { timed }
    }

    fn problem(&self, n: usize) -> Arc<Problem<f32>> {
        let mut matmuls = self.matmuls.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(matmuls.entry(n).or_insert_with(|| Arc::new(Problem::new(n, self.seed))))
    }

    fn gemm(&self, kernel: Gemm, plan: Plan, n: usize) -> Job {
        matmul::job(kernel, plan, &self.problem(n))
    }

    /// Edge of the products on tensor cores.
    fn tensor_edge(&self) -> usize {
        self.pick(256, 4096)
    }

    /// The product of `bf16` on tensor cores.
    fn tensor_problem(&self) -> Arc<Problem<bf16>> {
        let (n, mut problems) = (self.tensor_edge(), self.of_bf16.lock().unwrap_or_else(PoisonError::into_inner));
        Arc::clone(problems.entry(n).or_insert_with(|| Arc::new(Problem::new(n, self.seed))))
    }

    /// A sum in sections of 512 elements, as in the texts.
    fn sum(&self, kernel: Reduce) -> Job {
        sum::job(kernel, self.pick(1 << 18, 1 << 28), 512, self.seed)
    }

    /// As many elements, in one launch.
    fn whole_sum(&self) -> Job {
        whole_sum::job(self.pick(1 << 18, 1 << 28), self.seed)
    }

    /// 32 blocks of 256 threads, as in the texts; on a GPU as many as it holds at once.
    fn squares(&self, kernel: (squares::Squares, squares::Sums)) -> Job {
        match self.size {
            Size::Counted => squares::job(kernel, 1 << 20, 32, self.seed),
            Size::Timed { sm_count } => squares::job(kernel, 1 << 28, 8 * sm_count as usize, self.seed),
        }
    }

    fn transpose(&self, kernel: Transpose, grid: Grid) -> Job {
        transpose::job(kernel, grid, self.pick(512, 16384), self.seed)
    }
}

/// All steps, family after family.
pub fn all() -> impl Iterator<Item = &'static Step> {
    FAMILIES.iter().flat_map(|family| family.steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every kernel of the lab's tutorial is a step, and every step is a kernel that the crate `gpu` lists.
    #[test]
    fn tutorial_kernels_are_steps_and_steps_are_kernels() {
        let kernels = || gpu::FAMILIES.iter().flat_map(|family| family.kernels.iter().copied());
        let steps: Vec<&KernelInfo> = all().map(Step::kernel).collect();
        for kernel in kernels().filter(|info| info.path.starts_with("gpu::lab::tutorial")) {
            assert!(steps.contains(&kernel), "{} is no step", kernel.name);
        }
        for step in steps {
            assert!(kernels().any(|info| info == step), "{} is not in gpu::FAMILIES", step.name);
        }
    }

    #[test]
    fn ideas_fit_on_a_line_and_differ() {
        let mut ideas: Vec<&str> = all().map(|step| step.idea).collect();
        assert!(ideas.iter().all(|idea| (10..=75).contains(&idea.chars().count())), "{ideas:?}");
        let count = ideas.len();
        ideas.sort_unstable();
        ideas.dedup();
        assert_eq!(ideas.len(), count);
    }

    /// The steps are not more than the constants say: a job is only a description until it is prepared.
    #[test]
    fn timed_inputs_are_larger() {
        let [counted, timed] = [Size::Counted, Size::Timed { sm_count: 132 }].map(|size| Inputs::new(size, 1));
        for step in all() {
            let [small, large] = [&counted, &timed].map(|inputs| step.job(inputs));
            assert_eq!(small.kernel, large.kernel);
            assert!(small.work.amount() <= large.work.amount(), "{}", small.kernel.name);
        }
    }
}
