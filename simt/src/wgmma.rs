//! Products of matrices by a warpgroup, on the tensor cores of compute capability 9.0 (`wgmma`).
//!
//! All 128 threads of a warpgroup (see [`warpgroup`](crate::warpgroup)) call together. D (64 × `COLS`) += A (64 × k) · B
//! (k × `COLS`): D lies in the threads' registers, [`Accumulators`]; B in shared memory; A in shared memory or in registers.
//! An operand in shared memory is an [`Operand`], the same in all threads.
//!
//! The products run while the threads go on. [`Accumulators::multiply`] starts a *group* of them and waits until at most
//! `PENDING` groups are under way; what its own group, if it is among those, reads and writes must then be left alone:
//! the values of the accumulators, and the operands' shared memory, until a wait that covers it. Operands that ordinary
//! stores have written (and not the copy engine) need a `fence.proxy.async` in each writing thread before the barrier.
//!
//! While a product is under way, its accumulators must stay where they are. What makes ptxas wait for it nevertheless
//! (its messages C7510 to C7519, which the audit refuses) is a use of them before the wait, also on a path that is never
//! taken: a bounds check that is left in the loop, for one. Step through an operand by [`Operand::advance`], which has none.
//!
//! # Layouts in shared memory
//!
//! An operand is made of *atoms* of 8 rows; a row is one of A, or one column of B, or, in the other order, one step along k.
//! Its length is that of the [`Swizzle`]: 16 bytes without, else 32, 64 or 128. An atom is these rows packed, the
//! 16-byte pieces of each in the swizzle's order; with a swizzle it starts at a multiple of 256, 512 or 1024 bytes.
//!
//! - [K-major](KMajor): a row runs along k. `stride` is the distance in bytes from one 8 rows of A (columns of
//!   B) to the next. `leading` is, without swizzle, the distance from 16 bytes of k to the next 16; with one it is not used,
//!   because an instruction's 32 bytes of k lie in one atom. The next instruction along k then starts 32 bytes on.
//! - [MN-major](MnMajor) (16-bit numbers only): a row runs along m or n, the 8 rows of an atom along k. With a
//!   swizzle, `stride` is the distance from 8 steps of k to the next 8, `leading` that from one row's length of m or n to
//!   the next; without, the two change places: `leading` goes along k and `stride` along m or n.
//!
//! So for a tile of 64 k of 16-bit numbers per row of 128 bytes, as the copy engine brings it with [`Swizzle::B128`]:
//!
//! | tile in shared memory | `leading` | `stride` | step of k |
//! |---|---|---|---|
//! | A as rows × 64 of k; B as columns × 64 of k | not used | 1024 | 32 |
//! | A or B as k × 64 of m or n, such boxes of `K` steps of k one after the other | 128 · `K` | 1024 | 2048 |
//!
//! # Numbers
//!
//! As for [`matrix`](crate::matrix#numbers).

use core::fmt;

pub use crate::tma::Swizzle;
use crate::{arch, arch::wgmma::Fragment, async_copy::SharedSlot, element::Element, matrix::Kind};

/// A matrix in shared memory: where it starts, and how its atoms lie (the *matrix descriptor* of PTX).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand(u64);

impl Operand {
    /// The matrix that starts at `tile`, whose extent does not matter here. Start, `leading` and `stride` are multiples of 16 bytes
    /// below 256 KiB; the [module](self) says what they are. On the GPU lower bits are lost; the simulator reports them.
    #[inline(always)]
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

    /// The matrix `bytes` further on, a multiple of 16.
    #[inline(always)]
    #[must_use]
    pub const fn advance(self, bytes: u32) -> Self {
        Self(self.0 + (bytes >> 4) as u64)
    }
}

mod sealed {
    pub trait Sealed {}
}

/// The order in which an operand lies in shared memory, and the bytes by which its descriptor advances from one product along k
/// to the next: [`KMajor`] or [`MnMajor`].
pub trait Major: sealed::Sealed + Copy + fmt::Debug {
    /// Whether rows run along m or n, not along k.
    const IS_MN: bool;
    /// Bytes from one product to the next, a multiple of 16.
    const ADVANCE: u32;
}

/// K-major: rows run along k. With a swizzle the next 32 bytes of k follow.
#[derive(Clone, Copy, Debug)]
pub enum KMajor<const ADVANCE: u32 = 32> {}
impl<const ADVANCE: u32> sealed::Sealed for KMajor<ADVANCE> {}
impl<const ADVANCE: u32> Major for KMajor<ADVANCE> {
    const IS_MN: bool = false;
    const ADVANCE: u32 = ADVANCE;
}

/// MN-major: rows run along m (of A) or n (of B). The next 16 steps of k are two atoms of 1024 bytes further on where rows have
/// 128 bytes.
#[derive(Clone, Copy, Debug)]
pub enum MnMajor<const ADVANCE: u32 = 2048> {}
impl<const ADVANCE: u32> sealed::Sealed for MnMajor<ADVANCE> {}
impl<const ADVANCE: u32> Major for MnMajor<ADVANCE> {
    const IS_MN: bool = true;
    const ADVANCE: u32 = ADVANCE;
}

/// Columns of D: the extents along n for which there is an instruction here.
#[diagnostic::on_unimplemented(
    message = "no product has so many columns",
    note = "choose 8, 16, 32, 64, 96, 128, 136, 144, 192 or 256"
)]
pub trait Width: sealed::Sealed {
    /// A thread's part of D.
    #[doc(hidden)]
    type Values: Fragment;
}

/// Carries a number of columns, for [`Width`].
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

/// D of a warpgroup, 64 × `COLS` numbers in `f32`; of each thread, its `COLS` / 2 of them.
///
/// [`Self::position`] says which those are. They stay in registers only as long as every index is a constant: read them
/// by [`Self::for_each`] and its kin.
///
/// ```
/// use half::bf16;
/// use simt::{prelude::*, wgmma::*};
///
/// /// Tiles that the copy engine brings.
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
    /// Whether products are under way that will change them, which only the simulator asks for.
    flight: arch::wgmma::Flight,
}

impl<const COLS: usize> Accumulators<COLS>
where
    Columns<COLS>: Width,
{
    /// Zeros.
    #[inline(always)]
    pub fn zeroed() -> Self {
        // SAFETY: an array of `f32`. Not `[0.0; N]`, which is a loop, and would put the array into memory.
        Self { values: unsafe { core::mem::zeroed() }, flight: arch::wgmma::Flight::default() }
    }

    /// Adds `STEPS` products (1, 2 or 4), each of [`Kind::DEPTH`] along k, the descriptors of A and B being advanced from one to
    /// the next as their [`Major`] says; then waits until at most `PENDING` groups of this warpgroup are under way. If `fresh`,
    /// the first product overwrites what was there.
    ///
    /// An operand of [`Tf32`](crate::matrix::Tf32) cannot be [`MnMajor`].
    ///
    /// One block of instructions: `wgmma.fence`, the `wgmma.mma_async`, `wgmma.commit_group`, `wgmma.wait_group`.
    #[inline(always)]
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
            assert!(K::BYTES == 2 || !(A::IS_MN || B::IS_MN), "operands of 32-bit numbers are K-major");
            assert!(PENDING < 8, "at most 7 groups may stay under way");
        }
        self.values.multiply::<STEPS, A, B, PENDING>(&mut self.flight, K::CODE, a.0, b.0, fresh);
    }

    /// [`Self::multiply`] with A in registers, and a wait for all groups at the end: the registers could not be used again
    /// before. Step s takes `a[s]`, the fragment of A of [`mma_sync`](crate::matrix::mma_sync) with this warp's 16 rows.
    #[inline(always)]
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
            assert!(K::BYTES == 2 || !B::IS_MN, "operands of 32-bit numbers are K-major");
        }
        self.values.multiply_registers::<STEPS, B>(&mut self.flight, K::CODE, a, b.0, fresh);
    }

    /// Waits until at most `PENDING` groups of this warpgroup are under way.
    #[inline(always)]
    #[track_caller]
    pub fn wait<const PENDING: u32>(&mut self) {
        const { assert!(PENDING < 8, "at most 7 groups may stay under way") }
        self.values.wait::<PENDING>(&mut self.flight);
    }

    /// Value `i` of this thread, below `COLS` / 2.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub fn get(&self, i: u32) -> f32 {
        self.flight.settled();
        self.values.as_ref()[i as usize]
    }

    /// Row and column in D of value `i` of this thread: 8 columns take 4 values, of which two neighbours are in one row
    /// and the other two 8 rows below; a warp has 16 rows.
    #[inline(always)]
    #[must_use]
    pub fn position(i: u32) -> (u32, u32) {
        let thread = crate::thread::index_in_block() % crate::warpgroup::WARPGROUP_SIZE;
        let (warp, lane) = (thread / 32, thread % 32);
        (16 * warp + lane / 4 + i / 2 % 2 * 8, i / 4 * 8 + 2 * (lane % 4) + i % 2)
    }

    /// Calls `body` with each value of this thread and its index, written out.
    #[inline(always)]
    #[track_caller]
    pub fn for_each(&self, body: impl FnMut(u32, f32)) {
        self.flight.settled();
        self.values.for_each(body);
    }

    /// Calls `body` with each 8 columns' 4 values of this thread, and the first of those columns, written out. `[0]` and
    /// `[1]` are in one row, `[2]` and `[3]` 8 rows below: fragments of two 8 × 8 matrices.
    #[inline(always)]
    #[track_caller]
    pub fn for_each_8_columns(&self, body: impl FnMut(u32, [f32; 4])) {
        self.flight.settled();
        self.values.for_each_8_columns(body);
    }

    /// Replaces each 8 columns' 4 values of this thread by what `body` makes of them, as [`Self::for_each_8_columns`] goes
    /// through them.
    #[inline(always)]
    #[track_caller]
    pub fn map_8_columns(&mut self, body: impl FnMut(u32, [f32; 4]) -> [f32; 4]) {
        self.flight.settled();
        self.values.map_8_columns(body);
    }

    /// Calls `body` with each 16 columns' 8 values of this thread, and the first of those columns, written out; the
    /// values of the left 8 columns first. `COLS` is at least 16; the last 8 of an odd multiple of 8 are left out.
    #[inline(always)]
    #[track_caller]
    pub fn for_each_16_columns(&self, body: impl FnMut(u32, [f32; 8])) {
        const { assert!(COLS >= 16, "there are 8 columns") }
        self.flight.settled();
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
