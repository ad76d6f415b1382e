//! Elements of every size in buffers with canaries, for transpositions and permutations.

use rand::Rng;
use simt::element::{Element, Vec2, Vec4};
use warpwright::half::f16;
use warpwright::{Device, Result};

use crate::support::device::{counterpart, under_test};
use crate::support::values;

/// An element made of the low bytes of random bits.
pub(super) trait Bits: Element {
    fn of(bits: u128) -> Self;
    fn bits(self) -> u128;
}

macro_rules! bits {
    ($($t:ty: $of:expr, $bits:expr;)+) => {$(
        impl Bits for $t {
            fn of(bits: u128) -> Self {
                $of(bits)
            }
            fn bits(self) -> u128 {
                $bits(self)
            }
        }
    )+};
}
bits! {
    u8: |x| x as u8, u128::from;
    f16: |x| f16::from_bits(x as u16), |x: f16| u128::from(x.to_bits());
    f32: |x| f32::from_bits(x as u32), |x: f32| u128::from(x.to_bits());
    // A complex number.
    Vec2<f32>: |x: u128| Vec2::new([f32::from_bits(x as u32), f32::from_bits((x >> 32) as u32)]),
        |x: Vec2<f32>| u128::from(x.lanes[0].to_bits()) | u128::from(x.lanes[1].to_bits()) << 32;
    u64: |x| x as u64, u128::from;
    Vec4<i32>: |x: u128| Vec4::new([0, 1, 2, 3].map(|lane| (x >> (32 * lane)) as i32)),
        |x: Vec4<i32>| x.lanes.iter().rev().fold(0, |bits, &lane| bits << 32 | u128::from(lane as u32));
}

/// Random elements.
pub(super) fn random<T: Bits>(len: usize, seed: u64) -> Vec<T> {
    let mut rng = values::rng(seed);
    (0..len).map(|_| T::of(rng.random())).collect()
}

/// Runs `method` on the device under test and on its counterpart. It gets the input and writes the output, which is
/// initialised with random bits. `moves` lists which element of the input each element of the output must become; all
/// others must not change.
pub(super) fn verify<T: Bits>(
    (input, output): (usize, usize),
    moves: &[(usize, usize)],
    seed: u64,
    method: impl Fn(&Device, &[T], &[T]) -> Result<Vec<T>>,
) -> Result<f64, String> {
    let (a, b) = (random::<T>(input, seed), random::<T>(output, !seed));
    let mut expected: Vec<_> = b.iter().map(|x| x.bits()).collect();
    for &(from, to) in moves {
        expected[to] = a[from].bits();
    }
    for device in [under_test(seed), counterpart(seed)] {
        let got = method(&device, &a, &b).map_err(|error| format!("{}: {error}", device.name()))?;
        if got.len() != expected.len() {
            return Err(format!("{} elements became {}", expected.len(), got.len()));
        }
        for (index, (expected, got)) in expected.iter().zip(&got).enumerate() {
            if *expected != got.bits() {
                let inside = moves.iter().find(|&&(_, to)| to == index);
                return Err(format!(
                    "{}: element {index} of the output's buffer is {:#x} and should be {expected:#x}, {}",
                    device.name(),
                    got.bits(),
                    inside.map_or("as it was".to_owned(), |(from, _)| format!("element {from} of the input's")),
                ));
            }
        }
    }
    Ok(0.0)
}
