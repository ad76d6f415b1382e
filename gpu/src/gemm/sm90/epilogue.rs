//! From a warpgroup's accumulators to C.
//!
//! ```text
//!                          ┌─ stmatrix or st.shared ─▶ boxes of 128 bytes a row ─┬─▶ TMA ──────────▶ C   TMA_STORE
//!   64 × N accumulators ───┤                                                     └─▶ one element ──▶ C   COPY_STORE
//!                          └────────────▶ 64 × 64 of f32 ─▶ four elements a thread ────────────────▶ C   all else
//! ```
//!
//! The epilogue by boxes applies alpha alone, in tiles of whole boxes, which are swizzled. TMA stores them where it can
//! write C, else threads copy element by element, but not of operands of 8 bits: C has several types then, and its map
//! has bytes for elements. The generic epilogue does all that [`GemmArgs`] asks for, at any address: four neighbours at
//! a time where they are aligned, else one.

use half::{bf16, f16};
use simt::convert::{bf16_pair_from_f32, f16_pair_from_f32};
use simt::element::{Element, Lanes, Vec2, Vec8, bits_as};
use simt::float8::{E4m3, E5m2};
use simt::matrix::{Kind, Tf32, stmatrix};
use simt::opaque;
use simt::prelude::*;
use simt::sync::{fence_proxy_async, named_barrier};
use simt::tma::{TensorMapMut, store_3d, store_commit, store_wait_read};
use simt::warpgroup::WARPGROUP_SIZE;
use simt::wgmma::{Accumulators, Columns, KMajor, Major, MnMajor, ReadColumns, Width};

use super::config::Config;
use super::fragments;
use crate::gemm::args::{COPY_STORE, F16_C, GemmArgs, TMA_STORE, WIDE_C};
use crate::gemm::configs::STAGING;
use crate::gemm::number::Number;
use crate::unroll::{each, unroll};

/// Columns that the generic epilogue stages at a time.
const PART: u32 = 64;
/// `f32` of half a warpgroup's staging memory: a box that TMA stores while the next is staged.
const BOX: u32 = STAGING as u32 / 2;
/// `f32` in a row of 128 bytes.
const LINE: u32 = 32;

/// Where element (`row`, `col`) of [`PART`] columns is staged: its column is changed so that the rows that a warp
/// writes at once start in different banks. Eight neighbours stay neighbours.
#[cfg_attr(optimised, inline(always))]
const fn staged(row: u32, col: u32) -> u32 {
    row * PART + (col ^ (row % 4 * 8))
}

/// Where `f32` (`row`, `col`) of a box lies, with TMA's swizzle of 128 bytes.
#[cfg_attr(optimised, inline(always))]
const fn swizzled(row: u32, col: u32) -> u32 {
    row * LINE + ((col / 4) ^ (row % 8)) * 4 + col % 4
}

/// An element type of `wgmma`.
pub(super) trait MmaElement: Number<Wide = f32, Stored: Lanes<4>> {
    /// What it is to the tensor cores.
    type Kind: Kind;
    /// How they read it from shared memory where it is MN-major in memory.
    type MnMajor: Major;

    /// The epilogue by boxes of warpgroup `half`, for its thread `t`: see [`Epilogue::store`]. TMA stores them, or
    /// threads copy them.
    #[doc(hidden)]
    fn store_boxes<F: Form, const COPIES: bool, const E: usize>(
        epilogue: &Epilogue<'_, Self, E>,
        sums: impl ReadColumns,
        at: [u32; 3],
        buffer: &mut u32,
        thread: [u32; 2],
    );
}

macro_rules! elements_of_16_bits {
    ($($t:ident $pair:ident)+) => {$(
        impl MmaElement for $t {
            type Kind = Self;
            type MnMajor = MnMajor;

            #[cfg_attr(optimised, inline(always))]
            fn store_boxes<F: Form, const COPIES: bool, const E: usize>(
                epilogue: &Epilogue<'_, Self, E>,
                sums: impl ReadColumns,
                at: [u32; 3],
                buffer: &mut u32,
                thread: [u32; 2],
            ) {
                if F::SWAP_AB {
                    epilogue.store_16_transposed::<COPIES>($pair, sums, at, buffer, thread);
                } else {
                    epilogue.store_16::<F, COPIES, 1>($pair, sums, at, buffer, thread);
                }
            }
        }
    )+};
}
elements_of_16_bits! { f16 f16_pair_from_f32 bf16 bf16_pair_from_f32 }

impl MmaElement for f32 {
    type Kind = Tf32;
    // They read K-major numbers alone: an MN-major A goes through registers, an MN-major B is packed.
    type MnMajor = KMajor;

    #[cfg_attr(optimised, inline(always))]
    fn store_boxes<F: Form, const COPIES: bool, const E: usize>(
        epilogue: &Epilogue<'_, Self, E>,
        sums: impl ReadColumns,
        at: [u32; 3],
        buffer: &mut u32,
        thread: [u32; 2],
    ) {
        if F::SWAP_AB {
            epilogue.store_32_transposed::<COPIES>(&epilogue.gemm.c, sums, at, thread);
        } else {
            epilogue.store_32::<F, COPIES, 1>(&epilogue.gemm.c, sums, at, buffer, thread);
        }
    }
}

macro_rules! elements_of_8_bits {
    ($($t:ident)+) => {$(
        impl MmaElement for $t {
            type Kind = Self;
            // They read K-major numbers alone: others are packed.
            type MnMajor = KMajor;

            #[cfg_attr(optimised, inline(always))]
            fn store_boxes<F: Form, const COPIES: bool, const E: usize>(
                epilogue: &Epilogue<'_, Self, E>,
                sums: impl ReadColumns,
                at: [u32; 3],
                buffer: &mut u32,
                thread: [u32; 2],
            ) {
                let flags = epilogue.gemm.flags;
                if flags & WIDE_C != 0 {
                    epilogue.store_32::<F, COPIES, 4>(&epilogue.gemm.c_wide, sums, at, buffer, thread);
                } else {
                    let pair = |low, high| {
                        if flags & F16_C == 0 { bf16_pair_from_f32(low, high) } else { f16_pair_from_f32(low, high) }
                    };
                    epilogue.store_16::<F, COPIES, 2>(pair, sums, at, buffer, thread);
                }
            }
        }
    )+};
}
elements_of_8_bits! { i8 E4m3 E5m2 }

/// What the epilogue must know of a [`Config`]: fewer types than there are kernels, so that the host compiles fewer
/// epilogues.
pub(super) trait Form {
    /// Cᵀ is computed.
    const SWAP_AB: bool;
    /// A is in registers.
    const A_IN_REGISTERS: bool;
    /// C's rows belong to groups: a tile may end within 64 rows, and what is below is another's.
    const GROUPED: bool;
    /// Whether tiles are whole boxes, which TMA can store.
    const HAS_BOXES: bool;
    /// Whether threads copy the boxes that TMA cannot store.
    const COPIES: bool;

    /// The row of the accumulators of thread `t` of a warpgroup, and how far below it its other one is.
    #[cfg_attr(optimised, inline(always))]
    fn rows(t: u32) -> (u32, u32) {
        if Self::A_IN_REGISTERS { (fragments::row(t), 4) } else { (t / 32 * 16 + t % 32 / 4, 8) }
    }
}

/// The [`Form`] with these constants, in their order.
pub(super) enum Of<
    const SWAP_AB: bool,
    const A_IN_REGISTERS: bool,
    const GROUPED: bool,
    const HAS_BOXES: bool,
    const COPIES: bool,
> {}

impl<const SWAP_AB: bool, const A_IN_REGISTERS: bool, const GROUPED: bool, const HAS_BOXES: bool, const COPIES: bool>
    Form for Of<SWAP_AB, A_IN_REGISTERS, GROUPED, HAS_BOXES, COPIES>
{
    const SWAP_AB: bool = SWAP_AB;
    const A_IN_REGISTERS: bool = A_IN_REGISTERS;
    const GROUPED: bool = GROUPED;
    const HAS_BOXES: bool = HAS_BOXES;
    const COPIES: bool = COPIES;
}

/// What is the same for all tiles.
#[derive(Clone, Copy)]
pub(super) struct Epilogue<'a, T: MmaElement, const E: usize> {
    pub(super) staging: &'a SharedArray<f32, E>,
    pub(super) map: &'a TensorMapMut<'a, T>,
    pub(super) gemm: GemmArgs<'a, T>,
}

impl<T: MmaElement, const E: usize> Epilogue<'_, T, E> {
    /// Stores the accumulators of this warpgroup, `at` being row and column of the MMA's result, and the matrix.
    /// `buffer` is the half of its staging memory that comes next.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn store<C: Config<Element = T>, const N: usize>(
        &self,
        accumulators: &Accumulators<N>,
        at: [u32; 3],
        buffer: &mut u32,
    ) where
        Columns<N>: Width,
    {
        self.store_sums::<C::Form>(accumulators.read(), at, buffer);
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn store_sums<F: Form>(&self, sums: impl ReadColumns, at: [u32; 3], buffer: &mut u32) {
        // No address of what follows is worth a register while the tile is computed.
        let t = opaque(thread_idx_x());
        let half = if E > STAGING { (t / WARPGROUP_SIZE - 1) & 1 } else { 0 };
        let thread = [half, t % WARPGROUP_SIZE];
        if F::HAS_BOXES && self.gemm.flags & TMA_STORE != 0 {
            T::store_boxes::<F, false, E>(self, sums, at, buffer, thread);
        } else if F::COPIES && self.gemm.flags & COPY_STORE != 0 {
            T::store_boxes::<F, true, E>(self, sums, at, buffer, thread);
        } else {
            self.store_generic::<F>(sums, at, thread);
        }
    }

    /// Waits until TMA has read all that this thread told it to store.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn drain(&self) {
        if self.gemm.flags & TMA_STORE != 0 && thread_idx_x().is_multiple_of(WARPGROUP_SIZE) {
            store_wait_read::<0>();
        }
    }

    /// Waits for the buffer of the next box: TMA has read what it stored from there two boxes ago.
    #[cfg_attr(optimised, inline(always))]
    fn acquire_box<const PENDING: u32>([half, t]: [u32; 2]) {
        if t == 0 {
            store_wait_read::<PENDING>();
        }
        named_barrier(half + 1, WARPGROUP_SIZE);
    }

    /// Stores a box that the warpgroup has staged from `base` on, of so many rows of 128 bytes, to C, its first
    /// element at `[column, row, matrix]`. An element is `ELEMENT` elements of the map.
    #[cfg_attr(optimised, inline(always))]
    fn store_box<U: Element, const COPIES: bool, const ELEMENT: u32>(
        &self,
        to: &VecMut<'_, U>,
        [half, t]: [u32; 2],
        (base, rows): (u32, u32),
        [col, row, matrix]: [u32; 3],
    ) {
        if !COPIES {
            fence_proxy_async();
        }
        named_barrier(half + 1, WARPGROUP_SIZE);
        if COPIES {
            self.copy_elements(to, t, (base, rows), [col, row, matrix]);
        } else if t == 0 {
            let at = each!([col * ELEMENT, row, matrix], |x| x as i32);
            store_3d(self.map, at, self.staging.tma_box(base, rows * LINE).cast::<T>());
            store_commit();
        }
    }

    /// Copies the elements of a box that C has, at any address: neighbours by threads of a warp, four by each thread at
    /// a time.
    #[cfg_attr(optimised, inline(always))]
    fn copy_elements<U: Element>(
        &self,
        to: &VecMut<'_, U>,
        t: u32,
        (base, rows): (u32, u32),
        [col, row, matrix]: [u32; 3],
    ) {
        let (chunk, width) = const { (16 / size_of::<U>() as u32, 128 / size_of::<U>() as u32) };
        // All of it is computed again for each box: there are no registers for it beside the accumulators.
        let (t, row) = (opaque(t) % WARPGROUP_SIZE, opaque(row));
        let (at, step) = (t % width, WARPGROUP_SIZE / width);
        let extent = [self.gemm.m.saturating_sub(row).min(rows), self.gemm.n.saturating_sub(col)];
        // One check of bounds for all elements.
        let Some(to) = to.window_mut(self.gemm.index(matrix, row, col), extent[0], extent[1], self.gemm.ldc) else {
            return;
        };
        let staged = self.staging.cast::<U>();
        let mut line = t / width;
        while line < extent[0] {
            let lines = each!([0, 1, 2, 3], |i: u32| line + i * step);
            let values = each!(lines, |line: u32| {
                let place = ((at / chunk) ^ (line % 8)) * chunk + at % chunk;
                staged.get((base + line % 64 * LINE) * (chunk / 4) + place)
            });
            unroll!(for i in 0..4 {
                to.set_within(lines[i], at, values[i]);
            });
            line += 4 * step;
        }
    }

    /// Alpha times an accumulator, or an integer as it is.
    #[cfg_attr(optimised, inline(always))]
    fn scaled(&self, value: f32) -> f32 {
        let scaled = self.gemm.alpha * value;
        if self.gemm.has_integers() { value } else { scaled }
    }

    /// 16-bit elements by `stmatrix`, 64 columns at a time, each of them `ELEMENT` elements of the map.
    #[cfg_attr(optimised, inline(always))]
    fn store_16<F: Form, const COPIES: bool, const ELEMENT: u32>(
        &self,
        pair: impl Fn(f32, f32) -> u32,
        sums: impl ReadColumns,
        [row, col, matrix]: [u32; 3],
        buffer: &mut u32,
        [half, t]: [u32; 2],
    ) where
        T::Stored: Lanes<8>,
    {
        let (own, lane) = (half * STAGING as u32, t % 32);
        // The row that this lane names for `stmatrix`: of the upper or the lower 8 × 8 of two, in the left or the right
        // pair.
        let named = t / 32 * 16 + lane / 8 % 2 * 8 + lane % 8;
        sums.for_each_16_columns(|first, values| {
            if first % 64 == 0 {
                Self::acquire_box::<1>([half, t]);
            }
            let chunk = (first % 64 / 8 + lane / 16) ^ (named % 8);
            let pairs =
                each!([0, 2, 4, 6], |i: usize| pair(self.gemm.alpha * values[i], self.gemm.alpha * values[i + 1]));
            let base = own + (*buffer & 1) * BOX;
            stmatrix::<4, false, _, 4>(self.staging.slot::<4>(base + named * LINE + chunk * 4), pairs);
            if first % 64 == 48 {
                let col = col + first - 48;
                if F::GROUPED && !COPIES && row + 64 > self.gemm.m {
                    self.copy_box([half, t], base, [col, row, matrix]);
                } else {
                    self.store_box::<_, COPIES, ELEMENT>(&self.gemm.c, [half, t], (base, 64), [col, row, matrix]);
                }
                *buffer ^= 1;
            }
        });
    }

    /// 16-bit accumulators of Cᵀ by transposing `stmatrix`, 48 columns at a time, which are rows of C.
    #[cfg_attr(optimised, inline(always))]
    fn store_16_transposed<const COPIES: bool>(
        &self,
        pair: impl Fn(f32, f32) -> u32,
        sums: impl ReadColumns,
        [row, col, matrix]: [u32; 3],
        buffer: &mut u32,
        [half, t]: [u32; 2],
    ) {
        let (own, lane) = (half * STAGING as u32, t % 32);
        // What this lane names for `stmatrix`: a row of the left or the right pair of 8 × 8, which are below each other
        // once they are transposed, and of which the upper and the lower one lie side by side then.
        let (named, chunk) = (lane / 16 * 8 + lane % 8, (t / 32 * 2 + lane / 8 % 2) ^ (lane % 8));
        sums.for_each_16_columns(|first, values| {
            let within = first % 48;
            if within == 0 {
                Self::acquire_box::<1>([half, t]);
            }
            let pairs =
                each!([0, 2, 4, 6], |i: usize| pair(self.gemm.alpha * values[i], self.gemm.alpha * values[i + 1]));
            let base = own + (*buffer & 1) * BOX;
            stmatrix::<4, true, _, 4>(self.staging.slot::<4>(base + (within + named) * LINE + chunk * 4), pairs);
            if within == 32 {
                self.store_box::<_, COPIES, 1>(&self.gemm.c, [half, t], (base, 48), [row, col + first - 32, matrix]);
                *buffer ^= 1;
            }
        });
    }

    /// `f32` or `i32`, 32 columns at a time, each of them `ELEMENT` elements of the map.
    #[cfg_attr(optimised, inline(always))]
    fn store_32<F: Form, const COPIES: bool, const ELEMENT: u32>(
        &self,
        to: &VecMut<'_, f32>,
        sums: impl ReadColumns,
        [row, col, matrix]: [u32; 3],
        buffer: &mut u32,
        [half, t]: [u32; 2],
    ) {
        let (own, left, (top, down)) = (half * STAGING as u32, t % 4 * 2, F::rows(t));
        sums.for_each_8_columns(|first, values| {
            if first % LINE == 0 {
                Self::acquire_box::<1>([half, t]);
            }
            let base = own + (*buffer & 1) * BOX;
            let [a, b, c, d] = each!(values, |value| self.scaled(value));
            self.staging.set_vec::<2>(base + swizzled(top, first % LINE + left), Vec2::new([a, b]));
            self.staging.set_vec::<2>(base + swizzled(top + down, first % LINE + left), Vec2::new([c, d]));
            if first % LINE == LINE - 8 {
                self.store_box::<_, COPIES, ELEMENT>(
                    to,
                    [half, t],
                    (base, 64),
                    [col + first - (LINE - 8), row, matrix],
                );
                *buffer ^= 1;
            }
        });
    }

    /// `f32` accumulators of Cᵀ with A in registers, 64 columns at a time, which are rows of C: two boxes side by side.
    #[cfg_attr(optimised, inline(always))]
    fn store_32_transposed<const COPIES: bool>(
        &self,
        to: &VecMut<'_, f32>,
        sums: impl ReadColumns,
        [row, col, matrix]: [u32; 3],
        [half, t]: [u32; 2],
    ) {
        let (own, across, down) = (half * STAGING as u32, fragments::row(t), t % 4 * 2);
        // The box of the columns that this warp has.
        let base = own + across / LINE * BOX;
        sums.for_each_8_columns(|first, values| {
            if first % 64 == 0 {
                Self::acquire_box::<0>([half, t]);
            }
            let places = [(0, 0), (1, 0), (0, 4), (1, 4)];
            for ((i, j), value) in places.into_iter().zip(values) {
                self.staging.set(base + swizzled(first % 64 + down + i, (across + j) % LINE), self.gemm.alpha * value);
            }
            if first % 64 == 56 {
                if !COPIES {
                    fence_proxy_async();
                }
                named_barrier(half + 1, WARPGROUP_SIZE);
                let col = col + first - 56;
                if COPIES {
                    for side in 0..2 {
                        self.copy_elements(to, t, (own + side * BOX, 64), [row + side * LINE, col, matrix]);
                    }
                } else if t == 0 {
                    for side in 0..2 {
                        let at = each!([row + side * LINE, col, matrix], |x| x as i32);
                        store_3d(self.map, at, self.staging.tma_box(own + side * BOX, BOX).cast::<T>());
                    }
                    store_commit();
                }
            }
        });
    }

    /// The generic epilogue: 64 columns at a time through shared memory, so that a warp writes neighbours of C.
    #[cfg_attr(optimised, inline(always))]
    fn store_generic<F: Form>(&self, sums: impl ReadColumns, [row, col, matrix]: [u32; 3], [half, t]: [u32; 2]) {
        let own = half * STAGING as u32;
        // A tile that is no multiple of PART wide ends within one.
        let end = (if F::SWAP_AB { self.gemm.m } else { self.gemm.n }).min(col + sums.width());
        // Each part is the same code but for the registers that are staged: a loop that is not unrolled.
        let mut part = opaque(0);
        while part < sums.width().div_ceil(PART) {
            // All of it is computed again for each part: there are no registers for it beside the accumulators.
            let (t, row, end) = (opaque(t) % WARPGROUP_SIZE, opaque(row), opaque(end));
            let ((top, down), left) = (F::rows(t), t % 4 * 2);
            sums.for_each_8_columns(|first, [a, b, c, d]| {
                if first / PART != part {
                    return;
                }
                let left = first % PART + left;
                if F::SWAP_AB {
                    let places = [(left, top), (left + 1, top), (left, top + down), (left + 1, top + down)];
                    for ((line, column), value) in places.into_iter().zip([a, b, c, d]) {
                        self.staging.set(own + staged(line, column), value);
                    }
                } else {
                    // The row further down is changed as this one.
                    let at = own + staged(top, left);
                    self.staging.set_vec::<2>(at, Vec2::new([a, b]));
                    self.staging.set_vec::<2>(at + down * PART, Vec2::new([c, d]));
                }
                if first % PART == PART - 8 {
                    // Merged with the stores of other parts, which differ in what they store, these would want it
                    // copied.
                    let _ = opaque(part);
                }
            });
            named_barrier(half + 1, WARPGROUP_SIZE);
            let col = col + part * PART;
            if F::SWAP_AB {
                self.store_part([half, t], [col, row, matrix], [end, self.gemm.n]);
            } else {
                self.store_part([half, t], [row, col, matrix], [self.gemm.m, end]);
            }
            named_barrier(half + 1, WARPGROUP_SIZE);
            part += 1;
        }
    }

    /// Stores the part of C at `[row, column, matrix]`, 64 rows and [`PART`] columns, from this warpgroup's staging
    /// memory; it ends at row and column `ends`.
    #[cfg_attr(optimised, inline(always))]
    fn store_part(&self, [half, t]: [u32; 2], [row, columns, matrix]: [u32; 3], ends: [u32; 2]) {
        let own = half * STAGING as u32;
        let lines = ends[0].saturating_sub(row).min(64);
        // What the flags ask for is not decided before the tiles are computed: there are no registers for it then.
        let gemm = GemmArgs { flags: opaque(self.gemm.flags), ..self.gemm };
        if gemm.has_quads(ends[1]) {
            let quad = t % (PART / 4) * 4;
            let mut line = t / (PART / 4);
            while line < lines && columns + quad < ends[1] {
                let values = self.staging.get_vec4(own + staged(line % 64, quad)).lanes;
                let at = gemm.index(matrix, row + line, columns + quad);
                gemm.store_quad(values, at, (row + line, columns + quad));
                line += WARPGROUP_SIZE / (PART / 4);
            }
        } else {
            let column = columns + t % PART;
            let mut line = t / PART;
            while line < lines && column < ends[1] {
                let value = self.staging.get(own + staged(line % 64, t % PART));
                gemm.store(value, gemm.index(matrix, row + line, column), (row + line, column));
                line += WARPGROUP_SIZE / PART;
            }
        }
    }

    /// Stores of a box of 16-bit elements, staged as for TMA, the rows that C has: threads copy 16 bytes at a time.
    #[cfg_attr(optimised, inline(always))]
    fn copy_box(&self, [half, t]: [u32; 2], base: u32, [col, row, matrix]: [u32; 3])
    where
        T::Stored: Lanes<8>,
    {
        named_barrier(half + 1, WARPGROUP_SIZE);
        let (lines, chunk) = (self.gemm.m.saturating_sub(row).min(64), t % 8);
        let mut line = t / 8;
        while line < lines && col + chunk * 8 < self.gemm.n {
            let eight = self.staging.get_vec4(base + line % 64 * LINE + (chunk ^ (line % 8)) * 4);
            let at = self.gemm.index(matrix, row + line, col + chunk * 8) / 8;
            self.gemm.c.vectors_mut::<8>().set_within(at as usize, bits_as::<_, Vec8<T::Stored>>(eight));
            line += WARPGROUP_SIZE / 8;
        }
        // An empty group: who waits for all but the last one waits for the other buffer.
        if t == 0 {
            store_commit();
        }
    }
}
