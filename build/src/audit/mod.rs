//! The audit: what a kernel's PTX may contain, given the limits declared beside the kernel.

pub mod checks;
pub mod usage;
pub mod user;
