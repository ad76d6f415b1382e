//! LLVM intrinsics that `core` does not offer. Those that threads execute together are convergent.

#[expect(improper_ctypes, reason = "LLVM intrinsics, not C functions: some return a pair of scalars")]
unsafe extern "unadjusted" {
    // Barriers of the block. They order memory.
    #[link_name = "llvm.nvvm.barrier.cta.sync.aligned.all"]
    pub(super) fn barrier(id: u32);
    #[link_name = "llvm.nvvm.barrier.cta.sync.aligned.count"]
    pub(super) fn barrier_count(id: u32, threads: u32);
    #[link_name = "llvm.nvvm.barrier.cta.arrive.aligned.count"]
    pub(super) fn barrier_arrive(id: u32, threads: u32);
    #[link_name = "llvm.nvvm.barrier.cta.red.popc.aligned.all"]
    pub(super) fn barrier_popc(id: u32, predicate: bool) -> u32;
    #[link_name = "llvm.nvvm.barrier.cta.red.and.aligned.all"]
    pub(super) fn barrier_and(id: u32, predicate: bool) -> bool;
    #[link_name = "llvm.nvvm.barrier.cta.red.or.aligned.all"]
    pub(super) fn barrier_or(id: u32, predicate: bool) -> bool;

    // The barrier of the cluster. Arrival releases and wait acquires, PTX's defaults.
    #[link_name = "llvm.nvvm.barrier.cluster.arrive.aligned"]
    pub(super) fn cluster_arrive();
    #[link_name = "llvm.nvvm.barrier.cluster.wait.aligned"]
    pub(super) fn cluster_wait();

    // Warps.
    #[link_name = "llvm.nvvm.bar.warp.sync"]
    pub(super) fn warp_sync(mask: u32);
    #[link_name = "llvm.nvvm.shfl.sync.idx.i32"]
    pub(super) fn shuffle_idx(mask: u32, value: u32, lane: u32, segment: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.up.i32"]
    pub(super) fn shuffle_up(mask: u32, value: u32, delta: u32, segment: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.down.i32"]
    pub(super) fn shuffle_down(mask: u32, value: u32, delta: u32, segment: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.bfly.i32"]
    pub(super) fn shuffle_xor(mask: u32, value: u32, lanes: u32, segment: u32) -> u32;
    #[link_name = "llvm.nvvm.vote.all.sync"]
    pub(super) fn vote_all(mask: u32, predicate: bool) -> bool;
    #[link_name = "llvm.nvvm.vote.any.sync"]
    pub(super) fn vote_any(mask: u32, predicate: bool) -> bool;
    #[link_name = "llvm.nvvm.vote.ballot.sync"]
    pub(super) fn vote_ballot(mask: u32, predicate: bool) -> u32;
    #[link_name = "llvm.nvvm.match.any.sync.i32"]
    pub(super) fn match_any_b32(mask: u32, value: u32) -> u32;
    #[link_name = "llvm.nvvm.match.any.sync.i64"]
    pub(super) fn match_any_b64(mask: u32, value: u64) -> u32;
    #[link_name = "llvm.nvvm.match.all.sync.i32p"]
    pub(super) fn match_all_b32(mask: u32, value: u32) -> (u32, bool);
    #[link_name = "llvm.nvvm.match.all.sync.i64p"]
    pub(super) fn match_all_b64(mask: u32, value: u64) -> (u32, bool);
    #[link_name = "llvm.nvvm.redux.sync.add"]
    pub(super) fn redux_add(value: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.umin"]
    pub(super) fn redux_min_u32(value: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.umax"]
    pub(super) fn redux_max_u32(value: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.min"]
    pub(super) fn redux_min_i32(value: i32, mask: u32) -> i32;
    #[link_name = "llvm.nvvm.redux.sync.max"]
    pub(super) fn redux_max_i32(value: i32, mask: u32) -> i32;
    #[link_name = "llvm.nvvm.redux.sync.and"]
    pub(super) fn redux_and(value: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.or"]
    pub(super) fn redux_or(value: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.xor"]
    pub(super) fn redux_xor(value: u32, mask: u32) -> u32;

    // Registers and time.
    #[link_name = "llvm.nvvm.read.ptx.sreg.laneid"]
    pub(super) fn lane_id() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.cluster.ctarank"]
    pub(super) fn cluster_rank() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.cluster.nctarank"]
    pub(super) fn cluster_size() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.clock64"]
    pub(super) fn clock() -> u64;
    #[link_name = "llvm.nvvm.read.ptx.sreg.globaltimer"]
    pub(super) fn global_timer() -> u64;
    #[link_name = "llvm.nvvm.nanosleep"]
    pub(super) fn nanosleep(nanoseconds: u32);
}
