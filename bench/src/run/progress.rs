//! What goes on, on stderr: a line that moves for each job under way on a terminal, else a line for each step.

use std::io::{IsTerminal as _, stderr};
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

/// Progress of all jobs.
pub(super) struct Progress {
    lines: MultiProgress,
    all: ProgressBar,
    terminal: bool,
}

/// Progress of one job.
pub(super) struct Step {
    line: ProgressBar,
    all: ProgressBar,
    name: String,
    terminal: bool,
    start: Instant,
}

impl Progress {
    pub(super) fn new(jobs: usize) -> Self {
        let lines = MultiProgress::new();
        let all = lines.add(ProgressBar::new(jobs as u64));
        all.set_style(style("{bar:30} {pos} of {len} kernels, {elapsed}"));
        Self { lines, all, terminal: stderr().is_terminal() }
    }

    pub(super) fn start(&self, name: String) -> Step {
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
    pub(super) fn now(&self, what: &'static str) {
        self.line.set_message(what);
        if !self.terminal {
            eprintln!("{}: {what}", self.name);
        }
    }

    /// Says how it ended.
    pub(super) fn done(self, passed: bool) {
        self.line.finish_and_clear();
        self.all.inc(1);
        if !self.terminal {
            let verdict = if passed { "passed" } else { "FAILED" };
            eprintln!("{}: {verdict} after {:.1} s", self.name, self.start.elapsed().as_secs_f64());
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the template is a constant of this file")
}
