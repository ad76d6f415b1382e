//! Where what every project needs is kept: `core` for each architecture, and compiled dependencies of kernels.

use std::env;
use std::path::PathBuf;

use anyhow::{Context as _, Result};

/// Names the folder, before all others.
pub(crate) const OVERRIDE: &str = "WARPWRIGHT_CACHE";

/// `WARPWRIGHT_CACHE`, else `warpwright` in the user's cache folder.
pub(crate) fn folder() -> Result<PathBuf> {
    let named = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    named(OVERRIDE)
        .or_else(|| Some(named("XDG_CACHE_HOME")?.join("warpwright")))
        .or_else(|| Some(named("HOME")?.join(".cache/warpwright")))
        .with_context(|| format!("no folder to keep `core` in: set HOME or {OVERRIDE}"))
}
