//! Tensor core instructions of a warpgroup.

use simulator::device::{self, TensorOperand, WarpOp, WarpgroupProduct, warp_op};

use super::matrix::kind;
use crate::matrix::Code;
use crate::wgmma::{Major, ReadColumns};

/// The group in flight that will change an accumulator; 0: none.
#[derive(Clone, Copy, Default)]
pub struct Flight(u64);

impl Flight {
    /// Reports if the accumulators are used while a group is in flight.
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    pub(crate) fn settled(self) {
        if self.0 != 0 {
            device::warpgroup_unsettled(self.0);
        }
    }
}

/// The start of an operand, in bytes from the start of shared memory.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) fn start(tile: *const u8, leading: u32, stride: u32) -> u32 {
    device::operand_start(tile, leading, stride)
}

/// No effect on registers, but all threads of the warp must call together.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) fn increase_registers<const REGISTERS: u32>() {
    warp_op(WarpOp::Ballot, u32::MAX, 1, 0);
}
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) fn decrease_registers<const REGISTERS: u32>() {
    warp_op(WarpOp::Ballot, u32::MAX, 1, 0);
}

/// The values of D that a thread holds.
pub trait Fragment: Copy + AsRef<[f32]> + AsMut<[f32]> {
    #[doc(hidden)]
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    fn multiply<const STEPS: usize, A: Major, B: Major, const PENDING: u32>(
        &mut self,
        flight: &mut Flight,
        code: Code,
        a: u64,
        b: u64,
        fresh: bool,
    ) {
        let a = TensorOperand { descriptor: a, step: A::ADVANCE, mn_major: A::IS_MN };
        let b = TensorOperand { descriptor: b, step: B::ADVANCE, mn_major: B::IS_MN };
        let product = WarpgroupProduct { kind: kind(code), steps: STEPS, a: Some(a), registers: &[], b, fresh };
        device::warpgroup_multiply(&product, self.as_mut(), &mut flight.0);
        device::warpgroup_wait(PENDING, self.as_mut(), &mut flight.0);
    }

    #[doc(hidden)]
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    fn multiply_registers<const STEPS: usize, B: Major>(
        &mut self,
        flight: &mut Flight,
        code: Code,
        a: [[u32; 4]; STEPS],
        b: u64,
        fresh: bool,
    ) {
        let b = TensorOperand { descriptor: b, step: B::ADVANCE, mn_major: B::IS_MN };
        let product = WarpgroupProduct { kind: kind(code), steps: STEPS, a: None, registers: &a, b, fresh };
        device::warpgroup_multiply(&product, self.as_mut(), &mut flight.0);
        device::warpgroup_wait(0, self.as_mut(), &mut flight.0);
    }

    #[doc(hidden)]
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    fn wait<const PENDING: u32>(&mut self, flight: &mut Flight) {
        device::warpgroup_wait(PENDING, self.as_mut(), &mut flight.0);
    }

    #[doc(hidden)]
    #[cfg_attr(optimised, inline(always))]
    fn pin(&mut self) {}

    #[doc(hidden)]
    #[cfg_attr(optimised, inline(always))]
    fn for_each(&self, mut body: impl FnMut(u32, f32)) {
        for (i, &value) in (0..).zip(self.as_ref()) {
            body(i, value);
        }
    }

    #[doc(hidden)]
    #[cfg_attr(optimised, inline(always))]
    fn for_each_8_columns(&self, body: impl FnMut(u32, [f32; 4])) {
        self.as_ref().for_each_8_columns(body);
    }

    #[doc(hidden)]
    #[cfg_attr(optimised, inline(always))]
    fn map_8_columns(&mut self, mut body: impl FnMut(u32, [f32; 4]) -> [f32; 4]) {
        for (i, values) in (0..).zip(self.as_mut().as_chunks_mut().0) {
            *values = body(8 * i, *values);
        }
    }

    #[doc(hidden)]
    #[cfg_attr(optimised, inline(always))]
    fn for_each_16_columns(&self, body: impl FnMut(u32, [f32; 8])) {
        self.as_ref().for_each_16_columns(body);
    }
}

impl<const N: usize> Fragment for [f32; N] {}

impl ReadColumns for &[f32] {
    fn width(self) -> u32 {
        2 * self.len() as u32
    }
    #[cfg_attr(optimised, inline(always))]
    fn for_each_8_columns(self, mut body: impl FnMut(u32, [f32; 4])) {
        for (i, &values) in (0..).zip(self.as_chunks().0) {
            body(8 * i, values);
        }
    }
    #[cfg_attr(optimised, inline(always))]
    fn for_each_16_columns(self, mut body: impl FnMut(u32, [f32; 8])) {
        for (i, &values) in (0..).zip(self.as_chunks().0) {
            body(16 * i, values);
        }
    }
}
