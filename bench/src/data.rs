//! Input data, and the poison that outputs start with.

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use rayon::prelude::*;
use warpwright::{Buffer, Device, Result};

/// Elements that share one generator, so that the data does not depend on the number of cores.
const CHUNK: usize = 1 << 16;

/// `n` reals, uniform in [−1, 1]: different for every `seed` and `stream`, the same in every run.
///
/// Never zeros: a GPU multiplies zeros with less power, and so faster.
pub fn uniform(n: usize, seed: u64, stream: u64) -> Vec<f32> {
    let mut values = vec![0.0; n];
    values.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, values)| {
        let place = stream.wrapping_mul(1 << 32) | chunk as u64;
        let mut rng = StdRng::seed_from_u64(seed ^ place.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        for value in values {
            *value = rng.random_range(-1.0..=1.0);
        }
    });
    values
}

/// What outputs are filled with before a launch: a NaN, so that an element left out, or an older run's, cannot pass.
pub struct Poison(Buffer<f32>);

impl Poison {
    /// A NaN with a payload that no arithmetic gives.
    pub const VALUE: f32 = f32::from_bits(0xffd0_150e);

    /// Poison for a device.
    ///
    /// # Errors
    /// As [`Device::upload`].
    pub fn new(device: &Device) -> Result<Self> {
        Ok(Self(device.upload(&vec![Self::VALUE; 1 << 20])?))
    }

    /// Overwrites a buffer with poison, on the device.
    ///
    /// # Errors
    /// The driver refuses.
    pub fn fill(&self, buffer: &mut Buffer<f32>) -> Result<()> {
        let len = buffer.len();
        for start in (0..len).step_by(self.0.len()) {
            let end = len.min(start + self.0.len());
            buffer.slice_mut(start..end)?.copy_from(self.0.slice(0..end - start)?)?;
        }
        Ok(())
    }
}

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
    fn poison_covers_every_element() {
        let device = Device::simulator();
        let mut buffer = device.upload(&vec![1.0_f32; (1 << 20) + 3]).unwrap();
        Poison::new(&device).unwrap().fill(&mut buffer).unwrap();
        assert!(buffer.download().unwrap().iter().all(|x| x.to_bits() == Poison::VALUE.to_bits()));
    }
}
