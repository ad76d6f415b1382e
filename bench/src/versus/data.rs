//! Input data: random, never zero throughout, and known at every index without being kept.
//!
//! A vector of any length repeats one random *period*, whose length is a prime: copies of it on the device make
//! gigabytes in no time, and the expected result of any index arithmetic can be computed from the period alone. No
//! tile, row or block that a kernel might confuse with another begins at the same place of the period.

use anyhow::Result;
use half::{bf16, f16};
use rand::Rng;
use rand::distr::{Distribution, StandardUniform};
use rand::rngs::StdRng;
use simt::element::Vec2;
use warpwright::{Buffer, Device, E4m3, Element};

use super::case::Dtype;
use crate::data::random;

/// An element as bits, whatever its type.
pub type Bits = u128;

/// A type that cases can have.
pub(super) trait Number: Element + Send {
    fn bits(self) -> Bits;
    /// Uniform in [−1, 1], or over all integers of the type.
    fn random(rng: &mut StdRng) -> Self;
    /// An integer from −4 to 4; as a byte, from 0 to 8.
    fn small(rng: &mut StdRng) -> Self;
}

fn small(rng: &mut StdRng) -> i8 {
    rng.random_range(-4..=4)
}

fn real(rng: &mut StdRng) -> f64 {
    rng.random_range(-1.0..=1.0)
}

fn integer<T>(rng: &mut StdRng) -> T
where
    StandardUniform: Distribution<T>,
{
    rng.random()
}

macro_rules! numbers {
    ($($t:ty: $bits:expr, $random:expr, $small:expr;)+) => {$(
        impl Number for $t {
            fn bits(self) -> Bits {
                let bits: fn($t) -> Bits = $bits;
                bits(self)
            }

            fn random(rng: &mut StdRng) -> Self {
                let random: fn(&mut StdRng) -> $t = $random;
                random(rng)
            }

            fn small(rng: &mut StdRng) -> Self {
                let from: fn(i8) -> $t = $small;
                from(small(rng))
            }
        }
    )+};
}

numbers! {
    u8: |x| x.into(), integer, |small| small.wrapping_add(4).cast_unsigned();
    i8: |x| x.cast_unsigned().into(), integer, |small| small;
    E4m3: |x| x.to_bits().into(), |rng| E4m3::from_f32(real(rng) as f32), |small| E4m3::from_f32(small.into());
    i32: |x| x.cast_unsigned().into(), integer, i32::from;
    f16: |x| x.to_bits().into(), |rng| f16::from_f64(real(rng)), |small| f16::from_f32(small.into());
    bf16: |x| x.to_bits().into(), |rng| bf16::from_f64(real(rng)), |small| bf16::from_f32(small.into());
    f32: |x| x.to_bits().into(), |rng| rng.random_range(-1.0..=1.0), f32::from;
    f64: |x| x.to_bits().into(), real, f64::from;
    Vec2<f64>: |x| Bits::from(x.lanes[0].to_bits()) | (Bits::from(x.lanes[1].to_bits()) << 64),
        |rng| Vec2::new([real(rng), real(rng)]), |small| Vec2::new([small.into(), 0.0]);
}

/// The number that bits of a type mean; of a complex number, the real part.
pub fn number(dtype: Dtype, bits: Bits) -> f64 {
    match dtype {
        Dtype::U8 => bits as f64,
        Dtype::I8 => f64::from((bits as u8).cast_signed()),
        Dtype::E4m3 | Dtype::E4m3Fast | Dtype::E4m3Blocks => E4m3::from_bits(bits as u8).to_f32().into(),
        Dtype::I32 => f64::from((bits as u32).cast_signed()),
        Dtype::F16 => f16::from_bits(bits as u16).to_f64(),
        Dtype::Bf16 => bf16::from_bits(bits as u16).to_f64(),
        Dtype::F32 | Dtype::Tf32 | Dtype::F32Emulated => f64::from(f32::from_bits(bits as u32)),
        Dtype::F64 | Dtype::C128 => f64::from_bits(bits as u64),
    }
}

/// Declares the enumerations over element types, and what is done by element type.
macro_rules! by_type {
    ($($variant:ident($t:ty)),+ $(,)?) => {
        /// A period on the host.
        enum Host { $($variant(Vec<$t>),)+ }

        /// Memory of a device, of any of the types.
        #[allow(missing_docs, reason = "each is what its name says")]
        pub enum AnyBuffer { $($variant(Buffer<$t>),)+ }

        impl Host {
            fn random(dtype: Dtype, len: usize, seed: u64, small: bool) -> Self {
                match dtype.stored() {
                    $(Dtype::$variant => {
                        let draw = if small { <$t as Number>::small } else { <$t as Number>::random };
                        Self::$variant(random(vec![zero(); len], seed, 7, draw))
                    })+
                    Dtype::Tf32 | Dtype::F32Emulated | Dtype::E4m3Fast | Dtype::E4m3Blocks => {
                        unreachable!("stored as another")
                    }
                }
            }

            fn bits(&self, index: usize) -> Bits {
                match self { $(Self::$variant(values) => values[index].bits(),)+ }
            }

            fn upload(&self, device: &Device) -> Result<AnyBuffer> {
                Ok(match self { $(Self::$variant(values) => AnyBuffer::$variant(device.upload(values)?),)+ })
            }
        }

        impl AnyBuffer {
            /// Memory for `len` elements.
            ///
            /// # Errors
            /// There is not so much.
            pub fn alloc(device: &Device, dtype: Dtype, len: usize) -> Result<Self> {
                Ok(match dtype.stored() {
                    $(Dtype::$variant => Self::$variant(device.alloc(len)?),)+
                    Dtype::Tf32 | Dtype::F32Emulated | Dtype::E4m3Fast | Dtype::E4m3Blocks => {
                        unreachable!("stored as another")
                    }
                })
            }

            /// Number of elements.
            pub fn len(&self) -> usize {
                match self { $(Self::$variant(buffer) => buffer.len(),)+ }
            }

            /// The device that owns the memory.
            pub fn device(&self) -> &Device {
                match self { $(Self::$variant(buffer) => buffer.device(),)+ }
            }

            /// Whether there is no element.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// Address of element `index` on the device.
            ///
            /// # Errors
            /// There is no such element.
            pub fn address(&self, index: usize) -> Result<u64> {
                Ok(match self { $(Self::$variant(buffer) => buffer.slice(index..buffer.len())?.device_ptr() as u64,)+ })
            }

            /// The bits of elements from `start` on.
            ///
            /// # Errors
            /// Work before failed, or there are not so many.
            pub fn read(&self, start: usize, len: usize) -> Result<Vec<Bits>> {
                Ok(match self {
                    $(Self::$variant(buffer) => {
                        let values = buffer.slice(start..start + len)?.download()?;
                        values.into_iter().map(Number::bits).collect()
                    })+
                })
            }

            /// Fills it with repetitions of `period`, from its element `phase` on.
            fn tile(&mut self, period: &Self, phase: usize) -> Result<()> {
                match (self, period) {
                    $((Self::$variant(buffer), Self::$variant(period)) => tile(buffer, period, phase),)+
                    _ => anyhow::bail!("a period of another type"),
                }
            }

            /// Overwrites it with poison: all bits set, a NaN or −1.
            ///
            /// # Errors
            /// The driver refuses.
            pub fn poison(&mut self) -> Result<()> {
                match self { $(Self::$variant(buffer) => poison(buffer),)+ }
            }
        }
    };
}

by_type! { U8(u8), I8(i8), E4m3(E4m3), I32(i32), F16(f16), Bf16(bf16), F32(f32), F64(f64), C128(Vec2<f64>) }

/// All bits 0.
fn zero<T: Element>() -> T {
    // SAFETY: an element takes any bits.
    unsafe { std::mem::zeroed() }
}

fn tile<T: Element>(buffer: &mut Buffer<T>, period: &Buffer<T>, phase: usize) -> Result<()> {
    let (mut at, mut phase) = (0, phase % period.len());
    while at < buffer.len() {
        let piece = (period.len() - phase).min(buffer.len() - at);
        buffer.slice_mut(at..at + piece)?.copy_from(period.slice(phase..phase + piece)?)?;
        (at, phase) = (at + piece, 0);
    }
    Ok(())
}

fn poison<T: Element>(buffer: &mut Buffer<T>) -> Result<()> {
    // SAFETY: an element takes any bits.
    let poison: T = unsafe {
        let mut poison = std::mem::MaybeUninit::<T>::uninit();
        poison.as_mut_ptr().write_bytes(0xff, 1);
        poison.assume_init()
    };
    let piece = buffer.device().upload(&vec![poison; buffer.len().min(1 << 20)])?;
    if piece.is_empty() { Ok(()) } else { tile(buffer, &piece, 0) }
}

/// Random data of one type.
pub struct Period {
    dtype: Dtype,
    len: usize,
    host: Host,
    device: AnyBuffer,
}

impl Period {
    /// Length of the period on a GPU: the largest prime below 2²⁴.
    pub const LONG: usize = 16_777_213;
    /// Where second operands begin, so that they differ from the first.
    pub const SECOND: usize = 7_654_321;

    /// `len` random elements, the same for the same seed: uniform in [−1, 1], or over all integers of the type.
    ///
    /// # Errors
    /// The device has no memory for them.
    pub fn new(device: &Device, dtype: Dtype, len: usize, seed: u64) -> Result<Self> {
        Self::make(device, dtype, len, seed, false)
    }

    /// As [`Period::new`], of integers from −4 to 4.
    ///
    /// # Errors
    /// As [`Period::new`].
    pub fn integers(device: &Device, dtype: Dtype, len: usize, seed: u64) -> Result<Self> {
        Self::make(device, dtype, len, seed, true)
    }

    fn make(device: &Device, dtype: Dtype, len: usize, seed: u64, small: bool) -> Result<Self> {
        let host = Host::random(dtype, len, seed, small);
        let on_device = host.upload(device)?;
        Ok(Self { dtype, len, host, device: on_device })
    }

    /// Its type.
    pub fn dtype(&self) -> Dtype {
        self.dtype
    }

    /// Elements before it repeats.
    pub fn period(&self) -> usize {
        self.len
    }

    /// Element `index` of the repetition.
    pub fn bits(&self, index: usize) -> Bits {
        self.host.bits(index % self.len)
    }

    /// Element `index` of the repetition as a number.
    pub fn number(&self, index: usize) -> f64 {
        number(self.dtype, self.bits(index))
    }

    /// A buffer of `len` elements, the repetition from element `phase` on.
    ///
    /// # Errors
    /// The device has no memory for it.
    pub fn buffer(&self, device: &Device, len: usize, phase: usize) -> Result<AnyBuffer> {
        let mut buffer = AnyBuffer::alloc(device, self.dtype, len)?;
        buffer.tile(&self.device, phase)?;
        Ok(buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TYPES: [Dtype; 8] =
        [Dtype::U8, Dtype::I8, Dtype::I32, Dtype::F16, Dtype::Bf16, Dtype::F32, Dtype::F64, Dtype::C128];

    #[test]
    fn a_buffer_repeats_the_period_from_its_phase_on() {
        let device = Device::simulator();
        for dtype in TYPES {
            let period = Period::new(&device, dtype, 101, 1).unwrap();
            let buffer = period.buffer(&device, 350, 30).unwrap();
            let expected: Vec<Bits> = (0..350).map(|i| period.bits(i + 30)).collect();
            assert_eq!(buffer.read(0, 350).unwrap(), expected, "{dtype:?}");
            assert_eq!(buffer.read(340, 10).unwrap(), expected[340..], "{dtype:?}");
            let mut numbers: Vec<f64> = (0..101).map(|i| period.number(i)).collect();
            numbers.sort_by(f64::total_cmp);
            numbers.dedup();
            assert!(numbers.len() > 70, "{dtype:?}: {} different numbers of 101", numbers.len());
        }
    }

    #[test]
    fn poison_is_everywhere() {
        let device = Device::simulator();
        for dtype in TYPES {
            let mut buffer = AnyBuffer::alloc(&device, dtype, 77).unwrap();
            buffer.poison().unwrap();
            let all = u128::MAX >> (128 - 8 * dtype.bytes());
            assert_eq!(buffer.read(0, 77).unwrap(), [all; 77], "{dtype:?}");
        }
    }

    #[test]
    fn bits_mean_numbers() {
        assert_eq!(number(Dtype::F16, f16::from_f32(-0.5).to_bits().into()), -0.5);
        assert_eq!(number(Dtype::Bf16, bf16::from_f32(3.0).to_bits().into()), 3.0);
        assert_eq!(number(Dtype::I32, 0xffff_fffe), -2.0);
        assert_eq!(number(Dtype::U8, 200), 200.0);
        assert_eq!(number(Dtype::C128, Vec2::new([1.5, 2.5]).bits()), 1.5);
    }
}
