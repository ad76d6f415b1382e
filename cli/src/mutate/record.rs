//! The file of verdicts: one line for each mutant, its fields separated by tabs.

use std::fmt;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context as _, Result};

use super::place::Place;

/// What the tests said of a mutant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// A test failed.
    Noticed { found: String, test: String },
    /// It cannot be told from the original.
    Equivalent { reason: String },
    /// All tests that reach it passed.
    Unnoticed,
}

impl Verdict {
    /// What a table counts.
    pub(super) fn kind(&self) -> String {
        match self {
            Self::Noticed { found, .. } => found.clone(),
            Self::Equivalent { .. } => "equivalent".to_owned(),
            Self::Unnoticed => "not noticed".to_owned(),
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let detail = match self {
            Self::Noticed { test, .. } => test,
            Self::Equivalent { reason } => reason,
            Self::Unnoticed => "",
        };
        write!(f, "{}\t{detail}", self.kind())
    }
}

/// A mutant and its verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) place: Place,
    pub(super) change: String,
    pub(super) verdict: Verdict,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) rows: Vec<Row>,
}

const HEADER: &str = "file\tline\tnumber\toffset\tchange\tverdict\ttest or reason";

impl Record {
    /// The file's rows; none if there is no file.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let text = match fs::read_to_string(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Self::default()),
            text => text.with_context(|| format!("cannot read {}", path.display()))?,
        };
        let rows = text.lines().enumerate().filter(|&(_, line)| line != HEADER);
        let rows = rows.map(|(number, line)| {
            row(line).with_context(|| {
                format!("{}:{}: expected seven fields separated by tabs: {HEADER}", path.display(), number + 1)
            })
        });
        Ok(Self { rows: rows.collect::<Result<_>>()? })
    }

    pub(super) fn write(&self, path: &Path) -> Result<()> {
        let mut lines = vec![HEADER.to_owned()];
        lines.extend(self.rows.iter().map(|Row { place, change, verdict }| {
            let Place { file, text, number, offset } = place;
            format!("{file}\t{text}\t{number}\t{offset}\t{change}\t{verdict}")
        }));
        let text = lines.join("\n") + "\n";
        fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    /// Why the mutant is equivalent to the original, if it is known to be.
    pub(super) fn equivalent(&self, place: &Place, change: &str) -> Option<&str> {
        let row = self.rows.iter().find(|row| row.place == *place && row.change == change)?;
        if let Verdict::Equivalent { reason } = &row.verdict { Some(reason) } else { None }
    }
}

fn row(line: &str) -> Option<Row> {
    let [file, text, number, offset, change, kind, detail] = line.split('\t').collect::<Vec<_>>().try_into().ok()?;
    let verdict = match kind {
        "equivalent" => Verdict::Equivalent { reason: detail.to_owned() },
        "not noticed" => Verdict::Unnoticed,
        found => Verdict::Noticed { found: found.to_owned(), test: detail.to_owned() },
    };
    let place = Place {
        file: file.to_owned(),
        text: text.to_owned(),
        number: number.parse().ok()?,
        offset: offset.parse().ok()?,
    };
    Some(Row { place, change: change.to_owned(), verdict })
}

#[cfg(test)]
mod tests {
    use super::{Place, Record, Row, Verdict};

    #[test]
    fn what_is_written_is_read() {
        let place = Place { file: "src/lib.rs".to_owned(), text: "sync_threads();".to_owned(), number: 2, offset: 0 };
        let row = |verdict| Row { place: place.clone(), change: "remove".to_owned(), verdict };
        let record = Record {
            rows: vec![
                row(Verdict::Noticed { found: "data race".to_owned(), test: "sums_are_exact".to_owned() }),
                row(Verdict::Equivalent { reason: "the next barrier orders the same".to_owned() }),
                row(Verdict::Unnoticed),
            ],
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mutants.tsv");
        assert_eq!(Record::read(&path).unwrap(), Record::default());
        record.write(&path).unwrap();
        assert_eq!(Record::read(&path).unwrap(), record);
    }
}
