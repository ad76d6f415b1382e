//! Places in the source that outlive changes elsewhere in the file.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use warpwright_build::process;

/// A call in a file: the line by its text, not its number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) file: String,
    /// The line without the blanks around it.
    pub(super) text: String,
    /// Which of the file's lines with this text, from 0.
    pub(super) number: usize,
    /// Characters of the text before the call.
    pub(super) offset: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: `{}`", self.file, self.text)
    }
}

/// The lines of a workspace's files.
pub(super) struct Sources {
    root: PathBuf,
    files: BTreeMap<String, Vec<String>>,
}

impl Sources {
    /// Those of the workspace around the current folder, at whose root cargo lets paths begin.
    pub(super) fn of_workspace() -> Result<Self> {
        let mut cargo = process::cargo();
        let manifest = process::capture(cargo.args(["locate-project", "--workspace", "--message-format=plain"]))?;
        let root = Path::new(manifest.trim()).parent().context("a manifest is in a folder")?.to_owned();
        Ok(Self { root, files: BTreeMap::new() })
    }

    fn lines(&mut self, file: &str) -> Result<&[String]> {
        if !self.files.contains_key(file) {
            let path = self.root.join(file);
            let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
            self.files.insert(file.to_owned(), text.lines().map(str::to_owned).collect());
        }
        Ok(&self.files[file])
    }

    /// The place at `file:line:column`.
    pub(super) fn place(&mut self, at: &str) -> Result<Place> {
        let parsed = || {
            let (rest, column) = at.rsplit_once(':')?;
            let (file, line) = rest.rsplit_once(':')?;
            Some((file, line.parse::<usize>().ok()?.checked_sub(1)?, column.parse::<usize>().ok()?.checked_sub(1)?))
        };
        let (file, line, column) = parsed().with_context(|| format!("`{at}` is no place"))?;
        let lines = self.lines(file)?;
        let text = lines.get(line).with_context(|| format!("{file} has no line {}", line + 1))?;
        let trimmed = text.trim();
        let number = lines[..line].iter().filter(|other| other.trim() == trimmed).count();
        let blanks = text.chars().take_while(|c| c.is_whitespace()).count();
        let offset = column.checked_sub(blanks).with_context(|| format!("`{at}` is in front of its line"))?;
        Ok(Place { file: file.to_owned(), text: trimmed.to_owned(), number, offset })
    }

    /// `file:line:column` of the place.
    pub(super) fn find(&mut self, place: &Place) -> Result<String> {
        let lines = self.lines(&place.file)?;
        let mut same = lines.iter().enumerate().filter(|(_, text)| text.trim() == place.text);
        let found = same.nth(place.number).with_context(|| {
            format!("{place} is not there any more: `mutate` without --every finds the mutants of the new source")
        });
        let (line, text) = found?;
        let blanks = text.chars().take_while(|c| c.is_whitespace()).count();
        Ok(format!("{}:{}:{}", place.file, line + 1, blanks + place.offset + 1))
    }

    /// The place for a reader.
    pub(super) fn show(&mut self, place: &Place) -> String {
        self.find(place).map_or_else(|_| place.to_string(), |at| format!("{at} `{}`", place.text))
    }
}
