//! Arrays of stamps, which may be larger than the host's memory: a failure is an error and no abort.

use std::alloc::{Layout, alloc_zeroed};

/// So many stamps of 0, if the host has the memory. It is taken page by page, as it is used.
#[expect(clippy::cast_ptr_alignment, reason = "allocated with the layout of `u64`s")]
#[expect(clippy::same_length_and_capacity, reason = "the allocation is as long as that")]
pub(super) fn zeroed(cells: usize) -> Option<Vec<u64>> {
    let layout = Layout::array::<u64>(cells).ok()?;
    if layout.size() == 0 {
        return Some(Vec::new());
    }
    // SAFETY: the size is not 0.
    let start = unsafe { alloc_zeroed(layout) }.cast::<u64>();
    // SAFETY: allocated by the global allocator with the layout of so many `u64`, all of them 0.
    (!start.is_null()).then(|| unsafe { Vec::from_raw_parts(start, cells, cells) })
}

/// Each stamp `parts` times.
pub(super) fn refined(cells: &[u64], parts: usize) -> Option<Vec<u64>> {
    let mut refined = zeroed(cells.len().checked_mul(parts)?)?;
    for (parts, &cell) in refined.chunks_exact_mut(parts).zip(cells) {
        // Untouched pages stay so.
        if cell != 0 {
            parts.fill(cell);
        }
    }
    Some(refined)
}

/// Bytes of memory that the host can still give, where the system says so.
pub(super) fn available() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let kilobytes = |name: &str| -> Option<u64> {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim_start_matches(':').split_whitespace().next()?.parse().ok()
    };
    Some((kilobytes("MemAvailable")? + kilobytes("SwapFree").unwrap_or(0)) * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_much_is_no_abort() {
        assert!(zeroed(usize::MAX / 4).is_none() && refined(&[0; 8], usize::MAX / 2).is_none());
        assert_eq!(zeroed(3), Some(vec![0; 3]));
        assert_eq!(zeroed(0), Some(Vec::new()));
        assert_eq!(refined(&[1, 0, 2], 2), Some(vec![1, 1, 0, 0, 2, 2]));
    }
}
