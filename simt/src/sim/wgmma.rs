//! Tensor cores, by warpgroup.

use crate::matrix::Code;

/// Whether products are under way that will change an accumulator.
#[derive(Clone, Copy, Default)]
pub struct Flight;

impl Flight {
    #[inline(always)]
    #[track_caller]
    pub(crate) fn settled(self) {}
}

/// Where an operand starts, in bytes from the start of shared memory.
#[inline(always)]
#[track_caller]
pub(crate) fn start(_tile: *const u8, _leading: u32, _stride: u32) -> u32 {
    todo!()
}
#[inline(always)]
#[track_caller]
pub(crate) fn increase_registers<const REGISTERS: u32>() {}
#[inline(always)]
#[track_caller]
pub(crate) fn decrease_registers<const REGISTERS: u32>() {}

/// A thread's part of D.
pub trait Fragment: Copy + AsRef<[f32]> {
    #[doc(hidden)]
    #[track_caller]
    fn multiply<
        const STEPS: usize,
        const A_STEP: u32,
        const B_STEP: u32,
        const TRANS_A: bool,
        const TRANS_B: bool,
        const PENDING: u32,
    >(
        &mut self,
        _flight: &mut Flight,
        _code: Code,
        _a: u64,
        _b: u64,
        _fresh: bool,
    ) {
        todo!()
    }
    #[doc(hidden)]
    #[track_caller]
    fn multiply_registers<const STEPS: usize, const B_STEP: u32, const TRANS_B: bool>(
        &mut self,
        _flight: &mut Flight,
        _code: Code,
        _a: [[u32; 4]; STEPS],
        _b: u64,
        _fresh: bool,
    ) {
        todo!()
    }
    #[doc(hidden)]
    #[track_caller]
    fn wait<const PENDING: u32>(&mut self, _flight: &mut Flight) {
        todo!()
    }
    #[doc(hidden)]
    fn for_each(&self, mut body: impl FnMut(u32, f32)) {
        for (i, &value) in (0..).zip(self.as_ref()) {
            body(i, value);
        }
    }
    #[doc(hidden)]
    fn for_each_8_columns(&self, mut body: impl FnMut(u32, [f32; 4])) {
        for (i, &values) in (0..).zip(self.as_ref().as_chunks().0) {
            body(8 * i, values);
        }
    }
    #[doc(hidden)]
    fn for_each_16_columns(&self, mut body: impl FnMut(u32, [f32; 8])) {
        for (i, &values) in (0..).zip(self.as_ref().as_chunks().0) {
            body(16 * i, values);
        }
    }
}
impl<const N: usize> Fragment for [f32; N] {}
