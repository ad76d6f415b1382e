//! `cargo warpwright inspect KERNEL`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use comfy_table::{Table, presets};
use warpwright_build::ptxas::Ptxas;

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
    println!("{} for {}, {}\n", kernel.name, kernel.arch, kernel.at);
    println!("{}", table::render(std::slice::from_ref(&row)));
    println!("{}", occupancy(&row));
    let root = fs::canonicalize(&args.path).with_context(|| format!("there is no {}", args.path.display()))?;
    let root = root.ancestors().find(|folder| folder.join("Cargo.toml").is_file()).unwrap_or(&root);
    print!("{}", with_source(&kernel.ptx, root));
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

    use super::with_source;

    #[test]
    fn the_line_of_rust_stands_before_its_instructions() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("k.rs"), "one\n  two;\n").unwrap();
        let ptx = ".file 1 \"k.rs\"\n.file 2 \"/simt.rs\"\n.loc 1 2 5\n$L__tmp1:\nadd;\n.loc 1 2 9\nmul;\n\
            .loc 2 7 1, function_name $L, inlined_at 1 1 5\nret;\n";
        assert_eq!(with_source(ptx, folder.path()), "// k.rs:2: two;\nadd;\nmul;\n// k.rs:1: one\nret;\n");
    }
}
