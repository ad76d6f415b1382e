//! The plans that a call chooses from, or that for the algorithm that it names, made once for each kind of call.
//!
//! Planning estimates some hundred algorithms, which takes longer than a launch. A device keeps what was planned for
//! the calls that it met last. They are compared as they were given: to compare takes less time than to check and to
//! put in order, which is kept, too.

use std::any::TypeId;
use std::ptr;
use std::sync::Arc;

use super::algorithm::Plan;
use super::builder::Gemm;
use super::element::{Multiply, Output};
use super::launch_config::KeptConfig;
use super::operands::TMA_ALIGNMENT;
use super::options::{Activation, Bias, Op};
use super::problem::Problem;
use crate::error::Result;
use crate::memory::{Axes, TensorView};
use crate::ops::plan_cache;

/// Everything that the problem and its plans depend on besides the device.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    elements: TypeId,
    /// Elements of C.
    output: TypeId,
    words: [u64; 25],
}

/// A problem that was checked, and plans for it.
#[derive(Debug)]
pub(super) struct Planned {
    pub(super) problem: Problem,
    /// That for the algorithm that the call names, or those that may be chosen, each of which needs less workspace than
    /// all before it.
    plans: Box<[KeptPlan]>,
}

/// A plan that is kept.
#[derive(Debug)]
pub(super) struct KeptPlan {
    pub(super) plan: Plan,
    pub(super) config: KeptConfig,
}

/// The plans of a device, by what they depend on.
type PlanCache = plan_cache::PlanCache<Key, Planned>;

impl Planned {
    /// Plans to choose from, the cheapest first.
    pub(super) fn new(problem: Problem, plans: impl Iterator<Item = Plan>) -> Self {
        let keep = |plan| KeptPlan { plan, config: KeptConfig::default() };
        Self { problem, plans: with_less_and_less_workspace(plans).into_iter().map(keep).collect() }
    }

    /// The cheapest plan that needs a workspace of at most so many elements.
    pub(super) fn cheapest(&self, workspace: usize) -> Option<&KeptPlan> {
        self.plans.iter().find(|kept| kept.plan.workspace_len() <= workspace)
    }
}

/// What `make` has made for such a call earlier, or makes now. An error is not kept.
pub(super) fn kept<T: Multiply, C: Output<T>>(
    gemm: &Gemm<'_, T>,
    c: TensorView<'_, C>,
    make: impl FnOnce() -> Result<Planned>,
) -> Result<Arc<Planned>> {
    let Some(key) = key(gemm, c) else { return make().map(Arc::new) };
    gemm.device.cache::<PlanCache>().get_or_make(key, |_| make().map(Arc::new))
}

/// The key of a call; none if an operand is no matrix or batch of matrices.
fn key<T: Multiply, C: Output<T>>(gemm: &Gemm<'_, T>, c: TensorView<'_, C>) -> Option<Key> {
    let is = |condition: bool, bit: u32| u64::from(condition) << bit;
    let operand = |axes: &Axes, address: usize, op: Op| {
        let (rank, extents, strides) = match (axes.shape(), axes.strides()) {
            (&[rows, cols], &[down, across]) => (2, [1, rows, cols], [0, down, across]),
            (&[batch, rows, cols], &[stride, down, across]) => (3, [batch, rows, cols], [stride, down, across]),
            _ => return None,
        };
        let kind = rank | is(op == Op::T, 8) | ((address % TMA_ALIGNMENT) as u64) << 16;
        let ([e0, e1, e2], [s0, s1, s2]) = (extents.map(|x| x as u64), strides.map(|x| x as u64));
        Some([kind, e0, e1, e2, s0, s1, s2])
    };
    let [op_a, op_b] = gemm.ops;
    let mut words = [0; 25];
    words[..7].copy_from_slice(&operand(gemm.a.axes(), gemm.a.address(), op_a)?);
    words[7..14].copy_from_slice(&operand(gemm.b.axes(), gemm.b.address(), op_b)?);
    words[14..21].copy_from_slice(&operand(c.axes(), c.address(), Op::N)?);
    let (bias, bias_len) = match &gemm.bias {
        None => (0, 0),
        Some((Bias::PerColumn, numbers)) => (1, numbers.len()),
        Some((Bias::PerRow, numbers)) => (2, numbers.len()),
    };
    // The kernel is the address of its `KernelInfo`; the plan of a kernel that has two of them is kept twice.
    let (kernel, parts, blocks, [packs_a, packs_b]) = match &gemm.algorithm {
        None => (0, 0, 0, [false; 2]),
        Some(by) => (ptr::from_ref(by.kernel()).addr() as u64, by.parts(), by.blocks(), by.packed()),
    };
    let flags = is(gemm.alpha == T::Wide::from(0.0), 0)
        | is(gemm.alpha == T::Wide::from(1.0), 1)
        | is(gemm.beta == T::Wide::from(0.0), 2)
        | is(gemm.scales.iter().any(Option::is_some), 3)
        | is(gemm.block_scales.is_some(), 4)
        | is(gemm.bias.is_some() || gemm.activation != Activation::None, 5)
        | is(gemm.sequential, 6)
        | is(packs_a, 7)
        | is(packs_b, 8)
        | bias << 9
        | (gemm.arithmetic as u64) << 16
        | u64::from(gemm.sm_count()) << 32;
    words[21..].copy_from_slice(&[flags, bias_len as u64, kernel, u64::from(parts) << 32 | u64::from(blocks)]);
    Some(Key { elements: TypeId::of::<T>(), output: TypeId::of::<C>(), words })
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
    use crate::gemm::{Algorithm, Arithmetic};

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
        let bias = device.upload(&[3.0_f32; 8]).unwrap();
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
            (device.gemm(a, b).alpha(0.0), true),
            (device.gemm(a, b).transpose_a(), true),
            (device.gemm(a, b).transpose_b(), true),
            (device.gemm(a, b).bias(&bias), true),
            (device.gemm(a, b).bias_per_row(&bias), true),
            (device.gemm(a, b).bias(&bias).relu(), false),
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

    /// C has other elements of the same size, other strides, or begins elsewhere.
    #[test]
    fn other_operands_are_another_problem() {
        let device = Device::simulator();
        let (x, mut c) = (device.upload(&[1_i8; 64]).unwrap(), device.alloc::<f32>(200).unwrap());
        let a = x.view().as_tensor(&[8, 8]).unwrap();
        let known = || device.cache::<PlanCache>().len();
        device.gemm(a, a).run_as::<i32>().unwrap();
        assert_eq!(known(), 1);
        for (start, ld, expected) in [(0, 8, 2), (0, 9, 3), (1, 8, 4), (4, 8, 4)] {
            let c = c.view_mut().slice(start..start + 8 * ld).unwrap().as_tensor_strided(&[8, 8], &[ld, 1]).unwrap();
            device.gemm(a, a).into(c).unwrap();
            assert_eq!(known(), expected, "{start}, {ld}");
        }
    }
}
