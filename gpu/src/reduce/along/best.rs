//! Minimum and maximum, and where they are.
//!
//! One kernel for both: the greatest key wins, and the parameter is a mask by which keys are taken exclusive or before they are
//! compared. For reals it is 0, or the sign bit, which makes the least the greatest; a NaN stays one. Integers of one size share
//! a kernel, too, as unsigned ones: the mask of the greatest is 0 or, with a sign, its bit; that of the least its complement.

use core::marker::PhantomData;

use super::Along;
use crate::reduce::whole::order::{Greatest, Key, NanPolicy, Ordered, Propagate};
use crate::reduce::whole::positions::{NOWHERE, Position};
use crate::reduce::whole::reduction::{Merge, State};

/// Keys whose order a mask turns round.
pub trait Flip: Key {
    /// The key, its bits exclusive or those of the mask.
    #[must_use]
    fn flip(self, mask: u64) -> Self;
}

macro_rules! flips {
    ($($t:ty: $x:ident, $mask:ident => $flipped:expr;)+) => {$(
        impl Flip for $t {
            #[inline(always)]
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

/// The best element, with a policy for NaNs.
pub struct Best<T, P = Propagate>(PhantomData<(T, P)>);
/// The index of the first of the best elements in its line, with a policy for NaNs.
pub struct BestAt<T, P = Propagate>(PhantomData<(T, P)>);

impl<T: Ordered, P: NanPolicy> Merge for Best<T, P> {
    type State = T::Key;
    #[inline(always)]
    fn none() -> T::Key {
        P::none::<Greatest, _>()
    }
    #[inline(always)]
    fn merge(a: T::Key, b: T::Key) -> T::Key {
        Key::of_two(a, b, true, P::IGNORES).unwrap_or(if P::beats::<Greatest, _>(b, a) { b } else { a })
    }
}

impl<T: Ordered<Key: Flip>, P: NanPolicy> Along for Best<T, P> {
    type Element = T;
    type Output = T;
    #[inline(always)]
    fn of(x: T, _: u64, mask: u64) -> T::Key {
        x.key().flip(mask)
    }
    #[inline(always)]
    fn finish(best: T::Key, mask: u64) -> T {
        T::of_key(best.flip(mask))
    }
}

impl<T: Ordered, P: NanPolicy> Merge for BestAt<T, P>
where
    (T::Key, u64): State,
{
    type State = (T::Key, u64);
    #[inline(always)]
    fn none() -> (T::Key, u64) {
        Position::<T, Greatest, P>::none()
    }
    #[inline(always)]
    fn merge(a: (T::Key, u64), b: (T::Key, u64)) -> (T::Key, u64) {
        Position::<T, Greatest, P>::merge(a, b)
    }
}

impl<T: Ordered<Key: Flip>, P: NanPolicy> Along for BestAt<T, P>
where
    (T::Key, u64): State,
{
    type Element = T;
    type Output = u64;
    #[inline(always)]
    fn of(x: T, index: u64, mask: u64) -> (T::Key, u64) {
        (x.key().flip(mask), index)
    }
    #[inline(always)]
    fn of_vector<const N: usize>(lanes: [T; N], first: u64, mask: u64) -> (T::Key, u64) {
        let (mut best, mut place) = (lanes[0].key().flip(mask), 0_u32);
        for lane in 1..N {
            let key = lanes[lane].key().flip(mask);
            let better = P::beats::<Greatest, _>(key, best);
            best = if better { key } else { best };
            place = if better { lane as u32 } else { place };
        }
        (best, first + u64::from(place))
    }
    #[inline(always)]
    fn finish((best, index): (T::Key, u64), _: u64) -> u64 {
        // A NaN that lost to nothing is not there.
        if best.is_nan() && P::none::<Greatest, T::Key>().is_nan() { NOWHERE } else { index }
    }
}
