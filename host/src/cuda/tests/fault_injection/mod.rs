//! Every driver call of every operation fails once, with each of a few statuses.
//!
//! A run without failures lists the calls of an operation. Then the operation runs once for each call and status. It
//! must return an error that names the call, release everything, free nothing that queued work needs, and leave the
//! device usable, or lost if the context does not survive the status.

mod operations;
mod tolerated;

use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

use self::operations::{Kept, OPEN, OPERATIONS, Operation, TRANSFERS};
use self::tolerated::{Tolerated, purpose, tolerated};
use super::super::driver::codes;
use super::{Character, mock};
use crate::{Device, Error, Result};

/// Statuses of calls: invalid value, out of memory; illegal address and launch failure, which lose the context.
const STATUSES: [i32; 4] = [1, codes::OUT_OF_MEMORY, 700, 719];

/// The call that fails.
#[derive(Clone, Copy)]
struct Fault<'a> {
    /// The calls of a run in which none fails.
    calls: &'a [&'static str],
    /// The index in `calls` of the one that fails.
    at: usize,
    status: i32,
}

impl Fault<'_> {
    /// Whether the context does not survive it.
    fn is_sticky(&self) -> bool {
        codes::STICKY.contains(&self.status)
    }

    /// Whether the error names the call and its status, and is of a kind that fits both.
    fn is_named_by(&self, error: &Error) -> bool {
        let (call, no_memory) = (self.calls[self.at], self.status == codes::OUT_OF_MEMORY);
        match error {
            Error::Driver(cause) => {
                let allocates = ["cuMemAllocFromPoolAsync", "cuMemAlloc_v2", "cuMemAllocHost_v2"].contains(&call);
                (cause.call, cause.code) == (call, self.status) && !(allocates && no_memory)
            }
            Error::Ptx(ptx) => {
                let cause = (ptx.cause.call, ptx.cause.code);
                cause == (call, self.status) && call == "cuModuleLoadDataEx" && !no_memory
            }
            Error::DeviceLost(lost) => (lost.cause.call, lost.cause.code) == (call, self.status) && self.is_sticky(),
            Error::OutOfMemory { .. } => no_memory,
            _ => false,
        }
    }
}

/// What happened in a run.
#[derive(Default)]
struct Outcome {
    calls: Vec<&'static str>,
    /// The number of calls before anything that the operation returned is dropped.
    calls_of_operation: usize,
    problems: Vec<String>,
}

/// Runs an operation in which a call may fail, drops what it leaves, and checks everything.
fn run(operation: &Operation, ordinal: u32, fault: Option<Fault<'_>>) -> Outcome {
    let mut outcome = Outcome::default();
    let mut problem = |text: String| outcome.problems.push(text);
    let machine = || mock::machine(ordinal);
    mock::leave_context();
    machine().reset();
    let mut device = (operation.name != OPEN).then(|| Device::cuda(ordinal).expect("no call fails yet"));
    machine().calls.clear();
    machine().fail_at = fault.map(|fault| (fault.at, fault.status));
    let has_failed = || fault.is_some() && machine().fail_at.is_none();
    let allowed = fault.and_then(|fault| tolerated(operation.name, fault.calls, fault.at, fault.status));
    let is_sticky = fault.is_some_and(|fault| fault.is_sticky());

    let attempt = || catch_unwind(AssertUnwindSafe(|| (operation.run)(ordinal)));
    let result = attempt();
    outcome.calls_of_operation = machine().calls.len();
    let failed_in_operation = has_failed();
    let mut kept = None;
    let mut first_error = None;
    match result {
        Err(_) => problem("a panic, or a wrong result".into()),
        Ok(Ok(left)) => {
            if failed_in_operation && allowed.is_none() {
                problem("no error".into());
            }
            kept = Some(left);
        }
        Ok(Err(error)) => {
            let names_it = fault.is_some_and(|fault| fault.is_named_by(&error));
            // A call whose status nobody looks at has lost the context: a later one says so.
            let names_later = machine().is_lost() && allowed.is_some() && matches!(error, Error::DeviceLost(_));
            if !failed_in_operation || !names_it && !names_later {
                problem(format!("another error: {error}"));
            }
            if matches!(error, Error::DeviceLost(_)) != machine().is_lost() {
                problem(format!("the context is lost: {}; the error: {error}", machine().is_lost()));
            }
            first_error = Some(error.to_string());
        }
    }
    if catch_unwind(AssertUnwindSafe(|| drop::<Option<Kept>>(kept))).is_err() {
        problem("a panic in a drop".into());
    }

    if has_failed() && !is_sticky {
        match attempt() {
            Ok(Ok(left)) => drop(left),
            Ok(Err(error)) => problem(format!("the next time: {error}")),
            Err(_) => problem("the next time: a panic, or a wrong result".into()),
        }
    }
    let is_lost = machine().is_lost();
    if let (true, Some(device)) = (is_lost, &device) {
        let text = |result: Result<()>| result.map_or_else(|error| error.to_string(), |()| "no error".into());
        let first = first_error.unwrap_or_else(|| text(device.synchronize()));
        let again = attempt().map_or_else(|_| "a panic".into(), |again| text(again.map(drop)));
        let later = [text(device.synchronize()), again, text(device.alloc::<u8>(1).map(drop))];
        if !first.contains("the CUDA context is lost") || later.iter().any(|later| *later != first) {
            problem(format!("the device is lost ({first}), but later: {later:?}"));
        }
    }
    if catch_unwind(AssertUnwindSafe(|| drop(device.take()))).is_err() {
        problem("a panic in the drop of the device".into());
    }

    for violation in &machine().violations {
        problem(violation.clone());
    }
    // What a lost context had is lost.
    let left: Vec<_> = machine().left().into_iter().filter(|(kind, _)| !is_sticky || *kind == "contexts").collect();
    let objects = match left[..] {
        // A pool and its stream.
        [("streams", 1), ("pools", 1)] => 1,
        ref left => left.iter().map(|(_, number)| number).sum(),
    };
    let cleans_up = fault.is_some() && (!failed_in_operation || matches!(allowed, Some(Tolerated::CleansUp)));
    if objects > usize::from(cleans_up || fault.is_some_and(|fault| may_leak(operation, fault))) {
        problem(format!("left: {left:?}"));
    }
    outcome.calls.clone_from(&machine().calls);
    outcome
}

/// Whether the fault is that of a wait for a copy: its page-locked memory may still be in use, so it is leaked.
fn may_leak(operation: &Operation, fault: Fault<'_>) -> bool {
    let waits = purpose(fault.calls, fault.at).is_some_and(|at| fault.calls[at] == "cuEventSynchronize");
    operation.name == TRANSFERS && waits
}

#[test]
fn every_driver_call_fails_once() {
    mock::install();
    let (mut runs, mut problems) = (0, String::new());
    for character in [Character::Faulty, Character::FaultyWithoutPools] {
        let ordinal = mock::ordinal(character);
        mock::watch(ordinal);
        for operation in &OPERATIONS {
            let name = format!("{}, {character:?}", operation.name);
            let Outcome { calls, calls_of_operation, problems: of_good } = run(operation, ordinal, None);
            assert_eq!(of_good, Vec::<String>::new(), "{name}, without a failure");
            assert!(calls_of_operation >= 4, "{name}: {calls_of_operation} driver calls");
            for (at, call) in calls.iter().enumerate() {
                for status in STATUSES {
                    let outcome = run(operation, ordinal, Some(Fault { calls: &calls, at, status }));
                    runs += 1;
                    for problem in outcome.problems {
                        let of = format!("call {at} of {calls_of_operation} and drops");
                        writeln!(problems, "{name}: {of}, {call}, returns {status}: {problem}").unwrap();
                    }
                    let same = outcome.calls.get(..=at) == Some(&calls[..=at]);
                    assert!(same, "{name}: other calls than before, up to call {at}; so far:\n{problems}");
                }
            }
        }
    }
    mock::leave_context();
    println!("{runs} runs with a call that failed");
    assert!(problems.is_empty(), "{} problems in {runs} runs:\n{problems}", problems.lines().count());
}
