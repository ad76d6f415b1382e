//! What becomes of an accumulator: alpha, beta, bias, activation. Every GEMM kernel ends here.

use simt::element::{Lanes, Vec4, zeroed};
use simt::prelude::*;

use super::args::{BIAS_PER_COLUMN, BIAS_PER_ROW, GemmArgs, INTEGER_C, WIDE_C};
use super::number::{Number, Real};
use crate::unroll::each;

impl<T: Number> GemmArgs<'_, T> {
    /// Element (`row`, `col`) of C from its accumulator and its old value `old`, which is not read unless beta is not
    /// 0.
    ///
    /// alpha · accumulator is rounded, beta · C added by a fused multiply-add, the bias added and rounded; then comes
    /// the activation.
    #[cfg_attr(optimised, inline(always))]
    pub fn finish(&self, accumulator: T::Wide, old: impl FnOnce() -> T::Wide, (row, col): (u32, u32)) -> T::Wide {
        let mut value = self.alpha * accumulator;
        if self.beta != T::Wide::ZERO {
            value = fma(self.beta, old(), value);
        }
        if self.flags & (BIAS_PER_COLUMN | BIAS_PER_ROW) != 0 {
            let index = if self.flags & BIAS_PER_COLUMN == 0 { row } else { col };
            value = value + self.bias.get_or(index as usize, T::Wide::ZERO);
        }
        value.activated(self.flags)
    }

    /// [`Self::finish`], and its result stored to element `at` of C.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn store(&self, accumulator: T::Wide, at: u64, place: (u32, u32)) {
        let at = at as usize;
        if self.flags & WIDE_C == 0 {
            let old = || T::loaded(self.c.get_or(at, zeroed()), self.flags);
            self.c.set_within(at, T::stored(self.finish(accumulator, old, place), self.flags));
        } else if self.has_integers() {
            self.c_wide.set_within(at, accumulator);
        } else {
            let old = || self.c_wide.get_or(at, T::Wide::ZERO);
            self.c_wide.set_within(at, self.finish(accumulator, old, place));
        }
    }

    /// Whether C takes the accumulators' bits, which are integers.
    #[cfg_attr(optimised, inline(always))]
    pub fn has_integers(&self) -> bool {
        T::IS_INTEGER && self.flags & INTEGER_C != 0
    }

    /// The index of element (`row`, `col`) of a matrix C.
    #[cfg_attr(optimised, inline(always))]
    pub fn index(&self, matrix: u32, row: u32, col: u32) -> u64 {
        matrix as u64 * self.stride_c + row as u64 * self.ldc + col as u64
    }
}

impl<T: Number<Wide = f32, Stored: Lanes<4>>> GemmArgs<'_, T> {
    /// Whether four elements of C, whose columns begin at a multiple of 4, are all among the first `cols` columns or
    /// none is, and are one access.
    #[cfg_attr(optimised, inline(always))]
    pub fn has_quads(&self, cols: u32) -> bool {
        let aligned = |address: usize, bytes: usize| address.is_multiple_of(4 * bytes);
        let base = if self.flags & WIDE_C == 0 {
            aligned(self.c.as_ptr().addr(), size_of::<T::Stored>())
        } else {
            aligned(self.c_wide.as_ptr().addr(), size_of::<f32>())
        };
        base && cols.is_multiple_of(4) && (self.ldc | self.stride_c).is_multiple_of(4)
    }

    /// [`Self::store`] of four neighbours in a row, the first of them element `at` of C, a multiple of 4.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn store_quad(&self, accumulators: [f32; 4], at: u64, (row, col): (u32, u32)) {
        let (at, is_wide) = ((at / 4) as usize, self.flags & WIDE_C != 0);
        if self.has_integers() {
            self.c_wide.vectors_mut::<4>().set_within(at, Vec4::new(accumulators));
            return;
        }
        let mut old = [0.0; 4];
        if self.beta != 0.0 {
            old = if is_wide {
                self.c_wide.vectors::<4>().get_or(at, zeroed()).lanes
            } else {
                each!(self.c.vectors::<4>().get_or(at, zeroed()).lanes, |old| T::loaded(old, self.flags))
            };
        }
        let done = each!([0, 1, 2, 3], |i: u32| {
            let of = i as usize;
            self.finish(accumulators[of], || old[of], (row, col + i))
        });
        if is_wide {
            self.c_wide.vectors_mut::<4>().set_within(at, Vec4::new(done));
        } else {
            self.c.vectors_mut::<4>().set_within(at, Vec4::new(each!(done, |new| T::stored(new, self.flags))));
        }
    }
}
