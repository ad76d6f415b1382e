//! Chooses how a permutation moves its elements.
//!
//! The input is a list of dimensions, each with an extent and a stride in the input A and in the output B. Dimensions
//! of extent 1 are dropped, neighbours that are contiguous in both A and B are merged, and if one dimension is the
//! fastest of both, elements are widened as far as alignment allows. The remaining dimensions determine the strategy:
//!
//! - None, or one contiguous dimension: a copy by the driver.
//! - A and B have different fastest dimensions, neither [short](is_short): 2D tiles, looped over the other dimensions.
//! - The same, one of them short; or one dimension is the fastest of both and has less than [`ROW`] bytes:
//!   N-dimensional tiles ([`super::tile_nd`]).
//! - One longer dimension is the fastest of both; or A or B has no contiguous dimension: a copy element by element.

use super::dim_list::{Dim, merged, widen};
use super::tile_nd::TileNd;

/// Fewest contiguous bytes in A and in B for 2D tiles: half of a tile's row.
const SHORT: usize = 128;
/// Fewest contiguous bytes in A and in B for a copy element by element: two sectors, which memory reads as one.
const ROW: usize = 64;

/// Whether a fastest dimension of `extent` elements of `size` bytes is too short for 2D tiles.
pub(in crate::ops) fn is_short(extent: usize, size: usize) -> bool {
    extent.saturating_mul(size) < SHORT
}

/// How elements are moved; A is the input, B the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strategy {
    /// Elements are contiguous in A and in B: a copy by the driver.
    Contiguous,
    /// By 2D tiles. Dimension 0 is the fastest of A, dimension 1 that of B.
    Tiles2d,
    /// By N-dimensional tiles. Dimension 0 is the fastest of B, any dimension that of A.
    TilesNd,
    /// Element by element. Dimension 0 is the fastest of B.
    Elements,
}

/// A strategy with the dimensions in its order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) strategy: Strategy,
    /// Bytes of an element, the unit of extents and strides.
    pub(super) size: usize,
    /// At most six.
    pub(super) dims: Vec<Dim>,
}

impl Choice {
    /// The choice for elements of `size` bytes and extents above 0; `addresses` are those of the first elements.
    pub(super) fn new(dims: Vec<Dim>, size: usize, addresses: [usize; 2]) -> Self {
        let mut dims = merged(dims);
        let size = size * widen(&mut dims, size, addresses);
        let packed = |dim: &Dim| dim.a == 1 && dim.b == 1;
        let strategy = match &dims[..] {
            [] => Strategy::Contiguous,
            [dim] if packed(dim) => Strategy::Contiguous,
            _ => strategy(&mut dims, size),
        };
        Self { strategy, size, dims }
    }
}

/// The strategy for more than one dimension; for 2D tiles, puts the fastest dimension of A first and that of B second.
fn strategy(dims: &mut [Dim], size: usize) -> Strategy {
    let (first, input) = (dims[0], dims.iter().position(|dim| dim.a == 1));
    let Some(input) = input.filter(|_| first.b == 1) else { return Strategy::Elements };
    let long = input == 0 && first.extent * size >= ROW;
    if input > 0 && !is_short(first.extent, size) && !is_short(dims[input].extent, size) {
        dims[..=input].rotate_right(1);
        Strategy::Tiles2d
    } else if !long && TileNd::new(dims, size, false).is_some() {
        Strategy::TilesNd
    } else {
        Strategy::Elements
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dims(dims: &[(usize, usize, usize)]) -> Vec<Dim> {
        dims.iter().map(|&(extent, a, b)| Dim { extent, a, b }).collect()
    }

    fn choice(list: &[(usize, usize, usize)], size: usize) -> (Strategy, usize, Vec<Dim>) {
        let Choice { strategy, size, dims } = Choice::new(dims(list), size, [256, 512]);
        (strategy, size, dims)
    }

    #[test]
    fn dimensions_contiguous_in_both_are_merged() {
        // N C H W to N H W C: H and W stay together.
        let nchw = [(8, 80_000, 80_000), (40, 2000, 1), (40, 50, 2000), (50, 1, 40)];
        assert_eq!(
            choice(&nchw, 4),
            (Strategy::Tiles2d, 4, dims(&[(2000, 1, 40), (40, 2000, 1), (8, 80_000, 80_000)]))
        );
        // All are contiguous in both: one copy, of elements of 16 bytes.
        assert_eq!(
            choice(&[(8, 600, 600), (30, 20, 20), (1, 7, 9), (20, 1, 1)], 4),
            (Strategy::Contiguous, 16, dims(&[(1200, 1, 1)]))
        );
        assert_eq!(choice(&[(1, 7, 9)], 4), (Strategy::Contiguous, 4, vec![]));
    }

    #[test]
    fn elements_are_widened_as_far_as_alignment_allows() {
        // Attention's 0 2 1 3: rows of 64 floats are reordered.
        let heads = [(2, 1 << 16, 1 << 16), (16, 4096, 64), (64, 64, 1024), (64, 1, 1)];
        assert_eq!(
            choice(&heads, 4),
            (Strategy::Elements, 16, dims(&[(16, 1, 1), (16, 1024, 16), (64, 16, 256), (2, 1 << 14, 1 << 14)]))
        );
        // Rows of 4 floats are widened to single elements: a transposition of these.
        let short = [(32, 4 * 64, 4), (64, 4, 4 * 32), (4, 1, 1)];
        assert_eq!(choice(&short, 4), (Strategy::Tiles2d, 16, dims(&[(64, 1, 32), (32, 64, 1)])));
        // An odd extent, stride or address prevents widening.
        assert_eq!(choice(&[(32, 7, 7 * 3), (3, 7 * 32, 7), (7, 1, 1)], 4).1, 4);
        assert_eq!(choice(&[(32, 10, 20), (4, 1, 1)], 4).1, 8);
        assert_eq!(Choice::new(dims(&[(32, 8, 16), (4, 1, 1)]), 4, [256, 260]).size, 4);
    }

    #[test]
    fn short_dimensions_are_moved_by_nd_tiles() {
        // Three channels, in both directions; 128 bytes are no longer short.
        assert_eq!(choice(&[(3, 1, 1000), (1000, 3, 1)], 4).0, Strategy::TilesNd);
        assert_eq!(choice(&[(1000, 1, 3), (3, 1000, 1)], 1).0, Strategy::TilesNd);
        assert_eq!(choice(&[(31, 1, 1000), (1000, 31, 1)], 4).0, Strategy::TilesNd);
        assert_eq!(choice(&[(32, 1, 1000), (1000, 32, 1)], 4).0, Strategy::Tiles2d);
        assert_eq!(choice(&[(127, 1, 1000), (1000, 127, 1)], 1).0, Strategy::TilesNd);
        assert_eq!(choice(&[(128, 1, 1000), (1000, 128, 1)], 1).0, Strategy::Tiles2d);
        // One dimension is the fastest of both: rows of 3, of 60 and of 64 bytes.
        assert_eq!(choice(&[(3, 1, 1), (100, 3, 600), (200, 300, 3)], 1).0, Strategy::TilesNd);
        assert_eq!(choice(&[(15, 1, 1), (100, 15, 3000), (200, 1500, 15)], 4).0, Strategy::TilesNd);
        assert_eq!(choice(&[(16, 1, 1), (100, 16, 3200), (200, 1600, 16)], 4), {
            (Strategy::Elements, 16, dims(&[(4, 1, 1), (200, 400, 4), (100, 4, 800)]))
        });
    }

    #[test]
    fn an_input_or_output_without_contiguous_dimension_is_copied_by_elements() {
        assert_eq!(choice(&[(100, 2, 200), (100, 200, 2)], 4).0, Strategy::Elements);
        // A stride of 0: one element for all indices.
        assert_eq!(choice(&[(100, 0, 1), (50, 1, 100)], 4).0, Strategy::Tiles2d);
        assert_eq!(choice(&[(100, 0, 1)], 4).0, Strategy::Elements);
    }
}
