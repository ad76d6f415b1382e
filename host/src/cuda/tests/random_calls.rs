//! Random calls of the safe interface on the mock driver: the programs of `tests/random_calls`, on two mock devices.
//!
//! The mock runs no kernels but additions. What is left to compare are copies, additions and errors; and the mock's own
//! accounts say of every kernel that work on one allocation keeps its order, that nothing is freed in use, that each
//! device gets its own handles and memory, and that nothing is left at the end. Each call finds another context current
//! on its thread, and has to leave it so.

#[path = "../../../../tests/random_calls/call.rs"]
mod call;
#[path = "../../../../tests/src/runner.rs"]
#[allow(unreachable_pub, reason = "it is a module of a library, too")]
mod runner;
#[path = "../../../../tests/random_calls/world.rs"]
mod world;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::thread;

use proptest::collection::vec;
use proptest::prelude::*;

use self::call::{Call, Kind, Program, program};
use self::world::{Tallies, Tally, World};
use super::{Character, mock};
use crate::Device;

/// Two mock devices.
struct Pair {
    ordinals: [u32; 2],
    devices: [Device; 2],
}

/// What a device has: allocations, streams, events.
type Owned = [usize; 3];

impl Pair {
    /// Opens pair `number`, 0 to 2.
    fn open(number: u32) -> Self {
        mock::install();
        let first = mock::ordinal(Character::Random) + 2 * number;
        let ordinals = [first, first + 1];
        Self { ordinals, devices: ordinals.map(|ordinal| Device::cuda(ordinal).expect("a mock device")) }
    }

    /// Allocates what a device keeps once it has reduced a vector, and drops if a reduction is refused.
    fn reduce_once(&self) {
        for device in &self.devices {
            let _: f32 = device.sum(&device.upload(&[1.0_f32]).unwrap()).unwrap();
        }
    }

    /// Makes the calls; then drops everything.
    fn run(&self, Program(calls): &Program, order: u64) -> BTreeMap<Kind, Tally> {
        let [first, second] = &self.devices;
        // That of other code, those of both devices, and none.
        let contexts = [Some(elsewhere()), Some(self.ordinals[0]), Some(self.ordinals[1]), None];
        let in_context = |number: usize, work: &mut dyn FnMut()| {
            let context = contexts[(order as usize ^ number) % contexts.len()];
            context.map_or_else(mock::leave_context, mock::set_current);
            work();
            assert!(context.is_none() || mock::current() == context, "call {number} left another context");
        };
        let mut world = World::new([first, second], false);
        for (number, call) in calls.iter().enumerate() {
            in_context(number, &mut || world.call(call));
        }
        let (mut world, mut tallies) = (Some(world), BTreeMap::new());
        in_context(calls.len(), &mut || tallies = world.take().map(|world| world.finish(order)).unwrap_or_default());
        tallies
    }

    /// As [`Pair::settle`], before a program: what one before it left, which has failed then, does not count.
    fn start(&self) -> Result<[Owned; 2], String> {
        for ordinal in self.ordinals.into_iter().chain([elsewhere()]) {
            mock::machine(ordinal).violations.clear();
        }
        self.settle()
    }

    /// Waits for all work, and says what the devices have; the errors that the mock noted otherwise.
    fn settle(&self) -> Result<[Owned; 2], String> {
        self.reduce_once();
        let mut errors = std::mem::take(&mut mock::machine(elsewhere()).violations);
        let mut left = [[0; 3]; 2];
        for ((ordinal, device), left) in self.ordinals.into_iter().zip(&self.devices).zip(&mut left) {
            device.synchronize().map_err(|error| error.to_string())?;
            let mut machine = mock::machine(ordinal);
            machine.discard_freed();
            errors.append(&mut machine.violations);
            *left = [machine.live(), machine.streams(), machine.live_events];
        }
        // The first is the cause of the others.
        errors.truncate(4);
        let foreign = mock::machine(elsewhere()).left();
        if errors.is_empty() && foreign.is_empty() {
            return Ok(left);
        }
        Err(format!("errors that the mock driver noted: {errors:#?}; on a device that is not open: {foreign:?}"))
    }
}

/// A device that no test opens: its context is that of other code.
fn elsewhere() -> u32 {
    mock::ordinal(Character::Random) + 6
}

/// How many transfers a program may forget.
fn forgotten(Program(calls): &Program) -> usize {
    calls.iter().filter(|call| matches!(call, Call::ForgetTransfer { .. })).count()
}

/// The program without them.
fn without_forgotten(Program(calls): &Program) -> Program {
    let kept = calls.iter().filter(|call| !matches!(call, Call::ForgetTransfer { .. }));
    Program(kept.cloned().collect())
}

#[test]
fn calls_return_what_the_model_says_and_leave_nothing() {
    let pair = Pair::open(0);
    let all = RefCell::new(Tallies::default());
    runner::check(runner::cases(9000), (program(120), any::<u64>()), |(program, order)| {
        let before = pair.start()?;
        let tallies = pair.run(program, *order);
        let after = pair.settle()?;
        // A transfer that is forgotten keeps its memory and its event.
        let most = forgotten(program);
        let is_left = |before: Owned, after: Owned| {
            after[0] > before[0] + most || after[1] > before[1] || after[2] > before[2] + most
        };
        if (0..2).any(|device| is_left(before[device], after[device])) {
            return Err(format!("{before:?} allocations, streams and events before, {after:?} after"));
        }
        all.borrow_mut().add(tallies);
        Ok(())
    });
    all.into_inner().finish(!runner::chooses_cases());
}

#[test]
fn a_device_that_is_closed_leaves_nothing() {
    runner::check(runner::cases(150), (program(120), any::<u64>()), |(program, order)| {
        let pair = Pair::open(1);
        pair.start()?;
        pair.run(&without_forgotten(program), *order);
        pair.settle()?;
        let ordinals = pair.ordinals;
        drop(pair);
        let left = ordinals.map(|ordinal| mock::machine(ordinal).left());
        if left.iter().all(Vec::is_empty) { Ok(()) } else { Err(format!("left: {left:?}")) }
    });
}

#[test]
fn eight_threads_make_calls_at_once() {
    let pair = Pair::open(2);
    let first = pair.settle().expect("no errors yet");
    let forgotten_so_far = RefCell::new(0);
    runner::check(runner::cases(400), (vec(program(120), 8), any::<u64>()), |(programs, order)| {
        pair.start()?;
        *forgotten_so_far.borrow_mut() += programs.iter().map(forgotten).sum::<usize>();
        thread::scope(|scope| {
            for program in programs {
                scope.spawn(|| pair.run(program, *order));
            }
        });
        let now = pair.settle()?;
        let most = *forgotten_so_far.borrow();
        // Each thread may have left the two allocations of a reduction for the next one.
        let is_left = |first: Owned, now: Owned| {
            now[0] > first[0] + most + 2 * programs.len() || now[1] > first[1] || now[2] > first[2] + most
        };
        if (0..2).any(|device| is_left(first[device], now[device])) {
            return Err(format!("{first:?} allocations, streams and events at first, {now:?} now, {most} forgotten"));
        }
        Ok(())
    });
}
