//! Mutants: one synchronising operation left out or weakened, named by its place in the source, to see whether tests
//! notice (mutation testing). Nothing is recompiled: the operation looks here before it takes effect.
//!
//! `WARPWRIGHT_MUTANTS=FILE` appends to FILE each mutant that launches of this process reach, as
//! `gpu/src/reduce.rs:12:5 remove`; `WARPWRIGHT_MUTANT` applies the mutant that it names, in all launches, and then
//! only that one is appended, once it was reached. Without these variables an operation costs the test of one flag.

use crate::happens_before::AtomicOp;
use crate::ordering::{Order, Scope};
use std::collections::BTreeSet;
use std::env;
use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::panic::Location;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// What a mutant does to the operation.
#[derive(Clone, Copy)]
pub(crate) enum Change {
    /// It is left out. A vote that is left out gives this thread's own predicate.
    Remove,
    /// The order becomes [`Order::Relaxed`].
    Relaxed,
    /// [`Order::AcqRel`] becomes [`Order::Acquire`].
    Acquire,
    /// [`Order::AcqRel`] becomes [`Order::Release`].
    Release,
    /// The scope becomes [`Scope::Block`].
    Block,
    /// [`Scope::System`] becomes [`Scope::Device`].
    Device,
    /// The last lane of the mask is not in it.
    Mask,
    /// The other parity.
    Parity,
    /// One more group may be under way after the wait.
    Pending,
    /// The barrier counts one warp less.
    Threads,
    /// The wait is only for the reads.
    Read,
}

impl Change {
    fn name(self) -> &'static str {
        match self {
            Self::Remove => "remove",
            Self::Relaxed => "relaxed",
            Self::Acquire => "acquire",
            Self::Release => "release",
            Self::Block => "block",
            Self::Device => "device",
            Self::Mask => "mask",
            Self::Parity => "parity",
            Self::Pending => "pending",
            Self::Threads => "threads",
            Self::Read => "read",
        }
    }
}

/// A change of the operation at a place: file, line, column.
type Mutant<'a> = (&'a str, u32, u32, &'static str);

struct Mutants {
    /// The one to apply.
    applied: Option<String>,
    /// Its line, which few operations share.
    line: Option<u32>,
    /// Where those that were reached are appended.
    file: Option<OsString>,
    reached: Mutex<Reached>,
}

#[derive(Default)]
struct Reached {
    all: BTreeSet<Mutant<'static>>,
    /// Those that the file does not have yet.
    new: Vec<Mutant<'static>>,
}

static ACTIVE: AtomicBool = AtomicBool::new(false);
static MUTANTS: OnceLock<Mutants> = OnceLock::new();
/// The place that was last reached, of those that share an entry, by change.
static KNOWN: [[AtomicUsize; Change::Read as usize + 1]; 512] = [const { [const { AtomicUsize::new(0) }; _] }; 512];

/// Before a launch: reads the variables, once per process.
pub(crate) fn begin_launch() {
    MUTANTS.get_or_init(|| {
        let applied = env::var("WARPWRIGHT_MUTANT").ok();
        let mutants = Mutants {
            line: applied.as_ref().and_then(|name| name.split(':').nth(1)?.parse().ok()),
            applied,
            file: env::var_os("WARPWRIGHT_MUTANTS"),
            reached: Mutex::default(),
        };
        ACTIVE.store(mutants.applied.is_some() || mutants.file.is_some(), Ordering::Relaxed);
        mutants
    });
}

/// After a launch: appends what it reached to the file.
pub(crate) fn end_launch() {
    if !ACTIVE.load(Ordering::Relaxed) {
        return;
    }
    let Some(Mutants { file: Some(path), reached, .. }) = MUTANTS.get() else { return };
    let mut reached = reached.lock().unwrap_or_else(PoisonError::into_inner);
    let mut text = String::new();
    for mutant in reached.new.drain(..) {
        text += &name(mutant);
        text.push('\n');
    }
    if !text.is_empty() {
        let appended = File::options().append(true).create(true).open(path);
        if let Err(error) = appended.and_then(|mut file| file.write_all(text.as_bytes())) {
            eprintln!("WARPWRIGHT_MUTANTS={}: {error}", path.display());
        }
    }
}

/// Whether the operation at `location` is to be changed so.
#[inline(always)]
pub(crate) fn mutated(location: &'static Location<'static>, change: Change) -> bool {
    ACTIVE.load(Ordering::Relaxed) && decide(location, change)
}

#[cold]
#[inline(never)]
fn decide(location: &'static Location<'static>, change: Change) -> bool {
    let Some(Mutants { applied, line, reached, .. }) = MUTANTS.get() else { return false };
    let mutant = (location.file(), location.line(), location.column(), change.name());
    if let Some(applied) = applied
        && (*line != Some(location.line()) || *applied != name(mutant))
    {
        return false;
    }
    // Most operations are known: that is seen without the lock.
    let place = std::ptr::from_ref(location) as usize;
    let known = &KNOWN[place / 8 % KNOWN.len()][change as usize];
    if known.load(Ordering::Relaxed) != place {
        known.store(place, Ordering::Relaxed);
        let mut reached = reached.lock().unwrap_or_else(PoisonError::into_inner);
        if reached.all.insert(mutant) {
            reached.new.push(mutant);
        }
    }
    applied.is_some()
}

/// A mutant as the variables and the file have it.
fn name((file, line, column, change): Mutant<'_>) -> String {
    format!("{file}:{line}:{column} {change}")
}

/// The order and scope of an atomic operation at `location`, weakened if the mutant says so.
pub(crate) fn atomic(
    location: &'static Location<'static>,
    op: AtomicOp,
    (order, scope): (Order, Scope),
) -> (Order, Scope) {
    if !ACTIVE.load(Ordering::Relaxed) {
        return (order, scope);
    }
    let weaker: &[(Change, Order)] = match (op, order) {
        (_, Order::Relaxed) => &[],
        (AtomicOp::Update, Order::AcqRel) => &[(Change::Acquire, Order::Acquire), (Change::Release, Order::Release)],
        _ => &[(Change::Relaxed, Order::Relaxed)],
    };
    let weakened = weaker.iter().find(|(change, _)| decide(location, *change));
    (weakened.map_or(order, |&(_, order)| order), self::scope(location, scope))
}

/// The scope of a fence or an atomic operation at `location`, narrowed if the mutant says so.
pub(crate) fn scope(location: &'static Location<'static>, scope: Scope) -> Scope {
    match scope {
        Scope::System if mutated(location, Change::Device) => Scope::Device,
        Scope::Device if mutated(location, Change::Block) => Scope::Block,
        scope => scope,
    }
}

/// The groups that may be under way after a wait at `location`.
pub(crate) fn pending(location: &'static Location<'static>, pending: u32) -> u32 {
    if mutated(location, Change::Pending) { pending + 1 } else { pending }
}

/// The parity of the phase that is waited for at `location`.
#[inline(always)]
pub(crate) fn parity(location: &'static Location<'static>, parity: u32) -> u32 {
    if mutated(location, Change::Parity) { parity ^ 1 } else { parity }
}

/// The lanes of a warp operation at `location`.
#[inline(always)]
pub(crate) fn mask(location: &'static Location<'static>, mask: u32) -> u32 {
    let without_last = mask & (u32::MAX >> 1 >> mask.leading_zeros().min(31));
    if without_last != 0 && mutated(location, Change::Mask) { without_last } else { mask }
}
