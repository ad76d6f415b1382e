//! From records to pages: a table for each work and type, and plots where there are several sizes.

mod choose;
mod plot;
mod table;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

use super::record::{Records, Run};
use choose::Group;

/// Writes `NAME.md` and `NAME-….svg` beside the records `NAME.jsonl`; the files that were written.
///
/// # Errors
/// There are no measurements; a file cannot be written.
pub fn render(file: &Path, records: &Records) -> Result<Vec<PathBuf>> {
    ensure!(!records.measurements.is_empty(), "{} has no measurement; `cargo xtask bench` makes some", file.display());
    let name = file.file_stem().context("the records have a file name")?.to_string_lossy().into_owned();
    let folder = file.parent().unwrap_or(Path::new("."));
    let groups = choose::groups(records);
    let mut written = Vec::new();
    let mut page = heading(&name, records, &groups);
    for group in &groups {
        write!(page, "\n## {}\n\n{}", group.title(), table::table(group, &device(&name, records)))?;
        for (mode, svg) in plot::plots(group)? {
            let plot = format!("{name}-{}-{}-{mode}.svg", group.work, group.dtype);
            write!(page, "\n![{} of {}, {mode}]({plot})\n", group.work, group.dtype)?;
            let path = folder.join(plot);
            fs::write(&path, svg).with_context(|| format!("cannot write {}", path.display()))?;
            written.push(path);
        }
    }
    let path = folder.join(format!("{name}.md"));
    fs::write(&path, page).with_context(|| format!("cannot write {}", path.display()))?;
    written.push(path);
    Ok(written)
}

/// The device's name, from the newest run; else that of the file.
fn device(name: &str, records: &Records) -> String {
    records.runs.last().map_or(name, |run| run.device.as_str()).to_owned()
}

/// What the page is, and the conditions of the runs that it shows.
fn heading(name: &str, records: &Records, groups: &[Group<'_>]) -> String {
    let shown =
        |run: &&Run| groups.iter().flat_map(|group| &group.rows).any(|row| row.runs().any(|own| own == run.run));
    let runs: Vec<&Run> = records.runs.iter().filter(shown).collect();
    let device = device(name, records);
    let mut text = format!(
        "# Measured on {device}\n\nMade from {name}.jsonl by `cargo xtask bench --render`; [README.md](README.md) says \
         how it is measured and what the columns mean.\n"
    );
    if !runs.is_empty() {
        text.push_str("\n| run | commit | driver | SM clock (MHz) | power (W) | peers |\n|---|---|---|---|---|---|\n");
    }
    for run in runs {
        let range = |least: Option<f64>, most: Option<f64>| match (least, most) {
            (Some(least), Some(most)) => format!("{least:.0} – {most:.0}"),
            _ => "not read".into(),
        };
        let (least, most) = (&run.clocks.least, &run.clocks.most);
        let clock = range(least.sm_mhz.map(f64::from), most.sm_mhz.map(f64::from));
        let limit = run.power_limit_w.map_or(String::new(), |limit| format!(" of {limit:.0}"));
        let power = range(least.power_w, most.power_w) + &limit;
        let commit: String = run.commit.chars().take(20).collect();
        let (name, driver, peers) = (&run.run, &run.driver, run.peers.join(", "));
        let _ = writeln!(text, "| {name} | {commit} | {driver} | {clock} | {power} | {peers} |");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::record::Measurement;
    use super::super::record::tests::measured;
    use super::*;

    #[test]
    fn a_page_with_its_plots_is_written_beside_the_records() {
        let folder = std::env::temp_dir().join(format!("warpwright-render-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let file = folder.join("nvidia-h200.jsonl");
        let mut records = Records::default();
        for (n, us) in [(1024, 2.0), (2048, 3.0), (4096, 4.0)] {
            for (by, ratio) in [("warpwright", 1.0), ("cub", 1.5)] {
                records.measurements.push(measured("sum", &format!("n={n}"), by, "r", &[us * ratio]));
            }
        }
        records.measurements.push(measured("copy", "n=268435456", "copy", "r", &[1000.0]));
        // No plot of times that have no rate, however many.
        for n in [1024, 2048, 4096] {
            let measured = measured("sum", &format!("n={n}"), "warpwright", "r", &[4.0]);
            records
                .measurements
                .extend(["host", "first-cold"].map(|mode| Measurement { mode: mode.into(), ..measured.clone() }));
        }
        let written = render(&file, &records).unwrap();
        assert_eq!(written, ["nvidia-h200-sum-f32-burst.svg", "nvidia-h200.md"].map(|name| folder.join(name)));
        let page = fs::read_to_string(&written[1]).unwrap();
        let svg = fs::read_to_string(&written[0]).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        assert!(page.contains("## sum of f32") && page.contains("(nvidia-h200-sum-f32-burst.svg)"), "{page}");
        assert!(page.contains("1.500×"), "{page}");
        assert!(svg.starts_with("<svg") && svg.contains("warpwright") && svg.contains("cub"), "{svg}");
    }

    #[test]
    fn no_measurement_is_no_page() {
        let error = render(Path::new("none.jsonl"), &Records::default()).unwrap_err().to_string();
        assert_eq!(error, "none.jsonl has no measurement; `cargo xtask bench` makes some");
    }
}
