//! Arguments and launches that do not fit.

use std::fmt;

/// The rule that an argument breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArgumentRule {
    /// As many elements as the other side has or the shape needs.
    Length,
    /// A leading dimension of at least the columns.
    LeadingDimension,
    /// Inside the buffer or matrix.
    Range,
    /// An extent that kernels can count: 32 bits for matrices, the address space for all.
    Extent,
    /// A shape that agrees with the other arguments.
    Shape,
    /// Memory of the device that does the work.
    Device,
    /// At least one element from which there is something to choose.
    Elements,
    /// At most six axes, each named once, a stride for each.
    Axes,
    /// No two elements to be written that share memory.
    Overlap,
    /// Memory and boxes as the copy engine takes them: starts and strides that are multiples of 16 bytes, boxes of at most
    /// 256 elements along each dimension.
    TmaTensor,
    /// A way that computes what is asked for.
    Algorithm,
}

/// An argument that does not fit: which, of what call, what was expected, what came, what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BadArgument {
    /// The rule it breaks.
    pub rule: ArgumentRule,
    /// The call, as `matmul` or `kernel add_f32`.
    pub call: String,
    /// The argument's name.
    pub argument: String,
    /// What would have fitted.
    pub expected: String,
    /// What came.
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

/// The rule that a launch breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LaunchRule {
    /// At least one block in each dimension of the grid.
    EmptyGrid,
    /// A grid within the device's limits.
    GridLimit,
    /// A grid that the kernel's clusters divide.
    Cluster,
    /// A block shape, given by the kernel or by the launch, without a zero, within the device's limits.
    BlockShape,
    /// The very block shape that the kernel is written for.
    RequiredBlock,
    /// No more threads per block than kernel and device allow.
    Threads,
    /// Shared memory as the kernel wants it.
    SharedMemory,
    /// No more shared memory than the device has for one block.
    SharedLimit,
    /// A stream of the device that launches.
    Stream,
    /// PTX that holds the kernel.
    Module,
}

/// A launch that does not fit: of which kernel, what was expected, what came, what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BadLaunch {
    /// The rule it breaks.
    pub rule: LaunchRule,
    /// The kernel.
    pub kernel: String,
    /// What would have fitted.
    pub expected: String,
    /// What came.
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
