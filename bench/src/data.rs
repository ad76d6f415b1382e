//! Input data, and the poison that outputs start with.

use rand::distr::{Distribution, StandardUniform};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use rayon::prelude::*;
use warpwright::half::bf16;
use warpwright::{Buffer, Device, Element, Result};

/// Elements that share one generator, so that the data does not depend on the number of cores.
const CHUNK: usize = 1 << 16;

/// `n` reals, uniform in [−1, 1]: different for every `seed` and `stream`, the same in every run.
///
/// Never zeros: a GPU multiplies zeros with less power, and so faster.
pub fn uniform(n: usize, seed: u64, stream: u64) -> Vec<f32> {
    random(vec![0.0; n], seed, stream, |rng| rng.random_range(-1.0..=1.0))
}

/// `values`, each replaced by what `draw` makes of a generator; as [`uniform`] otherwise.
pub(crate) fn random<T: Send>(
    mut values: Vec<T>,
    seed: u64,
    stream: u64,
    draw: impl Fn(&mut StdRng) -> T + Sync,
) -> Vec<T> {
    values.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, values)| {
        let place = stream.wrapping_mul(1 << 32) | chunk as u64;
        let mut rng = StdRng::seed_from_u64(seed ^ place.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        for value in values {
            *value = draw(&mut rng);
        }
    });
    values
}

/// `n` integers, uniform over all values of their type; as [`uniform`] otherwise.
pub fn uniform_integers<T>(n: usize, seed: u64, stream: u64) -> Vec<T>
where
    T: Copy + Default + Send,
    StandardUniform: Distribution<T>,
{
    random(vec![T::default(); n], seed, stream, Rng::random)
}

/// An element with a value that outputs are filled with before a launch, so that one left out, or an older run's,
/// cannot pass for a result.
pub trait Poisoned: Element {
    /// That value.
    const POISON: Self;
    /// Its buffer.
    #[doc(hidden)]
    fn of(poison: &Poison) -> &Buffer<Self>;
}

/// What outputs are filled with before a launch.
pub struct Poison {
    f32: Buffer<f32>,
    bf16: Buffer<bf16>,
    i32: Buffer<i32>,
    u32: Buffer<u32>,
    u8: Buffer<u8>,
}

impl Poison {
    /// Poison for a device.
    ///
    /// # Errors
    /// As [`Device::upload`].
    pub fn new(device: &Device) -> Result<Self> {
        Ok(Self {
            f32: filled(device)?,
            bf16: filled(device)?,
            i32: filled(device)?,
            u32: filled(device)?,
            u8: filled(device)?,
        })
    }

    /// Overwrites a buffer with poison, on the device.
    ///
    /// # Errors
    /// The driver refuses.
    pub fn fill<T: Poisoned>(&self, buffer: &mut Buffer<T>) -> Result<()> {
        let (own, len) = (T::of(self), buffer.len());
        for start in (0..len).step_by(own.len()) {
            let end = len.min(start + own.len());
            buffer.slice_mut(start..end)?.copy_from(own.slice(0..end - start)?)?;
        }
        Ok(())
    }
}

fn filled<T: Poisoned>(device: &Device) -> Result<Buffer<T>> {
    device.upload(&vec![T::POISON; 1 << 20])
}

/// The `poison` of each type.
macro_rules! poisoned {
    ($($type:ident: $poison:expr),*) => {
        $(impl Poisoned for $type {
            const POISON: Self = $poison;
            fn of(poison: &Poison) -> &Buffer<Self> {
                &poison.$type
            }
        })*
    };
}

// A NaN with a payload that no arithmetic gives, and integers far from what the kernels write.
poisoned!(
    f32: f32::from_bits(0xffd0_150e), bf16: bf16::from_bits(0xffd0), i32: -0x2ff1_2345, u32: 0xd0ed_cafe, u8: 0xa5
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_spread_over_its_range_and_repeats() {
        let values = uniform(200_000, 1, 2);
        assert!(values.iter().all(|x| (-1.0..=1.0).contains(x)));
        for quarter in [-1.0_f32, -0.5, 0.0, 0.5] {
            let share = values.iter().filter(|x| (quarter..quarter + 0.5).contains(x)).count();
            assert!((45_000..55_000).contains(&share), "{share} of 200000 in {quarter}..{}", quarter + 0.5);
        }
        assert_eq!(values, uniform(200_000, 1, 2));
        assert_ne!(values[..100], uniform(100, 2, 2)[..]);
        assert_ne!(values[..100], uniform(100, 1, 3)[..]);
        assert_ne!(values[..100], values[CHUNK..CHUNK + 100]);
    }

    #[test]
    fn integers_take_all_values() {
        let values: Vec<u8> = uniform_integers(100_000, 1, 0);
        let mut seen = [0_u32; 256];
        for value in &values {
            seen[usize::from(*value)] += 1;
        }
        // 390 expected of each, with a standard deviation of 20.
        assert!(seen.iter().all(|count| (270..510).contains(count)), "{seen:?}");
        assert_eq!(values, uniform_integers::<u8>(100_000, 1, 0));
        assert_ne!(values, uniform_integers::<u8>(100_000, 2, 0));
    }

    #[test]
    fn poison_covers_every_element() {
        let device = Device::simulator();
        let poison = Poison::new(&device).unwrap();
        let mut reals = device.upload(&vec![1.0_f32; (1 << 20) + 3]).unwrap();
        poison.fill(&mut reals).unwrap();
        assert!(reals.download().unwrap().iter().all(|x| x.to_bits() == f32::POISON.to_bits()));
        let mut bytes = device.upload(&[1_u8; 5]).unwrap();
        poison.fill(&mut bytes).unwrap();
        assert_eq!(bytes.download().unwrap(), [u8::POISON; 5]);
    }
}
