//! The kernels, for each type of A and B. A new one is a line here: then it is planned with, and tested.

use std::fmt;

use gpu::gemm::{ffma, plain};
use gpu::hopper::ffma as boxed;
use gpu::hopper::gemm::finish::box_rows;
use gpu::hopper::gemm::product::{DEPTH, ROWS};
use gpu::hopper::gemm::{self as hopper};
use gpu::hopper::{Boxed, Shared};
use gpu::hopper::{tf32, wide};
use gpu::skinny;
use gpu::tensor;
use half::{bf16, f16};
use simt::global::{MatMut, MatRef, VecMut, VecRef};
use simt::{Kernel, KernelInfo};

use super::Arithmetic;
use super::element::Multiply;
use super::stored::OperandLayout;
use crate::ops::resident;

/// A kernel that takes the arguments of `gpu::gemm::call`.
pub(super) type Call<T, W> = Kernel<(
    VecRef<'static, T>,
    VecRef<'static, T>,
    VecMut<'static, T>,
    VecMut<'static, W>,
    VecRef<'static, W>,
    [u32; 4],
    [u64; 3],
    [u64; 3],
    [W; 2],
    u32,
)>;
/// A kernel for C = A·B, all three row by row.
pub(super) type Product<T> = Kernel<(MatRef<'static, T>, MatRef<'static, T>, MatMut<'static, T>)>;

/// Bytes of a line of memory.
const LINE: usize = 128;
/// Bytes of the longest access of a thread.
const PIECE: usize = 16;

/// A kernel, and what its cost depends on.
#[doc(hidden)]
#[derive(Debug)]
pub struct Candidate<T: Multiply> {
    pub(super) program: Program<T>,
    /// The arithmetic that it does.
    pub(super) arithmetic: Arithmetic,
    /// Whether A and B are transposed, where it is written for one layout only.
    pub(super) layout: Option<[bool; 2]>,
    pub(super) speed: &'static Speed,
    /// Whether each sum is one chain of fused multiply-adds in order of k.
    pub(super) is_chain: bool,
}

/// What a candidate launches.
pub(super) enum Program<T: Multiply> {
    /// Everything in one launch.
    Call(&'static Call<T, T::Wide>),
    /// Everything in one launch, of operands that the copy engine can fetch.
    Boxed(&'static Boxed<T, T::Wide>, BoxKind),
    /// The same, and tiles that fill no wave of blocks can be shared among them along k.
    Shared(&'static Shared<T, T::Wide>, BoxKind),
    /// The product alone; what else there is comes after it.
    Product(&'static Product<T>),
}

/// The boxes that a kernel has its operands come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BoxKind {
    /// 128 bytes of each row in memory, swizzled: as tensor cores read them. C leaves in such boxes, too. A block per
    /// multiprocessor goes from tile to tile.
    Swizzled,
    /// The same with B in boxes as high as wide, since tiles have two widths: `gpu::hopper::wide::tiles`.
    Mixed,
    /// Of an operand whose rows in memory go across k so many of them, in order, each as long as the tile is high or wide; of one whose
    /// rows go along k 128 bytes of each, swizzled. Threads write C. There is a block for each tile, unless tiles are shared.
    Lines(u32),
}

impl<T: Multiply> Program<T> {
    fn info(&self) -> &'static KernelInfo {
        match self {
            Self::Call(kernel) => kernel.info(),
            Self::Boxed(kernel, _) => kernel.info(),
            Self::Shared(kernel, _) => kernel.info(),
            Self::Product(kernel) => kernel.info(),
        }
    }

    /// The boxes in which operands come, if they do.
    pub(super) fn boxes(&self) -> Option<BoxKind> {
        match self {
            Self::Boxed(_, kind) | Self::Shared(_, kind) => Some(*kind),
            Self::Call(_) | Self::Product(_) => None,
        }
    }
}

impl<T: Multiply> fmt::Debug for Program<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.info().name)
    }
}

impl<T: Multiply> Candidate<T> {
    pub(super) fn info(&self) -> &'static KernelInfo {
        self.program.info()
    }

    /// Its share where its operands lie like this and a multiprocessor has so many blocks: at once, or one after the other if it has no more
    /// than one at once.
    pub(super) fn share(&self, operands: [OperandLayout; 2], blocks: f64) -> f64 {
        let line = if self.program.boxes().is_some() { LINE } else { PIECE };
        let astray =
            |operand: OperandLayout| !(operand.ld * size_of::<T>()).is_multiple_of(line) && operand.lines()[0] > 1;
        let ([one, more], most) = (self.speed.share, f64::from(self.beside()));
        let share = if most > 1.0 {
            one + (more - one) * (blocks.clamp(1.0, most) - 1.0) / (most - 1.0)
        } else if blocks > 1.0 {
            more
        } else {
            one
        };
        if operands.into_iter().any(astray) { share * self.speed.astray } else { share }
    }

    /// How long so many blocks keep a multiprocessor, where one alone at full speed takes 1: rounds of as many as it has at once, and then
    /// those that are left, which are fewer and no faster for it than their share.
    pub(super) fn rounds(&self, operands: [OperandLayout; 2], blocks: f64) -> f64 {
        let most = f64::from(self.beside());
        if most <= 1.0 {
            return blocks / self.share(operands, blocks);
        }
        let left = blocks % most;
        (blocks - left) / self.share(operands, most) + left / self.share(operands, left)
    }

    /// Blocks that have a tile together.
    pub(super) fn cluster(&self) -> u32 {
        self.info().cluster
    }

    /// Clusters of its blocks that run at the same time on so many multiprocessors, one block on each. These come in groups of 16
    /// or 18 or less, and a cluster is in one group: on an H200, 28 clusters of four run together, and 32 do not.
    pub(super) fn places(&self, sm_count: u32) -> u32 {
        let all = sm_count / self.cluster();
        (if self.cluster() > 2 { all * 7 / 8 } else { all }).max(1)
    }

    /// Clusters of its blocks that run at the same time on so many multiprocessors.
    pub(super) fn at_once(&self, sm_count: u32) -> u32 {
        self.places(sm_count) * self.beside()
    }

    /// Blocks that have a multiprocessor together.
    pub(super) fn beside(&self) -> u32 {
        resident(self.info())
    }

    /// Elements along k of the steps that its tiles are shared by.
    pub(super) fn depth(&self) -> u32 {
        match self.program.boxes() {
            Some(BoxKind::Lines(depth)) => depth,
            _ => DEPTH,
        }
    }

    /// Rows of the boxes, 64 columns wide, in which the copy engine writes C, if it can.
    pub(super) fn rows_written(&self) -> Option<u32> {
        let [rows, cols] = self.speed.tile;
        match self.program.boxes()? {
            BoxKind::Swizzled | BoxKind::Mixed if cols.is_multiple_of(64) => box_rows(rows),
            _ => None,
        }
    }
}

/// How a kernel goes about its work, and how fast.
#[derive(Debug)]
pub(super) struct Speed {
    /// Rows and columns of C per block, or per cluster of blocks.
    pub(super) tile: [u32; 2],
    /// Parts of a split along k are multiples of this long, so that they begin as aligned as the operands do and end with a
    /// whole step.
    pub(super) part: usize,
    /// What it issues of a multiprocessor's 128 `f32` multiply-adds per clock, with one block on it and with as many as it has at once, or,
    /// if that is one, with several one after the other. Tensor cores
    /// give more than 1: Hopper's 2048 multiply-adds of 16 bits a clock are 16. Where tiles have two widths: in narrow ones, and in wide
    /// ones.
    pub(super) share: [f64; 2],
    /// What is left of that where lines of an operand are no multiples of 128 bytes apart, so that what is fetched of each lies in two
    /// lines of memory; of kernels whose threads fetch, no multiples of 16, so that they do it in smaller pieces.
    pub(super) astray: f64,
    /// What a block does before its first multiply-add and after its last, in units of k: where C is the rounded product, and
    /// where something is done to it or it is of another type.
    pub(super) lost: [f64; 2],
}

// Measured on an H200 (docs/gemm.md), that of `PLAIN` predicted.

/// From global memory it issues 5 % of the multiply-adds when eight blocks share a multiprocessor, less when fewer do.
const PLAIN: Speed = Speed { tile: plain::TILE, part: 16, share: [0.01, 0.03], astray: 1.0, lost: [32.0, 32.0] };
const FFMA_128X256: Speed =
    Speed { tile: ffma::TILE_128X256, part: 16, share: [0.72, 0.72], astray: 0.93, lost: [16.0, 16.0] };
const FFMA_256X128: Speed =
    Speed { tile: ffma::TILE_256X128, part: 16, share: [0.72, 0.72], astray: 0.93, lost: [16.0, 16.0] };
const FFMA_128X128: Speed =
    Speed { tile: ffma::TILE_128X128, part: 16, share: [0.40, 0.67], astray: 0.93, lost: [4.0, 4.0] };
const FFMA_64X64: Speed =
    Speed { tile: ffma::TILE_64X64, part: 16, share: [0.36, 0.54], astray: 0.93, lost: [32.0, 32.0] };
const BOXED_128X128: Speed = Speed { tile: [128, 128], part: 32, share: [0.40, 0.79], astray: 1.0, lost: [15.0, 15.0] };
const BOXED_64X64: Speed = Speed { tile: [64, 64], part: 32, share: [0.33, 0.70], astray: 1.0, lost: [15.0, 15.0] };
const BOXED_64X32: Speed = Speed { tile: [64, 32], part: 64, share: [0.43, 0.63], astray: 1.0, lost: [40.0, 40.0] };
const GROUPED_128X64: Speed = Speed { tile: [128, 64], part: 32, share: [0.69, 0.67], astray: 1.0, lost: [40.0, 40.0] };
const GROUPED_32X64: Speed = Speed { tile: [32, 64], part: 32, share: [0.62, 0.58], astray: 1.0, lost: [120.0, 120.0] };
const MMA_128X256: Speed = Speed { tile: [128, 256], part: 32, share: [6.4, 6.4], astray: 0.15, lost: [60.0, 250.0] };
const MMA_64X64: Speed = Speed { tile: [64, 64], part: 32, share: [2.6, 4.4], astray: 0.2, lost: [200.0, 350.0] };
const TF32_128X128: Speed = Speed { tile: [128, 128], part: 16, share: [1.2, 1.2], astray: 0.4, lost: [100.0, 100.0] };
const TF32_64X64: Speed = Speed { tile: [64, 64], part: 16, share: [0.6, 1.0], astray: 0.4, lost: [130.0, 130.0] };
const HOPPER_256: Speed =
    Speed { tile: [2 * ROWS, 256], part: 64, share: [11.0, 11.0], astray: 0.8, lost: [80.0, 700.0] };
const HOPPER_256X192: Speed = Speed {
    tile: [wide::tiles::ROWS, wide::tiles::WIDE],
    part: 64,
    share: [10.8, 11.4],
    astray: 0.86,
    lost: [85.0, 700.0],
};
const HOPPER_128: Speed =
    Speed { tile: [2 * ROWS, 128], part: 64, share: [12.0, 10.4], astray: 0.6, lost: [160.0, 500.0] };
const HOPPER_64X128: Speed = Speed { tile: [ROWS, 128], part: 64, share: [9.9, 7.8], astray: 0.5, lost: [60.0, 300.0] };
const HOPPER_64X64: Speed = Speed { tile: [ROWS, 64], part: 64, share: [8.2, 4.65], astray: 0.5, lost: [40.0, 200.0] };
/// Of two multiprocessors, as the next.
const HOPPER_2X128X256: Speed =
    Speed { tile: [4 * ROWS, 256], part: 64, share: [21.6, 21.6], astray: 0.94, lost: [100.0, 700.0] };
const HOPPER_2X64X128: Speed =
    Speed { tile: [2 * ROWS, 128], part: 64, share: [17.5, 13.5], astray: 0.75, lost: [70.0, 270.0] };
/// Of four multiprocessors. For rows that are no multiples of 128 bytes: each fetches but a quarter of what all read of A.
const HOPPER_4X144X64: Speed =
    Speed { tile: [144, 4 * ROWS], part: 64, share: [36.0, 36.0], astray: 1.0, lost: [100.0, 770.0] };
const HOPPER_16X64: Speed =
    Speed { tile: [16, ROWS], part: 64, share: [2.55, 1.45], astray: 0.6, lost: [300.0, 300.0] };
const HOPPER_64X16: Speed = Speed { tile: [ROWS, 16], part: 64, share: [2.6, 1.45], astray: 0.6, lost: [500.0, 500.0] };
const HOPPER_136X128: Speed =
    Speed { tile: [136, 2 * ROWS], part: 64, share: [9.8, 9.8], astray: 0.6, lost: [400.0, 400.0] };
const HOPPER_128X136: Speed =
    Speed { tile: [2 * ROWS, 136], part: 64, share: [9.7, 9.7], astray: 0.6, lost: [400.0, 400.0] };
const HOPPER_TF32_256: Speed =
    Speed { tile: [tf32::product::ROWS, 256], part: 32, share: [5.95, 5.95], astray: 1.0, lost: [70.0, 230.0] };
/// Tiles of a C that is computed as Cᵀ.
const HOPPER_TF32_256_T: Speed = Speed { tile: [256, tf32::product::ROWS], ..HOPPER_TF32_256 };
const HOPPER_TF32_128: Speed =
    Speed { tile: [tf32::product::ROWS, 128], part: 32, share: [5.35, 5.35], astray: 1.0, lost: [70.0, 180.0] };
const HOPPER_TF32_64: Speed =
    Speed { tile: [tf32::product::ROWS, 64], part: 32, share: [3.8, 3.8], astray: 1.0, lost: [40.0, 120.0] };
const HOPPER_TF32_64_T: Speed = Speed { tile: [64, tf32::product::ROWS], ..HOPPER_TF32_64 };
const SKINNY_F32_4X64: Speed =
    Speed { tile: [4, 64], part: 16, share: [0.12, 0.11], astray: 0.7, lost: [160.0, 160.0] };
const SKINNY_F32_64X4: Speed =
    Speed { tile: [64, 4], part: 16, share: [0.12, 0.11], astray: 0.7, lost: [160.0, 160.0] };
const SKINNY_F32_16X64: Speed =
    Speed { tile: [16, 64], part: 16, share: [0.22, 0.25], astray: 0.65, lost: [64.0, 64.0] };
const SKINNY_F32_64X16: Speed =
    Speed { tile: [64, 16], part: 16, share: [0.21, 0.21], astray: 0.65, lost: [64.0, 64.0] };
const SKINNY_HALF_16X64: Speed =
    Speed { tile: [16, 64], part: 16, share: [0.67, 0.70], astray: 0.6, lost: [64.0, 64.0] };
const SKINNY_HALF_64X16: Speed =
    Speed { tile: [64, 16], part: 16, share: [0.41, 0.41], astray: 0.5, lost: [64.0, 64.0] };

/// A kernel for every layout: see `gpu::gemm::plain`.
const fn plain<T: Multiply>(kernel: &'static Call<T, T::Wide>, arithmetic: Arithmetic) -> Candidate<T> {
    Candidate { program: Program::Call(kernel), arithmetic, layout: None, speed: &PLAIN, is_chain: true }
}

/// A kernel for A·B of `f32`.
const fn product(kernel: &'static Product<f32>, speed: &'static Speed) -> Candidate<f32> {
    let program = Program::Product(kernel);
    Candidate { program, arithmetic: Arithmetic::Full, layout: Some([false, false]), speed, is_chain: true }
}

/// The four layouts of a kernel.
const NN: [bool; 2] = [false, false];
const NT: [bool; 2] = [false, true];
const TN: [bool; 2] = [true, false];
const TT: [bool; 2] = [true, true];

/// A kernel by `mma.sync`: see `gpu::tensor`.
const fn mma<T: Multiply>(
    kernel: &'static Call<T, T::Wide>,
    layout: [bool; 2],
    arithmetic: Arithmetic,
    speed: &'static Speed,
) -> Candidate<T> {
    Candidate { program: Program::Call(kernel), arithmetic, layout: Some(layout), speed, is_chain: false }
}

/// A kernel by `wgmma`: see `gpu::hopper`.
const fn wgmma<T: Multiply>(
    kernel: &'static Boxed<T, T::Wide>,
    layout: [bool; 2],
    arithmetic: Arithmetic,
    speed: &'static Speed,
) -> Candidate<T> {
    let program = Program::Boxed(kernel, BoxKind::Swizzled);
    Candidate { program, arithmetic, layout: Some(layout), speed, is_chain: false }
}

/// A kernel by multiply-adds of what the copy engine brings, A as k × m and B as k × n: see `gpu::hopper::ffma`.
const fn boxed_ffma(kernel: &'static Shared<f32, f32>, depth: u32, speed: &'static Speed) -> Candidate<f32> {
    let program = Program::Shared(kernel, BoxKind::Lines(depth));
    Candidate { program, arithmetic: Arithmetic::Full, layout: Some(TN), speed, is_chain: true }
}

/// The same for A and B that lie in one of four ways, its sums no chains: see `gpu::hopper::ffma::grouped`.
const fn grouped(kernel: &'static Boxed<f32, f32>, layout: [bool; 2], speed: &'static Speed) -> Candidate<f32> {
    let program = Program::Boxed(kernel, BoxKind::Lines(boxed::grouped::product::DEPTH));
    Candidate { program, arithmetic: Arithmetic::Full, layout: Some(layout), speed, is_chain: false }
}

/// A kernel by `wgmma` whose blocks may share tiles: see `gpu::hopper::gemm`.
const fn shared<T: Multiply>(
    kernel: &'static Shared<T, T::Wide>,
    layout: [bool; 2],
    speed: &'static Speed,
) -> Candidate<T> {
    let program = Program::Shared(kernel, BoxKind::Swizzled);
    Candidate { program, arithmetic: Arithmetic::Full, layout: Some(layout), speed, is_chain: false }
}

/// A kernel by `wgmma` with tiles of two widths: see `gpu::hopper::wide`.
const fn mixed<T: Multiply>(
    kernel: &'static Boxed<T, T::Wide>,
    layout: [bool; 2],
    speed: &'static Speed,
) -> Candidate<T> {
    let program = Program::Boxed(kernel, BoxKind::Mixed);
    Candidate { program, arithmetic: Arithmetic::Full, layout: Some(layout), speed, is_chain: false }
}

/// A kernel that memory bounds: see `gpu::skinny`.
const fn streamed<T: Multiply>(kernel: &'static Call<T, T::Wide>, speed: &'static Speed) -> Candidate<T> {
    Candidate { program: Program::Call(kernel), arithmetic: Arithmetic::Full, layout: None, speed, is_chain: false }
}

/// For `f32`; of equally fast ones the first is taken.
pub(super) const F32: &[Candidate<f32>] = &[
    plain(&plain::gemm_plain_f32, Arithmetic::Full),
    plain(&plain::gemm_plain_tf32, Arithmetic::Tf32),
    product(&ffma::gemm_f32_128x256, &FFMA_128X256),
    product(&ffma::gemm_f32_256x128, &FFMA_256X128),
    product(&ffma::gemm_f32_128x128, &FFMA_128X128),
    product(&ffma::gemm_f32_64x64, &FFMA_64X64),
    boxed_ffma(&boxed::gemm_hopper_f32_tn_128x128, 32, &BOXED_128X128),
    boxed_ffma(&boxed::gemm_hopper_f32_tn_64x64, 32, &BOXED_64X64),
    boxed_ffma(&boxed::gemm_hopper_f32_tn_64x32, 64, &BOXED_64X32),
    grouped(&boxed::grouped::gemm_hopper_f32_nn_128x64_k4, NN, &GROUPED_128X64),
    grouped(&boxed::grouped::gemm_hopper_f32_nt_128x64_k4, NT, &GROUPED_128X64),
    grouped(&boxed::grouped::gemm_hopper_f32_tn_128x64_k4, TN, &GROUPED_128X64),
    grouped(&boxed::grouped::gemm_hopper_f32_tt_128x64_k4, TT, &GROUPED_128X64),
    grouped(&boxed::grouped::gemm_hopper_f32_nn_32x64_k8, NN, &GROUPED_32X64),
    grouped(&boxed::grouped::gemm_hopper_f32_nt_32x64_k8, NT, &GROUPED_32X64),
    grouped(&boxed::grouped::gemm_hopper_f32_tn_32x64_k8, TN, &GROUPED_32X64),
    grouped(&boxed::grouped::gemm_hopper_f32_tt_32x64_k8, TT, &GROUPED_32X64),
    mma(&tensor::gemm_tf32_128x128_nn, NN, Arithmetic::Tf32, &TF32_128X128),
    mma(&tensor::gemm_tf32_128x128_nt, NT, Arithmetic::Tf32, &TF32_128X128),
    mma(&tensor::gemm_tf32_128x128_tn, TN, Arithmetic::Tf32, &TF32_128X128),
    mma(&tensor::gemm_tf32_128x128_tt, TT, Arithmetic::Tf32, &TF32_128X128),
    mma(&tensor::gemm_tf32_64x64_nn, NN, Arithmetic::Tf32, &TF32_64X64),
    mma(&tensor::gemm_tf32_64x64_nt, NT, Arithmetic::Tf32, &TF32_64X64),
    mma(&tensor::gemm_tf32_64x64_tn, TN, Arithmetic::Tf32, &TF32_64X64),
    mma(&tensor::gemm_tf32_64x64_tt, TT, Arithmetic::Tf32, &TF32_64X64),
    wgmma(&tf32::gemm_hopper_tf32_nn_256, NN, Arithmetic::Tf32, &HOPPER_TF32_256_T),
    wgmma(&tf32::gemm_hopper_tf32_nt_256, NT, Arithmetic::Tf32, &HOPPER_TF32_256),
    wgmma(&tf32::gemm_hopper_tf32_tt_256, TT, Arithmetic::Tf32, &HOPPER_TF32_256),
    wgmma(&tf32::gemm_hopper_tf32_nn_128, NN, Arithmetic::Tf32, &HOPPER_TF32_128),
    wgmma(&tf32::gemm_hopper_tf32_nt_128, NT, Arithmetic::Tf32, &HOPPER_TF32_128),
    wgmma(&tf32::gemm_hopper_tf32_tt_128, TT, Arithmetic::Tf32, &HOPPER_TF32_128),
    wgmma(&tf32::gemm_hopper_tf32_nn_64, NN, Arithmetic::Tf32, &HOPPER_TF32_64_T),
    wgmma(&tf32::gemm_hopper_tf32_nt_64, NT, Arithmetic::Tf32, &HOPPER_TF32_64),
    wgmma(&tf32::gemm_hopper_tf32_tt_64, TT, Arithmetic::Tf32, &HOPPER_TF32_64),
    streamed(&skinny::gemm_skinny_f32_4x64, &SKINNY_F32_4X64),
    streamed(&skinny::gemm_skinny_f32_64x4, &SKINNY_F32_64X4),
    streamed(&skinny::gemm_skinny_f32_16x64, &SKINNY_F32_16X64),
    streamed(&skinny::gemm_skinny_f32_64x16, &SKINNY_F32_64X16),
];

/// For `f16`. Where memory bounds several, those that are least wide come first.
pub(super) const F16: &[Candidate<f16>] = &[
    plain(&plain::gemm_plain_f16, Arithmetic::Full),
    mma(&tensor::gemm_f16_128x256_nn, NN, Arithmetic::Full, &MMA_128X256),
    mma(&tensor::gemm_f16_128x256_nt, NT, Arithmetic::Full, &MMA_128X256),
    mma(&tensor::gemm_f16_128x256_tn, TN, Arithmetic::Full, &MMA_128X256),
    mma(&tensor::gemm_f16_128x256_tt, TT, Arithmetic::Full, &MMA_128X256),
    mma(&tensor::gemm_f16_64x64_nn, NN, Arithmetic::Full, &MMA_64X64),
    mma(&tensor::gemm_f16_64x64_nt, NT, Arithmetic::Full, &MMA_64X64),
    mma(&tensor::gemm_f16_64x64_tn, TN, Arithmetic::Full, &MMA_64X64),
    mma(&tensor::gemm_f16_64x64_tt, TT, Arithmetic::Full, &MMA_64X64),
    shared(&hopper::gemm_hopper_f16_nn_16x64, NN, &HOPPER_16X64),
    shared(&hopper::gemm_hopper_f16_nt_16x64, NT, &HOPPER_16X64),
    shared(&hopper::gemm_hopper_f16_nt_64x16, NT, &HOPPER_64X16),
    shared(&hopper::gemm_hopper_f16_tt_64x16, TT, &HOPPER_64X16),
    shared(&hopper::gemm_hopper_f16_nn_256, NN, &HOPPER_256),
    shared(&hopper::gemm_hopper_f16_nt_256, NT, &HOPPER_256),
    shared(&hopper::gemm_hopper_f16_tn_256, TN, &HOPPER_256),
    shared(&hopper::gemm_hopper_f16_tt_256, TT, &HOPPER_256),
    mixed(&wide::gemm_hopper_f16_nn_256x192, NN, &HOPPER_256X192),
    mixed(&wide::gemm_hopper_f16_nt_256x192, NT, &HOPPER_256X192),
    mixed(&wide::gemm_hopper_f16_tn_256x192, TN, &HOPPER_256X192),
    mixed(&wide::gemm_hopper_f16_tt_256x192, TT, &HOPPER_256X192),
    shared(&hopper::gemm_hopper_f16_nn_128, NN, &HOPPER_128),
    shared(&hopper::gemm_hopper_f16_nt_128, NT, &HOPPER_128),
    shared(&hopper::gemm_hopper_f16_tn_128, TN, &HOPPER_128),
    shared(&hopper::gemm_hopper_f16_tt_128, TT, &HOPPER_128),
    shared(&hopper::gemm_hopper_f16_nn_136x128, NN, &HOPPER_136X128),
    shared(&hopper::gemm_hopper_f16_nt_136x128, NT, &HOPPER_136X128),
    shared(&hopper::gemm_hopper_f16_nt_128x136, NT, &HOPPER_128X136),
    shared(&hopper::gemm_hopper_f16_tt_128x136, TT, &HOPPER_128X136),
    shared(&hopper::gemm_hopper_f16_nn_2x128x256, NN, &HOPPER_2X128X256),
    shared(&hopper::gemm_hopper_f16_nt_2x128x256, NT, &HOPPER_2X128X256),
    shared(&hopper::gemm_hopper_f16_tn_2x128x256, TN, &HOPPER_2X128X256),
    shared(&hopper::gemm_hopper_f16_tt_2x128x256, TT, &HOPPER_2X128X256),
    shared(&hopper::gemm_hopper_f16_nn_4x144x64, NN, &HOPPER_4X144X64),
    shared(&hopper::gemm_hopper_f16_nt_4x144x64, NT, &HOPPER_4X144X64),
    shared(&hopper::gemm_hopper_f16_nn_2x64x128, NN, &HOPPER_2X64X128),
    shared(&hopper::gemm_hopper_f16_nt_2x64x128, NT, &HOPPER_2X64X128),
    shared(&hopper::gemm_hopper_f16_tn_2x64x128, TN, &HOPPER_2X64X128),
    shared(&hopper::gemm_hopper_f16_tt_2x64x128, TT, &HOPPER_2X64X128),
    shared(&hopper::gemm_hopper_f16_nn_64x128, NN, &HOPPER_64X128),
    shared(&hopper::gemm_hopper_f16_nt_64x128, NT, &HOPPER_64X128),
    shared(&hopper::gemm_hopper_f16_tn_64x128, TN, &HOPPER_64X128),
    shared(&hopper::gemm_hopper_f16_tt_64x128, TT, &HOPPER_64X128),
    shared(&hopper::gemm_hopper_f16_nn_64x64, NN, &HOPPER_64X64),
    shared(&hopper::gemm_hopper_f16_nt_64x64, NT, &HOPPER_64X64),
    shared(&hopper::gemm_hopper_f16_tn_64x64, TN, &HOPPER_64X64),
    shared(&hopper::gemm_hopper_f16_tt_64x64, TT, &HOPPER_64X64),
    streamed(&skinny::gemm_skinny_f16_16x64, &SKINNY_HALF_16X64),
    streamed(&skinny::gemm_skinny_f16_64x16, &SKINNY_HALF_64X16),
];

/// For `bf16`.
pub(super) const BF16: &[Candidate<bf16>] = &[
    plain(&plain::gemm_plain_bf16, Arithmetic::Full),
    mma(&tensor::gemm_bf16_128x256_nn, NN, Arithmetic::Full, &MMA_128X256),
    mma(&tensor::gemm_bf16_128x256_nt, NT, Arithmetic::Full, &MMA_128X256),
    mma(&tensor::gemm_bf16_128x256_tn, TN, Arithmetic::Full, &MMA_128X256),
    mma(&tensor::gemm_bf16_128x256_tt, TT, Arithmetic::Full, &MMA_128X256),
    mma(&tensor::gemm_bf16_64x64_nn, NN, Arithmetic::Full, &MMA_64X64),
    mma(&tensor::gemm_bf16_64x64_nt, NT, Arithmetic::Full, &MMA_64X64),
    mma(&tensor::gemm_bf16_64x64_tn, TN, Arithmetic::Full, &MMA_64X64),
    mma(&tensor::gemm_bf16_64x64_tt, TT, Arithmetic::Full, &MMA_64X64),
    shared(&hopper::gemm_hopper_bf16_nn_16x64, NN, &HOPPER_16X64),
    shared(&hopper::gemm_hopper_bf16_nt_16x64, NT, &HOPPER_16X64),
    shared(&hopper::gemm_hopper_bf16_nt_64x16, NT, &HOPPER_64X16),
    shared(&hopper::gemm_hopper_bf16_tt_64x16, TT, &HOPPER_64X16),
    shared(&hopper::gemm_hopper_bf16_nn_256, NN, &HOPPER_256),
    shared(&hopper::gemm_hopper_bf16_nt_256, NT, &HOPPER_256),
    shared(&hopper::gemm_hopper_bf16_tn_256, TN, &HOPPER_256),
    shared(&hopper::gemm_hopper_bf16_tt_256, TT, &HOPPER_256),
    mixed(&wide::gemm_hopper_bf16_nn_256x192, NN, &HOPPER_256X192),
    mixed(&wide::gemm_hopper_bf16_nt_256x192, NT, &HOPPER_256X192),
    mixed(&wide::gemm_hopper_bf16_tn_256x192, TN, &HOPPER_256X192),
    mixed(&wide::gemm_hopper_bf16_tt_256x192, TT, &HOPPER_256X192),
    shared(&hopper::gemm_hopper_bf16_nn_128, NN, &HOPPER_128),
    shared(&hopper::gemm_hopper_bf16_nt_128, NT, &HOPPER_128),
    shared(&hopper::gemm_hopper_bf16_tn_128, TN, &HOPPER_128),
    shared(&hopper::gemm_hopper_bf16_tt_128, TT, &HOPPER_128),
    shared(&hopper::gemm_hopper_bf16_nn_136x128, NN, &HOPPER_136X128),
    shared(&hopper::gemm_hopper_bf16_nt_136x128, NT, &HOPPER_136X128),
    shared(&hopper::gemm_hopper_bf16_nt_128x136, NT, &HOPPER_128X136),
    shared(&hopper::gemm_hopper_bf16_tt_128x136, TT, &HOPPER_128X136),
    shared(&hopper::gemm_hopper_bf16_nn_2x128x256, NN, &HOPPER_2X128X256),
    shared(&hopper::gemm_hopper_bf16_nt_2x128x256, NT, &HOPPER_2X128X256),
    shared(&hopper::gemm_hopper_bf16_tn_2x128x256, TN, &HOPPER_2X128X256),
    shared(&hopper::gemm_hopper_bf16_tt_2x128x256, TT, &HOPPER_2X128X256),
    shared(&hopper::gemm_hopper_bf16_nn_4x144x64, NN, &HOPPER_4X144X64),
    shared(&hopper::gemm_hopper_bf16_nt_4x144x64, NT, &HOPPER_4X144X64),
    shared(&hopper::gemm_hopper_bf16_nn_2x64x128, NN, &HOPPER_2X64X128),
    shared(&hopper::gemm_hopper_bf16_nt_2x64x128, NT, &HOPPER_2X64X128),
    shared(&hopper::gemm_hopper_bf16_tn_2x64x128, TN, &HOPPER_2X64X128),
    shared(&hopper::gemm_hopper_bf16_tt_2x64x128, TT, &HOPPER_2X64X128),
    shared(&hopper::gemm_hopper_bf16_nn_64x128, NN, &HOPPER_64X128),
    shared(&hopper::gemm_hopper_bf16_nt_64x128, NT, &HOPPER_64X128),
    shared(&hopper::gemm_hopper_bf16_tn_64x128, TN, &HOPPER_64X128),
    shared(&hopper::gemm_hopper_bf16_tt_64x128, TT, &HOPPER_64X128),
    shared(&hopper::gemm_hopper_bf16_nn_64x64, NN, &HOPPER_64X64),
    shared(&hopper::gemm_hopper_bf16_nt_64x64, NT, &HOPPER_64X64),
    shared(&hopper::gemm_hopper_bf16_tn_64x64, TN, &HOPPER_64X64),
    shared(&hopper::gemm_hopper_bf16_tt_64x64, TT, &HOPPER_64X64),
    streamed(&skinny::gemm_skinny_bf16_16x64, &SKINNY_HALF_16X64),
    streamed(&skinny::gemm_skinny_bf16_64x16, &SKINNY_HALF_64X16),
];

/// For `f64`.
pub(super) const F64: &[Candidate<f64>] = &[plain(&plain::gemm_plain_f64, Arithmetic::Full)];
