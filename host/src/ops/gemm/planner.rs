//! The choice of an algorithm: all that are applicable, the cheapest by the cost model first.

use super::algorithm::{Algorithm, Plan};
use super::applicability::{self, Unsupported};
use super::configuration::Configuration;
use super::cost;
use super::element::Multiply;
use super::pack::Packing;
use super::problem::Request;
use super::stream_k::Schedule;

/// Most parts of a split-K that is planned.
const MAX_PARTS: u32 = 64;

/// A kernel that is applicable, and the operands for it.
struct Applicable<T: Multiply> {
    number: usize,
    configuration: &'static Configuration<T>,
    packing: Packing,
}

/// All plans for a problem, the cheapest first; equal costs in the order of the configurations.
pub(super) fn plans<T: Multiply>(request: &Request<'_>) -> Vec<Plan> {
    let mut plans: Vec<Plan> =
        applicable::<T>(request).iter().flat_map(|kernel| plans_of_kernel(request, kernel)).collect();
    plans.sort_by(|left, right| left.cost.total_cmp(&right.cost));
    plans
}

/// The plan for one algorithm.
pub(super) fn plan_for<T: Multiply>(request: &Request<'_>, algorithm: Algorithm) -> Result<Plan, Unsupported> {
    let is_named = |configuration: &Configuration<T>| configuration.info() == algorithm.kernel();
    let number = T::configurations().iter().position(is_named).ok_or(Unsupported::Elements)?;
    let configuration = &T::configurations()[number];
    applicability::check_kernel(configuration, request)?;
    let packed = request.problem.in_order(algorithm.packed());
    let packing = applicability::pack(configuration, request.problem, packed)?;
    let kernel = Applicable { number, configuration, packing };
    plan(request, &kernel, (algorithm.parts(), algorithm.blocks()))
}

/// The applicable kernels. Of equally efficient ones, which are for different layouts, those with the fewest copies.
fn applicable<T: Multiply>(request: &Request<'_>) -> Vec<Applicable<T>> {
    let mut kernels: Vec<Applicable<T>> = Vec::new();
    for (number, configuration) in T::configurations().iter().enumerate() {
        let packed = applicability::required_packing(configuration, request.problem);
        let packing = applicability::check_kernel(configuration, request)
            .and_then(|()| applicability::pack(configuration, request.problem, packed));
        kernels.extend(packing.ok().map(|packing| Applicable { number, configuration, packing }));
    }
    let efforts: Vec<_> =
        kernels.iter().map(|kernel| (kernel.configuration.model.efficiency, kernel.packing.effort())).collect();
    let is_least = |kernel: &Applicable<T>| {
        let equal = efforts.iter().filter(|(efficiency, _)| *efficiency == kernel.configuration.model.efficiency);
        equal.map(|&(_, effort)| effort).min() == Some(kernel.packing.effort())
    };
    kernels.into_iter().filter(is_least).collect()
}

/// The plans for one kernel: splits of k by powers of two, and stream-K.
fn plans_of_kernel<T: Multiply>(request: &Request<'_>, kernel: &Applicable<T>) -> Vec<Plan> {
    let parts = (0..=MAX_PARTS.ilog2()).map(|power| 1 << power);
    let mut plans: Vec<Plan> = parts.filter_map(|parts| plan(request, kernel, (parts, 0)).ok()).collect();
    // A short k has fewer parts than asked for.
    plans.dedup_by_key(|plan| plan.algorithm.parts());
    if kernel.configuration.has_stream_k() {
        let clusters = Schedule::suggested_clusters(request.problem, kernel.configuration, request.sm_count);
        let blocks = clusters.map(|clusters| clusters * kernel.configuration.cluster());
        plans.extend(blocks.filter_map(|blocks| plan(request, kernel, (1, blocks)).ok()));
    }
    plans
}

/// The plan for a kernel with at most so many parts of k, or blocks of a stream-K schedule.
fn plan<T: Multiply>(
    request: &Request<'_>,
    kernel: &Applicable<T>,
    (parts, blocks): (u32, u32),
) -> Result<Plan, Unsupported> {
    let configuration = kernel.configuration;
    let work = applicability::work(configuration, request, kernel.packing, (parts, blocks))?;
    let blocks = work.stream_k.map_or(0, |schedule| schedule.clusters * configuration.cluster());
    let algorithm = Algorithm::of(configuration.info())
        .pack(request.problem.in_order(kernel.packing.packed()))
        .split_k(work.split.parts)
        .stream_k(blocks);
    let cost = cost::estimate(configuration, request, &work);
    Ok(Plan { algorithm, configuration: kernel.number, work, tile: configuration.tile, cost })
}
