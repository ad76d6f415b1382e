//! Runs a property on many cases.

use std::cell::Cell;
use std::env;
use std::fmt::Debug;

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestError, TestRunner};

use super::device;

/// Cases per property: few enough on the simulator that all properties together take seconds.
fn cases() -> u32 {
    number("WARPWRIGHT_CASES").map_or(if device::is_gpu() { 256 } else { 128 }, |cases| cases as u32)
}

/// The seed of the cases: the same in every run, so that failures are reproducible.
fn seed() -> u64 {
    number("WARPWRIGHT_SEED").unwrap_or(1)
}

fn number(variable: &str) -> Option<u64> {
    let value = env::var(variable).ok()?;
    Some(value.parse().unwrap_or_else(|_| panic!("{variable} is `{value}`; expected a number")))
}

/// Runs `property` on cases drawn from `strategy`; panics with the smallest failing case found. Returns the largest
/// result of the property, which is the worst error over bound.
pub(crate) fn check<S>(strategy: S, property: impl Fn(&S::Value) -> Result<f64, String>) -> f64
where
    S: Strategy,
    S::Value: Debug,
{
    let config = Config {
        cases: cases(),
        rng_seed: RngSeed::Fixed(seed()),
        // A bundle has no source folder for failures; the fixed seed reproduces them.
        failure_persistence: None,
        max_shrink_iters: 2000,
        ..Config::default()
    };
    let worst = Cell::new(0.0_f64);
    let result = TestRunner::new(config).run(&strategy, |case| match property(&case) {
        Ok(ratio) => {
            worst.set(worst.get().max(ratio));
            Ok(())
        }
        Err(reason) => Err(TestCaseError::fail(reason)),
    });
    match result {
        Ok(()) => worst.get(),
        Err(TestError::Fail(reason, case)) => {
            panic!("{reason}\nsmallest case found: {case:#?}\n(WARPWRIGHT_SEED={}, {} cases)", seed(), cases())
        }
        Err(TestError::Abort(reason)) => panic!("no cases: {reason}"),
    }
}

/// [`check`] for a property with rounding errors: prints the worst error over bound, and requires at least one error,
/// which shows that values were compared.
pub(crate) fn check_within<S>(what: &str, strategy: S, property: impl Fn(&S::Value) -> Result<f64, String>)
where
    S: Strategy,
    S::Value: Debug,
{
    let worst = check(strategy, property);
    assert!(worst > 0.0, "{what}: not one rounding error in {} cases", cases());
    println!("{what}: worst error over bound {worst:.3} in {} cases", cases());
}
