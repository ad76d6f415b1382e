//! Kernels under a tool of compute-sanitizer: one in a process, several processes at a time.
//!
//! In a process of several kernels the reports on one would fill the tool's buffer and hide those on the next.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

use crate::MARK;

/// The tools.
pub(crate) const TOOLS: [&str; 4] = ["racecheck", "memcheck", "synccheck", "initcheck"];

/// What a tool says of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Said {
    /// The first lines of its reports.
    pub(crate) reports: Vec<String>,
    /// The entries of PTX that its reports name.
    pub(crate) entries: BTreeSet<String>,
    /// Whether the launch did not end in time, or did not begin.
    pub(crate) is_late: bool,
}

/// How long kernels may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// One kernel with the start of its process: then it is ended.
    pub(crate) kernel: Duration,
    /// All of a tool: the others are not run.
    pub(crate) tool: Duration,
}

/// Runs kernels by number under `tool`, in so many processes at a time.
pub(crate) fn run(tool: &str, numbers: Vec<usize>, jobs: usize, limits: Limits) -> Result<BTreeMap<usize, Said>> {
    let end = Instant::now() + limits.tool;
    let arguments = arguments(tool)?;
    let (left, said) = (Mutex::new(numbers.into_iter()), Mutex::new(BTreeMap::new()));
    let work = || -> Result<()> {
        while Instant::now() < end {
            let Some(number) = left.lock().unwrap_or_else(PoisonError::into_inner).next() else { break };
            // A kernel of which nothing is known in time is not in the result.
            if let Some(of_kernel) = process(&arguments, number, limits.kernel, end)? {
                said.lock().unwrap_or_else(PoisonError::into_inner).insert(number, of_kernel);
            }
        }
        Ok(())
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("a worker"))
    })?;
    Ok(said.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// The options of compute-sanitizer.
fn arguments(tool: &str) -> Result<Vec<&str>> {
    Command::new("compute-sanitizer")
        .arg("--version")
        .output()
        .context("cannot start compute-sanitizer: it comes with the CUDA toolkit")?;
    // One report is enough, and thousands take longer to print than the kernel to run.
    Ok(vec!["--tool", tool, "--show-backtrace", "no", "--print-limit", "4"])
}

/// One kernel in a process of its own, up to `end`; `None` if that came first.
fn process(arguments: &[&str], number: usize, limit: Duration, end: Instant) -> Result<Option<Said>> {
    let mut command = Command::new("compute-sanitizer");
    command.args(arguments).arg(env::current_exe()?).arg("run").arg(number.to_string());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::null()).stdin(Stdio::null());
    // A group of its own: the tool and what it runs are ended together.
    let mut child = child.process_group(0).spawn()?;
    let output = child.stdout.take().context("its output")?;
    let (sender, lines) = channel();
    thread::spawn(move || {
        for line in BufReader::new(output).split(b'\n') {
            let Ok(line) = line else { return };
            if sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                return;
            }
        }
    });
    let (mut said, mut has_begun) = (Said::default(), false);
    let late = Instant::now() + limit;
    loop {
        match lines.recv_timeout(late.min(end).saturating_duration_since(Instant::now())) {
            Ok(line) => {
                has_begun |= line.starts_with(MARK);
                said.reports.extend(report(&line).map(str::to_owned));
                said.entries.extend(entries(&line).map(str::to_owned));
            }
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                Command::new("kill").args(["-9", "--", &format!("-{}", child.id())]).status()?;
                said.is_late = true;
                break;
            }
        }
    }
    child.wait()?;
    if said.is_late && late >= end {
        return Ok(None);
    }
    ensure!(has_begun || said.is_late, "compute-sanitizer {} does not run kernel {number}", arguments.join(" "));
    Ok(Some(said))
}

/// The text of a line that begins a report on a kernel.
fn report(line: &str) -> Option<&str> {
    let text = line.strip_prefix("========= ").filter(|text| !text.trim().is_empty())?;
    let others = [
        " ",
        "COMPUTE-SANITIZER",
        "ERROR SUMMARY",
        "RACECHECK SUMMARY",
        "LEAK SUMMARY",
        "Target application",
        "Program hit",
        "Error: Target",
        "Error: process",
        "Error: No attachable",
        "Warning: ",
    ];
    let is_hazard = text.starts_with("Warning: ") && text.contains("Race");
    // Printed once at the end, beside the reports that found room.
    if text.contains("errors were skipped") {
        return None;
    }
    (is_hazard || !others.iter().any(|other| text.starts_with(other))).then_some(text)
}

/// The entries of PTX that a line of a report names, as `two_reductions+0x190`.
fn entries(line: &str) -> impl Iterator<Item = &str> {
    let words = line.starts_with("=========").then(|| line.split_whitespace()).into_iter().flatten();
    words.filter_map(|word| word.split_once("+0x")).map(|(entry, _)| entry)
}

#[cfg(test)]
mod tests {
    use super::{entries, report};

    #[test]
    fn first_lines_of_reports_are_told_from_others() {
        let race =
            "Error: Race reported between Write access at two_reductions+0x40 and Read access at f+0x80 [4 hazards]";
        assert_eq!(report(&format!("========= {race}")), Some(race));
        assert_eq!(entries(race).count(), 0);
        assert!(entries(&format!("========= {race}")).eq(["two_reductions", "f"]));
        let invalid = "Invalid __global__ read of size 4 bytes";
        assert_eq!(report(&format!("========= {invalid}")), Some(invalid));
        for other in [
            "========= COMPUTE-SANITIZER",
            "=========     at neighbor+0x100",
            "========= ",
            "========= ERROR SUMMARY: 1 error",
            "========= 111012 errors were skipped (error buffer overflow).",
            "========= Program hit CUDA_ERROR_LAUNCH_FAILED (error 719) on CUDA API call to cuStreamSynchronize.",
            "kernel 3",
        ] {
            assert_eq!(report(other), None, "{other}");
        }
    }
}
