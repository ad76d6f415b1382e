//! `cargo warpwright inspect KERNEL`.

use std::collections::BTreeMap;
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, bail};
use comfy_table::{Table, presets};
use warpwright_build::ptxas::Ptxas;
use warpwright_build::{Kernel, process};

use crate::inspect_report::Report;
use crate::occupancy;
use crate::table;
use crate::{kernels, table::Row};

/// Arguments of `inspect`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The kernel's name.
    kernel: String,
    /// The package, whose library is the kernels, or the Rust file with the kernels.
    #[arg(default_value = ".")]
    path: PathBuf,
    /// The architecture.
    #[arg(long, default_value = "sm_80")]
    arch: String,
    /// Write a page to this file instead of text to the terminal.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

/// Prints the kernel's figures, and its PTX with the Rust lines that it comes from.
pub(crate) fn command(args: &Args) -> Result<ExitCode> {
    let (kernels, folder) = kernels::compile(&args.path, std::slice::from_ref(&args.arch), true)?;
    let Some(kernel) = kernels.iter().find(|kernel| kernel.name == args.kernel) else {
        let names: Vec<&str> = kernels.iter().map(|kernel| kernel.name.as_str()).collect();
        bail!("no kernel is named `{}`; there are {}", args.kernel, names.join(", "));
    };
    let ptxas = Ptxas::find(&[]);
    let row = kernels::row(kernel, &folder, ptxas.as_ref())?;
    let root = fs::canonicalize(&args.path).with_context(|| format!("there is no {}", args.path.display()))?;
    let root = root.ancestors().find(|folder| folder.join("Cargo.toml").is_file()).unwrap_or(&root);
    let sass = match ptxas.as_ref().and_then(|ptxas| Some((ptxas, disassembler(ptxas)?))) {
        Some((ptxas, disassembler)) => sass(ptxas, &disassembler, kernel, &folder, root)?,
        None => "no SASS: `nvdisasm` of the CUDA toolkit is neither beside ptxas nor on PATH\n".to_owned(),
    };
    let report = Report {
        title: format!("{} for {}, {}", kernel.name, kernel.arch, kernel.at),
        figures: table::render(std::slice::from_ref(&row)),
        occupancy: occupancy(&row),
        ptx: with_source(&kernel.ptx, root),
        sass,
    };
    match &args.html {
        None => print!("{report}"),
        Some(file) => {
            fs::write(file, report.page()).with_context(|| format!("cannot write {}", file.display()))?;
            println!("{}", file.display());
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Blocks and warps of an SM by architecture, where the registers are known.
fn occupancy(row: &Row) -> String {
    let Some(registers) = row.resources.and_then(|resources| resources.registers) else {
        return "occupancy: unknown without ptxas, which knows the registers".to_owned();
    };
    let mut table = Table::new();
    table.load_preset(presets::UTF8_FULL_CONDENSED);
    table.set_header(["compute capability", "blocks per SM", "warps per SM", "limited by"]);
    for one in occupancy::of(row.declared.max_threads(), registers, row.declared.shared_bytes) {
        let (warps, most) = one.warps;
        table.add_row([one.capability, one.blocks.to_string(), format!("{warps}/{most}"), one.limit.to_owned()]);
    }
    table.to_string()
}

/// The PTX with the line of Rust before the instructions that come from it.
fn with_source(ptx: &str, root: &Path) -> String {
    // `.file 1 "src/lib.rs"`
    let files: BTreeMap<u32, &str> = ptx
        .lines()
        .filter_map(|line| {
            let (number, name) = line.trim().strip_prefix(".file")?.trim().split_once(char::is_whitespace)?;
            Some((number.parse().ok()?, name.trim().trim_matches('"')))
        })
        .collect();
    let mut sources: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for (&number, name) in &files {
        let text = fs::read_to_string(root.join(name)).unwrap_or_default();
        sources.insert(number, text.lines().map(str::to_owned).collect());
    }
    let (mut out, mut last) = (String::new(), None);
    for line in ptx.lines().filter(|line| !is_noise(line)) {
        // `.loc 1 12 5`; where code was inlined: `.loc 2 59 5, function_name …, inlined_at 1 12 5`.
        let Some(place) = line.trim().strip_prefix(".loc") else {
            let _ = writeln!(out, "{line}");
            continue;
        };
        let (inner, outer) = place.split_once("inlined_at").unwrap_or((place, ""));
        let places: Vec<(u32, u32)> = [inner, outer].into_iter().filter_map(numbers).collect();
        // A line of the package itself, rather than one of a function that it calls elsewhere.
        let own = |(file, _): &&(u32, u32)| files.get(file).is_some_and(|name| Path::new(name).is_relative());
        let Some(&(file, number)) = places.iter().find(own).or(places.first()) else { continue };
        let text = sources.get(&file).and_then(|lines| lines.get((number as usize).checked_sub(1)?));
        if let Some(text) = text
            && last != Some((file, number))
        {
            let name = files.get(&file).copied().unwrap_or_default();
            let _ = writeln!(out, "// {name}:{number}: {}", text.trim());
            last = Some((file, number));
        }
    }
    out
}

/// `nvdisasm`, beside ptxas or on PATH.
fn disassembler(ptxas: &Ptxas) -> Option<PathBuf> {
    let beside = ptxas.path.parent().map(|folder| folder.join("nvdisasm"));
    let path = env::var_os("PATH").unwrap_or_default();
    let on_path = env::split_paths(&path).map(|dir| dir.join("nvdisasm"));
    beside.into_iter().chain(on_path).find(|path| path.is_file())
}

/// The machine code of the kernel with the lines of Rust that it comes from.
fn sass(ptxas: &Ptxas, disassembler: &Path, kernel: &Kernel, folder: &Path, root: &Path) -> Result<String> {
    let (text, binary) = (folder.join("inspected.ptx"), folder.join("inspected.cubin"));
    fs::write(&text, &kernel.ptx).with_context(|| format!("cannot write {}", text.display()))?;
    let mut assemble = Command::new(&ptxas.path);
    assemble.arg(format!("-arch={}", kernel.arch)).arg("-lineinfo").arg(&text).arg("-o").arg(&binary);
    process::capture(&mut assemble)?;
    let listing = process::capture(Command::new(disassembler).args(["-gi", "-c"]).arg(&binary))?;
    Ok(sass_with_source(&listing, root))
}

/// The instructions of a listing of nvdisasm, with the line of Rust before those that come from it.
fn sass_with_source(listing: &str, root: &Path) -> String {
    let mut out = String::new();
    let (mut places, mut last): (Vec<(String, usize)>, _) = (Vec::new(), None);
    for line in listing.lines() {
        let trimmed = line.trim();
        // `//## File "core.rs", line 85 inlined at "src/lib.rs", line 12`, the innermost first.
        if let Some(place) = trimmed.strip_prefix("//##") {
            let mut parts = place.split('"').skip(1);
            while let (Some(file), Some(rest)) = (parts.next(), parts.next()) {
                let number: String = rest.chars().skip_while(|c| !c.is_ascii_digit()).collect();
                let number = number.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default().parse();
                places.push((file.to_owned(), number.unwrap_or(0)));
            }
            continue;
        }
        let is_code = trimmed.starts_with("/*") || trimmed.starts_with(".L_") && trimmed.ends_with(':');
        if !is_code {
            continue;
        }
        let own = places.iter().find(|(file, _)| Path::new(file).is_relative()).or(places.first()).cloned();
        places.clear();
        if let Some((file, number)) = own
            && last.as_ref() != Some(&(file.clone(), number))
        {
            let source = fs::read_to_string(root.join(&file)).unwrap_or_default();
            // Not so for `core`, whose sources are elsewhere.
            if let Some(text) = source.lines().nth(number.saturating_sub(1)) {
                let _ = writeln!(out, "// {file}:{number}: {}", text.trim());
                last = Some((file, number));
            }
        }
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out
}

/// The first two numbers of a place.
fn numbers(place: &str) -> Option<(u32, u32)> {
    let mut words = place.split_whitespace().map(|word| word.trim_end_matches(',').parse::<u32>().ok());
    Some((words.next()??, words.next()??))
}

/// What stands between the instructions of PTX with line information, and says nothing to a reader.
fn is_noise(line: &str) -> bool {
    let line = line.trim();
    line.is_empty()
        || [".file", ".section", "$L__tmp", "$L__func_", "// begin inline asm", "// end inline asm"]
            .iter()
            .any(|noise| line.starts_with(noise))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{sass_with_source, with_source};

    #[test]
    fn machine_code_is_shown_at_the_line_of_the_package() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("k.rs"), "one\n  two;\n").unwrap();
        let listing = "\t.target\tsm_80\n.text.k:\n\t//## File \"/core.rs\", line 85 inlined at \"k.rs\", line 2\n\
            \t//## File \"k.rs\", line 2\n  /*0000*/   S2R R2, SR_CTAID.X ;\n.L_x_1:\n\t//## File \"k.rs\", line 1\n\
            \x20 /*0010*/   EXIT ;\n";
        let expected =
            "// k.rs:2: two;\n  /*0000*/   S2R R2, SR_CTAID.X ;\n.L_x_1:\n// k.rs:1: one\n  /*0010*/   EXIT ;\n";
        assert_eq!(sass_with_source(listing, folder.path()), expected);
    }

    #[test]
    fn the_line_of_rust_stands_before_its_instructions() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("k.rs"), "one\n  two;\n").unwrap();
        let ptx = ".file 1 \"k.rs\"\n.file 2 \"/simt.rs\"\n.loc 1 2 5\n$L__tmp1:\nadd;\n.loc 1 2 9\nmul;\n\
            .loc 2 7 1, function_name $L, inlined_at 1 1 5\nret;\n";
        assert_eq!(with_source(ptx, folder.path()), "// k.rs:2: two;\nadd;\nmul;\n// k.rs:1: one\nret;\n");
    }
}
