//! `Device::transpose_into`, `transpose_in_place` and `transpose_batch_into` for elements of 1, 2, 4, 8 and 16 bytes:
//! shapes at the edges of tiles, every start and leading dimension modulo 16 bytes.

use gpu::transpose::misaligned;
use proptest::prelude::*;
use proptest::sample::select;
use simt::element::{Vec2, Vec4};
use warpwright::half::f16;
use warpwright::{Device, Layout, Result};

use super::bits::{Bits, verify};
use crate::support::frame::Place;
use crate::support::runner::check;
use crate::support::{shapes, suite};

suite! {
    [
        matrices,
        aligned_matrices,
        misaligned_rows,
        tile_edges,
        misaligned_tile_edges,
        every_misalignment,
        in_place,
        in_place_edges,
        batches,
        streams,
    ];
    bytes => one;
    halves => two;
    words => four;
    complex_numbers => complex;
    long_words => eight;
    vectors => sixteen;
}

/// An element size: the edges of its tiles, and the checks for its type.
struct Size {
    tile: usize,
    /// Rows and columns of a tile of the misaligned kernel.
    shifted: [usize; 2],
    /// Elements in a sector.
    sector: usize,
    transposed: fn(&Matrices) -> Result<f64, String>,
    in_place: fn(usize, Place, u64) -> Result<f64, String>,
    batched: fn([usize; 3], [usize; 3], u64) -> Result<f64, String>,
}

macro_rules! sizes {
    ($($name:ident: $t:ty, $tile:literal;)+) => {$(
        const fn $name() -> Size {
            let size = size_of::<$t>();
            let log = size.trailing_zeros() as usize;
            let shifted = [misaligned::ROWS[log] as usize, misaligned::COLS[log] as usize];
            Size {
                tile: $tile,
                shifted,
                sector: 32 / size,
                transposed: transposed::<$t>,
                in_place: transposed_in_place::<$t>,
                batched: batched::<$t>,
            }
        }
    )+};
}
sizes! {
    one: u8, 128;
    two: f16, 128;
    four: f32, 64;
    complex: Vec2<f32>, 64;
    eight: u64, 32;
    sixteen: Vec4<i32>, 32;
}

/// A matrix, and the positions of it and its transpose.
#[derive(Clone, Debug)]
struct Matrices {
    shape: [usize; 2],
    places: [Place; 2],
    seed: u64,
    stream: bool,
}

fn layout(rows: usize, cols: usize, place: Place) -> (Layout, usize) {
    let layout = Layout::contiguous(rows, cols).ld(cols + place.gap).offset(place.offset);
    let matrix = if rows * cols == 0 { 0 } else { (rows - 1) * layout.ld + cols };
    (layout, place.offset + matrix + place.after)
}

fn transposed<T: Bits>(case: &Matrices) -> Result<f64, String> {
    let [rows, cols] = case.shape;
    let ((from, input), (to, output)) = (layout(rows, cols, case.places[0]), layout(cols, rows, case.places[1]));
    let moves: Vec<_> = (0..rows * cols)
        .map(|i| (i / cols, i % cols))
        .map(|(row, col)| (from.offset + row * from.ld + col, to.offset + col * to.ld + row))
        .collect();
    verify::<T>((input, output), &moves, case.seed, |device, a, b| {
        let (a, mut b) = (device.upload(a)?, device.upload(b)?);
        let (a, to) = (a.view().as_matrix(from)?, b.view_mut().as_matrix(to)?);
        if case.stream {
            let stream = device.stream()?;
            stream.transpose_into(a, to)?;
            stream.synchronize()?;
        } else {
            device.transpose_into(a, to)?;
        }
        b.download()
    })
}

fn transposed_in_place<T: Bits>(n: usize, place: Place, seed: u64) -> Result<f64, String> {
    let (layout, len) = layout(n, n, place);
    let at = |row, col| layout.offset + row * layout.ld + col;
    // The input is the initial output.
    let moves: Vec<_> = (0..n * n).map(|i| (at(i / n, i % n), at(i % n, i / n))).collect();
    verify::<T>((len, len), &moves, seed, |device, a, b| {
        let mut buffer = device.upload(b)?;
        let inside = |i: usize| {
            i >= layout.offset
                && (i - layout.offset) / layout.ld.max(1) < n
                && (i - layout.offset) % layout.ld.max(1) < n
        };
        let mixed: Vec<T> = (0..len).map(|i| if inside(i) { a[i] } else { b[i] }).collect();
        buffer.write(&mixed)?;
        device.transpose_in_place(buffer.view_mut().as_matrix(layout)?)?;
        buffer.download()
    })
}

fn batched<T: Bits>(
    [count, rows, cols]: [usize; 3],
    [offset, gap, between]: [usize; 3],
    seed: u64,
) -> Result<f64, String> {
    let (lda, ldb) = (cols + gap, rows + between);
    let (stride_a, stride_b) = (rows * lda + between, cols * ldb + gap);
    let moves: Vec<_> = (0..count * rows * cols)
        .map(|i| (i / (rows * cols), i / cols % rows, i % cols))
        .map(|(k, row, col)| (offset + k * stride_a + row * lda + col, gap + k * stride_b + col * ldb + row))
        .collect();
    verify::<T>((offset + count * stride_a, gap + count * stride_b), &moves, seed, |device, a, b| {
        let (a, mut b) = (device.upload(a)?, device.upload(b)?);
        let (len, to) = (a.len(), b.len());
        let a = a.slice(offset..len)?.as_tensor_strided(&[count, rows, cols], &[stride_a, lda, 1])?;
        let into = b.slice_mut(gap..to)?.as_tensor_strided(&[count, cols, rows], &[stride_b, ldb, 1])?;
        device.transpose_batch_into(a, into)?;
        b.download()
    })
}

fn matrices(size: fn() -> Size) {
    let cases = (shapes::two_extents(), [shapes::place(), shapes::place()], any::<u64>());
    check(cases, |&(shape, places, seed)| (size().transposed)(&Matrices { shape, places, seed, stream: false }));
}

/// Rows of A, of B or of both at multiples of 16 bytes: whole tiles are moved 16 bytes at a time there.
fn aligned_matrices(size: fn() -> Size) {
    let extent = || select(&[16_usize, 48, 64, 96, 128, 144, 160, 192][..]);
    let place = || select(&[(0, 0), (16, 0), (32, 16), (1, 0), (0, 1), (3, 5)][..]);
    let cases = ([extent(), extent()], [place(), place()], any::<u64>());
    check(cases, |&(shape, places, seed)| {
        let places = places.map(|(offset, gap)| Place { offset, gap, after: 3 });
        (size().transposed)(&Matrices { shape, places, seed, stream: false })
    });
}

/// Every offset and every leading dimension modulo 16 elements, with whole tiles.
fn misaligned_rows(size: fn() -> Size) {
    for shift in 0..16 {
        let edge = size().tile;
        let places = [
            Place { offset: shift, gap: (5 * shift + 1) % 16, after: 0 },
            Place { offset: (3 * shift) % 16, gap: shift, after: 9 },
        ];
        let case = Matrices { shape: [edge + 7, 2 * edge + 9], places, seed: shift as u64, stream: false };
        (size().transposed)(&case).unwrap_or_else(|error| panic!("{case:?}: {error}"));
    }
}

fn tile_edges(size: fn() -> Size) {
    let edge = size().tile;
    for (rows, cols) in
        [edge - 1, edge, edge + 1].into_iter().flat_map(|r| [0, 1, edge - 1, edge, edge + 1].map(|c| (r, c)))
    {
        for (offset, gap) in [(0, 0), (1, 2)] {
            let places = [Place { offset, gap, after: 2 }; 2];
            let case = Matrices { shape: [rows, cols], places, seed: 4, stream: false };
            (size().transposed)(&case).unwrap_or_else(|error| panic!("{case:?}: {error}"));
        }
    }
}

/// The edges of the tiles of the misaligned kernel: the first block skips columns of B that the last one writes, and A
/// has no row before the first.
fn misaligned_tile_edges(size: fn() -> Size) {
    let Size { shifted: [height, width], sector, transposed, .. } = size();
    for rows in [height - sector, height - sector + 1, height - 1, height, height + 1, 2 * height + 1 - sector] {
        for cols in [16, width - 1, width, width + 1] {
            let at = |offset, gap| Place { offset, gap, after: 3 };
            for places in [[at(1, 1), at(3, 2)], [at(0, cols % 2), at(sector - 1, 1 + rows % 2)]] {
                let case = Matrices { shape: [rows, cols], places, seed: 9, stream: false };
                transposed(&case).unwrap_or_else(|error| panic!("{case:?}: {error}"));
            }
        }
    }
}

/// Every offset of B in a sector, with every leading dimension.
fn every_misalignment(size: fn() -> Size) {
    let Size { shifted: [height, width], sector, transposed, .. } = size();
    for shift in 0..sector.max(2) {
        let places = [
            Place { offset: 3 * shift, gap: shift, after: 0 },
            Place { offset: shift, gap: (7 * shift + 3) % sector, after: 1 },
        ];
        let case = Matrices { shape: [height + 5, width / 2 + 3], places, seed: shift as u64, stream: false };
        transposed(&case).unwrap_or_else(|error| panic!("{case:?}: {error}"));
    }
}

fn in_place(size: fn() -> Size) {
    let extent = prop_oneof![4 => shapes::extent(), 1 => select(&[129_usize, 200, 257][..])];
    check((extent, shapes::place(), any::<u64>()), |&(n, place, seed)| (size().in_place)(n, place, seed));
}

fn in_place_edges(size: fn() -> Size) {
    let edge = size().tile;
    for n in [0, 1, edge - 1, edge, edge + 1, 2 * edge, 3 * edge - 1, 3 * edge] {
        for (offset, gap) in [(0, 0), (16, 16), (1, 0), (0, 3)] {
            let place = Place { offset, gap, after: 1 };
            (size().in_place)(n, place, 6).unwrap_or_else(|error| panic!("{n}, {place:?}: {error}"));
        }
    }
}

fn batches(size: fn() -> Size) {
    let extents = (select(&[0_usize, 1, 2, 3, 5][..]), shapes::extent(), shapes::extent());
    check((extents, [0..20_usize, 0..5, 0..9], any::<u64>()), |&((count, rows, cols), gaps, seed)| {
        (size().batched)([count, rows, cols], gaps, seed)
    });
}

fn streams(size: fn() -> Size) {
    for shape in [[70, 90], [5, 300]] {
        let case = Matrices { shape, places: [Place { offset: 1, gap: 1, after: 1 }; 2], seed: 3, stream: true };
        (size().transposed)(&case).unwrap_or_else(|error| panic!("{case:?}: {error}"));
    }
}

/// Wrong shapes are refused, with an error that names the expected shape.
#[test]
fn wrong_shapes_are_refused() {
    let device = Device::simulator();
    let a = device.upload_matrix(&[0_u8; 6], 2, 3).expect("a");
    let mut b = device.upload_matrix(&[0_u8; 6], 2, 3).expect("b");
    let text = |result: Result<()>| result.expect_err("a refusal").to_string();
    assert_eq!(
        text(device.transpose_into(&a, &mut b)),
        "transpose_into: argument `b`: expected 3 x 2, columns of a by rows of a, found 2 x 3; pass a matrix b of the \
         transposed shape"
    );
    assert_eq!(
        text(device.transpose_in_place(&mut b)),
        "transpose_in_place: argument `a`: expected a square matrix, 2 x 2, found 2 x 3; use transpose or \
         transpose_into for a matrix that is not square"
    );
    let row = device.upload(&[0_u8; 6]).expect("a row");
    let refused = device.transpose_batch(row.view().as_tensor(&[6]).expect("one axis")).map(drop);
    assert_eq!(
        text(refused),
        "transpose_batch: argument `a`: expected at least two axes, rows and columns, found 1; make it with \
         as_tensor(&[batch, rows, cols])"
    );
}
