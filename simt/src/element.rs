//! Elements of global and shared memory: numbers, and short vectors of them.

use half::{bf16, f16};

use crate::{
    arch::Plain,
    arg_type::{ArgPart, ArgType},
    float8::{E4m3, E5m2},
};

/// A number, or a [`Vector`] of numbers, of 1, 2, 4, 8 or 16 bytes: what one memory access moves.
///
/// # Safety
/// Every bit pattern is a valid value, there is no padding, and the alignment is at most the size. `Bits` has the size
/// and the alignment of `Self`. `LANE` is the size of one number in bytes. `TYPE` describes the type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an element of global or shared memory",
    label = "not an element",
    note = "elements are the integers of 8 to 64 bits, `E4m3`, `E5m2`, `f16`, `bf16`, `f32`, `f64`, \
            and vectors of them of up to 16 bytes"
)]
pub unsafe trait Element: Copy + 'static {
    /// A type of the same size and alignment that the simulator supports.
    #[doc(hidden)]
    type Bits: Plain;

    /// Bytes of one number: the whole size for a number, less for a vector.
    #[doc(hidden)]
    const LANE: usize;

    /// Name and layout, for the types of a kernel's arguments.
    #[doc(hidden)]
    const TYPE: ArgType;
}

/// Numbers of which a [`Vector`] may have `N` lanes: the vector has 2, 4, 8 or 16 bytes.
///
/// # Safety
/// `Align` has no bytes, and its alignment is the size of `N` numbers: 2, 4, 8 or 16 bytes. The compiler evaluates this
/// when such a vector is made or accessed.
#[diagnostic::on_unimplemented(
    message = "a vector of {N} `{Self}` is not a single memory access",
    note = "a memory access moves 2, 4, 8 or 16 bytes: choose the number of lanes accordingly"
)]
pub unsafe trait Lanes<const N: usize>: Element {
    /// An empty field of this type aligns the vector to its own size.
    #[doc(hidden)]
    type Align: Copy + 'static;
}

/// `N` numbers that one memory access reads or writes, aligned to their total size (2, 4, 8 or 16 bytes).
///
/// ```
/// use simt::element::{Vec4, Vector};
/// let v: Vec4<f32> = Vector::new([1.0, 2.0, 3.0, 4.0]);
/// assert_eq!(v.lanes[2], 3.0);
/// assert_eq!(align_of::<Vec4<f32>>(), 16);
/// ```
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Vector<T: Lanes<N>, const N: usize> {
    align: [T::Align; 0],
    /// The numbers in order of address.
    pub lanes: [T; N],
}

/// The bits of an element as an element of another type of the same size.
///
/// ```
/// use simt::element::{Vec4, Vector, bits_as};
/// let bits: u32 = bits_as(Vec4::<u8>::new([1, 2, 3, 4]));
/// assert_eq!(bits, 0x0403_0201);
/// ```
#[cfg_attr(optimised, inline(always))]
pub fn bits_as<T: Element, U: Element>(element: T) -> U {
    const { assert!(size_of::<T>() == size_of::<U>()) };
    // SAFETY: the sizes are equal, and any bits are a valid `Element`.
    unsafe { core::mem::transmute_copy(&element) }
}

/// The element whose bytes are all 0.
///
/// ```
/// use simt::element::{Vec4, zeroed};
/// assert_eq!(zeroed::<Vec4<f32>>().lanes, [0.0; 4]);
/// ```
#[cfg_attr(optimised, inline(always))]
pub fn zeroed<T: Element>() -> T {
    crate::access::zero()
}

/// Two numbers, moved by one access.
pub type Vec2<T> = Vector<T, 2>;
/// Four numbers, moved by one access: 16 bytes where `T` has 4.
pub type Vec4<T> = Vector<T, 4>;
/// Eight numbers, moved by one access: 16 bytes where `T` has 2.
pub type Vec8<T> = Vector<T, 8>;

impl<T: Lanes<N>, const N: usize> Vector<T, N> {
    /// The size of one number in bytes, if the vector is as [`Lanes`] requires.
    const LANE_BYTES: usize = {
        let bytes = N * size_of::<T>();
        assert!(matches!(bytes, 2 | 4 | 8 | 16), "a vector has 2, 4, 8 or 16 bytes");
        assert!(size_of::<T::Align>() == 0, "`Lanes::Align` has no bytes");
        assert!(align_of::<T::Align>() == bytes, "`Lanes::Align` has the vector's size as its alignment");
        assert!(size_of::<Self>() == bytes && align_of::<Self>() == bytes, "a vector has no padding");
        size_of::<T>()
    };

    /// The vector of these numbers.
    #[cfg_attr(optimised, inline(always))]
    pub const fn new(lanes: [T; N]) -> Self {
        const { assert!(Self::LANE_BYTES > 0) };
        Self { align: [], lanes }
    }
}

impl<T: Lanes<N>, const N: usize> From<[T; N]> for Vector<T, N> {
    #[cfg_attr(optimised, inline(always))]
    fn from(lanes: [T; N]) -> Self {
        Self::new(lanes)
    }
}

impl<T: Lanes<N> + PartialEq, const N: usize> PartialEq for Vector<T, N> {
    #[cfg_attr(optimised, inline(always))]
    fn eq(&self, other: &Self) -> bool {
        self.lanes == other.lanes
    }
}

#[cfg(not(target_arch = "nvptx64"))]
impl<T: Lanes<N> + core::fmt::Debug, const N: usize> core::fmt::Debug for Vector<T, N> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.lanes.fmt(f)
    }
}

// SAFETY: by the contract of `Lanes<N>` N lanes fill 2, 4, 8 or 16 bytes, the alignment of `Align`, so there is no
// padding; the lanes themselves take any bits.
unsafe impl<T: Lanes<N>, const N: usize> Plain for Vector<T, N> {}

// SAFETY: as above; `Bits` is the type itself.
unsafe impl<T: Lanes<N>, const N: usize> Element for Vector<T, N> {
    type Bits = Self;
    const LANE: usize = Self::LANE_BYTES;
    const TYPE: ArgType = ArgType {
        name: "Vector",
        size: size_of::<Self>(),
        align: align_of::<Self>(),
        parts: &[ArgPart::element(T::TYPE)],
    };
}

macro_rules! elements {
    ($($t:ty as $bits:ty),* $(,)?) => {$(
        // SAFETY: a primitive number or a transparent wrapper of one: any bits, no padding, aligned to its size.
        unsafe impl Element for $t {
            type Bits = $bits;
            const LANE: usize = size_of::<$t>();
            const TYPE: ArgType = ArgType::number::<$t>(stringify!($t));
        }
    )*};
}

elements! {
    u8 as u8, i8 as i8, u16 as u16, i16 as i16, u32 as u32, i32 as i32, u64 as u64, i64 as i64,
    E4m3 as u8, E5m2 as u8, f16 as u16, bf16 as u16, f32 as f32, f64 as f64,
}

/// Zero-sized types that carry an alignment.
mod align {
    #[derive(Clone, Copy)]
    #[repr(align(2))]
    pub struct A2;
    #[derive(Clone, Copy)]
    #[repr(align(4))]
    pub struct A4;
    #[derive(Clone, Copy)]
    #[repr(align(8))]
    pub struct A8;
    #[derive(Clone, Copy)]
    #[repr(align(16))]
    pub struct A16;
}

macro_rules! lanes {
    ($($($t:ty)|+: $($n:literal => $align:ident),+;)*) => {$(lanes!(@each [$($t)+] [$($n => $align),+]);)*};
    (@each [$($t:ty)+] $rest:tt) => {$(lanes!(@one $t, $rest);)+};
    (@one $t:ty, [$($n:literal => $align:ident),+]) => {$(
        // SAFETY: `LANE_BYTES` evaluates the contract, in the line below.
        unsafe impl Lanes<$n> for $t { type Align = align::$align; }
        const _: usize = Vector::<$t, $n>::LANE_BYTES;
    )+};
}

lanes! {
    u8 | i8 | E4m3 | E5m2: 2 => A2, 4 => A4, 8 => A8, 16 => A16;
    u16 | i16 | f16 | bf16: 2 => A4, 4 => A8, 8 => A16;
    u32 | i32 | f32: 2 => A8, 4 => A16;
    u64 | i64 | f64: 2 => A16;
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::*;

    fn layout<T: Element>() -> (usize, usize) {
        assert_eq!((size_of::<T>(), align_of::<T>()), (size_of::<T::Bits>(), align_of::<T::Bits>()));
        (size_of::<T>(), align_of::<T>())
    }

    #[test]
    fn a_vector_is_aligned_to_its_size() {
        let layouts = [
            ("u8 x 16", layout::<Vector<u8, 16>>(), 16),
            ("f16 x 2", layout::<Vec2<f16>>(), 4),
            ("bf16 x 8", layout::<Vec8<bf16>>(), 16),
            ("f32 x 2", layout::<Vec2<f32>>(), 8),
            ("f32 x 4", layout::<Vec4<f32>>(), 16),
            ("f64 x 2", layout::<Vec2<f64>>(), 16),
        ];
        for (name, layout, bytes) in layouts {
            assert_eq!(layout, (bytes, bytes), "size and alignment of {name}");
        }
    }

    #[test]
    fn half_floats_have_the_layout_of_their_bits() {
        assert_eq!(layout::<f16>(), (2, 2));
        assert_eq!(layout::<bf16>(), (2, 2));
    }
}
