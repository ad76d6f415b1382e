//! The nightly toolchain that writes PTX: found where it is installed, called by path, never fetched.
//!
//! A dated nightly is preferred; where that one is not installed, plain `nightly` serves. A toolchain that rustup does
//! not know can be given as `WARPWRIGHT_NIGHTLY=/path/to/toolchain`.

use std::env;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::process;

/// The nightly that this release was tested with.
pub const CHANNEL: &str = "nightly-2026-05-20";

/// The oldest minor version of rustc, 1.x, that compiles `simt`.
const OLDEST: u32 = 97;

/// Names a toolchain directory that rustup does not manage.
pub const OVERRIDE: &str = "WARPWRIGHT_NIGHTLY";

/// A nightly rustc with its cargo.
pub struct Nightly {
    /// What rustup calls it; its path where rustup does not know it.
    pub name: String,
    /// Its directory: bin/, lib/, share/.
    pub sysroot: PathBuf,
    /// All of `rustc -vV`.
    pub verbose: String,
    /// `rustc 1.97.0-nightly (e50aa6fba 2026-05-19)`, the first line of `rustc -vV`.
    pub version: String,
    /// Full hash of rustc's commit.
    pub commit: String,
    /// What PTX files and the manifest record: release, commit, date, LLVM.
    pub stamp: String,
}

impl Nightly {
    /// The toolchain to build PTX with, `channel` or the plain nightly, or an error that says which command installs
    /// it.
    pub fn find(channel: &str) -> Result<Self> {
        if let Some(path) = env::var_os(OVERRIDE).filter(|path| !path.is_empty()) {
            return Self::at(path.to_string_lossy().into_owned(), PathBuf::from(&path)).with_context(|| {
                format!("{OVERRIDE} names no usable toolchain; unset it and run `{}`", install_command(channel))
            });
        }
        let installed = rustup(&["toolchain", "list"]).with_context(|| {
            let install = install_command(channel);
            format!("no rustup to look for a nightly toolchain with; see https://rustup.rs, then run `{install}`")
        })?;
        let Some(name) = choose(channel, &installed) else {
            bail!("no nightly toolchain is installed; `{}` installs it", install_command(channel));
        };
        let rustc = PathBuf::from(rustup(&["which", "--toolchain", &name, "rustc"])?.trim_end());
        let sysroot = rustc.ancestors().nth(2).with_context(|| format!("{} is in no toolchain", rustc.display()))?;
        Self::at(name, sysroot.to_owned())
    }

    fn at(name: String, sysroot: PathBuf) -> Result<Self> {
        let mut rustc = Command::new(sysroot.join("bin/rustc"));
        process::forget_toolchain(&mut rustc);
        let verbose = process::capture(rustc.arg("-vV"))?;
        let field = |name: &str| {
            let value = verbose.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
            value.map(str::to_owned).with_context(|| format!("`rustc -vV` names no {name}:\n{verbose}"))
        };
        let (release, commit) = (field("release")?, field("commit-hash")?);
        if !release.contains("nightly") && !release.contains("dev") {
            bail!("{} is rustc {release}; PTX needs a nightly", sysroot.display());
        }
        let minor = release.split('.').nth(1).and_then(|minor| minor.parse::<u32>().ok());
        if minor.is_some_and(|minor| minor < OLDEST) {
            bail!(
                "the nightly at {} is rustc {release}; kernels need 1.{OLDEST} or later; `{}` installs one",
                sysroot.display(),
                install_command(CHANNEL)
            );
        }
        let stamp = format!("rustc {release} ({commit} {}), LLVM {}", field("commit-date")?, field("LLVM version")?);
        let version = verbose.lines().next().unwrap_or_default().to_owned();
        Ok(Self { name, sysroot, verbose, version, commit, stamp })
    }

    /// The target that it runs on.
    pub fn host(&self) -> Result<&str> {
        let host = self.verbose.lines().find_map(|line| line.strip_prefix("host: "));
        host.with_context(|| format!("`rustc -vV` names no host:\n{}", self.verbose))
    }

    /// Its rustc, with nothing inherited that could steer it.
    pub fn rustc(&self) -> Command {
        let mut command = Command::new(self.sysroot.join("bin/rustc"));
        process::forget_toolchain(&mut command);
        command
    }

    /// Its cargo, told to use its own rustc, with nothing inherited that could steer it.
    pub fn cargo(&self) -> Command {
        let mut command = Command::new(self.sysroot.join("bin/cargo"));
        process::forget_toolchain(&mut command);
        process::forget_package(&mut command);
        command
            .env("RUSTC", self.sysroot.join("bin/rustc"))
            .env("RUSTC_WRAPPER", "")
            .env("RUSTC_WORKSPACE_WRAPPER", "");
        command
    }
}

/// The command that installs the nightly `channel`, with a source of `core`.
pub fn install_command(channel: &str) -> String {
    format!("rustup toolchain install {channel} --profile minimal --component rust-docs")
}

/// Where rustup keeps toolchains: it changes when one is installed.
pub fn folder() -> PathBuf {
    let home = env::var_os("RUSTUP_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".rustup")));
    home.unwrap_or_default().join("toolchains")
}

/// The installed toolchain that is `channel`, else the plain nightly.
fn choose(channel: &str, installed: &str) -> Option<String> {
    let names: Vec<&str> = installed.lines().filter_map(|line| line.split_whitespace().next()).collect();
    let find = |channel: &str| names.iter().find(|name| is_channel(name, channel)).map(|name| (*name).to_owned());
    find(channel).or_else(|| find("nightly"))
}

/// Whether toolchain `name` is `channel`: the same, or followed by a host triple (a date is none).
fn is_channel(name: &str, channel: &str) -> bool {
    let Some(rest) = name.strip_prefix(channel) else { return false };
    rest.is_empty() || rest.strip_prefix('-').is_some_and(|triple| triple.starts_with(char::is_alphabetic))
}

/// Asks rustup, which must not install anything on the way.
fn rustup(args: &[&str]) -> Result<String> {
    process::capture(Command::new("rustup").args(args).env("RUSTUP_AUTO_INSTALL", "0").env_remove("RUSTUP_TOOLCHAIN"))
}

#[cfg(test)]
mod tests {
    use super::choose;

    const BOTH: &str = "stable-x86_64-unknown-linux-gnu (default)\nnightly-2026-05-20-x86_64-unknown-linux-gnu\n\
        nightly-x86_64-unknown-linux-gnu\n";
    const PLAIN: &str = "1.95.0-x86_64-unknown-linux-gnu (active)\nnightly-x86_64-unknown-linux-gnu\n";
    const OTHER: &str = "nightly-2025-01-01-x86_64-unknown-linux-gnu\nstable-x86_64-unknown-linux-gnu\n";

    #[test]
    fn the_dated_nightly_is_preferred_and_the_plain_one_serves() {
        assert_eq!(choose("nightly-2026-05-20", BOTH).as_deref(), Some("nightly-2026-05-20-x86_64-unknown-linux-gnu"));
        assert_eq!(choose("nightly-2026-05-20", PLAIN).as_deref(), Some("nightly-x86_64-unknown-linux-gnu"));
    }

    #[test]
    fn another_dated_nightly_is_not_taken_for_the_plain_one() {
        assert_eq!(choose("nightly-2026-05-20", OTHER), None);
    }
}
