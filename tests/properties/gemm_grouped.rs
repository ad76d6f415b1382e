//! Grouped products: every kernel, with small integers, whose sums are exact in every order, so that C must be equal.
//!
//! Rows of A before the first group and after the last are NaN, as are the elements between rows of A and B: a kernel
//! that multiplies one of them is found. Everything around the groups' elements of C must stay what it was.

use gpu::gemm::args::GroupedGemmKernel;
use gpu::gemm::configs::WgmmaKernel;
use gpu::gemm::sm90::schedule::grouped::worth_splitting;
use gpu::gemm::{grouped_reference, sm90::grouped as kernels};
use ndarray::Array2;
use rand::Rng;
use simt::KernelInfo;
use warpwright::gemm::{Activation, GroupedMultiply, Output};
use warpwright::half::{bf16, f16};
use warpwright::reference::{Format, Gemm, U_F32, grouped_gemm};
use warpwright::{ArgumentRule, Device, E4m3, Element, Error};

use crate::support::device::{is_gpu, under_test};
use crate::support::values;

/// An element type, and its numbers.
trait Numbers: Element {
    fn of(x: f32) -> Self;
    fn to(self) -> f32;
}

macro_rules! numbers {
    ($($t:ident)+) => {$(
        impl Numbers for $t {
            fn of(x: f32) -> Self {
                Self::from_f32(x)
            }
            fn to(self) -> f32 {
                self.to_f32()
            }
        }
    )+};
}
numbers! { bf16 f16 E4m3 }

/// What becomes of the sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Epilogue {
    /// TMA stores whole tiles, threads the others, 16 bytes at a time.
    Stored,
    /// The same to a C whose rows are not aligned: threads copy.
    Copied,
    /// With alpha and the old C, which is the canary.
    Accumulates,
    /// The same in `f32`.
    Wide,
    /// As the first, with powers of two as factors of rows and of columns.
    Scaled,
}

/// A call.
#[derive(Clone, Debug)]
struct Case {
    /// Rows of each group.
    sizes: Vec<usize>,
    /// Rows before the first group and after the last. Without any before, the first offset is left out.
    around: [usize; 2],
    n: usize,
    k: usize,
    epilogue: Epilogue,
    blocks: u32,
    /// Whether blocks may share tiles.
    splits: bool,
    seed: u64,
}

/// Elements from row to row: a multiple of 16 bytes and of nothing more, or of nothing.
fn ld<T>(cols: usize, aligned: bool) -> usize {
    let vector = 16 / size_of::<T>();
    if aligned { cols.next_multiple_of(vector) + vector } else { cols + 3 }
}

const CANARY: f32 = -77.0;

/// Rows of integers, with NaN behind each, and the NaN rows for which `is_row` is false.
fn operand<T: Numbers>(
    rows: usize,
    cols: usize,
    ld: usize,
    rng: &mut impl Rng,
    is_row: impl Fn(usize) -> bool,
) -> Vec<T> {
    let mut element = |row: usize, col: usize| {
        let x = rng.random_range(-4..=4) as f32;
        T::of(if col < cols && is_row(row) { x } else { f32::NAN })
    };
    (0..rows * ld).map(|at| element(at / ld, at % ld)).collect()
}

fn check<T: GroupedMultiply + Numbers, C: Output<T> + Numbers>(
    device: &Device,
    kernel: &'static KernelInfo,
    transposed: bool,
    case: &Case,
) where
    f32: Output<T>,
{
    let &Case { ref sizes, around: [before, after], n, k, epilogue, blocks, splits, seed } = case;
    if !device.has_kernel(kernel) {
        return;
    }
    // The reference takes rows at any address.
    let aligned = *kernel != *T::REFERENCE.info();
    let mut rng = values::rng(seed);
    let groups = sizes.len();
    let mut offsets = vec![before as u32];
    offsets.extend(sizes.iter().scan(before, |end, size| {
        *end += size;
        Some(*end as u32)
    }));
    let in_groups = before..*offsets.last().unwrap() as usize;
    let m = in_groups.end + after;
    let (ld_a, ld_c) = (ld::<T>(k, aligned), ld::<C>(n, aligned && epilogue != Epilogue::Copied));
    let a: Vec<T> = operand(m, k, ld_a, &mut rng, |row| in_groups.contains(&row));
    let [rows_b, cols_b] = if transposed { [n, k] } else { [k, n] };
    let ld_b = ld::<T>(cols_b, aligned);
    let b: Vec<T> = operand(groups * rows_b, cols_b, ld_b, &mut rng, |_| true);
    let (on_a, on_b) = (device.upload(&a).unwrap(), device.upload(&b).unwrap());
    let view_a = on_a.view().as_tensor_strided(&[m, k], &[ld_a, 1]).unwrap();
    let view_b = on_b.view().as_tensor_strided(&[groups, rows_b, cols_b], &[rows_b * ld_b, ld_b, 1]).unwrap();
    let on_offsets = device.upload(if before == 0 { &offsets[1..] } else { &offsets[..] }).unwrap();
    // A row around C.
    let mut c = device.upload(&vec![C::of(CANARY); (m + 2) * ld_c]).unwrap();
    let mut wide = device.upload(&vec![CANARY; (m + 2) * ld_c]).unwrap();
    let gemm = device.grouped_gemm(view_a, view_b, &on_offsets).kernel(kernel).sm_count_target(blocks);
    let gemm = if transposed { gemm.transpose_b() } else { gemm };
    let (of_row, of_column) = (|row: usize| [0.5, 2.0, 1.0][row % 3], |col: usize| [1.0, 0.25, 4.0, 2.0, 0.5][col % 5]);
    let of_rows = device.upload(&(0..m).map(of_row).collect::<Vec<f32>>()).unwrap();
    let of_columns = device.upload(&(0..groups * n).map(of_column).collect::<Vec<f32>>()).unwrap();
    let place = ld_c..(m + 1) * ld_c;
    let (shape, strides) = ([m, n], [ld_c, 1]);
    let to = c.view().slice(place.clone()).unwrap();
    let len = if splits { gemm.workspace_len(to.as_tensor_strided(&shape, &strides).unwrap()).unwrap() } else { 0 };
    // At any address, with any content.
    let mut workspace = device.upload(&vec![CANARY; len + 3]).unwrap();
    let gemm = if splits { gemm.workspace(workspace.slice_mut(1..len + 1).unwrap()) } else { gemm };
    if epilogue == Epilogue::Wide {
        let to = wide.slice_mut(place).unwrap().as_tensor_strided(&shape, &strides).unwrap();
        gemm.alpha(2.0).beta(-1.0).into(to).unwrap();
    } else {
        let to = c.slice_mut(place).unwrap().as_tensor_strided(&shape, &strides).unwrap();
        match epilogue {
            Epilogue::Accumulates => gemm.alpha(0.5).beta(-1.0).into(to),
            Epilogue::Scaled => gemm.row_scales(&of_rows).column_scales(&of_columns).into(to),
            Epilogue::Stored | Epilogue::Copied | Epilogue::Wide => gemm.into(to),
        }
        .unwrap();
    }
    let (c, wide) = (c.download().unwrap(), wide.download().unwrap());
    let name = kernel.name;
    let around = workspace.download().unwrap();
    assert_eq!([around[0], around[len + 1], around[len + 2]], [CANARY; 3], "{name}, {case:?}: around the workspace");
    let sums: Vec<Array2<f32>> = (0..groups)
        .map(|group| {
            let (first, b) = (offsets[group] as usize, &b[group * rows_b * ld_b..]);
            let at_b = |[step, col]: [usize; 2]| if transposed { col * ld_b + step } else { step * ld_b + col };
            let a = Array2::from_shape_fn((sizes[group], k), |(row, step)| a[(first + row) * ld_a + step].to());
            a.dot(&Array2::from_shape_fn((k, n), |(step, col)| b[at_b([step, col])].to()))
        })
        .collect();
    for at in 0..c.len() {
        let (row, col) = ((at / ld_c).wrapping_sub(1), at % ld_c);
        let group = offsets.windows(2).position(|ends| (ends[0] as usize..ends[1] as usize).contains(&row));
        let sum = |group: usize| sums[group][[row - offsets[group] as usize, col]];
        let expected = match (group.filter(|_| col < n), epilogue) {
            (None, _) => (CANARY, CANARY),
            (Some(group), Epilogue::Stored | Epilogue::Copied) => (C::of(sum(group)).to(), CANARY),
            (Some(group), Epilogue::Accumulates) => (C::of(0.5 * sum(group) - CANARY).to(), CANARY),
            (Some(group), Epilogue::Scaled) => {
                (C::of(sum(group) * of_row(row) * of_column(group * n + col)).to(), CANARY)
            }
            (Some(group), Epilogue::Wide) => (CANARY, 2.0 * sum(group) - CANARY),
        };
        assert_eq!((c[at].to(), wide[at]), expected, "{name}, {case:?}: group {group:?}, row {row}, column {col}");
    }
}

/// Every kernel with its cases: groups without rows and with one, at the edges of tiles, of the rows of a warpgroup and
/// of one line of a box; rows around them; fewer groups than tiles and more.
fn every_kernel<T: GroupedMultiply + Numbers, C: Output<T> + Numbers>(
    list: &[WgmmaKernel<GroupedGemmKernel<T>>],
    epilogue: Epilogue,
) where
    f32: Output<T>,
{
    for (number, entry) in list.iter().enumerate() {
        let [rows, cols] = entry.config.tile().map(|edge| edge as usize);
        let sizes = [
            vec![rows + 1, 0, 1, rows - 1, 64, 0, 0, 63, rows, 65, 3, 0],
            vec![2 * rows - 7, 8, 2 * rows],
            vec![0, 0, 5],
        ];
        // TMA stores rows of whole vectors of 16 bytes.
        let cut = if matches!(epilogue, Epilogue::Stored | Epilogue::Scaled) || number % 2 == 0 { 0 } else { 3 };
        let extents = [[cols + 8 - cut, 3 * 64 + 8], [72 - cut, 64 * entry.config.stages + 72], [cols, 8]];
        for (which, (sizes, [n, k])) in sizes.into_iter().zip(extents).enumerate() {
            let seed = 300 + 10 * number as u64 + which as u64;
            let around = [[0, 0], [5, 70], [9, 0]][which];
            let blocks = [3, 2, 7][(which + number) % 3];
            let case = Case { sizes, around, n, k, epilogue, blocks, splits: false, seed };
            check::<T, C>(&under_test(seed), entry.kernel.info(), entry.layout.transpose_b, &case);
        }
    }
}

#[test]
fn bf16_is_exact_where_threads_copy() {
    every_kernel::<bf16, bf16>(kernels::BF16, Epilogue::Copied);
}

#[test]
fn bf16_is_exact() {
    every_kernel::<bf16, bf16>(kernels::BF16, Epilogue::Stored);
}

#[test]
fn f16_is_exact() {
    every_kernel::<f16, f16>(kernels::F16, Epilogue::Stored);
}

#[test]
fn e4m3_is_exact() {
    every_kernel::<E4m3, bf16>(kernels::E4M3, Epilogue::Stored);
    every_kernel::<E4m3, f16>(kernels::E4M3, Epilogue::Accumulates);
    every_kernel::<E4m3, bf16>(kernels::E4M3, Epilogue::Wide);
}

#[test]
fn factors_of_rows_and_columns_are_exact() {
    every_kernel::<E4m3, f16>(kernels::E4M3, Epilogue::Scaled);
    every_kernel::<bf16, bf16>(&kernels::BF16[..4], Epilogue::Scaled);
}

#[test]
fn bf16_is_exact_with_beta() {
    every_kernel::<bf16, bf16>(kernels::BF16, Epilogue::Accumulates);
}

#[test]
fn f16_is_exact_in_f32() {
    every_kernel::<f16, f16>(kernels::F16, Epilogue::Wide);
}

/// The kernel for everything: any address, any k.
#[test]
fn the_reference_is_exact() {
    let kernel = grouped_reference::gemm_grouped_reference_bf16.info();
    let of_e4m3 = grouped_reference::gemm_grouped_reference_e4m3.info();
    let epilogues = [Epilogue::Stored, Epilogue::Accumulates, Epilogue::Wide, Epilogue::Scaled];
    for (seed, epilogue) in epilogues.into_iter().enumerate() {
        for (transposed, around) in [(false, [0, 0]), (true, [3, 9])] {
            let sizes = vec![7, 0, 1, 8, 9, 0, 33];
            let case = Case { sizes, around, n: 45, k: 37, epilogue, blocks: 1, splits: false, seed: seed as u64 };
            check::<bf16, bf16>(&under_test(seed as u64), kernel, transposed, &case);
            check::<E4m3, f16>(&under_test(seed as u64), of_e4m3, transposed, &case);
        }
    }
}

/// Tiles that blocks share along k, of up to 32 groups: more than a wave of them and less, some with warpgroups without
/// rows.
#[test]
fn split_tiles_are_exact() {
    fn check_list<T, C>(list: &[WgmmaKernel<GroupedGemmKernel<T>>], epilogues: [Epilogue; 3])
    where
        f32: Output<T>,
        T: GroupedMultiply + Numbers,
        C: Output<T> + Numbers,
    {
        for (number, entry) in list.iter().enumerate().filter(|(_, entry)| entry.config.stream_k) {
            let [rows, cols] = entry.config.tile().map(|edge| edge as usize);
            let cases = [
                // One or two more than there are blocks: all are split.
                (vec![rows + 1, 0, 1, 64, 65, rows - 1, 3, 2], cols - 8, 7, 24),
                // 12 for 8 blocks: 4 are split, and each block has another.
                (vec![3, 40, 1, 9, rows, 2, 0], cols + 8, 8, 36),
                // 3 for 5 blocks, of 32 groups.
                ([vec![0; 29], vec![5, rows - 6, 1]].concat(), 40, 5, 44),
            ];
            for (which, (sizes, n, blocks, most_steps)) in cases.into_iter().enumerate() {
                let k = entry.config.depth() as usize * most_steps - 16 / size_of::<T>() * which;
                let tiles = sizes.iter().map(|size| size.div_ceil(rows)).sum::<usize>() * n.div_ceil(cols);
                let steps = k.div_ceil(entry.config.depth() as usize) as u32;
                assert!(worth_splitting(tiles as u32, blocks, steps) > 0, "{tiles} tiles among {blocks} blocks");
                let (epilogue, seed) = (epilogues[(which + number) % 3], 500 + 10 * number as u64 + which as u64);
                let case = Case { sizes, around: [4 * which, 9], n, k, epilogue, blocks, splits: true, seed };
                check::<T, C>(&under_test(seed), entry.kernel.info(), entry.layout.transpose_b, &case);
            }
        }
    }
    check_list::<_, bf16>(kernels::BF16, [Epilogue::Stored, Epilogue::Accumulates, Epilogue::Scaled]);
    check_list::<_, f16>(&kernels::F16[..4], [Epilogue::Wide, Epilogue::Copied, Epilogue::Stored]);
    check_list::<_, bf16>(kernels::E4M3, [Epilogue::Scaled, Epilogue::Accumulates, Epilogue::Wide]);
}

/// No group, one, and more than a warp has lanes.
#[test]
fn any_number_of_groups() {
    let device = under_test(7);
    for count in [1, 31, 32, 33, 64, 128, 200] {
        let mut rng = values::rng(count as u64);
        let sizes = (0..count).map(|_| [0, 1, 2, 7, 40][rng.random_range(0..5)]).collect();
        for entry in &kernels::BF16[..1] {
            let case = Case {
                sizes: Vec::clone(&sizes),
                around: [count % 2, 3],
                n: 24,
                k: 16,
                epilogue: Epilogue::Stored,
                blocks: 1 + count as u32 % 5,
                splits: count % 2 == 0,
                seed: count as u64,
            };
            check::<bf16, bf16>(&device, entry.kernel.info(), entry.layout.transpose_b, &case);
        }
    }
    let nothing = device.alloc_zeros::<bf16>(0).unwrap();
    let a = device.upload(&[bf16::ONE; 16]).unwrap();
    let (a, b) = (a.view().as_tensor(&[2, 8]).unwrap(), nothing.view().as_tensor(&[0, 8, 8]).unwrap());
    for offsets in [&[][..], &[1_u32]] {
        let offsets = device.upload(offsets).unwrap();
        let mut c = device.upload(&[bf16::ONE; 16]).unwrap();
        device.grouped_gemm(a, b, &offsets).into(c.view_mut().as_tensor(&[2, 8]).unwrap()).unwrap();
        assert_eq!(c.download().unwrap(), [bf16::ONE; 16]);
    }
}

/// The call chooses the kernel: rows that TMA cannot load, no rows, no columns, nothing along k, alpha = 0.
#[test]
fn every_shape_has_a_kernel() {
    let device = under_test(3);
    let shapes = [[20, 9, 11], [20, 16, 0], [0, 16, 16], [20, 0, 16], [20, 16, 16], [20, 8, 24], [20, 17, 8]];
    // The last one has a workspace of its own, and tiles that are split.
    for [m, n, k] in shapes.into_iter().chain([[20, 8, 8192]]) {
        for alpha in [1.0, 0.0] {
            let (a, b) = (device.upload(&vec![f16::ONE; m * k]), device.upload(&vec![f16::from_f32(0.5); 3 * k * n]));
            let (a, b) = (a.unwrap(), b.unwrap());
            let offsets = device.upload(&[0_i32, (m / 4) as i32, (m / 2) as i32, m as i32]).unwrap();
            let (a, b) = (a.view().as_tensor(&[m, k]).unwrap(), b.view().as_tensor(&[3, k, n]).unwrap());
            let c = device.grouped_gemm(a, b, &offsets).alpha(alpha).run().unwrap().download().unwrap();
            let expected = f16::from_f32(alpha * k as f32 / 2.0);
            assert_eq!(c, Array2::from_elem((m, n), expected), "{m} x {n} x {k}, alpha = {alpha}");
        }
    }
}

/// Real numbers within the error bound, and with the same bits in every run, however the blocks are scheduled.
#[test]
fn real_products_are_within_the_bound_and_the_same_in_every_run() {
    let (sizes, n, k) = ([70, 0, 129, 1, 64], 136, 3208);
    let ends: Vec<usize> = sizes
        .iter()
        .scan(0, |end, size| {
            *end += size;
            Some(*end)
        })
        .collect();
    let m = ends[4];
    let mut rng = values::rng(5);
    let mut reals = |rows, cols| values::reals(rows, cols, 1.0, &mut rng).mapv(bf16::from_f32);
    let (a, b) = (reals(m, k), reals(sizes.len() * n, k));
    let runs = if is_gpu() { 100 } else { 3 };
    for entry in kernels::BF16.iter().filter(|entry| entry.layout.transpose_b) {
        let run = |seed: u64| {
            let device = under_test(seed);
            if !device.has_kernel(entry.kernel.info()) {
                return None;
            }
            let (on_a, on_b) = (device.upload(&a).unwrap(), device.upload(&b).unwrap());
            let on_b = on_b.view().as_contiguous().unwrap();
            let on_b = on_b.as_tensor(&[sizes.len(), n, k]).unwrap();
            let offsets: Vec<u32> = ends.iter().map(|&end| end as u32).collect();
            let offsets = device.upload(&offsets).unwrap();
            let gemm = device.grouped_gemm(&on_a, on_b, &offsets).transpose_b().kernel(entry.kernel.info());
            // So few that some tiles are split.
            let gemm = gemm.sm_count_target(4);
            // Uploaded, because compute-sanitizer's initcheck does not see what TMA stores.
            let mut c = device.upload(&Array2::from_elem((m, n), bf16::NAN)).unwrap();
            let mut workspace = device.alloc_zeros(gemm.workspace_len(&c).unwrap()).unwrap();
            gemm.workspace(&mut workspace).into(&mut c).unwrap();
            Some(c.download().unwrap())
        };
        let Some(first) = run(0) else { continue };
        for seed in 1..runs {
            assert_eq!(run(seed).as_ref(), Some(&first), "{}, run {seed}", entry.kernel.info().name);
        }
        let (a, b) = (a.mapv(f64::from), b.mapv(f64::from));
        let groups: Vec<_> = (0..sizes.len())
            .map(|group| b.slice(ndarray::s![group * n..(group + 1) * n, ..]).reversed_axes())
            .collect();
        let call = Gemm {
            a: a.view(),
            b: groups[0],
            c: None,
            bias: None,
            alpha: 1.0,
            beta: 0.0,
            activation: Activation::None,
            // Tensor cores truncate.
            unit: 2.0 * U_F32,
            output: Format::BF16,
        };
        let offsets: Vec<usize> = std::iter::once(0).chain(ends.iter().copied()).collect();
        let reference = grouped_gemm(&call, &groups, &offsets).unwrap();
        let first = first.mapv(f32::from);
        let verdict = reference.check(first.iter()).unwrap();
        assert!(verdict.passes(), "{}: {verdict:?}", entry.kernel.info().name);
    }
}

/// A GPU does not refuse wrong offsets, which are not the host's to read: a row belongs to one group at most, and
/// nothing around C is written.
#[test]
fn wrong_offsets_stay_within_c() {
    let (device, ld) = (under_test(0), 144);
    // On a GPU there are many blocks for as many rows.
    let [m, n, k] = if is_gpu() { [20_000, 136, 64] } else { [200, 136, 64] };
    let at = |part: usize| (m * part / 200) as i32;
    let a = device.upload(&vec![bf16::ONE; m * k]).unwrap();
    let reference = grouped_reference::gemm_grouped_reference_bf16.info();
    let kernels = kernels::BF16.iter().map(|entry| (entry.kernel.info(), entry.layout.transpose_b));
    for (kernel, transposed) in kernels.chain([(reference, false)]).filter(|(kernel, _)| device.has_kernel(kernel)) {
        for offsets in [
            // Decreasing, beyond the end, negative, without the first one.
            vec![0, at(70), at(30), at(150), at(100), at(200)],
            vec![0, at(70), at(100), at(90_000), at(80), at(200)],
            vec![at(10), at(20), -1, at(30), at(40), at(199)],
            vec![-4; 6],
            vec![i32::MIN, 0, -1, 5, 6],
            vec![at(150), at(20), 0, at(180), at(7), at(190)],
        ] {
            const GROUPS: usize = 5;
            let b: Vec<_> = (0..GROUPS * k * n).map(|i| bf16::from_f32((i / (k * n) + 1) as f32)).collect();
            let (b, on_device) = (device.upload(&b).unwrap(), device.upload(&offsets).unwrap());
            let shape = if transposed { [GROUPS, n, k] } else { [GROUPS, k, n] };
            let (a, b) = (a.view().as_tensor(&[m, k]).unwrap(), b.view().as_tensor(&shape).unwrap());
            let gemm = device.grouped_gemm(a, b, &on_device).kernel(kernel).offsets_unchecked();
            let gemm = if transposed { gemm.transpose_b() } else { gemm };
            let mut c = device.upload(&vec![bf16::from_f32(CANARY); (m + 2) * ld]).unwrap();
            let to = c.slice_mut(ld..(m + 1) * ld).unwrap().as_tensor_strided(&[m, n], &[ld, 1]).unwrap();
            gemm.into(to).unwrap();
            let within = |offset: i32| (offset as u32 as usize).min(m);
            let mut begin = if offsets.len() > GROUPS { within(offsets[0]) } else { 0 };
            let rows: Vec<_> = offsets[offsets.len() - GROUPS..]
                .iter()
                .map(|&offset| {
                    let end = within(offset).max(begin);
                    std::mem::replace(&mut begin, end)..end
                })
                .collect();
            for (at, value) in c.download().unwrap().into_iter().enumerate() {
                let (row, col) = ((at / ld).wrapping_sub(1), at % ld);
                let group = rows.iter().position(|rows| rows.contains(&row)).filter(|_| col < n);
                let expected = group.map_or(CANARY, |group| (k * (group + 1)) as f32);
                assert_eq!(value.to_f32(), expected, "{}, {offsets:?}: row {row}, column {col}", kernel.name);
            }
        }
    }
}

#[test]
fn the_simulator_refuses_wrong_offsets() {
    let device = Device::simulator();
    let (a, b) = (device.alloc_zeros::<bf16>(6 * 8).unwrap(), device.alloc_zeros::<bf16>(2 * 8 * 8).unwrap());
    let (a, b) = (a.view().as_tensor(&[6, 8]).unwrap(), b.view().as_tensor(&[2, 8, 8]).unwrap());
    for (offsets, text) in [
        (vec![0, 4, 3], "expected offsets that do not decrease, here at least 4, found 3 at index 2;"),
        (vec![0, 7, 7], "expected offsets of at most 6, the rows of A, found 7 at index 1;"),
        (vec![-1, 6], "expected offsets of at most 6, the rows of A, found -1 at index 0;"),
    ] {
        let offsets = device.upload(&offsets).unwrap();
        let error = device.grouped_gemm(a, b, &offsets).run().unwrap_err();
        assert!(error.to_string().starts_with(&format!("grouped_gemm: argument `offsets`: {text}")), "{error}");
        assert!(matches!(error, Error::Argument(bad) if bad.rule == ArgumentRule::Range));
    }
}

/// Few rows of each group take flat tiles, many take the widest, and what TMA cannot load the reference.
#[test]
fn the_mean_number_of_rows_decides() {
    let device = Device::simulator();
    let chosen = |m: usize, n: usize, k: usize, groups: usize| {
        let (a, b) = (device.alloc::<bf16>(m * k).unwrap(), device.alloc::<bf16>(groups * n * k).unwrap());
        let offsets = device.alloc::<u32>(groups).unwrap();
        let (a, b) = (a.view().as_tensor(&[m, k]).unwrap(), b.view().as_tensor(&[groups, n, k]).unwrap());
        let c = device.alloc_matrix::<bf16>(m, n).unwrap();
        device.grouped_gemm(a, b, &offsets).transpose_b().sm_count_target(132).chosen(&c).unwrap().name
    };
    assert_eq!(chosen(128 * 16, 1536, 64, 128), "gemm_grouped_bf16_nt_64x128");
    assert_eq!(chosen(128 * 96, 128, 512, 128), "gemm_grouped_bf16_nt_128x128");
    assert_eq!(chosen(8 * 1024, 4096, 64, 8), "gemm_grouped_bf16_nt_128x256");
    assert_eq!(chosen(8 * 4096, 512, 64, 8), "gemm_grouped_bf16_nt_2x128x256");
    assert_eq!(chosen(128 * 264, 256, 512, 128), "gemm_grouped_bf16_nt_128x256");
    assert_eq!(chosen(16, 1536, 12, 2), "gemm_grouped_reference_bf16");
}

#[test]
fn wrong_arguments_are_named() {
    let device = under_test(1);
    let x = device.alloc_zeros::<bf16>(4 * 8 * 8).unwrap();
    let tensor = |shape: &[usize]| x.slice(0..shape.iter().product()).unwrap().as_tensor(shape).unwrap();
    let offsets = device.upload(&[0_u32, 4, 8]).unwrap();
    let refused =
        |a: &[usize], b: &[usize], c: [usize; 2], offsets: std::ops::Range<usize>, on: &warpwright::Buffer<u32>| {
            let mut c = device.alloc_matrix::<bf16>(c[0], c[1]).unwrap();
            let offsets = on.slice(offsets).unwrap();
            device.grouped_gemm(tensor(a), tensor(b), offsets).into(&mut c).unwrap_err().to_string()
        };
    for (error, text) in [
        (refused(&[2, 4, 8], &[2, 8, 8], [8, 8], 0..3, &offsets), "argument `a`: expected two axes"),
        (refused(&[8, 8], &[8, 8], [8, 8], 0..3, &offsets), "argument `b`: expected three axes"),
        (refused(&[8, 4], &[2, 8, 8], [8, 8], 0..3, &offsets), "argument `b`: expected op(B) with 4 rows"),
        (refused(&[8, 8], &[2, 8, 8], [8, 7], 0..3, &offsets), "argument `c`: expected 8 x 8"),
        (refused(&[8, 8], &[2, 8, 8], [8, 8], 0..1, &offsets), "argument `offsets`: expected 2 offsets"),
    ] {
        assert!(error.starts_with(&format!("grouped_gemm: {text}")), "{error}");
    }
    let short = device.upload(&[1.0_f32; 5]).unwrap();
    let gemm = || device.grouped_gemm(tensor(&[8, 8]), tensor(&[2, 8, 8]), &offsets);
    let error = gemm().row_scales(&short).run().unwrap_err().to_string();
    assert!(error.contains("argument `row_scales`: expected 8 factors"), "{error}");
    let error = gemm().column_scales(&short).run().unwrap_err().to_string();
    assert!(error.contains("argument `column_scales`: expected 16 factors"), "{error}");
    let mut of_another = Device::simulator().alloc_zeros::<f32>(5).unwrap();
    let error = gemm().workspace(&mut of_another).run().unwrap_err().to_string();
    assert!(error.starts_with("grouped_gemm: argument `workspace`: "), "{error}");
    // A kernel for the other layout of B.
    let gemm = device.grouped_gemm(tensor(&[8, 8]), tensor(&[2, 8, 8]), &offsets);
    let error = gemm.kernel(kernels::gemm_grouped_bf16_nt_64x128.info()).run().unwrap_err().to_string();
    assert!(error.starts_with("grouped_gemm: argument `kernel`: expected gemm_grouped_reference_bf16"), "{error}");
}
