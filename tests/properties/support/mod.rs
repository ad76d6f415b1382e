//! Code that the properties share.

pub(crate) mod device;
pub(crate) mod frame;
pub(crate) mod problem;
pub(crate) mod product;
pub(crate) mod runner;
pub(crate) mod shapes;
pub(crate) mod values;

/// Defines a module of tests for each variant (an implementation), with one test for each property: a function of the
/// variant.
macro_rules! suite {
    ($properties:tt; $($module:ident => $variant:ident;)+) => {$(
        mod $module {
            crate::support::suite!(@tests $properties $variant);
        }
    )+};
    (@tests [$($property:ident),+ $(,)?] $variant:ident) => {$(
        #[test]
        fn $property() {
            super::$property(super::$variant);
        }
    )+};
}
pub(crate) use suite;
