//! The dimensions of a permutation: merged, widened, and split over several launches.

use gpu::transpose::permute::DIMS;

use crate::ops::move_kernels::Strides;

/// One dimension: its extent, and its strides in the input A and the output B, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Dim {
    pub(super) extent: usize,
    pub(super) a: usize,
    pub(super) b: usize,
}

/// The dimensions without those of extent 1, the fastest of B first, neighbours that are contiguous in A and in B
/// merged.
pub(super) fn merged(mut dims: Vec<Dim>) -> Vec<Dim> {
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

/// Widens elements, up to 16 bytes, if one dimension is the fastest of both A and B; returns the factor.
pub(super) fn widen(dims: &mut Vec<Dim>, size: usize, addresses: [usize; 2]) -> usize {
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

/// Splits the elements into parts for which there is `work`, as there is for one element. Calls `part` with the
/// dimensions of each part, its start in A and in B, and its work.
pub(super) fn split<W>(
    dims: &[Dim],
    start: (usize, usize),
    work: &impl Fn(&[Dim], (usize, usize)) -> Option<W>,
    part: &mut impl FnMut(&[Dim], (usize, usize), W),
) {
    if let Some(work) = work(dims, start) {
        return part(dims, start, work);
    }
    let longest = (0..dims.len()).max_by_key(|&dim| dims[dim].extent);
    let longest = longest.filter(|&dim| dims[dim].extent > 1).expect("one element can be moved");
    let Dim { extent, a, b } = dims[longest];
    // A half that starts at a multiple of a tile keeps the alignment.
    let half = extent / 2;
    let half = if half >= 4096 { half.next_multiple_of(4096) } else { half };
    let mut dims = dims.to_vec();
    dims[longest].extent = half;
    split(&dims, start, work, part);
    dims[longest].extent = extent - half;
    split(&dims, (start.0 + half * a, start.1 + half * b), work, part);
}

/// One number for each dimension of a kernel, `fill` for missing dimensions.
pub(super) fn array<N: Copy>(dims: &[Dim], fill: N, number: impl Fn(&Dim) -> N) -> [N; DIMS] {
    std::array::from_fn(|dim| dims.get(dim).map_or(fill, &number))
}

/// The strides in A and in B.
pub(super) fn strides(dims: &[Dim]) -> (Strides, Strides) {
    (array(dims, 0, |dim| dim.a as u64), array(dims, 0, |dim| dim.b as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_everything_once() {
        let whole = [(5, 1, 21), (7, 5, 3), (3, 35, 1)].map(|(extent, a, b)| Dim { extent, a, b });
        let mut seen = Vec::new();
        let elements = |part: &[Dim]| part.iter().map(|dim| dim.extent).product::<usize>();
        let work = |part: &[Dim], _| Some(elements(part)).filter(|&elements| elements <= 4);
        split(&whole, (0, 0), &work, &mut |part, (a, b), work| {
            assert_eq!(work, elements(part), "{part:?}");
            for i in 0..part[0].extent {
                for j in 0..part[1].extent {
                    for k in 0..part[2].extent {
                        seen.push((a + i + 5 * j + 35 * k, b + 21 * i + 3 * j + k));
                    }
                }
            }
        });
        seen.sort_unstable();
        let all = (0..105).map(|a| (a, 21 * (a % 5) + 3 * (a / 5 % 7) + a / 35));
        assert!(seen.into_iter().eq(all));
    }
}
