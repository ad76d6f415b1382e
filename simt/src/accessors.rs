//! The accessors of the views of global and shared memory, each written once.
//!
//! A view has two private methods that turn an index into an [`Access`](crate::access::Access): `at::<LANES>` and, for
//! vectors, `vector_at::<LANES>`. [`accessors!`] writes the public methods on top of them, in groups:
//!
//! | group | methods | views |
//! |---|---|---|
//! | `get` | `get`, `get_unchecked`, `get_vec`, `get_vec4` | vectors, matrices, shared memory |
//! | `set` | `set`, `set_unchecked`, `set_vec`, `set_vec4`, `atomic` | the same, where they may be written |
//! | `get_or` | `get_or` | global memory |
//! | `set_within` | `set_within` | global memory, where it may be written |
//! | `get_cs` | `get_vec_cs`, `get_vec4_cs` | vectors, matrices |
//! | `set_cs` | `set_vec_cs`, `set_vec4_cs` | the same, where they may be written |

/// The methods of some groups, for an `impl` block of a view of `T`:
/// `accessors!(get set: shared "array"[i: u32], inside "`i < N`");`.
///
/// The strings are for the documentation: what the view is, and the condition under which an element is inside.
macro_rules! accessors {
    ($($group:ident)+: global $view:literal $index:tt, inside $inside:literal) => {
        $(accessors!(@index $group "global" "a hardware fault" $view $index $inside);)+
    };
    ($($group:ident)+: shared $view:literal $index:tt, inside $inside:literal) => {
        $(accessors!(@index $group "shared" "a trap" $view $index $inside);)+
    };

    (@index $group:ident $space:literal $fault:literal $view:literal [i: $t:ty] $inside:literal) => {
        accessors!(@$group $space $fault $view (i: $t) "`i`" "`i` to `i + LANES − 1`" $inside);
    };
    (@index $group:ident $space:literal $fault:literal $view:literal [row: $r:ty, col: $c:ty] $inside:literal) => {
        accessors!(
            @$group $space $fault $view (row: $r, col: $c)
            "(`row`, `col`)" "(`row`, `col`) to (`row`, `col + LANES − 1`)" $inside
        );
    };

    (@get $space:literal $fault:literal $view:literal ($($i:ident: $t:ty),+)
     $element:literal $elements:literal $inside:literal) => {
        #[doc = concat!("Element ", $element, ". Outside the ", $view, ": a trap on PTX; a report, and zero, on the")]
        /// simulator.
        #[cfg_attr(optimised, inline(always))]
        #[track_caller]
        pub fn get(&self, $($i: $t),+) -> T {
            self.at::<1>($($i),+).get()
        }

        #[doc = concat!("Element ", $element, " without a bounds check on PTX; the simulator still checks.")]
        ///
        /// # Safety
        #[doc = concat!($inside, ".")]
        #[cfg_attr(optimised, inline(always))]
        #[track_caller]
        pub unsafe fn get_unchecked(&self, $($i: $t),+) -> T {
            // SAFETY: the caller's promise.
            unsafe { self.at::<1>($($i),+).get_unchecked() }
        }

        #[doc = concat!("Elements ", $elements, " in one access (`ld.", $space, ".v4.b32` for four `f32`).")]
        ///
        #[doc = concat!("Their address must be a multiple of their size: ", $fault, " on PTX otherwise,")]
        #[doc = concat!("a report on the simulator. Outside the ", $view, ": as for [`Self::get`].")]
        #[cfg_attr(optimised, inline(always))]
        #[track_caller]
        pub fn get_vec<const LANES: usize>(&self, $($i: $t),+) -> $crate::element::Vector<T, LANES>
        where
            T: $crate::element::Lanes<LANES>,
        {
            self.vector_at::<LANES>($($i),+).get()
        }

        /// [`Self::get_vec`] of four elements.
        #[cfg_attr(optimised, inline(always))]
        #[track_caller]
        pub fn get_vec4(&self, $($i: $t),+) -> $crate::element::Vec4<T>
        where
            T: $crate::element::Lanes<4>,
        {
            self.get_vec($($i),+)
        }
    };

    (@set $space:literal $fault:literal $view:literal ($($i:ident: $t:ty),+)
     $element:literal $elements:literal $inside:literal) => {
        #[doc = concat!("Writes element ", $element, ". Outside the ", $view, ": a trap on PTX; a report on the")]
        /// simulator.
        #[cfg_attr(optimised, inline(always))]
        #[track_caller]
        pub fn set(&self, $($i: $t,)+ value: T) {
            self.at::<1>($($i),+).set(value);
        }

        #[doc = concat!("Writes element ", $element, " without a bounds check on PTX; the simulator still checks.")]
        ///
        /// # Safety
        #[doc = concat!($inside, ".")]
        #[cfg_attr(optimised, inline(always))]
        #[track_caller]
        pub unsafe fn set_unchecked(&self, $($i: $t,)+ value: T) {
            // SAFETY: the caller's promise.
            unsafe { self.at::<1>($($i),+).set_unchecked(value) }
        }

        #[doc = concat!("Writes elements ", $elements, " in one access (`st.", $space, ".v4.b32` for four `f32`).")]
        ///
        #[doc = concat!("Their address must be a multiple of their size: ", $fault, " on PTX otherwise,")]
        #[doc = concat!("a report on the simulator. Outside the ", $view, ": as for [`Self::set`].")]
        #[cfg_attr(optimised, inline(always))]
        #[track_caller]
        pub fn set_vec<const LANES: usize>(&self, $($i: $t,)+ value: $crate::element::Vector<T, LANES>)
        where
            T: $crate::element::Lanes<LANES>,
        {
            self.vector_at::<LANES>($($i),+).set(value);
        }

        /// [`Self::set_vec`] of four elements.
        #[cfg_attr(optimised, inline(always))]
        #[track_caller]
        pub fn set_vec4(&self, $($i: $t,)+ value: $crate::element::Vec4<T>)
        where
            T: $crate::element::Lanes<4>,
        {
            self.set_vec($($i,)+ value);
        }

        #[doc = concat!("Element ", $element, " for atomic operations. Outside the ", $view, ": as for [`Self::set`].")]
        #[cfg_attr(optimised, inline(always))]
        #[track_caller]
        pub fn atomic(&self, $($i: $t),+) -> $crate::atomic::Atomic<'_, T>
        where
            T: $crate::atomic::AtomicElement,
        {
            $crate::atomic::Atomic::new(self.at::<1>($($i),+))
        }
    };

    (@get_or $space:literal $fault:literal $view:literal ($($i:ident: $t:ty),+)
     $element:literal $elements:literal $inside:literal) => {
        #[doc = concat!("Element ", $element, ", or `default` outside the ", $view, ".")]
        #[cfg_attr(optimised, inline(always))]
        #[track_caller]
        pub fn get_or(&self, $($i: $t,)+ default: T) -> T {
            self.at::<1>($($i),+).get_or(default)
        }
    };

    (@set_within $space:literal $fault:literal $view:literal ($($i:ident: $t:ty),+)
     $element:literal $elements:literal $inside:literal) => {
        #[doc = concat!("Writes element ", $element, " if it is inside the ", $view, "; returns whether it is.")]
        #[cfg_attr(optimised, inline(always))]
        #[track_caller]
        pub fn set_within(&self, $($i: $t,)+ value: T) -> bool {
            self.at::<1>($($i),+).set_within(value)
        }
    };

    (@get_cs $space:literal $fault:literal $view:literal ($($i:ident: $t:ty),+)
     $element:literal $elements:literal $inside:literal) => {
        /// [`Self::get_vec`] of data that is used once (`ld.global.cs`): it is the first to leave the cache.
        #[cfg_attr(optimised, inline(always))]
        #[track_caller]
        pub fn get_vec_cs<const LANES: usize>(&self, $($i: $t),+) -> $crate::element::Vector<T, LANES>
        where
            T: $crate::element::Lanes<LANES>,
        {
            self.vector_at::<LANES>($($i),+).get_streaming()
        }

        /// [`Self::get_vec_cs`] of four elements.
        #[cfg_attr(optimised, inline(always))]
        #[track_caller]
        pub fn get_vec4_cs(&self, $($i: $t),+) -> $crate::element::Vec4<T>
        where
            T: $crate::element::Lanes<4>,
        {
            self.get_vec_cs($($i),+)
        }
    };

    (@set_cs $space:literal $fault:literal $view:literal ($($i:ident: $t:ty),+)
     $element:literal $elements:literal $inside:literal) => {
        /// [`Self::set_vec`] of data that this kernel does not use again (`st.global.cs`).
        #[cfg_attr(optimised, inline(always))]
        #[track_caller]
        pub fn set_vec_cs<const LANES: usize>(&self, $($i: $t,)+ value: $crate::element::Vector<T, LANES>)
        where
            T: $crate::element::Lanes<LANES>,
        {
            self.vector_at::<LANES>($($i),+).set_streaming(value);
        }

        /// [`Self::set_vec_cs`] of four elements.
        #[cfg_attr(optimised, inline(always))]
        #[track_caller]
        pub fn set_vec4_cs(&self, $($i: $t,)+ value: $crate::element::Vec4<T>)
        where
            T: $crate::element::Lanes<4>,
        {
            self.set_vec_cs($($i,)+ value);
        }
    };
}
pub(crate) use accessors;
