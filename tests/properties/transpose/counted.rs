//! What the fast paths cost, by the simulator's counters: no bank conflict, no sector more than the bytes fill.

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

/// Transposes; B has the leading dimension of its shape and `gap`, A too.
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

/// By tiles that lie where they are.
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

/// All bytes moved once, 16 bytes a lane in global memory, 4 sectors for 128 bytes, a wavefront for 128 bytes.
fn is_free(name: &str, bytes: u64, counters: &Counters) {
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
fn whole_tiles_are_free_of_conflicts() {
    is_free("b8", 256 * 256, &out_of_place(transpose_b8, [256, 256], 0));
    is_free("b16", 256 * 256 * 2, &out_of_place(transpose_b16, [256, 256], 0));
    is_free("b32", 128 * 128 * 4, &out_of_place(transpose_b32, [128, 128], 0));
    is_free("b64", 64 * 128 * 8, &out_of_place(transpose_b64, [64, 128], 0));
    is_free("b128", 64 * 64 * 16, &out_of_place(transpose_b128, [64, 64], 0));
}

#[test]
fn whole_tiles_in_place_are_free_of_conflicts() {
    is_free("b8", 384 * 384, &in_place(transpose_in_place_b8, 384));
    is_free("b16", 192 * 192 * 2, &in_place(transpose_in_place_b16, 192));
    is_free("b32", 192 * 192 * 4, &in_place(transpose_in_place_b32, 192));
    is_free("b64", 96 * 96 * 8, &in_place(transpose_in_place_b64, 96));
    is_free("b128", 96 * 96 * 16, &in_place(transpose_in_place_b128, 96));
}

/// Rows of odd length: narrow accesses, but still one wavefront for 128 bytes, the ends of rows apart. These are at most 16
/// requests for a tile, of up to four wavefronts.
fn is_nearly_free(name: &str, tiles: u64, counters: &Counters) {
    for access in [Access::SharedLoad, Access::SharedStore] {
        let sites = counters.sites.iter().filter(|((_, kind, _), _)| *kind == access);
        let more: u64 =
            sites.map(|((.., bytes), counts)| counts.wavefronts - counts.requests * u64::from(bytes.div_ceil(4))).sum();
        assert!(more <= 16 * 3 * tiles, "{name}: {access:?}: {more} wavefronts too many: {counters:?}");
    }
}

#[test]
fn odd_rows_are_nearly_free_of_conflicts() {
    is_nearly_free("b8", 4, &out_of_place(transpose_b8, [256, 256], 1));
    is_nearly_free("b16", 4, &out_of_place(transpose_b16, [256, 256], 1));
    is_nearly_free("b32", 4, &out_of_place(transpose_b32, [128, 128], 1));
    is_nearly_free("b64", 4, &out_of_place(transpose_b64, [64, 128], 1));
}

/// The same: a request of 32 lanes touches as few sectors as its bytes span, one more where they start beside one.
#[test]
fn odd_rows_are_coalesced() {
    let most = |name: &str, counters: &Counters, sectors: u64| {
        for access in [Access::GlobalLoad, Access::GlobalStore] {
            let total = counters.total(access);
            // Requests by elements at the ends of rows are few: they may touch a sector for each lane.
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

/// Requests, lanes, sectors and wavefronts of accesses of at least so many bytes.
fn counted(counters: &Counters, kind: Access, least: usize) -> [u64; 4] {
    let sites = counters.sites.iter().filter(|((_, access, bytes), _)| *access == kind && *bytes as usize >= least);
    sites.fold([0; 4], |[requests, lanes, sectors, wavefronts], (_, site)| {
        [requests + site.requests, lanes + site.lanes, sectors + site.sectors, wavefronts + site.wavefronts]
    })
}

/// What one more row of shifted tiles costs, rows of both sides `gap` elements longer than they are. Every sector that it
/// writes it writes at once, by one request, as whole chunks. (The first and last tiles write the ends of rows besides: they
/// are in both counts.)
fn shifted_rows<T: Bits>(
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
    assert_eq!([lanes, sectors], [bytes / 16, bytes / 32].map(|n| n as u64), "{name}: chunks and sectors written");

    // A request reads whole rows of the tile by chunks, or a piece of one by elements; sectors at their ends are read twice.
    let narrow = size < 4;
    let [requests, lanes, sectors, _] = difference(Access::GlobalLoad, if narrow { 16 } else { size });
    let bytes = if narrow { 512 } else { 32 * size };
    let most = (bytes / 32 + bytes.div_ceil(width * size)) as u64;
    assert!(sectors <= requests * most, "{name}: {sectors} sectors read by {requests} requests of {most} each");
    let lines = height + 32 / size;
    let all = if narrow { lines * cols.div_ceil(16 / size) * 2 } else { lines * cols };
    assert!(lanes <= all as u64, "{name}: {lanes} pieces read, of {all}");

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
fn shifted_rows_write_no_sector_twice() {
    for gap in [0, 1, 3, 16] {
        shifted_rows("b8", transpose_misaligned_b8, [300, 257], gap);
        shifted_rows("b8", transpose_misaligned_b8, [511, 259], gap);
        shifted_rows("b16", transpose_misaligned_b16, [136, 255], gap);
        shifted_rows("b16", transpose_misaligned_b16, [129, 257], gap);
        shifted_rows("b32", transpose_misaligned_b32, [132, 129], gap);
        shifted_rows("b32", transpose_misaligned_b32, [159, 131], gap);
        shifted_rows("b64", transpose_misaligned_b64, [65, 129], gap);
        shifted_rows("b64", transpose_misaligned_b64, [98, 131], gap);
        shifted_rows("b128", transpose_misaligned_b128, [51, 67], gap);
    }
}
