//! Whether a kernel can compute a problem, and why not.

use std::fmt;

use gpu::gemm::configs::Layout;

use super::algorithm::{FollowUp, SplitK, Work};
use super::configuration::{Configuration, Entry, TmaConfig};
use super::element::Multiply;
use super::operands::OperandLayout;
use super::options::Arithmetic;
use super::pack::Packing;
use super::problem::{Epilogue, Problem, Request};
use super::stream_k::Schedule;

/// The least k for which a sum of products of planes has an error bound below that of fused multiply-adds:
/// `gpu::gemm::sm90::bf16x6`.
const MIN_K_OF_PLANES: usize = 256;

/// Why a kernel is not applicable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unsupported {
    /// It is for other element types, or no GEMM kernel.
    Elements,
    /// It has the other [`Arithmetic`](super::Arithmetic).
    Arithmetic,
    /// It has no factors of rows and columns.
    Scales,
    /// It has no factors of blocks, or needs them.
    BlockScales(bool),
    /// It is for a longer k.
    ShortK,
    /// It is for one layout only: whether A and B are transposed.
    Layout([bool; 2]),
    /// There is no PTX of it for this device.
    Device,
    /// It has no split-K, or the problem is a batch.
    SplitK,
    /// It has no stream-K, or k is split already.
    StreamK,
    /// Extents or sizes overflow what it counts with.
    Extents,
    /// There is no product: k or alpha is 0.
    NoProduct,
    /// It does not use TMA, so operands are not packed for it.
    Packing,
    /// TMA cannot load this operand: [`OperandLayout::tma_loadable`].
    Tma(&'static str),
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Elements => f.write_str("is for other element types"),
            Self::Arithmetic => f.write_str("is for another arithmetic"),
            Self::Scales => f.write_str("has no factors of rows and columns: only the kernels for Hopper do"),
            Self::BlockScales(true) => f.write_str("needs factors of blocks (Gemm::block_scales)"),
            Self::BlockScales(false) => f.write_str("has no factors of blocks: only the kernels for Hopper do"),
            Self::ShortK => write!(f, "is for k of at least {MIN_K_OF_PLANES}"),
            Self::Layout([a, b]) => {
                let op = |transposed: &bool| if *transposed { 'T' } else { 'N' };
                write!(f, "is for the layout {}{} with a row-major C, and no operand is packed into it", op(a), op(b))
            }
            Self::Device => f.write_str("is for other GPUs"),
            Self::SplitK => {
                f.write_str("cannot split k here: split-K needs a single product, and a kernel that has it")
            }
            Self::StreamK => f.write_str("cannot use stream-K here: it needs a kernel that has it, without split-K"),
            Self::Extents => f.write_str("does not support extents this large"),
            Self::NoProduct => f.write_str("does nothing where k or alpha is 0"),
            Self::Packing => f.write_str("takes no packed operands: only kernels that load by TMA do"),
            Self::Tma(operand) => write!(
                f,
                "wants `{operand}` to begin, with each of its rows and matrices, at multiples of 16 bytes, or to be \
                 packed (Algorithm::pack)"
            ),
        }
    }
}

/// Whether the kernel is for the arithmetic and the device.
pub(super) fn check_kernel<T: Multiply>(
    configuration: &Configuration<T>,
    request: &Request<'_>,
) -> Result<(), Unsupported> {
    // Full arithmetic is what bf16x6 promises, and more than fast accumulation does.
    let is_full_enough = configuration.arithmetic == Arithmetic::Full
        && matches!(request.arithmetic, Arithmetic::Bf16x6 | Arithmetic::FastAccumulation);
    if configuration.arithmetic != request.arithmetic && !is_full_enough {
        return Err(Unsupported::Arithmetic);
    }
    if configuration.has_planes() && request.problem.k < MIN_K_OF_PLANES {
        return Err(if request.problem.k == 0 { Unsupported::NoProduct } else { Unsupported::ShortK });
    }
    // Without a product there is nothing to scale.
    if request.epilogue.has_scales && request.problem.k > 0 && !configuration.has_scales() {
        return Err(Unsupported::Scales);
    }
    let has_blocks = configuration.has_block_scales();
    if request.epilogue.has_block_scales != has_blocks && (request.problem.k > 0 || has_blocks) {
        return Err(Unsupported::BlockScales(has_blocks));
    }
    if request.device.has_kernel(configuration.info()) { Ok(()) } else { Err(Unsupported::Device) }
}

/// Which operands must be packed for the kernel.
pub(super) fn required_packing<T: Multiply>(configuration: &Configuration<T>, problem: &Problem) -> [bool; 2] {
    let (Some(_), Some(layout)) = (configuration.tma(), configuration.layout) else { return [false; 2] };
    let is_required = |operand: OperandLayout, transposed: bool| {
        operand.transposed != transposed || !operand.tma_loadable(problem.batch, size_of::<T>())
    };
    [is_required(problem.a, layout.transpose_a), is_required(problem.b, layout.transpose_b)]
}

/// The operands for the kernel, with copies of those that `packed` names, or the planes of both. Checks their layout.
pub(super) fn pack<T: Multiply>(
    configuration: &Configuration<T>,
    problem: &Problem,
    packed: [bool; 2],
) -> Result<Packing, Unsupported> {
    if packed != [false; 2] && configuration.tma().is_none() {
        return Err(Unsupported::Packing);
    }
    if configuration.has_planes() {
        return Packing::split(problem).ok_or(Unsupported::Extents);
    }
    let given = [problem.a.transposed, problem.b.transposed];
    let layout = configuration.layout.map_or(given, Layout::transposed);
    if (0..2).any(|number| !packed[number] && given[number] != layout[number]) {
        return Err(Unsupported::Layout(layout));
    }
    Packing::new(problem, packed, layout, size_of::<T>()).ok_or(Unsupported::Extents)
}

/// How the kernel computes the problem from these operands, with at most so many parts of k or blocks of a stream-K
/// schedule. The kernel passes [`check_kernel`].
pub(super) fn work<T: Multiply>(
    configuration: &Configuration<T>,
    request: &Request<'_>,
    packing: Packing,
    (parts, blocks): (u32, u32),
) -> Result<Work, Unsupported> {
    let problem = packing.apply(request.problem);
    let split = SplitK::new(problem.k, parts, configuration.k_granularity);
    let is_split = split.parts > 1;
    let has_whole_k = configuration.has_planes() || configuration.has_block_scales();
    if is_split && (T::REDUCE.is_none() || problem.batch != 1 || has_whole_k) {
        return Err(Unsupported::SplitK);
    }
    let c_len = problem.m.checked_mul(problem.n).ok_or(Unsupported::Extents)?;
    // The reduction of split-K and the product kernels count with 32 bits, and are not launched in sections of C.
    let counts_in_32_bits = [problem.m, problem.n, problem.a.ld, problem.b.ld, problem.c.ld]
        .iter()
        .all(|&extent| u32::try_from(extent).is_ok());
    if is_split && !counts_in_32_bits {
        return Err(Unsupported::Extents);
    }
    match configuration.entry {
        Entry::Tma(_, tma) | Entry::Scaled(_, tma) | Entry::BlockScaled(_, tma) | Entry::Planes(_, tma) => {
            check_tma(configuration, tma, &problem, &split)?;
        }
        Entry::Product(_) if is_split => return Err(Unsupported::SplitK),
        Entry::Product(_) if problem.k == 0 => return Err(Unsupported::NoProduct),
        Entry::Product(_) if !counts_in_32_bits => return Err(Unsupported::Extents),
        Entry::Generic(_) | Entry::Product(_) => {}
    }
    let stream_k = schedule(configuration, &problem, &split, blocks)?;
    let follow_up = follow_up(configuration, request.epilogue, &split);
    let partials_len = match (stream_k, follow_up) {
        (Some(schedule), _) => schedule.memory(configuration).workspace_len(),
        (None, FollowUp::Reduce) => c_len.checked_mul(split.parts as usize).ok_or(Unsupported::Extents)?,
        (None, FollowUp::None | FollowUp::Epilogue) => 0,
    };
    let workspace_len = partials_len.checked_add(packing.workspace_len()).ok_or(Unsupported::Extents)?;
    Ok(Work { packing, split, stream_k, follow_up, workspace_len })
}

/// Whether TMA can load the operands, or their parts along k, and 32 bits count the tiles.
fn check_tma<T: Multiply>(
    configuration: &Configuration<T>,
    tma: TmaConfig,
    problem: &Problem,
    split: &SplitK,
) -> Result<(), Unsupported> {
    if problem.k == 0 {
        return Err(Unsupported::NoProduct);
    }
    let (operands, count) = match split.parts {
        1 => ([problem.a, problem.b], problem.batch),
        parts => (problem.batched_along_k(split.part), parts as usize),
    };
    let names = problem.in_order(["a", "b"]);
    for (operand, name) in operands.iter().zip(names) {
        if !operand.tma_loadable(count, tma.operand_bytes()) {
            return Err(Unsupported::Tma(name));
        }
    }
    let [rows, cols] = configuration.tile.map(|edge| edge as usize);
    let tiles = problem.m.div_ceil(rows).checked_mul(problem.n.div_ceil(cols)).and_then(|c| c.checked_mul(count));
    // Persistent blocks add their number to the index of a tile.
    if tiles.is_none_or(|tiles| tiles > i32::MAX as usize) { Err(Unsupported::Extents) } else { Ok(()) }
}

/// The stream-K schedule for at most so many blocks; none for 0 blocks, or if no tile would be split.
fn schedule<T: Multiply>(
    configuration: &Configuration<T>,
    problem: &Problem,
    split: &SplitK,
    blocks: u32,
) -> Result<Option<Schedule>, Unsupported> {
    if blocks == 0 {
        return Ok(None);
    }
    if split.parts > 1 || !configuration.has_stream_k() {
        return Err(Unsupported::StreamK);
    }
    let schedule = Schedule::new(problem, configuration, blocks / configuration.cluster());
    schedule.map(|schedule| (schedule.split_tiles > 0).then_some(schedule)).ok_or(Unsupported::Extents)
}

/// What is launched after the kernel.
fn follow_up<T: Multiply>(configuration: &Configuration<T>, epilogue: Epilogue, split: &SplitK) -> FollowUp {
    match configuration.entry {
        Entry::Product(_) if epilogue.accumulates => FollowUp::Reduce,
        Entry::Product(_) if epilogue.scales || epilogue.transforms => FollowUp::Epilogue,
        Entry::Product(_) => FollowUp::None,
        _ if split.parts > 1 => FollowUp::Reduce,
        _ => FollowUp::None,
    }
}
