//! The number of nonzero elements, and from it whether any or all are nonzero.
//!
//! A NaN is nonzero, −0 is zero. Types whose zeros have the same bits share a kernel: `f16` and `bf16` as `u16`, which
//! ignores the sign bit; `i32` and `u32`; `i64` and `u64`.

use core::marker::PhantomData;

use simt::element::Element;

use super::entries::entries;
use super::reduction::Reduction;
use super::sums::AddWrapping;

/// Elements that are compared with zero.
pub trait Nonzero: Element {
    /// Whether it is nonzero.
    fn is_nonzero(self) -> bool;
}

macro_rules! nonzero_tests {
    ($($t:ty: $x:ident => $some:expr;)+) => {$(
        impl Nonzero for $t {
            #[cfg_attr(optimised, inline(always))]
            fn is_nonzero(self) -> bool {
                let $x = self;
                $some
            }
        }
    )+};
}
nonzero_tests! {
    u8: x => x != 0;
    u16: x => x << 1 != 0;
    u32: x => x != 0;
    u64: x => x != 0;
    f32: x => x != 0.0;
    f64: x => x != 0.0;
}

/// The number of nonzero elements if `parameter` is 0; otherwise 1 or 0: whether at least `parameter` − 1 are nonzero.
pub struct Count<T>(PhantomData<T>);

impl<T: Nonzero> Reduction for Count<T> {
    type Merges = AddWrapping;
    type Element = T;
    type Output = u64;
    #[cfg_attr(optimised, inline(always))]
    fn of(x: T, _: u64, _: u64) -> u64 {
        u64::from(x.is_nonzero())
    }
    #[cfg_attr(optimised, inline(always))]
    fn of_vector(lanes: &[T], _: u64, _: u64) -> u64 {
        let mut count = 0_u32;
        for lane in 0..lanes.len() {
            count += u32::from(lanes[lane].is_nonzero());
        }
        u64::from(count)
    }
    #[cfg_attr(optimised, inline(always))]
    fn finish(count: u64, parameter: u64) -> u64 {
        if parameter == 0 { count } else { u64::from(count >= parameter - 1) }
    }
}

entries! {
    /// The number of nonzero elements, or whether at least `parameter` − 1 are nonzero.
    at 3 blocks: reduce_count_u8(u8 by 16 => u64) Count<u8>, parameter;
    /// The same for `f16` or `bf16`, by their bits.
    at 4 blocks: reduce_count_f16_bits(u16 by 8 => u64) Count<u16>, parameter;
    /// The same for `u32` or `i32`.
    at 3 blocks: reduce_count_u32(u32 by 4 => u64) Count<u32>, parameter;
    /// The same for `u64` or `i64`.
    at 3 blocks: reduce_count_u64(u64 by 2 => u64) Count<u64>, parameter;
    /// The same for `f32`.
    at 3 blocks: reduce_count_f32(f32 by 4 => u64) Count<f32>, parameter;
    /// The same for `f64`.
    at 3 blocks: reduce_count_f64(f64 by 2 => u64) Count<f64>, parameter;
}
