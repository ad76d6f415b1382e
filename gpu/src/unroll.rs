//! Unrolled loops.

/// Unrolls a loop: its body is in the PTX once for every value. Ranges: from 0 to 2, 4, 8, 16 or 32, or to a constant
/// of at most 16; and from 1 to 17.
///
/// An array stays in registers only if every index is a constant, and the compiler does not unroll a loop with a large
/// body. On the host this is an ordinary loop.
#[cfg(target_arch = "nvptx64")]
macro_rules! unroll {
    (for $i:ident in 0..2 $body:block) => {
        unroll!(@each $i $body 0 1)
    };
    (for $i:ident in 0..4 $body:block) => {
        unroll!(@each $i $body 0 1 2 3)
    };
    (for $i:ident in 0..8 $body:block) => {
        unroll!(@each $i $body 0 1 2 3 4 5 6 7)
    };
    (for $i:ident in 1..4 $body:block) => {
        unroll!(@each $i $body 1 2 3)
    };
    (for $i:ident in 1..17 $body:block) => {
        unroll!(@each $i $body 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16)
    };
    (for $i:ident in 0..16 $body:block) => {
        unroll!(@each $i $body 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
    };
    (for $i:ident in 0..32 $body:block) => {
        unroll!(@each $i $body 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31)
    };
    (for $i:ident in 0..$end:ident $body:block) => {
        unroll!(@below $end $i $body 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
    };
    (@each $i:ident $body:block $($value:literal)+) => {
        {$({
            let $i: usize = $value;
            $body
        })+}
    };
    (@below $end:ident $i:ident $body:block $($value:literal)+) => {
        {$(if $value < $end {
            let $i: usize = $value;
            $body
        })+}
    };
}
#[cfg(not(target_arch = "nvptx64"))]
macro_rules! unroll {
    (for $i:ident in $first:literal..$end:tt $body:block) => {
        {
            #[allow(clippy::needless_range_loop, reason = "unrolled on the GPU; the index is of several arrays")]
            for $i in $first..$end as usize $body
        }
    };
}

#[allow(unused_imports, reason = "some families unroll no loop")]
pub(crate) use unroll;

/// `map` of an array: unrolled in PTX, and a loop on the host, where the standard library's makes
/// three functions of each use.
#[cfg(target_arch = "nvptx64")]
macro_rules! each {
    ($array:expr, $of:expr) => {
        $array.map($of)
    };
}
#[cfg(not(target_arch = "nvptx64"))]
macro_rules! each {
    ($array:expr, $of:expr) => {
        $crate::unroll::map($array, &mut $of)
    };
}

#[allow(unused_imports, reason = "some families have no array to map")]
pub(crate) use each;

/// An array that is written element by element.
#[cfg(not(target_arch = "nvptx64"))]
union Results<T: Copy, const N: usize> {
    none: (),
    all: [T; N],
}

/// The results for each element.
///
/// On the host a loop in its shortest form, because it is in hundreds of kernels: a closure by value would be dropped,
/// also if it panics, and what drops it is half of the code in a debug build.
#[cfg(not(target_arch = "nvptx64"))]
#[cfg_attr(optimised, inline(always))]
#[allow(dead_code, reason = "some families have no array to map")]
pub(crate) fn map<T: Copy, U: Copy, const N: usize>(array: [T; N], of: &mut impl FnMut(T) -> U) -> [U; N] {
    let mut results = Results { none: () };
    let mut i = 0;
    while i < N {
        let result = of(array[i]);
        // SAFETY: a place of any bytes is written.
        unsafe { results.all[i] = result };
        i += 1;
    }
    // SAFETY: the loop has written all elements.
    unsafe { results.all }
}

/// The array of the values at each index, on the host as short as [`map`].
#[cfg(not(target_arch = "nvptx64"))]
#[cfg_attr(optimised, inline(always))]
#[allow(dead_code, reason = "some families have no array to make")]
pub(crate) fn from_fn<T: Copy, const N: usize>(mut at: impl FnMut(usize) -> T) -> [T; N] {
    map(const { indices() }, &mut at)
}

/// The numbers from 0 on.
#[cfg(not(target_arch = "nvptx64"))]
const fn indices<const N: usize>() -> [usize; N] {
    let mut indices = [0; N];
    let mut i = 0;
    while i < N {
        indices[i] = i;
        i += 1;
    }
    indices
}

#[cfg(target_arch = "nvptx64")]
#[allow(unused_imports, reason = "some families have no array to make")]
pub(crate) use core::array::from_fn;
