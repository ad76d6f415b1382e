//! The simulator's counters beside the profiler's.
//!
//! The same launches are made on a GPU under `ncu` and on the simulator, and both counts put side by side. They count
//! *instructions*: where the compiler merges neighbouring loads or splits a wide store, requests differ and sectors do
//! not.
//!
//! ```text
//! ncu --clock-control none --csv --print-units base --metrics "$(warpwright-counters --metrics)" \
//!     warpwright-counters --launch > ncu.csv
//! warpwright-counters --compare ncu.csv
//! ```

mod cases;
mod compare;
mod metric;
mod ncu;

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::Parser;
use warpwright::simulator::{Config, Counters, Level};
use warpwright::{Device, Error};

use cases::Case;
use metric::METRICS;

/// The simulator's counters beside those of ncu, for every kernel of the main job and of the tutorial, each at an
/// aligned and at an odd shape.
#[derive(Clone, Debug, Parser)]
#[command(name = "warpwright-counters", version)]
pub struct Args {
    #[command(flatten)]
    mode: Mode,
}

/// What to do: one of these.
#[derive(Clone, Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct Mode {
    /// Print ncu's names of the metrics, for its option --metrics.
    #[arg(long)]
    metrics: bool,
    /// Launch every case once on the first GPU, to be run under ncu.
    #[arg(long)]
    launch: bool,
    /// Run every case on the simulator and print its counters as CSV.
    #[arg(long)]
    simulate: bool,
    /// Run every case on the simulator and print its counters beside those in this file, the output of `ncu --csv`, as
    /// a Markdown table.
    #[arg(long, value_name = "NCU.CSV")]
    compare: Option<PathBuf>,
}

/// Runs the program.
///
/// # Errors
/// There is no GPU to launch on, a kernel fails, or the file is not what ncu writes.
pub fn main(args: &Args) -> Result<ExitCode> {
    if args.mode.metrics {
        println!("{}", METRICS.map(|metric| metric.ncu).join(","));
    } else if args.mode.launch {
        launch()?;
    } else if args.mode.simulate {
        print!("{}", csv(&simulate()?)?);
    } else if let Some(file) = &args.mode.compare {
        let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
        let launches = ncu::parse(&text).with_context(|| format!("{} is no output of ncu --csv", file.display()))?;
        print!("{}", compare::table(&simulate()?, &launches)?);
    }
    Ok(ExitCode::SUCCESS)
}

/// Every case on the GPU. What is printed goes to stderr, since ncu's own output is on stdout.
fn launch() -> Result<()> {
    let device = Device::cuda(0)?;
    for case in cases::all() {
        eprintln!("{} {}", case.kernel, case.shape);
        case.launch(&device)?;
        device.synchronize()?;
    }
    Ok(())
}

/// Every case on the simulator.
fn simulate() -> Result<Vec<(Case, Counters)>> {
    let device = Device::simulator_with(Config::new(Level::Counters));
    let count = |case: Case| {
        eprintln!("simulating {} {}", case.kernel, case.shape);
        let counters = case.launch(&device)?.counters.context("the simulator counts at this level")?;
        Ok((case, counters))
    };
    cases::all().into_iter().map(count).collect()
}

/// One line for each case and metric.
fn csv(counted: &[(Case, Counters)]) -> Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(["kernel", "shape", "counter", "ncu metric", "simulator"])?;
    for (case, counters) in counted {
        for metric in &METRICS {
            let value = (metric.simulated)(counters).to_string();
            writer.write_record([case.kernel, &case.shape, metric.name, metric.ncu, &value])?;
        }
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

/// What a launch of a case gives.
type Launched = Result<warpwright::Execution, Error>;

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_takes_exactly_one_mode() {
        Args::command().debug_assert();
        assert!(Args::try_parse_from(["warpwright-counters"]).is_err());
        assert!(Args::try_parse_from(["warpwright-counters", "--launch", "--simulate"]).is_err());
        let args = Args::try_parse_from(["warpwright-counters", "--compare", "ncu.csv"]).unwrap();
        assert_eq!(args.mode.compare, Some(PathBuf::from("ncu.csv")));
    }

    #[test]
    fn csv_has_a_line_for_each_metric() {
        let case = cases::all().swap_remove(0);
        let text = csv(&[(case, Counters::default())]).unwrap();
        assert_eq!(text.lines().count(), 1 + METRICS.len());
        let second = text.lines().nth(1).unwrap();
        assert_eq!(
            second,
            "vector_add,1048576 elements,global load requests,l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum,0"
        );
    }
}
