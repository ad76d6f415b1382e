//! The text of reports: place, thread and remedy.

use crate::case::{Case, Group, Schedule, Version};
use crate::{GROUPS, all};
use simulator::{Level, Report};

fn reports(case: &Case, seed: u64) -> Vec<Report> {
    case.run(Version::Faulty, Schedule { level: Level::Checks, seed, resident: 1 }).reports
}

/// The text of a case's first report with seed 0.
fn first(name: &str) -> String {
    let (_, case) = all().find(|(_, case)| case.name == name).expect("a case of this name");
    reports(case, 0)[0].to_string()
}

#[test]
fn every_report_names_kernel_place_block_thread_remedy_and_seed() {
    for (group, case) in all() {
        for report in reports(case, 7) {
            let Report { kernel, site, block: [bx, by, bz], thread: [tx, ty, tz], kind, .. } = &report;
            let text = report.to_string();
            let parts = [
                format!("{} in kernel `{kernel}` at {}:{}:", kind.title(), group.file, site.line),
                format!("block ({bx}, {by}, {bz}), thread ({tx}, {ty}, {tz}): "),
                format!("look at: {}", report.hint),
                "seed 7 replays it".to_owned(),
            ];
            for part in parts {
                assert!(text.contains(&part), "{}: `{part}` is not in\n{text}", case.name);
            }
            if let Some(other) = &report.other {
                let part = format!("other place: {}:{}:", group.file, other.line);
                assert!(text.contains(&part), "{}: `{part}` is not in\n{text}", case.name);
            }
        }
    }
}

#[test]
fn reports_name_the_access_and_its_cause() {
    let expected = [
        (
            "reversal without its barrier",
            "write of `words[32]` in shared memory has no order with the read by thread (31, 0, 0)",
        ),
        (
            "tile loop without its second barrier",
            "read of `a[0][0]` in shared memory has no order with the write by thread (0, 0, 0)",
        ),
        (
            "neighbour block's result after a barrier of the block",
            "write of `squares` at element 64 of its buffer has no order with the read by thread (63, 0, 0) of block \
             (0, 0, 0)",
        ),
        (
            "division by the first element, in place",
            "read of `x` at element 0 of its buffer has no order with the write by thread (0, 0, 0) of block (0, 0, 0)",
        ),
        ("early return before a barrier", "36 threads (0-35) wait at barrier 0"),
        ("early return before a barrier", "28 threads (36-63) have exited"),
        ("named barrier with too few participants", "32 threads (0-31) wait at barrier 1"),
        ("named barrier with one arrival too many", "barrier 1 has 32 of 64 arrivals when the block ends"),
        ("barriers in both branches", "is at this barrier while others are at another one"),
        ("named barrier with two counts", "expects 96 threads where the first to arrive expects 64"),
        ("mask of the other half", "lane 16 calls with mask 0x0000ffff, which does not name it"),
        ("full mask in a branch of half of the lanes", "wait here for lanes 0xffff0000, which wait at a barrier"),
        (
            "shuffle from lanes outside the mask",
            "lane 8 takes its value from lane 16 in a shuffle with mask 0x0000ffff",
        ),
        ("shuffles after an early return", "that lane has exited"),
        ("butterfly in a block of one and a half warps", "the block has no such lane"),
        ("grid larger than the data", "read at index 100 of `x`, whose extent is 100"),
        ("row and column swapped", "of `a`, whose extent is (7, 30)"),
        (
            "unchecked read past the end of the buffer",
            "unchecked read of 4 bytes at byte 400 of `x`, which has 400 bytes",
        ),
        ("unchecked write past the end of shared memory", "at byte 256 of `shared memory`, which has 256 bytes"),
        ("16-byte access to global memory, off by one element", "read of 16 bytes at `x` at element 1 of its buffer"),
        (
            "padding between the rows of a matrix",
            "read of 4 bytes at `a` at element 10 of its buffer that nothing has written",
        ),
        ("asynchronous copy without a wait", "issued there is under way"),
        ("box read without a wait", "while the copy to it is under way, or not waited for by anybody"),
        (
            "box read by threads that have not waited",
            "load of a box of `tile[0]` in shared memory has no order with the read by thread (63, 0, 0)",
        ),
        ("mbarrier initialisation without a fence", "no fence_mbarrier_init after it"),
        (
            "box loaded over ordinary writes without a proxy fence",
            "without a proxy fence between its write and the barrier",
        ),
        ("box larger than its slot", "the place has 4096 bytes, the map's box of [64, 32] elements has 8192"),
        ("three-dimensional load with a two-dimensional map", "a copy of 3 dimensions with a map of 2"),
        ("slot not aligned to the swizzle pattern", "at byte 512 of shared memory, which is no multiple of 1024"),
        ("buffer overwritten while it is stored", "while the read that thread (0, 0, 0) began there is under way"),
        ("end without a wait for the store", "exits while the store that it issued here may still read"),
        ("fewer bytes expected than arrive", "2048 bytes more have come than the phase expects"),
        ("more bytes expected than arrive", "which lacks 4096 bytes for which no copy is under way"),
        ("mbarrier used before its initialisation", "is used in no order with its initialisation by thread (0, 0, 0)"),
        ("one arrival too few", "1 thread (0) waits for the end of phase 0 of the mbarrier"),
        ("one arrival too few", "which lacks 1 arrival of 3; 64 threads (32-95) wait for the end of phase 1"),
        (
            "read before the wait",
            "read of `x` at element 0 of its buffer, while the grid before this one may still write it",
        ),
        ("box stored before the wait", "write of `y` at element 0 of its buffer, while the grid before"),
        ("end without a wait", "the block ends, and none of its threads has waited"),
        ("division by zero", "attempt to divide by zero"),
        ("assertion about the block", "blocks of 48 threads are not supported"),
        ("lock that is never released", "1 thread (0) of this block polls `lock`"),
    ];
    let missing = expected.into_iter().map(|(name, part)| (name, part, first(name)));
    let missing: Vec<String> = missing
        .filter(|(_, part, text)| !text.contains(part))
        .map(|(name, part, text)| format!("{name}: `{part}` is not in\n{text}"))
        .collect();
    crate::assert_no_failures(&missing);
}

#[test]
fn hints_fit_the_case() {
    let expected = [
        ("stencil in place", "order the two accesses: `sync_threads`"),
        (
            "neighbour block's result after a barrier of the block",
            "`sync_threads` orders the threads of one block alone",
        ),
        ("flag stored without release", "order the two blocks: a release and an acquire"),
        ("ticket of block scope", "give both atomic operations `Scope::Device`"),
    ];
    for (name, part) in expected {
        let text = first(name);
        let hint = text.lines().find_map(|line| line.trim_start().strip_prefix("look at: ")).unwrap_or_default();
        assert!(hint.contains(part), "{name}: {text}");
    }
}

// Thread 63 is the last at the barrier and the first after it; the 63 others then read what a neighbour has
// overwritten.
#[test]
fn a_complete_report() {
    let group: &Group = GROUPS.iter().find(|group| group.file.ends_with("shared_races.rs")).expect("the file's cases");
    let [line, other] = group.marked("stencil_faulty")[..] else { panic!("two marked lines") };
    let expected = format!(
        "data race in kernel `stencil_faulty` at {file}:{line}:26\n  \
         block (0, 0, 0), thread (0, 0, 0): \
         read of `words[63]` in shared memory has no order with the write by thread (63, 0, 0)\n  \
         other place: {file}:{other}:16\n  \
         look at: order the two accesses: `sync_threads`, `sync_warp`, or an atomic with its fence\n  \
         seen 63 times; seed 0 replays it",
        file = group.file,
    );
    assert_eq!(first("stencil in place"), expected);
}
