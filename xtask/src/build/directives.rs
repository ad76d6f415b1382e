//! What Rust has no spelling for in a kernel's header: launch bounds, put between its `)` and its `{`, and the alignment of
//! tensor maps among its parameters.

use anyhow::{Context as _, Result};
use simt::KernelInfo;

use crate::ptx;

/// The directives of one kernel, one line each.
pub(crate) fn of(info: &KernelInfo) -> Vec<String> {
    let threads = match info.block {
        Some([x, y, z]) => format!(".reqntid {x}, {y}, {z}"),
        None => format!(".maxntid {}", info.max_threads()),
    };
    let residents = info.min_blocks.map(|blocks| format!(".minnctapersm {blocks}"));
    // With the shape in the code an ordinary launch starts clusters, and one whose grid they do not divide fails.
    let is_clustered = info.cluster > 1;
    let cluster =
        is_clustered.then(|| [".explicitcluster".into(), format!(".reqnctapercluster {}, 1, 1", info.cluster)]);
    std::iter::once(threads).chain(residents).chain(cluster.into_iter().flatten()).collect()
}

/// The copy engine reads a tensor map at a multiple of 64 bytes. rustc aligns no argument so, and the kernels have no other
/// parameter of this size and alignment.
fn align_tensor_maps(text: &str) -> String {
    let is_map = |line: &str| {
        line.trim_start().starts_with(".param .align 16 .b8 ") && line.trim_end_matches(',').ends_with("[128]")
    };
    let lines = text
        .split_inclusive('\n')
        .map(|line| if is_map(line.trim_end()) { line.replacen(".align 16", ".align 64", 1) } else { line.to_owned() });
    lines.collect()
}

/// Adds every kernel's directives to `text`. Fails where the text is no PTX or lacks a kernel.
pub(super) fn insert(text: &str, kernels: &[&KernelInfo]) -> Result<String> {
    let text = &align_tensor_maps(text);
    let module = ptx::read(text)?;
    let mut places = Vec::new();
    for info in kernels {
        let kernel = module.kernels().find(|kernel| kernel.name == info.name);
        let kernel = kernel.with_context(|| {
            format!(
                "rustc wrote no .entry {} ({}:{}): is the kernel behind a feature or a cfg?",
                info.name, info.file, info.line
            )
        })?;
        places.push((kernel.body_at, of(info)));
    }
    places.sort();
    let mut out = String::with_capacity(text.len() + places.len() * 64);
    let mut done = 0;
    for (at, lines) in places {
        out.push_str(&text[done..at]);
        for line in lines {
            out.push_str(&line);
            out.push('\n');
        }
        done = at;
    }
    out.push_str(&text[done..]);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use simt::{KernelInfo, Limits, SharedSpec};

    use super::insert;

    const fn info(
        name: &'static str,
        block: Option<[u32; 3]>,
        max_threads: Option<u32>,
        min_blocks: Option<u32>,
    ) -> KernelInfo {
        let limits = Limits {
            registers: None,
            barriers: None,
            global_load_bytes: None,
            global_store_bytes: None,
            traps: None,
            local_bytes: 0,
        };
        KernelInfo {
            name,
            path: "gpu::f",
            file: "f.rs",
            line: 1,
            args: &[],
            block,
            max_threads,
            min_blocks,
            cluster: 1,
            pdl: false,
            shared: SharedSpec::None,
            limits,
        }
    }

    #[test]
    fn directives_stand_before_the_body() {
        let text = ".version 7.0\n.visible .entry a(\n.param .b32 p\n)\n{\nret;\n}\n.visible .entry b()\n{\nret;\n}\n.entry c()\n{\nret;\n}\n";
        let a = info("a", Some([32, 8, 1]), None, Some(2));
        let b = info("b", None, Some(256), None);
        let c = KernelInfo { cluster: 2, ..info("c", None, None, None) };
        let expected = ".version 7.0\n.visible .entry a(\n.param .b32 p\n)\n.reqntid 32, 8, 1\n.minnctapersm 2\n{\nret;\n}\n\
            .visible .entry b()\n.maxntid 256\n{\nret;\n}\n.entry c()\n.maxntid 1024\n\
            .explicitcluster\n.reqnctapercluster 2, 1, 1\n{\nret;\n}\n";
        assert_eq!(insert(text, &[&c, &b, &a]).unwrap(), expected);
    }

    #[test]
    fn tensor_maps_are_aligned_for_the_copy_engine() {
        let text = ".entry a(\n\t.param .align 16 .b8 a_param_0[128],\n\t.param .align 8 .b8 a_param_1[128],\n\
            \t.param .align 16 .b8 a_param_2[32]\n)\n{\nret;\n}\n";
        let out = insert(text, &[&info("a", None, None, None)]).unwrap();
        assert!(out.contains(".align 64 .b8 a_param_0[128]"), "{out}");
        assert!(out.contains(".align 8 .b8 a_param_1") && out.contains(".align 16 .b8 a_param_2"), "{out}");
    }

    #[test]
    fn a_kernel_that_is_not_there_is_named() {
        let missing = info("missing", None, None, None);
        let message = insert(".version 7.0\n", &[&missing]).unwrap_err().to_string();
        assert!(message.contains("no .entry missing (f.rs:1)"), "{message}");
    }
}
