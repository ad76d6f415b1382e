//! What the properties share.

pub(crate) mod device;
pub(crate) mod frame;
pub(crate) mod problem;
pub(crate) mod runner;
pub(crate) mod shapes;
pub(crate) mod values;

/// Makes a module of tests for each way to a result, one test for each property: a function that takes the way.
macro_rules! suite {
    ($properties:tt; $($module:ident => $way:expr;)+) => {$(
        mod $module {
            suite!(@tests $properties $way);
        }
    )+};
    (@tests [$($property:ident),+ $(,)?] $way:expr) => {$(
        #[test]
        fn $property() {
            #[allow(unused_imports, reason = "a way may be a path of its own")]
            use super::*;
            super::$property($way);
        }
    )+};
}
pub(crate) use suite;
