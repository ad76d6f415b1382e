//! Tensor core instructions of a warpgroup.
//!
//! LLVM has no intrinsic that makes the registers depend on the wait, and would move uses of the accumulators before
//! it. So a group is one `asm!` from the fence to the wait, with every accumulator as an input and output. Between the
//! fence and the wait ptxas sees only `wgmma.mma_async` instructions, and runs them back to back.

use core::arch::asm;

use super::memory::shared_address;
use crate::matrix::Code;
use crate::wgmma::Major;

/// The group in flight; used by the simulator only.
#[derive(Clone, Copy, Default)]
pub struct Flight;

impl Flight {
    #[inline(always)]
    #[expect(clippy::unused_self, reason = "as on the simulator")]
    pub(crate) fn settled(self) {}
}

/// The start of an operand.
#[inline(always)]
pub(crate) fn start(tile: *const u8, _leading: u32, _stride: u32) -> u32 {
    shared_address(tile)
}

#[inline(always)]
pub(crate) fn increase_registers<const REGISTERS: u32>() {
    // SAFETY: changes the number of registers, not their contents.
    unsafe { asm!("setmaxnreg.inc.sync.aligned.u32 {};", const REGISTERS, options(nomem, nostack, preserves_flags)) }
}
#[inline(always)]
pub(crate) fn decrease_registers<const REGISTERS: u32>() {
    // SAFETY: as above; ptxas ensures that the released registers hold nothing.
    unsafe { asm!("setmaxnreg.dec.sync.aligned.u32 {};", const REGISTERS, options(nomem, nostack, preserves_flags)) }
}

/// The values of D that a thread holds.
pub trait Fragment: Copy + AsRef<[f32]> {
    #[doc(hidden)]
    fn multiply<const STEPS: usize, A: Major, B: Major, const PENDING: u32>(
        &mut self,
        flight: &mut Flight,
        code: Code,
        a: u64,
        b: u64,
        fresh: bool,
    );
    #[doc(hidden)]
    fn multiply_registers<const STEPS: usize, B: Major>(
        &mut self,
        flight: &mut Flight,
        code: Code,
        a: [[u32; 4]; STEPS],
        b: u64,
        fresh: bool,
    );
    #[doc(hidden)]
    fn wait<const PENDING: u32>(&mut self, flight: &mut Flight);
    /// Computes the values here: LLVM moves no instruction that they come from further down.
    #[doc(hidden)]
    fn pin(&mut self);
    #[doc(hidden)]
    fn for_each(&self, body: impl FnMut(u32, f32));
    #[doc(hidden)]
    fn for_each_8_columns(&self, body: impl FnMut(u32, [f32; 4]));
    #[doc(hidden)]
    fn map_8_columns(&mut self, body: impl FnMut(u32, [f32; 4]) -> [f32; 4]);
    #[doc(hidden)]
    fn for_each_16_columns(&self, body: impl FnMut(u32, [f32; 8]));
}

/// The text of a group: `$products` between the fence and the wait. They use the address of B in `b`, and the
/// predicates `p`, whether the first product adds to D, and `q`, which is true.
macro_rules! group {
    ($($products:expr),+) => {
        concat!(
            "{{ .reg .pred p, q; .reg .b32 x, y; .reg .b64 a, b; mov.b32 y, {b}; ",
            "setp.eq.u32 p, {fresh}, 0; setp.eq.u32 q, 0, 0; ",
            "wgmma.fence.sync.aligned; ",
            $($products,)+
            "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned {pending}; }}"
        )
    };
}

/// `{0}, {1}, …`: the accumulators, which are the first operands of the `asm!`.
macro_rules! registers {
    ($first:literal $($i:literal)*) => {
        concat!("{{{", $first, "}", $(", {", $i, "}",)* "}}")
    };
}

/// A group with A in shared memory. ptxas drops the last advance, which is not used.
macro_rules! shared {
    ($n:literal $types:literal [$($scale:literal)+] $modifiers:literal,
     $v:ident $i:tt $args:tt $($ta:ident $tb:ident)?) => {
        shared!(@asm registers! $i, $n $types [$($scale)+] $modifiers, $v $i $args $($ta $tb)?)
    };
    (@asm $list:ident ! $d:tt, $n:literal $types:literal [$($scale:literal)+] $modifiers:literal,
     $v:ident [$($i:literal)+] ($a:ident $b:ident $fresh:ident $a_step:ident $b_step:ident $pending:ident)
     $($ta:ident $tb:ident)?) => {
        asm!(
            group!(
                "mov.b32 x, {a}; ",
                $(concat!(
                    "mov.b64 a, {{x, {a_high}}}; mov.b64 b, {{y, {b_high}}}; ",
                    "wgmma.mma_async.sync.aligned.m64", $n, $types, " ",
                    $list! $d, ", a, b, ", $scale, $modifiers, "; ",
                    "add.s32 x, x, {a_step}; add.s32 y, y, {b_step}; "
                )),+
            ),
            $(inout(reg32) $v[$i],)+
            a = in(reg32) $a as u32,
            a_high = in(reg32) ($a >> 32) as u32,
            b = in(reg32) $b as u32,
            b_high = in(reg32) ($b >> 32) as u32,
            fresh = in(reg32) $fresh,
            $(ta = const $ta::IS_MN as i32, tb = const $tb::IS_MN as i32,)?
            a_step = const $a_step::ADVANCE / 16,
            b_step = const $b_step::ADVANCE / 16,
            pending = const $pending,
            options(nostack, preserves_flags)
        )
    };
}

/// A group with A in registers.
macro_rules! registered {
    ($n:literal $types:literal
     [$($scale:literal $step:literal: $r0:ident $r1:ident $r2:ident $r3:ident),+] $modifiers:literal,
     $v:ident $i:tt $args:tt $($tb:ident)?) => {
        registered!(
            @asm registers! $i, $n $types [$($scale $step: $r0 $r1 $r2 $r3),+] $modifiers, $v $i $args $($tb)?
        )
    };
    (@asm $list:ident ! $d:tt, $n:literal $types:literal
     [$($scale:literal $step:literal: $r0:ident $r1:ident $r2:ident $r3:ident),+] $modifiers:literal,
     $v:ident [$($i:literal)+] ($a:ident $b:ident $fresh:ident $b_step:ident) $($tb:ident)?) => {
        asm!(
            group!(
                $(concat!(
                    "mov.b64 b, {{y, {b_high}}}; ",
                    "wgmma.mma_async.sync.aligned.m64", $n, $types, " ", $list! $d, ", {{{",
                    stringify!($r0), "}, {", stringify!($r1), "}, {", stringify!($r2), "}, {", stringify!($r3),
                    "}}}, b, ", $scale, $modifiers, "; add.s32 y, y, {b_step}; "
                )),+
            ),
            $(inout(reg32) $v[$i],)+
            $($r0 = in(reg32) $a[$step % STEPS][0], $r1 = in(reg32) $a[$step % STEPS][1],
              $r2 = in(reg32) $a[$step % STEPS][2], $r3 = in(reg32) $a[$step % STEPS][3],)+
            b = in(reg32) $b as u32,
            b_high = in(reg32) ($b >> 32) as u32,
            fresh = in(reg32) $fresh,
            $(tb = const $tb::IS_MN as i32,)?
            b_step = const $b_step::ADVANCE / 16,
            pending = const 0,
            options(nostack, preserves_flags)
        )
    };
}

/// Calls `$body` for each 1, 4 or 8 values of `$v`, unrolled; of fewer that are left over there is no call.
macro_rules! each {
    (1, $v:expr, $body:ident, [$($i:literal)+]) => {
        $($body($i, [$v[$i]]);)+
    };
    (4, $v:expr, $body:ident, [$i:literal $i1:literal $i2:literal $i3:literal $($rest:literal)*]) => {
        $body($i / 4, [$v[$i], $v[$i1], $v[$i2], $v[$i3]]);
        each!(4, $v, $body, [$($rest)*]);
    };
    (8, $v:expr, $body:ident, [
        $i:literal $i1:literal $i2:literal $i3:literal $i4:literal $i5:literal $i6:literal $i7:literal
        $($rest:literal)*
    ]) => {
        $body($i / 8, [$v[$i], $v[$i1], $v[$i2], $v[$i3], $v[$i4], $v[$i5], $v[$i6], $v[$i7]]);
        each!(8, $v, $body, [$($rest)*]);
    };
    ($count:literal, $v:expr, $body:ident, [$($left:literal)*]) => {
        // Of 4 values there are no 8.
        let _ = &mut $body;
    };
}

macro_rules! fragment {
    ($count:literal $n32:literal $n16:literal $n8:literal $i:tt) => {
        impl Fragment for [f32; $count] {
            #[inline(always)]
            fn multiply<const STEPS: usize, A: Major, B: Major, const PENDING: u32>(
                &mut self,
                _flight: &mut Flight,
                code: Code,
                a: u64,
                b: u64,
                fresh: bool,
            ) {
                let fresh = u32::from(fresh);
                // SAFETY: reads shared memory by descriptors, whose fields cannot exceed shared memory, and writes
                // registers.
                unsafe {
                    fragment!(@kinds code, STEPS, $n32 $n16 $n8, shared,
                        [["p"] ["p" "q"] ["p" "q" "q" "q"]],
                        [self $i (a b fresh A B PENDING)], [A B], ", 1, 1, {ta}, {tb}")
                }
            }

            #[inline(always)]
            fn multiply_registers<const STEPS: usize, B: Major>(
                &mut self,
                _flight: &mut Flight,
                code: Code,
                a: [[u32; 4]; STEPS],
                b: u64,
                fresh: bool,
            ) {
                let fresh = u32::from(fresh);
                // SAFETY: as above.
                unsafe {
                    fragment!(@kinds code, STEPS, $n32 $n16 $n8, registered, [
                        ["p" 0: a0 a1 a2 a3]
                        ["p" 0: a0 a1 a2 a3, "q" 1: a4 a5 a6 a7]
                        ["p" 0: a0 a1 a2 a3, "q" 1: a4 a5 a6 a7, "q" 2: a8 a9 a10 a11, "q" 3: a12 a13 a14 a15]
                    ], [self $i (a b fresh B)], [B], ", 1, 1, {tb}")
                }
            }

            #[inline(always)]
            fn wait<const PENDING: u32>(&mut self, _flight: &mut Flight) {
                fragment!(@wait self PENDING $i)
            }

            #[inline(always)]
            fn pin(&mut self) {
                fragment!(@pin self $i)
            }

            #[inline(always)]
            fn for_each(&self, mut body: impl FnMut(u32, f32)) {
                let mut body = |i: u32, [value]: [f32; 1]| body(i, value);
                each!(1, self, body, $i);
            }
            #[inline(always)]
            fn for_each_8_columns(&self, mut body: impl FnMut(u32, [f32; 4])) {
                let mut body = |i: u32, values: [f32; 4]| body(8 * i, values);
                each!(4, self, body, $i);
            }
            #[inline(always)]
            fn map_8_columns(&mut self, mut body: impl FnMut(u32, [f32; 4]) -> [f32; 4]) {
                let values = *self;
                let mut body = |i: u32, before: [f32; 4]| {
                    let at = 4 * i as usize;
                    [self[at], self[at + 1], self[at + 2], self[at + 3]] = body(8 * i, before);
                };
                each!(4, values, body, $i);
            }
            #[inline(always)]
            fn for_each_16_columns(&self, mut body: impl FnMut(u32, [f32; 8])) {
                let mut body = |i: u32, values: [f32; 8]| body(16 * i, values);
                each!(8, self, body, $i);
            }
        }
    };
    (@kinds $code:ident, $steps:ident, $n32:literal $n16:literal $n8:literal, $group:ident, [$one:tt $two:tt $four:tt],
     [$($args:tt)+], [$($t:ident)+], $modifiers:literal) => {
        match ($code, $steps) {
            (Code::F16, 1) => $group!($n16 ".f32.f16.f16" $one $modifiers, $($args)+ $($t)+),
            (Code::F16, 2) => $group!($n16 ".f32.f16.f16" $two $modifiers, $($args)+ $($t)+),
            (Code::F16, _) => $group!($n16 ".f32.f16.f16" $four $modifiers, $($args)+ $($t)+),
            (Code::Bf16, 1) => $group!($n16 ".f32.bf16.bf16" $one $modifiers, $($args)+ $($t)+),
            (Code::Bf16, 2) => $group!($n16 ".f32.bf16.bf16" $two $modifiers, $($args)+ $($t)+),
            (Code::Bf16, _) => $group!($n16 ".f32.bf16.bf16" $four $modifiers, $($args)+ $($t)+),
            (Code::Tf32, 1) => $group!($n8 ".f32.tf32.tf32" $one ", 1, 1", $($args)+),
            (Code::Tf32, 2) => $group!($n8 ".f32.tf32.tf32" $two ", 1, 1", $($args)+),
            (Code::Tf32, _) => $group!($n8 ".f32.tf32.tf32" $four ", 1, 1", $($args)+),
            (Code::I8, 1) => $group!($n32 ".s32.s8.s8" $one "", $($args)+),
            (Code::I8, 2) => $group!($n32 ".s32.s8.s8" $two "", $($args)+),
            (Code::I8, _) => $group!($n32 ".s32.s8.s8" $four "", $($args)+),
            (Code::E4m3, 1) => $group!($n32 ".f32.e4m3.e4m3" $one ", 1, 1", $($args)+),
            (Code::E4m3, 2) => $group!($n32 ".f32.e4m3.e4m3" $two ", 1, 1", $($args)+),
            (Code::E4m3, _) => $group!($n32 ".f32.e4m3.e4m3" $four ", 1, 1", $($args)+),
            (Code::E5m2, 1) => $group!($n32 ".f32.e5m2.e5m2" $one ", 1, 1", $($args)+),
            (Code::E5m2, 2) => $group!($n32 ".f32.e5m2.e5m2" $two ", 1, 1", $($args)+),
            (Code::E5m2, _) => $group!($n32 ".f32.e5m2.e5m2" $four ", 1, 1", $($args)+),
        }
    };
    (@wait $v:ident $pending:ident [$($i:literal)+]) => {
        // SAFETY: waits. The accumulators are operands so that no use of them moves before the wait.
        unsafe {
            asm!(
                concat!("wgmma.wait_group.sync.aligned {pending}; //", $(" {", $i, "}"),+),
                $(inout(reg32) $v[$i],)+
                pending = const $pending,
                options(nostack, preserves_flags)
            )
        }
    };
    (@pin $v:ident [$($i:literal)+]) => {
        // SAFETY: no instruction.
        unsafe { asm!(concat!("//", $(" {", $i, "}"),+), $(inout(reg32) $v[$i],)+ options(nostack, preserves_flags)) }
    };
}

/// A [`Fragment`] for each width. The list of indices grows from one width to the next.
macro_rules! fragments {
    ([$($have:literal)*]) => {};
    ([$($have:literal)*] $count:literal $n32:literal $n16:literal $n8:literal: $($more:literal)+; $($rest:tt)*) => {
        fragment!($count $n32 $n16 $n8 [$($have)* $($more)+]);
        fragments!([$($have)* $($more)+] $($rest)*);
    };
}

fragments! { []
    4 "n8k32" "n8k16" "n8k8": 0 1 2 3;
    8 "n16k32" "n16k16" "n16k8": 4 5 6 7;
    16 "n32k32" "n32k16" "n32k8": 8 9 10 11 12 13 14 15;
    32 "n64k32" "n64k16" "n64k8": 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31;
    48 "n96k32" "n96k16" "n96k8": 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47;
    64 "n128k32" "n128k16" "n128k8": 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63;
    68 "n136k32" "n136k16" "n136k8": 64 65 66 67;
    72 "n144k32" "n144k16" "n144k8": 68 69 70 71;
    96 "n192k32" "n192k16" "n192k8": 72 73 74 75 76 77 78 79 80 81 82 83 84 85 86 87 88 89 90 91 92 93 94
        95;
    128 "n256k32" "n256k16" "n256k8": 96 97 98 99 100 101 102 103 104 105 106 107 108 109 110 111 112 113 114 115 116
        117 118 119 120 121 122 123 124 125 126 127;
}
