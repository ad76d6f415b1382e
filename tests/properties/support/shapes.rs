//! Edge-case shapes and positions.

use proptest::prelude::*;
use proptest::sample::select;

use super::frame::Place;

/// Extents: none, one, primes, and the edges of tiles of 16, 32 and 64.
const EXTENTS: [usize; 22] = [0, 1, 2, 3, 5, 7, 8, 13, 15, 16, 17, 23, 31, 32, 33, 37, 47, 48, 63, 64, 65, 97];

/// Long extents: primes, and a power of two and its neighbours.
const LONG: [usize; 6] = [251, 509, 1009, 1023, 1024, 1025];

/// An extent of a matrix.
pub(crate) fn extent() -> impl Strategy<Value = usize> {
    select(&EXTENTS[..])
}

/// Three extents, at most one of which is long; then the others are small.
pub(crate) fn three_extents() -> impl Strategy<Value = [usize; 3]> {
    let one_long = (select(&LONG[..]), select(&EXTENTS[..5]), select(&EXTENTS[..5]), 0..3_usize);
    prop_oneof![
        4 => [extent(), extent(), extent()],
        1 => one_long.prop_map(|(long, a, b, rotation)| {
            let mut extents = [long, a, b];
            extents.rotate_right(rotation);
            extents
        }),
    ]
}

/// Rows and columns, at most one of which is long.
pub(crate) fn two_extents() -> impl Strategy<Value = [usize; 2]> {
    prop_oneof![
        4 => [extent(), extent()],
        1 => (select(&LONG[..]), select(&EXTENTS[..5])).prop_map(|(long, short)| [long, short]),
        1 => (select(&LONG[..]), select(&EXTENTS[..5])).prop_map(|(long, short)| [short, long]),
    ]
}

/// Lengths of a vector: those of a matrix, and around multiples of blocks of up to 1024 threads.
pub(crate) fn length() -> impl Strategy<Value = usize> {
    prop_oneof![
        2 => extent(),
        1 => select(&LONG[..]),
        1 => select(&[2047_usize, 2048, 2049, 4099, 10_000][..]),
        1 => 0..3000_usize,
    ]
}

/// A position in a buffer; half of the cases have an offset, gaps between rows and elements after the matrix.
pub(crate) fn place() -> impl Strategy<Value = Place> {
    prop_oneof![
        1 => Just(Place { offset: 0, gap: 0, after: 0 }),
        1 => (0..9_usize, 0..4_usize, 0..9_usize).prop_map(|(offset, gap, after)| Place { offset, gap, after }),
    ]
}
