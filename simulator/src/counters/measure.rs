//! The rules of the memory system: sectors of a global request, wavefronts of a shared one.

/// Bytes per sector.
const SECTOR: usize = 32;
/// Banks of shared memory.
const BANKS: usize = 32;

/// Shared memory's bank width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Banks {
    shift: u32,
}

impl Banks {
    /// Banks of 4 or 8 bytes.
    pub(crate) fn new(bytes: u32) -> Self {
        Self { shift: bytes.ilog2() }
    }
}

/// The lanes set in a mask.
fn lanes(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (mask != 0).then(|| {
            let lane = mask.trailing_zeros() as usize;
            mask &= mask - 1;
            lane
        })
    })
}

/// Number of 32-byte sectors that the lanes of `mask` touch with accesses of `size` bytes.
pub(crate) fn sectors(mask: u32, addresses: &[usize; 32], size: usize) -> u32 {
    let (mut count, mut last, mut rising) = (0, usize::MAX, true);
    for lane in lanes(mask) {
        let first = addresses[lane] / SECTOR;
        let end = (addresses[lane] + size - 1) / SECTOR;
        if last != usize::MAX && first < last {
            rising = false;
            break;
        }
        for sector in first..=end {
            if sector != last {
                count += 1;
                last = sector;
            }
        }
    }
    if rising {
        return count;
    }
    let mut touched: Vec<usize> =
        lanes(mask).flat_map(|lane| addresses[lane] / SECTOR..=(addresses[lane] + size - 1) / SECTOR).collect();
    touched.sort_unstable();
    touched.dedup();
    touched.len() as u32
}

/// Wavefronts of a shared request: the most different words that one bank must serve. Up to 4 bytes a lane, all lanes
/// are served together. Wider requests go by half warps (8 bytes) or quarter warps (16 bytes), two of which are served
/// together where every lane asks for the same address as its neighbour, or as its neighbour but one.
///
/// The rule for wide requests is not documented; it is the one that gives what an H200 counts for the patterns in the
/// tests below.
pub(crate) fn wavefronts(mask: u32, addresses: &[usize; 32], size: usize, banks: Banks) -> u32 {
    if size <= 4 || size == 8 && banks.shift == 3 {
        return degree(mask, addresses, size, banks);
    }
    let together = in_pairs(mask, addresses, 1) || in_pairs(mask, addresses, 2);
    let lanes = if size == 8 { 16 } else { 8 } << u32::from(together);
    let group = u32::MAX >> (32 - lanes);
    (0..32 / lanes).map(|part| degree(mask & group << (lanes * part), addresses, size, banks)).sum()
}

/// Whether every lane asks for the same address as the lane whose number differs in `bit`.
fn in_pairs(mask: u32, addresses: &[usize; 32], bit: usize) -> bool {
    lanes(mask).all(|lane| mask >> (lane ^ bit) & 1 == 0 || addresses[lane] == addresses[lane ^ bit])
}

/// Most different words that one bank must serve.
fn degree(mask: u32, addresses: &[usize; 32], size: usize, banks: Banks) -> u32 {
    if mask == 0 {
        return 0;
    }
    // Nearly every request is free of conflicts, and then each bank sees one word: no sorting.
    let mut word_of = [usize::MAX; BANKS];
    let mut conflict = false;
    'free: for lane in lanes(mask) {
        for word in addresses[lane] >> banks.shift..=(addresses[lane] + size - 1) >> banks.shift {
            let seen = &mut word_of[word % BANKS];
            if *seen != word {
                if *seen != usize::MAX {
                    conflict = true;
                    break 'free;
                }
                *seen = word;
            }
        }
    }
    if !conflict {
        return 1;
    }
    let mut words: Vec<usize> = lanes(mask)
        .flat_map(|lane| addresses[lane] >> banks.shift..=(addresses[lane] + size - 1) >> banks.shift)
        .collect();
    words.sort_unstable();
    words.dedup();
    let mut load = [0_u32; BANKS];
    for word in words {
        load[word % BANKS] += 1;
    }
    load.into_iter().max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stride(bytes: usize) -> [usize; 32] {
        std::array::from_fn(|lane| 1024 + lane * bytes)
    }
    const ALL: u32 = u32::MAX;

    #[test]
    fn sectors_by_stride() {
        assert_eq!(sectors(ALL, &stride(4), 4), 4, "coalesced");
        assert_eq!(sectors(ALL, &stride(0), 4), 1, "broadcast");
        assert_eq!(sectors(ALL, &stride(128), 4), 32, "a column");
        assert_eq!(sectors(ALL, &stride(16), 16), 16, "vectors");
        assert_eq!(sectors(1, &stride(4), 4), 1, "one lane");
        let shifted = std::array::from_fn(|lane| 1024 + 4 + lane * 4);
        assert_eq!(sectors(ALL, &shifted, 4), 5, "off by one element");
        let falling = std::array::from_fn(|lane| 4096 - lane * 4);
        assert_eq!(sectors(ALL, &falling, 4), 5, "any order: 4096 - 124 … 4096");
        let zigzag = std::array::from_fn(|lane| 1024 + (lane ^ 9) * 4);
        assert_eq!(sectors(ALL, &zigzag, 4), 4, "permuted");
    }

    #[test]
    fn degree_by_stride_and_bank_width() {
        let (four, eight) = (Banks::new(4), Banks::new(8));
        for (bytes, on_four, on_eight) in [(0, 1, 1), (4, 1, 1), (8, 2, 1), (64, 16, 8), (128, 32, 16), (132, 1, 1)] {
            assert_eq!(wavefronts(ALL, &stride(bytes), 4, four), on_four, "stride {bytes} on banks of 4");
            assert_eq!(wavefronts(ALL, &stride(bytes), 4, eight), on_eight, "stride {bytes} on banks of 8");
        }
    }

    /// Wavefronts that `ncu` counted on an H200 for one warp's request of 8 and of 16 bytes a lane, at word
    /// `pattern(lane, words)`.
    #[test]
    fn wide_requests_are_counted_as_an_h200_counts_them() {
        type Pattern = fn(usize, usize) -> usize;
        let seen: [(&str, Pattern, u32, u32); 21] = [
            ("broadcast", |_, _| 0, 1, 2),
            ("row", |lane, words| lane * words, 2, 4),
            ("column", |lane, _| lane * 32, 32, 32),
            ("33 words apart", |lane, words| lane * 33 / words * words, 4, 16),
            ("pairs", |lane, words| lane / 2 * words, 1, 2),
            ("two alternating", |lane, words| lane % 2 * words, 1, 2),
            ("half a row twice", |lane, words| lane % 16 * words, 2, 4),
            ("a quarter row four times", |lane, words| lane % 8 * words, 2, 4),
            ("fours", |lane, words| lane / 4 * words, 1, 2),
            ("eights", |lane, words| lane / 8 * words, 1, 2),
            ("two halves", |lane, words| lane / 16 * words, 1, 2),
            ("every other", |lane, words| lane * words * 2, 4, 8),
            ("falling", |lane, words| (31 - lane) * words, 2, 4),
            ("four repeated", |lane, words| lane % 4 * words, 2, 4),
            ("two halves of one bank", |lane, _| lane / 16 * 32, 2, 2),
            ("four quarters of one bank", |lane, _| lane / 8 * 32, 4, 4),
            ("two alternating of one bank", |lane, _| lane % 2 * 32, 2, 4),
            ("padded column", |lane, words| lane * (32 + words), 2, 4),
            ("half a column twice", |lane, _| lane % 16 * 32, 32, 32),
            ("a quarter column four times", |lane, _| lane % 8 * 32, 16, 32),
            ("two shifted columns", |lane, words| lane / 16 * words + lane % 16 * 32, 32, 32),
        ];
        let banks = Banks::new(4);
        for (name, pattern, eight, sixteen) in seen {
            for (size, expected) in [(8, eight), (16, sixteen)] {
                let addresses = std::array::from_fn(|lane| 1024 + 4 * pattern(lane, size / 4));
                assert_eq!(wavefronts(ALL, &addresses, size, banks), expected, "{name}, {size} bytes");
            }
        }
        assert_eq!(wavefronts(0xff, &stride(16), 16, banks), 1, "a quarter warp alone");
    }
}
