//! What a user's build script does: PTX of a small package, and the message for each mistake.
//!
//! A machine without a nightly has no PTX to compare: there the tests that need it say so and end.

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use warpwright_build::{Error, Kernel, KernelBuilder, ptxas, toolchain};

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

/// A body for several types and numbers, with shared memory and keys that depend on them.
const GENERIC: &str = "
#[repr(C)]
#[derive(Shared)]
pub struct Tile<T: Float, const N: usize> { x: SharedArray<T, N> }

#[kernel(block = N as u32, registers = 4 * size_of::<T>() as u32 + 8, barriers = 1, instances(<f32, 128>, <f64, 64>))]
pub fn reverse<T: Float, const N: usize>(#[shared] tile: &Tile<T, N>, x: VecRef<T>, y: VecMut<T>, factor: T) {
    let (i, at) = (thread_idx_x(), index_1d());
    tile.x.set(i, x.get_or(at, factor));
    sync_threads();
    y.set_within(at, factor * tile.x.get(N as u32 - 1 - i));
}
";

#[test]
fn each_instance_of_a_generic_kernel_is_an_entry() {
    let folder = package("", GENERIC);
    let Some(kernels) = compile(&folder, |builder| builder) else { return };
    let kernels = kernels.unwrap();
    let names: Vec<_> = kernels.iter().map(|kernel| kernel.name.as_str()).collect();
    assert_eq!(names, ["reverse_f32_128", "reverse_f64_64"]);
    for (kernel, text) in kernels.iter().zip([
        [
            "reverse_f32_128(",
            ".reqntid 128, 1, 1",
            " registers=24 ",
            "shared_bytes=512 ",
            ":VecRef<f32> ",
            "mul.rn.f32",
        ],
        ["reverse_f64_64(", ".reqntid 64, 1, 1", " registers=40 ", "shared_bytes=512 ", ":VecRef<f64> ", "mul.rn.f64"],
    ]) {
        for text in text {
            assert!(kernel.ptx.contains(text), "no {text} in {}", kernel.ptx);
        }
        assert_eq!(kernel.ptx.matches(".visible .entry ").count(), 1);
        assert!(!kernel.ptx.contains("trap"), "the number of threads is known: {}", kernel.ptx);
        let Some(ptxas) = ptxas::Ptxas::find(&[checkout().join("target/venv")]) else { continue };
        let path = folder.path().join("kernel.ptx");
        fs::write(&path, &kernel.ptx).unwrap();
        ptxas.assemble(&path, "sm_80").unwrap();
    }
    let strict = package("", &GENERIC.replace("barriers = 1", "barriers = N as u32 / 64"));
    let error = compile(&strict, |builder| builder).unwrap().unwrap_err().to_string();
    assert!(error.contains("kernel reverse_f32_128: 1 barrier instruction, exactly 2 expected"), "{error}");
    assert!(!error.contains("kernel reverse_f64_64"), "{error}");
}

/// Kernels that panic: with a literal, with values, and by an index; and at a view.
const PANICS: &str = "
#[kernel(block = 256, registers = 16, traps = 1)]
pub fn literal(y: VecMut<f32>) { assert!(y.len() != 7, \"seven elements\"); }
#[kernel(block = 256)]
pub fn values(n: u32, x: f32, y: VecMut<f32>) {
    assert!(n < 5, \"n is {n:#x}, x is {x:.3}\");
    assert_eq!(y.len(), 7, \"for {}\", \"y\");
}
#[kernel(block = 256, registers = 16, traps = 2, local_bytes = 16)]
pub fn index(n: u32, y: VecMut<f32>) {
    let table = [1.0_f32, 2.0, 3.0, 5.0];
    y.set(0, table[n as usize]);
}
";

#[test]
fn panics_are_reported_without_a_formatter_and_other_kernels_do_not_pay() {
    let folder = package("", &format!("{}\n{PANICS}", KERNEL.replace("i < x.len()", "i < x.len() && i < y.len()")));
    let Some(with) = compile(&folder, |builder| builder) else { return };
    let with = with.unwrap();
    let without = compile(&folder, |builder| builder.panic_messages(false)).unwrap().unwrap();
    let ptxas = ptxas::Ptxas::find(&[checkout().join("target/venv")]);
    for (with, without) in with.iter().zip(&without) {
        assert_eq!(with.name, without.name);
        assert!(!without.ptx.contains("warpwright_panic_report"), "{}", without.ptx);
        assert!(!with.ptx.contains(".callprototype"), "{} calls a formatter", with.name);
        if with.name == "saxpy" {
            assert_eq!(with.ptx, without.ptx, "a kernel without a panic");
            continue;
        }
        let variables = with.ptx.lines().filter(|line| line.starts_with(".global"));
        assert_eq!(variables.filter(|line| line.contains("warpwright_panic_report[")).count(), 1, "{}", with.ptx);
        let Some(ptxas) = &ptxas else { continue };
        let path = folder.path().join("kernel.ptx");
        fs::write(&path, &with.ptx).unwrap();
        let resources = ptxas.assemble(&path, "sm_80").unwrap().functions[&with.name];
        assert!(resources.registers <= Some(32), "{} takes {resources:?}", with.name);
    }
    let text = |name: &str| &with.iter().find(|kernel| kernel.name == name).unwrap().ptx;
    // The low halves of the numbers of u32 as hexadecimal, f32, usize and &str: see build/src/formatters.rs.
    for (kernel, low) in [("values", 0x0004_0205_u64), ("values", 0x0004_000b), ("index", 0x0008_0007)] {
        let number = (0x5752_4d54 << 32 | low).to_string();
        assert!(text(kernel).contains(&number), "{kernel} has no {number} ({low:#x}): {}", text(kernel));
    }
}

/// Prints a literal, and values of every type that the host formats.
const PRINTS: &str = "
#[kernel(block = 32)]
pub fn literal(n: u32) { if n == thread_idx_x() { simt::println!(\"one\"); } }
#[kernel(block = 32)]
pub fn values(n: u32, x: f32, y: f64, long: i64) {
    simt::println!(\"{n} {n:?} {n:x} {x:5.2} {y:e} {long:>20} {} {:?} {} {}\", n > 3, 'c', \"text\", n as u8);
}
";

#[test]
fn lines_are_sent_without_a_formatter_and_other_kernels_do_not_pay() {
    let folder = package("", &format!("{}\n{PRINTS}", KERNEL.replace("i < x.len()", "i < x.len() && i < y.len()")));
    let archs = ["sm_80", "sm_90a"];
    let Some(with) = compile(&folder, |builder| builder.arch(archs[0]).arch(archs[1])) else { return };
    let (with, ptxas) = (with.unwrap(), ptxas::Ptxas::find(&[checkout().join("target/venv")]));
    assert_eq!(with.len(), 6);
    let alone = compile(&package("", &KERNEL.replace("i < x.len()", "i < x.len() && i < y.len()")), |builder| builder);
    let alone = alone.unwrap().unwrap().remove(0);
    for kernel in &with {
        let Kernel { name, arch, ptx, .. } = kernel;
        assert!(!ptx.contains(".callprototype"), "{name} calls a formatter");
        let variables = ptx.lines().filter(|line| line.starts_with(".global") && line.contains("warpwright_print["));
        assert_eq!(variables.count(), usize::from(name != "saxpy"), "{ptx}");
        if name == "saxpy" {
            assert!(!ptx.contains("print") && !ptx.contains(".func"), "a kernel that does not print: {ptx}");
            assert!(*arch != alone.arch || instructions(ptx) == instructions(&alone.ptx));
        }
        let Some(ptxas) = &ptxas else { continue };
        let path = folder.path().join("kernel.ptx");
        fs::write(&path, ptx).unwrap();
        let resources = ptxas.assemble(&path, arch).unwrap().functions[name];
        assert!(resources.registers <= Some(64), "a block of 1024 threads cannot start: {name} takes {resources:?}");
    }
    let traps = compile(&folder, |builder| builder.panic_messages(false)).unwrap().unwrap();
    for kernels in [&with, &traps] {
        let values = &kernels.iter().find(|kernel| kernel.name == "values").unwrap().ptx;
        // The low halves of the numbers of u32, f32, i64, bool, char and &str, some with a style.
        for low in [0x0004_0005_u64, 0x0004_0205, 0x0004_000b, 0x0008_0008, 0x0001_000d, 0x0004_010e] {
            let number = (0x5752_4d54 << 32 | low).to_string();
            assert!(values.contains(&number), "no {number} ({low:#x}): {values}");
        }
    }
}

/// The instructions of the kernel in PTX.
fn instructions(ptx: &str) -> Vec<String> {
    let entry = ptx.split(".visible .entry ").nth(1).unwrap().split("\n}").next().unwrap();
    let lines = entry.lines().filter(|line| line.starts_with('\t') && !line.starts_with("\t.loc\t"));
    lines.map(str::to_owned).collect()
}

#[test]
fn line_info_names_the_lines_of_the_source_and_changes_no_instruction() {
    let folder = package("", &format!("{KERNEL}\n{PANICS}"));
    let Some(plain) = compile(&folder, |builder| builder) else { return };
    let lines = compile(&folder, |builder| builder.line_info(true)).unwrap().unwrap();
    let source = fs::read_to_string(folder.path().join("src/lib.rs")).unwrap();
    let line = 1 + source.lines().position(|line| line.contains("i < x.len()")).unwrap();
    for (plain, lines) in plain.unwrap().iter().zip(&lines) {
        assert!(!plain.ptx.contains("\t.loc\t"), "{}", plain.ptx);
        let debug = lines.ptx.lines().find(|line| line.starts_with("\t.file\t") && line.ends_with("\"src/lib.rs\""));
        let file = debug.unwrap_or_else(|| panic!("no src/lib.rs in {}", lines.ptx)).split('\t').nth(2).unwrap();
        let number = file.split(' ').next().unwrap();
        if lines.name == "saxpy" {
            assert!(lines.ptx.contains(&format!("\t.loc\t{number} {line} ")), "{}", lines.ptx);
            assert_eq!(instructions(&plain.ptx), instructions(&lines.ptx));
        }
        let Some(ptxas) = ptxas::Ptxas::find(&[checkout().join("target/venv")]) else { continue };
        let (path, binary) = (folder.path().join("kernel.ptx"), folder.path().join("kernel.cubin"));
        fs::write(&path, &lines.ptx).unwrap();
        let mut assemble = Command::new(&ptxas.path);
        assemble.args(["-arch=sm_80", "-lineinfo"]).arg(&path).arg("-o").arg(&binary);
        let output = assemble.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let binary = fs::read(&binary).unwrap();
        assert!(binary.windows(6).any(|bytes| bytes == b"lib.rs"), "the machine code of {} has no lines", lines.name);
    }
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
