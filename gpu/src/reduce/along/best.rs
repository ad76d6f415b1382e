//! Minimum, maximum, argmin and argmax.
//!
//! Minimum and maximum share a kernel: the greatest key wins, and the parameter is a mask that keys are combined with
//! by exclusive or before they are compared. For floats the mask is 0 for the maximum and the sign bit for the minimum;
//! a NaN stays a NaN. Integers of the same size share a kernel as unsigned integers: the mask for the maximum is 0, or
//! the sign bit for signed integers; the mask for the minimum is its complement.

use core::marker::PhantomData;

use crate::reduce::whole::arg_extremes::{ArgExtreme, NO_INDEX};
use crate::reduce::whole::compare::{Key, Maximum, NanPolicy, Ordered, Propagate};
use crate::reduce::whole::reduction::{Merge, Reduction, State};

/// Keys whose order a mask reverses.
pub trait Flip: Key {
    /// The exclusive or of the key's bits and the mask.
    #[must_use]
    fn flip(self, mask: u64) -> Self;
}

macro_rules! flips {
    ($($t:ty: $x:ident, $mask:ident => $flipped:expr;)+) => {$(
        impl Flip for $t {
            #[cfg_attr(optimised, inline(always))]
            fn flip(self, $mask: u64) -> Self {
                let $x = self;
                $flipped
            }
        }
    )+};
}
flips! {
    f32: x, mask => f32::from_bits(x.to_bits() ^ mask as u32);
    f64: x, mask => f64::from_bits(x.to_bits() ^ mask);
    u32: x, mask => x ^ mask as u32;
    u64: x, mask => x ^ mask;
}

/// The greatest element after masking, with a policy for NaNs.
pub struct Best<T, P = Propagate>(PhantomData<(T, P)>);
/// The lowest index in the line of the greatest element after masking, with a policy for NaNs.
pub struct BestAt<T, P = Propagate>(PhantomData<(T, P)>);

impl<T: Ordered, P: NanPolicy> Merge for Best<T, P> {
    type State = T::Key;
    #[cfg_attr(optimised, inline(always))]
    fn identity() -> T::Key {
        P::identity::<Maximum, _>()
    }
    #[cfg_attr(optimised, inline(always))]
    fn merge(a: T::Key, b: T::Key) -> T::Key {
        Key::extreme_of_two(a, b, true, P::IGNORES).unwrap_or(if P::beats::<Maximum, _>(b, a) { b } else { a })
    }
}

impl<T: Ordered<Key: Flip>, P: NanPolicy> Reduction for Best<T, P> {
    type Merges = Best<T::Key, P>;
    type Element = T;
    type Output = T;
    #[cfg_attr(optimised, inline(always))]
    fn of(x: T, _: u64, mask: u64) -> T::Key {
        x.key().flip(mask)
    }
    #[cfg_attr(optimised, inline(always))]
    fn finish(best: T::Key, mask: u64) -> T {
        T::of_key(best.flip(mask))
    }
}

impl<T: Ordered, P: NanPolicy> Merge for BestAt<T, P>
where
    (T::Key, u64): State,
{
    type State = (T::Key, u64);
    #[cfg_attr(optimised, inline(always))]
    fn identity() -> (T::Key, u64) {
        ArgExtreme::<T, Maximum, P>::identity()
    }
    #[cfg_attr(optimised, inline(always))]
    fn merge(a: (T::Key, u64), b: (T::Key, u64)) -> (T::Key, u64) {
        ArgExtreme::<T, Maximum, P>::merge(a, b)
    }
}

impl<T: Ordered<Key: Flip>, P: NanPolicy> Reduction for BestAt<T, P>
where
    (T::Key, u64): State,
{
    type Merges = BestAt<T::Key, P>;
    type Element = T;
    type Output = u64;
    #[cfg_attr(optimised, inline(always))]
    fn of(x: T, index: u64, mask: u64) -> (T::Key, u64) {
        (x.key().flip(mask), index)
    }
    #[cfg_attr(optimised, inline(always))]
    fn of_vector(lanes: &[T], first: u64, mask: u64) -> (T::Key, u64) {
        let (mut best, mut offset) = (lanes[0].key().flip(mask), 0_u32);
        for lane in 1..lanes.len() {
            let key = lanes[lane].key().flip(mask);
            let better = P::beats::<Maximum, _>(key, best);
            best = if better { key } else { best };
            offset = if better { lane as u32 } else { offset };
        }
        (best, first + u64::from(offset))
    }
    #[cfg_attr(optimised, inline(always))]
    fn finish((best, index): (T::Key, u64), _: u64) -> u64 {
        // A NaN here is the identity: no element was seen.
        if best.is_nan() && P::identity::<Maximum, T::Key>().is_nan() { NO_INDEX } else { index }
    }
}
