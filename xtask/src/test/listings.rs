//! The outputs in the book are what its steps print: a new project is made, broken, repaired and measured as the first
//! chapter says, and each mistake of the later chapters is made in a copy of examples/own-kernels.
//!
//! `UPDATE_GOLDEN=1 cargo xtask test --step listings` writes the listings.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use super::outside::Outside;
use crate::process;
use crate::workspace::Workspace;

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

/// Does the steps of the book; an error where one does something else than the book says. Whether all outputs are those
/// of the book.
pub(super) fn check(workspace: &Workspace) -> Result<bool> {
    let book = Book { workspace, outside: Outside::new(workspace)? };
    Ok(book.first_hour()? & book.mistakes()?)
}

struct Book<'w> {
    workspace: &'w Workspace,
    outside: Outside<'w>,
}

impl Book<'_> {
    /// The first chapter.
    fn first_hour(&self) -> Result<bool> {
        let project = self.outside.create("first", false)?;
        let listing = |path: &str| self.workspace.root().join("book/listings/first-hour").join(path);
        let cargo = |args: &[&str]| run(self.outside.cargo(&project).args(args));

        let kernels = project.join("src/lib.rs");
        let complete = fs::read_to_string(&kernels)?;
        replace(&kernels, "        sync_threads();\n        half", "        half")?;
        let (passed, output) = cargo(&["test", "--test", "races"])?;
        ensure!(!passed && output.contains("block_sums_has_no_race ... FAILED"), "the race is not reported:\n{output}");
        let mut same = self.shows("first-hour/race.txt", &report(&output))?;

        fs::write(&kernels, complete)?;
        fs::copy(listing("build.rs"), project.join("build.rs"))?;
        let (passed, output) = cargo(&["test"])?;
        ensure!(passed && output.matches("2 passed").count() == 2, "the repaired project fails:\n{output}");

        let (noticed, output) = run(self.outside.xtask(&project)?.args(["warpwright", "mutate"]))?;
        ensure!(noticed, "not every mutant is noticed:\n{output}");
        let table = output.find('┌').zip(output.rfind('┘')).map(|(start, end)| &output[start..end + '┘'.len_utf8()]);
        same &= self.shows("mutants.txt", &format!("{}\n", table.unwrap_or_default()))?;

        fs::create_dir(project.join("examples"))?;
        fs::copy(listing("counters.rs"), project.join("examples/counters.rs"))?;
        let (passed, output) = cargo(&["run", "--quiet", "--example", "counters"])?;
        ensure!(passed, "the example that prints counters fails:\n{output}");
        same &= self.shows("first-hour/counters.txt", &output)?;

        let mut inspect = self.outside.xtask(&project)?;
        let (passed, output) = run(inspect.args(["warpwright", "inspect", "block_sums"]).arg(&project))?;
        ensure!(passed, "inspect fails:\n{output}");
        // The step that adds 64 and 64 elements: between the labels around its comparison.
        let label = "\n$L__BB_";
        let step = output.find(", 63;").and_then(|at| {
            let start = output[..at].rfind(label)? + 1;
            let end = output[at..].find(label)? + at;
            Some(output[start..=end].split_once('\n')?.1)
        });
        let step = step.with_context(|| format!("the PTX has no step of the loop:\n{output}"))?;
        let packages = self.outside.packages().display().to_string();
        let step = step.replace(&packages, "…").replace("\n\t", "\n    ");
        Ok(self.shows("first-hour/inspect.txt", &step)? && same)
    }

    /// The later ones. The mistakes are looked for on the simulator: without the build script.
    fn mistakes(&self) -> Result<bool> {
        let project = self.outside.copy("examples/own-kernels", 2)?;
        let manifest = project.join("Cargo.toml");
        let text = fs::read_to_string(&manifest)?;
        let (before, build) = text.split_once("[build-dependencies]").context("own-kernels has a build script")?;
        let (_, after) = build.split_once("\n\n").context("a section follows")?;
        fs::write(&manifest, before.to_owned() + after)?;
        fs::remove_file(project.join("build.rs"))?;
        let mut same = true;
        for Mistake { file, change: (from, to), test, listing } in MISTAKES {
            let file = project.join(file);
            let complete = fs::read_to_string(&file)?;
            replace(&file, from, to)?;
            let (passed, output) = run(self.outside.cargo(&project).args(["test", "--test", "properties", test]))?;
            ensure!(!passed, "{listing}: the mistake is not noticed:\n{output}");
            same &= self.shows(listing, &report(&output))?;
            fs::write(&file, complete)?;
        }
        Ok(same)
    }

    /// Whether the listing is what was printed; says so where it is not.
    fn shows(&self, listing: &str, printed: &str) -> Result<bool> {
        let path = self.workspace.root().join("book/listings").join(listing);
        if env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(&path, printed)?;
        }
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        if text != printed {
            println!("FAILED book/listings/{listing} is not what is printed; UPDATE_GOLDEN=1 writes it:\n{printed}");
        }
        Ok(text == printed)
    }
}

/// Whether the command succeeds, and what it prints.
fn run(command: &mut Command) -> Result<(bool, String)> {
    println!("{}", process::line(command));
    let output = process::output(command)?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    Ok((output.status.success(), text))
}

/// Replaces the only occurrence of `from` in the file.
fn replace(file: &Path, from: &str, to: &str) -> Result<()> {
    let text = fs::read_to_string(file)?;
    ensure!(text.matches(from).count() == 1, "{} should have once: {from}", file.display());
    Ok(fs::write(file, text.replace(from, to))?)
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
