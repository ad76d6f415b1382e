//! Reading an archive.

use std::io::Result;
use std::ops::Range;

use crate::LINE;
use crate::members::{self, damaged};

/// An archive that lies in memory.
#[derive(Debug, Default)]
pub struct Archive<'a> {
    file: &'a [u8],
    blocks: Vec<Range<usize>>,
    entries: Vec<Entry>,
}

/// A line of the table of contents.
#[derive(Debug)]
struct Entry {
    name: String,
    arch: String,
    block: usize,
    text: Range<usize>,
}

impl<'a> Archive<'a> {
    /// Reads the table of contents of `file`; the blocks are decoded when they are asked for.
    ///
    /// # Errors
    /// `InvalidData` if `file` is no archive, or was damaged.
    pub fn open(file: &'a [u8]) -> Result<Self> {
        let mut members = members::find(file)?.into_iter();
        let table = members.next().ok_or_else(|| damaged("it is empty"))?;
        let table = members::text(&file[table])?;
        let blocks: Vec<_> = members.collect();
        let lines = table.lines().filter_map(|line| line.strip_prefix(LINE));
        let entries = lines.map(|line| {
            Entry::parse(line)
                .filter(|entry| entry.block < blocks.len())
                .ok_or_else(|| damaged(&format!("its table of contents has the line `{line}`")))
        });
        Ok(Self { file, entries: entries.collect::<Result<_>>()?, blocks })
    }

    /// The name and architecture of every text, in the order of the archive.
    pub fn kernels(&self) -> impl Iterator<Item = (&str, &str)> {
        self.entries.iter().map(|entry| (&*entry.name, &*entry.arch))
    }

    /// The PTX of kernel `name` for architecture `arch`, such as `sm_90a`; `None` if the archive has none.
    ///
    /// Decodes the kernel's block, about a megabyte of text.
    ///
    /// # Errors
    /// `InvalidData` if the file was damaged.
    pub fn text(&self, name: &str, arch: &str) -> Result<Option<String>> {
        let Some(entry) = self.entries.iter().find(|entry| entry.name == name && entry.arch == arch) else {
            return Ok(None);
        };
        let block = members::text(&self.file[self.blocks[entry.block].clone()])?;
        entry.cut(&block).map(|text| Some(text.to_owned()))
    }

    /// Every text with its name and architecture, in the order of the archive.
    ///
    /// # Errors
    /// `InvalidData` if the file was damaged.
    pub fn texts(&self) -> Result<Vec<(&str, &str, String)>> {
        let blocks = self.blocks.iter().map(|block| members::text(&self.file[block.clone()]));
        let blocks: Vec<String> = blocks.collect::<Result<_>>()?;
        let texts = self.entries.iter().map(|entry| {
            let text = entry.cut(&blocks[entry.block])?;
            Ok((&*entry.name, &*entry.arch, text.to_owned()))
        });
        texts.collect()
    }
}

impl Entry {
    /// Parses `NAME ARCH BLOCK START LENGTH`.
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split(' ');
        let (name, arch) = (words.next()?.to_owned(), words.next()?.to_owned());
        let mut number = || words.next()?.parse::<usize>().ok();
        let (block, start, length) = (number()?, number()?, number()?);
        Some(Self { name, arch, block, text: start..start.checked_add(length)? })
    }

    /// This entry's text in that of its block.
    fn cut<'b>(&self, block: &'b str) -> Result<&'b str> {
        let text = block.get(self.text.clone());
        text.ok_or_else(|| damaged(&format!("`{}` for {} is not in its block", self.name, self.arch)))
    }
}
