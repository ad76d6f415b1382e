//! The costs of the fast paths by the simulator's counters: no bank conflicts, and no more sectors than the bytes fill.

use gpu::transpose::in_place::{
    transpose_in_place_b8, transpose_in_place_b16, transpose_in_place_b32, transpose_in_place_b64,
    transpose_in_place_b128,
};
use gpu::transpose::misaligned::{
    self, transpose_misaligned_b8, transpose_misaligned_b16, transpose_misaligned_b32, transpose_misaligned_b64,
    transpose_misaligned_b128,
};
use gpu::transpose::swizzled::{self, transpose_b8, transpose_b16, transpose_b32, transpose_b64, transpose_b128};
use simt::Kernel;
use simt::element::{Element, Vec4};
use simt::global::{MatMut, MatRef};
use warpwright::simulator::{Access, Config, Counters, Level};
use warpwright::{Device, Launch, Layout};

use super::bits::{Bits, random};

impl Bits for u16 {
    fn of(bits: u128) -> Self {
        bits as Self
    }
    fn bits(self) -> u128 {
        self.into()
    }
}

impl Bits for Vec4<u32> {
    fn of(bits: u128) -> Self {
        Self::new([0, 1, 2, 3].map(|lane| (bits >> (32 * lane)) as u32))
    }
    fn bits(self) -> u128 {
        self.lanes.iter().rev().fold(0, |bits, &lane| bits << 32 | u128::from(lane))
    }
}

fn device() -> Device {
    Device::simulator_with(Config::new(Level::Counters))
}

/// Transposes, with `gap` elements between the rows of A and of B.
fn transposed<T: Bits>(
    kernel: Kernel<(MatRef<'static, T>, MatMut<'static, T>)>,
    grid: [u32; 3],
    [rows, cols]: [usize; 2],
    gap: usize,
) -> Counters {
    let device = device();
    let from = Layout::contiguous(rows, cols).ld(cols + gap);
    let to = Layout::contiguous(cols, rows).ld(rows + gap);
    let a = device.upload(&random::<T>(rows * from.ld, 1)).expect("a");
    let mut b = device.upload(&random::<T>(cols * to.ld, 2)).expect("b");
    let views = (a.view().as_matrix(from).expect("a"), b.view_mut().as_matrix(to).expect("b"));
    device.launch(&kernel, Launch::grid(grid), views).expect("a launch").counters.expect("counters")
}

/// By out-of-place tiles.
fn out_of_place<T: Bits>(
    kernel: Kernel<(MatRef<'static, T>, MatMut<'static, T>)>,
    shape: [usize; 2],
    gap: usize,
) -> Counters {
    transposed(kernel, swizzled::grid_of(size_of::<T>(), shape[0] as u32, shape[1] as u32), shape, gap)
}

fn in_place<T: Element + Bits>(kernel: Kernel<(MatMut<'static, T>,)>, n: usize) -> Counters {
    let device = device();
    let mut a = device.upload_matrix(&random::<T>(n * n, 1), n, n).expect("a");
    let grid = gpu::transpose::in_place::grid(size_of::<T>(), n as u32);
    device.launch(&kernel, Launch::grid(grid), (&mut a,)).expect("a launch").counters.expect("counters")
}

/// Checks that all bytes are moved once: 16 bytes per lane in global memory, 4 sectors and one wavefront for 128 bytes.
fn has_no_conflicts(name: &str, bytes: u64, counters: &Counters) {
    for access in [Access::GlobalLoad, Access::GlobalStore] {
        let total = counters.total(access);
        assert_eq!(counters.bytes(access), bytes, "{name}: {access:?}");
        assert_eq!(total.lanes, bytes / 16, "{name}: {access:?}, lanes");
        assert_eq!(total.sectors, bytes / 32, "{name}: {access:?}, sectors");
    }
    for access in [Access::SharedLoad, Access::SharedStore] {
        assert_eq!(counters.bytes(access), bytes, "{name}: {access:?}");
        assert_eq!(counters.total(access).wavefronts, bytes / 128, "{name}: {access:?}, wavefronts");
    }
}

#[test]
fn aligned_tiles_have_no_bank_conflicts() {
    has_no_conflicts("b8", 256 * 256, &out_of_place(transpose_b8, [256, 256], 0));
    has_no_conflicts("b16", 256 * 256 * 2, &out_of_place(transpose_b16, [256, 256], 0));
    has_no_conflicts("b32", 128 * 128 * 4, &out_of_place(transpose_b32, [128, 128], 0));
    has_no_conflicts("b64", 64 * 128 * 8, &out_of_place(transpose_b64, [64, 128], 0));
    has_no_conflicts("b128", 64 * 64 * 16, &out_of_place(transpose_b128, [64, 64], 0));
}

#[test]
fn aligned_tiles_in_place_have_no_bank_conflicts() {
    has_no_conflicts("b8", 384 * 384, &in_place(transpose_in_place_b8, 384));
    has_no_conflicts("b16", 192 * 192 * 2, &in_place(transpose_in_place_b16, 192));
    has_no_conflicts("b32", 192 * 192 * 4, &in_place(transpose_in_place_b32, 192));
    has_no_conflicts("b64", 96 * 96 * 8, &in_place(transpose_in_place_b64, 96));
    has_no_conflicts("b128", 96 * 96 * 16, &in_place(transpose_in_place_b128, 96));
}

/// Misaligned rows: narrow accesses, but still one wavefront for 128 bytes, except at the ends of rows. These are at
/// most 16 requests for a tile, of up to four wavefronts.
fn has_few_conflicts(name: &str, tiles: u64, counters: &Counters) {
    for access in [Access::SharedLoad, Access::SharedStore] {
        let sites = counters.sites.iter().filter(|((_, kind, _), _)| *kind == access);
        let more: u64 =
            sites.map(|((.., bytes), counts)| counts.wavefronts - counts.requests * u64::from(bytes.div_ceil(4))).sum();
        assert!(more <= 16 * 3 * tiles, "{name}: {access:?}: {more} wavefronts too many: {counters:?}");
    }
}

#[test]
fn misaligned_rows_have_few_bank_conflicts() {
    has_few_conflicts("b8", 4, &out_of_place(transpose_b8, [256, 256], 1));
    has_few_conflicts("b16", 4, &out_of_place(transpose_b16, [256, 256], 1));
    has_few_conflicts("b32", 4, &out_of_place(transpose_b32, [128, 128], 1));
    has_few_conflicts("b64", 4, &out_of_place(transpose_b64, [64, 128], 1));
}

/// A request of 32 lanes touches the sectors that its bytes span, one more if they start inside a sector.
#[test]
fn misaligned_rows_are_coalesced() {
    let most = |name: &str, counters: &Counters, sectors: u64| {
        for access in [Access::GlobalLoad, Access::GlobalStore] {
            let total = counters.total(access);
            // There are few requests for single elements at the ends of rows; they may touch a sector for each lane.
            let ends: u64 = counters
                .sites
                .iter()
                .filter(|((_, kind, bytes), _)| *kind == access && *bytes < 4)
                .map(|(_, counts)| counts.sectors)
                .sum();
            let rest = total.sectors - ends;
            let requests: u64 = counters
                .sites
                .iter()
                .filter(|((_, kind, bytes), _)| *kind == access && *bytes >= 4)
                .map(|(_, counts)| counts.requests)
                .sum();
            assert!(rest <= requests * sectors, "{name}: {access:?}: {rest} sectors in {requests} requests");
        }
    };
    most("b8", &out_of_place(transpose_b8, [256, 256], 1), 5);
    most("b16", &out_of_place(transpose_b16, [256, 256], 1), 5);
    most("b32", &out_of_place(transpose_b32, [128, 128], 1), 5);
    most("b64", &out_of_place(transpose_b64, [64, 128], 1), 9);
}

/// Requests, lanes, sectors and wavefronts of accesses of at least `least` bytes.
fn counted(counters: &Counters, kind: Access, least: usize) -> [u64; 4] {
    let sites = counters.sites.iter().filter(|((_, access, bytes), _)| *access == kind && *bytes as usize >= least);
    sites.fold([0; 4], |[requests, lanes, sectors, wavefronts], (_, site)| {
        [requests + site.requests, lanes + site.lanes, sectors + site.sectors, wavefronts + site.wavefronts]
    })
}

/// The cost of one more row of tiles, with `gap` elements between the rows of A and of B. Every sector is written by
/// one request, as whole 16-byte vectors. (The first and last tiles also write the ends of rows; they are in both
/// counts.)
fn misaligned_rows<T: Bits>(
    name: &str,
    kernel: Kernel<(MatRef<'static, T>, MatMut<'static, T>)>,
    [rows, cols]: [usize; 2],
    gap: usize,
) {
    let size = size_of::<T>();
    let log = size.trailing_zeros() as usize;
    let (height, width) = (misaligned::ROWS[log] as usize, misaligned::COLS[log] as usize);
    let counts = |rows: usize| {
        let grid = misaligned::grid(size, rows as u32, cols as u32);
        let counters = transposed(kernel, grid, [rows, cols], gap);
        assert_eq!(counters.bytes(Access::GlobalStore), (rows * cols * size) as u64, "{name}: bytes written");
        counters
    };
    let (few, more) = (counts(rows), counts(rows + height));
    let difference = |kind, least| {
        let (few, more) = (counted(&few, kind, least), counted(&more, kind, least));
        [0, 1, 2, 3].map(|i| more[i] - few[i])
    };
    let bytes = cols * height * size;
    let [_, lanes, sectors, _] = difference(Access::GlobalStore, 1);
    assert_eq!([lanes, sectors], [bytes / 16, bytes / 32].map(|n| n as u64), "{name}: vectors and sectors written");

    // A request reads whole rows of the tile by vectors, or a part of one by elements; sectors at their ends are read
    // twice.
    let narrow = size < 4;
    let [requests, lanes, sectors, _] = difference(Access::GlobalLoad, if narrow { 16 } else { size });
    let bytes = if narrow { 512 } else { 32 * size };
    let most = (bytes / 32 + bytes.div_ceil(width * size)) as u64;
    assert!(sectors <= requests * most, "{name}: {sectors} sectors read by {requests} requests of {most} each");
    let lines = height + 32 / size;
    let all = if narrow { lines * cols.div_ceil(16 / size) * 2 } else { lines * cols };
    assert!(lanes <= all as u64, "{name}: {lanes} vectors read, of {all}");

    let words = size.div_ceil(4) as u64;
    let [requests, _, _, wavefronts] = difference(Access::SharedLoad, 1);
    assert!(wavefronts <= words * requests, "{name}: {wavefronts} wavefronts to read the tile, {requests} requests");
    let [requests, _, _, wavefronts] = difference(Access::SharedStore, 1);
    let degree = if size == 1 { 2 } else { 1 };
    assert!(
        wavefronts <= degree * words * requests,
        "{name}: {wavefronts} wavefronts to fill the tile, {requests} requests"
    );
}

#[test]
fn misaligned_rows_write_no_sector_twice() {
    for gap in [0, 1, 3, 16] {
        misaligned_rows("b8", transpose_misaligned_b8, [300, 257], gap);
        misaligned_rows("b8", transpose_misaligned_b8, [511, 259], gap);
        misaligned_rows("b16", transpose_misaligned_b16, [136, 255], gap);
        misaligned_rows("b16", transpose_misaligned_b16, [129, 257], gap);
        misaligned_rows("b32", transpose_misaligned_b32, [132, 129], gap);
        misaligned_rows("b32", transpose_misaligned_b32, [159, 131], gap);
        misaligned_rows("b64", transpose_misaligned_b64, [65, 129], gap);
        misaligned_rows("b64", transpose_misaligned_b64, [98, 131], gap);
        misaligned_rows("b128", transpose_misaligned_b128, [51, 67], gap);
    }
}
