//! The tutorial: every kernel of the teaching texts, from the simplest to the fastest, and every figure of the texts
//! reproduced.
//!
//! [`steps`] is the table of kernels, [`texts`] that of figures. `measure` runs both into a [`report::Report`], from
//! which the terminal's tables, the JSON and the page are made.

mod explain;
pub mod figures;
mod jobs;
mod limits;
mod measure;
mod page;
pub mod report;
mod source;
pub mod steps;
mod terminal;
pub mod texts;

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, ensure};
use clap::Parser;

use crate::device::DeviceOption;
use report::{Report, SCHEMA};

/// Runs the kernels of the tutorial from the simplest to the fastest: for each step what the simulator counts and, on a
/// GPU, how fast it is; then every figure of the teaching texts, reproduced by the simulator. The exit code is 1 if one
/// is not reproduced, or if a result is wrong.
#[derive(Clone, Debug, Parser)]
#[command(name = "warpwright-tutorial", version)]
pub struct Args {
    #[command(flatten)]
    device: DeviceOption,
    /// Print JSON instead of tables.
    #[arg(long)]
    json: bool,
    /// Also write a page with pictures, complete in one file.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Explain one step instead, named by its row (D1) or its kernel: its idea, counters, figures, source and PTX.
    #[arg(long, value_name = "ID", conflicts_with_all = ["json", "html", "device"])]
    kernel: Option<String>,
    /// Take the report that --json printed earlier, perhaps on another machine, from this file instead of running.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["kernel", "device", "seed"])]
    from: Option<PathBuf>,
    /// Chooses the random input, and the simulator's schedule.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Runs the program.
///
/// # Errors
/// The device is not there, the page cannot be written, there is no step of that name. A step or a row that fails is
/// part of the report.
pub fn main(args: &Args) -> Result<ExitCode> {
    if let Some(id) = &args.kernel {
        say(&explain::explain(id, args.seed)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let report = match &args.from {
        Some(file) => earlier(file)?,
        None => measure::measure(&args.device.open()?, args.seed)?,
    };
    if let Some(file) = &args.html {
        fs::write(file, page::page(&report)).with_context(|| format!("cannot write {}", file.display()))?;
    }
    if args.json {
        say(&serde_json::to_string_pretty(&report)?)?;
    } else {
        say(&terminal::text(&report))?;
    }
    Ok(if report.passes() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Prints. A reader that has seen enough, such as `head`, is no error.
fn say(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    match writeln!(out, "{}", text.trim_end()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.context("cannot print"),
    }
}

/// A report that was printed as JSON.
fn earlier(file: &Path) -> Result<Report> {
    #[derive(serde::Deserialize)]
    struct Form {
        schema: u32,
    }
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let what = || format!("{} is no report that `warpwright-tutorial --json` printed", file.display());
    let Form { schema } = serde_json::from_str(&text).with_context(what)?;
    ensure!(
        schema == SCHEMA,
        "{} is a report of form {schema}, and this program reads form {SCHEMA}: print it again",
        file.display()
    );
    serde_json::from_str(&text).with_context(what)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
        assert!(Args::try_parse_from(["warpwright-tutorial", "--kernel", "D1", "--json"]).is_err());
        assert!(Args::try_parse_from(["warpwright-tutorial", "--from", "x", "--device", "cuda"]).is_err());
        let args =
            Args::try_parse_from(["warpwright-tutorial", "--json", "--html", "p.html", "--device", "best"]).unwrap();
        assert!(args.json && args.html == Some(PathBuf::from("p.html")));
    }

    #[test]
    fn a_report_of_another_form_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("report.json");
        for (text, reason) in [
            ("", "is no report that"),
            ("{\"schema\": 99}", "is a report of form 99, and this program reads form 1"),
            ("{\"schema\": 1}", "is no report that"),
        ] {
            fs::write(&file, text).unwrap();
            let error = earlier(&file).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
        assert!(earlier(&dir.path().join("none")).unwrap_err().to_string().contains("cannot read"));
    }
}
