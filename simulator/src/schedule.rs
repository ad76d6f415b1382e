//! The order of blocks, warps and lanes under a seed.
//!
//! Every order is a permutation that needs no memory: an affine map for any count, a rotation and an exclusive-or for
//! the 32 lanes of a warp. Seed 0 gives the identity.

/// `SplitMix64` (Steele, Lea, Flood 2014): the finaliser as a hash of a counter.
fn mix(mut x: u64) -> u64 {
    x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// A permutation of `0..n`: `i ↦ (factor·i + offset) mod n` with a factor that has no divisor in common with `n`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Permutation {
    n: u64,
    factor: u64,
    offset: u64,
}

impl Permutation {
    /// The permutation of `0..n` that `seed` and `salt` choose.
    pub(crate) fn new(n: u64, seed: u64, salt: u64) -> Self {
        if seed == 0 || n < 2 {
            return Self { n: n.max(1), factor: 1, offset: 0 };
        }
        let hash = mix(seed ^ mix(salt));
        let mut factor = 1 + mix(hash) % (n - 1).max(1);
        while gcd(factor, n) != 1 {
            factor = if factor + 1 >= n { 1 } else { factor + 1 };
        }
        Self { n, factor, offset: hash % n }
    }

    /// Image of `i`.
    pub(crate) fn at(&self, i: u64) -> u64 {
        let product = u128::from(self.factor) * u128::from(i) + u128::from(self.offset);
        if self.factor == 1 && self.offset == 0 { i } else { (product % u128::from(self.n)) as u64 }
    }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Permutation of the lanes of one warp in one interval: that at position `i` is lane `(i + rotate) mod size`, then
/// exclusive-or with `flip`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LaneOrder {
    /// Lanes of the warp less one.
    last: u32,
    rotate: u32,
    flip: u32,
}

impl LaneOrder {
    /// One lane.
    pub(crate) const IDENTITY: Self = Self { last: 0, rotate: 0, flip: 0 };

    /// The order that `seed` and `salt` choose for warps of `size` lanes (a power of two).
    pub(crate) fn new(size: u32, seed: u64, salt: u64) -> Self {
        let last = size - 1;
        if seed == 0 {
            return Self { last, ..Self::IDENTITY };
        }
        let hash = mix(seed.rotate_left(17) ^ mix(salt));
        Self { last, rotate: (hash as u32) & last, flip: ((hash >> 32) as u32) & last }
    }

    /// All lanes, in this order.
    pub(crate) fn all(self) -> impl Iterator<Item = u32> {
        (self.rotate..=self.rotate + self.last).map(move |place| self.lane_at(place))
    }

    /// The lane at a place: places count positions from `rotate` on.
    #[inline(always)]
    pub(crate) fn lane_at(self, place: u32) -> u32 {
        (place & self.last) ^ self.flip
    }

    /// The places of the lanes in a mask, as a mask.
    pub(crate) fn places(self, lanes: u32) -> u64 {
        /// Of each pair of groups of 1, 2, 4, 8 and 16 lanes the first.
        const FIRST: [u32; 5] = [0x5555_5555, 0x3333_3333, 0x0f0f_0f0f, 0x00ff_00ff, 0x0000_ffff];
        let swapped = FIRST.iter().enumerate().fold(lanes, |mask, (bit, first)| {
            let by = self.flip & 1 << bit;
            if by == 0 { mask } else { (mask & first) << by | mask >> by & first }
        });
        // Lanes below `rotate` come after all others.
        let twice = u64::from(swapped) | u64::from(swapped) << (self.last + 1);
        let window = ((1 << self.last << 1) - 1) << self.rotate;
        twice & window
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_permutations() {
        for n in [1_u64, 2, 3, 7, 32, 100, 1003] {
            for seed in 0..20 {
                let order = Permutation::new(n, seed, 5);
                let mut seen: Vec<u64> = (0..n).map(|i| order.at(i)).collect();
                if seed == 0 {
                    assert!(seen.is_sorted(), "seed 0 keeps the order");
                }
                seen.sort_unstable();
                assert_eq!(seen, (0..n).collect::<Vec<_>>(), "n = {n}, seed = {seed}");
            }
        }
    }

    #[test]
    fn lane_orders_are_permutations() {
        for size in [1_u32, 2, 8, 32] {
            for seed in 0..50 {
                let order = LaneOrder::new(size, seed, 3);
                let all: Vec<u32> = order.all().collect();
                let mask = all.iter().fold(0_u64, |mask, lane| mask | 1 << lane);
                assert_eq!((all.len(), mask), (size as usize, (1_u64 << size) - 1), "size = {size}, seed = {seed}");
                for lanes in [0x9e37_79b9_u32, u32::MAX, 0, 1, 0x8000_0001] {
                    let lanes = lanes & u32::MAX >> (32 - size);
                    let mut places = order.places(lanes);
                    let mut chosen = Vec::new();
                    while places != 0 {
                        chosen.push(order.lane_at(places.trailing_zeros()));
                        places &= places - 1;
                    }
                    let expected: Vec<u32> = all.iter().copied().filter(|lane| lanes >> lane & 1 != 0).collect();
                    assert_eq!(chosen, expected, "size = {size}, seed = {seed}, lanes {lanes:#x}");
                }
            }
        }
    }

    #[test]
    fn seeds_differ() {
        let orders: std::collections::HashSet<Vec<u64>> =
            (0..20).map(|seed| (0..32).map(|i| Permutation::new(32, seed, 1).at(i)).collect()).collect();
        assert!(orders.len() > 15, "20 seeds gave only {} orders", orders.len());
    }
}
