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

/// Permutation of the lanes of one warp in one interval: lane `(i + rotate) mod size`, then exclusive-or with `flip`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LaneOrder {
    rotate: u32,
    flip: u32,
}

impl LaneOrder {
    /// The order that `seed` and `salt` choose for warps of `size` lanes (a power of two).
    pub(crate) fn new(size: u32, seed: u64, salt: u64) -> Self {
        if seed == 0 {
            return Self { rotate: 0, flip: 0 };
        }
        let hash = mix(seed.rotate_left(17) ^ mix(salt));
        Self { rotate: (hash as u32) & (size - 1), flip: ((hash >> 32) as u32) & (size - 1) }
    }

    /// The lane that comes at position `i`.
    pub(crate) fn at(self, i: u32, size: u32) -> u32 {
        ((i + self.rotate) & (size - 1)) ^ self.flip
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
                let mask = (0..size).fold(0_u64, |mask, i| mask | 1 << order.at(i, size));
                assert_eq!(mask, (1_u64 << size) - 1, "size = {size}, seed = {seed}");
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
