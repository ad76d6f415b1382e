//! Counting what `cargo test` reports while it reports it.

use std::fmt::{self, Display};
use std::io::{BufRead as _, BufReader, IsTerminal as _, Write as _};
use std::ops::AddAssign;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};

use crate::process;

/// Tests counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// Tests that passed.
    pub(super) passed: u64,
    /// Tests that failed.
    pub(super) failed: u64,
    /// Tests left out by `#[ignore]`.
    pub(super) ignored: u64,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.ignored += other.ignored;
    }
}

impl Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed, {} ignored", self.passed, self.failed, self.ignored)
    }
}

/// Runs `cargo test`, passing its output on line by line; whether it succeeded, and the sum of its result lines.
pub(super) fn run(command: &mut Command) -> Result<(bool, Tally)> {
    println!("{}", process::line(command));
    if std::io::stdout().is_terminal() {
        command.env("CARGO_TERM_COLOR", "always");
    }
    let mut child =
        command.stdout(Stdio::piped()).spawn().with_context(|| format!("cannot start `{}`", process::line(command)))?;
    let output = BufReader::new(child.stdout.take().expect("stdout is piped"));
    let mut tally = Tally::default();
    for line in output.split(b'\n') {
        // A test may print bytes that are no UTF-8.
        let line = line?;
        let mut out = std::io::stdout().lock();
        out.write_all(&line)?;
        out.write_all(b"\n")?;
        tally += result_line(&String::from_utf8_lossy(&line)).unwrap_or_default();
    }
    Ok((child.wait()?.success(), tally))
}

/// Reads `test result: ok. 3 passed; 0 failed; 1 ignored; …`.
fn result_line(line: &str) -> Option<Tally> {
    let (_, rest) = line.trim_start().strip_prefix("test result: ")?.split_once(". ")?;
    let number = |word: &str| rest.split("; ").find_map(|part| part.trim().strip_suffix(word)?.trim().parse().ok());
    Some(Tally { passed: number("passed")?, failed: number("failed")?, ignored: number("ignored")? })
}

#[cfg(test)]
mod tests {
    use super::{Tally, result_line};

    #[test]
    fn result_lines_are_read_and_others_are_not() {
        let ok = "test result: ok. 31 passed; 0 failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.07s";
        assert_eq!(result_line(ok), Some(Tally { passed: 31, failed: 0, ignored: 2 }));
        let failed =
            "test result: FAILED. 1 passed; 4 failed; 0 ignored; 0 measured; 7 filtered out; finished in 0.07s";
        assert_eq!(result_line(failed), Some(Tally { passed: 1, failed: 4, ignored: 0 }));
        assert_eq!(result_line("test tests::a ... ok"), None);
        assert_eq!(result_line("a test said: test result: ok. 9 passed"), None);
    }
}
