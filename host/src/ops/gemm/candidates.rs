//! The kernels, for each type of A and B. A new one is a line here: then it is planned with, and tested.

use gpu::gemm::{ffma, plain};
use gpu::skinny;
use half::{bf16, f16};
use simt::global::{MatMut, MatRef, VecMut, VecRef};
use simt::{Kernel, KernelInfo};

use super::Arithmetic;
use super::element::Multiply;

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

/// A kernel, and what its cost depends on.
#[doc(hidden)]
#[derive(Debug)]
pub struct Candidate<T: Multiply> {
    pub(super) program: Program<T>,
    /// The arithmetic that it does.
    pub(super) arithmetic: Arithmetic,
    /// Whether A and B are transposed, where it is written for one layout only.
    pub(super) layout: Option<[bool; 2]>,
    /// Rows and columns of C per block.
    pub(super) tile: [u32; 2],
    /// What it issues of a multiprocessor's 128 `f32` multiply-adds per clock, with one block on it and with more.
    pub(super) share: [f64; 2],
    /// What a block does before its first multiply-add and after its last, in units of k.
    pub(super) lost: f64,
}

/// What a candidate launches.
#[derive(Debug)]
pub(super) enum Program<T: Multiply> {
    /// Everything in one launch.
    Call(&'static Call<T, T::Wide>),
    /// The product alone; what else there is comes after it.
    Product(&'static Product<T>),
}

impl<T: Multiply> Candidate<T> {
    pub(super) fn info(&self) -> &'static KernelInfo {
        match self.program {
            Program::Call(kernel) => kernel.info(),
            Program::Product(kernel) => kernel.info(),
        }
    }
}

/// A kernel for every layout: see `gpu::gemm::plain`. From global memory it issues 5 % of the multiply-adds when eight blocks
/// share a multiprocessor, less when fewer do.
const fn plain<T: Multiply>(kernel: &'static Call<T, T::Wide>, arithmetic: Arithmetic) -> Candidate<T> {
    let program = Program::Call(kernel);
    Candidate { program, arithmetic, layout: None, tile: plain::TILE, share: [0.01, 0.03], lost: 32.0 }
}

/// The shares are the predictions of docs/gemm.md.
const fn product(kernel: &'static Product<f32>, tile: [u32; 2], share: [f64; 2], lost: f64) -> Candidate<f32> {
    let program = Program::Product(kernel);
    Candidate { program, arithmetic: Arithmetic::Full, layout: Some([false, false]), tile, share, lost }
}

/// A kernel that memory bounds: see `gpu::skinny`. A block reads [`skinny::ACROSS`] elements of the large factor for each step of
/// k, and a multiprocessor does 7 multiply-adds in the time of a byte ([`plan`](super::plan)); so much is its share.
/// `speed` is what it gets of the memory's.
const fn streamed<T: Multiply>(kernel: &'static Call<T, T::Wide>, tile: [u32; 2], speed: f64) -> Candidate<T> {
    let per_element = (tile[0] * tile[1] / skinny::ACROSS) as f64;
    let share = speed * per_element / (7.0 * size_of::<T>() as f64);
    let program = Program::Call(kernel);
    Candidate { program, arithmetic: Arithmetic::Full, layout: None, tile, share: [share, share], lost: 64.0 }
}

/// For `f32`; of equally fast ones the first is taken.
pub(super) const F32: &[Candidate<f32>] = &[
    plain(&plain::gemm_plain_f32, Arithmetic::Full),
    plain(&plain::gemm_plain_tf32, Arithmetic::Tf32),
    product(&ffma::gemm_f32_128x256, ffma::TILE_128X256, [0.82, 0.82], 16.0),
    product(&ffma::gemm_f32_256x128, ffma::TILE_256X128, [0.82, 0.82], 16.0),
    product(&ffma::gemm_f32_128x128, ffma::TILE_128X128, [0.55, 0.78], 16.0),
    product(&ffma::gemm_f32_64x64, ffma::TILE_64X64, [0.40, 0.70], 32.0),
    streamed(&skinny::gemm_skinny_f32_4x64, [4, 64], 0.9),
    streamed(&skinny::gemm_skinny_f32_64x4, [64, 4], 0.9),
    streamed(&skinny::gemm_skinny_f32_16x64, [16, 64], 0.8),
    streamed(&skinny::gemm_skinny_f32_64x16, [64, 16], 0.8),
];

/// For `f16`.
pub(super) const F16: &[Candidate<f16>] = &[
    plain(&plain::gemm_plain_f16, Arithmetic::Full),
    streamed(&skinny::gemm_skinny_f16_16x64, [16, 64], 0.9),
    streamed(&skinny::gemm_skinny_f16_64x16, [64, 16], 0.9),
];

/// For `bf16`.
pub(super) const BF16: &[Candidate<bf16>] = &[
    plain(&plain::gemm_plain_bf16, Arithmetic::Full),
    streamed(&skinny::gemm_skinny_bf16_16x64, [16, 64], 0.9),
    streamed(&skinny::gemm_skinny_bf16_64x16, [64, 16], 0.9),
];

/// For `f64`.
pub(super) const F64: &[Candidate<f64>] = &[plain(&plain::gemm_plain_f64, Arithmetic::Full)];
