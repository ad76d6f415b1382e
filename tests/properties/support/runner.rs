//! Runs a property on many cases.

use std::cell::Cell;
use std::fmt::Debug;

use proptest::strategy::Strategy;
use warpwright_tests::runner;

use super::device;

/// Cases per property: few enough on the simulator that all properties together take seconds.
fn cases() -> u32 {
    runner::cases(if device::is_gpu() { 256 } else { 128 })
}

/// Runs `property` on cases drawn from `strategy`; panics with the smallest failing case found. Returns the largest
/// result of the property, which is the worst error over bound.
pub(crate) fn check<S>(strategy: S, property: impl Fn(&S::Value) -> Result<f64, String>) -> f64
where
    S: Strategy + 'static,
    S::Value: Debug + 'static,
{
    let worst = Cell::new(0.0_f64);
    runner::check(cases(), strategy, |case| {
        worst.set(worst.get().max(property(case)?));
        Ok(())
    });
    worst.get()
}

/// [`check`] for a property with rounding errors: prints the worst error over bound, and requires at least one error,
/// which shows that values were compared.
pub(crate) fn check_within<S>(what: &str, strategy: S, property: impl Fn(&S::Value) -> Result<f64, String>)
where
    S: Strategy + 'static,
    S::Value: Debug + 'static,
{
    let worst = check(strategy, property);
    assert!(worst > 0.0, "{what}: not one rounding error in {} cases", cases());
    println!("{what}: worst error over bound {worst:.3} in {} cases", cases());
}
