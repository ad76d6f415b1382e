//! The parts that a read-only view and a mutable view have in common, written once.

/// Defines `$View`, which borrows elements of an allocation for reading, and `$ViewMut`, which borrows them mutably.
/// `$place` is their position, which was checked against the allocation.
///
/// `$View` is `Copy`. `$ViewMut` is not, and can only be reborrowed for a shorter time: `view` borrows it, `view_mut`
/// mutably.
macro_rules! view_pair {
    (
        $(#[$doc:meta])* $View:ident;
        $(#[$doc_mut:meta])* $ViewMut:ident;
        $place:ident: $Place:ty
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $View<'a, T: Element> {
            allocation: &'a Allocation,
            $place: $Place,
            elements: PhantomData<&'a T>,
        }

        $(#[$doc_mut])*
        pub struct $ViewMut<'a, T: Element> {
            allocation: &'a Allocation,
            $place: $Place,
            elements: PhantomData<&'a mut T>,
        }

        view_pair! { @common $View, $place: $Place }
        view_pair! { @common $ViewMut, $place: $Place }

        impl<T: Element> $ViewMut<'_, T> {
            /// The same elements, for reading.
            pub fn view(&self) -> $View<'_, T> {
                $View::new(self.allocation, self.$place)
            }

            /// The same elements, for writing, for a shorter time.
            pub fn view_mut(&mut self) -> $ViewMut<'_, T> {
                $ViewMut::new(self.allocation, self.$place)
            }
        }

        impl<'a, T: Element> From<&$View<'a, T>> for $View<'a, T> {
            fn from(view: &$View<'a, T>) -> Self {
                *view
            }
        }

        impl<'a, T: Element> From<&'a $ViewMut<'_, T>> for $View<'a, T> {
            fn from(view: &'a $ViewMut<'_, T>) -> Self {
                view.view()
            }
        }

        impl<'a, T: Element> From<&'a mut $ViewMut<'_, T>> for $ViewMut<'a, T> {
            fn from(view: &'a mut $ViewMut<'_, T>) -> Self {
                view.view_mut()
            }
        }
    };
    (@common $View:ident, $place:ident: $Place:ty) => {
        impl<'a, T: Element> $View<'a, T> {
            /// The elements at `$place` of the allocation. A mutable view is their only borrow.
            pub(super) fn new(allocation: &'a Allocation, $place: $Place) -> Self {
                Self { allocation, $place, elements: PhantomData }
            }

            pub(crate) fn allocation(&self) -> &'a Allocation {
                self.allocation
            }

            /// The device that owns the memory.
            pub fn device(&self) -> &'a Device {
                self.allocation.device()
            }
        }

        impl<T: Element> fmt::Debug for $View<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($View), "<{}>({})"), std::any::type_name::<T>(), self.$place)
            }
        }
    };
}
pub(super) use view_pair;

/// Converts references to an owner to its views.
macro_rules! views_of {
    ($($Owner:ident => $View:ident, $ViewMut:ident;)+) => {$(
        impl<'a, T: Element> From<&'a $Owner<T>> for $View<'a, T> {
            fn from(owner: &'a $Owner<T>) -> Self {
                owner.view().into()
            }
        }

        impl<'a, T: Element> From<&'a mut $Owner<T>> for $ViewMut<'a, T> {
            fn from(owner: &'a mut $Owner<T>) -> Self {
                owner.view_mut().into()
            }
        }
    )+};
}
pub(super) use views_of;
