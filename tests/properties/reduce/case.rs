//! A vector at any position in a buffer, reduced twice with one workspace, on two devices.

use half::{bf16, f16};
use proptest::prelude::*;
use warpwright::gpu::reduce::whole::partition::TILE_BYTES;
use warpwright::half;
use warpwright::reduce::{Dot, Reduction, Workspace};
use warpwright::{Buffer, Element};
use warpwright_tests::sim::bytes_of;

use super::agreement::{agreed, twice};

/// Elements that are compared by their bits and have a canary value.
pub(super) trait Bits: Element + PartialOrd + std::fmt::Debug {
    fn bits(self) -> u64;
    /// Value around vectors and results: a NaN, or a number that would change every result.
    const CANARY: Self;
}

macro_rules! bits {
    ($($t:ty: $canary:expr;)+) => {$(
        impl Bits for $t {
            #[allow(clippy::redundant_closure_call, reason = "the macro is for floats and integers")]
            fn bits(self) -> u64 {
                let mut bytes = [0; 8];
                bytes[..size_of::<Self>()].copy_from_slice(&self.to_ne_bytes());
                u64::from_ne_bytes(bytes)
            }
            const CANARY: Self = $canary;
        }
    )+};
}
bits! {
    f32: f32::from_bits(0x7fc1_2345);
    f64: f64::from_bits(0x7ff8_1234_5678_9abc);
    f16: f16::from_bits(0x7e55);
    bf16: bf16::from_bits(0x7fd5);
    u8: 0xa5;
    i32: 0x3a5a_5a5a;
    u32: 0xa5a5_a5a5;
    i64: 0x3a5a_5a5a_5a5a_5a5a;
    u64: 0xa5a5_a5a5_a5a5_a5a5;
}

/// Whether it is a NaN, whose payload depends on the processor.
pub(super) fn is_nan<T: Bits>(x: T) -> bool {
    x.partial_cmp(&x).is_none()
}

/// Position and length of a vector, and seeds of data and schedule.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) n: usize,
    /// Elements of the buffer before the first, and after the last.
    pub(super) around: [usize; 2],
    pub(super) data: u64,
    pub(super) schedule: u64,
}

/// Vectors of elements of `bytes` bytes, at every alignment to 16 bytes, often with lengths around 16 bytes and tiles.
pub(super) fn any_case(bytes: usize) -> impl Strategy<Value = Case> {
    let (lanes, tile) = (16 / bytes, TILE_BYTES / bytes);
    let near = vec![1, 2, lanes - 1, lanes, lanes + 1, 2 * lanes + 1, 32 * lanes, 32 * lanes + 1];
    let quarter = tile / 4;
    let far = vec![quarter - 1, quarter + 1, tile - 1, tile, tile + 1, tile + lanes, 2 * tile - 1, 2 * tile + 3];
    let n = prop_oneof![
        8 => proptest::sample::select(near).prop_map(|n| n.max(1)),
        6 => 1..40_usize,
        3 => proptest::sample::select(far),
        1 => 1..2 * tile,
        1 => Just(4 * tile + 2 * lanes + 1),
    ];
    (n, [0..lanes + 1, 0..lanes + 1], any::<u64>(), any::<u64>()).prop_map(|(n, around, data, schedule)| Case {
        n,
        around,
        data,
        schedule,
    })
}

/// The vector in a buffer whose other elements are canaries.
fn surrounded<T: Bits>([before, after]: [usize; 2], x: &[T]) -> Vec<T> {
    let mut whole = vec![T::CANARY; before];
    whole.extend_from_slice(x);
    whole.resize(before + x.len() + after, T::CANARY);
    whole
}

/// A reduction of `x` at the case's position.
pub(super) fn reduce<T: Bits, R: Reduction<T>>(case: &Case, reduction: R, x: &[T]) -> Result<R::Output, String>
where
    R::Output: Bits,
{
    let image = surrounded(case.around, x);
    let results = agreed(case.schedule, &|device| {
        let (on, mut workspace) = (device.upload(&image)?, Workspace::new(device)?);
        let view = on.slice(case.around[0]..case.around[0] + x.len())?;
        let results = twice(device, 1, &mut |_, out| device.reduce_into(reduction, view, out, &mut workspace, None))?;
        assert!(bytes_of(&on.download()?) == bytes_of(&image), "the input changed");
        Ok(results)
    })?;
    Ok(results[0])
}

/// The dot product of `x` and `y`, the latter at another offset.
pub(super) fn dot<T: Bits + Dot>(case: &Case, before: usize, x: &[T], y: &[T]) -> Result<T::Output, String>
where
    T::Output: Bits,
{
    let images = [surrounded(case.around, x), surrounded([before, case.around[1]], y)];
    let results = agreed(case.schedule, &|device| {
        let ([x, y], mut workspace) =
            ([device.upload(&images[0])?, device.upload(&images[1])?], Workspace::new(device)?);
        let view = |on, before| Buffer::slice(on, before..before + case.n);
        let (x, y) = (view(&x, case.around[0])?, view(&y, before)?);
        twice(device, 1, &mut |_, out| device.dot_into(x, y, out, &mut workspace, None))
    })?;
    Ok(results[0])
}
