//! A hash of everything that decides what a family's PTX is, the toolchain aside.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use crate::families::Families;
use crate::workspace::Workspace;

/// The packages that are compiled for the GPU, and the proc-macros they use.
const PACKAGES: &[&str] = &["gpu", "simt", "simt/macros"];

/// Files that decide the bytes: flags and the text that is added.
const BUILDER: &[&str] = &[
    "build/src/compile.rs",
    "build/src/directives.rs",
    "build/src/kernels.rs",
    "build/src/ptx/declared.rs",
    "build/src/sysroot.rs",
    "xtask/src/build/compile.rs",
];

/// Hash of the sources of one family: gpu without the modules of families that it does not use, simt, the files
/// that decide the bytes, and the versions of the crates that come from elsewhere.
pub(super) fn hash(workspace: &Workspace, family: &str) -> Result<String> {
    let root = workspace.root();
    let mut files: BTreeSet<PathBuf> = BUILDER.iter().map(PathBuf::from).collect();
    for package in PACKAGES {
        files.insert(Path::new(package).join("Cargo.toml"));
        let script = Path::new(package).join("build.rs");
        if root.join(&script).exists() {
            files.insert(script);
        }
        collect(root, &Path::new(package).join("src"), &mut files)?;
    }
    let families = Families::load(workspace)?;
    files.retain(|file| families.depends_on(family, file));

    let mut hash = Sha256::new();
    for file in &files {
        let name = file.to_str().with_context(|| format!("{} is not UTF-8", file.display()))?;
        let bytes = fs::read(root.join(file)).with_context(|| format!("cannot read {name}"))?;
        add(&mut hash, name.replace('\\', "/").as_bytes());
        add(&mut hash, &bytes);
    }
    let read = |name: &str| fs::read_to_string(root.join(name)).with_context(|| format!("cannot read {name}"));
    for package in locked_dependencies(&read("Cargo.lock")?)? {
        add(&mut hash, package.as_bytes());
    }
    let manifests =
        PACKAGES.iter().map(|package| read(&format!("{package}/Cargo.toml"))).collect::<Result<Vec<_>>>()?;
    add(&mut hash, inherited(&read("Cargo.toml")?, &manifests)?.as_bytes());
    Ok(hex(&hash.finalize()))
}

/// Hash of a file's bytes.
pub(super) fn of_bytes(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Lower-case hexadecimal.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a String takes all that is written to it");
        text
    })
}

/// Length before content, so that no two lists of parts look the same.
fn add(hash: &mut Sha256, part: &[u8]) {
    hash.update((part.len() as u64).to_le_bytes());
    hash.update(part);
}

fn collect(root: &Path, folder: &Path, files: &mut BTreeSet<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(root.join(folder)).with_context(|| format!("cannot list {}", folder.display()))? {
        let entry = entry?;
        let path = folder.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            collect(root, &path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.insert(path);
        }
    }
    Ok(())
}

/// What the kernels' packages take from the workspace's manifest: the edition, and how it declares their dependencies
/// (Cargo.lock has versions, not features). As JSON, which has one form for one value.
fn inherited(workspace: &str, packages: &[String]) -> Result<String> {
    let workspace: toml::Table = toml::from_str(workspace).context("Cargo.toml is malformed")?;
    let of_workspace = |key: &str| workspace.get("workspace").and_then(|table| table.get(key));
    let mut declared = BTreeMap::new();
    for package in packages {
        let package: toml::Table = toml::from_str(package).context("a package's Cargo.toml is malformed")?;
        for name in package.get("dependencies").and_then(toml::Value::as_table).into_iter().flat_map(toml::Table::keys)
        {
            declared.insert(name.clone(), of_workspace("dependencies").and_then(|all| all.get(name)));
        }
    }
    let edition = of_workspace("package").and_then(|package| package.get("edition"));
    Ok(serde_json::to_string(&(edition, declared))?)
}

/// Name, version and checksum of each crate that the kernels depend on, in order, from Cargo.lock.
///
/// The simulator and what only it needs are left out: they are host code.
fn locked_dependencies(lock: &str) -> Result<Vec<String>> {
    #[derive(Deserialize)]
    struct Lock {
        package: Vec<Package>,
    }
    #[derive(Deserialize)]
    struct Package {
        name: String,
        version: String,
        checksum: Option<String>,
        #[serde(default)]
        dependencies: Vec<String>,
    }
    let lock: Lock = toml::from_str(lock).context("Cargo.lock is malformed")?;
    let mut found = BTreeMap::new();
    let mut todo = vec!["warpwright-gpu".to_owned()];
    while let Some(wanted) = todo.pop() {
        // `name`, or `name version` where the lock file holds several versions.
        let (name, version) =
            wanted.split_once(' ').map_or((wanted.as_str(), None), |(name, rest)| (name, rest.split(' ').next()));
        if name == "warpwright-simulator" || found.contains_key(&wanted) {
            continue;
        }
        let package = lock
            .package
            .iter()
            .find(|package| package.name == name && version.is_none_or(|version| package.version == version));
        let package = package.with_context(|| format!("Cargo.lock has no {wanted}"))?;
        todo.extend(package.dependencies.iter().cloned());
        let checksum = package.checksum.as_deref().unwrap_or("in this checkout");
        found.insert(wanted, format!("{} {} {checksum}", package.name, package.version));
    }
    Ok(found.into_values().collect())
}

#[cfg(test)]
mod tests {
    use super::{inherited, locked_dependencies};

    #[test]
    fn declarations_that_kernels_inherit_count_and_others_do_not() {
        let workspace = |half: &str, clap: &str| {
            format!(
                "[workspace.package]\nedition = \"2024\"\n[workspace.dependencies]\nhalf = {half}\nclap = \"{clap}\"\n"
            )
        };
        let packages = ["[dependencies]\nhalf.workspace = true\nsyn = \"2\"\n".to_owned()];
        let of = |half, clap| inherited(&workspace(half, clap), &packages).unwrap();
        assert_eq!(of("\"2\"", "4"), r#"["2024",{"half":"2","syn":null}]"#);
        assert_eq!(of("\"2\"", "4"), of("\"2\"", "5"));
        assert_ne!(of("\"2\"", "4"), of("{ version = \"2\", features = [\"std\"] }", "4"));
    }

    #[test]
    fn the_lock_file_counts_as_far_as_kernels_depend_on_it() {
        let lock = r#"
[[package]]
name = "warpwright-gpu"
version = "0.1.0"
dependencies = ["half", "warpwright-simulator"]
[[package]]
name = "warpwright-simulator"
version = "0.1.0"
dependencies = ["libc"]
[[package]]
name = "libc"
version = "0.2.0"
checksum = "aa"
[[package]]
name = "half"
version = "2.7.1"
checksum = "bb"
dependencies = ["cfg-if 1.0.5"]
[[package]]
name = "cfg-if"
version = "0.1.0"
[[package]]
name = "cfg-if"
version = "1.0.5"
checksum = "cc"
"#;
        let expected = ["cfg-if 1.0.5 cc", "half 2.7.1 bb", "warpwright-gpu 0.1.0 in this checkout"];
        assert_eq!(locked_dependencies(lock).unwrap(), expected);
    }
}
