//! The operands of a product: whether their descriptors match the data, and who may not write there meanwhile.

use super::products::Operand;
use crate::block::state::BlockState;
use crate::lane::Lane;
use crate::report::Kind;
use crate::tensor::{self, Disagreement};
use std::ops::Range;
use std::panic::Location;

/// Whether an operand lies where its descriptor says it can; reports what is wrong with it.
pub(super) fn check_operand(
    state: &BlockState,
    reader: &Lane,
    name: &str,
    operand: Operand,
    (steps, extent): (usize, usize),
    location: &'static Location<'static>,
) -> bool {
    let layout = operand.layout(0);
    if let Some(step) = (0..steps).find(|&step| operand.layout(step).misplaced() != 0) {
        let layout = operand.layout(step);
        state.threads.fault(reader, Kind::WrongOperand, location, None, || {
            format!(
                "operand {name} starts its step {step} at byte {} of shared memory, with rows of {} bytes ({}): {} \
                 bytes past the first of 8 rows, which lies at a multiple of {}",
                layout.start,
                layout.span(),
                layout.swizzle(),
                layout.misplaced(),
                8 * layout.span()
            )
        });
    }
    let len = state.threads.geometry.get().shared_len;
    let end = (0..steps).flat_map(|step| operand.layout(step).vectors(extent)).map(|(.., p)| p.offset + 16).max();
    if let Some(end) = end.filter(|&end| end > len) {
        state.threads.fault(reader, Kind::OutOfBounds, location, None, || {
            format!("operand {name}, from byte {} of shared memory, reaches up to byte {end}, of {len}", layout.start)
        });
        return false;
    }
    true
}

/// Reports a descriptor that disagrees with the layout in which TMA loads wrote the operand.
pub(super) fn check_layout(
    state: &BlockState,
    reader: &Lane,
    name: &str,
    operand: Operand,
    (steps, extent): (usize, usize),
    location: &'static Location<'static>,
) {
    let base = state.threads.shared_base();
    let written = |offset| state.shadow().and_then(|shadow| shadow.vector_of_box(base + offset));
    let found = (0..steps).find_map(|step| {
        let vectors = operand.layout(step).vectors(extent).map(|(.., vector)| vector);
        tensor::disagreement(vectors, written)
    });
    if let Some(Disagreement { vector, expected, found }) = found {
        state.threads.fault(reader, Kind::WrongOperand, location, None, || {
            format!(
                "operand {name} ({}) takes the 16 bytes at byte {} of shared memory for vector {} of row {} of a \
                 box; they are vector {} of row {}",
                operand.layout(0).swizzle(),
                vector.offset,
                expected.1,
                expected.0,
                found.1,
                found.0
            )
        });
    }
}

/// Begins the reads of an operand, for the checks, and adds their tokens.
pub(super) fn begin_reads(
    state: &BlockState,
    reads: &mut Vec<u64>,
    reader: &Lane,
    operand: Operand,
    (steps, extent): (usize, usize),
    location: &'static Location<'static>,
) {
    let base = state.threads.shared_base();
    // Which vectors of shared memory are read, a bit each: steps read parts of the same rows.
    let mut read = vec![0_u64; state.threads.geometry.get().shared_len.div_ceil(16 * 64)];
    for step in 0..steps {
        for (.., vector) in operand.layout(step).vectors(extent) {
            read[vector.offset / (16 * 64)] |= 1 << (vector.offset / 16 % 64);
        }
    }
    for run in runs(&read) {
        reads.push(state.begin_async_read(reader, base + 16 * run.start, 16 * run.len(), location));
    }
}

/// The runs of bits that are set.
fn runs(words: &[u64]) -> impl Iterator<Item = Range<usize>> {
    // The first bit from `from` on that is `set`, or the number of bits.
    let next = |from: usize, set: bool| {
        let wanted = |word: &u64| if set { *word } else { !*word };
        let mut within = u64::MAX << (from % 64);
        for (i, word) in words.iter().enumerate().skip(from / 64) {
            let found = wanted(word) & within;
            if found != 0 {
                return 64 * i + found.trailing_zeros() as usize;
            }
            within = u64::MAX;
        }
        64 * words.len()
    };
    let mut from = 0;
    std::iter::from_fn(move || {
        let start = next(from, true);
        from = next(start, false);
        (start < 64 * words.len()).then_some(start..from)
    })
}

#[cfg(test)]
mod tests {
    use super::runs;

    #[test]
    fn runs_of_bits_cross_words() {
        let found = |words: &[u64]| runs(words).collect::<Vec<_>>();
        assert_eq!(found(&[]), []);
        assert_eq!(found(&[0, 0]), []);
        assert_eq!(found(&[0b1101, 1 << 63, u64::MAX, 1]), [0..1, 2..4, 127..193]);
        assert_eq!(found(&[u64::MAX, 0, 1]), [0..64, 128..129]);
    }
}
