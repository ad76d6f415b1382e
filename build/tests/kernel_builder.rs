//! What a user's build script does: PTX of a small package, and the message for each mistake.
//!
//! A machine without a nightly has no PTX to compare: there the tests that need it say so and end.

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use warpwright_build::{Error, Kernel, KernelBuilder, toolchain};

const KERNEL: &str = "
#[kernel(block = 256)]
pub fn saxpy(a: f32, x: VecRef<f32>, y: VecMut<f32>) {
    let i = index_1d();
    if branch(i < x.len()) {
        y.set(i, fma(a, x.get(i), y.get(i)));
    }
}
";

fn checkout() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// A package whose library is `code`, after the prelude; `manifest` is added to its manifest.
fn package(manifest: &str, code: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let simt = checkout().join("simt");
    let text = format!(
        "[package]\nname = \"demo\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n{manifest}\n[dependencies]\n\
         simt = {{ package = \"warpwright-simt\", path = \"{}\" }}\n",
        simt.display()
    );
    fs::create_dir(folder.path().join("src")).unwrap();
    fs::write(folder.path().join("Cargo.toml"), text).unwrap();
    fs::write(folder.path().join("src/lib.rs"), format!("use simt::prelude::*;\n{code}")).unwrap();
    // The versions of the checkout, so that nothing is downloaded.
    fs::copy(checkout().join("Cargo.lock"), folder.path().join("Cargo.lock")).unwrap();
    folder
}

/// Compiles it; `None` on a machine without a nightly.
fn compile(
    folder: &TempDir,
    builder: impl FnOnce(KernelBuilder) -> KernelBuilder,
) -> Option<Result<Vec<Kernel>, Error>> {
    if let Err(error) = toolchain::Nightly::find(toolchain::CHANNEL) {
        eprintln!("not run: {error:#}");
        return None;
    }
    let builder = builder(KernelBuilder::new(folder.path()));
    Some(builder.compile(&folder.path().join("out")))
}

#[test]
fn the_kernels_of_a_library_are_compiled_for_each_architecture() {
    let folder = package("", KERNEL);
    let Some(kernels) = compile(&folder, |builder| builder.arch("sm_80").arch("sm_90a").arch("sm_80")) else { return };
    let kernels = kernels.unwrap();
    let found = kernels.iter().map(|kernel| (kernel.name.as_str(), kernel.arch.as_str(), kernel.at.as_str()));
    assert_eq!(found.collect::<Vec<_>>(), [("saxpy", "sm_80", "src/lib.rs:3"), ("saxpy", "sm_90a", "src/lib.rs:3")]);
    for kernel in &kernels {
        assert!(kernel.ptx.contains(&format!(".target {}\n", kernel.arch)), "{}", kernel.ptx);
        assert!(kernel.ptx.contains(".visible .entry saxpy(") && kernel.ptx.contains(".reqntid 256, 1, 1"));
    }
}

#[test]
fn a_file_may_be_the_root_of_the_kernels() {
    let folder = package("", "fn main() { compile_error!() }");
    fs::write(folder.path().join("src/kernels.rs"), format!("use simt::prelude::*;\n{KERNEL}")).unwrap();
    if compile(&folder, |builder| builder).is_none() {
        return;
    }
    let kernels = KernelBuilder::new(folder.path().join("src/kernels.rs")).compile(&folder.path().join("out")).unwrap();
    assert_eq!(kernels[0].at, "src/kernels.rs:3");
}

#[test]
fn dependencies_of_kernels_are_those_that_the_manifest_lists() {
    let manifest = |list: &str| {
        format!(
            "[package.metadata.warpwright]\nkernel-dependencies = [{list}]\n[dependencies.half]\nversion = \"2\"\n\
             default-features = false\n"
        )
    };
    let code = "#[kernel] pub fn one(y: VecMut<u16>) { y.set(0, half::f16::from_bits(1).to_bits()); }";
    let Some(kernels) = compile(&package(&manifest("\"half\""), code), |builder| builder) else { return };
    assert_eq!(kernels.unwrap().len(), 1);
    let error = compile(&package(&manifest(""), code), |builder| builder).unwrap().unwrap_err().to_string();
    assert!(error.contains("kernel-dependencies = [\"half\"]"), "{error}");
    let error = compile(&package(&manifest("\"rand\""), code), |builder| builder).unwrap().unwrap_err().to_string();
    assert!(error.contains("kernel-dependencies names `rand`, which is not in [dependencies]"), "{error}");
}

#[test]
fn each_mistake_is_named_with_its_remedy() {
    let table: [(&str, &[&str]); 10] = [
        (
            "pub mod other { use super::*; #[kernel] pub fn saxpy(y: VecMut<f32>) { y.set(0, 1.0); } }",
            &["symbol `saxpy` is already defined", "help: two kernels are named `saxpy`", "rename one"],
        ),
        (
            "#[kernel] pub fn e(y: VecMut<f32>) { y.set(0, y.get(1).exp()); }",
            &["src/lib.rs:11", "the method `exp` of floating-point numbers", "write `math::exp(x)`"],
        ),
        (
            "fn f(x: f32) -> f32 { x.exp() } #[kernel] pub fn e(y: VecMut<f32>) { y.set(0, f(y.get(1))); }",
            &["src/lib.rs:11", "help: `f32::exp` needs the C library", "simt::math"],
        ),
        (
            "pub fn host() { println!(\"x\"); }",
            &["src/lib.rs:11", "help: kernels are compiled without `std`", "src/main.rs"],
        ),
        ("pub fn host() -> std::string::String { Default::default() }", &["help: kernels are compiled without `std`"]),
        (
            "unsafe extern \"C\" { safe fn helper(x: f32) -> f32; }\n#[kernel]\n\
             pub fn e(y: VecMut<f32>) { y.set(0, helper(y.get(1))); }",
            &["`helper`, called by kernel `e` at src/lib.rs:12", "a GPU has no C library"],
        ),
        (
            "#[kernel(traps = 0, barriers = 1)] pub fn e(y: VecMut<f32>) { y.set(0, y.get(1)); }",
            &[
                "exceeds 2 limits",
                "kernel e: 1 trap, at most 0 allowed",
                "exactly 1 expected (declared at src/lib.rs:11)",
            ],
        ),
        (
            "#[kernel(global_store_bytes = 16)] pub fn e(y: VecMut<f32>) { y.set(0, 1.0); }",
            &["kernel e: 1 global store of 4 bytes, at least 16 expected"],
        ),
        (
            "#[repr(C)] #[derive(Shared)] pub struct Big { a: SharedArray<f32, 50_000> }\n\
             #[kernel] pub fn e(#[shared] s: &Big, y: VecMut<f32>) { s.a.set(1, 2.0); y.set(0, s.a.get(1)); }",
            &["kernel e: 200000 bytes of shared memory, a block of sm_80 has at most 166912"],
        ),
        ("pub fn f() -> u32 { oops }", &["the kernels of `demo` do not compile for sm_80", "cannot find value `oops`"]),
    ];
    for (code, expected) in table {
        let Some(compiled) = compile(&package("", &format!("{KERNEL}\n{code}")), |builder| builder) else { return };
        let error = compiled.expect_err(code).to_string();
        for expected in expected {
            assert!(error.contains(expected), "`{expected}` is not in the message for\n{code}\n{error}");
        }
        assert_eq!(format!("{:?}", Error::from(anyhow::anyhow!("{error}"))), error, "what a build script shows");
    }
    let error = compile(&package("", "pub fn f() {}"), |builder| builder).unwrap().unwrap_err().to_string();
    assert!(error.contains("`demo` has no kernel") || error.contains("it has no kernel"), "{error}");
    let error = compile(&package("", KERNEL), |builder| builder.arch("sm_42")).unwrap().unwrap_err().to_string();
    assert!(error.contains("does not know sm_42") && error.contains("build script of `demo`"), "{error}");
}

/// Runs this program again as a build script of the package in `folder`, and gives what it prints.
fn as_build_script(folder: &Path, variables: &[(&str, &Path)]) -> String {
    let out = folder.join("out");
    fs::create_dir_all(&out).unwrap();
    let mut child = Command::new(env::current_exe().unwrap());
    child.args(["--exact", "child", "--ignored", "--nocapture"]);
    child.env("OUT_DIR", &out).env("CARGO_MANIFEST_DIR", folder).envs(variables.iter().copied());
    let output = child.output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
#[ignore = "a part of the tests below"]
fn child() {
    match KernelBuilder::default().build() {
        Ok(kernels) => println!("\nbuilt {}", kernels.len()),
        Err(error) => println!("\nfailed: {error}"),
    }
}

#[test]
fn without_a_nightly_the_package_is_built_for_the_simulator_with_one_warning() {
    let folder = package("", KERNEL);
    let (nowhere, empty) = (Path::new("/nowhere"), folder.path().join("empty"));
    fs::create_dir(&empty).unwrap();
    let cargo = PathBuf::from(env::var_os("CARGO").unwrap_or_else(|| env!("CARGO").into()));
    for (variables, reason) in [
        (&[("WARPWRIGHT_NIGHTLY", nowhere)][..], "WARPWRIGHT_NIGHTLY names no usable toolchain"),
        (&[("PATH", &empty), ("CARGO", &cargo), ("WARPWRIGHT_NIGHTLY", Path::new(""))], "no rustup"),
    ] {
        let printed = as_build_script(folder.path(), variables);
        assert_eq!(printed.matches("cargo:warning=").count(), 1, "{printed}");
        assert!(printed.contains(reason), "{printed}");
        assert!(
            printed.contains("rustup toolchain install nightly-2026-05-20 --profile minimal --component rust-docs")
        );
        assert!(printed.contains("cargo:rustc-env=WARPWRIGHT_PTX_MISSING="), "{printed}");
        assert!(printed.contains("built 0") && !printed.contains("WARPWRIGHT_PTX="), "{printed}");
    }
}

/// A toolchain that says of itself that it is this release, and has nothing else.
fn made_up_toolchain(folder: &Path, release: &str) -> PathBuf {
    let bin = folder.join(release).join("bin");
    fs::create_dir_all(&bin).unwrap();
    let text = format!(
        "#!/bin/sh\necho 'rustc {release} (abc 2026-01-01)\ncommit-hash: abc\ncommit-date: 2026-01-01\nrelease: \
         {release}\nLLVM version: 22.0'\n"
    );
    fs::write(bin.join("rustc"), text).unwrap();
    fs::set_permissions(bin.join("rustc"), fs::Permissions::from_mode(0o755)).unwrap();
    folder.join(release)
}

#[test]
fn a_toolchain_that_cannot_compile_kernels_is_named_with_the_command_that_installs_one() {
    let folder = package("", KERNEL);
    for (release, expected) in [
        ("1.80.0-nightly", "kernels need 1.97 or later"),
        ("1.97.0", "PTX needs a nightly"),
        ("1.97.0-nightly", "has neither rust-src nor rust-docs"),
    ] {
        let toolchain = made_up_toolchain(folder.path(), release);
        let printed = as_build_script(folder.path(), &[("WARPWRIGHT_NIGHTLY", &toolchain)]);
        assert_eq!(printed.matches("cargo:warning=").count(), 1, "{printed}");
        assert!(printed.contains(expected) && printed.contains("`rustup "), "{expected}: {printed}");
        assert!(printed.contains("built 0"), "{printed}");
    }
}

#[test]
fn features_of_the_package_reach_its_kernels() {
    let code = "#[cfg(feature = \"fast-math\")] #[kernel] pub fn fast(y: VecMut<f32>) { y.set(0, 1.0); }";
    let folder = package("[features]\nfast-math = []\nother_one = []\n", &format!("{KERNEL}\n{code}"));
    let Some(without) = compile(&folder, |builder| builder) else { return };
    assert_eq!(without.unwrap().len(), 1);
    let printed = as_build_script(folder.path(), &[("CARGO_FEATURE_FAST_MATH", Path::new("1"))]);
    assert!(printed.contains("built 2"), "{printed}");
}

#[test]
fn a_build_script_says_where_the_ptx_is_and_what_it_depends_on() {
    let folder = package("", KERNEL);
    if compile(&folder, |builder| builder).is_none() {
        return;
    }
    let printed = as_build_script(folder.path(), &[]);
    let ptx = folder.path().join("out/ptx");
    assert!(printed.contains(&format!("cargo:rustc-env=WARPWRIGHT_PTX={}", ptx.display())), "{printed}");
    for watched in ["src/lib.rs", "Cargo.toml", "Cargo.lock"] {
        let path = fs::canonicalize(folder.path().join(watched)).unwrap();
        assert!(printed.contains(&format!("cargo:rerun-if-changed={}", path.display())), "{watched}: {printed}");
    }
    assert_eq!(fs::read_to_string(ptx.join("saxpy.at")).unwrap(), "src/lib.rs:3");
    let archive = fs::read(ptx.join("saxpy.ptx.lz")).unwrap();
    let text = ptx_archive::Archive::open(&archive).unwrap().text("saxpy", "sm_80").unwrap().unwrap();
    assert!(text.contains(".entry saxpy("), "{text}");
}
