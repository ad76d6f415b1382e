//! The arguments that each parameter type of a kernel accepts.
//!
//! | parameter | argument |
//! |---|---|
//! | `VecRef<T>` | `&Buffer<T>`, [`BufferView<T>`](BufferView) or a reference to one |
//! | `VecMut<T>` | `&mut Buffer<T>`, [`BufferViewMut<T>`](BufferViewMut) or `&mut` of one |
//! | `MatRef<T>` | `&Matrix<T>`, [`MatrixView<T>`](MatrixView) or a reference to one |
//! | `MatMut<T>` | `&mut Matrix<T>`, [`MatrixViewMut<T>`](MatrixViewMut) or `&mut` of one |
//! | `&TensorMap<T>` | [`TmaTensor<T>`](TmaTensor) or a reference to one |
//! | `&TensorMapMut<T>` | [`TmaTensorMut<T>`](TmaTensorMut), `&mut` of one, or an `Option` of one: `None` if unused |
//! | a number, an array of numbers | the same |
//! | a struct with `#[derive(KernelArg)]` | [`Fields`] of a tuple with a value for each field |

use std::ffi::c_void;

use simt::StructArg;
use simt::element::Element;
use simt::global::{MatMut, MatRef, VecMut, VecRef};
use simt::tma::{TensorMap, TensorMapMut};
use smallvec::{SmallVec, smallvec};

use super::run::Binder;
use crate::memory::{
    Buffer, BufferView, BufferViewMut, KeptTensor, KeptTensorMut, Matrix, MatrixView, MatrixViewMut, TmaTensor,
    TmaTensorMut,
};

pub(crate) mod sealed {
    pub trait Sealed {}
}
use sealed::Sealed;

/// A value that can be passed for a kernel's parameter of type `V`.
// `do_not_recommend` on the implementations keeps them out of the compiler's messages, which would list a dozen.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed for a kernel's parameter of type `{V}`",
    label = "this argument does not match the parameter `{V}`",
    note = "`VecRef<T>` takes `&Buffer<T>`, `VecMut<T>` `&mut Buffer<T>`, `MatRef<T>` `&Matrix<T>`, \
            `MatMut<T>` `&mut Matrix<T>`, or a view of one",
    note = "a tensor map takes `TmaTensor<T>` or `TmaTensorMut<T>`, a struct `Fields((…))`, a number its own type"
)]
pub trait Arg<V>: Sealed {
    /// The parameter's value; its memory is noted in the binder. So is a failure: then the value is not used.
    #[doc(hidden)]
    fn bind<'a>(self, binder: &mut Binder<'a>) -> V
    where
        Self: 'a;
}

/// The arguments of a kernel whose parameters are the tuple `P`: a tuple of as many values, each an [`Arg`] of its
/// parameter. A single argument is written `(x,)`.
// `Device::launch` asks for `BindEach` too, so that the compiler names the one argument that does not match, and for a
// wrong number of arguments reports this trait, which implies `Bind`.
#[diagnostic::on_unimplemented(
    message = "the arguments `{Self}` do not match the kernel's parameters `{P}`",
    label = "not the kernel's arguments",
    note = "pass a tuple with one value for each parameter, in their order; a single one is written `(x,)`"
)]
pub trait KernelArgs<P>: Bind<P> {}

/// What [`KernelArgs`] does.
#[doc(hidden)]
pub trait Bind<P>: Sealed {
    /// The parameters' values, as [`Arg::bind`] gives them.
    fn bind<'a>(self, binder: &mut Binder<'a>) -> P
    where
        Self: 'a;

    /// The addresses of the values, in order.
    fn addresses(values: &mut P) -> SmallVec<[*mut c_void; 6]>;
}

/// [`Bind`], without a list of its implementations for tuples in the compiler's messages.
#[doc(hidden)]
pub trait BindEach<P> {}
impl<P, A: Bind<P>> BindEach<P> for A {}

/// The fields of an argument that is a struct (`#[derive(KernelArg)]`): a tuple with one value for each, in their
/// order.
#[derive(Clone, Copy, Debug)]
pub struct Fields<A>(pub A);

impl<A> Sealed for Fields<A> {}
#[diagnostic::do_not_recommend]
impl<S: StructArg, A: KernelArgs<S::Fields>> Arg<S> for Fields<A> {
    fn bind<'a>(self, binder: &mut Binder<'a>) -> S
    where
        Self: 'a,
    {
        S::from_fields(binder.fields(S::NAMES, |binder| self.0.bind(binder)))
    }
}

macro_rules! tuples {
    ($($index:tt $argument:ident $parameter:ident),*) => {
        impl<$($argument: Sealed),*> Sealed for ($($argument,)*) {}

        #[diagnostic::do_not_recommend]
        impl<$($argument, $parameter),*> KernelArgs<($($parameter,)*)> for ($($argument,)*)
        where
            Self: Bind<($($parameter,)*)>
        {
        }

        impl<$($argument: Arg<$parameter>, $parameter),*> Bind<($($parameter,)*)> for ($($argument,)*) {
            #[allow(unused_variables, clippy::unused_unit, reason = "the empty tuple")]
            fn bind<'a>(self, binder: &mut Binder<'a>) -> ($($parameter,)*)
            where
                Self: 'a,
            {
                ($({
                    binder.next_argument($index);
                    self.$index.bind(binder)
                },)*)
            }

            #[allow(unused_variables, reason = "the empty tuple")]
            fn addresses(values: &mut ($($parameter,)*)) -> SmallVec<[*mut c_void; 6]> {
                smallvec![$((&raw mut values.$index).cast()),*]
            }
        }
    };
}

tuples! {}
tuples! { 0 A0 P0 }
tuples! { 0 A0 P0, 1 A1 P1 }
tuples! { 0 A0 P0, 1 A1 P1, 2 A2 P2 }
tuples! { 0 A0 P0, 1 A1 P1, 2 A2 P2, 3 A3 P3 }
tuples! { 0 A0 P0, 1 A1 P1, 2 A2 P2, 3 A3 P3, 4 A4 P4 }
tuples! { 0 A0 P0, 1 A1 P1, 2 A2 P2, 3 A3 P3, 4 A4 P4, 5 A5 P5 }
tuples! { 0 A0 P0, 1 A1 P1, 2 A2 P2, 3 A3 P3, 4 A4 P4, 5 A5 P5, 6 A6 P6 }
tuples! { 0 A0 P0, 1 A1 P1, 2 A2 P2, 3 A3 P3, 4 A4 P4, 5 A5 P5, 6 A6 P6, 7 A7 P7 }
tuples! { 0 A0 P0, 1 A1 P1, 2 A2 P2, 3 A3 P3, 4 A4 P4, 5 A5 P5, 6 A6 P6, 7 A7 P7, 8 A8 P8 }
tuples! { 0 A0 P0, 1 A1 P1, 2 A2 P2, 3 A3 P3, 4 A4 P4, 5 A5 P5, 6 A6 P6, 7 A7 P7, 8 A8 P8, 9 A9 P9 }
tuples! { 0 A0 P0, 1 A1 P1, 2 A2 P2, 3 A3 P3, 4 A4 P4, 5 A5 P5, 6 A6 P6, 7 A7 P7, 8 A8 P8, 9 A9 P9, 10 A10 P10 }
tuples! {
    0 A0 P0, 1 A1 P1, 2 A2 P2, 3 A3 P3, 4 A4 P4, 5 A5 P5, 6 A6 P6, 7 A7 P7, 8 A8 P8, 9 A9 P9, 10 A10 P10, 11 A11 P11
}
tuples! {
    0 A0 P0, 1 A1 P1, 2 A2 P2, 3 A3 P3, 4 A4 P4, 5 A5 P5, 6 A6 P6, 7 A7 P7, 8 A8 P8, 9 A9 P9, 10 A10 P10, 11 A11 P11,
    12 A12 P12
}
tuples! {
    0 A0 P0, 1 A1 P1, 2 A2 P2, 3 A3 P3, 4 A4 P4, 5 A5 P5, 6 A6 P6, 7 A7 P7, 8 A8 P8, 9 A9 P9, 10 A10 P10, 11 A11 P11,
    12 A12 P12, 13 A13 P13
}
tuples! {
    0 A0 P0, 1 A1 P1, 2 A2 P2, 3 A3 P3, 4 A4 P4, 5 A5 P5, 6 A6 P6, 7 A7 P7, 8 A8 P8, 9 A9 P9, 10 A10 P10, 11 A11 P11,
    12 A12 P12, 13 A13 P13, 14 A14 P14
}
tuples! {
    0 A0 P0, 1 A1 P1, 2 A2 P2, 3 A3 P3, 4 A4 P4, 5 A5 P5, 6 A6 P6, 7 A7 P7, 8 A8 P8, 9 A9 P9, 10 A10 P10, 11 A11 P11,
    12 A12 P12, 13 A13 P13, 14 A14 P14, 15 A15 P15
}

/// Numbers and arrays of numbers, which are passed as they are.
#[doc(hidden)]
pub trait ByValue: Sealed {}
#[diagnostic::do_not_recommend]
impl<N: ByValue> Arg<N> for N {
    fn bind<'a>(self, _: &mut Binder<'a>) -> Self
    where
        Self: 'a,
    {
        self
    }
}

macro_rules! numbers {
    ($($t:ty)+) => {$(
        impl Sealed for $t {}
        impl ByValue for $t {}
        impl<const N: usize> Sealed for [$t; N] {}
        impl<const N: usize> ByValue for [$t; N] {}
    )+};
}
numbers! { u32 i32 u64 i64 f32 f64 }

/// Arguments that convert to the view `$view`, for the parameter `$parameter`.
macro_rules! views {
    ($($argument:ty => $view:ident => $parameter:ident;)+) => {$(
        impl<T: Element> Sealed for $argument {}
        #[diagnostic::do_not_recommend]
        impl<T: Element> Arg<$parameter<'static, T>> for $argument {
            fn bind<'a>(self, binder: &mut Binder<'a>) -> $parameter<'static, T>
            where
                Self: 'a,
            {
                $view::from(self).bind_view(binder)
            }
        }
    )+};
}
views! {
    &Buffer<T> => BufferView => VecRef;
    BufferView<'_, T> => BufferView => VecRef;
    &BufferView<'_, T> => BufferView => VecRef;
    &mut Buffer<T> => BufferViewMut => VecMut;
    BufferViewMut<'_, T> => BufferViewMut => VecMut;
    &mut BufferViewMut<'_, T> => BufferViewMut => VecMut;
    &Matrix<T> => MatrixView => MatRef;
    MatrixView<'_, T> => MatrixView => MatRef;
    &MatrixView<'_, T> => MatrixView => MatRef;
    &mut Matrix<T> => MatrixViewMut => MatMut;
    MatrixViewMut<'_, T> => MatrixViewMut => MatMut;
    &mut MatrixViewMut<'_, T> => MatrixViewMut => MatMut;
}

/// Arguments for the tensor map `$map`.
macro_rules! maps {
    ($($tensor:ident => $map:ident, $($argument:ty),+;)+) => {$($(
        impl<T: Element> Sealed for $argument {}
        #[diagnostic::do_not_recommend]
        impl<T: Element> Arg<$map<'static, T>> for $argument {
            fn bind<'a>(self, binder: &mut Binder<'a>) -> $map<'static, T>
            where
                Self: 'a,
            {
                let tag = binder.memory(self.allocation(), $tensor::<T>::WRITE);
                let words = self.encode(binder.backend(), tag).unwrap_or_else(|failure| {
                    binder.failed(failure);
                    [0; 16]
                });
                // SAFETY: the device encoded the words for elements `T` in this allocation, which the launch binds
                // under this tag, for writing if the tensor is borrowed mutably; or there is no launch.
                unsafe { $map::from_raw(words) }
            }
        }
    )+)+};
}
maps! {
    TmaTensor => TensorMap, TmaTensor<'_, T>, &TmaTensor<'_, T>;
    TmaTensorMut => TensorMapMut, TmaTensorMut<'_, T>, &mut TmaTensorMut<'_, T>;
    KeptTensor => TensorMap, KeptTensor<'_, T>;
    KeptTensorMut => TensorMapMut, KeptTensorMut<'_, T>;
}

impl<A: Sealed> Sealed for Option<A> {}
#[diagnostic::do_not_recommend]
impl<T: Element, A: Arg<TensorMapMut<'static, T>>> Arg<TensorMapMut<'static, T>> for Option<A> {
    fn bind<'a>(self, binder: &mut Binder<'a>) -> TensorMapMut<'static, T>
    where
        Self: 'a,
    {
        match self {
            Some(tensor) => tensor.bind(binder),
            // SAFETY: a map of no memory: a copy through it is a fault, on the GPU as on the simulator.
            None => unsafe { TensorMapMut::from_raw([0; 16]) },
        }
    }
}

impl<'a, T: Element> BufferView<'a, T> {
    fn bind_view(self, binder: &mut Binder<'a>) -> VecRef<'static, T> {
        let tag = binder.memory(self.allocation(), false);
        // SAFETY: the elements lie in the allocation, at a multiple of their size from its aligned start; the launch
        // binds the allocation under this tag and excludes writers meanwhile.
        unsafe { VecRef::from_raw_parts(self.address(), self.len() as u64, tag) }
    }
}

impl<'a, T: Element> BufferViewMut<'a, T> {
    fn bind_view(self, binder: &mut Binder<'a>) -> VecMut<'static, T> {
        let tag = binder.memory(self.allocation(), true);
        // SAFETY: as for `BufferView`; the elements are borrowed for writing.
        unsafe { VecMut::from_raw_parts(self.view().address().cast_mut(), self.len() as u64, tag) }
    }
}

impl<'a, T: Element> MatrixView<'a, T> {
    fn bind_view(self, binder: &mut Binder<'a>) -> MatRef<'static, T> {
        let tag = binder.memory(self.allocation(), false);
        // Each extent was checked to fit 32 bits when the layout was.
        let [rows, cols, ld] = [self.rows(), self.cols(), self.ld()].map(|extent| extent as u32);
        // SAFETY: the elements lie in the allocation, at a multiple of their size from its aligned start; the launch
        // binds the allocation under this tag and excludes writers meanwhile.
        unsafe { MatRef::from_raw_parts(self.address(), rows, cols, ld, tag) }
    }
}

impl<'a, T: Element> MatrixViewMut<'a, T> {
    fn bind_view(self, binder: &mut Binder<'a>) -> MatMut<'static, T> {
        let tag = binder.memory(self.allocation(), true);
        let [rows, cols, ld] = [self.rows(), self.cols(), self.ld()].map(|extent| extent as u32);
        // SAFETY: as for `MatrixView`; the elements are borrowed for writing, and no two coincide since ld >= cols.
        unsafe { MatMut::from_raw_parts(self.view().address().cast_mut(), rows, cols, ld, tag) }
    }
}
