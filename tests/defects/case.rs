//! A planted bug as data, and the bench that runs it.

use simt::Kernel;
use simulator::{Config, Kind, Level, Outcome, Report};
use warpwright_tests::sim::{Args, Grid, launch};

/// Idle turns after which a launch counts as hung: every wait that ends does so after far fewer.
const HANG_TURNS: u64 = 1000;

/// Comment behind each line of a faulty kernel that its reports may name.
const MARK: &str = "// FAULT";

/// The cases of one source file.
pub(crate) struct Group {
    /// The file, as the compiler names it.
    pub(crate) file: &'static str,
    /// Its text.
    pub(crate) text: &'static str,
    /// One for each defect.
    pub(crate) cases: &'static [Case],
}

/// One defect.
pub(crate) struct Case {
    /// What is wrong.
    pub(crate) name: &'static str,
    /// How it is to be reported.
    pub(crate) kind: Kind,
    /// Lanes per warp.
    pub(crate) warp_size: u32,
    /// Launches the kernel and says whether its results are right.
    pub(crate) run: fn(&mut Bench) -> bool,
}

impl Case {
    /// A defect that warps of 32 lanes show.
    pub(crate) const fn new(name: &'static str, kind: Kind, run: fn(&mut Bench) -> bool) -> Self {
        Self { name, kind, warp_size: 32, run }
    }

    /// The same on warps of another size.
    pub(crate) const fn on_warps_of(self, warp_size: u32) -> Self {
        Self { warp_size, ..self }
    }

    /// Runs the faulty or the mended kernel.
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
    /// The one with the defect.
    Faulty,
    /// The same without.
    Mended,
}

/// How a case is run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schedule {
    pub(crate) level: Level,
    pub(crate) seed: u64,
    pub(crate) resident: u32,
}

/// What came of it.
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
    /// Launches the faulty or the mended kernel, whichever is to be run.
    pub(crate) fn launch<'a, P: Copy + Sync>(
        &mut self,
        (faulty, mended): (Kernel<P>, Kernel<P>),
        grid: Grid,
        args: impl Args<'a, P>,
    ) {
        let kernel = self.choose(faulty, mended);
        let launched = launch(&self.config, kernel, grid, args);
        let Outcome { reports, suppressed, .. } = launched.expect("the launch itself is in order");
        assert_eq!(suppressed, 0, "every report is kept");
        self.reports.extend(reports);
    }

    /// One of two values, as the version to be run has it: for defects that lie in the launch.
    pub(crate) fn choose<T>(&self, faulty: T, mended: T) -> T {
        match self.version {
            Version::Faulty => faulty,
            Version::Mended => mended,
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

    /// The kernel's name, where this file has such a kernel.
    pub(crate) fn name_of(&self, kernel: &str) -> Option<&str> {
        let heads = self.text.lines().filter_map(|line| line.strip_prefix("fn ")?.split('(').next());
        heads.into_iter().find(|&name| name == kernel)
    }
}
