//! From a permutation to the work that does it.
//!
//! What moves is a list of dimensions, each with an extent and a stride on either side. Extents of 1 are dropped, neighbours
//! that stay neighbours on both sides are merged, and where the fastest dimension is the same on both sides, its elements
//! become as wide as alignment allows. What is left decides the way:
//!
//! | left | way |
//! |---|---|
//! | nothing, or one dimension without gaps | a copy by the driver |
//! | different dimensions fastest in input and output, neither [short](is_short) | a transposition in tiles, looped over the others |
//! | the same, one of them short; or one that is fastest on both sides, of less than [`ROW`] bytes | boxes: lines of two dimensions on each side ([`super::boxes`]) |
//! | one dimension fastest on both sides, and longer; or a side without one | a copy element by element |

use super::boxes::TmaTensor;

/// Bytes that must lie together on both sides for tiles to be taken: half of a tile's rows.
const SHORT: usize = 128;
/// Bytes that must lie together on both sides for a copy element by element: two sectors, which memory reads as one.
const ROW: usize = 64;

/// Whether a fastest dimension of so many elements of `size` bytes is too short for tiles.
pub(in crate::ops) fn is_short(extent: usize, size: usize) -> bool {
    extent.saturating_mul(size) < SHORT
}

/// One dimension: its extent, and elements between neighbours in input and output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dim {
    pub(super) extent: usize,
    pub(super) a: usize,
    pub(super) b: usize,
}

/// How elements are moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strategy {
    /// They follow each other on both sides.
    Contiguous,
    /// Dimension 0 is the fastest of the input, dimension 1 that of the output.
    Tiles,
    /// Dimension 0 is the fastest of the output, another one or the same that of the input.
    TmaTensor,
    /// Dimension 0 is the fastest of the output.
    Elements,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) strategy: Strategy,
    /// Bytes of an element; extents and strides count such.
    pub(super) size: usize,
    /// At most six.
    pub(super) dims: Vec<Dim>,
}

impl Plan {
    /// The plan for elements of `size` bytes, none of the extents 0; `addresses` are those of the first elements.
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

/// The dimensions without those of extent 1, the fastest of the output first, neighbours merged.
fn merged(mut dims: Vec<Dim>) -> Vec<Dim> {
    dims.retain(|dim| dim.extent > 1);
    dims.sort_by_key(|dim| (dim.b, dim.a));
    let mut merged: Vec<Dim> = Vec::new();
    for dim in dims {
        match merged.last_mut() {
            Some(inner) if Some(dim.a) == inner.extent.checked_mul(inner.a) && dim.b == inner.extent * inner.b => {
                inner.extent *= dim.extent;
            }
            _ => merged.push(dim),
        }
    }
    merged
}

/// Makes elements wider, up to 16 bytes, where the fastest dimension is that of both sides; gives the factor.
fn widen(dims: &mut Vec<Dim>, size: usize, addresses: [usize; 2]) -> usize {
    let Some((&first, others)) = dims.split_first() else { return 1 };
    if (first.a, first.b) != (1, 1) {
        return 1;
    }
    let fits = |factor: usize| {
        first.extent.is_multiple_of(factor)
            && others.iter().all(|dim| dim.a.is_multiple_of(factor) && dim.b.is_multiple_of(factor))
            && addresses.iter().all(|address| address.is_multiple_of(size * factor))
    };
    let factor = [16, 8, 4, 2].into_iter().find(|&factor| size * factor <= 16 && fits(factor)).unwrap_or(1);
    for dim in &mut dims[1..] {
        (dim.a, dim.b) = (dim.a / factor, dim.b / factor);
    }
    dims[0].extent /= factor;
    if dims[0].extent == 1 {
        dims.remove(0);
    }
    factor
}

/// The way for more than one dimension; for tiles, puts the fastest of the input first and that of the output second.
fn strategy(dims: &mut [Dim], size: usize) -> Strategy {
    let (first, input) = (dims[0], dims.iter().position(|dim| dim.a == 1));
    let Some(input) = input.filter(|_| first.b == 1) else { return Strategy::Elements };
    let long = input == 0 && first.extent * size >= ROW;
    if input > 0 && !is_short(first.extent, size) && !is_short(dims[input].extent, size) {
        dims[..=input].rotate_right(1);
        Strategy::Tiles
    } else if !long && TmaTensor::of(dims, size, false).is_some() {
        Strategy::TmaTensor
    } else {
        Strategy::Elements
    }
}

/// Cuts the work into parts that `fits` accepts; does `part` with the dimensions and where they start on either side.
pub(super) fn cut<E>(
    dims: &[Dim],
    start: (usize, usize),
    fits: &impl Fn(&[Dim]) -> bool,
    part: &mut impl FnMut(&[Dim], (usize, usize)) -> Result<(), E>,
) -> Result<(), E> {
    let longest = (0..dims.len()).max_by_key(|&dim| dims[dim].extent);
    let Some(longest) = longest.filter(|&dim| dims[dim].extent > 1 && !fits(dims)) else {
        return part(dims, start);
    };
    let Dim { extent, a, b } = dims[longest];
    // Halves that start at a multiple of a tile keep what alignment there is.
    let half = extent / 2;
    let half = if half >= 4096 { half.next_multiple_of(4096) } else { half };
    let mut dims = dims.to_vec();
    dims[longest].extent = half;
    cut(&dims, start, fits, part)?;
    dims[longest].extent = extent - half;
    cut(&dims, (start.0 + half * a, start.1 + half * b), fits, part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dims(dims: &[(usize, usize, usize)]) -> Vec<Dim> {
        dims.iter().map(|&(extent, a, b)| Dim { extent, a, b }).collect()
    }

    fn plan(list: &[(usize, usize, usize)], size: usize) -> (Strategy, usize, Vec<Dim>) {
        let Plan { strategy, size, dims } = Plan::new(dims(list), size, [256, 512]);
        (strategy, size, dims)
    }

    #[test]
    fn neighbours_that_stay_are_merged() {
        // N C H W to N H W C: H and W stay together.
        let nchw = [(8, 80_000, 80_000), (40, 2000, 1), (40, 50, 2000), (50, 1, 40)];
        assert_eq!(plan(&nchw, 4), (Strategy::Tiles, 4, dims(&[(2000, 1, 40), (40, 2000, 1), (8, 80_000, 80_000)])));
        // All stay: one copy, of elements of 16 bytes.
        assert_eq!(
            plan(&[(8, 600, 600), (30, 20, 20), (1, 7, 9), (20, 1, 1)], 4),
            (Strategy::Contiguous, 16, dims(&[(1200, 1, 1)]))
        );
        assert_eq!(plan(&[(1, 7, 9)], 4), (Strategy::Contiguous, 4, vec![]));
    }

    #[test]
    fn elements_become_as_wide_as_they_may() {
        // Attention's 0 2 1 3: rows of 64 floats change places.
        let heads = [(2, 1 << 16, 1 << 16), (16, 4096, 64), (64, 64, 1024), (64, 1, 1)];
        assert_eq!(
            plan(&heads, 4),
            (Strategy::Elements, 16, dims(&[(16, 1, 1), (16, 1024, 16), (64, 16, 256), (2, 1 << 14, 1 << 14)]))
        );
        // Rows of 4 floats are single elements: a transposition of those.
        let short = [(32, 4 * 64, 4), (64, 4, 4 * 32), (4, 1, 1)];
        assert_eq!(plan(&short, 4), (Strategy::Tiles, 16, dims(&[(64, 1, 32), (32, 64, 1)])));
        // An odd extent, stride or address keeps them narrow.
        assert_eq!(plan(&[(32, 7, 7 * 3), (3, 7 * 32, 7), (7, 1, 1)], 4).1, 4);
        assert_eq!(plan(&[(32, 10, 20), (4, 1, 1)], 4).1, 8);
        assert_eq!(Plan::new(dims(&[(32, 8, 16), (4, 1, 1)]), 4, [256, 260]).size, 4);
    }

    #[test]
    fn short_dimensions_are_moved_in_boxes() {
        // Three channels, to both sides; 128 bytes are no longer short.
        assert_eq!(plan(&[(3, 1, 1000), (1000, 3, 1)], 4).0, Strategy::TmaTensor);
        assert_eq!(plan(&[(1000, 1, 3), (3, 1000, 1)], 1).0, Strategy::TmaTensor);
        assert_eq!(plan(&[(31, 1, 1000), (1000, 31, 1)], 4).0, Strategy::TmaTensor);
        assert_eq!(plan(&[(32, 1, 1000), (1000, 32, 1)], 4).0, Strategy::Tiles);
        assert_eq!(plan(&[(127, 1, 1000), (1000, 127, 1)], 1).0, Strategy::TmaTensor);
        assert_eq!(plan(&[(128, 1, 1000), (1000, 128, 1)], 1).0, Strategy::Tiles);
        // One dimension fastest on both sides: rows of 3, of 60 and of 64 bytes.
        assert_eq!(plan(&[(3, 1, 1), (100, 3, 600), (200, 300, 3)], 1).0, Strategy::TmaTensor);
        assert_eq!(plan(&[(15, 1, 1), (100, 15, 3000), (200, 1500, 15)], 4).0, Strategy::TmaTensor);
        assert_eq!(plan(&[(16, 1, 1), (100, 16, 3200), (200, 1600, 16)], 4), {
            (Strategy::Elements, 16, dims(&[(4, 1, 1), (200, 400, 4), (100, 4, 800)]))
        });
    }

    #[test]
    fn a_side_with_gaps_alone_is_copied_by_elements() {
        assert_eq!(plan(&[(100, 2, 200), (100, 200, 2)], 4).0, Strategy::Elements);
        // One number for all.
        assert_eq!(plan(&[(100, 0, 1), (50, 1, 100)], 4).0, Strategy::Tiles);
        assert_eq!(plan(&[(100, 0, 1)], 4).0, Strategy::Elements);
    }

    #[test]
    fn parts_cover_everything_once() {
        let whole = dims(&[(5, 1, 21), (7, 5, 3), (3, 35, 1)]);
        let mut seen = Vec::new();
        let fits = |part: &[Dim]| part.iter().map(|dim| dim.extent).product::<usize>() <= 4;
        cut(&whole, (0, 0), &fits, &mut |part, (a, b)| {
            assert!(fits(part), "{part:?}");
            for i in 0..part[0].extent {
                for j in 0..part[1].extent {
                    for k in 0..part[2].extent {
                        seen.push((a + i + 5 * j + 35 * k, b + 21 * i + 3 * j + k));
                    }
                }
            }
            Ok::<(), ()>(())
        })
        .unwrap();
        seen.sort_unstable();
        let all = (0..105).map(|a| (a, 21 * (a % 5) + 3 * (a / 5 % 7) + a / 35));
        assert!(seen.into_iter().eq(all));
    }
}
