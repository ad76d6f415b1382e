//! Which box of a permutation's dimensions a block moves, and how: see [`gpu::transpose::permute_nd`].
//!
//! The rule: lines of both sides are made 256 bytes long, of a side's fastest dimension and, where that is shorter and the next
//! one follows it without gaps, of that. If the box of both does not fit shared memory or the tables of its parts, 128 bytes
//! are tried, and so on. Then the side with the shorter lines has them doubled, and again, while the box fits. Parts of lines
//! are as long as makes a thread take the fewest steps; and the gaps in shared memory are those for which the first warps
//! read it with the fewest conflicts of banks.

use gpu::transpose::permute::DIMS;
use gpu::transpose::permute_nd::{BYTES, NO_PADDING, SEGMENTS, SIDE, THREADS, per_word};
use gpu::transpose::strided::reciprocals;

use super::plan::Dim;

/// Bytes of a line that are wanted at first.
const LINE: usize = 256;
/// Bytes of a sector of memory.
const SECTOR: usize = 32;

/// Blocks that are enough for all multiprocessors: boxes are not made larger where there would be fewer.
const BLOCKS: u32 = 1024;
/// What m is tried; the first means no gaps.
const GAPS: [u32; 7] = [NO_PADDING, 5, 6, 7, 8, 9, 10];

/// What the kernel is told, but for the strides.
#[derive(Clone, Copy, Debug)]
pub(super) struct TmaTensor {
    pub(super) extents: [u32; DIMS],
    pub(super) shape: [u32; DIMS],
    pub(super) counts: [u32; DIMS],
    pub(super) reciprocals: [u32; 2 * DIMS],
    pub(super) places: [u32; DIMS],
    pub(super) tuning: [u32; 2],
    pub(super) read: [u32; SIDE],
    pub(super) write: [u32; SIDE],
}

/// A line of one side: its fastest dimension, and the next if it is in it.
type Line = (usize, Option<usize>);

/// How a side's lines are cut: elements of a part, threads side by side.
#[derive(Clone, Copy)]
struct Cut {
    length: usize,
    lanes: usize,
}

impl TmaTensor {
    /// Blocks of the launch, if a grid can have as many.
    pub(super) fn blocks(&self) -> Option<u32> {
        let blocks = self.counts.iter().try_fold(1_u32, |blocks, &count| blocks.checked_mul(count));
        blocks.filter(|&blocks| i32::try_from(blocks).is_ok())
    }

    /// For elements of `size` bytes and dimensions of which the first is the fastest of the output, which starts at a word if
    /// `aligned`. None where a side has no fastest dimension without gaps, or lies too far apart for 32 bits.
    pub(super) fn of(dims: &[Dim], size: usize, aligned: bool) -> Option<Self> {
        let input = dims.iter().position(|dim| dim.a == 1)?;
        if dims.first()?.b != 1 || dims.iter().any(|dim| u32::try_from(dim.extent).is_err()) {
            return None;
        }
        let follows = |stride: fn(&Dim) -> usize, x: usize| {
            let next = |&y: &usize| y != x && stride(&dims[y]) == dims[x].extent;
            (0..dims.len()).find(next)
        };
        let lines = [(input, follows(|dim| dim.a, input)), (0, follows(|dim| dim.b, 0))];
        [LINE, LINE / 2, LINE / 4, LINE / 8, LINE / 16, 1].into_iter().find_map(|bytes| {
            let mut boxes = smallest(dims, lines, (bytes / size).max(1), size);
            let mut best = Self::with(dims, &boxes, lines, (size, aligned))?;
            while let Some(larger) = grown(dims, &boxes, lines) {
                let next = Self::with(dims, &larger, lines, (size, aligned));
                let Some(next) = next.filter(|next| next.blocks().is_none_or(|blocks| blocks >= BLOCKS)) else { break };
                (boxes, best) = (larger, next);
            }
            best.tuning[0] = GAPS.into_iter().min_by_key(|&m| best.wavefronts(m, size)).unwrap_or(GAPS[0]);
            Some(best)
        })
    }

    /// With this box, if it fits.
    fn with(dims: &[Dim], boxes: &[usize], lines: [Line; 2], (size, aligned): (usize, bool)) -> Option<Self> {
        let unit = per_word(size);
        let [(ax, ay), (bx, by)] = lines.map(|line| joined(dims, boxes, line, size));
        let line = |(x, y): Line| boxes[x] * y.map_or(1, |y| boxes[y]);
        let others = |(x, y): Line| {
            let other = |&(k, _): &(usize, _)| k != x && Some(k) != y;
            boxes.iter().enumerate().filter(other).map(|(_, extent)| extent).product::<usize>()
        };
        let far = |stride: fn(&Dim) -> usize| {
            let along = |(dim, n): (&Dim, &usize)| (n - 1) as u128 * stride(dim) as u128;
            dims.iter().zip(boxes).map(along).sum::<u128>()
        };
        if far(|dim| dim.a).max(far(|dim| dim.b)) >= u128::from(u32::MAX) / 2 {
            return None;
        }

        // Lines of A in the tile: whole units, one after the other.
        let mut places = [0; DIMS];
        places[ax] = 1;
        if let Some(y) = ay {
            places[y] = boxes[ax];
        }
        let mut pitch = line((ax, ay)).next_multiple_of(unit);
        for k in 0..boxes.len() {
            if k != ax && Some(k) != ay {
                places[k] = pitch;
                pitch *= boxes[k];
            }
        }
        if (pitch / unit + pitch / unit / 32) * unit * size > BYTES {
            return None;
        }

        let read = cut(line((ax, ay)), 1, others((ax, ay)), (size, true))?;
        // Whether all parts of B's lines start at a word.
        let at_word = |(k, dim): (usize, &Dim)| {
            let words = |n: usize| (n * dim.b).is_multiple_of(unit);
            let inside = k == bx || Some(k) == by || boxes[k] == 1 || words(1);
            inside && (boxes[k] == dim.extent || words(boxes[k]))
        };
        let aligned = aligned && dims.iter().enumerate().all(at_word);
        let write = cut(line((bx, by)), by.map_or(1, |_| boxes[bx]), others((bx, by)), (size, aligned))?;
        let row = boxes[bx] * places[bx];
        let next = by.map_or(row, |y| places[y]);
        let turn = (next + places[bx]).wrapping_sub(row) as u32;
        let side = |(x, y): Line, cut: Cut, step: usize| {
            let parts = line((x, y)).div_ceil(cut.length);
            let all = others((x, y)) * parts;
            [cut.lanes, THREADS as usize / cut.lanes, parts, cut.length, step, x, y.unwrap_or(DIMS), all]
                .map(|n| n as u32)
        };
        let step = if by.is_some() { write.length / boxes[bx] * next } else { write.length * places[bx] };
        let array = |number: &dyn Fn(usize) -> usize| {
            std::array::from_fn(|k| if k < dims.len() { number(k) as u32 } else { 1 })
        };
        let counts = array(&|k| dims[k].extent.div_ceil(boxes[k]));
        Some(Self {
            extents: array(&|k| dims[k].extent),
            shape: array(&|k| boxes[k]),
            counts,
            reciprocals: reciprocals(counts),
            places: places.map(|place| place as u32),
            tuning: [GAPS[0], turn],
            read: side((ax, ay), read, read.length),
            write: side((bx, by), write, step),
        })
    }

    /// Wavefronts in which two warps gather the first elements of their first words if a unit is skipped after every 2ᵐ.
    fn wavefronts(&self, m: u32, size: usize) -> usize {
        let [lanes, step, parts, length, part_step, _, y, all] = self.write;
        let (unit, words) = (per_word(size) as u32, size.div_ceil(4) as u32);
        let place = |part: u32, j: u32| {
            let (mut place, mut rest) = (part % parts * part_step, part / parts);
            for k in (1..DIMS).filter(|&k| k as u32 != y) {
                place += rest % self.shape[k] * self.places[k];
                rest /= self.shape[k];
            }
            let row = self.tuning[1].wrapping_add((self.shape[0] - 1) * self.places[0]);
            place + j % self.shape[0] * self.places[0] + j / self.shape[0] * row
        };
        // As many lanes as move 128 bytes are served at once: one wavefront for each different word of the same bank.
        let together = 32 / words;
        let served = |first: u32| {
            let active = |&t: &u32| t < lanes * step && t / lanes < all && t % lanes * unit < length;
            let mut places: Vec<u32> = (first..first + together)
                .filter(active)
                .map(|t| place(t / lanes, unit * (t % lanes)) / unit)
                .map(|unit| (unit + (unit >> m)) * words)
                .collect();
            places.sort_unstable();
            places.dedup();
            let mut banks = [0; 32];
            for place in places {
                banks[(place % 32) as usize] += 1;
            }
            banks.into_iter().max().unwrap_or(0)
        };
        (0..64).step_by(together as usize).map(served).sum()
    }
}

/// The line with its next dimension if that is in it: where the fastest is in the box as a whole, and short.
fn joined(dims: &[Dim], boxes: &[usize], (x, y): Line, size: usize) -> Line {
    (x, y.filter(|&y| boxes[y] > 1 && boxes[x] == dims[x].extent && boxes[x] * size < LINE))
}

/// The box whose lines have `wanted` elements.
fn smallest(dims: &[Dim], lines: [Line; 2], wanted: usize, size: usize) -> Vec<usize> {
    let mut boxes = vec![1; dims.len()];
    for (x, y) in lines {
        let along = dims[x].extent;
        boxes[x] = boxes[x].max(along.min(wanted));
        if let Some(y) = y.filter(|_| along < wanted) {
            // A whole number of sectors, if rows of the fastest dimension can make one.
            let sectors = (1..=SECTOR / size).find(|rows| (rows * along * size).is_multiple_of(SECTOR)).unwrap_or(1);
            let rows = wanted.div_ceil(along).next_multiple_of(sectors);
            boxes[y] = boxes[y].max(rows.min(dims[y].extent));
        }
    }
    boxes
}

/// The box with the shorter of its lines doubled, or the other, if there is more of them.
fn grown(dims: &[Dim], boxes: &[usize], lines: [Line; 2]) -> Option<Vec<usize>> {
    let dimension = |(x, y): Line| {
        let more = |k: &usize| boxes[*k] < dims[*k].extent;
        if more(&x) { Some(x) } else { y.filter(more) }
    };
    let length = |(x, y): Line| if boxes[x] < dims[x].extent { boxes[x] } else { boxes[x] * y.map_or(1, |y| boxes[y]) };
    let [a, b] = lines;
    let (shorter, longer) = if length(a) <= length(b) { (a, b) } else { (b, a) };
    let k = dimension(shorter).or_else(|| dimension(longer))?;
    let mut larger = boxes.to_vec();
    larger[k] = (2 * larger[k]).min(dims[k].extent);
    Some(larger)
}

/// How `others` lines of `line` elements, in rows of `row`, are cut: such that a thread takes the fewest steps, and of these
/// with the longest parts. A part is a whole number of rows and of words, and of sectors if it can. None where the table has
/// not room for all parts.
fn cut(line: usize, row: usize, others: usize, (size, aligned): (usize, bool)) -> Option<Cut> {
    let unit = per_word(size);
    let extra = usize::from(!aligned && unit > 1);
    let most = (THREADS as usize - extra) * unit;
    let whole = (1..=unit).find(|rows| (rows * row).is_multiple_of(unit)).unwrap_or(unit) * row;
    // Not every length: such as have a whole number of sectors, and one part for all.
    let (sectors, longest) = (whole * (SECTOR / (whole * size).min(SECTOR)), line.next_multiple_of(whole));
    let lengths = (1..=most / sectors).map(|n| n * sectors).take_while(|&length| length < longest);
    let cuts = lengths.chain((longest <= most).then_some(longest)).filter_map(|length| {
        let (lanes, parts) = (length / unit + extra, others * line.div_ceil(length));
        let steps = parts.div_ceil(THREADS as usize / lanes);
        let beside = line > length && !(length * size).is_multiple_of(SECTOR);
        (parts <= SEGMENTS).then_some(((beside, steps, usize::MAX - length), Cut { length, lanes }))
    });
    cuts.min_by_key(|&(cost, _)| cost).map(|(_, cut)| cut)
}

#[cfg(test)]
mod tests {
    use gpu::transpose::permute_nd::{permute_nd_b8, permute_nd_b16, permute_nd_b32};
    use simt::element::Element;
    use simulator::{Access, Config, Level};

    use super::super::{Boxed, arguments};
    use super::*;
    use crate::device::Device;
    use crate::launch::Launch;

    fn boxes(dims: &[(usize, usize, usize)], size: usize) -> TmaTensor {
        let dims: Vec<_> = dims.iter().map(|&(extent, a, b)| Dim { extent, a, b }).collect();
        TmaTensor::of(&dims, size, true).expect("boxes")
    }

    #[test]
    fn lines_are_long_on_both_sides() {
        const PIXELS: usize = 1 << 20;
        // Channels of bytes, to pixels and back: the whole of shared memory.
        let to_pixels = boxes(&[(3, PIXELS, 1), (PIXELS, 1, 3), (64, 3 * PIXELS, 3 * PIXELS)], 1);
        assert_eq!(to_pixels.shape, [3, 8192, 1, 1, 1, 1]);
        assert_eq!((to_pixels.blocks(), to_pixels.wavefronts(to_pixels.tuning[0], 1)), (Some(64 * 128), 4));
        let to_planes = boxes(&[(PIXELS, 3, 1), (3, 1, PIXELS), (64, 3 * PIXELS, 3 * PIXELS)], 1);
        assert_eq!(to_planes.shape, [8192, 3, 1, 1, 1, 1]);
        assert_eq!(to_planes.wavefronts(to_planes.tuning[0], 1), 2);
        // Six dimensions of floats, 531420: lines of 128 and of 64, no conflict.
        let strides = [(16, 1 << 22, 1), (16, 1 << 13, 16), (16, 16, 256), (32, 1 << 17, 4096)];
        let six = boxes(&[&strides[..], &[(32, 256, 1 << 17), (16, 1, 1 << 22)]].concat(), 4);
        assert_eq!(six.shape, [16, 4, 8, 1, 1, 16]);
        assert_eq!(six.wavefronts(six.tuning[0], 4), 2);
        assert_eq!((six.read[0], six.write[0]), (128, 64));
        // Rows of four and eight floats: places of one bank without gaps.
        for rows in [4, 8] {
            let planes = boxes(&[(PIXELS, rows, 1), (rows, 1, PIXELS), (16, rows * PIXELS, rows * PIXELS)], 4);
            assert_eq!(planes.wavefronts(NO_PADDING, 4), 2 * rows, "{planes:?}");
            assert_eq!(planes.wavefronts(planes.tuning[0], 4), 2, "{planes:?}");
        }
    }

    #[test]
    fn boxes_fit_where_they_must() {
        let extents = [1, 2, 3, 5, 16, 31, 100, 257, 5000];
        for size in [1, 2, 4, 8, 16] {
            for (x, y, z) in
                extents.iter().flat_map(|&x| extents.map(|y| (x, y))).flat_map(|(x, y)| extents.map(|z| (x, y, z)))
            {
                for gap in [0, 1, 4] {
                    let (p, q) = (x + gap, z + gap);
                    let task = boxes(&[(z, p * y, 1), (y, p, q), (x, 1, q * y)], size);
                    let units = task.shape.iter().product::<u32>();
                    assert!(units as usize * size <= BYTES, "{task:?}");
                    for [lanes, step, parts, length, .., all] in [task.read, task.write] {
                        assert!(lanes >= 1 && step >= 1 && lanes * step <= THREADS, "{task:?}");
                        assert!(all <= SEGMENTS as u32 && all.is_multiple_of(parts), "{task:?}");
                        assert!(all * length >= units && (length as usize).is_multiple_of(per_word(size)), "{task:?}");
                        assert!(lanes as usize * per_word(size) >= length as usize, "{task:?}");
                    }
                }
            }
        }
    }

    /// Moves everything without gaps; each sector is read and written by as few requests as there can be, and a request to the
    /// tile takes `degree` wavefronts at most.
    fn moves_whole_sectors<T: Element + Default>(kernel: &Boxed<T>, dims: &[(usize, usize, usize)], degree: u64) {
        let device = Device::simulator_with(Config::new(Level::Counters));
        let task = boxes(dims, size_of::<T>());
        let len: usize = dims.iter().map(|&(extent, ..)| extent).product();
        let a = device.upload(&vec![T::default(); len]).expect("a");
        let mut b = device.upload(&vec![T::default(); len]).expect("b");
        let dims: Vec<_> = dims.iter().map(|&(extent, a, b)| Dim { extent, a, b }).collect();
        let arguments = arguments(a.view(), b.view_mut(), &dims, task);
        let launch = Launch::grid((task.blocks().expect("a grid"), 1));
        let counters = device.launch(kernel, launch, arguments).expect("a launch").counters.expect("counters");
        for access in [Access::GlobalLoad, Access::GlobalStore] {
            assert_eq!(counters.bytes(access), (len * size_of::<T>()) as u64, "{dims:?}: {access:?}");
            assert_eq!(counters.total(access).sectors, (len * size_of::<T>() / 32) as u64, "{dims:?}: {access:?}");
        }
        for access in [Access::SharedLoad, Access::SharedStore] {
            // But for the table, whose entries have 16 bytes.
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
