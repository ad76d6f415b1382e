//! Archives are read as they were written; a damaged one is an error, never a panic or a wrong text.
#![cfg(feature = "write")]

use std::io::ErrorKind;

use proptest::prelude::*;
use ptx_archive::{Archive, BLOCK_BYTES, Kernel, write};

/// Texts for several blocks, one of them longer than a block.
fn sample() -> Vec<(String, String)> {
    let lengths = [10, BLOCK_BYTES / 2, BLOCK_BYTES / 2, 0, BLOCK_BYTES + 1, 300, BLOCK_BYTES];
    let line = |i: usize| format!("\tadd.s32 \t%r{i}, %r{}, {};\n", i % 7, i % 11);
    let text = |length: usize| (0..).map(line).flat_map(String::into_bytes).take(length).map(char::from).collect();
    lengths.iter().enumerate().map(|(i, &length)| (format!("kernel_{i}"), text(length))).collect()
}

fn kernels(texts: &[(String, String)]) -> Vec<Kernel<'_>> {
    texts.iter().map(|(name, text)| Kernel { name, arch: "sm_80", text }).collect()
}

#[test]
fn texts_longer_and_shorter_than_a_block_are_read_back() {
    let texts = sample();
    let file = write("a title", &kernels(&texts));
    let archive = Archive::open(&file).unwrap();
    for (name, text) in &texts {
        assert!(archive.text(name, "sm_80").unwrap().as_ref() == Some(text), "{name}");
        assert_eq!(archive.text(name, "sm_90a").unwrap(), None, "{name}");
    }
    assert_eq!(archive.text("kernel", "sm_80").unwrap(), None);
    let all = archive.texts().unwrap();
    assert!(
        all.iter().map(|(name, arch, text)| (*name, *arch, text)).eq(texts.iter().map(|(n, t)| (&**n, "sm_80", t)))
    );
    let names: Vec<_> = archive.kernels().collect();
    assert_eq!(names.len(), texts.len());
    assert_eq!(names[3], ("kernel_3", "sm_80"));
}

#[test]
fn an_archive_of_no_kernels_is_an_archive() {
    let file = write("nothing", &[]);
    let archive = Archive::open(&file).unwrap();
    assert_eq!(archive.kernels().count(), 0);
    assert!(archive.texts().unwrap().is_empty());
}

#[test]
fn an_empty_text_is_read_back_wherever_it_stands() {
    let long = "x".repeat(BLOCK_BYTES);
    for texts in [vec![""], vec!["", ""], vec!["a", ""], vec!["", "a"], vec![&long, ""], vec!["", &long, "", &long, ""]]
    {
        let names: Vec<String> = (0..texts.len()).map(|number| format!("kernel_{number}")).collect();
        let kernels: Vec<_> =
            names.iter().zip(&texts).map(|(name, text)| Kernel { name, arch: "sm_80", text }).collect();
        let file = write("empty", &kernels);
        let archive = Archive::open(&file).unwrap();
        for kernel in kernels {
            assert!(archive.text(kernel.name, "sm_80").unwrap().as_deref() == Some(kernel.text), "{}", kernel.name);
        }
        assert_eq!(archive.texts().unwrap().len(), texts.len());
    }
}

#[test]
fn what_is_no_archive_is_refused() {
    for file in [&b""[..], b"x", &[0; 26], &[0xff; 100], b"LZIP\x01\x0c and more that is no archive at all"] {
        assert_eq!(Archive::open(file).unwrap_err().kind(), ErrorKind::InvalidData, "{file:?}");
    }
}

/// All that an archive says, or that it is damaged.
fn read(file: &[u8]) -> Option<Vec<(String, String, String)>> {
    let archive = Archive::open(file).ok()?;
    let texts = archive.texts().ok()?;
    Some(texts.into_iter().map(|(name, arch, text)| (name.to_owned(), arch.to_owned(), text)).collect())
}

proptest! {
    #[test]
    fn any_texts_are_read_back(
        texts in prop::collection::vec(("[a-z_0-9]{1,20}", "sm_[0-9]{2}a?", "\\PC{0,200}"), 0..20),
    ) {
        let kernels: Vec<_> = texts.iter().map(|(name, arch, text)| Kernel { name, arch, text }).collect();
        let file = write("random", &kernels);
        prop_assert_eq!(read(&file).unwrap(), texts.clone());
        // The table's order decides among entries of one name.
        let archive = Archive::open(&file).unwrap();
        for (name, arch, _) in &texts {
            let first = texts.iter().find(|text| text.0 == *name && text.1 == *arch).map(|text| text.2.clone());
            prop_assert_eq!(archive.text(name, arch).unwrap(), first);
        }
    }

    #[test]
    fn a_changed_byte_or_a_shorter_file_never_gives_another_text(at: prop::sample::Index, bit in 0..8_u32, cut: bool) {
        let texts = [("one", "first text\n".repeat(40)), ("two", "second text\n".repeat(50))];
        let kernels: Vec<_> = texts.iter().map(|(name, text)| Kernel { name, arch: "sm_80", text }).collect();
        let whole = write("t", &kernels);
        let right = read(&whole).unwrap();
        let mut file = whole.clone();
        let at = at.index(file.len());
        if cut { file.truncate(at) } else { file[at] ^= 1_u8 << bit }
        if let Some(texts) = read(&file) {
            prop_assert_eq!(texts, right);
        }
    }
}
