//! The cost model: an estimate of the time that an algorithm takes.
//!
//! It is the time of the SM with the most work, in `f32` multiply-adds at full speed: 128 per clock, 253 440 per µs at
//! 1.98 GHz.
//!
//! ```text
//! time     = overhead + max(compute + fix-up, load + fix-up beside loads); with several launches, no less than the
//!            host takes for them: launches · HOST_LAUNCH, copies that are launches of their own · HOST_COPY_ALONE
//! overhead = launches · LAUNCH, copies · COPY_LAUNCH, TRANSPOSITION, REDUCE; memory traffic of copies and
//!            partial products
//! compute  = tiles per SM · tile rows · tile columns · (k + tile overhead) / efficiency
//! load     = max(A and B once from memory and then from L2, what an SM loads for its tiles)
//! max      = the longest, and a small part of the others (`NOT_HIDDEN`)
//! fix-up   = clusters per tile · (FIXUP[0] + FIXUP[1] · bytes of a block's f32 tile), with stream-K, else 0
//! ```
//!
//! Tile overhead and efficiency are the kernel's ([`PerfModel`](super::configuration::PerfModel)). A cluster of blocks
//! counts as one block, on as many SMs, that loads a shared operand once. Split-K multiplies the blocks and divides k.
//!
//! The constants were fitted to the times of 23 925 algorithms for 1116 problems of `f32`, tf32 and `bf16` on an H200
//! (132 SMs, 4.8 TB/s), those for copies and for a C of few rows or columns to 720 problems on an H100, that for the
//! host to 520 on another, those for a launch and for split-K to 546 on an H200, those for copies that are launches and
//! for stream-K's fix-up to 485, called one by one: docs/lab/gemm-trials.md. A rate r in GB/s per SM is 253.44 / r
//! multiply-adds per byte.

use gpu::gemm::number::Number;
use gpu::gemm::sm90::schedule::two_width::TwoWidth;

use super::algorithm::{FollowUp, Work};
use super::configuration::{Configuration, Entry, TmaConfig};
use super::operands::OperandLayout;
use super::problem::{Problem, Request};
use super::stream_k::Schedule;
use crate::contract::Limits;

/// A kernel launch: 2.5 µs.
const LAUNCH: f64 = 640_000.0;
/// What the host takes for a launch: 4.25 µs. Calls one after the other that launch twice wait for it, unless the GPU
/// takes longer. (A single launch takes as long, whatever the kernel.)
const HOST_LAUNCH: f64 = 1_080_000.0;
/// Calls in which the copy of an operand is a launch of its own, a transposition for example, take so much longer than
/// others with as many launches: 2 µs. 88 × 1080 × 64 of tf32 TN takes 10.8 µs with B transposed first.
const HOST_COPY_ALONE: f64 = 507_000.0;
/// Launches that a launch which copies operands counts as, besides its memory traffic.
const COPY_LAUNCH: f64 = 0.75;
/// Launches that the transposition of a 16-bit operand counts as, too. 341 × 112 × 832 of `bf16` TT takes 11.6 µs
/// with A transposed, 5.3 with A copied as it is.
const TRANSPOSITION: f64 = 2.0;
/// The split-K reduction, besides its launch and memory traffic: 3.9 µs.
const REDUCE: f64 = 990_000.0;
/// A byte of memory traffic, divided among all SMs: 36 GB/s per SM, 4.8 TB/s for 132, on a GPU of
/// [`FITTED_BANDWIDTH`].
const BYTE: f64 = 7.0;
/// Peak bandwidth of an H200's memory in bytes per second.
const FITTED_BANDWIDTH: f64 = Limits::SIMULATED.memory_bandwidth as f64;
/// A and B take this factor longer than at peak bandwidth: 4.4 TB/s.
const OPERAND_TRAFFIC: f64 = 1.1;
/// A byte of A or B that another tile loads from memory, too, in bytes of memory: it comes from L2. 32 × 4096 × 4096 in
/// two rows of tiles takes 14.0 µs, in one 11.9.
const AGAIN: f64 = 0.25;
/// Bytes of an operand from which on that counts: of less, most tiles find it in L2 from the beginning.
const AGAIN_FROM: f64 = 20e6;
/// A byte of A or B that an SM loads: 72 GB/s; 106 GB/s if the operand stays in L2.
const SM_LOAD_BYTE: [f64; 2] = [3.5, 2.4];
/// Operands smaller than this stay in L2, in bytes; the H200's L2 has 50 MB.
const L2_RESIDENCY_LIMIT: f64 = 35e6;
/// Rows or columns of a tile beyond A or B, which are filled with zeros, take this factor longer to load than others.
const OUT_OF_BOUNDS_PENALTY: f64 = 2.5;
/// A and B take this factor longer where threads load them, since fewer bytes are under way then than with TMA: of
/// 4096 × 14336 `bf16`, beside 64 rows 51 instead of 41 µs (on an H100).
const LOADED_BY_THREADS: f64 = 1.2;
/// The same of a TMA kernel that leaves room for a block of the next launch, whose pipeline is half as long: 17 × 8192
/// × 8192 takes 48 instead of 45 µs.
const SHORT_PIPELINE: f64 = 1.05;
/// The same of clusters where no other one loads the operand that their blocks share: they then wait for each other,
/// and save nothing from memory. 8192 × 128 × 8192 takes 41 µs in clusters, 38 in blocks with tiles of 64 × 128.
const CLUSTER_ALONE: f64 = 1.12;
/// What of the shorter one of two that go on at once is not hidden behind the longer one: of loading into SMs behind
/// memory, and of computing behind loading. So small that it tells apart only kernels that memory limits alike.
const NOT_HIDDEN: [f64; 2] = [1.0 / 32.0, 1.0 / 256.0];
/// The fraction of SMs that must load to saturate memory. The two of a TPC share its way to L2, so that one of each is
/// as good: of 5120² elements, 66 blocks with an even share load as fast as 132, 80 blocks of 64 rows 12 % slower.
const SATURATING_SMS: f64 = 0.77;
/// Storing or loading partial sums of a stream-K tile, and each byte of them in a block: 1.1 µs, 106 GB/s. Measured:
/// 3 µs for two blocks per tile of 128 × 128, 8 µs for four blocks per tile of 128 × 256.
const FIXUP: [f64; 2] = [280_000.0, 2.4];
/// The same where memory limits: others load meanwhile, but partial sums take the same way. Measured: at most 1.8 µs
/// for three blocks per tile of 16 × 64 or 32 × 64.
const FIXUP_BESIDE_LOADS: [f64; 2] = [90_000.0, 6.0];
/// With stream-K, tiles of more than one wave, or shared unevenly, take this factor longer: no SM idles in the last
/// wave, so power limits the clock (without stream-K such a wave costs nothing at 4096³ and 8192³), and blocks at
/// different steps do not share loads through L2. Not where rows are misaligned: there loads limit the tensor cores,
/// not power. Nor in clusters: their blocks go along k together, and 2048 × 7168 × 16384 takes 602 µs by `2x128x256`
/// on 132 blocks, 651 by `128x256`, 656 without stream-K.
const STREAM_K_PENALTY: f64 = 1.2;

/// Where threads copy boxes of C that TMA does not store, the epilogue takes this part of what the generic one takes
/// beyond the TMA-store epilogue.
const COPIED: f64 = 0.15;

/// The estimated time of `work`.
pub(super) fn estimate<T: Number>(configuration: &Configuration<T>, request: &Request<'_>, work: &Work) -> f64 {
    let launches = launches(configuration, request, work);
    let multiplies = match &work.stream_k {
        None => data_parallel(configuration, request, work),
        Some(schedule) => stream_k(configuration, request, work, schedule),
    };
    let time = overhead(request, work, launches) + multiplies;
    match launches + work.packing.launches() {
        0 | 1 => time,
        several => {
            let host = HOST_LAUNCH * several as f64 + HOST_COPY_ALONE * work.packing.single_launches() as f64;
            // Of those that wait for the host the one comes first that takes the GPU least.
            time.max(host + time / 1024.0)
        }
    }
}

/// Launches, without those that copy operands.
fn launches<T: Number>(configuration: &Configuration<T>, request: &Request<'_>, work: &Work) -> usize {
    let batch = request.problem.batch;
    let products = match configuration.entry {
        Entry::Product(_) => batch,
        // A shorter last part is a launch of its own.
        _ if work.split.remainder > 0 => 2,
        _ => 1,
    };
    match work.follow_up {
        FollowUp::None => products,
        FollowUp::Epilogue => products + 1,
        // One reduction per product of a batch, or one for the parts of a split.
        FollowUp::Reduce => products + batch,
    }
}

/// Launches, and memory traffic besides that of the kernel that multiplies.
fn overhead(request: &Request<'_>, work: &Work, launches: usize) -> f64 {
    let Problem { m, n, batch, .. } = *request.problem;
    let bytes_of_c = match work.follow_up {
        FollowUp::None => 0,
        FollowUp::Epilogue => 2 * request.epilogue.output_bytes,
        FollowUp::Reduce => 8 * work.split.parts as usize,
    };
    let bytes = bytes_of_c as f64 * m as f64 * n as f64 * batch as f64 + 2.0 * work.packing.bytes() as f64;
    let transpositions = work.packing.transpositions_of_16_bits() as f64;
    let launches = launches as f64 + COPY_LAUNCH * work.packing.launches() as f64 + TRANSPOSITION * transpositions;
    let reduce = if work.follow_up == FollowUp::Reduce { REDUCE } else { 0.0 };
    launches * LAUNCH + memory_traffic(request, bytes) + reduce
}

/// The kernel that multiplies, each of whose tiles belongs to one block; with split-K, a part of a tile.
fn data_parallel<T: Number>(configuration: &Configuration<T>, request: &Request<'_>, work: &Work) -> f64 {
    let Problem { m, n, k, batch, .. } = *request.problem;
    let [rows, cols] = configuration.tile.map(|edge| edge as usize);
    let slots = f64::from(configuration.cluster_slots(request.sm_count));
    // A product kernel computes a batch in consecutive launches.
    let (concurrent, consecutive) = match configuration.entry {
        Entry::Product(_) => (1.0, batch as f64),
        _ => (batch as f64, 1.0),
    };
    let tiles = |parts: f64| m.div_ceil(rows) as f64 * n.div_ceil(cols) as f64 * concurrent * parts;
    let tiles_per_slot = |parts: f64| (tiles(parts) / slots).ceil();
    // Multiply-adds per element of k in the busiest slot.
    let multiply_adds = |parts: f64| match configuration.tma() {
        Some(tma) if tma.is_two_width() => {
            let panels = m.div_ceil(rows) as f64 * concurrent * parts;
            let tiles = TwoWidth::new(panels as u32, n as u32, slots as u32);
            let [wide, narrow] = tiles.columns(slots as u32).map(f64::from);
            let efficiency = |blocks| efficiency(configuration, work.packing.operands, blocks);
            rows as f64 * (wide / efficiency(2.0) + narrow / efficiency(1.0))
        }
        _ => waves(configuration, work.packing.operands, tiles_per_slot(parts)) * (rows * cols) as f64,
    };
    let overhead = tile_overhead(configuration, request, work);
    // Parts of one length, then a launch of the shorter last one.
    let (part, remainder) = (work.split.part.min(k) as f64, work.split.remainder as f64);
    let parts = f64::from(if remainder > 0.0 { work.split.parts - 1 } else { work.split.parts });
    let last = if remainder > 0.0 { multiply_adds(1.0) * (remainder + overhead) } else { 0.0 };
    let compute = multiply_adds(parts) * (part + overhead) + last;
    let tiles_per_sm =
        consecutive * (tiles_per_slot(parts) * part + tiles_per_slot(1.0) * remainder) / (k as f64).max(1.0);
    let blocks = tiles(parts) * f64::from(configuration.cluster());
    beside(consecutive * compute, load(configuration, request, tiles_per_sm, blocks), NOT_HIDDEN[1])
}

/// The kernel that multiplies, with a stream-K schedule.
fn stream_k<T: Number>(
    configuration: &Configuration<T>,
    request: &Request<'_>,
    work: &Work,
    schedule: &Schedule,
) -> f64 {
    let [rows, cols] = configuration.tile.map(f64::from);
    let blocks_per_sm = configuration.blocks_per_sm();
    let has_waves = schedule.tiles > schedule.clusters;
    let efficiency =
        efficiency(configuration, work.packing.operands, f64::from(blocks_per_sm.max(if has_waves { 2 } else { 1 })));
    let tiles = f64::from(schedule.tiles.div_ceil(schedule.clusters));
    let depth =
        schedule.max_steps() * f64::from(configuration.k_step()) + tiles * tile_overhead(configuration, request, work);
    let is_shared = !has_waves && schedule.is_even();
    let is_exempt = is_shared
        || configuration.is_sequential
        || configuration.cluster() > 1
        || is_misaligned(configuration, work.packing.operands);
    let penalty = if is_exempt { 1.0 } else { STREAM_K_PENALTY };
    let compute = penalty * f64::from(blocks_per_sm) * rows * cols * depth / efficiency;
    let tiles_per_sm = f64::from(blocks_per_sm) * schedule.max_steps() / f64::from(schedule.steps.max(1));
    let blocks = f64::from(schedule.clusters * configuration.cluster());
    // The last cluster of a tile loads the partial sums of all others, one after the other; each block its own part.
    let bytes = rows * cols * configuration.partial_bytes() as f64 / f64::from(configuration.cluster());
    let fix_up = |[each, per_byte]: [f64; 2]| schedule.max_clusters_per_tile() * (each + bytes * per_byte);
    let load = load(configuration, request, tiles_per_sm, blocks);
    let beside_loads = if configuration.is_sequential { FIXUP } else { FIXUP_BESIDE_LOADS };
    beside(compute + fix_up(FIXUP), load + fix_up(beside_loads), NOT_HIDDEN[1])
}

/// The time of both at once, with so much of the shorter one not hidden.
fn beside(left: f64, right: f64, not_hidden: f64) -> f64 {
    left.max(right) + not_hidden * left.min(right)
}

/// Reading or writing this many bytes by all SMs together.
fn memory_traffic(request: &Request<'_>, bytes: f64) -> f64 {
    let bandwidth = match request.device.limits().memory_bandwidth {
        0 => FITTED_BANDWIDTH,
        known => known as f64,
    };
    bytes * BYTE * (FITTED_BANDWIDTH / bandwidth) / f64::from(request.sm_count.max(1))
}

/// Loading A and B: from memory once, by this many blocks; into an SM as often as its tiles need them. `tiles_per_sm`
/// includes fractions of tiles along k.
fn load<T: Number>(configuration: &Configuration<T>, request: &Request<'_>, tiles_per_sm: f64, blocks: f64) -> f64 {
    let Problem { m, n, k, batch, .. } = *request.problem;
    let [rows, cols] = configuration.tile.map(f64::from);
    let (m, n) = (m as f64, n as f64);
    let bytes = |lines: f64| lines * k as f64 * configuration.bytes_per_k() as f64;
    let once = bytes(m + n) * batch as f64;
    let sms = f64::from(request.sm_count);
    // How much longer so many blocks take than all SMs would.
    let unsaturated = |blocks: f64| {
        let loading = if blocks <= sms / 2.0 { sms / 2.0 } else { sms };
        (SATURATING_SMS * loading / blocks.max(1.0)).max(1.0)
    };
    // Blocks of the next launch load meanwhile on SMs that have none of this one. (Fewer than half leave room anyway.)
    let leaves_room =
        blocks > sms / 2.0 && matches!(configuration.tma(), Some(TmaConfig::Wgmma(config)) if config.leaves_room());
    let slowed = match configuration.tma() {
        None => LOADED_BY_THREADS * unsaturated(blocks),
        Some(_) if leaves_room => SHORT_PIPELINE,
        // The last wave, if less than half of one, alone.
        Some(_) if blocks > sms && (1.0..=sms / 2.0).contains(&(blocks % sms)) => {
            let last = blocks % sms;
            1.0 + (unsaturated(last) - 1.0) * last / blocks
        }
        Some(_) => unsaturated(blocks),
    };
    // For the average tile, weighted rows of A or columns of B.
    let lines = |extent: f64, edge: f64| {
        let tiles = (extent / edge).ceil().max(1.0);
        let in_bounds = extent / tiles;
        let is_l2_resident = batch as f64 * bytes(extent) < L2_RESIDENCY_LIMIT;
        SM_LOAD_BYTE[usize::from(is_l2_resident)] * (in_bounds + OUT_OF_BOUNDS_PENALTY * (edge - in_bounds))
    };
    // Blocks of a cluster, one below the other, or side by side where A and B change places, load what they share once.
    let cluster = f64::from(configuration.cluster());
    let swaps = matches!(configuration.tma(), Some(TmaConfig::Wgmma(config)) if config.swap_ab);
    let is_loaded_once = if swaps { m <= rows } else { n <= cols };
    let slowed = if cluster > 1.0 && is_loaded_once { slowed * CLUSTER_ALONE } else { slowed };
    let tiles_per_sm = if leaves_room { tiles_per_sm * (blocks / sms).min(1.0) } else { tiles_per_sm };
    let per_sm = tiles_per_sm * bytes(lines(m, rows) + lines(n, cols)) / cluster;
    let again_of = |extent: f64, tiles: f64| match bytes(extent) {
        all if all < AGAIN_FROM => 0.0,
        all => all * (tiles.ceil() - 1.0),
    };
    let again = (again_of(m, n / cols) + again_of(n, m / rows)) * batch as f64 / cluster;
    let from_memory = OPERAND_TRAFFIC * memory_traffic(request, once) * slowed;
    beside(from_memory + AGAIN * memory_traffic(request, again), per_sm, NOT_HIDDEN[0])
}

/// What a tile takes besides k, in elements of k.
fn tile_overhead<T: Number>(configuration: &Configuration<T>, request: &Request<'_>, work: &Work) -> f64 {
    let stores = |bytes: usize| match configuration.tma() {
        Some(TmaConfig::Wgmma(config)) => config.stores(bytes as u32),
        _ => bytes == size_of::<T>(),
    };
    let is_whole = work.split.parts == 1;
    let copies = |tma: TmaConfig| request.is_scaled_only() && tma.copies_boxes(request.epilogue.output_bytes);
    let [by_tma, generic] = configuration.model.tile_overhead;
    if is_whole && request.allows_tma_store(stores) {
        by_tma
    } else if is_whole && configuration.tma().is_some_and(copies) {
        by_tma + COPIED * (generic - by_tma)
    } else {
        generic
    }
}

/// The kernel's efficiency with this many blocks on an SM: at the same time, or one after the other if only one fits.
fn efficiency<T: Number>(configuration: &Configuration<T>, operands: [OperandLayout; 2], blocks: f64) -> f64 {
    let ([one, several], most) = (configuration.model.efficiency, f64::from(configuration.blocks_per_sm()));
    let efficiency = if most > 1.0 {
        one + (several - one) * (blocks.clamp(1.0, most) - 1.0) / (most - 1.0)
    } else if blocks > 1.0 {
        several
    } else {
        one
    };
    if is_misaligned(configuration, operands) { efficiency * configuration.model.misaligned } else { efficiency }
}

/// Whether rows of an operand that the kernel loads all the time lie across more cache lines, or vectors, than they
/// must.
fn is_misaligned<T: Number>(configuration: &Configuration<T>, operands: [OperandLayout; 2]) -> bool {
    let is_fetched_by_tma = configuration.tma().is_some();
    // TMA reads cache lines of 128 bytes, threads vectors of 16.
    let alignment = if is_fetched_by_tma { 128 } else { 16 };
    let is_misaligned = |operand: OperandLayout| {
        !(operand.ld * size_of::<T>()).is_multiple_of(alignment) && operand.stored_shape()[0] > 1
    };
    // Threads load the operand along a narrow tile's long edge all the time, that along its short edge once.
    let is_loaded_once = |edge: u32, other: u32| !is_fetched_by_tma && edge * 4 <= other;
    let ([a, b], [rows, cols]) = (operands, configuration.tile);
    is_misaligned(a) && !is_loaded_once(rows, cols) || is_misaligned(b) && !is_loaded_once(cols, rows)
}

/// The time of this many tiles on an SM, in units of one tile at an efficiency of 1: full waves of as many blocks as
/// fit on the SM, and a last wave of fewer, with the efficiency of so few.
fn waves<T: Number>(configuration: &Configuration<T>, operands: [OperandLayout; 2], tiles: f64) -> f64 {
    let most = f64::from(configuration.blocks_per_sm());
    if most <= 1.0 {
        return tiles / efficiency(configuration, operands, tiles);
    }
    let rest = tiles % most;
    (tiles - rest) / efficiency(configuration, operands, most) + rest / efficiency(configuration, operands, rest)
}
