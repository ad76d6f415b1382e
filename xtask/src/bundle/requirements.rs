//! What the test programs of the packages require, from `[package.metadata.bundle]` of their Cargo.toml.
//!
//! `gpu-tests` names the tests that launch kernels: the sanitizers run these and would refuse the others.
//! `needs-cargo` names the tests that compile something: they are left out of the bundle.

use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;

use super::programs::{Program, test_name};
use crate::process;
use crate::workspace::Workspace;

/// Names of test programs in the bundle, by what they require.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Requirements {
    /// A GPU: tests for the sanitizers.
    pub(super) gpu_tests: Vec<String>,
    /// Cargo: tests that are left out.
    pub(super) needs_cargo: Vec<String>,
}

impl Requirements {
    /// Asks cargo for the manifests of `packages`.
    pub(super) fn of(workspace: &Workspace, packages: &[&str]) -> Result<Self> {
        let mut cargo: Command = workspace.cargo();
        read(&process::capture(cargo.args(["metadata", "--no-deps", "--format-version=1"]))?, packages)
    }

    /// Every name must be one of `programs`; a bundle without a test for the GPU is refused.
    pub(super) fn check(&self, programs: &[Program]) -> Result<()> {
        ensure!(
            !self.gpu_tests.is_empty(),
            "no package lists `gpu-tests` in [package.metadata.bundle] of its Cargo.toml"
        );
        for name in self.gpu_tests.iter().chain(&self.needs_cargo) {
            ensure!(
                programs.iter().any(|program| &program.name == name),
                "[package.metadata.bundle] names {name}, no such test was built"
            );
        }
        Ok(())
    }
}

fn read(metadata: &str, packages: &[&str]) -> Result<Requirements> {
    #[derive(Deserialize)]
    struct Metadata {
        packages: Vec<Package>,
    }
    #[derive(Deserialize)]
    struct Package {
        name: String,
        metadata: Option<Tables>,
    }
    #[derive(Deserialize)]
    struct Tables {
        bundle: Option<Bundle>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "kebab-case", deny_unknown_fields)]
    struct Bundle {
        #[serde(default)]
        gpu_tests: Vec<String>,
        #[serde(default)]
        needs_cargo: Vec<String>,
    }
    let metadata: Metadata = serde_json::from_str(metadata)
        .context("[package.metadata.bundle] takes the lists `gpu-tests` and `needs-cargo`")?;
    let mut requirements = Requirements::default();
    for package in metadata.packages.iter().filter(|package| packages.contains(&package.name.as_str())) {
        let Some(bundle) = package.metadata.as_ref().and_then(|tables| tables.bundle.as_ref()) else { continue };
        requirements.gpu_tests.extend(bundle.gpu_tests.iter().map(|target| test_name(&package.name, target)));
        requirements.needs_cargo.extend(bundle.needs_cargo.iter().map(|target| test_name(&package.name, target)));
    }
    Ok(requirements)
}

#[cfg(test)]
mod tests {
    use super::{Requirements, read};

    #[test]
    fn lists_are_read_from_the_packages_asked_for() {
        let metadata = r#"{"packages":[
            {"name":"warpwright","metadata":{"bundle":{"needs-cargo":["compile_fail"]}}},
            {"name":"warpwright-tests","metadata":{"bundle":{"gpu-tests":["gemm","reduce"]}}},
            {"name":"simt","metadata":null},
            {"name":"other","metadata":{"bundle":{"gpu-tests":["x"]}}}]}"#;
        let expected = Requirements {
            gpu_tests: vec!["warpwright-tests-gemm".into(), "warpwright-tests-reduce".into()],
            needs_cargo: vec!["warpwright-compile_fail".into()],
        };
        assert_eq!(read(metadata, &["warpwright", "warpwright-tests"]).unwrap(), expected);
    }

    #[test]
    fn a_name_without_a_program_is_refused() {
        let requirements = Requirements { gpu_tests: vec!["warpwright-tests-gone".into()], needs_cargo: Vec::new() };
        assert!(requirements.check(&[]).unwrap_err().to_string().contains("names warpwright-tests-gone"));
        assert!(Requirements::default().check(&[]).unwrap_err().to_string().contains("no package lists `gpu-tests`"));
    }
}
