//! `--kernel ID`: one step from its idea to its PTX.

use std::fmt::Write as _;

use anyhow::{Result, bail};
use comfy_table::{Cell, CellAlignment, Table, presets};
use warpwright::simulator::{Access, Counters, SiteCounts};

use super::measure;
use super::report::{FamilyReport, RowReport, StepReport};
use super::steps::{self, Inputs, Size, Step};
use super::{source, terminal, texts};

/// Everything there is to say of the steps that `id` names: a row of the texts or a kernel.
///
/// # Errors
/// It names none; a step fails on the simulator.
pub(super) fn explain(id: &str, seed: u64) -> Result<String> {
    let steps = named(id)?;
    let mut text = String::new();
    let inputs = Inputs::new(Size::Counted, seed);
    let mut kernels: Vec<&str> = Vec::new();
    for step in &steps {
        if kernels.last() != Some(&step.kernel().name) {
            kernels.push(step.kernel().name);
        }
        counted(&mut text, step, &inputs)?;
    }
    figures(&mut text, id, &kernels);
    for kernel in kernels {
        let step = steps.iter().find(|step| step.kernel().name == kernel).expect("it came from there");
        code(&mut text, step)?;
    }
    Ok(text)
}

/// The steps of a row or of a kernel.
fn named(id: &str) -> Result<Vec<&'static Step>> {
    let rows = texts::rows();
    let of_row = rows.iter().find(|row| row.id.eq_ignore_ascii_case(id)).map_or(&[][..], |row| row.kernels);
    // A row that has steps of its own means these; another one, such as the roofline of A2, the kernels that it is
    // about.
    let own: Vec<&Step> =
        steps::all().filter(|step| step.row.is_some_and(|row| row.eq_ignore_ascii_case(id))).collect();
    let found: Vec<&Step> = if own.is_empty() {
        steps::all().filter(|step| step.kernel().name == id || of_row.contains(&step.kernel().name)).collect()
    } else {
        own
    };
    if found.is_empty() {
        let ids: Vec<&str> = rows.iter().map(|row| row.id).collect();
        let mut kernels: Vec<&str> = steps::all().map(|step| step.kernel().name).collect();
        kernels.dedup();
        bail!(
            "--kernel {id}: no row of the texts and no kernel is called so\nrows: {}\nkernels: {}",
            ids.join(", "),
            kernels.join(", ")
        );
    }
    Ok(found)
}

/// Idea and counters, in all and by line of the source.
fn counted(text: &mut String, step: &Step, inputs: &Inputs) -> Result<()> {
    let kernel = step.kernel();
    let (counters, counted) = measure::count(step.job(inputs), inputs)?;
    let row = step.row.map_or(String::new(), |row| format!("{row}  "));
    writeln!(text, "{row}{}: {}\n", kernel.name, step.idea)?;
    let report = StepReport {
        row: step.row.map(ToOwned::to_owned),
        kernel: kernel.name.into(),
        operation: step.operation.into(),
        idea: step.idea.into(),
        file: kernel.file.into(),
        counted: Some(counted),
        timed: None,
        error: None,
    };
    let alone = FamilyReport { name: String::new(), about: String::new(), tensor: false, steps: vec![report] };
    writeln!(text, "{}\n\n{}\n", terminal::counters(&alone), by_line(&counters))?;
    Ok(())
}

/// The counters of each access in the source.
fn by_line(counters: &Counters) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::UTF8_FULL_CONDENSED);
    table.set_header(["line", "access", "requests", "lanes each", "sectors each", "worst conflict", "divergent"]);
    let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
    for ((site, access, bytes), counts) in &counters.sites {
        let each = |total: u64| format!("{:.2}", total as f64 / counts.requests as f64);
        let only = |shown: bool, text: String| right(if shown { text } else { String::new() });
        table.add_row([
            Cell::new(format!("{}:{}", site.file, site.line)),
            Cell::new(words(*access, *bytes)),
            right(counts.requests.to_string()),
            right(each(lanes(*access, counts))),
            only(access.is_global(), each(counts.sectors)),
            only(access.is_shared(), counts.worst.to_string()),
            only(*access == Access::Branch, counts.divergent.to_string()),
        ]);
    }
    table
}

/// Lanes that took part; of a branch, those for which the condition held.
fn lanes(access: Access, counts: &SiteCounts) -> u64 {
    if access == Access::Branch { counts.steps.iter().map(|step| step.lanes).sum() } else { counts.lanes }
}

/// The kind of instruction, with its width.
fn words(access: Access, bytes: u32) -> String {
    let kind = match access {
        Access::GlobalLoad => "global load",
        Access::GlobalStore => "global store",
        Access::GlobalAtomic => "global atomic",
        Access::SharedLoad => "shared load",
        Access::SharedStore => "shared store",
        Access::SharedAtomic => "shared atomic",
        Access::AsyncCopy => "asynchronous copy",
        Access::Branch => return "branch, lanes that enter".into(),
        Access::TensorLoad => "TMA load, vectors",
        Access::TensorStore => "TMA store, vectors",
        _ => "access",
    };
    format!("{kind}, {bytes} bytes")
}

/// The figures of the row of that name; else of every row that is about one of the kernels.
fn figures(text: &mut String, id: &str, kernels: &[&str]) {
    let mut rows = texts::rows();
    if rows.iter().any(|row| row.id.eq_ignore_ascii_case(id)) {
        rows.retain(|row| row.id.eq_ignore_ascii_case(id));
    } else {
        rows.retain(|row| kernels.iter().any(|kernel| row.kernels.contains(kernel)));
    }
    let rows: Vec<RowReport> = rows.iter().map(texts::figures_of).collect();
    if !rows.is_empty() {
        let _ = writeln!(text, "Figures of the texts\n\n{}\n", terminal::figures(&rows));
    }
}

/// Source and PTX.
fn code(text: &mut String, step: &Step) -> Result<()> {
    let kernel = step.kernel();
    match source::of(kernel) {
        Some((path, source)) => writeln!(text, "{path}, line {}\n\n{}", kernel.line, numbered(source))?,
        None => writeln!(text, "no source of {} in this program\n", kernel.name)?,
    }
    match source::ptx(kernel) {
        Some((arch, ptx)) => writeln!(text, "PTX of {}, {arch}\n\n{ptx}\n", kernel.name)?,
        None => writeln!(text, "no PTX of {} in this program\n", kernel.name)?,
    }
    Ok(())
}

/// Lines with their numbers, by which the counters name them.
fn numbered(source: &str) -> String {
    source.lines().enumerate().fold(String::new(), |mut text, (index, line)| {
        let _ = writeln!(text, "{}", format!("{:4}  {line}", index + 1).trim_end());
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_or_a_kernel_is_explained() {
        for id in ["D1", "d1", "set_row_read_col"] {
            let text = explain(id, 1).unwrap();
            for part in [
                "D1  set_row_read_col: a column of a 32 x 32 tile",
                "shared load, 4 bytes",
                "Figures of the texts",
                "gpu/src/lab/tutorial/banks/square.rs, line",
                "tile.set(ty, tx, thread as i32);",
                "PTX of set_row_read_col, sm_80",
                ".visible .entry set_row_read_col(",
            ] {
                assert!(text.contains(part), "{id}: no `{part}` in\n{text}");
            }
            assert!(!text.contains("entry set_row_read_col_pad("), "{text}");
        }
    }

    /// Every id is good for something, the rows without steps of their own too.
    #[test]
    fn every_row_and_every_kernel_names_steps() {
        for row in texts::rows() {
            assert!(!named(row.id).unwrap().is_empty(), "{}", row.id);
        }
        for step in steps::all() {
            assert!(named(step.kernel().name).unwrap().iter().all(|found| found.kernel() == step.kernel()));
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_known_ones() {
        let error = explain("Z9", 1).unwrap_err().to_string();
        for part in ["--kernel Z9", "A1", "D11", "matmul_tiled", "transpose_smem_pad1"] {
            assert!(error.contains(part), "{error}");
        }
    }
}
