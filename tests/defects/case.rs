//! A defect as data, and the test bench that runs it.

use simt::Kernel;
use simulator::{Config, Kind, Level, Outcome, Report};
use warpwright_tests::sim::{Args, Grid, launch};

/// Turns of polling threads after which a launch counts as hung, if nothing changes. Waits that end take far fewer.
const HANG_TURNS: u64 = 1000;

/// Comment at the end of each line of a faulty kernel that its reports may name.
const MARK: &str = "// FAULT";

/// The cases of one source file.
pub(crate) struct Group {
    /// The path of the file, from `file!()`.
    pub(crate) file: &'static str,
    /// The text of the file.
    pub(crate) text: &'static str,
    /// The defects.
    pub(crate) cases: &'static [Case],
}

/// One defect.
pub(crate) struct Case {
    /// The defect in words.
    pub(crate) name: &'static str,
    /// The expected kind of report.
    pub(crate) kind: Kind,
    /// Lanes per warp.
    pub(crate) warp_size: u32,
    /// Launches the kernel and returns whether its results are right.
    pub(crate) run: fn(&mut Bench) -> bool,
}

impl Case {
    /// A defect in a kernel for warps of 32 lanes.
    pub(crate) const fn new(name: &'static str, kind: Kind, run: fn(&mut Bench) -> bool) -> Self {
        Self { name, kind, warp_size: 32, run }
    }

    /// The same defect on warps of another size.
    pub(crate) const fn on_warps_of(self, warp_size: u32) -> Self {
        Self { warp_size, ..self }
    }

    /// Runs the faulty or the fixed kernel.
    pub(crate) fn run(&self, version: Version, schedule: Schedule) -> Run {
        let Schedule { level, seed, resident } = schedule;
        let mut config = Config::new(level).seed(seed).resident(resident).warp_size(self.warp_size).threads(1);
        config.hang_turns = HANG_TURNS;
        let mut bench = Bench { config, version, reports: Vec::new() };
        let right = (self.run)(&mut bench);
        Run { reports: bench.reports, right }
    }
}

/// Which of the two kernels of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    /// With the defect.
    Faulty,
    /// Without the defect.
    Fixed,
}

/// The simulator's settings for a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schedule {
    pub(crate) level: Level,
    pub(crate) seed: u64,
    pub(crate) resident: u32,
}

/// Reports and result of a run.
pub(crate) struct Run {
    pub(crate) reports: Vec<Report>,
    pub(crate) right: bool,
}

/// Launches for one run of a case, and collects the reports.
pub(crate) struct Bench {
    config: Config,
    version: Version,
    reports: Vec<Report>,
}

impl Bench {
    /// Launches the kernel of this run's version.
    pub(crate) fn launch<'a, P: Copy + Sync>(
        &mut self,
        (faulty, fixed): (Kernel<P>, Kernel<P>),
        grid: Grid,
        args: impl Args<'a, P>,
    ) {
        let kernel = self.choose(faulty, fixed);
        let launched = launch(&self.config, kernel, grid, args);
        let Outcome { reports, suppressed, .. } = launched.expect("a valid launch");
        assert_eq!(suppressed, 0, "every report is kept");
        self.reports.extend(reports);
    }

    /// The value for this run's version: for defects in the launch instead of the kernel.
    pub(crate) fn choose<T>(&self, faulty: T, fixed: T) -> T {
        match self.version {
            Version::Faulty => faulty,
            Version::Fixed => fixed,
        }
    }
}

impl Group {
    /// Numbers of the marked lines of kernel `name`, from 1.
    pub(crate) fn marked(&self, name: &str) -> Vec<u32> {
        let head = format!("fn {name}(");
        let lines = self.text.lines().zip(1..);
        let body = lines.skip_while(|(line, _)| !line.starts_with(&head)).take_while(|&(line, _)| line != "}");
        body.filter(|(line, _)| line.contains(MARK)).map(|(_, number)| number).collect()
    }

    /// The kernel's name, if this file has such a kernel.
    pub(crate) fn name_of(&self, kernel: &str) -> Option<&str> {
        let heads = self.text.lines().filter_map(|line| line.strip_prefix("fn ")?.split('(').next());
        heads.into_iter().find(|&name| name == kernel)
    }
}
