//! The tests of a package: built once, run one by one.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use tempfile::TempDir;
use warpwright_build::process;

/// A test of a test program.
#[derive(Debug)]
pub(crate) struct Test {
    program: PathBuf,
    /// The folder in which cargo runs it.
    folder: PathBuf,
    pub(crate) name: String,
}

/// What a run of a test gave.
pub(crate) struct Run {
    pub(crate) passed: bool,
    /// It took longer than its limit.
    ended_late: bool,
    pub(crate) output: String,
    pub(crate) time: Duration,
    /// The lines of the file that a variable named, each once.
    pub(crate) recorded: BTreeSet<String>,
}

impl Run {
    /// What the failed test saw: the kind of the simulator's first report, or a wrong result.
    pub(crate) fn found(&self) -> String {
        if self.ended_late {
            return "no end".to_owned();
        }
        // An error that is unwrapped is printed with its line ends escaped.
        let output = self.output.replace("\\n", "\n");
        let mut lines = output.lines().skip_while(|line| !line.contains(": the simulator found "));
        let kind = lines.nth(1).and_then(|report| report.trim().split_once(" in kernel `"));
        kind.map_or_else(|| "wrong result".to_owned(), |(kind, _)| kind.to_owned())
    }
}

/// The tests, and a folder for what their runs write.
pub(crate) struct Tests {
    all: Vec<Test>,
    folder: TempDir,
    files: AtomicUsize,
}

impl Tests {
    /// Builds the test programs that `cargo test` with these arguments would run, and lists their tests but for those
    /// whose names contain one of `skip`.
    pub(crate) fn build(arguments: &[String], skip: &[String]) -> Result<Self> {
        let mut cargo = process::cargo();
        cargo.args(["test", "--no-run", "--message-format=json-render-diagnostics"]).args(arguments);
        println!("{}", process::line(&cargo));
        let output = cargo.stderr(Stdio::inherit()).output().context("cannot start cargo")?;
        if !output.status.success() {
            bail!("the tests do not build");
        }
        let mut all = Vec::new();
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            let Ok(message) = serde_json::from_str::<Value>(line) else { continue };
            let (Some(program), Some(manifest)) = (message["executable"].as_str(), message["manifest_path"].as_str())
            else {
                continue;
            };
            if message["profile"]["test"] == true {
                let folder = Path::new(manifest).parent().context("a manifest is in a folder")?;
                let names = list(Path::new(program))?.into_iter();
                for name in names.filter(|name| !skip.iter().any(|part| name.contains(part))) {
                    all.push(Test { program: program.into(), folder: folder.to_owned(), name });
                }
            }
        }
        if all.is_empty() {
            bail!("`{}` has no tests", process::line(&cargo));
        }
        let folder = TempDir::new().context("cannot create a temporary folder")?;
        Ok(Self { all, folder, files: AtomicUsize::new(0) })
    }

    pub(crate) fn all(&self) -> &[Test] {
        &self.all
    }

    /// Runs a test on the simulator, which fails if it takes longer than `limit`: with another variable, and one that
    /// names the file that the simulator is to append to. Without either, the simulator changes nothing.
    pub(crate) fn run(
        &self,
        test: &Test,
        recorded: &str,
        variable: Option<(&str, &str)>,
        limit: Duration,
    ) -> Result<Run> {
        let number = self.files.fetch_add(1, Ordering::Relaxed);
        let [printed, lines] = ["output", "lines"].map(|name| self.folder.path().join(format!("{number}.{name}")));
        let output = File::create(&printed).with_context(|| format!("cannot create {}", printed.display()))?;
        let mut command = Command::new(&test.program);
        command.args(["--exact", &test.name, "--test-threads=1"]).current_dir(&test.folder);
        command.env("WARPWRIGHT_DEVICE", "simulator").env("RUST_BACKTRACE", "0");
        // The first failure is enough: no smaller case is looked for.
        command.env("PROPTEST_MAX_SHRINK_ITERS", "0");
        for changing in ["WARPWRIGHT_MUTANT", "WARPWRIGHT_SCHEDULE"] {
            command.env_remove(changing);
        }
        command.envs(variable).env(recorded, &lines);
        command.stdin(Stdio::null()).stderr(output.try_clone()?).stdout(output);
        let started = Instant::now();
        let mut child = command.spawn().with_context(|| format!("cannot start {}", test.program.display()))?;
        let (passed, ended_late) = loop {
            if let Some(status) = child.try_wait()? {
                break (status.success(), false);
            }
            if started.elapsed() > limit {
                child.kill()?;
                child.wait()?;
                break (false, true);
            }
            thread::sleep(Duration::from_millis(2));
        };
        let time = started.elapsed();
        let read =
            |path: &Path| fs::read(path).map_or_else(|_| String::new(), |text| String::from_utf8_lossy(&text).into());
        let recorded = read(&lines).lines().map(str::to_owned).collect();
        let run = Run { passed, ended_late, output: read(&printed), time, recorded };
        for path in [printed, lines] {
            // A test for which there is nothing to append writes no file.
            let _ = fs::remove_file(path);
        }
        Ok(run)
    }
}

/// The names of a program's tests that are not ignored.
fn list(program: &Path) -> Result<Vec<String>> {
    let names = |argument: &[&str]| -> Result<BTreeSet<String>> {
        let text = process::capture(Command::new(program).args(["--list", "--format=terse"]).args(argument))?;
        Ok(text.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
    };
    let ignored = names(&["--ignored"])?;
    Ok(names(&[])?.difference(&ignored).cloned().collect())
}
