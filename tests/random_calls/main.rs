//! Random calls of the safe interface, valid and invalid, on two devices: nothing panics, valid calls compute what a
//! model on the host says, invalid ones return an error and change nothing.
//!
//! The devices are that of `WARPWRIGHT_DEVICE` and a simulator, so that there are always two. A failing program is made
//! as short as possible and printed as Rust. `WARPWRIGHT_CASES=30000` runs more programs, `WARPWRIGHT_SEED=7`
//! different ones.
//!
//! The unit tests of the CUDA back end make the same calls on the mock driver: `host/src/cuda/tests/random_calls.rs`.

mod call;
mod world;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::thread;

use proptest::collection::vec;
use proptest::prelude::*;
use warpwright::Device;
use warpwright_tests::runner;

use self::call::{Kind, Program, program};
use self::world::{Tallies, Tally, World};

static DEVICES: LazyLock<[Device; 2]> = LazyLock::new(|| [Device::best().expect("a device"), Device::simulator()]);

/// What became of the calls of each kind.
fn run(Program(calls): &Program, order: u64) -> BTreeMap<Kind, Tally> {
    let [first, second] = &*DEVICES;
    let mut world = World::new([first, second], true);
    for call in calls {
        world.call(call);
    }
    world.finish(order)
}

#[test]
fn calls_compute_what_the_model_says_or_return_an_error() {
    let all = RefCell::new(Tallies::default());
    runner::check(runner::cases(3000), (program(120), any::<u64>()), |(program, order)| {
        all.borrow_mut().add(run(program, *order));
        Ok(())
    });
    all.into_inner().finish(!runner::chooses_cases());
}

#[test]
fn eight_threads_make_calls_at_once() {
    runner::check(runner::cases(250), (vec(program(120), 8), any::<u64>()), |(programs, order)| {
        thread::scope(|scope| {
            for program in programs {
                scope.spawn(move || run(program, *order));
            }
        });
        Ok(())
    });
}
