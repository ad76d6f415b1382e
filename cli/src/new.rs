//! `cargo warpwright new`: a project with two kernels, a program, tests and CI. The files are in `templates/`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail, ensure};
use warpwright_build::toolchain;

/// Arguments of `new`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The folder of the project, which must not exist or be empty; its name is that of the package.
    pub dir: PathBuf,
    /// A program and, beside it, a package with the kernels. Without: one package, whose library is the kernels.
    #[arg(long)]
    pub workspace: bool,
    /// A checkout of Warpwright to depend on, instead of the published version.
    #[arg(long, value_name = "PATH")]
    pub warpwright: Option<PathBuf>,
}

/// A file of the project, and its template.
type Template = (&'static str, &'static str);

const COMMON: &[Template] = &[
    ("src/main.rs", include_str!("../templates/common/main.rs")),
    ("tests/properties.rs", include_str!("../templates/common/properties.rs")),
    ("tests/races.rs", include_str!("../templates/common/races.rs")),
    (".github/workflows/ci.yml", include_str!("../templates/common/ci.yml")),
    (".gitignore", include_str!("../templates/common/gitignore")),
    (".cargo/config.toml", include_str!("../templates/common/cargo-config.toml")),
    (".cargo/cuda/lib64/.gitkeep", include_str!("../templates/common/gitkeep")),
    ("README.md", include_str!("../templates/common/README.md")),
];
const SINGLE: &[Template] = &[
    ("Cargo.toml", include_str!("../templates/single/Cargo.toml.in")),
    ("build.rs", include_str!("../templates/common/build.rs")),
    ("src/lib.rs", include_str!("../templates/common/lib.rs")),
];
const WORKSPACE: &[Template] = &[
    ("Cargo.toml", include_str!("../templates/workspace/Cargo.toml.in")),
    ("kernels/Cargo.toml", include_str!("../templates/workspace/kernels.toml.in")),
    ("kernels/build.rs", include_str!("../templates/common/build.rs")),
    ("kernels/src/lib.rs", include_str!("../templates/common/lib.rs")),
];

/// Writes the project. `checkout` is the one to depend on where `args` names none.
///
/// # Errors
/// The folder is not empty, its name is no name of a package, or it cannot be written.
pub fn command(args: &Args, checkout: Option<&Path>) -> Result<ExitCode> {
    let checkout = args.warpwright.as_deref().or(checkout);
    create(&args.dir, args.workspace, checkout)?;
    let dir = args.dir.display();
    println!("{dir}: a project with two kernels\n\n  cd {dir}\n  cargo test\n  cargo run\n");
    Ok(ExitCode::SUCCESS)
}

fn create(dir: &Path, workspace: bool, checkout: Option<&Path>) -> Result<()> {
    if fs::read_dir(dir).is_ok_and(|mut entries| entries.next().is_some()) {
        bail!("{} exists and is not empty; name a new folder", dir.display());
    }
    fs::create_dir_all(dir).with_context(|| format!("cannot create {}", dir.display()))?;
    let name = fs::canonicalize(dir)?.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    ensure!(
        is_name && !["kernels", "warpwright", "test", "core", "std"].contains(&name.as_str()),
        "`{name}` cannot be the name of a package: letters, digits, - and _, and no name of Rust's; name another folder"
    );
    let source = |folder: &str| -> Result<String> {
        let Some(checkout) = checkout else { return Ok(format!("version = \"{}\"", env!("CARGO_PKG_VERSION"))) };
        let path = checkout.join(folder);
        let path = fs::canonicalize(&path)
            .with_context(|| format!("--warpwright: {} has no folder {folder}/", checkout.display()))?;
        Ok(format!("path = \"{}\"", path.display()))
    };
    let kernels_package = if workspace { format!("{name}-kernels") } else { name.clone() };
    let words = [
        ("{{kernels-package}}", kernels_package.clone()),
        ("{{kernels-file}}", if workspace { "kernels/src/lib.rs" } else { "src/lib.rs" }.to_owned()),
        ("{{kernels}}", kernels_package.replace('-', "_")),
        ("{{warpwright-build}}", source("build")?),
        ("{{warpwright}}", source("host")?),
        ("{{install}}", toolchain::install_command(toolchain::CHANNEL)),
        ("{{name}}", name),
    ];
    for (path, template) in COMMON.iter().chain(if workspace { WORKSPACE } else { SINGLE }) {
        let text = words.iter().fold((*template).to_owned(), |text, (word, value)| text.replace(word, value));
        let path = dir.join(path);
        fs::create_dir_all(path.parent().unwrap_or(dir))?;
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{COMMON, SINGLE, WORKSPACE, create};

    #[test]
    fn every_file_is_written_and_no_placeholder_stays() {
        let folder = tempfile::tempdir().unwrap();
        for (name, workspace, files) in [("one-crate", false, SINGLE), ("two_crates", true, WORKSPACE)] {
            let dir = folder.path().join(name);
            create(&dir, workspace, None).unwrap();
            for (path, _) in COMMON.iter().chain(files) {
                let text = fs::read_to_string(dir.join(path)).unwrap();
                for word in
                    ["kernels", "kernels-package", "kernels-file", "warpwright", "warpwright-build", "install", "name"]
                {
                    assert!(!text.contains(&format!("{{{{{word}}}}}")), "{word} in {path}: {text}");
                }
            }
            let manifest = fs::read_to_string(dir.join("Cargo.toml")).unwrap();
            assert!(manifest.contains(&format!("name = \"{name}\"")) && manifest.contains("version = \"0.1.0\""));
        }
    }

    #[test]
    fn a_folder_with_files_and_a_bad_name_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("file"), "").unwrap();
        let error = create(folder.path(), false, None).unwrap_err().to_string();
        assert!(error.contains("is not empty"), "{error}");
        let error = create(&folder.path().join("1st"), false, None).unwrap_err().to_string();
        assert!(error.contains("`1st` cannot be the name of a package"), "{error}");
        let error = create(&folder.path().join("a"), false, Some(folder.path())).unwrap_err().to_string();
        assert!(error.contains("has no folder build/"), "{error}");
    }
}
