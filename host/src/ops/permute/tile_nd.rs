//! The N-dimensional tile that a block moves in a permutation, and the arguments of the kernel:
//! [`gpu::transpose::permute_nd`].
//!
//! Rows of the tile in A and in B get 256 bytes, from the fastest dimension and, if that is shorter and the next one is
//! contiguous with it, from the next. If that tile does not fit shared memory or the segment table, rows of 128 bytes
//! are tried, and so on. Then the shorter of the two rows is doubled, repeatedly, while the tile fits. The segment
//! length is the one with the fewest steps of a thread, and the padding of shared memory the one with the fewest bank
//! conflicts of the first warps.

use gpu::transpose::permute::DIMS;
use gpu::transpose::permute_nd::{BYTES, NO_PADDING, SEGMENTS, SIDE, THREADS, per_word};
use gpu::transpose::strided::reciprocals;

use super::dim_list::{Dim, array};
use crate::launch::Fields;
use crate::ops::move_kernels::{PermuteNdFields, Strides};

/// Preferred bytes of a row.
const ROW: usize = 256;
/// Bytes of a sector of memory.
const SECTOR: usize = 32;

/// Blocks that are enough for all SMs: a larger tile is not taken if it leaves fewer blocks.
const BLOCKS: u32 = 1024;
/// Candidates for m, the exponent of the padding; the first means no padding.
const PADDINGS: [u32; 7] = [NO_PADDING, 5, 6, 7, 8, 9, 10];

/// A tile, as arguments of the kernel; see [`gpu::transpose::permute_nd::permute_nd_b8`] for each.
#[derive(Clone, Copy, Debug)]
pub(super) struct TileNd {
    extents: [u32; DIMS],
    tile_extents: [u32; DIMS],
    counts: [u32; DIMS],
    reciprocals: [u32; 2 * DIMS],
    positions: [u32; DIMS],
    tuning: [u32; 2],
    read: [u32; SIDE],
    write: [u32; SIDE],
}

/// A row of A or B: its fastest dimension, and the next dimension if the row extends over it.
type Row = (usize, Option<usize>);

/// The segments of a row: elements of a segment, threads along a segment.
#[derive(Clone, Copy)]
struct Segments {
    length: usize,
    lanes: usize,
}

impl TileNd {
    /// Blocks of the launch, if a grid can have as many.
    pub(super) fn blocks(&self) -> Option<u32> {
        let blocks = self.counts.iter().try_fold(1_u32, |blocks, &count| blocks.checked_mul(count));
        blocks.filter(|&blocks| i32::try_from(blocks).is_ok())
    }

    /// The arguments of the kernel for input `from` and output `to`, with the strides of the dimensions of
    /// [`TileNd::new`].
    pub(super) fn arguments<A, B>(
        self,
        from: A,
        to: B,
        (a, b): (Strides, Strides),
    ) -> (A, B, Strides, Strides, PermuteNdFields) {
        let Self { extents, tile_extents, counts, reciprocals, positions, tuning, read, write } = self;
        let args = (extents, tile_extents, counts, reciprocals, positions, tuning, read, write);
        (from, to, a, b, Fields(args))
    }

    /// The tile for elements of `size` bytes. The first dimension is the fastest of B; `aligned` says that B starts at
    /// a 4-byte word. `None` if A or B has no contiguous dimension, or a tile spans more than 32 bits of offset.
    pub(super) fn new(dims: &[Dim], size: usize, aligned: bool) -> Option<Self> {
        let input = dims.iter().position(|dim| dim.a == 1)?;
        if dims.first()?.b != 1 || dims.iter().any(|dim| u32::try_from(dim.extent).is_err()) {
            return None;
        }
        let next = |stride: fn(&Dim) -> usize, x: usize| {
            let contiguous = |&y: &usize| y != x && stride(&dims[y]) == dims[x].extent;
            (0..dims.len()).find(contiguous)
        };
        let rows = [(input, next(|dim| dim.a, input)), (0, next(|dim| dim.b, 0))];
        [ROW, ROW / 2, ROW / 4, ROW / 8, ROW / 16, 1].into_iter().find_map(|bytes| {
            let mut tile = smallest(dims, rows, (bytes / size).max(1), size);
            let mut best = Self::with_extents(dims, &tile, rows, (size, aligned))?;
            while let Some(larger) = grown(dims, &tile, rows) {
                let next = Self::with_extents(dims, &larger, rows, (size, aligned));
                let Some(next) = next.filter(|next| next.blocks().is_none_or(|blocks| blocks >= BLOCKS)) else { break };
                (tile, best) = (larger, next);
            }
            best.tuning[0] = PADDINGS.into_iter().min_by_key(|&m| best.wavefronts(m, size)).unwrap_or(NO_PADDING);
            Some(best)
        })
    }

    /// The tile with these extents, if it fits.
    fn with_extents(dims: &[Dim], tile: &[usize], rows: [Row; 2], (size, aligned): (usize, bool)) -> Option<Self> {
        let word = per_word(size);
        let [(ax, ay), (bx, by)] = rows.map(|row| extended(dims, tile, row, size));
        let length = |(x, y): Row| tile[x] * y.map_or(1, |y| tile[y]);
        let row_count = |(x, y): Row| {
            let other = |&(k, _): &(usize, _)| k != x && Some(k) != y;
            tile.iter().enumerate().filter(other).map(|(_, extent)| extent).product::<usize>()
        };
        let span = |stride: fn(&Dim) -> usize| {
            let distance = |(dim, n): (&Dim, &usize)| (n - 1) as u128 * stride(dim) as u128;
            dims.iter().zip(tile).map(distance).sum::<u128>()
        };
        if span(|dim| dim.a).max(span(|dim| dim.b)) >= u128::from(u32::MAX) / 2 {
            return None;
        }

        // The tile has the rows of A, each of whole words, one after the other.
        let mut positions = [0; DIMS];
        positions[ax] = 1;
        if let Some(y) = ay {
            positions[y] = tile[ax];
        }
        let mut pitch = length((ax, ay)).next_multiple_of(word);
        for k in 0..tile.len() {
            if k != ax && Some(k) != ay {
                positions[k] = pitch;
                pitch *= tile[k];
            }
        }
        if (pitch / word + pitch / word / 32) * word * size > BYTES {
            return None;
        }

        let read = segments(length((ax, ay)), 1, row_count((ax, ay)), (size, true))?;
        // Whether all segments of B start at a word.
        let at_word = |(k, dim): (usize, &Dim)| {
            let words = |n: usize| (n * dim.b).is_multiple_of(word);
            let inside = k == bx || Some(k) == by || tile[k] == 1 || words(1);
            inside && (tile[k] == dim.extent || words(tile[k]))
        };
        let aligned = aligned && dims.iter().enumerate().all(at_word);
        let write = segments(length((bx, by)), by.map_or(1, |_| tile[bx]), row_count((bx, by)), (size, aligned))?;
        let first_dimension = tile[bx] * positions[bx];
        let next = by.map_or(first_dimension, |y| positions[y]);
        // From the last element of dimension 0 to the first of the next index of dimension 1.
        let wrap = (next + positions[bx]).wrapping_sub(first_dimension) as u32;
        let side = |(x, y): Row, segments: Segments, step: usize| {
            let per_row = length((x, y)).div_ceil(segments.length);
            let all = row_count((x, y)) * per_row;
            let threads = THREADS as usize / segments.lanes;
            [segments.lanes, threads, per_row, segments.length, step, x, y.unwrap_or(DIMS), all].map(|n| n as u32)
        };
        let step = if by.is_some() { write.length / tile[bx] * next } else { write.length * positions[bx] };
        let counts = std::array::from_fn(|k| dims.get(k).map_or(1, |dim| dim.extent.div_ceil(tile[k]) as u32));
        Some(Self {
            extents: array(dims, 1, |dim| dim.extent as u32),
            tile_extents: std::array::from_fn(|k| tile.get(k).map_or(1, |&extent| extent as u32)),
            counts,
            reciprocals: reciprocals(counts),
            positions: positions.map(|position| position as u32),
            tuning: [NO_PADDING, wrap],
            read: side((ax, ay), read, read.length),
            write: side((bx, by), write, step),
        })
    }

    /// Wavefronts in which two warps gather the first elements of their first words, with one word of padding after
    /// every 2ᵐ words.
    fn wavefronts(&self, m: u32, size: usize) -> usize {
        let [lanes, step, per_row, length, segment_step, _, y, all] = self.write;
        let (per_word, words) = (per_word(size) as u32, size.div_ceil(4) as u32);
        let position = |segment: u32, j: u32| {
            let (mut position, mut rest) = (segment % per_row * segment_step, segment / per_row);
            for k in (1..DIMS).filter(|&k| k as u32 != y) {
                position += rest % self.tile_extents[k] * self.positions[k];
                rest /= self.tile_extents[k];
            }
            let row = self.tuning[1].wrapping_add((self.tile_extents[0] - 1) * self.positions[0]);
            position + j % self.tile_extents[0] * self.positions[0] + j / self.tile_extents[0] * row
        };
        // The lanes that move 128 bytes are served together: one wavefront for each different word of the same bank.
        let together = 32 / words;
        let served = |first: u32| {
            let active = |&t: &u32| t < lanes * step && t / lanes < all && t % lanes * per_word < length;
            let mut accessed: Vec<u32> = (first..first + together)
                .filter(active)
                .map(|t| position(t / lanes, per_word * (t % lanes)) / per_word)
                .map(|word| (word + (word >> m)) * words)
                .collect();
            accessed.sort_unstable();
            accessed.dedup();
            let mut banks = [0; 32];
            for word in accessed {
                banks[(word % 32) as usize] += 1;
            }
            banks.into_iter().max().unwrap_or(0)
        };
        (0..64).step_by(together as usize).map(served).sum()
    }
}

/// The row, with its next dimension only if the tile has all of the fastest dimension and that is short.
fn extended(dims: &[Dim], tile: &[usize], (x, y): Row, size: usize) -> Row {
    (x, y.filter(|&y| tile[y] > 1 && tile[x] == dims[x].extent && tile[x] * size < ROW))
}

/// The tile whose rows have `wanted` elements.
fn smallest(dims: &[Dim], rows: [Row; 2], wanted: usize, size: usize) -> Vec<usize> {
    let mut tile = vec![1; dims.len()];
    for (x, y) in rows {
        let extent = dims[x].extent;
        tile[x] = tile[x].max(extent.min(wanted));
        if let Some(y) = y.filter(|_| extent < wanted) {
            // A whole number of sectors, if rows of the fastest dimension can make one.
            let sectors = (1..=SECTOR / size).find(|rows| (rows * extent * size).is_multiple_of(SECTOR)).unwrap_or(1);
            let rows = wanted.div_ceil(extent).next_multiple_of(sectors);
            tile[y] = tile[y].max(rows.min(dims[y].extent));
        }
    }
    tile
}

/// The tile with the shorter of its two rows doubled; the longer one if the shorter cannot grow.
fn grown(dims: &[Dim], tile: &[usize], rows: [Row; 2]) -> Option<Vec<usize>> {
    let dimension = |(x, y): Row| {
        let can_grow = |k: &usize| tile[*k] < dims[*k].extent;
        if can_grow(&x) { Some(x) } else { y.filter(can_grow) }
    };
    let length = |(x, y): Row| if tile[x] < dims[x].extent { tile[x] } else { tile[x] * y.map_or(1, |y| tile[y]) };
    let [a, b] = rows;
    let (shorter, longer) = if length(a) <= length(b) { (a, b) } else { (b, a) };
    let k = dimension(shorter).or_else(|| dimension(longer))?;
    let mut larger = tile.to_vec();
    larger[k] = (2 * larger[k]).min(dims[k].extent);
    Some(larger)
}

/// The segments of `count` rows of `row` elements each, `inner` of them along the fastest dimension: those with the
/// fewest steps of a thread, and of these the longest. A segment is a multiple of `inner` and of words, and of sectors
/// if possible. `None` if the table has too few entries.
fn segments(row: usize, inner: usize, count: usize, (size, aligned): (usize, bool)) -> Option<Segments> {
    let word = per_word(size);
    let extra = usize::from(!aligned && word > 1);
    let most = (THREADS as usize - extra) * word;
    let whole = (1..=word).find(|n| (n * inner).is_multiple_of(word)).unwrap_or(word) * inner;
    // The candidates: lengths of whole sectors, and one segment for the whole row.
    let (sectors, longest) = (whole * (SECTOR / (whole * size).min(SECTOR)), row.next_multiple_of(whole));
    let lengths = (1..=most / sectors).map(|n| n * sectors).take_while(|&length| length < longest);
    let candidates = lengths.chain((longest <= most).then_some(longest)).filter_map(|length| {
        let (lanes, all) = (length / word + extra, count * row.div_ceil(length));
        let steps = all.div_ceil(THREADS as usize / lanes);
        let partial_sectors = row > length && !(length * size).is_multiple_of(SECTOR);
        (all <= SEGMENTS).then_some(((partial_sectors, steps, usize::MAX - length), Segments { length, lanes }))
    });
    candidates.min_by_key(|&(cost, _)| cost).map(|(_, segments)| segments)
}

#[cfg(test)]
mod tests {
    use gpu::transpose::permute_nd::{permute_nd_b8, permute_nd_b16, permute_nd_b32};
    use simt::element::Element;
    use simulator::{Access, Config, Level};

    use super::super::dim_list::strides;
    use super::*;
    use crate::device::Device;
    use crate::launch::Launch;
    use crate::ops::move_kernels::PermuteNd;

    fn tile(dims: &[(usize, usize, usize)], size: usize) -> TileNd {
        let dims: Vec<_> = dims.iter().map(|&(extent, a, b)| Dim { extent, a, b }).collect();
        TileNd::new(&dims, size, true).expect("a tile")
    }

    #[test]
    fn rows_are_long_in_both() {
        const PIXELS: usize = 1 << 20;
        // Channels of bytes, to pixels and back: the whole of shared memory.
        let to_pixels = tile(&[(3, PIXELS, 1), (PIXELS, 1, 3), (64, 3 * PIXELS, 3 * PIXELS)], 1);
        assert_eq!(to_pixels.tile_extents, [3, 8192, 1, 1, 1, 1]);
        assert_eq!((to_pixels.blocks(), to_pixels.wavefronts(to_pixels.tuning[0], 1)), (Some(64 * 128), 4));
        let to_planes = tile(&[(PIXELS, 3, 1), (3, 1, PIXELS), (64, 3 * PIXELS, 3 * PIXELS)], 1);
        assert_eq!(to_planes.tile_extents, [8192, 3, 1, 1, 1, 1]);
        assert_eq!(to_planes.wavefronts(to_planes.tuning[0], 1), 2);
        // Six dimensions of floats, 531420: rows of 128 and of 64, no bank conflicts.
        let strides = [(16, 1 << 22, 1), (16, 1 << 13, 16), (16, 16, 256), (32, 1 << 17, 4096)];
        let six = tile(&[&strides[..], &[(32, 256, 1 << 17), (16, 1, 1 << 22)]].concat(), 4);
        assert_eq!(six.tile_extents, [16, 4, 8, 1, 1, 16]);
        assert_eq!(six.wavefronts(six.tuning[0], 4), 2);
        assert_eq!((six.read[0], six.write[0]), (128, 64));
        // Rows of four and eight floats: all in one bank without padding.
        for rows in [4, 8] {
            let planes = tile(&[(PIXELS, rows, 1), (rows, 1, PIXELS), (16, rows * PIXELS, rows * PIXELS)], 4);
            assert_eq!(planes.wavefronts(NO_PADDING, 4), 2 * rows, "{planes:?}");
            assert_eq!(planes.wavefronts(planes.tuning[0], 4), 2, "{planes:?}");
        }
    }

    #[test]
    fn tiles_fit_shared_memory_and_segment_table() {
        let extents = [1, 2, 3, 5, 16, 31, 100, 257, 5000];
        for size in [1, 2, 4, 8, 16] {
            for (x, y, z) in
                extents.iter().flat_map(|&x| extents.map(|y| (x, y))).flat_map(|(x, y)| extents.map(|z| (x, y, z)))
            {
                for gap in [0, 1, 4] {
                    let (p, q) = (x + gap, z + gap);
                    let it = tile(&[(z, p * y, 1), (y, p, q), (x, 1, q * y)], size);
                    let elements = it.tile_extents.iter().product::<u32>();
                    assert!(elements as usize * size <= BYTES, "{it:?}");
                    for [lanes, step, per_row, length, .., all] in [it.read, it.write] {
                        assert!(lanes >= 1 && step >= 1 && lanes * step <= THREADS, "{it:?}");
                        assert!(all <= SEGMENTS as u32 && all.is_multiple_of(per_row), "{it:?}");
                        assert!(all * length >= elements && (length as usize).is_multiple_of(per_word(size)), "{it:?}");
                        assert!(lanes as usize * per_word(size) >= length as usize, "{it:?}");
                    }
                }
            }
        }
    }

    /// Moves contiguous data; each sector is read and written by as few requests as possible, and a request to the tile
    /// takes at most `degree` wavefronts.
    fn moves_whole_sectors<T: Element + Default>(kernel: &PermuteNd<T>, dims: &[(usize, usize, usize)], degree: u64) {
        let device = Device::simulator_with(Config::new(Level::Counters));
        let it = tile(dims, size_of::<T>());
        let len: usize = dims.iter().map(|&(extent, ..)| extent).product();
        let a = device.upload(&vec![T::default(); len]).expect("a");
        let mut b = device.upload(&vec![T::default(); len]).expect("b");
        let dims: Vec<_> = dims.iter().map(|&(extent, a, b)| Dim { extent, a, b }).collect();
        let arguments = it.arguments(a.view(), b.view_mut(), strides(&dims));
        let launch = Launch::grid((it.blocks().expect("a grid"), 1));
        let counters = device.launch(kernel, launch, arguments).expect("a launch").counters.expect("counters");
        for access in [Access::GlobalLoad, Access::GlobalStore] {
            assert_eq!(counters.bytes(access), (len * size_of::<T>()) as u64, "{dims:?}: {access:?}");
            assert_eq!(counters.total(access).sectors, (len * size_of::<T>() / 32) as u64, "{dims:?}: {access:?}");
        }
        for access in [Access::SharedLoad, Access::SharedStore] {
            // Without the segment table, whose entries have 16 bytes.
            let tile = counters.sites.iter().filter(|((_, kind, bytes), _)| *kind == access && *bytes < 16);
            let (requests, wavefronts) = tile.fold((0, 0), |(requests, wavefronts), (_, site)| {
                (requests + site.requests, wavefronts + site.wavefronts)
            });
            assert!(requests > 0 && wavefronts <= degree * requests, "{dims:?}: {access:?}: {wavefronts}, {requests}");
        }
    }

    #[test]
    fn every_sector_is_moved_once() {
        const PIXELS: usize = 64 * 128;
        let to_pixels = |c: usize| [(c, PIXELS, 1), (PIXELS, 1, c), (2, c * PIXELS, c * PIXELS)];
        let to_planes = |c: usize| [(PIXELS, c, 1), (c, 1, PIXELS), (2, c * PIXELS, c * PIXELS)];
        for channels in 2..=8 {
            moves_whole_sectors(&permute_nd_b8, &to_pixels(channels), 4);
            moves_whole_sectors(&permute_nd_b8, &to_planes(channels), 4);
            moves_whole_sectors(&permute_nd_b16, &to_pixels(channels), 4);
            moves_whole_sectors(&permute_nd_b16, &to_planes(channels), 4);
            moves_whole_sectors(&permute_nd_b32, &to_pixels(channels), 4);
            moves_whole_sectors(&permute_nd_b32, &to_planes(channels), 4);
        }
        // 531420 of 16 x 2 x 16 x 3 x 16 x 16.
        let six = [(16, 24576, 1), (16, 768, 16), (16, 16, 256), (2, 12288, 4096), (3, 256, 8192), (16, 1, 24576)];
        moves_whole_sectors(&permute_nd_b32, &six, 1);
    }
}
