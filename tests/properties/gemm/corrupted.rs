//! The checks of this folder detect wrong results.

use super::case::{Bias, sample};
use super::run::{OnDevice, equal};
use super::sample::{F16, F32, Kind, Sample};
use super::{Case, reference, within};
use crate::support::device::under_test;

/// Runs one case and corrupts each element of C's buffer in turn by one bit.
fn every_corrupted_element_is_detected<K: Kind>(corrupt: impl Fn(K::Result) -> K::Result) {
    let case = Case { bias: Bias::PerRow, ..sample::<K>(5, 7, 4) };
    let data = case.integers::<K>();
    let on = OnDevice::<K>::new(&under_test(1), &case, &data).expect("memory");
    let (expected, reference) = (case.expected::<K>(&data), reference::<K>(&case, &data));
    let check = |got: &[K::Result]| {
        let values = on.c.values(got)?;
        within(&reference, &values)?;
        equal(&expected, &values)
    };
    let right = on.run(None).expect("a run");
    check(&right).unwrap_or_else(|error| panic!("a correct result: {error}"));
    for at in 0..right.len() {
        let mut wrong = right.clone();
        wrong[at] = corrupt(wrong[at]);
        assert!(check(&wrong).is_err(), "element {at} is wrong, undetected");
    }
}

#[test]
fn every_corrupted_element_of_f32_is_detected() {
    every_corrupted_element_is_detected::<F32>(|x| f32::from_bits(x.to_bits() ^ 1));
}

#[test]
fn every_corrupted_element_of_f16_is_detected() {
    every_corrupted_element_is_detected::<F16>(|x| <F16 as Kind>::Result::from_bits(x.to_bits() ^ 1));
}

#[test]
fn a_changed_input_is_detected() {
    let case = sample::<F32>(5, 7, 4);
    let framed = super::framed::Framed::<f32>::holding(&case.integers::<F32>().a, case.placements[0]);
    for at in 0..framed.image().len() {
        let mut wrong = framed.image().to_vec();
        wrong[at] = f32::from_bits(wrong[at].bits() as u32 ^ 1);
        assert!(framed.unchanged(&wrong).is_err(), "element {at} changed, undetected");
    }
}

#[test]
fn a_missing_product_bias_or_c_is_detected() {
    let case = Case { beta: 1.0, bias: Bias::PerColumn, ..sample::<F32>(6, 33, 5) };
    let data = case.data::<F32>(|rng| rand::Rng::random_range(rng, 0.5..=1.0));
    let reference = reference::<F32>(&case, &data);
    let run = |case: &Case, data: &super::Data| {
        let on = OnDevice::<F32>::new(&under_test(1), case, data).expect("memory");
        on.c.values(&on.run(None).expect("a run")).expect("canaries untouched")
    };
    within(&reference, &run(&case, &data)).unwrap_or_else(|error| panic!("a correct result: {error}"));
    let mut short = data.clone();
    short.a.slice_mut(ndarray::s![.., .., 32]).fill(0.0);
    assert!(within(&reference, &run(&case, &short)).is_err(), "a missing product");
    assert!(within(&reference, &run(&Case { bias: Bias::None, ..case.clone() }, &data)).is_err(), "a missing bias");
    assert!(within(&reference, &run(&Case { beta: 0.0, ..case.clone() }, &data)).is_err(), "a missing C");
}
