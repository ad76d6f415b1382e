//! The judgement of this folder notices what is wrong.

use super::case::{Bias, sample};
use super::run::{OnDevice, equal};
use super::sample::{Half, Kind, Sample, Single};
use super::{Case, reference, within};
use crate::support::device::under_test;

/// Runs one case and spoils each element of C's buffer in turn by one bit.
fn every_spoilt_element_is_noticed<K: Kind>(spoil: impl Fn(K::Result) -> K::Result) {
    let case = Case { bias: Bias::PerRow, ..sample(5, 7, 4) };
    let data = case.integers::<K>();
    let on = OnDevice::<K>::new(&under_test(1), &case, &data).expect("memory");
    let (expected, reference) = (case.expected::<K>(&data), reference::<K>(&case, &data));
    let judge = |got: &[K::Result]| {
        let values = on.c.values(got)?;
        within(&reference, &values)?;
        equal(&expected, &values)
    };
    let right = on.run(None).expect("a run");
    judge(&right).unwrap_or_else(|error| panic!("a right result: {error}"));
    for at in 0..right.len() {
        let mut wrong = right.clone();
        wrong[at] = spoil(wrong[at]);
        assert!(judge(&wrong).is_err(), "element {at} is wrong, unnoticed");
    }
}

#[test]
fn every_spoilt_element_of_f32_is_noticed() {
    every_spoilt_element_is_noticed::<Single>(|x| f32::from_bits(x.to_bits() ^ 1));
}

#[test]
fn every_spoilt_element_of_f16_is_noticed() {
    every_spoilt_element_is_noticed::<Half>(|x| <Half as Kind>::Result::from_bits(x.to_bits() ^ 1));
}

#[test]
fn a_changed_input_is_noticed() {
    let case = sample(5, 7, 4);
    let held = super::held::Held::<f32>::holding(&case.integers::<Single>().a, case.places[0]);
    for at in 0..held.image().len() {
        let mut wrong = held.image().to_vec();
        wrong[at] = f32::from_bits(wrong[at].bits() as u32 ^ 1);
        assert!(held.unchanged(&wrong).is_err(), "element {at} changed, unnoticed");
    }
}

#[test]
fn a_lost_product_a_lost_bias_and_a_lost_c_are_noticed() {
    let case = Case { beta: 1.0, bias: Bias::PerColumn, ..sample(6, 33, 5) };
    let data = case.data::<Single>(|rng| rand::Rng::random_range(rng, 0.5..=1.0));
    let reference = reference::<Single>(&case, &data);
    let run = |case: &Case, data: &super::Data| {
        let on = OnDevice::<Single>::new(&under_test(1), case, data).expect("memory");
        on.c.values(&on.run(None).expect("a run")).expect("canaries untouched")
    };
    within(&reference, &run(&case, &data)).unwrap_or_else(|error| panic!("a right result: {error}"));
    let mut short = data.clone();
    short.a.slice_mut(ndarray::s![.., .., 32]).fill(0.0);
    assert!(within(&reference, &run(&case, &short)).is_err(), "a lost product");
    assert!(within(&reference, &run(&Case { bias: Bias::None, ..case.clone() }, &data)).is_err(), "a lost bias");
    assert!(within(&reference, &run(&Case { beta: 0.0, ..case.clone() }, &data)).is_err(), "a lost C");
}
