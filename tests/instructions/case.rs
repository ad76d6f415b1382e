//! Cases, how they are checked, and their input data.

use simt::KernelInfo;
use warpwright::half::{bf16, f16};
use warpwright::{Device, Error};

use crate::device::{counterpart, under_test};

/// Result of a run: the [`bits`] of the outputs that must be the same on every device and in every order.
pub(crate) type Outcome = Result<Vec<u64>, Error>;

/// Launches of one kernel.
pub(crate) struct Case {
    pub(crate) kernel: &'static KernelInfo,
    /// Launches the kernel, and panics if the results differ from its documentation.
    pub(crate) run: fn(&Device) -> Outcome,
}

/// Seeds of the simulator's schedules; a GPU repeats each case as often.
const SEEDS: [u64; 4] = [0, 1, 2, 42];

/// Runs each case on the device under test and on its counterpart: both must give the expected results and the same
/// bits.
pub(crate) fn check<'a>(cases: impl IntoIterator<Item = &'a Case>) {
    for Case { kernel, run } in cases {
        for seed in SEEDS {
            let on = |device: Device| {
                let outcome = run(&device);
                (device, outcome)
            };
            let tested = on(under_test(seed));
            // Some instructions exist only on Hopper.
            if let (_, Err(error @ Error::TooOld { .. })) = &tested {
                println!("{} left out: {error}", kernel.name);
                break;
            }
            let outcomes = [tested, on(counterpart(seed))];
            let [got, expected] = outcomes.map(|(device, outcome)| {
                outcome.unwrap_or_else(|error| panic!("{} on {}, seed {seed}: {error}", kernel.name, device.name()))
            });
            assert_eq!(got, expected, "{}, seed {seed}: the devices differ", kernel.name);
        }
    }
}

/// A number as bits.
pub(crate) trait Bits: Copy {
    /// The bits, zero-extended; all NaNs have the same bits here, since their payloads depend on the hardware.
    fn bits(self) -> u64;
}

macro_rules! integers {
    ($($t:ty as $unsigned:ty),+) => {$(
        impl Bits for $t {
            fn bits(self) -> u64 {
                u64::from(self as $unsigned)
            }
        }
    )+};
}
integers! { u8 as u8, u16 as u16, u32 as u32, i32 as u32, u64 as u64, i64 as u64 }

macro_rules! floats {
    ($($t:ty),+) => {$(
        impl Bits for $t {
            fn bits(self) -> u64 {
                u64::from(if self.is_nan() { <$t>::NAN.to_bits() } else { self.to_bits() })
            }
        }
    )+};
}
floats! { f16, bf16, f32, f64 }

/// The bits of each value.
pub(crate) fn bits<T: Bits>(values: &[T]) -> Vec<u64> {
    values.iter().map(|value| value.bits()).collect()
}

/// The bits of `got`, which must equal those of `expected`.
#[track_caller]
pub(crate) fn same<T: Bits>(got: &[T], expected: &[T], what: &str) -> Vec<u64> {
    let got = bits(got);
    assert_eq!(got, bits(expected), "result on the left, expected on the right: {what}");
    got
}

/// Initial value of outputs, which no kernel writes.
pub(crate) const CANARY: u32 = 0xdead_beef;

/// Pseudo-random numbers: a fixed sequence, so that a failure can be reproduced.
pub(crate) fn noise(n: usize) -> Vec<u32> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    (0..n)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 32) as u32
        })
        .collect()
}

/// [`noise`] as floats.
pub(crate) fn floats(n: usize) -> Vec<f32> {
    noise(n).into_iter().map(|x| x as f32).collect()
}

/// `x` with each section of `section` elements reversed.
pub(crate) fn reversed(x: &[f32], section: usize) -> Vec<f32> {
    x.chunks(section).flat_map(|section| section.iter().rev().copied()).collect()
}
