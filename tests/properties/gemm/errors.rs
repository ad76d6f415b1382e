//! Calls that are refused, before anything is written.

use warpwright::gemm::{Algorithm, Gemm};
use warpwright::half::f16;
use warpwright::{ArgumentRule, Device, Error, Matrix, Result, TensorViewMut};

use crate::support::device::under_test;

/// Rule and argument of an error.
fn refused<T>(result: Result<T>) -> (ArgumentRule, String) {
    match result {
        Err(Error::Argument(bad)) => {
            assert_eq!(bad.call, "gemm");
            assert!(!bad.expected.is_empty() && !bad.found.is_empty() && !bad.remedy.is_empty(), "{bad}");
            (bad.rule, bad.argument)
        }
        Err(other) => panic!("not an argument's error: {other}"),
        Ok(_) => panic!("accepted"),
    }
}

fn zeros(device: &Device, rows: usize, cols: usize) -> Matrix<f32> {
    device.alloc_matrix_zeros(rows, cols).expect("memory")
}

/// C is 3 × 5 from 3 × 4 and 4 × 5; each line has one mistake.
#[test]
fn arguments_that_do_not_agree() {
    let device = under_test(0);
    let (a, b, short) = (zeros(&device, 3, 4), zeros(&device, 4, 5), device.alloc_zeros::<f32>(3).expect("memory"));
    let mut c = device.upload(&ndarray::Array2::from_elem((3, 5), 7.0_f32)).expect("memory");
    let mut refuse = |gemm: Gemm<'_, f32>| refused(gemm.into(&mut c));
    let is = |rule: ArgumentRule, argument: &str| (rule, argument.to_owned());
    assert_eq!(refuse(device.gemm(&a, &b).transpose_a()), is(ArgumentRule::Shape, "b"));
    assert_eq!(refuse(device.gemm(&b, &a)), is(ArgumentRule::Shape, "b"));
    assert_eq!(refuse(device.gemm(&a, &zeros(&device, 4, 6))), is(ArgumentRule::Shape, "c"));
    assert_eq!(refuse(device.gemm(&zeros(&device, 2, 4), &b)), is(ArgumentRule::Shape, "c"));
    assert_eq!(refuse(device.gemm(&a, &b).bias(&short)), is(ArgumentRule::Length, "bias"));
    let five = device.alloc_zeros::<f32>(5).expect("memory");
    assert_eq!(refuse(device.gemm(&a, &b).bias_per_row(&five)), is(ArgumentRule::Length, "bias"));
    let two = device.alloc_zeros::<f32>(24).expect("memory");
    let batch = two.view().as_tensor(&[2, 3, 4]).expect("24 elements");
    assert_eq!(refuse(device.gemm(batch, &b)), is(ArgumentRule::Shape, "a"));
    let four_axes = two.view().as_tensor(&[1, 1, 3, 4]).expect("12 elements");
    assert_eq!(refuse(device.gemm(four_axes, &b)), is(ArgumentRule::Axes, "a"));
    let vector = two.view().as_tensor(&[4]).expect("4 elements");
    assert_eq!(refuse(device.gemm(&a, vector)), is(ArgumentRule::Axes, "b"));
    let spread = two.view().as_tensor_strided(&[3, 4], &[8, 2]).expect("23 elements");
    assert_eq!(refuse(device.gemm(spread, &b)), is(ArgumentRule::LeadingDimension, "a"));
    let dense = two.view().as_tensor_strided(&[3, 4], &[3, 1]).expect("10 elements");
    assert_eq!(refuse(device.gemm(dense, &b)), is(ArgumentRule::LeadingDimension, "a"));
    let other = Device::simulator();
    let stranger = zeros(&other, 3, 4);
    assert_eq!(refuse(device.gemm(&stranger, &b)), is(ArgumentRule::Device, "a"));
    let foreign = other.alloc_zeros::<f32>(5).expect("memory");
    assert_eq!(refuse(device.gemm(&a, &b).bias(&foreign)), is(ArgumentRule::Device, "bias"));
    assert!(c.download().expect("c").iter().all(|&x| x == 7.0), "something was written");
}

#[test]
fn empty_and_overlapping_batches() {
    let device = under_test(0);
    let (a, b) = (zeros(&device, 3, 4), zeros(&device, 4, 5));
    let mut memory = device.alloc_zeros::<f32>(30).expect("memory");
    let none = memory.view_mut().as_tensor(&[0, 3, 5]).expect("no element");
    assert_eq!(refused(device.gemm(&a, &b).into(none)).0, ArgumentRule::Elements);
    for strides in [[14, 5, 1], [0, 5, 1], [15, 4, 1], [15, 1, 2]] {
        let overlapping: Result<TensorViewMut<f32>> = memory.view_mut().as_tensor_strided(&[2, 3, 5], &strides);
        match overlapping {
            Err(Error::Argument(bad)) => assert_eq!(bad.rule, ArgumentRule::Overlap, "{strides:?}"),
            other => panic!("{strides:?}: {other:?}"),
        }
    }
    let batch = device.alloc_zeros::<f32>(24).expect("memory");
    let batch = batch.view().as_tensor(&[2, 3, 4]).expect("24 elements");
    assert_eq!(refused(device.gemm(batch, &b).run()).0, ArgumentRule::Axes);
    assert_eq!(refused(device.gemm(&a, &b).beta(1.0).run()), (ArgumentRule::Shape, "beta".to_owned()));
    assert_eq!(refused(device.gemm(batch, &b).beta(1.0).run_batch()), (ArgumentRule::Shape, "beta".to_owned()));
}

#[test]
fn algorithms_that_are_not_applicable_and_small_workspaces() {
    let device = under_test(0);
    let (a, b) = (zeros(&device, 64, 64), zeros(&device, 64, 64));
    let mut c = zeros(&device, 64, 64);
    let (plain, tiles) = (gpu::gemm::reference::gemm_reference_f32.info(), gpu::gemm::ffma::gemm_ffma_f32_64x64.info());
    let of_f16 = gpu::gemm::reference::gemm_reference_f16.info();
    for gemm in [
        device.gemm(&a, &b).algorithm(Algorithm::of(of_f16)),
        device.gemm(&a, &b).algorithm(Algorithm::of(tiles)).transpose_b(),
        device.gemm(&a, &b).algorithm(Algorithm::of(tiles).split_k(2)),
        device.gemm(&a, &b).algorithm(Algorithm::of(plain)).arithmetic(warpwright::gemm::Arithmetic::Tf32),
    ] {
        assert_eq!(refused(gemm.into(&mut c)), (ArgumentRule::Algorithm, "algorithm".to_owned()));
    }
    // With alpha = 0 there is no product, and any algorithm is accepted.
    device.gemm(&a, &b).algorithm(Algorithm::of(tiles)).alpha(0.0).into(&mut c).expect("zeros");
    let mut workspace = device.alloc::<f32>(4 * 64 * 64 - 1).expect("memory");
    let split = || device.gemm(&a, &b).algorithm(Algorithm::of(plain).split_k(4));
    let too_little = (ArgumentRule::Length, "workspace".to_owned());
    assert_eq!(refused(split().into(&mut c)), too_little);
    assert_eq!(refused(split().workspace(&mut workspace).into(&mut c)), too_little);
    device
        .gemm(&a, &b)
        .algorithm(Algorithm::of(plain).split_k(3))
        .workspace(&mut workspace)
        .into(&mut c)
        .expect("enough for three");
    assert_eq!(split().run().expect("a workspace of its own").download().expect("c")[(63, 63)], 0.0);
}

/// TMA kernels are not applicable to operands whose address or rows are not at multiples of 16 bytes, and say so.
#[test]
fn tma_kernels_refuse_misaligned_operands() {
    let device = under_test(0);
    let [nn, tt] = [gpu::gemm::sm90::gemm_sm90_f16_nn_128x128, gpu::gemm::sm90::gemm_sm90_f16_tt_128x128];
    let (nn, tt) = (Algorithm::of(nn.info()), Algorithm::of(tt.info()));
    if !device.has_kernel(nn.kernel()) {
        return;
    }
    let memory = device.alloc_zeros::<f16>(100 * 100).expect("memory");
    let at = |offset: usize, ld: usize| {
        memory.slice(offset..100 * 100).and_then(|x| x.as_tensor_strided(&[64, 64], &[ld, 1])).expect("64 rows")
    };
    let mut c = device.alloc_zeros::<f16>(64 * 67 + 1).expect("memory");
    for (a, b, wants) in [
        (at(0, 64), at(0, 64), None),
        (at(8, 72), at(16, 80), None),
        (at(1, 64), at(0, 64), Some("a")),
        (at(0, 65), at(0, 64), Some("a")),
        (at(8, 72), at(4, 64), Some("b")),
        (at(8, 72), at(0, 68), Some("b")),
    ] {
        // C may be misaligned; a column-major C is the product of the transposed operands in the other order.
        for (algorithm, strides) in [(nn, [67, 1]), (tt, [1, 67])] {
            let mut to = c.slice_mut(1..64 * 67 + 1).and_then(|c| c.as_tensor_strided(&[64, 64], &strides)).expect("C");
            let listed = device.gemm(a, b).plans(&to).expect("plans").iter().any(|plan| plan.algorithm() == algorithm);
            let verdict = device.gemm(a, b).algorithm(algorithm).into(&mut to).map_err(|error| error.to_string());
            assert_eq!(listed, wants.is_none(), "{a:?}, {b:?}");
            match wants {
                None => verdict.expect("a product"),
                Some(operand) => {
                    let (message, reason) = (verdict.unwrap_err(), format!("wants `{operand}` to begin"));
                    assert!(message.contains(&reason), "{a:?}, {b:?}: {message}");
                }
            }
        }
    }
    // Without a product nothing is loaded.
    let to = c.slice_mut(0..64 * 64).and_then(|c| c.as_tensor(&[64, 64])).expect("C");
    device.gemm(at(1, 64), at(0, 64)).alpha(0.0).algorithm(nn).into(to).expect("zeros");
}
