//! `wgmma` of every element type, several widths, major orders and swizzles.

use half::{bf16, f16};
use simt::{
    element::Element,
    float8::{E4m3, E5m2},
    matrix::{Kind, Tf32},
    prelude::*,
    sync::fence_proxy_async,
    warpgroup::{decrease_registers, increase_registers, warpgroup_id},
    wgmma::{Accumulators, Columns, KMajor, Major, MnMajor, Swizzle, Width},
};

use super::wgmma_layout::Layout;

/// Threads of a block.
pub const BLOCK: u32 = 128;

/// Shared memory for A of 64 rows and B of up to 256 columns, each with 128 bytes along k.
#[repr(C, align(1024))]
#[derive(Shared)]
pub struct Operands<T: Element, const A: usize, const B: usize> {
    a: SharedArray<T, A>,
    b: SharedArray<T, B>,
}

/// Operands of 16-bit numbers.
pub type Halves<T> = Operands<T, 4096, 16384>;
/// Operands of 8-bit numbers.
pub type Bytes<T> = Operands<T, 8192, 32768>;
/// Operands of 32-bit numbers.
pub type Words = Operands<f32, 2048, 8192>;

/// Twice the product of `a` (64 × k) and `b` (k × `COLS`), in two `wgmma` groups, the first of which is in flight when
/// the second starts.
#[cfg_attr(optimised, inline(always))]
fn twice<
    K: Kind,
    T: Element,
    const A: usize,
    const B: usize,
    const COLS: usize,
    const STEPS: usize,
    MajorA: Major,
    MajorB: Major,
>(
    operands: &Operands<T, A, B>,
    (of_a, of_b): (Layout, Layout),
    a: MatRef<T>,
    b: MatRef<T>,
    zero: T,
) -> Accumulators<COLS>
where
    Columns<COLS>: Width,
{
    let threads = (thread_idx_x() % BLOCK, BLOCK);
    of_a.write(&operands.a, 0, threads, |m, k| a.get_or(m, k, zero));
    of_b.write(&operands.b, 0, threads, |n, k| b.get_or(k, n, zero));
    fence_proxy_async();
    sync_threads();
    let (at_a, at_b) = (of_a.operand(&operands.a, 0), of_b.operand(&operands.b, 0));
    let mut d = Accumulators::zeroed();
    d.multiply::<K, STEPS, MajorA, MajorB, 1>(at_a, at_b, true);
    d.multiply::<K, STEPS, MajorA, MajorB, 1>(at_a, at_b, false);
    d.wait::<0>();
    d
}

/// What the accumulators are.
trait Sums {
    /// Whether they are the bits of `i32`.
    const ARE_INTEGERS: bool = false;
}
impl Sums for f16 {}
impl Sums for bf16 {}
impl Sums for Tf32 {}
impl Sums for E4m3 {}
impl Sums for E5m2 {}
impl Sums for i8 {
    const ARE_INTEGERS: bool = true;
}

/// Writes D, the sums of products of `K`, to `c`; elements outside `c` are skipped.
#[cfg_attr(optimised, inline(always))]
fn write<K: Sums, const COLS: usize>(d: &Accumulators<COLS>, c: MatMut<f32>)
where
    Columns<COLS>: Width,
{
    let (row, col) = Accumulators::<COLS>::position(0);
    let value = |sum: f32| if K::ARE_INTEGERS { sum.to_bits() as i32 as f32 } else { sum };
    d.for_each_8_columns(|first, sums| {
        let [a, b, e, f] = sums.map(value);
        c.set_within(row, first + col, a);
        c.set_within(row, first + col + 1, b);
        c.set_within(row + 8, first + col, e);
        c.set_within(row + 8, first + col + 1, f);
    });
}

macro_rules! products {
    ($($name:ident: $kind:ty, $operands:ty => $t:ty, $cols:literal columns, $steps:literal steps,
       A $a:ident $major_a:ident, B $b:ident $major_b:ident;)+) => {$(
        /// `c` (64 × columns) becomes twice the product of `a` (64 × k) and `b` (k × columns). One block.
        #[kernel(block = (BLOCK), barriers = 1)]
        pub fn $name(#[shared] operands: &$operands, a: MatRef<$t>, b: MatRef<$t>, c: MatMut<f32>) {
            const DEPTH: u32 = $steps * <$kind as Kind>::DEPTH;
            const BYTES: u32 = <$kind as Kind>::BYTES;
            const A: Layout =
                Layout {
                        swizzle: Swizzle::$a, mn_major: <$major_a as Major>::IS_MN, bytes: BYTES,
                        extent: 64, depth: DEPTH
                    };
            const B: Layout =
                Layout {
                        swizzle: Swizzle::$b, mn_major: <$major_b as Major>::IS_MN, bytes: BYTES,
                        extent: $cols, depth: DEPTH
                    };
            let zero = <$t>::default();
            let d = twice::<$kind, $t, _, _, $cols, $steps, $major_a<{ A.step() }>, $major_b<{ B.step() }>>(
                operands, (A, B), a, b, zero,
            );
            write::<$kind, _>(&d, c);
        }
    )+};
}

products! {
    wgmma_f16_n8: f16, Halves<f16> => f16, 8 columns, 1 steps, A B32 KMajor, B B32 KMajor;
    wgmma_bf16_n16: bf16, Halves<bf16> => bf16, 16 columns, 4 steps, A None KMajor, B None KMajor;
    wgmma_tf32_n32: Tf32, Words => f32, 32 columns, 2 steps, A B64 KMajor, B B64 KMajor;
    wgmma_f16_n64: f16, Halves<f16> => f16, 64 columns, 4 steps, A B128 KMajor, B B128 MnMajor;
    wgmma_bf16_n96: bf16, Halves<bf16> => bf16, 96 columns, 2 steps, A B64 MnMajor, B B32 MnMajor;
    wgmma_f16_n128: f16, Halves<f16> => f16, 128 columns, 2 steps, A None MnMajor, B None MnMajor;
    wgmma_bf16_n192: bf16, Halves<bf16> => bf16, 192 columns, 4 steps, A B128 MnMajor, B B64 MnMajor;
    wgmma_tf32_n256: Tf32, Words => f32, 256 columns, 4 steps, A B128 KMajor, B B128 KMajor;
    wgmma_i8_n16: i8, Bytes<i8> => i8, 16 columns, 1 steps, A None KMajor, B B32 KMajor;
    wgmma_i8_n192: i8, Bytes<i8> => i8, 192 columns, 2 steps, A B64 KMajor, B B64 KMajor;
    wgmma_i8_n256: i8, Bytes<i8> => i8, 256 columns, 4 steps, A B128 KMajor, B B128 KMajor;
    wgmma_e4m3_n128: E4m3, Bytes<E4m3> => E4m3, 128 columns, 4 steps, A B128 KMajor, B B128 KMajor;
    wgmma_e4m3_n136: E4m3, Bytes<E4m3> => E4m3, 136 columns, 2 steps, A B64 KMajor, B B64 KMajor;
    wgmma_e5m2_n256: E5m2, Bytes<E5m2> => E5m2, 256 columns, 4 steps, A B128 KMajor, B B128 KMajor;
}

/// `c` (64 × 64) becomes the product of `a` (64 × 32) and `b` (32 × 64), with A in registers. One block.
#[kernel(block = (BLOCK), barriers = 1)]
pub fn wgmma_rs_f16(#[shared] operands: &Halves<f16>, a: MatRef<f16>, b: MatRef<f16>, c: MatMut<f32>) {
    const B: Layout = Layout { swizzle: Swizzle::B128, mn_major: true, bytes: 2, extent: 64, depth: 32 };
    let t = thread_idx_x();
    B.write(&operands.b, 0, (t, BLOCK), |n, k| b.get_or(k, n, f16::ZERO));
    fence_proxy_async();
    sync_threads();
    let (row, col) = (t / 32 * 16 + t % 32 / 4, t % 4 * 2);
    let pair = |row, col| {
        let [low, high] = [col, col + 1].map(|col| u32::from(a.get_or(row, col, f16::ZERO).to_bits()));
        low | high << 16
    };
    let fragment =
        |k: u32| [pair(row, k + col), pair(row + 8, k + col), pair(row, k + 8 + col), pair(row + 8, k + 8 + col)];
    let mut d = Accumulators::<64>::zeroed();
    let at = B.operand(&operands.b, 0);
    d.multiply_registers::<f16, 2, MnMajor<{ B.step() }>>([fragment(0), fragment(16)], at, true);
    write::<f16, _>(&d, c);
}

/// `c` (64 × 128) becomes the product of `a` (64 × 8) and `b` (8 × 128), with A in registers, by one of two warpgroups,
/// to which the other has released registers. One block.
#[kernel(block = (256), min_blocks = 1, barriers = 1)]
pub fn wgmma_rs_tf32(#[shared] operands: &Words, a: MatRef<f32>, b: MatRef<f32>, c: MatMut<f32>) {
    const B: Layout = Layout { swizzle: Swizzle::B32, mn_major: false, bytes: 4, extent: 128, depth: 8 };
    let t = thread_idx_x();
    B.write(&operands.b, 0, (t, 256), |n, k| b.get_or(k, n, 0.0));
    fence_proxy_async();
    sync_threads();
    if warpgroup_id() == 0 {
        decrease_registers::<40>();
    } else {
        increase_registers::<232>();
        let (row, col) = (t / 32 % 4 * 16 + t % 32 / 4, t % 4);
        let number = |row, col| a.get_or(row, col, 0.0).to_bits();
        let fragment = [number(row, col), number(row + 8, col), number(row, col + 4), number(row + 8, col + 4)];
        let mut d = Accumulators::<128>::zeroed();
        d.multiply_registers::<Tf32, 1, KMajor>([fragment], B.operand(&operands.b, 0), true);
        write::<Tf32, _>(&d, c);
    }
}
