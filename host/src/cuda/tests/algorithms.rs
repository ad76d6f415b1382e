//! The GEMM kernels that each GPU has.

use half::f16;

use super::{Character, device, mock};
use crate::gemm::Algorithm;

/// The names of the kernels for a GEMM of aligned `f16` matrices.
fn kernels(character: Character) -> Vec<&'static str> {
    let device = device(mock::ordinal(character));
    let x = device.alloc_matrix::<f16>(64, 64).unwrap();
    let plans = device.gemm(&x, &x).plans(&x).unwrap();
    plans.iter().filter(|plan| plan.algorithm().parts() == 1).map(|plan| plan.algorithm().kernel().name).collect()
}

#[test]
fn a_gemm_uses_kernels_that_the_gpu_has() {
    let (ampere, hopper) = (kernels(Character::Ampere), kernels(Character::Geometric));
    assert!(
        ampere.contains(&"gemm_mma_f16_nn_64x64") && ampere.iter().all(|name| !name.contains("hopper")),
        "{ampere:?}"
    );
    assert!(
        ampere.iter().all(|name| hopper.contains(name)) && hopper.contains(&"gemm_sm90_f16_nn_128x256"),
        "{hopper:?}"
    );
}

#[test]
fn an_algorithm_for_other_gpus_is_refused() {
    let device = device(mock::ordinal(Character::Ampere));
    let (x, mut c) = (device.alloc_matrix::<f16>(64, 64).unwrap(), device.alloc_matrix::<f16>(64, 64).unwrap());
    let hopper = Algorithm::of(gpu::gemm::sm90::gemm_sm90_f16_nn_128x128.info());
    let error = device.gemm(&x, &x).algorithm(hopper).into(&mut c).unwrap_err().to_string();
    assert!(error.contains("gemm_sm90_f16_nn_128x128, which is for other GPUs"), "{error}");
}
