//! Runs a property on many cases.

use std::any::Any;
use std::env;
use std::fmt::Debug;
use std::rc::Rc;

use proptest::strategy::{BoxedStrategy, Strategy};
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestError, TestRunner};

/// The number of cases: that of `WARPWRIGHT_CASES`, if it is set.
pub fn cases(default: u32) -> u32 {
    number("WARPWRIGHT_CASES").map_or(default, |cases| cases as u32)
}

/// Whether `WARPWRIGHT_CASES` or `WARPWRIGHT_SEED` asks for other cases than those of every run.
pub fn chooses_cases() -> bool {
    ["WARPWRIGHT_CASES", "WARPWRIGHT_SEED"].into_iter().any(|variable| env::var_os(variable).is_some())
}

/// The seed of the cases: the same in every run, so that failures are reproducible.
fn seed() -> u64 {
    number("WARPWRIGHT_SEED").unwrap_or(1)
}

fn number(variable: &str) -> Option<u64> {
    let value = env::var(variable).ok()?;
    Some(value.parse().unwrap_or_else(|_| panic!("{variable} is `{value}`; expected a number")))
}

/// Runs `property` on `cases` cases drawn from `strategy`.
///
/// # Panics
/// The property fails for a case: with the smallest one found.
pub fn check<S>(cases: u32, strategy: S, property: impl Fn(&S::Value) -> Result<(), String>)
where
    S: Strategy + 'static,
    S::Value: Debug + 'static,
{
    // What follows is large, and is compiled once: for cases of any type.
    let strategy = strategy.prop_map(|case| Rc::new(case) as Rc<dyn Case>).boxed();
    run(cases, &strategy, &|case| match case.as_any().downcast_ref() {
        Some(case) => property(case),
        None => Err("a case of another type".to_owned()),
    });
}

/// A case of any type.
trait Case: Debug + 'static {
    fn as_any(&self) -> &dyn Any;
}

impl<T: Debug + 'static> Case for T {
    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn run(cases: u32, strategy: &BoxedStrategy<Rc<dyn Case>>, property: &dyn Fn(&dyn Case) -> Result<(), String>) {
    // PROPTEST_MAX_SHRINK_ITERS may lower it.
    let defaults = Config::default();
    let config = Config {
        cases,
        rng_seed: RngSeed::Fixed(seed()),
        // A bundle has no source folder for failures; the fixed seed reproduces them.
        failure_persistence: None,
        max_shrink_iters: defaults.max_shrink_iters.min(2000),
        ..defaults
    };
    let result = TestRunner::new(config).run(strategy, |case| property(&*case).map_err(TestCaseError::fail));
    match result {
        Ok(()) => {}
        Err(TestError::Fail(reason, case)) => {
            panic!("{reason}\nsmallest case found: {case:#?}\n(WARPWRIGHT_SEED={}, {cases} cases)", seed())
        }
        Err(TestError::Abort(reason)) => panic!("no cases: {reason}"),
    }
}
