//! The suites' kernels under NVIDIA's compute-sanitizer, beside the simulator.
//!
//! ```text
//! warpwright-suites compare            # on a machine with a GPU and compute-sanitizer: the tables
//! warpwright-suites list               # the kernels with their numbers
//! compute-sanitizer --tool racecheck warpwright-suites run NUMBER…
//! ```

mod compare;
mod sanitizer;

use std::io::Write as _;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result};
use clap::Parser;
use suites::indigo::{entries, graphs};
use suites::reported::defects;
use suites::scor::{Verdict, micros};
use suites::{Subject, indigo};
use warpwright::Device;

/// The suites' kernels under compute-sanitizer, beside the simulator.
#[derive(Parser)]
enum Command {
    /// Prints the kernels with their numbers.
    List,
    /// Launches kernels by their numbers on the first GPU, one after the other, until one fails.
    Run {
        /// Their numbers, as `list` has them.
        numbers: Vec<usize>,
    },
    /// Runs all kernels on the simulator and under each tool of compute-sanitizer, and prints what each finds.
    Compare(compare::Args),
}

/// All kernels with their inputs. Indigo's run on the graph of the published comparison; those with an access out of
/// bounds, which depends on the graph, on the other large ones, too.
fn subjects() -> Vec<Subject> {
    let graphs: Vec<Arc<indigo::Graph>> = graphs().into_iter().map(Arc::new).collect();
    let mut subjects: Vec<Subject> = entries().iter().map(|entry| entry.on(&graphs[0])).collect();
    let more = graphs[1..].iter().filter(|graph| graph.vertices() > 5);
    let outside: Vec<_> = entries().into_iter().filter(indigo::Entry::is_out_of_bounds).collect();
    subjects.extend(more.flat_map(|graph| outside.iter().map(|entry| entry.on(graph))));
    // With the fence that PTX asks for, a thread that polls a flag has no race.
    subjects.extend(micros(true).filter(|(verdict, _)| *verdict != Verdict::CleanBySuite).map(|(_, micro)| micro));
    subjects.extend(micros(true).filter(|(verdict, _)| *verdict == Verdict::CleanBySuite).map(|(_, micro)| micro));
    subjects.extend(defects().flat_map(|defect| [defect.faulty, defect.fixed]));
    subjects
}

/// What a line of `run` begins with that names the next kernel.
const MARK: &str = "kernel ";

/// How long a kernel's reports may take from compute-sanitizer to the output, which it and this program share.
const REPORTS: Duration = Duration::from_millis(40);

fn run(numbers: &[usize]) -> Result<()> {
    let (device, subjects) = (Device::cuda(0)?, subjects());
    let mut out = std::io::stdout();
    for &number in numbers {
        let subject = subjects.get(number).with_context(|| format!("there is no kernel {number}; see `list`"))?;
        writeln!(out, "{MARK}{number}")?;
        out.flush()?;
        let seen = subject.run(&device);
        thread::sleep(REPORTS);
        seen?;
    }
    Ok(())
}

fn main() -> Result<()> {
    match Command::parse() {
        Command::List => {
            for (number, subject) in subjects().iter().enumerate() {
                println!("{number} {} {} {:?}", subject.suite, subject.name, subject.faults);
            }
            Ok(())
        }
        Command::Run { numbers } => run(&numbers),
        Command::Compare(args) => compare::compare(&args, &subjects()),
    }
}
