//! Running other programs, with errors that name the command and carry what it printed.

use std::env;
use std::ffi::OsStr;
use std::process::{Command, Output, Stdio};

use anyhow::{Context as _, Result, bail};

/// The command line as a person would type it.
pub fn line(command: &Command) -> String {
    let quote = |word: &OsStr| {
        let word = word.to_string_lossy();
        if word.is_empty() || word.contains([' ', '"', '\'', '$', '*', '{', '\u{1f}']) {
            format!("'{}'", word.replace('\'', r"'\''"))
        } else {
            word.into_owned()
        }
    };
    std::iter::once(command.get_program()).chain(command.get_args()).map(quote).collect::<Vec<_>>().join(" ")
}

/// The cargo that runs us, or the one on `PATH`.
pub fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Runs to the end with stdout and stderr caught. An `Err` means that the program could not be started.
pub fn output(command: &mut Command) -> Result<Output> {
    command.stdin(Stdio::null()).output().with_context(|| format!("cannot start `{}`", line(command)))
}

/// Standard output of a program that must succeed.
pub fn capture(command: &mut Command) -> Result<String> {
    let output = output(command)?;
    if !output.status.success() {
        bail!(
            "`{}` failed ({}):\n{}",
            line(command),
            output.status,
            String::from_utf8_lossy(&output.stderr).trim_end()
        );
    }
    String::from_utf8(output.stdout).with_context(|| format!("`{}` printed bytes that are not UTF-8", line(command)))
}

/// Runs a program that shares our terminal; whether it succeeded.
pub fn succeeds(command: &mut Command) -> Result<bool> {
    Ok(command.status().with_context(|| format!("cannot start `{}`", line(command)))?.success())
}

/// Drops what cargo set to describe the package it runs (us).
pub fn forget_package(command: &mut Command) {
    for (name, _) in env::vars_os() {
        let Some(text) = name.to_str() else { continue };
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") || text == "CARGO_BIN_NAME" {
            command.env_remove(name);
        }
    }
}

/// Drops every setting that could steer another toolchain's cargo and rustc: the outer toolchain's choice, flags,
/// wrappers, profiles, target directories. Where to find and how to fetch crates stays.
pub fn forget_toolchain(command: &mut Command) {
    const KEPT: [&str; 6] =
        ["CARGO_HOME", "CARGO_HTTP_", "CARGO_NET_", "CARGO_REGISTRIES_", "CARGO_REGISTRY_", "CARGO_SOURCE_"];
    for (name, _) in env::vars_os() {
        let Some(text) = name.to_str() else { continue };
        let steers = text == "CARGO"
            || text == "RUSTFLAGS"
            || text == "RUSTDOCFLAGS"
            || text == "RUSTUP_TOOLCHAIN"
            || text == "RUST_RECURSION_COUNT"
            || text.starts_with("RUSTC")
            || text == "RUSTDOC"
            || text.starts_with("CARGO_") && !KEPT.iter().any(|kept| text.starts_with(kept));
        if steers {
            command.env_remove(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::{capture, forget_package, line};

    #[test]
    fn a_command_line_can_be_pasted() {
        let mut command = Command::new("rustc");
        command.args(["-Copt-level=3", "", "a b", "it's"]);
        assert_eq!(line(&command), r"rustc -Copt-level=3 '' 'a b' 'it'\''s'");
    }

    #[test]
    fn a_failure_carries_what_was_printed() {
        let error = capture(Command::new("sh").args(["-c", "echo because >&2; exit 3"])).unwrap_err().to_string();
        assert!(error.contains("exit status: 3") && error.contains("because"), "{error}");
    }

    #[test]
    fn the_package_that_cargo_runs_is_forgotten() {
        let mut command = Command::new("true");
        forget_package(&mut command);
        assert!(command.get_envs().any(|(name, value)| name == "CARGO_PKG_NAME" && value.is_none()));
    }
}
