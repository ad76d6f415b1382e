//! Matrix multiply-accumulate by a warpgroup on the tensor cores of compute capability 9.0 (`wgmma`).
//!
//! All 128 threads of a [warpgroup](crate::warpgroup) call together. D (64 × `COLS`) += A (64 × k) · B (k × `COLS`). D
//! is in the threads' registers, [`Accumulators`]; B in shared memory; A in shared memory or registers. An operand in
//! shared memory is an [`Operand`], the same in all threads.
//!
//! The instructions are asynchronous. [`Accumulators::multiply`] issues a *group* of them and waits until at most
//! `PENDING` groups are in flight. Until a wait covers its own group, a thread must not read the values of the
//! accumulators, nor write the operands in shared memory. Operands written by ordinary stores, not by TMA, need a
//! [`fence_proxy_async`](crate::sync::fence_proxy_async) in each writing thread before the barrier.
//!
//! While a group is in flight its accumulators must stay in their registers. A use of them before the wait, even on a
//! path that is never taken such as a remaining bounds check, makes ptxas serialise the instructions (its messages
//! C7510 to C7519, which the audit refuses). Step through an operand by [`Operand::advance`], which has no check.
//!
//! # Layouts in shared memory
//!
//! An operand consists of *atoms* of 8 rows. In K-major order a row is a row of A or a column of B; in MN-major order
//! it is one step along k. Its length is that of the [`Swizzle`]: 16 bytes without, else 32, 64 or 128. The rows of an
//! atom are packed, the 16-byte segments of each permuted by the swizzle; with a swizzle an atom starts at a multiple
//! of 256, 512 or 1024 bytes.
//!
//! - [K-major](KMajor): a row runs along k. `stride` is the distance in bytes from 8 rows of A (columns of B) to the
//!   next 8. Without a swizzle, `leading` is the distance from 16 bytes of k to the next 16; with one it is not used,
//!   because the 32 bytes of k of one instruction are in one atom. The next instruction along k starts 32 bytes later.
//! - [MN-major](MnMajor) (16-bit numbers only): a row runs along m or n, the 8 rows of an atom along k. With a swizzle,
//!   `stride` is the distance from 8 steps of k to the next 8, `leading` the distance from the m or n of one row's
//!   length to the next. Without a swizzle the two are exchanged: `leading` along k, `stride` along m or n.
//!
//! For 16-bit numbers in rows of 128 bytes, as TMA loads them with [`Swizzle::B128`]:
//!
//! | tile in shared memory | `leading` | `stride` | advance |
//! |---|---|---|---|
//! | A as rows × 64 of k; B as columns × 64 of k | not used | 1024 | 32 |
//! | A or B as k × 64 of m or n, in consecutive boxes of `K` steps of k | 128 · `K` | 1024 | 2048 |
//!
//! # Numbers
//!
//! As for [`matrix`](crate::matrix#numbers), but for 8-bit numbers, whose operands are K-major both:
//!
//! - Sums of products of `i8` are `i32`, exact modulo 2³². [`Accumulators`] hold their bits: value `x` is the integer
//!   `x.to_bits() as i32`, and zeros are zeros. There is no instruction of 136 columns.
//! - Products of [`E4m3`](crate::float8::E4m3) and [`E5m2`](crate::float8::E5m2) are added with fewer bits than an
//!   `f32` has. NVIDIA does not document how many; others report that a term is cut off 13 bits below the leading bit
//!   of the largest one of an instruction, the accumulator included. On an H200, sums of 8192 random products are off
//!   by up to 2.4 · 10⁻⁴ of the sum of magnitudes. So long sums belong into a second accumulator, to which those of 128
//!   products or so are added ([`Accumulators::add`]). The simulator adds them as it adds others.

use core::fmt;

use crate::matrix::{Code, Kind};
pub use crate::tma::Swizzle;
use crate::{arch, arch::wgmma::Fragment, async_copy::SharedSlot, element::Element};

/// A matrix in shared memory: its start and the distances of its atoms (the *matrix descriptor* of PTX).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand(u64);

impl Operand {
    /// The matrix that starts at `tile`; the extent of the slot is not used. Start, `leading` and `stride` are
    /// multiples of 16 bytes below 256 KiB; the [module](self) defines them. A GPU ignores their lower 4 bits; the
    /// simulator reports them.
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    #[must_use]
    pub fn new<T: Element, const N: usize>(
        tile: SharedSlot<'_, T, N>,
        leading: u32,
        stride: u32,
        swizzle: Swizzle,
    ) -> Self {
        let start = arch::wgmma::start(tile.address().cast(), leading, stride);
        let field = |bytes: u32| u64::from((bytes & 0x3FFFF) >> 4);
        let mode = match swizzle {
            Swizzle::None => 0,
            Swizzle::B128 => 1,
            Swizzle::B64 => 2,
            Swizzle::B32 => 3,
        };
        Self(field(start) | field(leading) << 16 | field(stride) << 32 | mode << 62)
    }

    /// The matrix that starts `bytes` later, a multiple of 16.
    #[cfg_attr(optimised, inline(always))]
    #[must_use]
    pub const fn advance(self, bytes: u32) -> Self {
        // The start is in the lower half: no carry to compute.
        let [low, high] = [self.0 as u32, (self.0 >> 32) as u32];
        Self(low.wrapping_add(bytes >> 4) as u64 | (high as u64) << 32)
    }
}

mod sealed {
    pub trait Sealed {}
}

/// The order of an operand in shared memory, and the advance of its descriptor from one instruction to the next along
/// k: [`KMajor`] or [`MnMajor`].
pub trait Major: sealed::Sealed + Copy + fmt::Debug {
    /// Whether rows run along m or n rather than k.
    const IS_MN: bool;
    /// Bytes from one instruction along k to the next, a multiple of 16.
    const ADVANCE: u32;
}

/// K-major: rows run along k. By default the next 32 bytes of the row, for operands with a swizzle.
#[derive(Clone, Copy, Debug)]
pub enum KMajor<const ADVANCE: u32 = 32> {}
impl<const ADVANCE: u32> sealed::Sealed for KMajor<ADVANCE> {}
impl<const ADVANCE: u32> Major for KMajor<ADVANCE> {
    const IS_MN: bool = false;
    const ADVANCE: u32 = ADVANCE;
}

/// MN-major: rows run along m (of A) or n (of B). By default the next 16 steps of k are two atoms of 1024 bytes later,
/// for rows of 128 bytes.
#[derive(Clone, Copy, Debug)]
pub enum MnMajor<const ADVANCE: u32 = 2048> {}
impl<const ADVANCE: u32> sealed::Sealed for MnMajor<ADVANCE> {}
impl<const ADVANCE: u32> Major for MnMajor<ADVANCE> {
    const IS_MN: bool = true;
    const ADVANCE: u32 = ADVANCE;
}

/// The numbers of columns of D for which there is an instruction.
#[diagnostic::on_unimplemented(
    message = "no `wgmma` instruction has this number of columns",
    note = "choose 8, 16, 32, 64, 96, 128, 136, 144, 192 or 256"
)]
pub trait Width: sealed::Sealed {
    /// The values of D that a thread holds.
    #[doc(hidden)]
    type Values: Fragment;
}

/// A number of columns as a type, for [`Width`].
#[derive(Clone, Copy, Debug)]
pub enum Columns<const COLS: usize> {}

macro_rules! widths {
    ($($cols:literal)+) => {$(
        impl sealed::Sealed for Columns<$cols> {}
        impl Width for Columns<$cols> {
            type Values = [f32; $cols / 2];
        }
    )+};
}
widths! { 8 16 32 64 96 128 136 144 192 256 }

/// Whether there are instructions of so many columns: of `i8`, multiples of 16 from 32 on.
const fn has_width(code: Code, cols: usize) -> bool {
    !matches!(code, Code::I8) || cols < 32 || cols.is_multiple_of(16)
}

/// D of a warpgroup: 64 × `COLS` numbers in `f32`, or the bits of `i32` for operands of `i8`, of which each thread
/// holds `COLS` / 2.
///
/// [`Self::position`] is the place of each of them. They stay in registers only if every index is a constant: read them
/// by [`Self::for_each`] and its variants.
///
/// ```
/// use half::bf16;
/// use simt::{prelude::*, wgmma::*};
///
/// /// Tiles that TMA loads.
/// #[repr(C, align(1024))]
/// #[derive(Shared)]
/// pub struct Tiles {
///     a: SharedTile<bf16, 64, 64>,
///     b: SharedTile<bf16, 128, 64>,
/// }
///
/// fn product(tiles: &Tiles) -> Accumulators<128> {
///     let a = Operand::new(tiles.a.slot::<8>(0, 0), 0, 1024, Swizzle::B128);
///     let b = Operand::new(tiles.b.slot::<8>(0, 0), 0, 1024, Swizzle::B128);
///     let mut d = Accumulators::zeroed();
///     d.multiply::<bf16, 4, KMajor, KMajor, 0>(a, b, true);
///     d
/// }
/// ```
#[must_use]
pub struct Accumulators<const COLS: usize>
where
    Columns<COLS>: Width,
{
    values: <Columns<COLS> as Width>::Values,
    /// The group in flight that will change the values; used by the simulator only.
    flight: arch::wgmma::Flight,
}

impl<const COLS: usize> Accumulators<COLS>
where
    Columns<COLS>: Width,
{
    /// Zeros.
    #[cfg_attr(optimised, inline(always))]
    pub fn zeroed() -> Self {
        // SAFETY: an array of `f32`. Not `[0.0; N]`, which is a loop and would put the array into local memory.
        Self { values: unsafe { core::mem::zeroed() }, flight: arch::wgmma::Flight::default() }
    }

    /// Issues a group of `STEPS` instructions (1, 2 or 4), each of [`Kind::DEPTH`] along k, then waits until at most
    /// `PENDING` groups of this warpgroup are in flight. From one instruction to the next the descriptors of A and B
    /// advance as their [`Major`] states. If `fresh`, the first instruction overwrites D instead of adding to it.
    ///
    /// Operands of 8-bit numbers and of [`Tf32`](crate::matrix::Tf32) cannot be [`MnMajor`].
    ///
    /// PTX: one `wgmma.fence`, the `wgmma.mma_async`, `wgmma.commit_group` and `wgmma.wait_group`.
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    pub fn multiply<K: Kind, const STEPS: usize, A: Major, B: Major, const PENDING: u32>(
        &mut self,
        a: Operand,
        b: Operand,
        fresh: bool,
    ) {
        const {
            assert!(matches!(STEPS, 1 | 2 | 4), "1, 2 or 4 products in a group");
            assert!(
                A::ADVANCE.is_multiple_of(16) && B::ADVANCE.is_multiple_of(16),
                "advances are multiples of 16 bytes"
            );
            assert!(K::BYTES == 2 || !(A::IS_MN || B::IS_MN), "operands of 8-bit and 32-bit numbers are K-major");
            assert!(has_width(K::CODE, COLS), "there is no such product of `i8`: 136 columns");
            assert!(PENDING < 8, "at most 7 groups may be in flight");
        }
        self.values.multiply::<STEPS, A, B, PENDING>(&mut self.flight, K::CODE, a.0, b.0, fresh);
    }

    /// [`Self::multiply`] with A in registers, and a wait for all groups, since the registers cannot be reused before.
    /// Instruction s takes `a[s]`, the fragment of A of [`mma_sync`](crate::matrix::mma_sync) with this warp's 16 rows.
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    pub fn multiply_registers<K: Kind, const STEPS: usize, B: Major>(
        &mut self,
        a: [[u32; 4]; STEPS],
        b: Operand,
        fresh: bool,
    ) {
        const {
            assert!(matches!(STEPS, 1 | 2 | 4), "1, 2 or 4 products in a group");
            assert!(B::ADVANCE.is_multiple_of(16), "advances are multiples of 16 bytes");
            assert!(K::BYTES == 2 || !B::IS_MN, "operands of 8-bit and 32-bit numbers are K-major");
            assert!(has_width(K::CODE, COLS), "there is no such product of `i8`: 136 columns");
        }
        self.values.multiply_registers::<STEPS, B>(&mut self.flight, K::CODE, a, b.0, fresh);
    }

    /// Waits until at most `PENDING` groups of this warpgroup are in flight.
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    pub fn wait<const PENDING: u32>(&mut self) {
        const { assert!(PENDING < 8, "at most 7 groups may be in flight") }
        self.values.wait::<PENDING>(&mut self.flight);
    }

    /// Value `i` of this thread, `i` < `COLS` / 2.
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    #[must_use]
    pub fn get(&self, i: u32) -> f32 {
        self.flight.settled();
        self.values.as_ref()[i as usize]
    }

    /// Row and column in D of value `i` of this thread. A warp has 16 rows. Of each 8 columns a thread has 4 values:
    /// two neighbours in one row, and two neighbours 8 rows below.
    #[cfg_attr(optimised, inline(always))]
    #[must_use]
    pub fn position(i: u32) -> (u32, u32) {
        let thread = crate::thread::index_in_block() % crate::warpgroup::WARPGROUP_SIZE;
        let (warp, lane) = (thread / 32, thread % 32);
        (16 * warp + lane / 4 + i / 2 % 2 * 8, i / 4 * 8 + 2 * (lane % 4) + i % 2)
    }

    /// Calls `body` with the index and value of each value of this thread, unrolled.
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    pub fn for_each(&self, body: impl FnMut(u32, f32)) {
        self.flight.settled();
        self.values.for_each(body);
    }

    /// For each 8 columns, calls `body` with the first column and this thread's 4 values, unrolled. `[0]` and `[1]` are
    /// in one row, `[2]` and `[3]` 8 rows below: fragments of two 8 × 8 matrices.
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    pub fn for_each_8_columns(&self, body: impl FnMut(u32, [f32; 4])) {
        self.flight.settled();
        self.values.for_each_8_columns(body);
    }

    /// These accumulators without their number of columns in the type, where that saves code: on the simulator, where
    /// they are in memory. On a GPU the result is a reference to them.
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    pub fn read(&self) -> impl ReadColumns + use<'_, COLS> {
        self.flight.settled();
        #[cfg(target_arch = "nvptx64")]
        {
            self
        }
        #[cfg(not(target_arch = "nvptx64"))]
        {
            self.values.as_ref()
        }
    }

    /// For each 8 columns, replaces this thread's 4 values by the result of `body`, with the arguments of
    /// [`Self::for_each_8_columns`].
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    pub fn map_8_columns(&mut self, body: impl FnMut(u32, [f32; 4]) -> [f32; 4]) {
        self.flight.settled();
        self.values.map_8_columns(body);
    }

    /// Adds each value of `other` to that of the same place.
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    pub fn add(&mut self, other: &Self) {
        self.add_columns::<COLS>(0, other);
    }

    /// Adds each value of `other` to that of the same place in the columns from `first` on, a multiple of 8.
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    pub fn add_columns<const PART: usize>(&mut self, first: u32, other: &Accumulators<PART>)
    where
        Columns<PART>: Width,
    {
        self.add_each(first, other, |value, other, _| value + other);
    }

    /// [`Self::add_columns`] of values that are multiplied by a factor, `factors[0]` in the upper one of this thread's
    /// two rows and `factors[1]` in the other one, by fused multiply-adds.
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    pub fn add_scaled_columns<const PART: usize>(&mut self, first: u32, other: &Accumulators<PART>, factors: [f32; 2])
    where
        Columns<PART>: Width,
    {
        self.add_each(first, other, |value, other, row| crate::math::fma(other, factors[row], value));
    }

    /// Replaces values in the columns from `first` on by `add` of them, of those of `other` in the same place, and of
    /// the number of their row among this thread's two.
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    fn add_each<const PART: usize>(
        &mut self,
        first: u32,
        other: &Accumulators<PART>,
        add: impl Fn(f32, f32, usize) -> f32,
    ) where
        Columns<PART>: Width,
    {
        // A report names the caller of this function; within the closure it would name the closure's line.
        other.flight.settled();
        let others = other.values.as_ref();
        self.map_8_columns(|column, values| {
            if column < first || column >= first + PART as u32 {
                return values;
            }
            let of = |i: usize| add(values[i], others[(column - first) as usize / 2 + i], i / 2);
            [of(0), of(1), of(2), of(3)]
        });
        // Additions that are done after the next product of `other` starts want its values copied.
        self.values.pin();
    }

    /// For each 16 columns, calls `body` with the first column and this thread's 8 values, unrolled; the values of the
    /// left 8 columns come first. `COLS` is at least 16; the last 8 columns of an odd multiple of 8 are left out.
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    pub fn for_each_16_columns(&self, body: impl FnMut(u32, [f32; 8])) {
        const { assert!(COLS >= 16, "there are 8 columns") }
        self.flight.settled();
        self.values.for_each_16_columns(body);
    }
}

/// Accumulators of any number of columns, to read: for functions that need not be compiled for each number. See
/// [`Accumulators::read`].
pub trait ReadColumns: Copy {
    /// The number of columns.
    fn width(self) -> u32;
    /// [`Accumulators::for_each_8_columns`].
    fn for_each_8_columns(self, body: impl FnMut(u32, [f32; 4]));
    /// [`Accumulators::for_each_16_columns`].
    fn for_each_16_columns(self, body: impl FnMut(u32, [f32; 8]));
}

#[cfg(target_arch = "nvptx64")]
impl<const COLS: usize> ReadColumns for &Accumulators<COLS>
where
    Columns<COLS>: Width,
{
    #[cfg_attr(optimised, inline(always))]
    fn width(self) -> u32 {
        COLS as u32
    }
    #[cfg_attr(optimised, inline(always))]
    fn for_each_8_columns(self, body: impl FnMut(u32, [f32; 4])) {
        self.values.for_each_8_columns(body);
    }
    #[cfg_attr(optimised, inline(always))]
    fn for_each_16_columns(self, body: impl FnMut(u32, [f32; 8])) {
        self.values.for_each_16_columns(body);
    }
}

impl<const COLS: usize> fmt::Debug for Accumulators<COLS>
where
    Columns<COLS>: Width,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Accumulators").field("columns", &COLS).finish_non_exhaustive()
    }
}
