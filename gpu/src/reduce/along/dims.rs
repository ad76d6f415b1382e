//! Computes where a line starts from its number, a mixed-radix number: one division for each dimension with several
//! indices.

/// Most dimensions besides the one that is reduced.
pub const DIMS: usize = 5;

/// Offset in elements of the start of line `number`. Dimensions are ordered from the fastest to the slowest, whose
/// extent is not used. Unused dimensions have extent 1.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub(crate) fn start<const D: usize>(number: u32, extents: [u32; D], strides: [u64; D]) -> u64 {
    let (mut rest, mut start) = (number, 0_u64);
    for dimension in 0..D - 1 {
        let extent = extents[dimension];
        if extent > 1 {
            start = start.wrapping_add(u64::from(rest % extent).wrapping_mul(strides[dimension]));
            rest /= extent;
        }
    }
    start.wrapping_add(u64::from(rest).wrapping_mul(strides[D - 1]))
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::start;

    #[test]
    fn line_starts_follow_extents_and_strides() {
        let at = |number| start(number, [3, 1, 4], [10, 77, 1000]);
        assert_eq!([0, 1, 2, 3, 4, 11].map(at), [0, 10, 20, 1000, 1010, 3020]);
        assert_eq!(start(7, [1, 1, 9], [5, 5, 8]), 56);
    }
}
