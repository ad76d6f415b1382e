//! Operands that are copied to the workspace before they are multiplied.

use warpwright::gemm::{Algorithm, Op, Plan};
use warpwright::half::f16;
use warpwright::{ArgumentRule, Error};

use super::run::{Algorithms, OnDevice, equal};
use super::sample::{F16, Kind};
use super::{Case, LAYOUTS, Placement, sample};
use crate::support::device::under_test;

/// The algorithms of TMA kernels for an aligned product of this layout, without copies and split-K.
pub(super) fn tma_algorithms<K: Kind>(ops: [Op; 2]) -> Vec<Algorithm> {
    let case = Case { ops, ..sample::<K>(64, 64, 64) }.aligned();
    let plans =
        OnDevice::<K>::new(&under_test(0), &case, &case.integers::<K>()).and_then(|on| on.plans(Algorithms::All));
    let algorithms = plans.expect("plans").into_iter().flatten().map(|plan| plan.algorithm());
    algorithms
        .filter(|algorithm| {
            algorithm.kernel().path.contains("::sm90::") && algorithm.parts() == 1 && algorithm.packed() == [false; 2]
        })
        .collect()
}

/// Odd strides, offsets of one element, batches and one matrix for all, from every layout to that of every kernel:
/// operands are copied or transposed, for one product, a batch, and split-K.
pub(super) fn packed_operands_are_exact<K: Kind>() {
    let odd = Placement { offset: 1, gap: 1, after: 3, ..Placement::default() };
    let mut seen = 0;
    for (to, algorithm) in
        LAYOUTS.into_iter().flat_map(|to| tma_algorithms::<K>(to).into_iter().map(move |algorithm| (to, algorithm)))
    {
        for (number, from) in LAYOUTS.into_iter().enumerate() {
            // Either operand fits as it is, or neither.
            let aligned = Placement { aligned: true, ..odd };
            let pack = [[true, true], [from[0] != to[0], true], [true, from[1] != to[1]]][(seen + number) % 3];
            let placements = [if pack[0] { odd } else { aligned }, if pack[1] { odd } else { aligned }, odd];
            let (batch, parts) = [(1, 2), (3, 1), (1, 1)][seen % 3];
            // Partial products of `f64` have no reduction: their order would not be that of k.
            let parts = if K::NAME == "f64" { 1 } else { parts };
            let broadcast = [[true, false], [false, true], [false, false]][number % 3];
            let case =
                Case { ops: from, placements, batch, broadcast, schedule: seen as u64, ..sample::<K>(70, 131, 67) };
            let (data, algorithm) = (case.integers::<K>(), algorithm.split_k(parts).pack(pack));
            let on = OnDevice::<K>::new(&under_test(case.schedule), &case, &data).expect("memory");
            let plan = on.plan(algorithm).unwrap_or_else(|error| panic!("{algorithm}, {case:?}: {error}"));
            assert_eq!((plan.algorithm().packed(), plan.algorithm().parts()), (pack, parts));
            let got = on.run(Some(plan)).unwrap_or_else(|error| panic!("{algorithm}, {case:?}: {error}"));
            let verdict = on.c.values(&got).and_then(|values| equal(&case.expected::<K>(&data), &values));
            verdict.unwrap_or_else(|error| panic!("{algorithm}, {case:?}: {error}"));
            on.inputs_unchanged().unwrap_or_else(|error| panic!("{algorithm}, {case:?}: {error}"));
            seen += 1;
        }
    }
    let expected = gpu::gemm::SM90.iter().any(|kernel| kernel.name.split('_').any(|part| part == K::NAME));
    assert_eq!(seen > 0, expected && under_test(0).has_kernel(gpu::gemm::SM90[0]), "{}", K::NAME);
}

/// Listed algorithms pack operands that the kernel cannot load as they are, and no others.
#[test]
fn only_misaligned_operands_are_packed() {
    let device = under_test(0);
    if !device.has_kernel(gpu::gemm::SM90[0]) {
        return;
    }
    let memory = device.alloc_zeros::<f16>(70 * 70).expect("memory");
    let at = |offset: usize, ld: usize| {
        memory.slice(offset..70 * 70).and_then(|x| x.as_tensor_strided(&[64, 64], &[ld, 1])).expect("64 rows")
    };
    let mut c = device.alloc_zeros::<f16>(64 * 64).expect("memory");
    for (a, b, packed) in [
        (at(0, 64), at(8, 72), [false, false]),
        (at(1, 64), at(0, 64), [true, false]),
        (at(0, 64), at(0, 65), [false, true]),
        (at(0, 67), at(3, 64), [true, true]),
    ] {
        // A column-major C exchanges the operands.
        for strides in [[64, 1], [1, 64]] {
            let to = c.slice_mut(0..64 * 64).and_then(|c| c.as_tensor_strided(&[64, 64], &strides)).expect("C");
            let plans = device.gemm(a, b).plans(&to).expect("plans");
            // Tiles that are no multiples of 64 × 64 do not exist for every layout; for others an operand is
            // transposed.
            let everywhere = |tile: [u32; 2]| tile.iter().all(|edge| edge.is_multiple_of(64));
            let is_tma = |plan: &&Plan| plan.algorithm().kernel().path.contains("::sm90::") && everywhere(plan.tile());
            let by_tma: Vec<_> = plans.iter().filter(is_tma).collect();
            assert!(!by_tma.is_empty() && by_tma.iter().all(|plan| plan.algorithm().packed() == packed), "{by_tma:?}");
            let copies = packed.iter().filter(|&&packed| packed).count();
            assert!(by_tma.iter().all(|plan| plan.workspace_len() >= copies * 64 * 64 / 2), "{by_tma:?}");
            let others = plans.iter().filter(|plan| !plan.algorithm().kernel().path.contains("::sm90::"));
            assert!(others.clone().count() > 0 && others.clone().all(|plan| plan.algorithm().packed() == [false; 2]));
        }
    }
}

/// A workspace that is one element short is refused before anything is written; kernels without TMA take no packed
/// operands.
#[test]
fn small_workspaces_and_packing_for_kernels_without_tma_are_refused() {
    let device = under_test(0);
    let case = sample::<F16>(33, 40, 30);
    let data = case.integers::<F16>();
    let on = OnDevice::<F16>::new(&device, &case, &data).expect("memory");
    let plain = Algorithm::of(gpu::gemm::reference::gemm_reference_f16.info()).pack([true, false]);
    assert_eq!(plain.to_string(), "gemm_reference_f16, A packed");
    match on.plan(plain) {
        Err(Error::Argument(bad)) => {
            assert_eq!((bad.rule, bad.argument.as_str()), (ArgumentRule::Algorithm, "algorithm"));
            assert!(bad.found.contains("takes no packed operands"), "{bad}");
        }
        other => panic!("{other:?}"),
    }
    for plan in on.plans(Algorithms::All).expect("plans").into_iter().flatten().filter(|plan| plan.workspace_len() > 0)
    {
        let mut c = device.upload(on.c.image()).expect("C");
        let canaries = vec![7.0_f32; plan.workspace_len() - 1];
        let mut short = device.upload(&canaries).expect("workspace");
        let gemm = on.gemm().expect("a product").algorithm(plan.algorithm()).workspace(&mut short);
        match gemm.into(on.c.view_mut(&mut c).expect("C")) {
            Err(Error::Argument(bad)) => {
                assert_eq!((bad.rule, bad.argument.as_str()), (ArgumentRule::Length, "workspace"));
            }
            other => panic!("{}: {other:?}", plan.algorithm()),
        }
        assert_eq!(short.download().expect("workspace"), canaries, "{}", plan.algorithm());
        let written = c.download().expect("C");
        assert!(written.iter().zip(on.c.image()).all(|(x, y)| x.to_bits() == y.to_bits()), "{}", plan.algorithm());
    }
}
