//! What only the crate itself can ask for: offsets that the simulator would refuse.

use half::bf16;

use super::*;
use crate::error::{ArgumentRule, Error};

const M: usize = 200;
const N: usize = 136;
const K: usize = 64;
const GROUPS: usize = 5;

/// The groups of rows that these offsets make, as the documentation says it.
fn groups(offsets: &[u32]) -> Vec<std::ops::Range<usize>> {
    let first = offsets.len() - GROUPS;
    let mut begin = if first == 1 { (offsets[0] as usize).min(M) } else { 0 };
    let mut ends = offsets[first..].iter().map(|&offset| (offset as usize).min(M));
    (0..GROUPS)
        .map(|_| {
            let end = ends.next().unwrap().max(begin);
            std::mem::replace(&mut begin, end)..end
        })
        .collect()
}

/// The product of ones and matrices of the number of their group, one added, with these offsets, unchecked.
fn product(kernel: &'static KernelInfo, offsets: &[u32]) -> Vec<f32> {
    let device = Device::simulator();
    let a = device.upload(&vec![bf16::ONE; M * K]).unwrap();
    let b: Vec<_> = (0..GROUPS * K * N).map(|i| bf16::from_f32((i / (K * N) + 1) as f32)).collect();
    let b = device.upload(&b).unwrap();
    let offsets = device.upload(offsets).unwrap();
    // Rows and columns around C.
    let ld = N + 8;
    let mut c = device.upload(&vec![bf16::from_f32(-7.0); (M + 2) * ld]).unwrap();
    let (a, b) = (a.view().as_tensor(&[M, K]).unwrap(), b.view().as_tensor(&[GROUPS, K, N]).unwrap());
    let gemm = device.grouped_gemm(a, b, &offsets).kernel(kernel).sm_count_target(3);
    let to = c.slice_mut(ld..(M + 1) * ld).unwrap().as_tensor_strided(&[M, N], &[ld, 1]).unwrap();
    GroupedGemm { checks_offsets: false, ..gemm }.into(to).unwrap();
    c.download().unwrap().into_iter().map(f32::from).collect()
}

#[test]
fn wrong_offsets_stay_within_c() {
    let kernels = [gpu::gemm::grouped_reference::gemm_grouped_reference_bf16.info()];
    let kernels = kernels
        .into_iter()
        .chain(bf16::KERNELS.iter().filter(|entry| !entry.layout.transpose_b).map(|entry| entry.kernel.info()));
    for kernel in kernels {
        for offsets in [
            // Decreasing, beyond the end, negative, and beyond 2³² rows of tiles.
            vec![0, 70, 30, 150, 100, 200],
            vec![0, 70, 100, 90_000, 80, 200],
            vec![10, 20, u32::MAX, 30, 40, 199],
            vec![u32::MAX - 3; 6],
            vec![u32::MAX, 0, u32::MAX - 1, 5, 6],
            vec![150, 20, 0, 180, 7, 190],
        ] {
            let (c, ld, groups) = (product(kernel, &offsets), N + 8, groups(&offsets));
            for (at, value) in c.into_iter().enumerate() {
                let (row, col) = (at / ld, at % ld);
                let group = groups.iter().position(|rows| rows.contains(&row.wrapping_sub(1)));
                let expected = if col < N { group.map_or(-7.0, |group| (K * (group + 1)) as f32) } else { -7.0 };
                assert_eq!(value, expected, "{}, {offsets:?}: {row}, {col}", kernel.name);
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
        let Error::Argument(bad) = error else { panic!("{error}") };
        assert_eq!(bad.rule, ArgumentRule::Range);
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
    assert_eq!(chosen(128 * 96, 128, 64, 128), "gemm_grouped_bf16_nt_128x128");
    assert_eq!(chosen(8 * 1024, 4096, 64, 8), "gemm_grouped_bf16_nt_128x256");
    assert_eq!(chosen(16, 1536, 12, 2), "gemm_grouped_reference_bf16");
}
