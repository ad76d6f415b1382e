//! Tensor core instructions of a warp. They are `asm!`, although a warp's threads execute them together: LLVM's
//! intrinsics take pointers that Rust has no type for. Not `pure`, so that LLVM neither drops them nor moves them
//! across branches.

use core::arch::asm;

use super::memory::shared_address;
use crate::matrix::Code;

macro_rules! load {
    ($address:ident, $op:literal, $operands:literal: $($r:ident)+) => {{
        $(let $r: u32;)+
        asm!(
            concat!("ldmatrix.sync.aligned.m8n8.", $op, ".shared.b16 {{", $operands, "}}, [{address}];"),
            address = in(reg32) $address,
            $($r = out(reg32) $r,)+
            options(nostack, preserves_flags)
        );
        [$($r),+]
    }};
}

macro_rules! store {
    ($address:ident, $op:literal, $operands:literal: $($r:ident = $value:expr),+) => {
        asm!(
            concat!("stmatrix.sync.aligned.m8n8.", $op, ".shared.b16 [{address}], {{", $operands, "}};"),
            address = in(reg32) $address,
            $($r = in(reg32) $value,)+
            options(nostack, preserves_flags)
        )
    };
}

/// The first `N` of `M` registers.
#[inline(always)]
fn first<const M: usize, const N: usize>(registers: [u32; M]) -> [u32; N] {
    core::array::from_fn(|i| registers[i])
}

/// # Safety
/// `row` is the start of 16 bytes of the block's shared memory.
#[inline(always)]
pub(crate) unsafe fn load<const COUNT: usize, const TRANSPOSE: bool>(row: *const u8) -> [u32; COUNT] {
    let address = shared_address(row);
    // SAFETY: the caller's promise.
    unsafe {
        match (COUNT, TRANSPOSE) {
            (1, false) => first(load!(address, "x1", "{a}": a)),
            (1, true) => first(load!(address, "x1.trans", "{a}": a)),
            (2, false) => first(load!(address, "x2", "{a}, {b}": a b)),
            (2, true) => first(load!(address, "x2.trans", "{a}, {b}": a b)),
            (_, false) => first(load!(address, "x4", "{a}, {b}, {c}, {d}": a b c d)),
            (_, true) => first(load!(address, "x4.trans", "{a}, {b}, {c}, {d}": a b c d)),
        }
    }
}

/// # Safety
/// `row` is the start of 16 bytes of the block's shared memory.
#[inline(always)]
pub(crate) unsafe fn store<const COUNT: usize, const TRANSPOSE: bool>(row: *mut u8, v: [u32; COUNT]) {
    let address = shared_address(row);
    // SAFETY: the caller's promise.
    unsafe {
        match (COUNT, TRANSPOSE) {
            (1, false) => store!(address, "x1", "{a}": a = v[0]),
            (1, true) => store!(address, "x1.trans", "{a}": a = v[0]),
            (2, false) => store!(address, "x2", "{a}, {b}": a = v[0], b = v[1 % COUNT]),
            (2, true) => store!(address, "x2.trans", "{a}, {b}": a = v[0], b = v[1 % COUNT]),
            (_, false) => store!(
                address, "x4", "{a}, {b}, {c}, {d}": a = v[0], b = v[1 % COUNT], c = v[2 % COUNT], d = v[3 % COUNT]
            ),
            (_, true) => store!(
                address, "x4.trans", "{a}, {b}, {c}, {d}":
                a = v[0], b = v[1 % COUNT], c = v[2 % COUNT], d = v[3 % COUNT]
            ),
        }
    }
}

macro_rules! multiply {
    ($op:literal, $a:ident, $b:ident, $c:ident) => {{
        let [mut c0, mut c1, mut c2, mut c3] = $c;
        // SAFETY: registers only.
        unsafe {
            asm!(
                concat!(
                    "mma.sync.aligned.", $op, " {{{c0}, {c1}, {c2}, {c3}}}, {{{a0}, {a1}, {a2}, {a3}}}, ",
                    "{{{b0}, {b1}}}, {{{c0}, {c1}, {c2}, {c3}}};"
                ),
                c0 = inout(reg32) c0, c1 = inout(reg32) c1, c2 = inout(reg32) c2, c3 = inout(reg32) c3,
                a0 = in(reg32) $a[0], a1 = in(reg32) $a[1], a2 = in(reg32) $a[2], a3 = in(reg32) $a[3],
                b0 = in(reg32) $b[0], b1 = in(reg32) $b[1],
                options(nomem, nostack, preserves_flags)
            );
        }
        [c0, c1, c2, c3]
    }};
}

#[inline(always)]
pub(crate) fn multiply(code: Code, a: [u32; 4], b: [u32; 2], c: [f32; 4]) -> [f32; 4] {
    match code {
        Code::F16 => multiply!("m16n8k16.row.col.f32.f16.f16.f32", a, b, c),
        Code::Bf16 => multiply!("m16n8k16.row.col.f32.bf16.bf16.f32", a, b, c),
        Code::Tf32 => multiply!("m16n8k8.row.col.f32.tf32.tf32.f32", a, b, c),
        // Refused by the caller at compile time.
        Code::I8 | Code::E4m3 | Code::E5m2 => c,
    }
}

/// One instruction for 16 × 16 by 16 × 8.
#[cfg(target_feature = "sm_90a")]
#[inline(always)]
pub(crate) fn multiply_f64(a: [f64; 8], b: [f64; 4], c: [f64; 4]) -> [f64; 4] {
    let [mut c0, mut c1, mut c2, mut c3] = c;
    // SAFETY: registers only.
    unsafe {
        asm!(
            "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {{{c0}, {c1}, {c2}, {c3}}}, \
             {{{a0}, {a1}, {a2}, {a3}, {a4}, {a5}, {a6}, {a7}}}, {{{b0}, {b1}, {b2}, {b3}}}, \
             {{{c0}, {c1}, {c2}, {c3}}};",
            c0 = inout(reg64) c0, c1 = inout(reg64) c1, c2 = inout(reg64) c2, c3 = inout(reg64) c3,
            a0 = in(reg64) a[0], a1 = in(reg64) a[1], a2 = in(reg64) a[2], a3 = in(reg64) a[3],
            a4 = in(reg64) a[4], a5 = in(reg64) a[5], a6 = in(reg64) a[6], a7 = in(reg64) a[7],
            b0 = in(reg64) b[0], b1 = in(reg64) b[1], b2 = in(reg64) b[2], b3 = in(reg64) b[3],
            options(nomem, nostack, preserves_flags)
        );
    }
    [c0, c1, c2, c3]
}

/// Two instructions of 8 × 4 by 4 × 8, for the upper and the lower half of A and C, for each four of k.
#[cfg(not(target_feature = "sm_90a"))]
#[inline(always)]
pub(crate) fn multiply_f64(a: [f64; 8], b: [f64; 4], c: [f64; 4]) -> [f64; 4] {
    let mut c = c;
    let mut i = 0;
    while i < 8 {
        let (half, step) = (i % 2, i / 2);
        let [mut left, mut right] = [c[2 * half], c[2 * half + 1]];
        // SAFETY: registers only.
        unsafe {
            asm!(
                "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {{{left}, {right}}}, {{{a}}}, {{{b}}}, \
                 {{{left}, {right}}};",
                left = inout(reg64) left, right = inout(reg64) right, a = in(reg64) a[i], b = in(reg64) b[step],
                options(nomem, nostack, preserves_flags)
            );
        }
        (c[2 * half], c[2 * half + 1]) = (left, right);
        i += 1;
    }
    c
}
