//! Tensor maps: a tensor in global memory, and the box that TMA copies.

/// Most dimensions of a tensor.
pub(crate) const MOST_RANK: usize = 5;

/// Distinguishes 128 bytes that are such a map from others.
const MARK: u64 = 0x6d61_705f_7761_7270;

/// A tensor and its box. Dimensions begin with the innermost, whose elements are contiguous; those beyond `rank` have
/// extent 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TensorMap {
    /// Address of the first element.
    pub base: u64,
    /// Index of its memory among the launch's bindings.
    pub tag: u32,
    /// Bytes of an element: 1, 2, 4 or 8.
    pub element: u32,
    /// Number of dimensions, 1 to 5.
    pub rank: u32,
    /// Elements along each dimension.
    pub extents: [u64; MOST_RANK],
    /// Bytes from an element to the next along each dimension; the first is `element`.
    pub strides: [u64; MOST_RANK],
    /// Elements of a box along each dimension, 1 to 256.
    pub boxes: [u32; MOST_RANK],
    /// 0, or k for a pattern that exchanges address bits 4 to 3 + k: the number of `CUtensorMapSwizzle`.
    pub swizzle: u32,
    /// Whether loads round `f32` to `tf32`.
    pub tf32: bool,
}

impl TensorMap {
    /// Bytes of a box.
    #[must_use]
    pub fn box_bytes(&self) -> u64 {
        self.boxes.iter().map(|&extent| u64::from(extent)).product::<u64>() * u64::from(self.element)
    }

    /// The map as a kernel's argument for the simulator.
    #[must_use]
    pub fn encode(&self) -> [u64; 16] {
        let mut words = [0; 16];
        words[0] = self.base;
        words[1] = u64::from(self.tag);
        words[2] = u64::from(self.element | self.rank << 8 | self.swizzle << 16 | u32::from(self.tf32) << 24);
        words[3..8].copy_from_slice(&self.extents);
        words[8..13].copy_from_slice(&self.strides);
        for (i, extent) in self.boxes.iter().enumerate() {
            words[13 + i / 4] |= u64::from(*extent) << (16 * (i % 4));
        }
        words[15] = MARK;
        words
    }

    /// What [`TensorMap::encode`] wrote; none for other bytes.
    pub(crate) fn decode(words: &[u64; 16]) -> Option<Self> {
        let kind = words[2];
        (words[15] == MARK).then(|| Self {
            base: words[0],
            tag: words[1] as u32,
            element: (kind & 0xff) as u32,
            rank: (kind >> 8 & 0xff) as u32,
            swizzle: (kind >> 16 & 0xff) as u32,
            tf32: kind >> 24 != 0,
            extents: std::array::from_fn(|i| words[3 + i]),
            strides: std::array::from_fn(|i| words[8 + i]),
            boxes: std::array::from_fn(|i| (words[13 + i / 4] >> (16 * (i % 4)) & 0xffff) as u32),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::TensorMap;

    #[test]
    fn what_was_encoded_comes_back() {
        let map = TensorMap {
            base: 0xdead_beef_0010,
            tag: 7,
            element: 4,
            rank: 3,
            extents: [1 << 32, 5, 6, 1, 1],
            strides: [4, 1 << 34, 1 << 39, 0, 0],
            boxes: [256, 2, 3, 1, 256],
            swizzle: 3,
            tf32: true,
        };
        assert_eq!(TensorMap::decode(&map.encode()), Some(map));
        assert_eq!(TensorMap::decode(&[0; 16]), None);
    }
}
