//! The rules of the audit: what a kernel's PTX may contain, given the limits declared beside the kernel.

use std::fmt::{self, Display};

use super::usage::{Site, Usage, Widths};
use crate::directives;
use crate::ptx::{Declared, Function, Module};
use crate::ptxas::{Report, Resources};

/// A rule broken.
#[derive(Debug, PartialEq)]
pub struct Finding {
    /// The kernel, or `-` where the file as a whole is at fault.
    pub kernel: String,
    /// What was found, and what was allowed.
    pub found: String,
    /// `gpu/src/gemm/tiled.rs:23`, where the kernel and its limits are declared.
    pub declared: String,
}

impl Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} (declared at {})", self.kernel, self.found, self.declared)
    }
}

/// What holds for a kernel beside the limits that it declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// No trap and no local memory where it declares none, no call, no access without a memory space: the repository's
    /// own kernels.
    Strict,
    /// Nothing: the kernels of users.
    Declared,
}

impl Rules {
    /// The limit of what the kernel does not declare.
    fn undeclared(self) -> u32 {
        match self {
            Self::Strict => 0,
            Self::Declared => u32::MAX,
        }
    }
}

/// Rules for the file, which `place` declares: its target, that it is complete, that it has kernels and that each
/// declares its limits.
///
/// That its kernels are those of the family's `KERNELS` is a test of the crate that embeds the file.
pub fn check_file(module: &Module, place: &str, arch: &str) -> Vec<Finding> {
    let finding =
        |kernel: &str, found: String| Finding { kernel: kernel.to_owned(), found, declared: place.to_owned() };
    let mut findings = Vec::new();
    if module.target != arch {
        findings.push(finding("-", format!("its .target is `{}`, its name says {arch}", module.target)));
    }
    for missing in &module.extern_functions {
        let name = rustc_demangle::demangle(&missing.name);
        let found =
            format!("line {}: {name:#} is declared and defined nowhere: no driver can load this file", missing.line);
        findings.push(finding("-", found));
    }
    if module.kernels().next().is_none() {
        findings.push(finding("-", "the PTX has no .entry".to_owned()));
    }
    for declared in &module.declared {
        if !module.kernels().any(|kernel| kernel.name == declared.name) {
            let found = "the PTX declares it and has no such .entry".to_owned();
            findings.push(Finding { kernel: declared.name.clone(), found, declared: declared.at.clone() });
        }
    }
    for kernel in module.kernels() {
        if module.declared(&kernel.name).is_none() {
            let found = format!("line {}: the PTX has this .entry without its declaration", kernel.line);
            findings.push(finding(&kernel.name, found));
        }
    }
    findings
}

/// Rules for one kernel that the PTX text alone can show.
pub fn check_kernel(declared: &Declared, function: &Function, usage: &Usage, rules: Rules) -> Vec<Finding> {
    let mut found = match rules {
        Rules::Strict => check_strictly(usage),
        Rules::Declared => Vec::new(),
    };
    let traps = declared.traps.unwrap_or(rules.undeclared());
    if usage.traps.len() as u32 > traps {
        let first = quote(&usage.traps[0]);
        found.push(format!(
            "{}, at most {traps} allowed, first at {first}; a check that the compiler could not remove: \
             give it a proof, use the unchecked access, or declare `traps = {}`",
            count(usage.traps.len(), "trap"),
            usage.traps.len()
        ));
    }
    let local_bytes = declared.local_bytes.unwrap_or(rules.undeclared());
    if usage.local_bytes > local_bytes || local_bytes == 0 && !usage.local.is_empty() {
        let first = usage.local.first().map_or_else(String::new, |site| format!(", first at {}", quote(site)));
        found.push(format!(
            "{} bytes of local memory, at most {local_bytes} allowed{first}; an array indexed by a variable, or one \
             that is too large for registers",
            usage.local_bytes
        ));
    }
    if let Some(barriers) = declared.barriers
        && usage.barriers != barriers
    {
        found.push(format!("{}, exactly {barriers} expected", count(usage.barriers as usize, "barrier instruction")));
    }
    if declared.pdl && usage.grid_waits == 0 {
        found.push("no wait for the previous grid, which `pdl` requires; call `grid::dependency_wait`".to_owned());
    } else if declared.pdl
        && let Some(site) = &usage.before_grid_wait
    {
        found.push(format!(
            "{} stands before the wait for the previous grid; `pdl` requires that nothing accesses global memory \
             before it",
            quote(site)
        ));
    }
    found.extend(narrower(&usage.global_loads, declared.global_load_bytes, "load"));
    found.extend(narrower(&usage.global_stores, declared.global_store_bytes, "store"));
    for directive in directives::of(declared) {
        if !function.header.lines().any(|line| line.trim() == directive) {
            found.push(format!("line {}: its header lacks `{directive}`; run `cargo xtask build`", function.line));
        }
    }
    with_place(declared, found)
}

/// What a kernel does that the repository's own never do.
fn check_strictly(usage: &Usage) -> Vec<String> {
    let mut found = Vec::new();
    found.extend(usage.generic.first().map(|site| {
        format!(
            "{} without a memory space, first at {}; use simt's views",
            count(usage.generic.len(), "access"),
            quote(site)
        )
    }));
    found.extend(usage.calls.first().map(|site| {
        format!(
            "{} not inlined, first at line {}: {}; a kernel calls nothing",
            count(usage.calls.len(), "call"),
            site.line,
            site.what
        )
    }));
    found
}

/// Rules for one kernel that need ptxas.
pub fn check_resources(declared: &Declared, resources: Resources, rules: Rules) -> Vec<Finding> {
    let mut found = Vec::new();
    let local_bytes = declared.local_bytes.unwrap_or(rules.undeclared());
    if let (Some(limit), Some(registers)) = (declared.registers, resources.registers)
        && registers > limit
    {
        found.push(format!("{registers} registers, at most {limit} allowed"));
    }
    // Registers are spilt to local memory: how much of that there may be is declared together.
    if local_bytes == 0 && (resources.spill_stores > 0 || resources.spill_loads > 0) {
        found.push(format!(
            "spills {} bytes out and {} bytes back, none allowed",
            resources.spill_stores, resources.spill_loads
        ));
    }
    if resources.stack > local_bytes {
        found.push(format!("{} bytes of stack, at most {local_bytes} allowed", resources.stack));
    }
    with_place(declared, found)
}

/// Rules for the file, which `place` declares, that need ptxas.
pub fn check_assembly(place: &str, report: &Report) -> Vec<Finding> {
    let finding = |text: &String| Finding { kernel: "-".to_owned(), found: text.clone(), declared: place.to_owned() };
    report.performance_losses.iter().map(finding).collect()
}

fn with_place(declared: &Declared, found: Vec<String>) -> Vec<Finding> {
    found
        .into_iter()
        .map(|found| Finding { kernel: declared.name.clone(), found, declared: declared.at.clone() })
        .collect()
}

fn narrower(widths: &Widths, limit: Option<u32>, what: &str) -> Option<String> {
    let limit = limit?;
    let (&width, lines) = widths.first_key_value()?;
    (width < limit).then(|| {
        let plural = count(lines.len(), &format!("global {what}"));
        format!("{plural} of {width} bytes, at least {limit} expected, first at line {}", lines[0])
    })
}

fn quote(site: &Site) -> String {
    format!("line {}: `{}`", site.line, site.what)
}

/// `1 file`, `2 files`, `2 accesses`.
pub fn count(number: usize, what: &str) -> String {
    match (number, what.ends_with("ss")) {
        (1, _) => format!("1 {what}"),
        (_, true) => format!("{number} {what}es"),
        (_, false) => format!("{number} {what}s"),
    }
}

#[cfg(test)]
#[path = "checks_tests.rs"]
mod tests;
