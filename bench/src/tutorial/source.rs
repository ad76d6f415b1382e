//! What a kernel is made from and of: its source file and its PTX, both within this program.

use simt::KernelInfo;

// `FILES`, written by the build script.
include!(concat!(env!("OUT_DIR"), "/sources.rs"));

/// The source file that holds a kernel: path in the repository, text.
pub(super) fn of(kernel: &KernelInfo) -> Option<(&'static str, &'static str)> {
    // The compiler names the file from where it was started, which need not be the repository.
    let name = kernel.file.replace('\\', "/");
    FILES.iter().find(|(path, _)| name.ends_with(path)).copied()
}

/// The PTX of one kernel, for the newest architecture in this build: that architecture, and the text of the entry.
pub(super) fn ptx(kernel: &KernelInfo) -> Option<(String, String)> {
    let newest = warpwright::embedded_ptx(kernel).max_by_key(|(arch, _)| {
        let digits: String = arch.chars().filter(char::is_ascii_digit).collect();
        (digits.parse::<u32>().unwrap_or(0), arch.len())
    })?;
    Some((newest.0, entry(&newest.1, kernel.name)?.to_owned()))
}

/// The entry of this name: from `.visible .entry name(` to the brace that stands at the beginning of a line.
fn entry<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let name_at = text.find(&format!(".entry {name}("))?;
    let start = text[..name_at].rfind('\n').map_or(0, |newline| newline + 1);
    let body = &text[start..];
    Some(&body[..body.find("\n}")? + 2])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tutorial::steps;

    #[test]
    fn every_step_has_source_and_ptx() {
        for kernel in steps::all().map(steps::Step::kernel) {
            let (path, text) = of(kernel).unwrap_or_else(|| panic!("no source of {}", kernel.name));
            assert!(path.starts_with("gpu/src/") && kernel.file.ends_with(path), "{path}");
            // Where a macro writes the function, the source has the name in the macro's arguments, or its beginning
            // (`[<gemm_ffma_f32_ $name>]`) if the kernels come from a table in another file.
            let begins = |word: &str| !word.is_empty() && kernel.name.starts_with(word);
            assert!(
                text.contains(kernel.name)
                    || text.split("[<").skip(1).any(|name| begins(name.split(' ').next().unwrap())),
                "{path} has no {}",
                kernel.name
            );
            let (arch, ptx) = ptx(kernel).unwrap_or_else(|| panic!("no PTX of {}", kernel.name));
            assert_eq!(arch, gpu::family_of(kernel).unwrap().arch.unwrap_or("sm_80"));
            assert!(ptx.starts_with(".visible .entry ") && ptx.ends_with('}') && ptx.contains("ret;"), "{ptx}");
            assert_eq!(ptx.matches(".entry").count(), 1, "{ptx}");
        }
    }

    #[test]
    fn an_entry_ends_at_its_own_brace() {
        let text =
            ".version 8.0\n\n.visible .entry ab(\n)\n{\n\t{\n\t}\n\tret;\n\n}\n.visible .entry b(\n)\n{\n\tret;\n}\n";
        assert_eq!(entry(text, "ab"), Some(".visible .entry ab(\n)\n{\n\t{\n\t}\n\tret;\n\n}"));
        assert_eq!(entry(text, "b"), Some(".visible .entry b(\n)\n{\n\tret;\n}"));
        assert_eq!(entry(text, "c"), None);
    }
}
