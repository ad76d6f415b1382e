//! The ring of stages between a producer and its consumers: its mbarriers, loads into a stage, and its operands.

use half::bf16;
use simt::mbarrier::{Mbarriers, fence_mbarrier_init};
use simt::prelude::*;
use simt::tma::{TensorMap, load_2d};
use simt::warp::lane_id;
use simt::wgmma::{Operand, Swizzle};

use super::{OF_A, OF_B};
use crate::gemm::sm90::pipeline::PipelineState;

/// Bytes of 64 rows of A in a stage.
pub(super) const HALF_OF_A: u32 = (OF_A * size_of::<bf16>() / 2) as u32;

/// `STAGES` stages, each with `B` elements of B.
#[repr(C, align(1024))]
#[derive(Shared)]
pub struct Ring<const B: usize, const STAGES: usize> {
    a: [SharedArray<bf16, OF_A>; STAGES],
    b: [SharedArray<bf16, B>; STAGES],
    pub(super) full: Mbarriers<STAGES>,
    empty: Mbarriers<STAGES>,
}

impl<const B: usize, const STAGES: usize> Ring<B, STAGES> {
    /// Initialises the mbarriers, for so many warps that read each stage. All threads of the block call.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn init(&self, readers: u32) {
        if thread_idx_x() == 0 {
            for stage in 0..STAGES as u32 {
                self.full.init(stage, 1);
                self.empty.init(stage, readers);
            }
            fence_mbarrier_init();
        }
        sync_threads();
    }

    /// Producer: loads a step of the tile whose first element is (`row`, `col`), from `k` on, once the stage is empty.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn load(
        &self,
        state: PipelineState<STAGES>,
        (a, b): (&TensorMap<bf16>, &TensorMap<bf16>),
        [row, col, k]: [u32; 3],
    ) {
        let stage = state.stage();
        self.empty.wait(stage, state.parity);
        self.full.arrive_expect_tx(stage, ((OF_A + B) * size_of::<bf16>()) as u32);
        load_2d(self.a[stage as usize].slot::<OF_A>(0), a, [k as i32, row as i32], self.full.at(stage));
        for part in 0..(B / OF_B) as u32 {
            let slot = self.b[stage as usize].slot::<OF_B>(part * OF_B as u32);
            load_2d(slot, b, [(col + part * 64) as i32, k as i32], self.full.at(stage));
        }
    }

    /// Consumer: A and B of a full stage.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn operands(&self, state: PipelineState<STAGES>) -> (Operand, Operand) {
        let stage = state.stage() as usize;
        let of_b = Operand::new(self.b[stage].slot::<8>(0), (OF_B * size_of::<bf16>()) as u32, 1024, Swizzle::B128);
        (Operand::new(self.a[stage].slot::<8>(0), 0, 1024, Swizzle::B128), of_b)
    }

    /// Consumer: this warp has read the stage.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn release(&self, state: PipelineState<STAGES>) {
        if lane_id() == 0 {
            self.empty.arrive(state.stage());
        }
    }
}
