//! `f32` as the sum of three `bf16`: every bit counts, and what planes cannot express is as fused multiply-add has it.

use rand::Rng;
use warpwright::gemm::{Arithmetic, Op};

use super::run::{Algorithms, equal, verify};
use super::sample::Bf16x6;
use super::{Case, LAYOUTS, sample};
use crate::support::device::under_test;
use crate::support::values;

/// A random number with 24 bits and an exponent in this range; subnormal ones have fewer.
fn any_bits(rng: &mut impl Rng, exponents: std::ops::Range<i32>) -> f64 {
    let fraction = f64::from(rng.random_range(1_u32 << 23..1 << 24)) * 0.5_f64.powi(23);
    let x = fraction * 2_f64.powi(rng.random_range(exponents)) * if rng.random() { 1.0 } else { -1.0 };
    f64::from(x as f32)
}

/// One operand picks rows or columns of the other, times a power of two: C has them to the last bit, from subnormal
/// numbers to those that are too large for planes.
#[test]
fn every_bit_of_an_operand_counts() {
    for (number, exponents) in [-3..4, -60..61, -149..-100, 90..127, -149..127].into_iter().enumerate() {
        for (ops, picks_a) in LAYOUTS.into_iter().zip([true, false, false, true]) {
            let case = Case { ops, data: number as u64, ..sample::<Bf16x6>(67, 5, 70) };
            let mut rng = values::rng(case.data);
            let mut data = case.data::<Bf16x6>(|_| 0.0);
            let (picked, picking, lines) =
                if picks_a { (&mut data.a, &mut data.b, case.n) } else { (&mut data.b, &mut data.a, case.m) };
            picked.mapv_inplace(|_| any_bits(&mut rng, exponents.clone()));
            let mut expected = vec![0.0; case.m * case.n];
            for line in 0..lines {
                let (from, factor) = (rng.random_range(0..case.k), 2_f64.powi(rng.random_range(-20..21)));
                picking[if picks_a { [0, from, line] } else { [0, line, from] }] = factor;
                for other in 0..if picks_a { case.m } else { case.n } {
                    let (element, at) = if picks_a {
                        (picked[[0, other, from]], other * case.n + line)
                    } else {
                        (picked[[0, from, other]], line * case.n + other)
                    };
                    expected[at] = f64::from((element * factor) as f32);
                }
            }
            let device = under_test(case.data);
            verify::<Bf16x6>(&device, &case, &data, Algorithms::All, |got| equal(&expected, got))
                .unwrap_or_else(|error| panic!("{exponents:?}, {ops:?}: {error}"));
        }
    }
}

/// Elements of C that planes cannot express are sums in `f64`, in order of k: where an operand is infinite, NaN or too
/// large, and where a sum is. The others are exact.
#[test]
fn what_planes_cannot_express_is_accumulated_in_f64() {
    for (number, ops) in LAYOUTS.into_iter().enumerate() {
        for large in [f64::INFINITY, f64::NAN, 2_f64.powi(120), 2_f64.powi(90)] {
            let case = Case { ops, batch: 2, data: number as u64, ..sample::<Bf16x6>(66, 1, 131) };
            let mut data = case.data::<Bf16x6>(|rng| rng.random_range(-9..=9).into());
            // In both operands, so that some sums have both signs of infinity, or overflow.
            for (row, col, k, sign) in [(3, 7, 40, 1.0), (64, 130, 256, -1.0), (65, 2, 0, 1.0)] {
                data.a[[1, row, k]] = large * sign;
                data.b[[1, (k + 1) % case.k, col]] = large;
            }
            let mut expected = Vec::new();
            for matrix in 0..case.batch {
                for (row, col) in (0..case.m).flat_map(|row| (0..case.n).map(move |col| (row, col))) {
                    let sum = (0..case.k)
                        .fold(0.0_f64, |sum, k| data.a[[matrix, row, k]].mul_add(data.b[[matrix, k, col]], sum));
                    expected.push(f64::from(sum as f32));
                }
            }
            // Integers where planes are used: 9 · 9 · 257 is far below 2²⁴.
            let is_expressed = |x: f64| x.abs() < 2_f64.powi(24);
            assert!(expected.iter().any(|&x| is_expressed(x)) && expected.iter().any(|&x| !is_expressed(x)));
            verify::<Bf16x6>(&under_test(case.data), &case, &data, Algorithms::All, |got| equal(&expected, got))
                .unwrap_or_else(|error| panic!("{large}, {ops:?}: {error}"));
        }
    }
}

/// The planes are copies of both operands, whatever their layout; without a workspace, and for a short k, products are
/// those of full arithmetic.
#[test]
fn planes_are_in_the_workspace() {
    let device = under_test(0);
    if !device.has_kernel(gpu::gemm::sm90::BF16X6[0].kernel.info()) {
        return;
    }
    let plans = |k: usize, op| {
        let (a, b) = (device.alloc_matrix_zeros::<f32>(100, k).unwrap(), device.alloc_matrix_zeros(k, 100).unwrap());
        let (a, b) = if op == Op::N { (&a, &b) } else { (&b, &a) };
        let c = device.alloc_matrix::<f32>(100, 100).unwrap();
        device.gemm(a, b).op(op, op).arithmetic(Arithmetic::Bf16x6).plans(&c).unwrap()
    };
    for op in [Op::N, Op::T] {
        let plans = plans(300, op);
        let (planes, full): (Vec<_>, Vec<_>) =
            plans.iter().partition(|plan| plan.algorithm().kernel().name.contains("bf16x6"));
        assert!(
            planes.len() >= 2 && full.iter().any(|plan: &&warpwright::gemm::Plan| plan.workspace_len() == 0),
            "{plans:?}"
        );
        // 100 rows and 100 columns, of 320 elements and three planes, of 2 bytes.
        assert!(
            planes
                .iter()
                .all(|plan| plan.workspace_len() >= 200 * 320 * 3 / 2 && plan.algorithm().packed() == [true; 2])
        );
    }
    assert!(plans(255, Op::N).iter().all(|plan| !plan.algorithm().kernel().name.contains("bf16x6")));
}
