//! A case: what is done, to what type, in what shape; and the bytes and operations that it needs.

use std::fmt;
use std::str::FromStr;

use anyhow::{Result, bail};

use super::datasheet;

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Work {
    /// y = x.
    Copy,
    /// Nothing but reading x.
    Read,
    /// z = x + y.
    Add,
    /// Σx.
    Sum,
    /// Σx².
    SumSquares,
    /// The largest element.
    Max,
    /// The lowest index of the largest element.
    Argmax,
    /// Σxy.
    Dot,
    /// The sum of each column.
    SumAxis0,
    /// The sum of each row.
    SumAxis1,
    /// The largest element of each column.
    MaxAxis0,
    /// The largest element of each row.
    MaxAxis1,
    /// The sum of each segment of a vector.
    SumSegments,
    /// Aᵀ.
    Transpose,
    /// The dimensions of an array in another order.
    Permute,
    /// A·B.
    Gemm,
    /// `A_g·B_g` for groups g of rows.
    GroupedGemm,
}

impl Work {
    /// Every work, in the order of the tables.
    pub const ALL: [Self; 17] = [
        Self::Copy,
        Self::Read,
        Self::Add,
        Self::Sum,
        Self::SumSquares,
        Self::Max,
        Self::Argmax,
        Self::Dot,
        Self::SumAxis0,
        Self::SumAxis1,
        Self::MaxAxis0,
        Self::MaxAxis1,
        Self::SumSegments,
        Self::Transpose,
        Self::Permute,
        Self::Gemm,
        Self::GroupedGemm,
    ];

    /// Its name in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Copy => "copy",
            Self::Read => "read",
            Self::Add => "add",
            Self::Sum => "sum",
            Self::SumSquares => "sum_squares",
            Self::Max => "max",
            Self::Argmax => "argmax",
            Self::Dot => "dot",
            Self::SumAxis0 => "sum_axis0",
            Self::SumAxis1 => "sum_axis1",
            Self::MaxAxis0 => "max_axis0",
            Self::MaxAxis1 => "max_axis1",
            Self::SumSegments => "sum_segments",
            Self::Transpose => "transpose",
            Self::Permute => "permute",
            Self::Gemm => "gemm",
            Self::GroupedGemm => "grouped_gemm",
        }
    }
}

/// The type of the elements, or, for tf32, how f32 elements are multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dtype {
    /// IEEE single precision.
    F32,
    /// f32 elements, rounded to tf32 when multiplied.
    Tf32,
    /// f32 elements, multiplied as sums of three bf16: `Arithmetic::Bf16x6`. The peers' f32.
    F32Emulated,
    /// IEEE half precision.
    F16,
    /// The upper half of f32.
    Bf16,
    /// IEEE double precision.
    F64,
    /// Signed 32-bit integers; sums wrap.
    I32,
    /// Bytes.
    U8,
    /// Two f64.
    C128,
    /// Signed bytes, whose products are added as `i32`.
    I8,
    /// 8-bit floating point, whose products are added in `f32`; C is `bf16`.
    E4m3,
    /// The same with `Arithmetic::FastAccumulation`.
    E4m3Fast,
    /// The same with factors of blocks: 1 × 128 of A, 128 × 128 of B.
    E4m3Blocks,
}

impl Dtype {
    /// Every type.
    pub const ALL: [Self; 13] = [
        Self::F32,
        Self::Tf32,
        Self::F32Emulated,
        Self::F16,
        Self::Bf16,
        Self::F64,
        Self::I32,
        Self::U8,
        Self::C128,
        Self::I8,
        Self::E4m3,
        Self::E4m3Fast,
        Self::E4m3Blocks,
    ];

    /// Its name in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::Tf32 => "tf32",
            Self::F32Emulated => "f32-emulated",
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::F64 => "f64",
            Self::I32 => "i32",
            Self::U8 => "u8",
            Self::C128 => "c128",
            Self::I8 => "i8",
            Self::E4m3 => "e4m3",
            Self::E4m3Fast => "e4m3-fast",
            Self::E4m3Blocks => "e4m3-blocks",
        }
    }

    /// Bytes of an element.
    pub fn bytes(self) -> usize {
        match self {
            Self::U8 | Self::I8 | Self::E4m3 | Self::E4m3Fast | Self::E4m3Blocks => 1,
            Self::F16 | Self::Bf16 => 2,
            Self::F32 | Self::Tf32 | Self::F32Emulated | Self::I32 => 4,
            Self::F64 => 8,
            Self::C128 => 16,
        }
    }

    /// How elements lie in memory.
    #[must_use]
    pub fn stored(self) -> Self {
        match self {
            Self::Tf32 | Self::F32Emulated => Self::F32,
            Self::E4m3Fast | Self::E4m3Blocks => Self::E4m3,
            other => other,
        }
    }

    /// The type of C in a GEMM.
    #[must_use]
    pub fn product(self) -> Self {
        match self {
            Self::I8 => Self::I32,
            Self::E4m3 | Self::E4m3Fast | Self::E4m3Blocks => Self::Bf16,
            other => other.stored(),
        }
    }

    /// The type of a sum.
    #[must_use]
    pub fn sum(self) -> Self {
        match self {
            Self::F16 | Self::Bf16 | Self::Tf32 | Self::F32Emulated => Self::F32,
            other => other,
        }
    }
}

/// How long the segments of a segmented sum are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lengths {
    /// All the same.
    Equal,
    /// Segment i of s has a share of about 2^-(i mod 16): very different ones side by side.
    Skewed,
    /// One has about half of all elements, the others are the same.
    Giant,
}

/// Extents, as records write them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// `n=1024`, `n=1024 offset=1`: so many elements, the first of them so many after an aligned address.
    Vector {
        /// Elements.
        n: usize,
        /// Elements before the first.
        offset: usize,
    },
    /// `n=1024 segments=16 equal`.
    Segments {
        /// Elements.
        n: usize,
        /// Segments.
        segments: usize,
        /// How long they are.
        lengths: Lengths,
    },
    /// `rows=16 cols=16 ld=16`.
    Matrix {
        /// Rows.
        rows: usize,
        /// Columns.
        cols: usize,
        /// Elements from one row to the next.
        ld: usize,
    },
    /// `dims=2x3x4 order=021`: dimension i of the result is dimension order\[i\] of the source.
    Array {
        /// Extents of the source, the last without gaps.
        dims: Vec<usize>,
        /// The order of the result's dimensions.
        order: Vec<usize>,
    },
    /// `m=16 n=16 k=16 nn batch=1`.
    Gemm {
        /// Rows and columns of the result, and the length of the sums.
        mnk: [usize; 3],
        /// Whether A is stored transposed, and whether B is.
        transposed: [bool; 2],
        /// How many matrices.
        batch: usize,
    },
    /// `groups=128 rows=16..512 n=1536 k=2048 nt`.
    Groups {
        /// Groups, each with a B of its own.
        groups: usize,
        /// The least and the greatest number of rows of a group: see [`group_ends`].
        rows: [usize; 2],
        /// Columns of the result, and the length of the sums.
        nk: [usize; 2],
        /// Whether each B is stored transposed.
        transposed: bool,
    },
}

/// Where each of `groups` groups ends whose numbers of rows are evenly spread from `rows[0]` to `rows[1]`, in an order
/// that is not that of their lengths.
pub fn group_ends(groups: usize, rows: [usize; 2]) -> Vec<u32> {
    let size = |group: usize| rows[0] + group * 7919 % groups * (rows[1] - rows[0]) / (groups - 1).max(1);
    let ends = (0..groups).scan(0, |end, group| {
        *end += size(group) as u32;
        Some(*end)
    });
    ends.collect()
}

/// Rows of all groups.
pub fn group_rows(groups: usize, rows: [usize; 2]) -> usize {
    group_ends(groups, rows).last().map_or(0, |&end| end as usize)
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Vector { n, offset: 0 } => write!(f, "n={n}"),
            Self::Vector { n, offset } => write!(f, "n={n} offset={offset}"),
            Self::Segments { n, segments, lengths } => {
                let lengths = match lengths {
                    Lengths::Equal => "equal",
                    Lengths::Skewed => "skewed",
                    Lengths::Giant => "giant",
                };
                write!(f, "n={n} segments={segments} {lengths}")
            }
            Self::Matrix { rows, cols, ld } => write!(f, "rows={rows} cols={cols} ld={ld}"),
            Self::Array { dims, order } => {
                let dims: Vec<String> = dims.iter().map(ToString::to_string).collect();
                let order: String = order.iter().map(ToString::to_string).collect();
                write!(f, "dims={} order={order}", dims.join("x"))
            }
            Self::Gemm { mnk: [m, n, k], transposed, batch } => {
                let [a, b] = transposed.map(|transposed| if transposed { 't' } else { 'n' });
                write!(f, "m={m} n={n} k={k} {a}{b} batch={batch}")
            }
            Self::Groups { groups, rows: [least, most], nk: [n, k], transposed } => {
                let layout = if *transposed { "nt" } else { "nn" };
                write!(f, "groups={groups} rows={least}..{most} n={n} k={k} {layout}")
            }
        }
    }
}

/// One thing to measure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// What is done.
    pub work: Work,
    /// To what.
    pub dtype: Dtype,
    /// In what shape.
    pub shape: Shape,
    /// Whether `--quick` takes it.
    pub quick: bool,
}

impl Case {
    /// Bytes that must be read or written at least once.
    pub fn bytes(&self) -> f64 {
        let element = self.dtype.bytes() as f64;
        let sum = self.dtype.sum().bytes() as f64;
        match &self.shape {
            Shape::Vector { n, .. } => {
                let vectors = match self.work {
                    Work::Copy | Work::Dot => 2.0,
                    Work::Add => 3.0,
                    _ => 1.0,
                };
                vectors * element * *n as f64
            }
            Shape::Segments { n, segments, .. } => element * *n as f64 + (sum + 8.0) * *segments as f64,
            Shape::Matrix { rows, cols, .. } => {
                let elements = (rows * cols) as f64;
                match self.work {
                    Work::SumAxis0 => element * elements + sum * *cols as f64,
                    Work::SumAxis1 => element * elements + sum * *rows as f64,
                    Work::MaxAxis0 => element * (elements + *cols as f64),
                    Work::MaxAxis1 => element * (elements + *rows as f64),
                    _ => 2.0 * element * elements,
                }
            }
            Shape::Array { dims, .. } => 2.0 * element * dims.iter().product::<usize>() as f64,
            Shape::Gemm { mnk: [m, n, k], batch, .. } => {
                let of_c = self.dtype.product().bytes() as f64;
                (element * (m * k + k * n) as f64 + of_c * (m * n) as f64) * *batch as f64
            }
            Shape::Groups { groups, rows, nk: [n, k], .. } => {
                let m = group_rows(*groups, *rows);
                element * (m * k + groups * k * n + m * n) as f64
            }
        }
    }

    /// Floating-point operations, a multiply-add being two; 0 where there are none to speak of.
    pub fn flops(&self) -> f64 {
        let elements = match &self.shape {
            Shape::Vector { n, .. } | Shape::Segments { n, .. } => *n as f64,
            Shape::Matrix { rows, cols, .. } => (rows * cols) as f64,
            Shape::Array { .. } => 0.0,
            Shape::Gemm { mnk, batch, .. } => mnk.iter().map(|&extent| extent as f64).product::<f64>() * *batch as f64,
            Shape::Groups { groups, rows, nk: [n, k], .. } => (group_rows(*groups, *rows) * n) as f64 * *k as f64,
        };
        match self.work {
            Work::Add | Work::Sum | Work::SumAxis0 | Work::SumAxis1 | Work::SumSegments => elements,
            Work::SumSquares | Work::Dot | Work::Gemm | Work::GroupedGemm => 2.0 * elements,
            Work::Copy
            | Work::Read
            | Work::Max
            | Work::MaxAxis0
            | Work::MaxAxis1
            | Work::Argmax
            | Work::Transpose
            | Work::Permute => 0.0,
        }
    }

    /// Whether a launch takes a good part of its time: at the rates of an H200's datasheet, whatever the GPU, it would
    /// last less than 100 µs.
    pub fn is_short(&self) -> bool {
        let memory = datasheet::memory("h200").map_or(0.0, |rate| self.bytes() / rate);
        let arithmetic = datasheet::operations("h200", self.dtype.name()).map_or(0.0, |rate| self.flops() / rate);
        memory.max(arithmetic) < 100e-6
    }

    /// Whether memory limits it: everything but products of matrices.
    pub fn moves(&self) -> bool {
        !matches!(self.work, Work::Gemm | Work::GroupedGemm)
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{} {}", self.work.name(), self.dtype.name(), self.shape)
    }
}

/// Which cases: `sum`, `sum/f32`, `*/f32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern {
    work: Option<Work>,
    dtype: Option<Dtype>,
}

impl Pattern {
    /// Whether it means this work and type.
    pub fn takes(&self, work: &str, dtype: &str) -> bool {
        self.work.is_none_or(|own| own.name() == work) && self.dtype.is_none_or(|own| own.name() == dtype)
    }
}

impl FromStr for Pattern {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let (work, dtype) = text.split_once('/').unwrap_or((text, "*"));
        let names = |names: &mut dyn Iterator<Item = &'static str>| names.collect::<Vec<_>>().join(", ");
        let work = match work {
            "*" => None,
            name => match Work::ALL.into_iter().find(|work| work.name() == name) {
                Some(work) => Some(work),
                None => {
                    bail!("no work is named `{name}`; there are {}", names(&mut Work::ALL.iter().map(|w| w.name())))
                }
            },
        };
        let dtype = match dtype {
            "*" => None,
            name => match Dtype::ALL.into_iter().find(|dtype| dtype.name() == name) {
                Some(dtype) => Some(dtype),
                None => {
                    bail!("no type is named `{name}`; there are {}", names(&mut Dtype::ALL.iter().map(|d| d.name())))
                }
            },
        };
        Ok(Self { work, dtype })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(work: Work, dtype: Dtype, shape: Shape) -> Case {
        Case { work, dtype, shape, quick: false }
    }

    #[test]
    fn rows_of_groups_are_spread_evenly() {
        assert_eq!((group_ends(2, [3, 3]), group_ends(4, [1, 4])), (vec![3, 6], vec![1, 5, 8, 10]));
    }

    #[test]
    fn shapes_are_written_as_the_records_want_them() {
        let product = Shape::Gemm { mnk: [4096; 3], transposed: [false, true], batch: 1 };
        assert_eq!(product.to_string(), "m=4096 n=4096 k=4096 nt batch=1");
        assert_eq!(Shape::Vector { n: 8, offset: 0 }.to_string(), "n=8");
        assert_eq!(Shape::Vector { n: 8, offset: 1 }.to_string(), "n=8 offset=1");
        let matrix = Shape::Matrix { rows: 2, cols: 3, ld: 4 };
        assert_eq!(matrix.to_string(), "rows=2 cols=3 ld=4");
        let array = Shape::Array { dims: vec![2, 3, 4], order: vec![0, 2, 1] };
        assert_eq!(array.to_string(), "dims=2x3x4 order=021");
    }

    #[test]
    fn bytes_and_operations_follow_from_the_shape() {
        let vector = Shape::Vector { n: 100, offset: 1 };
        assert_eq!(case(Work::Sum, Dtype::F16, vector.clone()).bytes(), 200.0);
        assert_eq!(case(Work::Dot, Dtype::F64, vector.clone()).bytes(), 1600.0);
        assert_eq!(case(Work::Dot, Dtype::F64, vector.clone()).flops(), 200.0);
        assert_eq!(case(Work::Copy, Dtype::U8, vector).bytes(), 200.0);
        let matrix = Shape::Matrix { rows: 10, cols: 20, ld: 32 };
        assert_eq!(case(Work::Transpose, Dtype::C128, matrix.clone()).bytes(), 6400.0);
        assert_eq!(case(Work::SumAxis0, Dtype::F16, matrix).bytes(), 400.0 + 80.0);
        let product = Shape::Gemm { mnk: [2, 3, 5], transposed: [true, false], batch: 4 };
        assert_eq!(case(Work::Gemm, Dtype::Bf16, product.clone()).bytes(), 2.0 * 4.0 * (10.0 + 15.0 + 6.0));
        assert_eq!(case(Work::Gemm, Dtype::Bf16, product).flops(), 240.0);
    }

    #[test]
    fn short_cases_are_those_below_100_us() {
        let gemm = |dtype, mnk| case(Work::Gemm, dtype, Shape::Gemm { mnk, transposed: [false; 2], batch: 1 });
        let sum = |n| case(Work::Sum, Dtype::F32, Shape::Vector { n, offset: 0 });
        for (case, is_short) in [
            // 4 bytes an element, 4.8 TB/s.
            (sum(119_999_999), true),
            (sum(120_000_001), false),
            // 134 MB, and 17 and 137 GFLOP.
            (gemm(Dtype::Bf16, [1, 8192, 8192]), true),
            (gemm(Dtype::Bf16, [2048; 3]), true),
            (gemm(Dtype::Bf16, [4096; 3]), false),
            (gemm(Dtype::F32, [1024; 3]), true),
            (gemm(Dtype::F32, [2048; 3]), false),
        ] {
            assert_eq!(case.is_short(), is_short, "{case}");
        }
    }

    #[test]
    fn patterns_name_work_and_type() {
        let pattern: Pattern = "sum/f32".parse().unwrap();
        assert!(pattern.takes("sum", "f32") && !pattern.takes("sum", "f64") && !pattern.takes("sum_axis0", "f32"));
        assert!("*/f64".parse::<Pattern>().unwrap().takes("gemm", "f64"));
        assert!("gemm".parse::<Pattern>().unwrap().takes("gemm", "bf16"));
        let error = "sums".parse::<Pattern>().unwrap_err().to_string();
        assert!(error.contains("`sums`") && error.contains("sum_segments"), "{error}");
        assert!("sum/f33".parse::<Pattern>().unwrap_err().to_string().contains("bf16"));
    }

    #[test]
    fn names_are_different() {
        let mut names: Vec<&str> = Work::ALL.iter().map(|work| work.name()).collect();
        names.dedup();
        assert_eq!(names.len(), Work::ALL.len());
    }
}
