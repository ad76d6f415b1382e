//! Operands that are copied to the workspace before they are multiplied.

use warpwright::gemm::{Algorithm, Op, Plan};
use warpwright::half::f16;
use warpwright::{ArgumentRule, Error};

use super::run::{OnDevice, Ways, equal};
use super::sample::{Half, Kind};
use super::{Case, LAYOUTS, Place, sample};
use crate::support::device::under_test;

/// Ways without copies to an aligned product of this layout, by kernels that have boxes fetched.
pub(super) fn boxed<K: Kind>(ops: [Op; 2]) -> Vec<Algorithm> {
    let case = Case { ops, ..sample(64, 64, 64) }.aligned();
    let plans = OnDevice::<K>::new(&under_test(0), &case, &case.integers::<K>()).and_then(|on| on.plans(Ways::All));
    let algorithms = plans.expect("plans").into_iter().flatten().map(|plan| plan.algorithm());
    algorithms
        .filter(|algorithm| {
            algorithm.kernel().path.contains("::hopper::") && algorithm.parts() == 1 && algorithm.packed() == [false; 2]
        })
        .collect()
}

/// Rows at odd distances, offsets of one element, batches and one matrix for all: of every layout to every kernel's, so that
/// operands are copied or turned, alone, in a batch, and split along k.
pub(super) fn packed_operands_are_exact<K: Kind>() {
    let odd = Place { offset: 1, gap: 1, after: 3, ..Place::default() };
    let mut seen = 0;
    for (to, algorithm) in
        LAYOUTS.into_iter().flat_map(|to| boxed::<K>(to).into_iter().map(move |algorithm| (to, algorithm)))
    {
        for (number, from) in LAYOUTS.into_iter().enumerate() {
            // The first operand lies right or not, the second not; and the other way round.
            let aligned = Place { aligned: true, ..odd };
            let pack = [[true, true], [from[0] != to[0], true], [true, from[1] != to[1]]][(seen + number) % 3];
            let places = [if pack[0] { odd } else { aligned }, if pack[1] { odd } else { aligned }, odd];
            let (batch, parts) = [(1, 2), (3, 1), (1, 1)][seen % 3];
            let shared = [[true, false], [false, true], [false, false]][number % 3];
            let case = Case { ops: from, places, batch, shared, schedule: seen as u64, ..sample(70, 131, 67) };
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
    let mut kernels = [
        gpu::hopper::gemm::KERNELS,
        gpu::hopper::tf32::KERNELS,
        gpu::hopper::wide::KERNELS,
        gpu::hopper::ffma::KERNELS,
        gpu::hopper::ffma::grouped::KERNELS,
    ]
    .concat()
    .into_iter();
    let expected = kernels.any(|kernel| kernel.name.split('_').any(|part| part == K::NAME));
    assert_eq!(seen > 0, expected && under_test(0).has_kernel(gpu::hopper::gemm::KERNELS[0]), "{}", K::NAME);
}

/// What does not lie as the kernels want it is packed by the ways that are listed, and nothing else.
#[test]
fn what_need_not_be_copied_is_not() {
    let device = under_test(0);
    if !device.has_kernel(gpu::hopper::gemm::KERNELS[0]) {
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
        // C by columns exchanges the operands, and with them what is said of them.
        for strides in [[64, 1], [1, 64]] {
            let to = c.slice_mut(0..64 * 64).and_then(|c| c.as_tensor_strided(&[64, 64], &strides)).expect("C");
            let plans = device.gemm(a, b).plans(&to).expect("plans");
            // Tiles that are not made of 64 × 64 are not there for every layout: for others their operands are turned.
            let everywhere = |tile: [u32; 2]| tile.iter().all(|edge| edge.is_multiple_of(64));
            let is_boxed =
                |plan: &&Plan| plan.algorithm().kernel().path.contains("::hopper::") && everywhere(plan.tile());
            let boxed: Vec<_> = plans.iter().filter(is_boxed).collect();
            assert!(!boxed.is_empty() && boxed.iter().all(|plan| plan.algorithm().packed() == packed), "{boxed:?}");
            let copies = packed.iter().filter(|&&packed| packed).count();
            assert!(boxed.iter().all(|plan| plan.workspace_len() >= copies * 64 * 64 / 2), "{boxed:?}");
            let others = plans.iter().filter(|plan| !plan.algorithm().kernel().path.contains("::hopper::"));
            assert!(others.clone().count() > 0 && others.clone().all(|plan| plan.algorithm().packed() == [false; 2]));
        }
    }
}

/// A workspace that is one element short is refused before anything is written; kernels that take operands as they lie pack none.
#[test]
fn too_little_room_and_kernels_that_pack_nothing_are_refused() {
    let device = under_test(0);
    let case = sample(33, 40, 30);
    let data = case.integers::<Half>();
    let on = OnDevice::<Half>::new(&device, &case, &data).expect("memory");
    let plain = Algorithm::of(gpu::gemm::reference::gemm_reference_f16.info()).pack([true, false]);
    assert_eq!(plain.to_string(), "gemm_reference_f16, A packed");
    match on.plan(plain) {
        Err(Error::Argument(bad)) => {
            assert_eq!((bad.rule, bad.argument.as_str()), (ArgumentRule::Algorithm, "algorithm"));
            assert!(bad.found.contains("takes no packed operands"), "{bad}");
        }
        other => panic!("{other:?}"),
    }
    for plan in on.plans(Ways::All).expect("plans").into_iter().flatten().filter(|plan| plan.workspace_len() > 0) {
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
