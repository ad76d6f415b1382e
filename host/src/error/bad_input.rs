//! Invalid arguments and launches.

use std::fmt;

/// The rule that an argument violates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArgumentRule {
    /// The length must match the other argument or the shape.
    Length,
    /// The leading dimension must be at least the number of columns.
    LeadingDimension,
    /// The range must lie within the buffer or matrix.
    Range,
    /// An extent must fit 32 bits for matrices, and the address space in any case.
    Extent,
    /// The shape must match the other arguments.
    Shape,
    /// The object must belong to the device that does the work.
    Device,
    /// There must be enough elements for a result to be defined.
    Elements,
    /// At most six axes, each named once, with one stride each.
    Axes,
    /// No two elements to be written may share memory.
    Overlap,
    /// Memory and boxes must meet the requirements of TMA: start and strides are multiples of 16 bytes, boxes have at
    /// most 256 elements along each dimension.
    TmaTensor,
    /// The algorithm must support the problem.
    Algorithm,
    /// On the simulator, what is downloaded must have been written.
    Unwritten,
}

/// An invalid argument: of which call, what was expected, what was found, what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BadArgument {
    /// The violated rule.
    pub rule: ArgumentRule,
    /// The call, as `matmul` or `kernel add_f32`.
    pub call: String,
    /// The argument's name.
    pub argument: String,
    /// What was expected.
    pub expected: String,
    /// What was found.
    pub found: String,
    /// What to do.
    pub remedy: String,
}

impl BadArgument {
    pub(crate) fn new(rule: ArgumentRule, call: impl Into<String>, argument: impl Into<String>) -> Self {
        Self {
            rule,
            call: call.into(),
            argument: argument.into(),
            expected: String::new(),
            found: String::new(),
            remedy: String::new(),
        }
    }

    pub(crate) fn expected(mut self, expected: impl fmt::Display) -> Self {
        self.expected = expected.to_string();
        self
    }

    pub(crate) fn found(mut self, found: impl fmt::Display) -> Self {
        self.found = found.to_string();
        self
    }

    pub(crate) fn remedy(mut self, remedy: impl fmt::Display) -> Self {
        self.remedy = remedy.to_string();
        self
    }
}

impl fmt::Display for BadArgument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { call, argument, expected, found, remedy, .. } = self;
        write!(f, "{call}: argument `{argument}`: expected {expected}, found {found}; {remedy}")
    }
}

impl std::error::Error for BadArgument {}

/// The rule that a launch violates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LaunchRule {
    /// The grid must have at least one block in each dimension.
    EmptyGrid,
    /// The grid must be within the device's limits.
    GridLimit,
    /// The grid must be a multiple of the kernel's cluster size.
    Cluster,
    /// The kernel or the launch must give a block shape, nonzero and within the device's limits.
    BlockShape,
    /// The block shape must be the one that the kernel requires.
    RequiredBlock,
    /// Kernel and device limit the threads per block.
    Threads,
    /// The kernel determines whether a launch sets the size of shared memory.
    SharedMemory,
    /// The device limits the shared memory of a block.
    SharedLimit,
    /// The stream must belong to the device that launches.
    Stream,
    /// There must be PTX with the kernel.
    Module,
    /// The PTX must have been compiled from the kernel that is launched: the same arguments, in the same layout, the
    /// same launch bounds and shared memory.
    Ptx,
}

/// An invalid launch: of which kernel, what was expected, what was found, what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BadLaunch {
    /// The violated rule.
    pub rule: LaunchRule,
    /// The kernel.
    pub kernel: String,
    /// What was expected.
    pub expected: String,
    /// What was found.
    pub found: String,
    /// What to do.
    pub remedy: String,
}

impl BadLaunch {
    pub(crate) fn new(
        rule: LaunchRule,
        kernel: &str,
        expected: impl fmt::Display,
        found: impl fmt::Display,
        remedy: impl fmt::Display,
    ) -> Self {
        Self {
            rule,
            kernel: kernel.to_owned(),
            expected: expected.to_string(),
            found: found.to_string(),
            remedy: remedy.to_string(),
        }
    }
}

impl fmt::Display for BadLaunch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kernel, expected, found, remedy, .. } = self;
        write!(f, "kernel `{kernel}`: expected {expected}, found {found}; {remedy}")
    }
}

impl std::error::Error for BadLaunch {}
