//! What goes on, on stderr: a line that moves for each job under way on a terminal, else a line for each step.

use std::io::{IsTerminal as _, stderr};
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

/// Progress of all jobs.
pub(crate) struct Progress {
    lines: MultiProgress,
    all: ProgressBar,
    terminal: bool,
}

/// Progress of one job.
pub(crate) struct Step {
    line: ProgressBar,
    all: ProgressBar,
    name: String,
    terminal: bool,
    start: Instant,
}

impl Progress {
    /// Progress of so many jobs; `of` says what they are, in the plural.
    pub(crate) fn new(jobs: usize, of: &str) -> Self {
        let lines = MultiProgress::new();
        let all = lines.add(ProgressBar::new(jobs as u64));
        all.set_style(style(&format!("{{bar:30}} {{pos}} of {{len}} {of}, {{elapsed}}")));
        Self { lines, all, terminal: stderr().is_terminal() }
    }

    /// A job begins.
    pub(crate) fn start(&self, name: String) -> Step {
        let line = self.lines.insert_before(&self.all, ProgressBar::new_spinner());
        line.set_style(style("{spinner} {prefix}: {msg}, {elapsed}"));
        line.set_prefix(name.clone());
        line.enable_steady_tick(Duration::from_millis(120));
        Step { line, all: self.all.clone(), name, terminal: self.terminal, start: Instant::now() }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.all.finish_and_clear();
    }
}

impl Step {
    /// Says what the job does now.
    pub(crate) fn now(&self, what: &'static str) {
        self.line.set_message(what);
        if !self.terminal {
            eprintln!("{}: {what}", self.name);
        }
    }

    /// Says how it ended.
    pub(crate) fn done(self, passed: bool) {
        self.line.finish_and_clear();
        self.all.inc(1);
        if !self.terminal {
            let verdict = if passed { "passed" } else { "FAILED" };
            eprintln!("{}: {verdict} after {:.1} s", self.name, self.start.elapsed().as_secs_f64());
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the template is a constant of this program")
}
