//! What rustc cannot write into a kernel's header: launch bounds, and the alignment of tensor maps among its
//! parameters.
//!
//! The bounds come from the comments that `#[kernel]` writes into the PTX ([`Declared`]). rustc puts these at the top
//! of the file; they are moved to the headers of their kernels.
//!
//! PTX for GPUs before `sm_90` is written as for `sm_90` (`without_scratch`), so that one text serves all.

use anyhow::{Context as _, Result, bail};

use crate::ptx::{self, Declared, MARKER};

/// The directives of one kernel, one line each.
pub fn of(declared: &Declared) -> Vec<String> {
    let threads = match declared.block {
        Some([x, y, z]) => format!(".reqntid {x}, {y}, {z}"),
        None => format!(".maxntid {}", declared.max_threads()),
    };
    let min_blocks = declared.min_blocks.map(|blocks| format!(".minnctapersm {blocks}"));
    // With the shape in the code an ordinary launch starts clusters, and fails if the grid is no multiple of them.
    let cluster = declared.cluster.filter(|&blocks| blocks > 1);
    let cluster = cluster.map(|blocks| [".explicitcluster".into(), format!(".reqnctapercluster {blocks}, 1, 1")]);
    std::iter::once(threads).chain(min_blocks).chain(cluster.into_iter().flatten()).collect()
}

/// TMA reads a tensor map at a multiple of 64 bytes. rustc does not align arguments so, and the kernels have no other
/// parameter of this size and alignment.
fn align_tensor_maps(line: &str) -> String {
    let is_map =
        line.trim_start().starts_with(".param .align 16 .b8 ") && line.trim_end_matches(',').ends_with("[128]");
    if is_map { line.replacen(".align 16", ".align 64", 1) } else { line.to_owned() }
}

/// PTX 7.1 has `_` for the half of a register that nobody needs. Where PTX 7.0 has all instructions, LLVM writes that,
/// and declares a register instead, `{ .reg .b32 tmp; mov.b64 {tmp, %r1}, %rd1; }`. ptxas then allocates the others
/// differently: 31 of 438 kernels had other machine code on `sm_90a` than PTX for `sm_90a` gives.
fn without_scratch(line: &str) -> Option<String> {
    let inner = line.trim().strip_prefix("{ .reg ")?.strip_suffix(" }")?;
    let (mov, operands) = inner.split_once(" tmp; ")?.1.split_once(" {tmp, ")?;
    Some(format!("\t{mov} \t{{_, {operands}"))
}

/// The text without the declarations at its top and the blank lines around them.
fn without_declarations(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines().filter(|line| !line.starts_with(MARKER)) {
        if !line.is_empty() || !out.ends_with("\n\n") {
            match line {
                ".version 7.0" => out.push_str(".version 7.1"),
                _ => out.push_str(&without_scratch(line).unwrap_or_else(|| align_tensor_maps(line))),
            }
            out.push('\n');
        }
    }
    out
}

/// Adds to every kernel's header what it declares and its directives. Fails where the text is no PTX, declares a kernel
/// that it lacks, or has a kernel that declares nothing.
pub fn insert(text: &str) -> Result<String> {
    let declared = ptx::read(text)?.declared;
    let text = &without_declarations(text);
    let module = ptx::read(text)?;
    let has_entry = |declared: &&Declared| module.kernels().any(|kernel| kernel.name == declared.name);
    if let Some(missing) = declared.iter().find(|declared| !has_entry(declared)) {
        bail!("rustc wrote no .entry {} ({}): is the kernel behind a feature or a cfg?", missing.name, missing.at);
    }
    let mut out = String::with_capacity(text.len() + declared.len() * 256);
    let mut done = 0;
    for kernel in module.kernels() {
        let declared = declared.iter().find(|declared| declared.name == kernel.name);
        let declared = declared.with_context(|| {
            format!("the .entry {} declares nothing: kernels are functions with #[kernel]", kernel.name)
        })?;
        out.push_str(&text[done..kernel.body_at]);
        for line in std::iter::once(declared.line.clone()).chain(of(declared)) {
            out.push_str(&line);
            out.push('\n');
        }
        done = kernel.body_at;
    }
    out.push_str(&text[done..]);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::insert;

    #[test]
    fn directives_stand_before_the_body() {
        let text = ".version 7.0\n\n\n// warpwright.kernel c cluster=2 at=f.rs:9\n\
            // warpwright.kernel b max_threads=256 at=f.rs:5\n\
            // warpwright.kernel a block=32,8,1 min_blocks=2 at=f.rs:1\n\n\n\
            .visible .entry a(\n.param .b32 p\n)\n{\nret;\n}\n\
            .visible .entry b()\n{\nret;\n}\n.entry c()\n{\nret;\n}\n";
        let expected = ".version 7.1\n\n\
            .visible .entry a(\n.param .b32 p\n)\n// warpwright.kernel a block=32,8,1 min_blocks=2 at=f.rs:1\n\
            .reqntid 32, 8, 1\n.minnctapersm 2\n{\nret;\n}\n\
            .visible .entry b()\n// warpwright.kernel b max_threads=256 at=f.rs:5\n.maxntid 256\n{\nret;\n}\n\
            .entry c()\n// warpwright.kernel c cluster=2 at=f.rs:9\n.maxntid 1024\n\
            .explicitcluster\n.reqnctapercluster 2, 1, 1\n{\nret;\n}\n";
        assert_eq!(insert(text).unwrap(), expected);
    }

    #[test]
    fn tensor_maps_are_aligned_for_tma() {
        let text = "// warpwright.kernel a at=f.rs:1\n\
            .entry a(\n\t.param .align 16 .b8 a_param_0[128],\n\t.param .align 8 .b8 a_param_1[128],\n\
            \t.param .align 16 .b8 a_param_2[32]\n)\n{\nret;\n}\n";
        let out = insert(text).unwrap();
        assert!(out.contains(".align 64 .b8 a_param_0[128]"), "{out}");
        assert!(out.contains(".align 8 .b8 a_param_1") && out.contains(".align 16 .b8 a_param_2"), "{out}");
    }

    #[test]
    fn no_register_is_declared_for_what_nobody_needs() {
        let text = "// warpwright.kernel a at=f.rs:1\n.version 7.0\n.target sm_80\n.entry a()\n{\n\
            \t{ .reg .b32 tmp; mov.b64 {tmp, %r1}, %rd2; }\n\tmov.b64 \t{%r3, %r4}, %rd2;\n\
            \t{ .reg .b16 tmp; mov.b32 {tmp, %rs1}, %r2; }\n\t{ // callseq 0, 0\n\t}\n}\n";
        let out = insert(text).unwrap();
        let body = "\tmov.b64 \t{_, %r1}, %rd2;\n\tmov.b64 \t{%r3, %r4}, %rd2;\n\tmov.b32 \t{_, %rs1}, %r2;\n\
            \t{ // callseq 0, 0\n";
        assert!(out.starts_with(".version 7.1\n.target sm_80\n") && out.contains(body), "{out}");
    }

    #[test]
    fn a_kernel_that_is_not_there_is_named() {
        let message = insert("// warpwright.kernel missing at=f.rs:1\n.version 7.0\n").unwrap_err().to_string();
        assert!(message.contains("no .entry missing (f.rs:1)"), "{message}");
    }

    #[test]
    fn an_entry_without_declaration_is_named() {
        let message = insert(".entry bare()\n{\nret;\n}\n").unwrap_err().to_string();
        assert!(message.contains(".entry bare declares nothing"), "{message}");
    }
}
