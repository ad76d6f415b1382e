//! The outputs in the book are what its steps print: a new project is made, broken, repaired and measured as the first
//! chapter says, and each mistake of the later chapters is made in a copy of examples/own-kernels.
//!
//! `UPDATE_GOLDEN=1 cargo test -p xtask --test book` writes the listings.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// One mistake: the test that fails, and the listing with its report.
struct Mistake {
    file: &'static str,
    /// The code and the mistake.
    change: (&'static str, &'static str),
    test: &'static str,
    listing: &'static str,
}

const MISTAKES: &[Mistake] = &[
    Mistake {
        file: "src/histogram.rs",
        change: (
            "bins.counts.atomic(value).fetch_add(1, Order::Relaxed, Scope::Block);",
            "bins.counts.set(value, bins.counts.get(value) + 1);",
        ),
        test: "histogram_counts",
        listing: "mistakes/histogram.txt",
    },
    Mistake {
        file: "src/softmax.rs",
        change: ("    // The next reduction writes where this one is read.\n    sync_threads();\n", ""),
        test: "softmax_is_that_of_the_cpu",
        listing: "mistakes/softmax.txt",
    },
    Mistake {
        file: "src/scan.rs",
        change: ("(sum)));\n        }\n    }\n    sync_threads();\n", "(sum)));\n        }\n    }\n"),
        test: "scan_is_that_of_the_cpu",
        listing: "mistakes/scan.txt",
    },
    Mistake {
        file: "src/stencil.rs",
        change: (" && row + 1 < from.rows()", ""),
        test: "stencil_takes_means",
        listing: "mistakes/stencil.txt",
    },
    Mistake {
        file: "src/mma.rs",
        change: ("        // The next step writes what this one read.\n        sync_threads();\n", ""),
        test: "mma_is_exact_for_small_integers",
        listing: "mistakes/mma.txt",
    },
];

fn checkout() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// Cargo in a project outside the checkout, with nothing that the checkout's configuration sets.
fn cargo(dir: &Path) -> Command {
    outside(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()), dir)
}

/// xtask in the same.
fn xtask(dir: &Path) -> Command {
    outside(env!("CARGO_BIN_EXE_xtask").into(), dir)
}

fn outside(program: OsString, dir: &Path) -> Command {
    // The versions of the checkout, so that nothing is downloaded.
    fs::copy(checkout().join("Cargo.lock"), dir.join("Cargo.lock")).unwrap();
    let mut command = Command::new(program);
    warpwright_build::process::forget_package(&mut command);
    // Kept between runs, and shared with cli/tests/new.rs: the projects are new each time, what they depend on is not.
    command.env("CARGO_TARGET_DIR", PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("new"));
    command.current_dir(dir).env("WARPWRIGHT_DEVICE", "simulator").env("RUST_BACKTRACE", "0");
    command.env_remove("CUDA_LIBRARY_PATH");
    command
}

/// Whether the command succeeds, and what it prints.
fn run(command: &mut Command) -> (bool, String) {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (output.status.success(), text)
}

/// Replaces the only occurrence of `from` in the file.
fn replace(file: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(file).unwrap();
    assert_eq!(text.matches(from).count(), 1, "{}: {from}", file.display());
    fs::write(file, text.replace(from, to)).unwrap();
}

/// The listing is the part of `output` that it shows.
fn shows(listing: &str, part: &str, output: &str) {
    let path = checkout().join("book/listings").join(listing);
    if env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, part).unwrap();
    }
    let listing = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert_eq!(listing, part, "{} is not what is printed: UPDATE_GOLDEN=1 writes it\n{output}", path.display());
}

/// The simulator's first report in the output of a failed test: up to the line that names the seed.
fn report(output: &str) -> String {
    let mut lines = Vec::new();
    for line in output.lines().skip_while(|line| !line.contains(": the simulator found ")).skip(1) {
        lines.push(line);
        if line.contains("; seed ") {
            break;
        }
    }
    lines.join("\n") + "\n"
}

#[test]
fn the_first_hour_prints_what_the_book_shows() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("first");
    let (made, output) = run(Command::new(env!("CARGO_BIN_EXE_xtask")).arg("new").arg(&dir));
    assert!(made, "{output}");

    let kernels = dir.join("src/lib.rs");
    let complete = fs::read_to_string(&kernels).unwrap();
    replace(&kernels, "        sync_threads();\n        half", "        half");
    let (passed, output) = run(cargo(&dir).args(["test", "--offline", "--test", "races"]));
    assert!(!passed && output.contains("block_sums_has_no_race ... FAILED"), "{output}");
    shows("first-hour/race.txt", &report(&output), &output);

    fs::write(&kernels, complete).unwrap();
    fs::copy(checkout().join("book/listings/first-hour/build.rs"), dir.join("build.rs")).unwrap();
    let (passed, output) = run(cargo(&dir).args(["test", "--offline"]));
    assert!(passed && output.matches("2 passed").count() == 2, "{output}");

    let (noticed, output) = run(xtask(&dir).args(["warpwright", "mutate", "--", "--offline"]));
    assert!(noticed, "{output}");
    let table = output.find('┌').zip(output.rfind('┘')).map(|(start, end)| &output[start..end + '┘'.len_utf8()]);
    shows("mutants.txt", &format!("{}\n", table.unwrap_or_default()), &output);

    fs::create_dir(dir.join("examples")).unwrap();
    fs::copy(checkout().join("book/listings/first-hour/counters.rs"), dir.join("examples/counters.rs")).unwrap();
    let (passed, output) = run(cargo(&dir).args(["run", "--offline", "--quiet", "--example", "counters"]));
    assert!(passed, "{output}");
    shows("first-hour/counters.txt", &output, &output);

    let (passed, output) =
        run(Command::new(env!("CARGO_BIN_EXE_xtask")).args(["warpwright", "inspect", "block_sums"]).arg(&dir));
    assert!(passed, "{output}");
    // The step that adds 64 and 64 elements: between the labels around its comparison.
    let label = "\n$L__BB_";
    let step = output.find(", 63;").and_then(|at| {
        let start = output[..at].rfind(label)? + 1;
        let end = output[at..].find(label)? + at;
        Some(output[start..=end].split_once('\n')?.1)
    });
    let step = step.unwrap_or_else(|| panic!("the PTX has no step of the loop:\n{output}"));
    let step = step.replace(checkout().to_str().unwrap(), "…/warpwright").replace("\n\t", "\n    ");
    shows("first-hour/inspect.txt", &step, &output);
}

#[test]
fn each_mistake_is_reported_as_the_book_shows() {
    let folder = tempfile::tempdir().unwrap();
    let (original, dir) = (checkout().join("examples/own-kernels"), folder.path().join("own-kernels"));
    for part in ["src", "tests"] {
        fs::create_dir_all(dir.join(part)).unwrap();
        for entry in fs::read_dir(original.join(part)).unwrap() {
            let path = entry.unwrap().path();
            fs::copy(&path, dir.join(part).join(path.file_name().unwrap())).unwrap();
        }
    }
    // Without the build script: the mistakes are looked for on the simulator.
    let manifest = fs::read_to_string(original.join("Cargo.toml")).unwrap();
    let host = format!("path = {:?}", checkout().join("host"));
    let manifest = manifest.replace("path = \"../../host\"", &host);
    let (before, build) = manifest.split_once("[build-dependencies]").unwrap();
    let (_, after) = build.split_once("\n\n").unwrap();
    fs::write(dir.join("Cargo.toml"), before.to_owned() + after).unwrap();

    for Mistake { file, change: (from, to), test, listing } in MISTAKES {
        let file = dir.join(file);
        let complete = fs::read_to_string(&file).unwrap();
        replace(&file, from, to);
        let (passed, output) = run(cargo(&dir).args(["test", "--offline", "--test", "properties", test]));
        assert!(!passed, "{listing}: {output}");
        shows(listing, &report(&output), &output);
        fs::write(&file, complete).unwrap();
    }
}
