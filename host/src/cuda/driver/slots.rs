//! A slot per driver function: it holds the function's address once the driver is loaded.

use std::ffi::{CStr, c_void};
use std::ptr;
use std::sync::atomic::AtomicPtr;

use super::functions::driver_functions;

/// Where a forwarding function finds its target. Null until the driver is loaded.
pub(super) type Slot = AtomicPtr<c_void>;

/// One function: its C name, its slot, and what the slot holds if the driver lacks the function.
pub(super) struct Function {
    pub(super) name: &'static CStr,
    pub(super) slot: &'static Slot,
    pub(super) missing: Option<extern "C" fn() -> i32>,
}

impl Function {
    /// The function with this name, a literal that ends with a zero.
    pub(super) const fn new(name: &'static str, slot: &'static Slot, missing: Option<extern "C" fn() -> i32>) -> Self {
        match CStr::from_bytes_with_nul(name.as_bytes()) {
            Ok(name) => Self { name, slot, missing },
            Err(_) => panic!("a name ends with a zero and has no other"),
        }
    }
}

macro_rules! slots {
    ($($name:ident($($signature:tt)*);)*) => {
        $(
            #[allow(non_upper_case_globals, reason = "named as the function")]
            pub(super) static $name: Slot = Slot::new(ptr::null_mut());
        )*

        /// Every function that [`super::forward`] forwards to.
        pub(super) static FUNCTIONS: &[Function] =
            &[$(Function::new(concat!(stringify!($name), "\0"), &$name, None)),*];
    };
}
driver_functions! { slots }
