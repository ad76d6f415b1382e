//! Loops written out.

/// A loop from 0 whose body stands in the PTX once for every value; the end is a constant of at most 16.
///
/// An array stays in registers only where every index is a constant, and the compiler leaves a loop with a large body as it is.
/// The simulator has no registers to fill: there it is a loop.
#[cfg(target_arch = "nvptx64")]
macro_rules! unroll {
    (for $i:ident in 0..$end:tt $body:block) => {
        unroll!(@each $i $end $body 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
    };
    (@each $i:ident $end:tt $body:block $($value:literal)+) => {
        {$(if $value < $end {
            let $i: usize = $value;
            $body
        })+}
    };
}
#[cfg(not(target_arch = "nvptx64"))]
macro_rules! unroll {
    (for $i:ident in 0..$end:tt $body:block) => {
        {
            for $i in 0..$end as usize $body
        }
    };
}

pub(crate) use unroll;
