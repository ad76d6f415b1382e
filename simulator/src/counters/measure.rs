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

/// Wavefronts of a shared request: the most different words that one bank must serve, counted apart for each group of
/// lanes whose accesses fill the banks' width (all 32 lanes at up to 4 bytes, half warps at 8, quarter warps at 16).
pub(crate) fn wavefronts(mask: u32, addresses: &[usize; 32], size: usize, banks: Banks) -> u32 {
    match size {
        ..=4 => degree(mask, addresses, size, banks),
        8 if banks.shift == 3 => degree(mask, addresses, size, banks),
        8 => (0..2).map(|half| degree(mask & 0xffff << (16 * half), addresses, size, banks)).sum(),
        _ => (0..4).map(|quarter| degree(mask & 0xff << (8 * quarter), addresses, size, banks)).sum(),
    }
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

    #[test]
    fn wide_accesses_go_by_half_and_quarter_warps() {
        let banks = Banks::new(4);
        assert_eq!(wavefronts(ALL, &stride(8), 8, banks), 2);
        assert_eq!(wavefronts(ALL, &stride(16), 16, banks), 4);
        assert_eq!(wavefronts(0xff, &stride(16), 16, banks), 1);
    }
}
