//! Random calls of the safe interface, valid and invalid, on two devices: nothing panics, valid calls compute what a
//! model on the host says, invalid ones return an error and change nothing.
//!
//! The devices are that of `WARPWRIGHT_DEVICE` and a simulator, so that there are always two. A failing program is made
//! as short as possible and printed as Rust. `PROPTEST_CASES` sets the number of programs,
//! `WARPWRIGHT_SEED` which ones.

mod call;
mod world;

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::LazyLock;
use std::{env, thread};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestError, TestRunner};
use warpwright::Device;

use self::call::{Program, program};
use self::world::{Tally, World, can_be_refused};

static DEVICES: LazyLock<[Device; 2]> = LazyLock::new(|| [Device::best().expect("a device"), Device::simulator()]);

fn number(variable: &str) -> Option<u32> {
    env::var(variable).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{variable} is `{text}`: no number")))
}

/// Runs a property on this many cases; panics with the shortest failing case that was found.
fn check<S: Strategy<Value: Debug>>(cases: u32, strategy: &S, property: impl Fn(S::Value)) {
    let config = ProptestConfig {
        cases: number("PROPTEST_CASES").unwrap_or(cases),
        rng_seed: RngSeed::Fixed(number("WARPWRIGHT_SEED").unwrap_or(1).into()),
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let result = TestRunner::new(config).run(strategy, |case| {
        property(case);
        Ok(())
    });
    match result {
        Err(TestError::Fail(reason, case)) => panic!("{reason}\nshortest case found: {case:?}"),
        Err(TestError::Abort(reason)) => panic!("no cases: {reason}"),
        Ok(()) => {}
    }
}

/// What became of the calls of each kind.
fn run(Program(calls): &Program, order: u64) -> BTreeMap<&'static str, Tally> {
    let [first, second] = &*DEVICES;
    let mut world = World::new([first, second]);
    for call in calls {
        world.call(call);
    }
    world.finish(order)
}

#[test]
fn calls_compute_what_the_model_says_or_return_an_error() {
    let all = std::cell::RefCell::new(BTreeMap::<_, Tally>::new());
    check(3000, &(program(120), any::<u64>()), |(program, order)| {
        for (name, tally) in run(&program, order) {
            *all.borrow_mut().entry(name).or_default() += tally;
        }
    });
    let all = all.into_inner();
    for (name, tally) in &all {
        println!("{name:15} {tally:?}");
    }
    if number("PROPTEST_CASES").is_none() {
        for (name, tally) in all {
            assert!(tally.succeeded > 100, "{name}: {tally:?}");
            assert!(tally.refused > 100 || !can_be_refused(name), "{name}: {tally:?}");
        }
    }
}

#[test]
fn eight_threads_make_calls_at_once() {
    check(250, &(vec(program(120), 8), any::<u64>()), |(programs, order)| {
        thread::scope(|scope| {
            for program in &programs {
                scope.spawn(move || run(program, order));
            }
        });
    });
}
