//! The audit of a user's kernels, in the build script: what no driver loads, and what the kernels' own limits refuse.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};

use super::checks::{self, Finding, Rules};
use super::usage::Usage;
use crate::kernels;
use crate::ptx::{self, Action, Declared, Module, decode};
use crate::ptxas::Ptxas;

/// Bytes of shared memory of a block, at most, by compute capability (CUDA C++ Programming Guide, "Technical
/// Specifications per Compute Capability").
const SHARED: [(&str, u32); 8] = [
    ("80", 163 << 10),
    ("86", 99 << 10),
    ("87", 163 << 10),
    ("89", 99 << 10),
    ("90", 227 << 10),
    ("100", 227 << 10),
    ("103", 227 << 10),
    ("120", 99 << 10),
];

/// Fails if a kernel of `text`, the PTX of `package` for `arch`, cannot be loaded or, with `limits`, exceeds its
/// limits. `ptxas` reads the text from `path`.
pub fn audit(text: &str, arch: &str, package: &str, ptxas: Option<&Ptxas>, path: &Path, limits: bool) -> Result<()> {
    let module = ptx::read(text).with_context(|| format!("rustc's PTX of `{package}` for {arch}"))?;
    if module.kernels().next().is_none() {
        bail!(
            "`{package}` has no kernel for {arch}: no function of its library, or of the file that \
             KernelBuilder::new names, has `#[kernel]`"
        );
    }
    if let Some(message) = missing_functions(&module) {
        bail!("{message}");
    }
    if !limits {
        return Ok(());
    }
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    let report = ptxas.map(|ptxas| ptxas.assemble(path, arch)).transpose();
    let mut report = report.or_else(|error| if is_older(&format!("{error:#}")) { Ok(None) } else { Err(error) })?;
    let without_panics = without_panics(text, &module);
    if let (Some(report), Some(ptxas)) = (&mut report, ptxas)
        && without_panics != text
    {
        let path = path.with_extension("without-panics.ptx");
        fs::write(&path, without_panics).with_context(|| format!("cannot write {}", path.display()))?;
        *report = ptxas.assemble(&path, arch)?;
    }
    let mut findings = Vec::new();
    for function in module.kernels() {
        let Some(declared) = module.declared(&function.name) else { continue };
        findings.extend(checks::check_kernel(declared, function, &Usage::of(function), Rules::Declared));
        findings.extend(shared_memory(declared, arch));
        let resources = report.as_ref().and_then(|report| report.functions.get(&function.name).copied());
        let resources = resources.map(|resources| checks::check_resources(declared, resources, Rules::Declared));
        findings.extend(resources.into_iter().flatten());
    }
    if findings.is_empty() {
        return Ok(());
    }
    let count = checks::count(findings.len(), "limit");
    let list: Vec<String> = findings.iter().map(|finding| format!("  kernel {finding}")).collect();
    bail!(
        "the PTX of `{package}` for {arch} exceeds {count}:\n{}\nthe PTX is {}; change the kernel, or the limit in its \
         #[kernel(…)]",
        list.join("\n"),
        path.display()
    )
}

/// PTX with a `trap` in place of each call that reports a panic: what the report takes is not the kernel's.
fn without_panics(text: &str, module: &Module) -> String {
    let reports = |name: &str| {
        let name = format!("{:#}", rustc_demangle::demangle(name));
        ["core::", "__rustc::", "simt::ptx::report::"].iter().any(|of| name.starts_with(of))
    };
    let never_return = module.functions.iter().filter(|function| function.header.contains(".noreturn"));
    let names: Vec<&str> = never_return.map(|function| function.name.as_str()).filter(|name| reports(name)).collect();
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        match decode(line.trim().trim_end_matches(';')) {
            Action::Call { callee } if names.contains(&callee) => out.push_str("\ttrap;\n"),
            _ => out.push_str(line),
        }
    }
    if names.is_empty() { out } else { kernels::join(&kernels::split(&out)) }
}

/// Whether ptxas refuses PTX because it is older than that: its figures are missing then, as without a ptxas.
fn is_older(message: &str) -> bool {
    ["Unsupported .version", "is not defined for option 'gpu-name'"].iter().any(|text| message.contains(text))
}

/// Names each function that is called and nowhere defined, and the kernel that calls it.
fn missing_functions(module: &Module) -> Option<String> {
    let mut lines = Vec::new();
    for missing in &module.extern_functions {
        let calls = |statement: &ptx::Statement| {
            let action = decode(&statement.text);
            matches!(action, Action::Call { callee } if callee == missing.name)
        };
        let callers = module.functions.iter().filter(|function| function.statements.iter().any(calls));
        let callers: Vec<String> = callers
            .map(|function| match (function.kernel, module.declared(&function.name)) {
                (true, Some(declared)) => format!("kernel `{}` at {}", function.name, declared.at),
                (true, None) => format!("kernel `{}`", function.name),
                (false, _) => format!("function `{:#}`", rustc_demangle::demangle(&function.name)),
            })
            .collect();
        let name = format!("{:#}", rustc_demangle::demangle(&missing.name));
        let callers = if callers.is_empty() { "unknown code".to_owned() } else { callers.join(", ") };
        lines.push(format!("  `{name}`, called by {callers}"));
    }
    (!lines.is_empty()).then(|| {
        format!(
            "{} called that no crate of the kernels defines, so that no driver can load the PTX:\n{}\na GPU has no C \
             library: use a function of `simt::math`, or one of a crate in kernel-dependencies",
            if lines.len() == 1 { "a function is" } else { "functions are" },
            lines.join("\n")
        )
    })
}

/// More shared memory than a block of the architecture can have.
fn shared_memory(declared: &Declared, arch: &str) -> Option<Finding> {
    let number = arch.trim_start_matches("sm_").trim_end_matches(['a', 'f']);
    let limit = SHARED.iter().find(|(of, _)| *of == number).map(|(_, limit)| *limit)?;
    (declared.shared_bytes > limit).then(|| Finding {
        kernel: declared.name.clone(),
        found: format!(
            "{} bytes of shared memory, a block of {arch} has at most {limit}; make the #[shared] struct smaller",
            declared.shared_bytes
        ),
        declared: declared.at.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::{audit, missing_functions, shared_memory};
    use crate::ptx::{self, Declared};

    #[test]
    fn a_missing_function_is_named_with_the_kernel_that_calls_it() {
        let text = "// warpwright.kernel scale at=src/lib.rs:7\n.version 7.0\n.target sm_80\n.extern .func \
            (.param .b32 r) helper ( .param .b32 a );\n.visible .entry scale()\n{\n\tcall.uni (retval0), helper, \
            (param0);\n\tret;\n}\n";
        let message = missing_functions(&ptx::read(text).unwrap()).unwrap();
        assert!(message.contains("`helper`, called by kernel `scale` at src/lib.rs:7"), "{message}");
        assert!(message.contains("simt::math"), "{message}");
    }

    #[test]
    fn an_old_assembler_is_no_fault_of_the_kernels() {
        let refuses = "ptxas (release 11.0) refuses k.ptx for sm_90a:\n";
        for (message, older) in [
            ("ptxas k.ptx, line 5; fatal   : Unsupported .version 8.0; current version is '7.0'", true),
            ("ptxas fatal   : Value 'sm_90a' is not defined for option 'gpu-name'", true),
            ("ptxas k.ptx, line 12; error   : Unknown symbol 'helper'", false),
        ] {
            assert_eq!(super::is_older(&format!("{refuses}{message}")), older, "{message}");
        }
    }

    #[test]
    fn shared_memory_is_limited_by_the_architecture() {
        let declared = Declared { shared_bytes: 200_000, name: "k".into(), ..Declared::default() };
        let message = shared_memory(&declared, "sm_80").unwrap().to_string();
        assert!(message.contains("200000 bytes of shared memory, a block of sm_80 has at most 166912"), "{message}");
        assert_eq!(shared_memory(&declared, "sm_90a"), None);
    }

    #[test]
    fn limits_hold_where_they_are_declared() {
        let text = |limits: &str| {
            format!(
                ".version 7.0\n.target sm_80\n.visible .entry k()\n// warpwright.kernel k {limits} at=src/lib.rs:7\n\
                 .maxntid 1024\n{{\n\tbar.sync 0;\n\ttrap;\n\tret;\n}}\n"
            )
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("k.ptx");
        audit(&text("barriers=1"), "sm_80", "demo", None, &path, true).unwrap();
        let error = audit(&text("barriers=2 traps=0"), "sm_80", "demo", None, &path, true).unwrap_err().to_string();
        assert!(error.contains("`demo` for sm_80 exceeds 2 limits"), "{error}");
        assert!(
            error.contains("kernel k: 1 barrier instruction, exactly 2 expected (declared at src/lib.rs:7)"),
            "{error}"
        );
        let error = audit(".version 7.0\n.target sm_80\n", "sm_80", "demo", None, &path, true).unwrap_err().to_string();
        assert!(error.contains("`demo` has no kernel for sm_80"), "{error}");
    }
}
