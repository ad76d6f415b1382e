//! What the properties share.

pub(crate) mod device;
pub(crate) mod frame;
pub(crate) mod problem;
pub(crate) mod product;
pub(crate) mod runner;
pub(crate) mod shapes;
pub(crate) mod values;

/// Makes a module of tests for each way to a result, one test for each property: a function that takes the way.
macro_rules! suite {
    ($properties:tt; $($module:ident => $way:ident;)+) => {$(
        mod $module {
            crate::support::suite!(@tests $properties $way);
        }
    )+};
    (@tests [$($property:ident),+ $(,)?] $way:ident) => {$(
        #[test]
        fn $property() {
            super::$property(super::$way);
        }
    )+};
}
pub(crate) use suite;
