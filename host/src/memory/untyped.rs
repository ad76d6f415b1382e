//! Views without the type of their elements, for what moves elements and does not look at their values: it is compiled
//! once, and not again for each type.

use simt::element::Element;

use super::Allocation;
use crate::device::Device;

/// A view for reading without the type of its elements; `P` is its position, which counts elements.
#[derive(Clone, Copy)]
pub(crate) struct Untyped<'a, P> {
    allocation: &'a Allocation,
    place: P,
    element_bytes: usize,
}

/// A view for writing without the type of its elements.
pub(crate) struct UntypedMut<'a, P> {
    allocation: &'a Allocation,
    place: P,
    element_bytes: usize,
}

/// Methods of both.
macro_rules! common {
    ($Untyped:ident) => {
        impl<'a, P: Copy> $Untyped<'a, P> {
            /// Of elements of type `T`. A view for writing is their only borrow.
            pub(super) fn new<T: Element>(allocation: &'a Allocation, place: P) -> Self {
                Self { allocation, place, element_bytes: size_of::<T>() }
            }

            /// The position, which counts elements.
            pub(crate) fn place(&self) -> P {
                self.place
            }

            /// Bytes of an element.
            pub(crate) fn element_bytes(&self) -> usize {
                self.element_bytes
            }

            pub(crate) fn allocation(&self) -> &'a Allocation {
                self.allocation
            }

            /// The device that owns the memory.
            pub(crate) fn device(&self) -> &'a Device {
                self.allocation.device()
            }

            /// The same elements at a position in another form.
            pub(super) fn map<Q>(self, place: impl FnOnce(P) -> Q) -> $Untyped<'a, Q> {
                $Untyped { allocation: self.allocation, place: place(self.place), element_bytes: self.element_bytes }
            }
        }
    };
}
common!(Untyped);
common!(UntypedMut);
