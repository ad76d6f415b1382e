//! Steps that run beside others, on the processor time that those leave.
//!
//! Builds are often busy on one processor, and so are tests that start compilers. What runs here has the lowest
//! priority: tests that measure time are not disturbed. Each step is a process of its own, whose output is kept until
//! the other steps have ended.

use std::env;
use std::io::{Read as _, Seek as _};
use std::process::{Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use anyhow::{Context as _, Result, anyhow};

use super::Outcome;

/// Steps that are under way.
pub(super) struct Background {
    /// Each runs its steps one after the other.
    queues: Vec<JoinHandle<Vec<(Outcome, String)>>>,
}

impl Background {
    /// Starts the steps: those of a queue one after the other, the queues at the same time.
    pub(super) fn start(queues: Vec<Vec<&'static str>>) -> Self {
        println!("beside the other steps, at low priority: {}", queues.concat().join(", "));
        let start = |names: Vec<_>| thread::spawn(|| names.into_iter().map(run).collect());
        Self { queues: queues.into_iter().map(start).collect() }
    }

    /// Waits for the steps, prints what they printed, and says what became of them.
    pub(super) fn finish(self) -> Result<Vec<Outcome>> {
        let mut outcomes = Vec::new();
        for queue in self.queues {
            let done = queue.join().map_err(|_| anyhow!("a step beside the others panicked"))?;
            for (outcome, output) in done {
                print!("{output}");
                outcomes.push(outcome);
            }
        }
        Ok(outcomes)
    }
}

/// Runs a step in a process of its own; its output.
fn run(name: &'static str) -> (Outcome, String) {
    let started = Instant::now();
    let (passed, output) =
        output(name).unwrap_or_else(|error| (false, format!("\n=== {name} ===\nerror: {error:#}\n")));
    (Outcome { name, passed, time: started.elapsed() }, output)
}

fn output(step: &str) -> Result<(bool, String)> {
    let mut output = tempfile::tempfile().context("cannot create a temporary file")?;
    let this = env::current_exe().context("cannot find this program")?;
    let mut nice = Command::new("nice");
    nice.args(["-n", "19"]).arg(this).args(["test", "--no-summary", "--step", step]);
    nice.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output.try_clone()?);
    let passed = nice.status().context("cannot start `nice`")?.success();
    output.rewind()?;
    let mut bytes = Vec::new();
    output.read_to_end(&mut bytes)?;
    Ok((passed, String::from_utf8_lossy(&bytes).into_owned()))
}
