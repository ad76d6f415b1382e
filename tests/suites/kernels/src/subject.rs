//! A kernel of a suite with its inputs.

use simulator::{Kind, Report};
use warpwright::{Device, Error, Result};

/// Launches a kernel on a device; gives whether the result is right.
type Run = dyn Fn(&Device) -> Result<bool> + Send + Sync;

/// A kernel with its inputs, and what the suite says of it.
pub struct Subject {
    /// The suite.
    pub suite: &'static str,
    /// The kernel's name in the suite.
    pub name: String,
    /// The entry of the PTX.
    pub entry: &'static str,
    /// The kinds of its faults.
    pub faults: Vec<Kind>,
    run: Box<Run>,
}

/// What a launch showed.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The simulator's reports; none on a GPU.
    pub reports: Vec<Report>,
    /// Whether the result is right; false if there are reports.
    pub is_right: bool,
}

impl Subject {
    /// A kernel that `run` launches on a device; it gives whether the result is right.
    pub(crate) fn new(
        (suite, name, entry): (&'static str, impl Into<String>, &'static str),
        faults: impl Into<Vec<Kind>>,
        run: impl Fn(&Device) -> Result<bool> + Send + Sync + 'static,
    ) -> Self {
        Self { suite, name: name.into(), entry, faults: faults.into(), run: Box::new(run) }
    }

    /// Launches the kernel.
    ///
    /// # Errors
    /// Those of the device, but for faults that the simulator found.
    pub fn run(&self, device: &Device) -> Result<Seen> {
        match (self.run)(device) {
            Ok(is_right) => Ok(Seen { reports: Vec::new(), is_right }),
            Err(Error::Faults(faults)) => Ok(Seen { reports: faults.reports, is_right: false }),
            Err(error) => Err(error),
        }
    }
}
