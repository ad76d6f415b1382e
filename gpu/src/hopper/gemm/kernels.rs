//! The kernels: a product for each type, layout and width of the tiles.

#![allow(clippy::too_many_arguments, reason = "the arguments of a product: `gemm::call`")]

use half::{bf16, f16};
use simt::prelude::*;
use simt::tma::{TensorMap, TensorMapMut};

use super::finish::{Finish, box_rows};
use super::parts::Parts;
use super::product::{Stages, product, threads};

/// Stages of the ring where tiles are 256 wide.
pub const STAGES_256: usize = 4;
/// Stages of the ring where tiles are 128 wide.
pub const STAGES_128: usize = 6;

/// Stages of the ring where tiles are 136 wide.
pub const STAGES_136: usize = 5;
/// Stages of the ring where tiles are 144 wide.
pub const STAGES_144: usize = 7;
/// Stages of the ring where tiles are 16 wide: 10 KiB each, of which enough are under way to keep memory busy.
pub const STAGES_16: usize = 16;
/// Stages of the ring where tiles are 64 high: all that there is room for, for as many steps are soon under way.
pub const STAGES_64: usize = 8;

/// Registers of a thread: a third of what there is where two warpgroups multiply, who then take some from the one that loads; else
/// what the sums, and as many loads of sums handed on, want.
const fn registers(groups: u32, cols: usize) -> u32 {
    match (groups, cols) {
        (1, 16) => 96,
        (1, _) => 192,
        _ => 168,
    }
}

/// Barriers in the code: the ring's, those of a launch, two on the long way to C, and two for each box on the short one.
const fn barriers(cols: usize, across: bool) -> u32 {
    let cols = cols as u32;
    match box_rows(cols) {
        Some(rows) if across || rows == 64 => 5 + 2 * (cols / rows),
        _ => 5,
    }
}

/// `name: type, blocks of a cluster, warpgroups × width, stages, [op(A) is Aᵀ] step and box of A, [op(B) is B] step and box of B;`
/// where Cᵀ is computed, that of [`product`]'s A and B, which are op(B)ᵀ and op(A)ᵀ, and `across`.
macro_rules! kernels {
    ($($(#[$doc:meta])+ $name:ident: $t:ident, $cluster:literal, $groups:literal x $cols:literal, $stages:ident,
        [$ta:literal $sa:literal $ba:literal], [$tb:literal $sb:literal $bb:literal] $($across:ident)?;)+) => {
        $(
            $(#[$doc])+
            #[kernel(
                pdl,
                block = (threads($groups)),
                min_blocks = 1,
                cluster = $cluster,
                registers = registers($groups, $cols),
                barriers = barriers($cols, kernels!(@is $($across)?)),
                traps = 1
            )]
            pub fn $name(
                #[shared] stages: &Stages<$t, { $groups * 64 * 64 * $stages }, { $cols * 64 * $stages }, $stages>,
                a: &TensorMap<$t>,
                b: &TensorMap<$t>,
                stored: &TensorMapMut<$t>,
                c: VecMut<$t>,
                wide: VecMut<f32>,
                bias: VecRef<f32>,
                extents: [u32; 4],
                batches: [u32; 2],
                strides: [u64; 2],
                scale: [f32; 2],
                flags: u32,
                shared: u32,
                sums: VecMut<f32>,
                up: VecMut<u64>,
                token: u64,
            ) {
                let how = Finish { c, wide, bias, strides, scale, flags };
                let parts = Parts { sums, flags: up, token, steps: 0 };
                kernels!(@turned [a b extents batches] $($across)?);
                product::<
                    $t, $groups, $cluster, { kernels!(@is $($across)?) }, $cols, _, _, _, { $stages as u32 },
                    $ta, $tb, $sa, $sb, $ba, $bb
                >(stages, a, b, stored, extents, batches, shared, parts, how);
            }
        )+

        /// The kernels of this module.
        #[cfg(not(target_arch = "nvptx64"))]
        pub const KERNELS: &[&simt::KernelInfo] = &[$($name.info()),+];
    };
    (@is) => { false };
    (@is across) => { true };
    (@turned [$($name:ident)+]) => {};
    (@turned [$a:ident $b:ident $extents:ident $batches:ident] across) => {
        let ($a, $b) = ($b, $a);
        let ($extents, $batches) = {
            let ([m, n, k, count], [in_a, in_b]) = ($extents, $batches);
            ([n, m, k, count], [in_b, in_a])
        };
    };
}

kernels! {
    /// C = act(alpha·A·B + beta·C + bias) of `bf16`, tiles of 128 × 256. A is m × k, B is k × n, as they lie in memory.
    ///
    /// The maps are of boxes: of A 64 × 128 (k × m, contiguous first), of B 64 × 64 (n × k), of C 64 × 64, third the batch.
    gemm_hopper_bf16_nn_256: bf16, 1, 2 x 256, STAGES_256, [false 32 8192], [true 2048 16384];
    /// [`gemm_hopper_bf16_nn_256`] where B lies as n × k, in boxes of 64 × 256 (k × n).
    gemm_hopper_bf16_nt_256: bf16, 1, 2 x 256, STAGES_256, [false 32 8192], [false 32 16384];
    /// [`gemm_hopper_bf16_nn_256`] where A lies as k × m, in boxes of 64 × 64 (m × k).
    gemm_hopper_bf16_tn_256: bf16, 1, 2 x 256, STAGES_256, [true 2048 8192], [true 2048 16384];
    /// Both.
    gemm_hopper_bf16_tt_256: bf16, 1, 2 x 256, STAGES_256, [true 2048 8192], [false 32 16384];
    /// [`gemm_hopper_bf16_nn_256`] in tiles of 128 × 128.
    gemm_hopper_bf16_nn_128: bf16, 1, 2 x 128, STAGES_128, [false 32 8192], [true 2048 8192];
    /// [`gemm_hopper_bf16_nt_256`] in tiles of 128 × 128.
    gemm_hopper_bf16_nt_128: bf16, 1, 2 x 128, STAGES_128, [false 32 8192], [false 32 8192];
    /// [`gemm_hopper_bf16_tn_256`] in tiles of 128 × 128.
    gemm_hopper_bf16_tn_128: bf16, 1, 2 x 128, STAGES_128, [true 2048 8192], [true 2048 8192];
    /// [`gemm_hopper_bf16_tt_256`] in tiles of 128 × 128.
    gemm_hopper_bf16_tt_128: bf16, 1, 2 x 128, STAGES_128, [true 2048 8192], [false 32 8192];
    /// [`gemm_hopper_bf16_nn_256`] of `f16`.
    gemm_hopper_f16_nn_256: f16, 1, 2 x 256, STAGES_256, [false 32 8192], [true 2048 16384];
    /// [`gemm_hopper_bf16_nt_256`] of `f16`.
    gemm_hopper_f16_nt_256: f16, 1, 2 x 256, STAGES_256, [false 32 8192], [false 32 16384];
    /// [`gemm_hopper_bf16_tn_256`] of `f16`.
    gemm_hopper_f16_tn_256: f16, 1, 2 x 256, STAGES_256, [true 2048 8192], [true 2048 16384];
    /// [`gemm_hopper_bf16_tt_256`] of `f16`.
    gemm_hopper_f16_tt_256: f16, 1, 2 x 256, STAGES_256, [true 2048 8192], [false 32 16384];
    /// [`gemm_hopper_bf16_nn_128`] of `f16`.
    gemm_hopper_f16_nn_128: f16, 1, 2 x 128, STAGES_128, [false 32 8192], [true 2048 8192];
    /// [`gemm_hopper_bf16_nt_128`] of `f16`.
    gemm_hopper_f16_nt_128: f16, 1, 2 x 128, STAGES_128, [false 32 8192], [false 32 8192];
    /// [`gemm_hopper_bf16_tn_128`] of `f16`.
    gemm_hopper_f16_tn_128: f16, 1, 2 x 128, STAGES_128, [true 2048 8192], [true 2048 8192];
    /// [`gemm_hopper_bf16_tt_128`] of `f16`.
    gemm_hopper_f16_tt_128: f16, 1, 2 x 128, STAGES_128, [true 2048 8192], [false 32 8192];
    /// [`gemm_hopper_bf16_nn_128`] in tiles of 64 × 128, by one warpgroup.
    gemm_hopper_bf16_nn_64x128: bf16, 1, 1 x 128, STAGES_64, [false 32 4096], [true 2048 8192];
    /// [`gemm_hopper_bf16_nt_128`] in tiles of 64 × 128, by one warpgroup.
    gemm_hopper_bf16_nt_64x128: bf16, 1, 1 x 128, STAGES_64, [false 32 4096], [false 32 8192];
    /// [`gemm_hopper_bf16_tn_128`] in tiles of 64 × 128, by one warpgroup.
    gemm_hopper_bf16_tn_64x128: bf16, 1, 1 x 128, STAGES_64, [true 2048 4096], [true 2048 8192];
    /// [`gemm_hopper_bf16_tt_128`] in tiles of 64 × 128, by one warpgroup.
    gemm_hopper_bf16_tt_64x128: bf16, 1, 1 x 128, STAGES_64, [true 2048 4096], [false 32 8192];
    /// [`gemm_hopper_bf16_nn_128`] in tiles of 64 × 64, by one warpgroup.
    gemm_hopper_bf16_nn_64x64: bf16, 1, 1 x 64, STAGES_64, [false 32 4096], [true 2048 4096];
    /// [`gemm_hopper_bf16_nt_128`] in tiles of 64 × 64, by one warpgroup.
    gemm_hopper_bf16_nt_64x64: bf16, 1, 1 x 64, STAGES_64, [false 32 4096], [false 32 4096];
    /// [`gemm_hopper_bf16_tn_128`] in tiles of 64 × 64, by one warpgroup.
    gemm_hopper_bf16_tn_64x64: bf16, 1, 1 x 64, STAGES_64, [true 2048 4096], [true 2048 4096];
    /// [`gemm_hopper_bf16_tt_128`] in tiles of 64 × 64, by one warpgroup.
    gemm_hopper_bf16_tt_64x64: bf16, 1, 1 x 64, STAGES_64, [true 2048 4096], [false 32 4096];
    /// [`gemm_hopper_f16_nn_128`] in tiles of 64 × 128, by one warpgroup.
    gemm_hopper_f16_nn_64x128: f16, 1, 1 x 128, STAGES_64, [false 32 4096], [true 2048 8192];
    /// [`gemm_hopper_f16_nt_128`] in tiles of 64 × 128, by one warpgroup.
    gemm_hopper_f16_nt_64x128: f16, 1, 1 x 128, STAGES_64, [false 32 4096], [false 32 8192];
    /// [`gemm_hopper_f16_tn_128`] in tiles of 64 × 128, by one warpgroup.
    gemm_hopper_f16_tn_64x128: f16, 1, 1 x 128, STAGES_64, [true 2048 4096], [true 2048 8192];
    /// [`gemm_hopper_f16_tt_128`] in tiles of 64 × 128, by one warpgroup.
    gemm_hopper_f16_tt_64x128: f16, 1, 1 x 128, STAGES_64, [true 2048 4096], [false 32 8192];
    /// [`gemm_hopper_f16_nn_128`] in tiles of 64 × 64, by one warpgroup.
    gemm_hopper_f16_nn_64x64: f16, 1, 1 x 64, STAGES_64, [false 32 4096], [true 2048 4096];
    /// [`gemm_hopper_f16_nt_128`] in tiles of 64 × 64, by one warpgroup.
    gemm_hopper_f16_nt_64x64: f16, 1, 1 x 64, STAGES_64, [false 32 4096], [false 32 4096];
    /// [`gemm_hopper_f16_tn_128`] in tiles of 64 × 64, by one warpgroup.
    gemm_hopper_f16_tn_64x64: f16, 1, 1 x 64, STAGES_64, [true 2048 4096], [true 2048 4096];
    /// [`gemm_hopper_f16_tt_128`] in tiles of 64 × 64, by one warpgroup.
    gemm_hopper_f16_tt_64x64: f16, 1, 1 x 64, STAGES_64, [true 2048 4096], [false 32 4096];
    /// [`gemm_hopper_bf16_nn_256`] by clusters of two blocks, tiles one below the other, that load B once for both.
    gemm_hopper_bf16_nn_2x128x256: bf16, 2, 2 x 256, STAGES_256, [false 32 8192], [true 2048 16384];
    /// [`gemm_hopper_bf16_nt_256`] by clusters of two blocks, tiles one below the other, that load B once for both.
    gemm_hopper_bf16_nt_2x128x256: bf16, 2, 2 x 256, STAGES_256, [false 32 8192], [false 32 8192];
    /// [`gemm_hopper_bf16_tn_256`] by clusters of two blocks, tiles one below the other, that load B once for both.
    gemm_hopper_bf16_tn_2x128x256: bf16, 2, 2 x 256, STAGES_256, [true 2048 8192], [true 2048 16384];
    /// [`gemm_hopper_bf16_tt_256`] by clusters of two blocks, tiles one below the other, that load B once for both.
    gemm_hopper_bf16_tt_2x128x256: bf16, 2, 2 x 256, STAGES_256, [true 2048 8192], [false 32 8192];
    /// [`gemm_hopper_bf16_nn_64x128`] by clusters of two blocks, tiles one below the other, that load B once for both.
    gemm_hopper_bf16_nn_2x64x128: bf16, 2, 1 x 128, STAGES_64, [false 32 4096], [true 2048 8192];
    /// [`gemm_hopper_bf16_nt_64x128`] by clusters of two blocks, tiles one below the other, that load B once for both.
    gemm_hopper_bf16_nt_2x64x128: bf16, 2, 1 x 128, STAGES_64, [false 32 4096], [false 32 4096];
    /// [`gemm_hopper_bf16_tn_64x128`] by clusters of two blocks, tiles one below the other, that load B once for both.
    gemm_hopper_bf16_tn_2x64x128: bf16, 2, 1 x 128, STAGES_64, [true 2048 4096], [true 2048 8192];
    /// [`gemm_hopper_bf16_tt_64x128`] by clusters of two blocks, tiles one below the other, that load B once for both.
    gemm_hopper_bf16_tt_2x64x128: bf16, 2, 1 x 128, STAGES_64, [true 2048 4096], [false 32 4096];
    /// [`gemm_hopper_f16_nn_256`] by clusters of two blocks, tiles one below the other, that load B once for both.
    gemm_hopper_f16_nn_2x128x256: f16, 2, 2 x 256, STAGES_256, [false 32 8192], [true 2048 16384];
    /// [`gemm_hopper_f16_nt_256`] by clusters of two blocks, tiles one below the other, that load B once for both.
    gemm_hopper_f16_nt_2x128x256: f16, 2, 2 x 256, STAGES_256, [false 32 8192], [false 32 8192];
    /// [`gemm_hopper_f16_tn_256`] by clusters of two blocks, tiles one below the other, that load B once for both.
    gemm_hopper_f16_tn_2x128x256: f16, 2, 2 x 256, STAGES_256, [true 2048 8192], [true 2048 16384];
    /// [`gemm_hopper_f16_tt_256`] by clusters of two blocks, tiles one below the other, that load B once for both.
    gemm_hopper_f16_tt_2x128x256: f16, 2, 2 x 256, STAGES_256, [true 2048 8192], [false 32 8192];
    /// [`gemm_hopper_f16_nn_64x128`] by clusters of two blocks, tiles one below the other, that load B once for both.
    gemm_hopper_f16_nn_2x64x128: f16, 2, 1 x 128, STAGES_64, [false 32 4096], [true 2048 8192];
    /// [`gemm_hopper_f16_nt_64x128`] by clusters of two blocks, tiles one below the other, that load B once for both.
    gemm_hopper_f16_nt_2x64x128: f16, 2, 1 x 128, STAGES_64, [false 32 4096], [false 32 4096];
    /// [`gemm_hopper_f16_tn_64x128`] by clusters of two blocks, tiles one below the other, that load B once for both.
    gemm_hopper_f16_tn_2x64x128: f16, 2, 1 x 128, STAGES_64, [true 2048 4096], [true 2048 8192];
    /// [`gemm_hopper_f16_tt_64x128`] by clusters of two blocks, tiles one below the other, that load B once for both.
    gemm_hopper_f16_tt_2x64x128: f16, 2, 1 x 128, STAGES_64, [true 2048 4096], [false 32 4096];
    /// [`gemm_hopper_bf16_nn_128`] in tiles of 16 × 64, which are those of Cᵀ, by one warpgroup: for few rows, where B is all that is read.
    gemm_hopper_bf16_nn_16x64: bf16, 1, 1 x 16, STAGES_16, [true 2048 4096], [false 32 1024] across;
    /// [`gemm_hopper_bf16_nn_16x64`] in tiles of 136 × 128, by two warpgroups: for few rows more than a multiple of 128.
    gemm_hopper_bf16_nn_136x128: bf16, 1, 2 x 136, STAGES_136, [true 2048 8192], [false 32 8704] across;
    /// [`gemm_hopper_bf16_nt_128`] in tiles of 16 × 64, which are those of Cᵀ, by one warpgroup: for few rows, where B is all that is read.
    gemm_hopper_bf16_nt_16x64: bf16, 1, 1 x 16, STAGES_16, [false 32 4096], [false 32 1024] across;
    /// [`gemm_hopper_bf16_nt_16x64`] in tiles of 136 × 128, by two warpgroups: for few rows more than a multiple of 128.
    gemm_hopper_bf16_nt_136x128: bf16, 1, 2 x 136, STAGES_136, [false 32 8192], [false 32 8704] across;
    /// [`gemm_hopper_bf16_nn_16x64`] in tiles of 144 × 64 by clusters of four blocks, side by side, that load A once for all.
    gemm_hopper_bf16_nn_4x144x64: bf16, 4, 1 x 144, STAGES_144, [true 2048 4096], [false 32 1024] across;
    /// [`gemm_hopper_bf16_nt_16x64`] in tiles of 144 × 64 by clusters of four blocks, side by side, that load A once for all.
    gemm_hopper_bf16_nt_4x144x64: bf16, 4, 1 x 144, STAGES_144, [false 32 4096], [false 32 1024] across;
    /// [`gemm_hopper_bf16_nt_128`] in tiles of 64 × 16, by one warpgroup: for few columns.
    gemm_hopper_bf16_nt_64x16: bf16, 1, 1 x 16, STAGES_16, [false 32 4096], [false 32 1024];
    /// [`gemm_hopper_bf16_nt_128`] in tiles of 128 × 136: for few columns more than a multiple of 128.
    gemm_hopper_bf16_nt_128x136: bf16, 1, 2 x 136, STAGES_136, [false 32 8192], [false 32 8704];
    /// [`gemm_hopper_bf16_tt_128`] in tiles of 64 × 16, by one warpgroup: for few columns.
    gemm_hopper_bf16_tt_64x16: bf16, 1, 1 x 16, STAGES_16, [true 2048 4096], [false 32 1024];
    /// [`gemm_hopper_bf16_tt_128`] in tiles of 128 × 136: for few columns more than a multiple of 128.
    gemm_hopper_bf16_tt_128x136: bf16, 1, 2 x 136, STAGES_136, [true 2048 8192], [false 32 8704];
    /// [`gemm_hopper_f16_nn_128`] in tiles of 16 × 64, which are those of Cᵀ, by one warpgroup: for few rows, where B is all that is read.
    gemm_hopper_f16_nn_16x64: f16, 1, 1 x 16, STAGES_16, [true 2048 4096], [false 32 1024] across;
    /// [`gemm_hopper_f16_nn_16x64`] in tiles of 136 × 128, by two warpgroups: for few rows more than a multiple of 128.
    gemm_hopper_f16_nn_136x128: f16, 1, 2 x 136, STAGES_136, [true 2048 8192], [false 32 8704] across;
    /// [`gemm_hopper_f16_nt_128`] in tiles of 16 × 64, which are those of Cᵀ, by one warpgroup: for few rows, where B is all that is read.
    gemm_hopper_f16_nt_16x64: f16, 1, 1 x 16, STAGES_16, [false 32 4096], [false 32 1024] across;
    /// [`gemm_hopper_f16_nt_16x64`] in tiles of 136 × 128, by two warpgroups: for few rows more than a multiple of 128.
    gemm_hopper_f16_nt_136x128: f16, 1, 2 x 136, STAGES_136, [false 32 8192], [false 32 8704] across;
    /// [`gemm_hopper_f16_nn_16x64`] in tiles of 144 × 64 by clusters of four blocks, side by side, that load A once for all.
    gemm_hopper_f16_nn_4x144x64: f16, 4, 1 x 144, STAGES_144, [true 2048 4096], [false 32 1024] across;
    /// [`gemm_hopper_f16_nt_16x64`] in tiles of 144 × 64 by clusters of four blocks, side by side, that load A once for all.
    gemm_hopper_f16_nt_4x144x64: f16, 4, 1 x 144, STAGES_144, [false 32 4096], [false 32 1024] across;
    /// [`gemm_hopper_f16_nt_128`] in tiles of 64 × 16, by one warpgroup: for few columns.
    gemm_hopper_f16_nt_64x16: f16, 1, 1 x 16, STAGES_16, [false 32 4096], [false 32 1024];
    /// [`gemm_hopper_f16_nt_128`] in tiles of 128 × 136: for few columns more than a multiple of 128.
    gemm_hopper_f16_nt_128x136: f16, 1, 2 x 136, STAGES_136, [false 32 8192], [false 32 8704];
    /// [`gemm_hopper_f16_tt_128`] in tiles of 64 × 16, by one warpgroup: for few columns.
    gemm_hopper_f16_tt_64x16: f16, 1, 1 x 16, STAGES_16, [true 2048 4096], [false 32 1024];
    /// [`gemm_hopper_f16_tt_128`] in tiles of 128 × 136: for few columns more than a multiple of 128.
    gemm_hopper_f16_tt_128x136: f16, 1, 2 x 136, STAGES_136, [true 2048 8192], [false 32 8704];
}
