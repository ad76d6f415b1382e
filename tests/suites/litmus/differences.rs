//! The tests of *`Dat3M`* whose answer for PTX on the simulator is another one, and why.

use super::Question;

/// The question, the reason, the tests.
pub(super) const DIFFERENCES: &[(Question, &str, &[&str])] = &[
    (
        Question::Liveness,
        "by the model a weak read need not ever see the write that it waits for; here it does, and the race is \
         reported",
        &["PTX/Manual/XF-Barrier-weak"],
    ),
    (
        Question::Liveness,
        "three threads at a barrier of two: by the model the third goes on, by the PTX ISA the barrier starts again \
         when two have arrived, and the third waits for ever",
        &[
            "PTX/Barrier/quorum1-pass",
            "PTX/Barrier/quorum2-pass",
            "PTX/Barrier/quorum3-pass",
            "PTX/Barrier/quorum3-fail",
            "PTX/Barrier/quorum4-pass",
            "PTX/Barrier/quorum4-fail",
        ],
    ),
    (
        Question::NoRace,
        "the write is ordered before the read, but not made available or visible to it; PTX does not distinguish this",
        &[
            "VULKAN/Data-Race/mp3transitivefail-filter",
            "VULKAN/Data-Race/mp3transitivefail2-filter",
            "VULKAN/Data-Race/mpnotinscope2-filter",
            "VULKAN/Data-Race/mpnotinscope3-filter",
            "VULKAN/Data-Race/mpnotinscope5-filter",
            "VULKAN/Data-Race/mpnotinscope6-filter",
            "VULKAN/Data-Race/noncohmpfail-filter",
            "VULKAN/Data-Race/test21-filter",
        ],
    ),
    (
        Question::NoRace,
        "the release or the acquire leaves out the storage class of the data; in PTX it orders all memory",
        &[
            "VULKAN/Data-Race/noncohmpfail2-filter",
            "VULKAN/Data-Race/scnottransitive-filter",
            "VULKAN/Data-Race/test0-filter",
            "VULKAN/Data-Race/test1-filter",
            "VULKAN/Data-Race/test2-filter",
        ],
    ),
    (
        Question::NoRace,
        "private accesses of two threads always race in Vulkan; PTX has none",
        &["VULKAN/Data-Race/privmp-filter", "VULKAN/Data-Race/privwar-filter", "VULKAN/Manual/PC-bar-acq-rel-priv"],
    ),
    (
        Question::NoRace,
        "a barrier without a memory order does not order accesses in Vulkan; in PTX each does",
        &["VULKAN/Manual/PC-bar-nonpriv"],
    ),
];
