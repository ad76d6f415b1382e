//! The faults that the simulator found in a launch.

use std::fmt;

/// The faults that the simulator found in one launch.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FaultReport {
    /// The kernel.
    pub kernel: String,
    /// One report for each distinct location, in the order found.
    pub reports: Vec<simulator::Report>,
    /// Further distinct faults that were counted but not kept (`max_reports` of the configuration).
    pub suppressed: u64,
}

impl fmt::Display for FaultReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kernel, reports, suppressed } = self;
        let count = reports.len();
        write!(f, "kernel `{kernel}`: the simulator found {count} fault{}", if count == 1 { "" } else { "s" })?;
        for report in reports {
            write!(f, "\n{report}")?;
        }
        if *suppressed > 0 {
            write!(
                f,
                "\nand {suppressed} more that were not kept: raise `max_reports` of the simulator's configuration \
                 to see them"
            )?;
        }
        Ok(())
    }
}

impl std::error::Error for FaultReport {}
