//! What a kernel declares: the comment that `#[kernel]` writes into the PTX (simt/macros/src/kernel/expand.rs).

use anyhow::{Context as _, Result, bail};

/// What the comment begins with.
pub const MARKER: &str = "// warpwright.kernel ";

/// Launch bounds and audit limits of one kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Declared {
    /// Name of the entry.
    pub name: String,
    /// The block shape that the kernel requires.
    pub block: Option<[u32; 3]>,
    /// Most threads of a block, where no shape is required.
    pub max_threads: Option<u32>,
    /// Blocks per SM for which ptxas is to limit registers.
    pub min_blocks: Option<u32>,
    /// Blocks of a cluster, where the kernel has clusters.
    pub cluster: Option<u32>,
    /// Whether it is launched with programmatic dependent launch.
    pub pdl: bool,
    /// Bytes of shared memory, where the layout is fixed.
    pub shared_bytes: u32,
    /// Bytes of an element of shared memory, where the launch chooses how many there are; 0 otherwise.
    pub shared_element: u32,
    /// Most registers per thread.
    pub registers: Option<u32>,
    /// Exact number of barrier instructions.
    pub barriers: Option<u32>,
    /// Least width of a load from global memory.
    pub global_load_bytes: Option<u32>,
    /// Least width of a store to global memory.
    pub global_store_bytes: Option<u32>,
    /// Most `trap` instructions.
    pub traps: Option<u32>,
    /// Most bytes of local memory per thread.
    pub local_bytes: Option<u32>,
    /// `gpu/src/gemm/tiled.rs:23`, where the kernel and its limits are declared.
    pub at: String,
    /// The whole comment, as a line of PTX.
    pub line: String,
}

impl Declared {
    /// The most threads that a block may have: the product of its shape, the declared maximum, or 1024.
    pub fn max_threads(&self) -> u32 {
        self.block.map_or_else(|| self.max_threads.unwrap_or(1024), |extents| extents.iter().product())
    }

    /// Reads one line of PTX; `None` where it is not such a comment.
    pub fn read(line: &str) -> Result<Option<Self>> {
        let Some(text) = line.trim().strip_prefix(MARKER) else { return Ok(None) };
        let declared = Self::parse(text).with_context(|| format!("`{}` is malformed", line.trim()))?;
        Ok(Some(Self { line: line.trim().to_owned(), ..declared }))
    }

    fn parse(text: &str) -> Result<Self> {
        // The place is the rest of the line: a path may have blanks.
        let (keys, at) = text.split_once(" at=").context("it has no `at=FILE:LINE`")?;
        let mut words = keys.split_whitespace();
        let name = words.next().context("it has no name")?.to_owned();
        let mut declared = Self { name, at: at.to_owned(), ..Self::default() };
        for word in words {
            if word == "pdl" {
                declared.pdl = true;
                continue;
            }
            let (key, value) = word.split_once('=').with_context(|| format!("`{word}` has no value"))?;
            let number = || value.parse::<u32>().with_context(|| format!("`{value}` in `{word}` is no number"));
            match key {
                "block" => declared.block = Some(extents(value).with_context(|| format!("`{word}` has no 3 extents"))?),
                "max_threads" => declared.max_threads = Some(number()?),
                "min_blocks" => declared.min_blocks = Some(number()?),
                "cluster" => declared.cluster = Some(number()?),
                "shared_bytes" => declared.shared_bytes = number()?,
                "shared_element" => declared.shared_element = number()?,
                "registers" => declared.registers = Some(number()?),
                "barriers" => declared.barriers = Some(number()?),
                "global_load_bytes" => declared.global_load_bytes = Some(number()?),
                "global_store_bytes" => declared.global_store_bytes = Some(number()?),
                "traps" => declared.traps = Some(number()?),
                "local_bytes" => declared.local_bytes = Some(number()?),
                // What the program that launches the kernel compares.
                "arg" => argument(value).with_context(|| format!("`{word}` has no name, hash and type"))?,
                _ => bail!("`{key}` is an unknown key"),
            }
        }
        Ok(declared)
    }
}

/// Checks the form `NAME:HASH:TYPE`.
fn argument(text: &str) -> Option<()> {
    let mut parts = text.splitn(3, ':');
    let (_name, hash, _type) = (parts.next()?, parts.next()?, parts.next()?);
    hash.parse::<u64>().ok().map(drop)
}

/// The three numbers of `32,8,1`.
fn extents(text: &str) -> Option<[u32; 3]> {
    let numbers: Vec<u32> = text.split(',').map(|number| number.parse().ok()).collect::<Option<_>>()?;
    numbers.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::Declared;

    #[test]
    fn every_key_is_read() {
        let line = "\t// warpwright.kernel full block=32,8,2 min_blocks=2 cluster=4 registers=40 barriers=1 \
            global_load_bytes=16 global_store_bytes=8 traps=3 local_bytes=64 pdl shared_bytes=4096 shared_element=0 \
            arg=x:18446744073709551615:VecRef<a::B> at=gpu/src/my folder/x.rs:12";
        let expected = Declared {
            name: "full".into(),
            block: Some([32, 8, 2]),
            max_threads: None,
            min_blocks: Some(2),
            cluster: Some(4),
            pdl: true,
            shared_bytes: 4096,
            shared_element: 0,
            registers: Some(40),
            barriers: Some(1),
            global_load_bytes: Some(16),
            global_store_bytes: Some(8),
            traps: Some(3),
            local_bytes: Some(64),
            at: "gpu/src/my folder/x.rs:12".into(),
            line: line.trim().into(),
        };
        assert_eq!(Declared::read(line).unwrap(), Some(expected));
    }

    #[test]
    fn what_is_left_out_is_not_declared() {
        let bare = Declared::read("// warpwright.kernel bare at=f.rs:1").unwrap().unwrap();
        let line = "// warpwright.kernel bare at=f.rs:1".into();
        assert_eq!(bare, Declared { name: "bare".into(), at: "f.rs:1".into(), line, ..Declared::default() });
        assert_eq!(bare.max_threads(), 1024);
        assert_eq!(Declared { max_threads: Some(256), ..bare.clone() }.max_threads(), 256);
        assert_eq!(Declared { block: Some([32, 8, 2]), ..bare }.max_threads(), 512);
    }

    #[test]
    fn other_comments_are_none_and_malformed_ones_are_errors() {
        assert_eq!(Declared::read("// Generated by LLVM NVPTX Back-End").unwrap(), None);
        for (keys, expected) in [
            ("k block=1,2 at=f.rs:1", "has no 3 extents"),
            ("k registers=many at=f.rs:1", "`many` in `registers=many` is no number"),
            ("k colour=1 at=f.rs:1", "`colour` is an unknown key"),
            ("k overlap at=f.rs:1", "`overlap` has no value"),
            ("k arg=x:VecRef<f32> at=f.rs:1", "`arg=x:VecRef<f32>` has no name, hash and type"),
            ("k registers=1", "it has no `at=FILE:LINE`"),
        ] {
            let error = Declared::read(&format!("// warpwright.kernel {keys}")).unwrap_err();
            assert!(format!("{error:#}").contains(expected), "{error:#}");
        }
    }
}
