//! Litmus tests of the PTX and Vulkan memory models: a few well-known ones, and those of *`Dat3M`* (`litmus/PTX` and
//! `litmus/VULKAN`, MIT licence) if `WARPWRIGHT_DAT3M` names a checkout.
//!
//! A test is translated by [`Program::parse`] and interpreted by a kernel. What the model forbids must never be seen,
//! what ends under a fair scheduler must end, and races are reported where the model has one. The simulator need not
//! show all that the model allows: it carries out accesses one after the other.

mod condition;
mod differences;
mod instructions;
mod known;
mod program;
mod run;

use differences::DIFFERENCES;
use known::KNOWN;
use program::{Program, Quantifier};
use run::{Seen, run_all};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What a list of expectations says of its tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Question {
    /// Whether the condition, with its quantifier, is true.
    Outcome,
    /// Whether it ends under a fair scheduler.
    Liveness,
    /// Whether no execution has a race.
    NoRace,
}

impl Question {
    /// Whether what was seen contradicts the answer that the model gives.
    fn contradicts(self, quantifier: Option<Quantifier>, expected: bool, seen: Seen) -> bool {
        match self {
            Self::Liveness => (seen.hangs == 0) != expected,
            Self::NoRace => (seen.races == 0) != expected,
            Self::Outcome => match (quantifier, expected) {
                (Some(Quantifier::Exists), false) | (Some(Quantifier::NotExists), true) => seen.holds > 0,
                (Some(Quantifier::ForAll), true) => seen.fails > 0,
                // The model allows something that the simulator need not show.
                _ => false,
            },
        }
    }

    /// Whether the model's answer excludes something: an outcome, a hang, a race.
    fn excludes(self, quantifier: Option<Quantifier>, expected: bool) -> bool {
        match self {
            Self::Outcome => (quantifier == Some(Quantifier::Exists)) != expected,
            Self::Liveness | Self::NoRace => expected,
        }
    }
}

#[test]
fn known_litmus_tests() {
    for &(name, text, expected, races, ends) in KNOWN {
        let language = if text.contains("@sg") { "Vulkan" } else { "PTX" };
        let first_values = if text.starts_with('{') { "" } else { "{ x=0; y=0; m=0; }" };
        let program = Program::parse(&format!("{language}\n{first_values}\n{text}")).expect(name);
        let quantifier = program.quantifier;
        let seen = run_all(program, 20).expect(name);
        let total = seen.holds + seen.fails + seen.hangs;
        assert!(total > 0, "{name}: every execution is excluded");
        assert!(!Question::Outcome.contradicts(quantifier, expected, seen), "{name}: {seen:?}");
        assert_eq!(seen.hangs, if ends { 0 } else { total }, "{name}: {seen:?}");
        // Whether the reader sees the flag depends on the schedule in a test without a loop.
        assert_eq!(seen.races > 0, races, "{name}: {seen:?}");
    }
}

/// The lists of expectations.
const LISTS: [(&str, Question); 4] = [
    ("PTXv6_0-expected.csv", Question::Outcome),
    ("PTXv7_5-expected.csv", Question::Outcome),
    ("PTXv7_5-Liveness-expected.csv", Question::Liveness),
    ("VULKAN-DR-expected.csv", Question::NoRace),
];

/// Runs a test of a checkout.
fn run_file(folder: &Path, file: &str) -> Result<(Option<Quantifier>, Seen), String> {
    let text = std::fs::read_to_string(folder.join(file)).map_err(|_| "not in the checkout")?;
    for seeds in [100, 1000] {
        let program = Program::parse(&text)?;
        let (quantifier, seen) = (program.quantifier, run_all(program, seeds)?);
        if seen.holds + seen.fails + seen.hangs > 0 {
            return Ok((quantifier, seen));
        }
    }
    Err("no execution meets the filter".to_owned())
}

#[test]
fn dat3m() {
    let Some(folder) = std::env::var_os("WARPWRIGHT_DAT3M") else { return };
    let folder = Path::new(&folder);
    for (name, question) in LISTS {
        let path = folder.join("dartagnan/src/test/resources").join(name);
        let list = std::fs::read_to_string(path).expect("a list of expectations");
        let (mut run, mut exclude, mut left_out) = (0, 0, BTreeMap::<String, usize>::new());
        let mut differ = BTreeMap::new();
        for (file, expected) in list.lines().filter_map(|line| line.rsplit_once(',')) {
            let expected = expected == "1";
            match run_file(folder, file) {
                Ok((quantifier, seen)) => {
                    run += 1;
                    exclude += usize::from(question.excludes(quantifier, expected));
                    if question.contradicts(quantifier, expected, seen) {
                        let name = file.trim_start_matches("litmus/").trim_end_matches(".litmus");
                        differ.insert(name.to_owned(), format!("{quantifier:?}, expected {expected}, {seen:?}"));
                    }
                }
                Err(why) => *left_out.entry(why).or_default() += 1,
            }
        }
        let total: usize = left_out.values().sum();
        println!("{name}: {run} run, of which {exclude} exclude something; {total} left out: {left_out:#?}");
        println!("{} differ: {differ:#?}", differ.len());
        let known = DIFFERENCES.iter().filter(|&&(of, ..)| of == question);
        let known: BTreeSet<&str> = known.flat_map(|&(_, _, names)| names.iter().copied()).collect();
        assert_eq!(differ.keys().map(String::as_str).collect::<BTreeSet<_>>(), known, "{name}: {differ:#?}");
    }
}
