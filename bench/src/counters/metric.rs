//! What is counted, by the profiler's name and on the simulator.

use warpwright::simulator::{Access, Counters, SiteCounts};

/// One counter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Metric {
    /// In words.
    pub(super) name: &'static str,
    /// The profiler's name.
    pub(super) ncu: &'static str,
    /// The simulator's count.
    pub(super) simulated: fn(&Counters) -> u64,
}

/// Wavefronts beyond the one that each request needs.
fn conflicts(counts: &SiteCounts) -> u64 {
    counts.wavefronts - counts.requests
}

/// All counters, in the order of the tables.
pub(super) const METRICS: [Metric; 11] = [
    Metric {
        name: "global load requests",
        ncu: "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
        simulated: |counters| counters.total(Access::GlobalLoad).requests,
    },
    Metric {
        name: "global load sectors",
        ncu: "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
        simulated: |counters| counters.total(Access::GlobalLoad).sectors,
    },
    Metric {
        name: "global store requests",
        ncu: "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
        simulated: |counters| counters.total(Access::GlobalStore).requests,
    },
    Metric {
        name: "global store sectors",
        ncu: "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
        simulated: |counters| counters.total(Access::GlobalStore).sectors,
    },
    Metric {
        name: "shared load instructions",
        ncu: "smsp__inst_executed_op_shared_ld.sum",
        simulated: |counters| counters.total(Access::SharedLoad).requests,
    },
    Metric {
        name: "shared load wavefronts",
        ncu: "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
        simulated: |counters| counters.total(Access::SharedLoad).wavefronts,
    },
    Metric {
        name: "shared load conflicts",
        ncu: "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
        simulated: |counters| conflicts(&counters.total(Access::SharedLoad)),
    },
    Metric {
        name: "shared store instructions",
        ncu: "smsp__inst_executed_op_shared_st.sum",
        simulated: |counters| counters.total(Access::SharedStore).requests,
    },
    Metric {
        name: "shared store wavefronts",
        ncu: "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
        simulated: |counters| counters.total(Access::SharedStore).wavefronts,
    },
    Metric {
        name: "shared store conflicts",
        ncu: "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
        simulated: |counters| conflicts(&counters.total(Access::SharedStore)),
    },
    Metric {
        name: "divergent branches",
        ncu: "smsp__sass_branch_targets_threads_divergent.sum",
        simulated: |counters| counters.total(Access::Branch).divergent,
    },
];
