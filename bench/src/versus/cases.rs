//! The table of cases: what is measured. A line more is a case more.

use super::case::{Case, Dtype, Lengths, Shape, Work};

use Dtype::{Bf16, C128, E4m3, E4m3Blocks, E4m3Fast, F16, F32, F32Emulated, F64, I8, I32, Tf32, U8};

/// Elements of the large vectors.
const LARGE: usize = 1 << 28;

/// Every case, in the order in which it is measured.
pub fn all() -> Vec<Case> {
    let mut cases = Vec::new();
    cases.extend(copies());
    cases.extend(reads());
    cases.extend(vectors());
    cases.extend(axes());
    cases.extend(segments());
    cases.extend(transposes());
    cases.extend(permutations());
    cases.extend(gemms());
    cases.extend(grouped_gemms());
    cases
}

pub(super) fn case(work: Work, dtype: Dtype, shape: Shape) -> Case {
    Case { work, dtype, shape, quick: false }
}

/// Lets `--quick` take it.
fn quick(case: Case) -> Case {
    Case { quick: true, ..case }
}

fn vector(work: Work, dtype: Dtype, n: usize) -> Case {
    case(work, dtype, Shape::Vector { n, offset: 0 })
}

/// The ceilings: copies of 256 MiB to 4 GiB, counting what is read and what is written.
fn copies() -> Vec<Case> {
    vec![vector(Work::Copy, F32, 1 << 26), quick(vector(Work::Copy, F32, LARGE)), vector(Work::Copy, F32, 1 << 30)]
}

/// The ceiling of what only reads.
fn reads() -> Vec<Case> {
    vec![quick(vector(Work::Read, F32, LARGE)), vector(Work::Read, F32, 1 << 30)]
}

fn vectors() -> Vec<Case> {
    let mut cases = vec![vector(Work::Add, F32, LARGE)];
    for exponent in [10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 24, 26, 28, 30] {
        let size = vector(Work::Sum, F32, 1 << exponent);
        cases.push(if [10, 20, 28].contains(&exponent) { quick(size) } else { size });
    }
    // A start that no 16-byte load can use, and a length that is no multiple of anything.
    cases.push(case(Work::Sum, F32, Shape::Vector { n: 1 << 20, offset: 1 }));
    cases.push(case(Work::Sum, F32, Shape::Vector { n: LARGE, offset: 1 }));
    cases.push(case(Work::Sum, F32, Shape::Vector { n: LARGE - 3, offset: 3 }));
    cases.extend([F16, Bf16, F64, I32].map(|dtype| vector(Work::Sum, dtype, LARGE)));
    cases.extend([Work::SumSquares, Work::Max, Work::Dot].map(|work| vector(work, F32, LARGE)));
    cases.push(quick(vector(Work::Argmax, F32, LARGE)));
    cases
}

/// 1 GiB of f32, folded to lengths from 16 to 2²⁰; the same of other reductions and types, of f16 half a GiB.
fn axes() -> Vec<Case> {
    let mut cases = Vec::new();
    for length in [4, 6, 8, 10, 12, 16, 20].map(|exponent| 1_usize << exponent) {
        let others = LARGE / length;
        cases.push(case(Work::SumAxis1, F32, Shape::Matrix { rows: others, cols: length, ld: length }));
        cases.push(case(Work::SumAxis0, F32, Shape::Matrix { rows: length, cols: others, ld: others }));
    }
    for length in [64, 1 << 10, 1 << 16] {
        let others = LARGE / length;
        let (rows, columns) = (
            Shape::Matrix { rows: others, cols: length, ld: length },
            Shape::Matrix { rows: length, cols: others, ld: others },
        );
        for (sum, max, shape) in [(Work::SumAxis1, Work::MaxAxis1, rows), (Work::SumAxis0, Work::MaxAxis0, columns)] {
            cases.push(case(max, F32, shape.clone()));
            cases.push(case(sum, F16, shape));
        }
    }
    // Rows that begin at every alignment.
    for length in [33, 1001] {
        let rows = LARGE / length;
        cases.push(case(Work::SumAxis1, F32, Shape::Matrix { rows, cols: length, ld: length }));
        cases.push(case(Work::SumAxis0, F32, Shape::Matrix { rows: length, cols: rows, ld: rows }));
    }
    cases[7].quick = true;
    cases
}

fn segments() -> Vec<Case> {
    let segments = |segments, lengths| case(Work::SumSegments, F32, Shape::Segments { n: LARGE, segments, lengths });
    vec![
        segments(1 << 8, Lengths::Equal),
        quick(segments(1 << 16, Lengths::Skewed)),
        segments(1 << 16, Lengths::Equal),
        segments(1 << 22, Lengths::Skewed),
        segments(1 << 18, Lengths::Equal),
        segments(1 << 22, Lengths::Giant),
    ]
}

fn transposes() -> Vec<Case> {
    let matrix = |dtype, rows, cols, ld| case(Work::Transpose, dtype, Shape::Matrix { rows, cols, ld });
    vec![
        quick(matrix(F32, 16384, 16384, 16384)),
        matrix(U8, 32768, 32768, 32768),
        matrix(F16, 16384, 32768, 32768),
        matrix(F64, 16384, 8192, 8192),
        matrix(C128, 8192, 8192, 8192),
        matrix(F32, 4096, 4096, 4096),
        // Odd sizes, and rows that begin at every alignment.
        matrix(F32, 16383, 16385, 16385),
        matrix(F32, 16384, 16384, 16389),
        matrix(U8, 32767, 32769, 32769),
        matrix(F16, 16381, 32771, 32771),
        matrix(F64, 16381, 8191, 8191),
        matrix(C128, 8191, 8193, 8193),
        matrix(U8, 32768, 32768, 32771),
        matrix(F16, 16384, 32768, 32769),
        matrix(F64, 16384, 8192, 8195),
        // Rows that begin at 16 bytes, but beside sectors.
        matrix(F32, 16380, 16388, 16388),
        matrix(F32, 1 << 22, 64, 64),
        matrix(F32, 64, 1 << 22, 1 << 22),
    ]
}

/// Sources of 2²⁸ bytes or so; NCHW to NHWC and back, attention's 0213, and the rest of the orders that programs ask
/// for.
fn permutations() -> Vec<Case> {
    let array = |dtype, dims: &[usize], order: &[usize]| {
        case(Work::Permute, dtype, Shape::Array { dims: dims.to_vec(), order: order.to_vec() })
    };
    vec![
        quick(array(F32, &[64, 256, 64, 64], &[0, 2, 3, 1])),
        array(F32, &[64, 64, 64, 256], &[0, 3, 1, 2]),
        array(F16, &[64, 256, 64, 128], &[0, 2, 3, 1]),
        array(F16, &[16, 4096, 16, 128], &[0, 2, 1, 3]),
        array(F32, &[16, 2048, 16, 128], &[0, 2, 1, 3]),
        array(F32, &[512, 256, 512], &[0, 2, 1]),
        array(F32, &[512, 256, 512], &[1, 0, 2]),
        array(F32, &[512, 256, 512], &[2, 1, 0]),
        array(F32, &[512, 256, 512], &[1, 2, 0]),
        array(F32, &[512, 256, 512], &[2, 0, 1]),
        array(F32, &[64, 64, 128, 128], &[3, 2, 1, 0]),
        array(F32, &[16, 32, 16, 32, 16, 16], &[5, 3, 1, 4, 2, 0]),
        array(U8, &[64, 3, 1024, 1024], &[0, 2, 3, 1]),
        array(F64, &[32, 128, 64, 128], &[0, 2, 1, 3]),
        // Few channels: to pixels and back.
        array(U8, &[64, 1024, 1024, 3], &[0, 3, 1, 2]),
        array(F16, &[64, 3, 1024, 1024], &[0, 2, 3, 1]),
        array(F32, &[16, 4, 1024, 1024], &[0, 2, 3, 1]),
        array(F32, &[16, 1024, 1024, 4], &[0, 3, 1, 2]),
    ]
}

/// The shapes of the mean for 16-bit GEMM (m, n, k).
const MEAN: [[usize; 3]; 15] = [
    [512, 512, 512],
    [1024, 1024, 1024],
    [2048, 2048, 2048],
    [4096, 4096, 4096],
    [8192, 8192, 8192],
    [4096, 4096, 64],
    [128, 8192, 8192],
    [16, 8192, 8192],
    [1, 8192, 8192],
    [8192, 128, 8192],
    [8192, 8192, 128],
    [2048, 11008, 4096],
    [4096, 4097, 4099],
    [1000, 1000, 1000],
    [257, 4096, 65536],
];

/// Small GEMMs and GEMMs of few rows, as programs call them one by one.
const CALLED: [(Dtype, [usize; 3]); 4] =
    [(Bf16, [64; 3]), (Bf16, [3, 8192, 8192]), (Bf16, [17, 5120, 5120]), (F16, [333, 777, 555])];

/// Few rows times the transposed weights of a layer.
const FEW_ROWS: [[usize; 3]; 5] =
    [[1, 14336, 4096], [8, 4096, 14336], [32, 4096, 4096], [32, 8192, 8192], [64, 5120, 5120]];

/// So large a k that blocks share it.
const LARGE_K: [[usize; 3]; 2] = [[7168, 2048, 16384], [1024, 1024, 131_072]];

fn gemms() -> Vec<Case> {
    let gemm = |dtype, mnk, transposed, batch| case(Work::Gemm, dtype, Shape::Gemm { mnk, transposed, batch });
    let square = |dtype, n: usize| gemm(dtype, [n; 3], [false; 2], 1);
    let mut cases = Vec::new();
    for dtype in [Bf16, F16] {
        cases.extend(MEAN.map(|mnk| gemm(dtype, mnk, [false; 2], 1)));
        cases.push(gemm(dtype, [512; 3], [false; 2], 64));
        cases.push(square(dtype, 16384));
        cases.extend([[false, true], [true, false], [true, true]].map(|layout| gemm(dtype, [4096; 3], layout, 1)));
    }
    cases.extend(CALLED.map(|(dtype, mnk)| gemm(dtype, mnk, [false; 2], 1)));
    cases.extend(FEW_ROWS.map(|mnk| gemm(Bf16, mnk, [false, true], 1)));
    cases.extend(LARGE_K.map(|mnk| gemm(Bf16, mnk, [false; 2], 1)));
    for dtype in [Tf32, F32, F32Emulated] {
        cases.extend([512, 1024, 2048, 4096, 8192].map(|n| square(dtype, n)));
    }
    let other_layouts = [[false, true], [true, false], [true, true]];
    for dtype in [Tf32, F32Emulated] {
        cases.extend(other_layouts.map(|layout| gemm(dtype, [4096; 3], layout, 1)));
    }
    cases.extend([[2000, 3000, 4000], [1999, 3001, 4003]].map(|mnk| gemm(F32Emulated, mnk, [false; 2], 1)));
    cases.extend([512, 1024, 2048, 4096, 8192].map(|n| square(F64, n)));
    cases.extend(other_layouts.map(|layout| gemm(F64, [4096; 3], layout, 1)));
    cases.extend([[2000, 3000, 4000], [1999, 3001, 4003]].map(|mnk| gemm(F64, mnk, [false; 2], 1)));
    // cuBLASLt multiplies 8-bit matrices in this layout alone.
    for dtype in [I8, E4m3, E4m3Fast, E4m3Blocks] {
        cases.extend([1024, 2048, 4096, 8192].map(|n| gemm(dtype, [n; 3], [false, true], 1)));
        cases.extend([[128, 8192, 8192], [4096, 7168, 16384]].map(|mnk| gemm(dtype, mnk, [false, true], 1)));
    }
    for case in &mut cases {
        let square = matches!(case.shape, Shape::Gemm { mnk: [4096, 4096, 4096], transposed: [false, false], .. });
        case.quick = square && case.dtype != F64 && case.dtype != F16;
    }
    cases
}

/// Mixtures of experts: many of few tokens, whose weights take most of the time to read, and few of many.
fn grouped_gemms() -> Vec<Case> {
    let grouped = |dtype, groups, rows, nk, transposed| {
        case(Work::GroupedGemm, dtype, Shape::Groups { groups, rows, nk, transposed })
    };
    vec![
        quick(grouped(Bf16, 128, [16, 512], [1536, 2048], true)),
        grouped(Bf16, 8, [4096, 4096], [4096, 7168], true),
        grouped(Bf16, 128, [16, 512], [1536, 2048], false),
        grouped(F16, 8, [4096, 4096], [4096, 7168], false),
        grouped(Bf16, 128, [16, 16], [1536, 2048], true),
        grouped(Bf16, 128, [64, 64], [1536, 2048], true),
        grouped(Bf16, 128, [1, 255], [1536, 2048], true),
        grouped(Bf16, 128, [96, 96], [128, 2048], true),
        grouped(Bf16, 32, [256, 1792], [2048, 4096], true),
        grouped(E4m3, 128, [16, 512], [1536, 2048], true),
        grouped(E4m3, 8, [4096, 4096], [4096, 7168], true),
        grouped(E4m3, 128, [64, 64], [1536, 2048], true),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_case_is_there_twice_and_some_are_quick() {
        let names: Vec<String> = all().iter().map(ToString::to_string).collect();
        let mut unique = names.clone();
        unique.sort();
        unique.dedup();
        assert_eq!(unique.len(), names.len());
        let quick: Vec<String> = all().iter().filter(|case| case.quick).map(ToString::to_string).collect();
        assert!((8..=16).contains(&quick.len()), "{quick:#?}");
        assert!(quick.contains(&"gemm/bf16 m=4096 n=4096 k=4096 nn batch=1".into()), "{quick:#?}");
    }

    #[test]
    fn every_work_but_none_other_has_a_case() {
        let cases = all();
        for work in Work::ALL {
            assert!(cases.iter().any(|case| case.work == work), "{}", work.name());
        }
        let permuted = cases.iter().filter(|case| case.work == Work::Permute).count();
        assert!(permuted >= 12, "{permuted} permutations");
    }

    #[test]
    fn orders_are_permutations() {
        for case in all() {
            if let Shape::Array { dims, order } = &case.shape {
                let mut sorted = order.clone();
                sorted.sort_unstable();
                assert_eq!(sorted, (0..dims.len()).collect::<Vec<_>>(), "{case}");
            }
        }
    }
}
