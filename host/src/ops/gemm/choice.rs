//! The plans that a call chooses from, or that for the algorithm that it names, made once for each problem.
//!
//! Planning estimates some hundred algorithms, which takes longer than a launch. A device keeps what was planned for
//! the problems that it met last.

use std::any::TypeId;
use std::convert::Infallible;
use std::ops::Deref;
use std::ptr;
use std::sync::Arc;

use super::algorithm::{Algorithm, Plan};
use super::applicability::Unsupported;
use super::element::Multiply;
use super::launch_config::KeptConfig;
use super::options::Arithmetic;
use super::planner;
use super::problem::{Epilogue, Problem, Request};
use crate::ops::plan_cache;

/// Everything that the plans depend on besides the device.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    elements: TypeId,
    problem: Problem,
    epilogue: Epilogue,
    arithmetic: Arithmetic,
    sm_count: u32,
    wanted: Wanted,
}

/// Which plans are wanted.
#[derive(PartialEq, Eq, Hash)]
enum Wanted {
    /// Those that may be chosen, or those of them that accumulate in order of k.
    Choices { sequential: bool },
    /// That for an algorithm. Its kernel is the address of the `KernelInfo`, which is quicker to compare; the plan of a
    /// kernel that has two of them is kept twice.
    Algorithm { kernel: usize, parts: u32, blocks: u32, packed: [bool; 2] },
}

/// A plan that is kept.
#[derive(Debug)]
pub(super) struct KeptPlan {
    pub(super) plan: Plan,
    pub(super) config: KeptConfig,
}

/// One of the plans that are kept for a problem.
#[derive(Debug)]
pub(super) struct Chosen {
    plans: Arc<[KeptPlan]>,
    number: usize,
}

impl Deref for Chosen {
    type Target = KeptPlan;

    fn deref(&self) -> &KeptPlan {
        &self.plans[self.number]
    }
}

/// The plans of a device, by what they depend on.
type PlanCache = plan_cache::PlanCache<Key, [KeptPlan]>;

/// The cheapest plan that needs a workspace of at most so many elements; with `sequential`, of those that accumulate in
/// order of k.
pub(super) fn cheapest<T: Multiply>(request: &Request<'_>, sequential: bool, workspace: usize) -> Option<Chosen> {
    let Ok(plans) = kept::<T, Infallible>(request, Wanted::Choices { sequential }, || {
        let is_allowed = |plan: &Plan| !sequential || T::configurations()[plan.configuration].is_sequential;
        Ok(with_less_and_less_workspace(planner::plans::<T>(request).into_iter().filter(is_allowed)))
    });
    let number = plans.iter().position(|kept| kept.plan.workspace_len() <= workspace)?;
    Some(Chosen { plans, number })
}

/// The plan for one algorithm.
pub(super) fn plan_for<T: Multiply>(request: &Request<'_>, algorithm: Algorithm) -> Result<Chosen, Unsupported> {
    let wanted = Wanted::Algorithm {
        kernel: ptr::from_ref(algorithm.kernel()).addr(),
        parts: algorithm.parts(),
        blocks: algorithm.blocks(),
        packed: algorithm.packed(),
    };
    let plans = kept::<T, _>(request, wanted, || Ok(vec![planner::plan_for::<T>(request, algorithm)?]))?;
    Ok(Chosen { plans, number: 0 })
}

/// What `make` has made for this problem at an earlier call, or makes now. An error is not kept.
fn kept<T: Multiply, E>(
    request: &Request<'_>,
    wanted: Wanted,
    make: impl FnOnce() -> Result<Vec<Plan>, E>,
) -> Result<Arc<[KeptPlan]>, E> {
    let Request { problem, epilogue, arithmetic, device, sm_count } = *request;
    let elements = TypeId::of::<T>();
    let key = Key { elements, problem: *problem, epilogue, arithmetic, sm_count, wanted };
    device.cache::<PlanCache>().get_or_make(key, |_| {
        Ok(make()?.into_iter().map(|plan| KeptPlan { plan, config: KeptConfig::default() }).collect())
    })
}

/// Each plan that needs less workspace than all before it.
fn with_less_and_less_workspace(plans: impl Iterator<Item = Plan>) -> Vec<Plan> {
    let mut least = usize::MAX;
    let needs_less = |plan: &Plan| {
        let is_less = plan.workspace_len() < least;
        least = least.min(plan.workspace_len());
        is_less
    };
    plans.filter(needs_less).collect()
}

#[cfg(test)]
mod tests {
    use super::super::golden;
    use super::*;
    use crate::device::Device;

    #[test]
    fn the_choice_is_that_among_all_plans() {
        let device = Device::simulator();
        let mut shorter = 0;
        for plans in golden::problems().map(|inputs| golden::plans_of(&device, &inputs)) {
            let choices = with_less_and_less_workspace(plans.iter().copied());
            shorter += usize::from(choices.len() < plans.len());
            for available in plans.iter().flat_map(|plan| [0, 1].map(|less| plan.workspace_len().saturating_sub(less)))
            {
                let first =
                    |plans: &[Plan]| plans.iter().find(|plan| plan.workspace_len() <= available).map(Plan::algorithm);
                assert_eq!(first(&choices), first(&plans), "{available}");
            }
        }
        assert!(shorter > 0);
    }

    #[test]
    fn a_problem_is_planned_once() {
        let device = Device::simulator();
        let (a, b) = (device.upload(&[1.0_f32; 64]).unwrap(), device.upload(&[2.0_f32; 65]).unwrap());
        let [a, b, shifted] =
            [a.view(), b.slice(0..64).unwrap(), b.slice(1..65).unwrap()].map(|view| view.as_tensor(&[8, 8]).unwrap());
        let known = || device.cache::<PlanCache>().len();
        let [reference, split] =
            [1, 2].map(|parts| Algorithm::of(gpu::gemm::reference::gemm_reference_f32.info()).split_k(parts));
        let mut expected = 0;
        for (gemm, is_new) in [
            (device.gemm(a, b), true),
            (device.gemm(a, b), false),
            // The value of alpha does not matter, only that it is not 1.
            (device.gemm(a, b).alpha(2.0), true),
            (device.gemm(a, b).alpha(3.0), false),
            (device.gemm(a, b).transpose_a(), true),
            (device.gemm(a, shifted), true),
            (device.gemm(a, b).relu(), true),
            (device.gemm(a, b).arithmetic(Arithmetic::Tf32), true),
            (device.gemm(a, b).sm_count_target(3), true),
            (device.gemm(a, shifted), false),
            (device.gemm(a, b).algorithm(reference), true),
            (device.gemm(a, b).algorithm(reference), false),
            (device.gemm(a, shifted).algorithm(reference), true),
            (device.gemm(a, b).algorithm(split), true),
            (device.gemm(a, b).algorithm(split), false),
            (device.gemm(a, b), false),
        ] {
            gemm.run().unwrap();
            expected += usize::from(is_new);
            assert_eq!(known(), expected);
        }
    }
}
