//! Whether PTX was compiled from the kernel that is launched.
//!
//! PTX has names and sizes of parameters, no types: a kernel that was changed since, or another one of the same name,
//! would read its arguments as something else. So `#[kernel]` writes a line of comment into the PTX: the bounds of a
//! launch, the shared memory, and each argument with its name and the hash of its type ([`simt::ArgType::hash`]). The
//! host's [`KernelInfo`] has the same, and both are compared when a kernel of a module is launched first.

use std::fmt;

use simt::{ArgType, KernelInfo, SharedSpec};

use crate::error::{BadLaunch, LaunchRule};

/// What such a line begins with.
const MARKER: &str = "// warpwright.kernel ";

/// The keys of the line that host and kernel must agree on, arguments aside. Others are limits of the audit, or bounds
/// that no launch depends on.
const KEYS: [&str; 6] = ["block", "max_threads", "cluster", "pdl", "shared_bytes", "shared_element"];

/// The kernels that a PTX text declares.
pub(super) struct Declared(Vec<(String, Interface)>);

impl Declared {
    /// Reads the lines; one that is malformed declares nothing.
    pub(super) fn read(text: &str) -> Self {
        let lines = text.lines().filter_map(|line| line.trim().strip_prefix(MARKER));
        Self(lines.filter_map(Interface::read).collect())
    }

    /// Compares the kernel `info` with what PTX module `module` declares of it.
    pub(super) fn check(&self, info: &KernelInfo, module: &str) -> Result<(), BadLaunch> {
        let own = Interface::of(info);
        let found = self.0.iter().find(|(name, _)| name == info.name).map(|(_, interface)| interface);
        if found == Some(&own) {
            return Ok(());
        }
        let (expected, found) = match found {
            Some(found) => own.difference(found),
            None => (format!("a comment `{MARKER}{} …`, which #[kernel] writes", info.name), "none".into()),
        };
        Err(BadLaunch::new(
            LaunchRule::Ptx,
            info.name,
            format_args!("{expected} in the PTX module `{module}`"),
            found,
            "the PTX is of another kernel or another version of it: rebuild it from the kernel's current source, for \
             the crate `gpu` with `cargo xtask build`",
        ))
    }
}

/// What a launch relies on.
#[derive(PartialEq)]
struct Interface {
    /// `block=32,8,1 cluster=2`.
    bounds: String,
    arguments: Vec<Argument>,
}

/// An argument of a kernel.
struct Argument {
    name: String,
    hash: u64,
    /// For messages.
    ty: String,
}

impl PartialEq for Argument {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, self.hash) == (&other.name, other.hash)
    }
}

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.ty)
    }
}

impl Interface {
    /// That of a kernel of this program.
    fn of(info: &KernelInfo) -> Self {
        let [shared_bytes, shared_element] = match info.shared {
            SharedSpec::None => [0, 0],
            SharedSpec::Fixed { bytes, .. } => [bytes, 0],
            SharedSpec::PerLaunch { element, .. } => [0, element],
        };
        let values = [
            info.block.map(|[x, y, z]| format!("block={x},{y},{z}")),
            info.max_threads.map(|threads| format!("max_threads={threads}")),
            Some(format!("cluster={}", info.cluster)),
            info.pdl.then(|| "pdl".to_owned()),
            Some(format!("shared_bytes={shared_bytes}")),
            Some(format!("shared_element={shared_element}")),
        ];
        let arguments = info.args.iter().zip(info.arg_types);
        let arguments =
            arguments.map(|(name, ty)| Argument { name: (*name).to_owned(), hash: ty.hash(), ty: type_text(ty) });
        let values: Vec<&str> = values.iter().flatten().map(String::as_str).collect();
        Self { bounds: bounds(&values), arguments: arguments.collect() }
    }

    /// That of a line, `NAME KEY=VALUE … at=FILE:LINE`, with the name.
    fn read(line: &str) -> Option<(String, Self)> {
        // A type has no spaces, a path may have some.
        let (words, _at) = line.split_once(" at=")?;
        let mut words = words.split(' ').filter(|word| !word.is_empty());
        let name = words.next()?.to_owned();
        let (arguments, others): (Vec<&str>, Vec<&str>) = words.partition(|word| word.starts_with("arg="));
        let arguments: Option<_> =
            arguments.into_iter().map(|word| Argument::read(word.strip_prefix("arg=")?)).collect();
        Some((name, Self { bounds: bounds(&others), arguments: arguments? }))
    }

    /// What differs, as a text for each.
    fn difference(&self, found: &Self) -> (String, String) {
        if self.bounds != found.bounds {
            let text = |of: &Self| if of.bounds.is_empty() { "no bounds".into() } else { format!("`{}`", of.bounds) };
            return (text(self), text(found));
        }
        let mut pairs = self.arguments.iter().zip(&found.arguments);
        match pairs.find(|(own, found)| own != found) {
            Some((own, found)) if own.to_string() != found.to_string() => {
                (format!("an argument `{own}`"), format!("`{found}`"))
            }
            Some((own, _)) => (format!("an argument `{own}` with the fields that it has now"), "others".into()),
            None => {
                let count = |of: &Self| format!("{} arguments", of.arguments.len());
                (count(self), count(found))
            }
        }
    }
}

impl Argument {
    /// Reads `NAME:HASH:TYPE`.
    fn read(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, ':');
        let (name, hash, ty) = (parts.next()?, parts.next()?, parts.next()?);
        Some(Self { name: name.to_owned(), hash: hash.parse().ok()?, ty: ty.to_owned() })
    }
}

/// The words of [`KEYS`], in their order, without those that say what holds if they are left out.
fn bounds(words: &[&str]) -> String {
    let of_key = |key: &&str| words.iter().copied().find(|word| word.split('=').next() == Some(*key));
    let kept = KEYS.iter().filter_map(of_key);
    let kept = kept.filter(|word| !["cluster=1", "shared_bytes=0", "shared_element=0"].contains(word));
    kept.collect::<Vec<_>>().join(" ")
}

/// A type as in a kernel's signature, without lifetimes; a struct by its name alone.
fn type_text(ty: &ArgType) -> String {
    let Some(element) = ty.parts.first().filter(|part| part.name == "element") else { return ty.name.to_owned() };
    let (text, count) = (type_text(&element.ty), ty.size / element.ty.size.max(1));
    match ty.name {
        "array" => format!("[{text};{count}]"),
        "Vector" => format!("Vector<{text},{count}>"),
        name => format!("{name}<{text}>"),
    }
}

/// The line that `#[kernel]` writes for `info`.
#[cfg(test)]
pub(super) fn line(info: &KernelInfo) -> String {
    let Interface { bounds, arguments } = Interface::of(info);
    let arguments = arguments.iter().map(|Argument { name, hash, ty }| format!("arg={name}:{hash}:{ty}"));
    format!("{MARKER}{} {bounds} {} at=a test:1", info.name, arguments.collect::<Vec<_>>().join(" "))
}
