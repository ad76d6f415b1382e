//! A user's package, as `cargo metadata` describes it: where its kernels are, and which `warpwright-simt` they use.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::generated::quoted;
use crate::process;

/// The package with the intrinsics.
pub(crate) const SIMT: &str = "warpwright-simt";
/// The package that launches kernels; it brings the other one.
const WARPWRIGHT: &str = "warpwright";
/// How cargo names crates.io.
const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// A package with kernels.
pub(crate) struct Package {
    pub(crate) name: String,
    /// Its folder.
    pub(crate) root: PathBuf,
    pub(crate) edition: String,
    /// Name and root file of its library.
    pub(crate) library: Option<(String, PathBuf)>,
    /// Names of its features.
    pub(crate) features: Vec<String>,
    /// Names of all its dependencies in code.
    pub(crate) dependencies: BTreeSet<String>,
    /// The workspace's lock file.
    pub(crate) lock: PathBuf,
    /// What the kernels use: the name in code, and the rest of the line in a manifest.
    pub(crate) uses: BTreeMap<String, String>,
    /// Where the crate `half` of the intrinsics comes from, which `warpwright` re-exports.
    pub(crate) half: Option<String>,
    /// The name under which its code uses `warpwright`.
    pub(crate) warpwright: Option<String>,
    /// Packages that replace those of crates.io, with their folders.
    pub(crate) patches: BTreeMap<String, PathBuf>,
    /// Folders of packages that the kernels use and that may change.
    pub(crate) watched: Vec<PathBuf>,
}

/// `cargo metadata` of a package, with the features that cargo has chosen for it (in a build script).
struct Metadata {
    packages: BTreeMap<String, Value>,
    nodes: BTreeMap<String, Vec<String>>,
    workspace_root: PathBuf,
}

impl Package {
    /// Reads the package in `folder`.
    pub(crate) fn read(folder: &Path, features: Option<&[String]>) -> Result<Self> {
        let manifest = folder.join("Cargo.toml");
        let manifest = fs::canonicalize(&manifest).with_context(|| format!("there is no {}", manifest.display()))?;
        let metadata = Metadata::ask(&manifest, features)?;
        let found = metadata.packages.iter().find(|(_, package)| path(package, "manifest_path") == manifest);
        let (id, package) = found.with_context(|| format!("{} has no package", manifest.display()))?;
        Self::of(&metadata, id, package)
    }

    fn of(metadata: &Metadata, id: &str, package: &Value) -> Result<Self> {
        let name = text(package, "name").to_owned();
        let root = path(package, "manifest_path").parent().context("a manifest is in a folder")?.to_owned();
        let declared = list(package, "dependencies");
        let in_code = |dependency: &Value| {
            let name = dependency["rename"].as_str().unwrap_or(match text(dependency, "name") {
                // Its library is called so.
                SIMT => "simt",
                name => name,
            });
            name.replace('-', "_")
        };
        let direct = |wanted: &str| {
            let normal = declared.iter().filter(|dependency| dependency["kind"].is_null());
            normal.clone().find(|dependency| text(dependency, "name") == wanted)
        };
        let reachable = metadata.reachable([id]);
        let simt = reachable.iter().find(|id| metadata.name(id) == SIMT).with_context(|| {
            format!(
                "`{name}` does not depend on `{WARPWRIGHT}`; kernels need it: `cargo add {WARPWRIGHT}`, or `cargo add \
                 {SIMT}` for a crate of kernels alone"
            )
        })?;
        let mut uses = BTreeMap::new();
        let simt_name = direct(SIMT).map_or_else(|| "simt".to_owned(), in_code);
        uses.insert(simt_name, format!("package = \"{SIMT}\", {}", metadata.source(simt)));

        let mut roots = vec![*simt];
        let wanted = package["metadata"]["warpwright"]["kernel-dependencies"].as_array();
        for wanted in wanted.into_iter().flatten() {
            let wanted = wanted.as_str().with_context(|| format!("`{name}`: kernel-dependencies are names"))?;
            let dependency = declared.iter().find(|dependency| {
                dependency["rename"].as_str().unwrap_or(text(dependency, "name")) == wanted
                    && dependency["kind"].is_null()
            });
            let dependency = dependency.with_context(|| {
                format!(
                    "`{name}`: kernel-dependencies names `{wanted}`, which is not in [dependencies] of its \
                     Cargo.toml; add it there"
                )
            })?;
            let id = metadata.nodes.get(id).into_iter().flatten();
            let id = id.map(String::as_str).find(|id| metadata.name(id) == text(dependency, "name"));
            let id = id.with_context(|| format!("`{name}`: the kernel-dependency `{wanted}` is not switched on"))?;
            let features: Vec<&str> = list(dependency, "features").iter().filter_map(Value::as_str).collect();
            let line = format!(
                "{}{}, default-features = {}, features = {features:?}",
                dependency["rename"].as_str().map_or(String::new(), |_| format!("package = {}, ", dependency["name"])),
                metadata.source(id),
                dependency["uses_default_features"]
            );
            uses.insert(wanted.to_owned(), line);
            roots.push(id);
        }
        let half = metadata.nodes.get(*simt).into_iter().flatten().find(|id| metadata.name(id) == "half");
        let used = metadata.reachable(roots);
        let local = |id: &&&str| metadata.packages[**id]["source"].is_null();
        let folder = |id: &str| path(&metadata.packages[id], "manifest_path").parent().map(Path::to_owned);
        let from_crates_io: BTreeSet<&str> = used
            .iter()
            .flat_map(|id| list(&metadata.packages[*id], "dependencies"))
            .filter(|dependency| dependency["source"] == CRATES_IO)
            .map(|dependency| text(dependency, "name"))
            .collect();
        let patches = used.iter().filter(local).filter(|id| from_crates_io.contains(metadata.name(id)));
        let library = list(package, "targets").iter().find(|target| {
            let kinds = list(target, "kind");
            ["lib", "rlib", "cdylib", "staticlib"].iter().any(|kind| kinds.iter().any(|of| of == kind))
        });
        Ok(Self {
            edition: text(package, "edition").to_owned(),
            library: library.map(|library| (text(library, "name").replace('-', "_"), path(library, "src_path"))),
            features: package["features"].as_object().into_iter().flat_map(|map| map.keys().cloned()).collect(),
            dependencies: declared.iter().map(in_code).collect(),
            lock: metadata.workspace_root.join("Cargo.lock"),
            half: half.map(|id| metadata.source(id)),
            warpwright: direct(WARPWRIGHT).map(in_code),
            patches: patches.filter_map(|id| Some((metadata.name(id).to_owned(), folder(id)?))).collect(),
            watched: used.iter().filter(local).filter_map(|id| folder(id)).collect(),
            name,
            root,
            uses,
        })
    }
}

impl Metadata {
    fn ask(manifest: &Path, features: Option<&[String]>) -> Result<Self> {
        let names = features.map(|features| feature_names(manifest, features)).transpose()?;
        let features = names.as_deref();
        let command = |offline: bool| {
            let mut command = cargo_metadata(manifest);
            // Cargo has downloaded what this platform and these features need, no more.
            if let Some(target) = env::var_os("TARGET").filter(|_| features.is_some()) {
                command.arg("--filter-platform").arg(target);
            }
            if let Some(features) = features {
                command.arg("--no-default-features");
                if !features.is_empty() {
                    command.arg(format!("--features={}", features.join(",")));
                }
            }
            if offline {
                command.arg("--offline");
            }
            command
        };
        let json = process::capture(&mut command(true)).or_else(|_| process::capture(&mut command(false)))?;
        let json: Value = serde_json::from_str(&json).context("cargo metadata gave no JSON")?;
        if json["resolve"].is_null() {
            bail!("cargo metadata resolved no dependencies of {}", manifest.display());
        }
        let strings = |list: &[Value]| list.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        let nodes = list(&json["resolve"], "nodes").iter();
        let nodes = nodes.map(|node| (text(node, "id").to_owned(), strings(list(node, "dependencies")))).collect();
        let packages = list(&json, "packages").iter();
        Ok(Self {
            packages: packages.map(|package| (text(package, "id").to_owned(), package.clone())).collect(),
            nodes,
            workspace_root: path(&json, "workspace_root"),
        })
    }

    fn name(&self, id: &str) -> &str {
        self.packages.get(id).map_or("", |package| text(package, "name"))
    }

    /// These packages and all that they depend on.
    fn reachable<'a>(&'a self, roots: impl IntoIterator<Item = &'a str>) -> BTreeSet<&'a str> {
        let mut found = BTreeSet::new();
        let mut todo: Vec<&str> = roots.into_iter().collect();
        while let Some(id) = todo.pop() {
            if self.packages.contains_key(id) && found.insert(id) {
                todo.extend(self.nodes.get(id).into_iter().flatten().map(String::as_str));
            }
        }
        found
    }

    /// Where the package comes from, as a manifest says it.
    fn source(&self, id: &str) -> String {
        let package = &self.packages[id];
        let Some(source) = package["source"].as_str() else {
            let manifest = path(package, "manifest_path");
            return format!("path = {}", quoted(manifest.parent().unwrap_or(&manifest)));
        };
        let version = format!("version = \"={}\"", text(package, "version"));
        if source == CRATES_IO || source.starts_with("sparse+https://index.crates.io") {
            return version;
        }
        match source.strip_prefix("git+") {
            // `git+URL?branch=main#COMMIT`; without a branch, tag or commit asked for, the lock file has the commit.
            Some(git) => {
                let git = git.split('#').next().unwrap_or_default();
                let (url, query) = git.split_once('?').unwrap_or((git, ""));
                let of = query.split_once('=').map(|(key, value)| format!(", {key} = {value:?}"));
                format!("git = {url:?}{}", of.unwrap_or_default())
            }
            None => format!("{version}, registry-index = {:?}", source.strip_prefix("registry+").unwrap_or(source)),
        }
    }
}

fn cargo_metadata(manifest: &Path) -> Command {
    let mut command = process::cargo();
    process::forget_package(&mut command);
    command.args(["metadata", "--format-version=1", "--manifest-path"]).arg(manifest);
    command
}

/// The features of the package whose names in cargo's environment are `variables`: `FAST_MATH` is `fast-math` or
/// `fast_math`.
fn feature_names(manifest: &Path, variables: &[String]) -> Result<Vec<String>> {
    let json = process::capture(cargo_metadata(manifest).args(["--no-deps", "--offline"]))?;
    let json: Value = serde_json::from_str(&json).context("cargo metadata gave no JSON")?;
    let package = list(&json, "packages").iter().find(|package| path(package, "manifest_path") == manifest);
    let names = package.and_then(|package| package["features"].as_object()).into_iter().flat_map(|map| map.keys());
    let is_on = |name: &&String| variables.contains(&feature_variable(name));
    Ok(names.filter(is_on).cloned().collect())
}

/// How cargo writes a feature's name into the environment of build scripts, after `CARGO_FEATURE_`.
pub(crate) fn feature_variable(name: &str) -> String {
    name.to_uppercase().replace('-', "_")
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn path(value: &Value, key: &str) -> PathBuf {
    PathBuf::from(text(value, key))
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}
