//! Ways to a product, and what they cost.
//!
//! The cost of a way is the time of the multiprocessor with most work, counted in `f32` multiply-adds at full speed, 128 of
//! which it does in a clock:
//!
//! ```text
//! launch     2 µs: 500 000; 700 000 for that of a copy, 660 000 more where partial products are added up
//! blocks     for each of a multiprocessor: rows · columns · (k + lost) / share, in rounds of as many as it has at once
//! reading    what that takes at least: 7.7 for each byte of A and B, over all multiprocessors, and more where under 77 % of them have
//!            a block; and for each byte that a multiprocessor takes in for its tiles 3.5, or 2.4 of an operand that stays in L2, and
//!            2.5 times that for lines of a tile beyond A or B, which are zeros
//! sharing    1.4 µs and 2.4 for each byte of a tile of f32, for each block that has a part of it: `share`
//! memory     7 for each byte of partial products, of C or of a packed operand that is written and read once more, over all
//!            multiprocessors
//! ```
//!
//! `share` and `lost` are the kernel's (`Speed`); a cluster of blocks counts as one, on as many multiprocessors, and takes in what it fetches
//! once. A split along k multiplies the blocks and divides k. 7 is what a multiprocessor does while it gets a byte: 128 multiply-adds a
//! clock at 1.98 GHz, a 132nd of 4.8 TB/s.
//!
//! Fitted to the times of 23925 ways to 1116 products of `f32`, tf32 and `bf16` on an H200: docs/gemm.md, "Which way".

use std::fmt;

use gpu::hopper::wide::tiles::Mix;
use simt::KernelInfo;

use super::Arithmetic;
use super::candidates::{BoxKind, Candidate, Program, Speed};
use super::element::Multiply;
use super::packing::Packing;
use super::problem::Problem;
use super::share::{self, Cut};
use super::stored::OperandLayout;
use super::unfit::Unsupported;
use crate::device::Device;

/// In multiply-adds of one multiprocessor.
const LAUNCH: f64 = 500_000.0;
/// The same, for each byte.
const BYTE: f64 = 7.0;
/// What a copy costs beside its bytes, in launches.
const COPY: f64 = 1.4;
/// What adding partial products up costs beside its launch and its bytes.
const MERGE: f64 = 660_000.0;
/// How much longer memory takes than that for A and B, where nothing else bounds: 4.4 TB/s.
const READ: f64 = 1.1;
/// What a multiprocessor takes for each byte of A and B that it takes in, 72 GB/s; of an operand that stays in L2,
/// 106.
const INTAKE: [f64; 2] = [3.5, 2.4];
/// Bytes of an operand that stays there.
const STAY: f64 = 35e6;
/// How much longer it takes for a line of zeros.
const ZEROS: f64 = 2.5;
/// The part of the multiprocessors that must read so that memory gives what it can.
const READERS: f64 = 0.77;
/// Most parts.
const MOST_PARTS: u32 = 64;

/// A way to a product: which kernel, which operands are copied for it, and into how many parts k is split.
///
/// ```
/// use warpwright::gemm::Algorithm;
/// let way = Algorithm::of(gpu::gemm::plain::gemm_plain_f32.info()).split_k(4);
/// assert_eq!(way.to_string(), "gemm_plain_f32, k in 4 parts");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Algorithm {
    kernel: &'static KernelInfo,
    parts: u32,
    /// Blocks among which tiles are shared; 0: none is.
    blocks: u32,
    packed: [bool; 2],
}

impl Algorithm {
    /// By this kernel, with k undivided and A and B as they lie.
    pub fn of(kernel: &'static KernelInfo) -> Self {
        Self { kernel, parts: 1, blocks: 0, packed: [false; 2] }
    }

    /// The same with k in so many parts, whose products are added up in their order. There may be fewer: parts begin at
    /// multiples of 16, 32 or 64, as the kernel likes it.
    #[must_use]
    pub fn split_k(self, parts: u32) -> Self {
        Self { parts: parts.max(1), ..self }
    }

    /// The same by so many blocks, which share along k the tiles of C that fill no wave of them (*stream-K*), in one launch. There may be
    /// fewer: no more than there are steps along k. The bits of the result depend on their number, except where each sum is one chain of
    /// multiply-adds in order of k however many there are (`gemm_hopper_f32_tn_…`); the H200 has 132 multiprocessors.
    #[must_use]
    pub fn stream_k(self, blocks: u32) -> Self {
        Self { blocks, ..self }
    }

    /// The same with a copy of A, of B, or of both made in the workspace first, as the kernel wants them: each row at a
    /// multiple of 128 bytes, and transposed if the kernel is for another layout. For kernels that have boxes fetched. With
    /// alpha = 0 nothing is copied.
    #[must_use]
    pub fn pack(self, [a, b]: [bool; 2]) -> Self {
        Self { packed: [a, b], ..self }
    }

    /// Whether A, and B, is copied.
    pub fn packed(&self) -> [bool; 2] {
        self.packed
    }

    /// The kernel that multiplies.
    pub fn kernel(&self) -> &'static KernelInfo {
        self.kernel
    }

    /// Parts of k.
    pub fn parts(&self) -> u32 {
        self.parts
    }

    /// Blocks that share tiles; 0 where each tile is one block's.
    pub fn blocks(&self) -> u32 {
        self.blocks
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kernel.name)?;
        f.write_str(match self.packed {
            [false, false] => "",
            [true, false] => ", A packed",
            [false, true] => ", B packed",
            [true, true] => ", A and B packed",
        })?;
        if self.parts > 1 {
            write!(f, ", k in {} parts", self.parts)?;
        }
        if self.blocks > 0 {
            write!(f, ", tiles shared by {} blocks", self.blocks)?;
        }
        Ok(())
    }
}

/// A way to one product, with what it needs and costs.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub(super) algorithm: Algorithm,
    /// Which of the candidates.
    pub(super) candidate: usize,
    /// Elements along k of each part but the last.
    pub(super) part: usize,
    /// `f32` in all: partial products, and [`Packing::room`].
    pub(super) workspace: usize,
    /// How tiles are shared, if they are.
    pub(super) cut: Option<Cut>,
    pub(super) packing: Packing,
    pub(super) ending: Ending,
    pub(super) tile: [u32; 2],
    pub(super) cost: f64,
}

/// What comes after the kernel that multiplies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// Nothing: it does everything itself.
    Nothing,
    /// C is the product already; it is scaled and finished in its place.
    InPlace,
    /// Partial products, or one whole one, in the workspace are added up and finished.
    Merge,
}

impl Plan {
    /// The kernel and the split.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Rows and columns of C per block, or per cluster of blocks.
    pub fn tile(&self) -> [u32; 2] {
        self.tile
    }

    /// Elements of `f32` that it needs for partial products and copies of operands: see [`Gemm::workspace`](super::Gemm::workspace).
    pub fn workspace_len(&self) -> usize {
        self.workspace
    }

    /// Estimated time, in `f32` multiply-adds of one multiprocessor at full speed, 128 per clock: for comparisons.
    pub fn cost(&self) -> f64 {
        self.cost
    }
}

/// What decides on a plan beside the shape.
#[derive(Clone, Copy, Debug)]
pub(super) struct Demands<'d> {
    /// Which kernels there are depends on it.
    pub(super) device: &'d Device,
    pub(super) arithmetic: Arithmetic,
    /// alpha is not 1.
    pub(super) scaled: bool,
    /// There is a bias or an activation.
    pub(super) finished: bool,
    /// beta is not 0.
    pub(super) adds_to_c: bool,
    /// Bytes of an element of C.
    pub(super) element: usize,
    pub(super) sm_count: u32,
}

impl Demands<'_> {
    /// Whether C is the product, at most scaled, in the type of A and B: `width` bytes.
    fn rounds_only(&self, width: usize) -> bool {
        !self.finished && !self.adds_to_c && self.element == width
    }

    /// Whether C can be written the short way: rounded and no more, where the copy engine can write.
    pub(super) fn is_short<T: Multiply>(&self, problem: &Problem) -> bool {
        self.rounds_only(size_of::<T>()) && problem.c.takes_boxes(problem.batch, size_of::<T>())
    }

    /// What it costs that all multiprocessors together read or write so many bytes.
    pub(super) fn memory(&self, bytes: f64) -> f64 {
        bytes * BYTE / f64::from(self.sm_count.max(1))
    }

    /// What it costs at least to bring A and B to where they are multiplied: from memory once, by so many blocks of this kernel; to a
    /// multiprocessor that has `tiles` of them, or parts of tiles along k, as often as these need them.
    pub(super) fn reading<T: Multiply>(
        &self,
        problem: &Problem,
        candidate: &Candidate<T>,
        tiles: f64,
        blocks: f64,
    ) -> f64 {
        let Problem { m, n, k, batch, .. } = *problem;
        let [rows, cols] = candidate.speed.tile.map(f64::from);
        let (m, n) = (m as f64, n as f64);
        let (down, across) = ((m / rows).ceil().max(1.0), (n / cols).ceil().max(1.0));
        let bytes = |lines: f64| lines * k as f64 * size_of::<T>() as f64;
        let once = bytes(m + n) * batch as f64;
        let readers = (READERS * f64::from(self.sm_count) / blocks.max(1.0)).max(1.0);
        // Of a tile, on average.
        let each = |lines: f64, edge: f64, tiles: f64| {
            let rate = INTAKE[usize::from(batch as f64 * bytes(lines) < STAY)];
            rate * (lines / tiles + ZEROS * (edge - lines / tiles))
        };
        let lines = each(m, rows, down) + each(n, cols, across);
        // Blocks of a cluster fetch its lines together, but have little of it where B is: 41 µs for 8192, 128, 8192, where 64 x 128 alone
        // takes 38.
        let together = if n > cols { f64::from(candidate.cluster()) } else { 1.0 };
        let intake = tiles * bytes(lines) / together;
        (READ * self.memory(once) * readers).max(intake)
    }

    /// What launches and `bytes` beside the multiplication cost, with those of the copies.
    pub(super) fn aside(&self, launches: usize, bytes: f64, packing: &Packing) -> f64 {
        let launches = launches as f64 + COPY * packing.launches() as f64;
        launches * LAUNCH + self.memory(bytes + 2.0 * packing.moved() as f64)
    }
}

/// All plans for a product, the cheapest first; of equally cheap ones the one listed first. Of kernels that are as fast
/// as each other, those for other layouts, the ones that need the fewest copies.
pub(super) fn plans<T: Multiply>(problem: &Problem, demands: Demands<'_>) -> Vec<Plan> {
    let usable: Vec<_> = (0..T::CANDIDATES.len())
        .filter_map(|number| {
            let candidate = &T::CANDIDATES[number];
            serves(candidate, demands).ok()?;
            let packing = Packing::new(candidate, problem, Packing::needed(candidate, problem)).ok()?;
            Some((number, candidate.speed, packing))
        })
        .collect();
    let is_least = |speed: &'static Speed, packing: &Packing| {
        let others = usable.iter().filter(|(_, other, _)| other.share == speed.share);
        others.map(|(.., other)| other.effort(problem)).min() == Some(packing.effort(problem))
    };
    let mut plans: Vec<_> = usable
        .iter()
        .filter(|(_, speed, packing)| is_least(speed, packing))
        .flat_map(|&(candidate, _, packing)| {
            let splits = (0..=MOST_PARTS.ilog2()).map(|power| 1 << power);
            let mut of_candidate: Vec<Plan> =
                splits.filter_map(|parts| plan::<T>(problem, demands, candidate, parts, packing).ok()).collect();
            // Few steps along k make fewer parts than asked for.
            of_candidate.dedup_by_key(|plan| plan.algorithm.parts);
            if let Some(&whole) = of_candidate.first() {
                let candidate = &T::CANDIDATES[candidate];
                let clusters = share::choice(problem, candidate, demands.sm_count);
                let blocks = clusters.map(|clusters| clusters * candidate.cluster());
                of_candidate.extend(blocks.and_then(|blocks| share::plan::<T>(problem, demands, whole, blocks).ok()));
            }
            of_candidate
        })
        .collect();
    plans.sort_by(|left, right| left.cost.total_cmp(&right.cost));
    plans
}

/// The plan for a way that the caller named, or why it is none to this product.
pub(super) fn named<T: Multiply>(
    problem: &Problem,
    demands: Demands<'_>,
    algorithm: Algorithm,
) -> Result<Plan, Unsupported> {
    let candidate =
        T::CANDIDATES.iter().position(|candidate| candidate.info() == algorithm.kernel).ok_or(Unsupported::Elements)?;
    serves(&T::CANDIDATES[candidate], demands)?;
    let packing = Packing::new(&T::CANDIDATES[candidate], problem, problem.in_order(algorithm.packed))?;
    let plan = plan::<T>(problem, demands, candidate, algorithm.parts, packing)?;
    match algorithm.blocks {
        0 => Ok(plan),
        _ if plan.algorithm.parts > 1 => Err(Unsupported::Share),
        blocks => share::plan::<T>(problem, demands, plan, blocks),
    }
}

/// Whether the candidate is for such arithmetic, and for this device.
fn serves<T: Multiply>(candidate: &Candidate<T>, demands: Demands<'_>) -> Result<(), Unsupported> {
    if candidate.arithmetic != demands.arithmetic {
        return Err(Unsupported::Arithmetic);
    }
    if demands.device.has_kernel(candidate.info()) { Ok(()) } else { Err(Unsupported::Device) }
}

/// One candidate that [`serves`], with k in at most so many parts, if it computes this product.
fn plan<T: Multiply>(
    problem: &Problem,
    demands: Demands<'_>,
    number: usize,
    parts: u32,
    packing: Packing,
) -> Result<Plan, Unsupported> {
    let candidate = &T::CANDIDATES[number];
    let Problem { m, n, k, batch, c, .. } = *problem;
    let [a, b] = packing.operands;
    let part = k.div_ceil(parts as usize).next_multiple_of(candidate.speed.part).max(candidate.speed.part);
    let parts = k.div_ceil(part).max(1) as u32;
    if parts > 1 && (!T::SPLITS || batch != 1) {
        return Err(Unsupported::Split);
    }
    let elements = m.checked_mul(n).ok_or(Unsupported::Extents)?;
    // What counts C in 32 bits and has no sections of it.
    let counted = [m, n, a.ld, b.ld, c.ld].iter().all(|&extent| u32::try_from(extent).is_ok());
    if parts > 1 && !counted {
        return Err(Unsupported::Extents);
    }
    match candidate.program {
        Program::Boxed(..) | Program::Shared(..) => boxes_fit::<T>(&packing.of(problem), candidate.speed, part, parts)?,
        Program::Product(_) if parts > 1 => return Err(Unsupported::Split),
        Program::Product(_) if k == 0 => return Err(Unsupported::Nothing),
        Program::Product(_) if !counted => return Err(Unsupported::Extents),
        Program::Call(_) | Program::Product(_) => {}
    }
    let (ending, workspace, launches) = match candidate.program {
        Program::Product(_) => match (demands.adds_to_c, demands.scaled || demands.finished) {
            (true, _) => (Ending::Merge, elements, 2 * batch),
            (false, true) => (Ending::InPlace, 0, batch + 1),
            (false, false) => (Ending::Nothing, 0, batch),
        },
        _ if parts == 1 => (Ending::Nothing, 0, 1),
        // The last part may be shorter: a launch of its own.
        _ => {
            let workspace = elements.checked_mul(parts as usize).ok_or(Unsupported::Extents)?;
            (Ending::Merge, workspace, if k % part == 0 { 2 } else { 3 })
        }
    };
    let workspace = workspace.checked_add(packing.room()).ok_or(Unsupported::Extents)?;
    let cost = cost(candidate, problem, demands, (parts, part), (launches, &packing), ending);
    let algorithm =
        Algorithm { kernel: candidate.info(), parts, blocks: 0, packed: problem.in_order(packing.packed()) };
    let tile = candidate.speed.tile;
    Ok(Plan { algorithm, candidate: number, part, workspace, cut: None, packing, ending, tile, cost })
}

/// Whether the copy engine can fetch the operands, or the parts of them along k, and 32 bits count the tiles.
fn boxes_fit<T: Multiply>(problem: &Problem, speed: &Speed, part: usize, parts: u32) -> Result<(), Unsupported> {
    let Problem { m, n, k, batch, a, b, exchanged, .. } = *problem;
    if k == 0 {
        return Err(Unsupported::Nothing);
    }
    // Parts of a split are a batch along k.
    let (a, b, count) = match parts {
        1 => (a, b, batch),
        _ => (
            OperandLayout { stride: a.place(0, part), ..a },
            OperandLayout { stride: b.place(part, 0), ..b },
            parts as usize,
        ),
    };
    let names = if exchanged { ["b", "a"] } else { ["a", "b"] };
    for (operand, name) in [a, b].iter().zip(names) {
        if !operand.fits_boxes(count, size_of::<T>()) {
            return Err(Unsupported::TmaTensor(name));
        }
    }
    let [rows, cols] = speed.tile.map(|edge| edge as usize);
    let tiles = m.div_ceil(rows).checked_mul(n.div_ceil(cols)).and_then(|tiles| tiles.checked_mul(count));
    // A block goes on by the number of blocks.
    if tiles.is_none_or(|tiles| tiles > i32::MAX as usize) {
        return Err(Unsupported::Extents);
    }
    Ok(())
}

fn cost<T: Multiply>(
    candidate: &Candidate<T>,
    problem: &Problem,
    demands: Demands<'_>,
    (parts, part): (u32, usize),
    (launches, packing): (usize, &Packing),
    ending: Ending,
) -> f64 {
    let Problem { m, n, k, batch, .. } = *problem;
    let Speed { tile, lost, .. } = candidate.speed;
    let [rows, cols] = tile.map(|edge| edge as usize);
    let places = f64::from(candidate.places(demands.sm_count));
    // Products of one launch each do not share it.
    let (at_once, turns) = match candidate.program {
        Program::Product(_) => (1.0, batch as f64),
        _ => (batch as f64, 1.0),
    };
    // Blocks of a launch that multiplies so many parts, and how many the busiest multiprocessor has.
    let blocks = |parts: f64| m.div_ceil(rows) as f64 * n.div_ceil(cols) as f64 * at_once * parts;
    let most = |parts: f64| (blocks(parts) / places).ceil();
    // Elements of C of that multiprocessor, and how long each takes.
    let elements = |parts: f64| {
        if candidate.program.boxes() == Some(BoxKind::Mixed) {
            let mix = Mix::new((m.div_ceil(rows) as f64 * at_once * parts) as u32, n as u32, places as u32);
            let [wide, narrow] = mix.columns(places as u32).map(f64::from);
            let share = |blocks| candidate.share(packing.operands, blocks);
            rows as f64 * (wide / share(2.0) + narrow / share(1.0))
        } else {
            candidate.rounds(packing.operands, most(parts)) * (rows * cols) as f64
        }
    };
    let short = parts == 1 && demands.is_short::<T>(problem);
    let lost = lost[usize::from(!short)];
    // Parts as long as each other, and a shorter last one: a launch of its own, after theirs.
    let left = if parts > 1 { k % part } else { 0 };
    let even = f64::from(if left > 0 { parts - 1 } else { parts });
    let (each, left) = (part.min(k) as f64, left as f64);
    let multiplied = elements(even) * (each + lost) + if left > 0.0 { elements(1.0) * (left + lost) } else { 0.0 };
    let bytes = match ending {
        Ending::Nothing => 0,
        Ending::InPlace => 2 * demands.element,
        Ending::Merge => 8 * parts as usize,
    };
    let bytes = bytes as f64 * m as f64 * n as f64 * batch as f64;
    let tiles = turns * (most(even) * each + most(1.0) * left) / (k as f64).max(1.0);
    let reading = demands.reading(problem, candidate, tiles, blocks(even) * f64::from(candidate.cluster()));
    let merging = if ending == Ending::Merge { MERGE } else { 0.0 };
    demands.aside(launches, bytes, packing) + merging + (turns * multiplied).max(reading)
}

#[cfg(test)]
mod tests {
    use half::f16;

    use super::*;
    use crate::memory::Axes;
    use crate::ops::gemm::Op;

    fn problem([m, n, k]: [usize; 3], [a, b]: [Op; 2]) -> Problem {
        let stored = |rows, cols, op| {
            let (down, across) = if op == Op::N { (cols, 1) } else { (1, rows) };
            OperandLayout::of("x", &Axes::strided("test", &[rows, cols], &[down, across]).unwrap(), Op::N).unwrap()
        };
        Problem::new(stored(m, k, a), stored(k, n, b), stored(m, n, Op::N), None, true).unwrap()
    }

    /// C = A·B of `f32`.
    fn simple(device: &Device) -> Demands<'_> {
        Demands {
            device,
            arithmetic: Arithmetic::Full,
            scaled: false,
            finished: false,
            adds_to_c: false,
            element: 4,
            sm_count: 132,
        }
    }

    /// The cheapest plan of `f32` that needs no workspace.
    fn best(extents: [usize; 3]) -> Plan {
        *plans::<f32>(&problem(extents, [Op::N; 2]), simple(&Device::simulator()))
            .iter()
            .find(|plan| plan.workspace == 0)
            .unwrap()
    }

    #[test]
    fn large_products_take_large_tiles_and_small_ones_small_tiles() {
        for edge in [2048, 4096, 8192, 16384] {
            let [rows, cols] = best([edge; 3]).tile();
            assert_eq!(rows * cols, 128 * 256, "{edge}");
        }
        // 128 tiles each for 132 multiprocessors.
        assert_eq!(best([1024; 3]).tile(), [128, 64]);
        assert_eq!(best([512; 3]).tile(), [32, 64]);
    }

    #[test]
    fn skinny_products_take_the_kernels_that_memory_bounds() {
        for (extents, tile) in [
            ([1, 8192, 8192], [4, 64]),
            ([4, 8192, 8192], [4, 64]),
            ([8192, 1, 8192], [64, 4]),
            ([8192, 16, 8192], [64, 16]),
        ] {
            assert_eq!(best(extents).tile(), tile, "{extents:?}");
        }
    }

    /// Few tiles are shared by groups of warps, in the layout that the operands have.
    #[test]
    fn small_products_take_their_operands_as_they_lie() {
        let device = Device::simulator();
        for (ops, layout) in
            [([Op::N, Op::N], "nn"), ([Op::N, Op::T], "nt"), ([Op::T, Op::N], "tn"), ([Op::T, Op::T], "tt")]
        {
            for (edge, tile) in [(512, "32x64_k8"), (1024, "128x64_k4"), (1000, "128x64_k4")] {
                let algorithm = plans::<f32>(&problem([edge; 3], ops), simple(&device))[0].algorithm();
                assert_eq!(algorithm, Algorithm::of(algorithm.kernel()), "{edge}");
                assert_eq!(algorithm.kernel().name, format!("gemm_hopper_f32_{layout}_{tile}"), "{edge}");
            }
        }
        // Few rows of them: 104 µs on an H200 for both, where skinny products take 143.
        for m in [9, 16] {
            assert_eq!(best([m, 8192, 8192]).tile(), [32, 64], "{m}");
        }
    }

    #[test]
    fn the_model_stands_every_extent() {
        assert_eq!(best([u32::MAX as usize, 1, 1000]).tile(), [64, 4]);
        let beyond = best([usize::MAX / 8, 3, 2]).algorithm().kernel().name;
        assert!(!beyond.starts_with("gemm_f32_"), "{beyond} does not count beyond 32 bits");
        let device = Device::simulator();
        let none = Demands { sm_count: 0, ..simple(&device) };
        assert!(plans::<f32>(&problem([100; 3], [Op::N; 2]), none).iter().all(|plan| plan.cost().is_finite()));
    }

    #[test]
    fn a_small_c_of_long_sums_is_split() {
        let long = problem([64, 64, 65_536], [Op::T, Op::N]);
        let device = Device::simulator();
        let plans = plans::<f32>(&long, simple(&device));
        assert!(
            plans[0].algorithm().parts() > 1
                && plans[0].workspace_len() == 64 * 64 * plans[0].algorithm().parts() as usize
        );
        assert!(plans.is_sorted_by(|left, right| left.cost() <= right.cost()));
        assert!(plans.iter().any(|plan| plan.workspace == 0));
        let of_f64 = Algorithm::of(gpu::gemm::plain::gemm_plain_f64.info()).split_k(2);
        assert!(matches!(named::<f64>(&long, simple(&device), of_f64), Err(Unsupported::Split)));
    }

    #[test]
    fn tensor_cores_multiply_what_they_can_and_boxes_what_is_aligned() {
        let device = Device::simulator();
        let first = |problem: &Problem| {
            let demands = Demands { element: 2, ..simple(&device) };
            plans::<f16>(problem, demands).iter().find(|plan| plan.workspace == 0).unwrap().algorithm().kernel().name
        };
        for edge in [4096, 8192] {
            assert_eq!(first(&problem([edge; 3], [Op::N, Op::T])), "gemm_hopper_f16_nt_256x192", "{edge}");
            assert_eq!(first(&problem([edge - 1; 3], [Op::N, Op::T])), "gemm_f16_128x256_nt", "{edge} - 1");
        }
        let aligned = problem([4096; 3], [Op::N; 2]);
        for (number, name) in [(0, "`a`"), (1, "`b`")] {
            let mut astray = aligned;
            [&mut astray.a, &mut astray.b][number].past = 2;
            assert_eq!(first(&astray), "gemm_f16_128x256_nn");
            let hopper = Algorithm::of(gpu::hopper::gemm::gemm_hopper_f16_nn_256.info());
            let unfit = named::<f16>(&astray, simple(&device), hopper).unwrap_err().to_string();
            assert!(unfit.contains(name), "{unfit}");
        }
        let tf32 = Demands { arithmetic: Arithmetic::Tf32, ..simple(&device) };
        assert_eq!(plans::<f32>(&aligned, tf32)[0].algorithm().kernel().name, "gemm_hopper_tf32_nn_256");
        let tn = problem([16384; 3], [Op::T, Op::N]);
        let turned = plans::<f32>(&tn, tf32)[0].algorithm();
        assert_eq!(turned.packed().iter().filter(|&&packed| packed).count(), 1, "{turned}");
    }

    #[test]
    fn what_fills_no_wave_is_shared_where_it_pays() {
        let device = Device::simulator();
        let demands = Demands { element: 2, ..simple(&device) };
        let best = |extents| plans::<f16>(&problem(extents, [Op::N; 2]), demands)[0];
        for (extents, blocks) in [
            // 64 tiles of 136 x 128, two blocks for each.
            ([257, 4096, 65_536], 128),
            // Tiles of two widths fill the last wave.
            ([2048, 11008, 4096], 0),
            ([8192, 8192, 8192], 0),
            ([4096, 4096, 4096], 0),
            // 128 tiles and one round.
            ([2048, 2048, 2048], 0),
            ([512, 512, 512], 0),
        ] {
            let plan = best(extents);
            assert_eq!(
                (plan.algorithm().blocks(), plan.algorithm().parts()),
                (blocks, 1),
                "{extents:?}: {}",
                plan.algorithm()
            );
            let [rows, cols] = plan.tile().map(|edge| edge as usize);
            assert_eq!(plan.workspace_len(), if blocks == 0 { 0 } else { blocks as usize * (rows * cols + 8) + 3 });
        }
        // Named, there are no more blocks than steps; no tile is left for blocks that divide them; nothing else shares.
        let hopper = Algorithm::of(gpu::hopper::gemm::gemm_hopper_f16_nn_128.info());
        let small = problem([128, 128, 200], [Op::N; 2]);
        let of = |algorithm| named::<f16>(&small, demands, algorithm).map(|plan| plan.algorithm().blocks());
        assert_eq!((of(hopper.stream_k(9)).unwrap(), of(hopper.stream_k(1)).unwrap()), (4, 0));
        assert!(matches!(of(hopper.split_k(2).stream_k(9)), Err(Unsupported::Share)));
        assert!(matches!(
            of(Algorithm::of(gpu::gemm::plain::gemm_plain_f16.info()).stream_k(2)),
            Err(Unsupported::Share)
        ));
    }

    /// Chains of `f32` go on from block to block, two of which a multiprocessor has, where there is more than one wave of them.
    #[test]
    fn chains_are_shared_where_tiles_fill_no_wave() {
        let device = Device::simulator();
        for (extents, kernel, blocks) in [
            ([3072, 3072, 3072], "tn_128x128", 264),
            ([4096, 4096, 4096], "tn_128x128", 264),
            ([8192, 8192, 8192], "tn_128x128", 264),
            // 256 tiles, and 264 blocks at once.
            ([2048, 2048, 2048], "tn_128x128", 0),
            ([1024, 1024, 1024], "tn_128x64_k4", 0),
        ] {
            let plan = plans::<f32>(&problem(extents, [Op::T, Op::N]), simple(&device))[0];
            let name = format!("gemm_hopper_f32_{kernel}");
            assert_eq!(
                (plan.algorithm().kernel().name, plan.algorithm().blocks()),
                (name.as_str(), blocks),
                "{extents:?}: {}",
                plan.algorithm()
            );
            let [rows, cols] = plan.tile().map(|edge| edge as usize);
            assert_eq!(plan.workspace_len(), if blocks == 0 { 0 } else { blocks as usize * (rows * cols + 8) + 3 });
        }
    }

    #[test]
    fn each_shape_takes_the_tiles_that_were_fastest() {
        let device = Device::simulator();
        let demands = Demands { element: 2, ..simple(&device) };
        for (extents, tile) in [
            ([256, 256, 256], "64x64"),
            ([512, 512, 512], "64x64"),
            ([64, 4096, 4096], "64x64"),
            ([1024, 1024, 1024], "64x128"),
            // Rows of 2000 bytes: what is fetched of each lies in two lines.
            ([1000, 1000, 1000], "4x144x64"),
            ([3000, 5000, 4104], "2x128x256"),
            ([2048, 2048, 2048], "256"),
            ([4096, 4096, 4096], "256x192"),
            ([8192, 8192, 8192], "256x192"),
            ([16_384, 16_384, 16_384], "256x192"),
            ([128, 8192, 8192], "2x64x128"),
            ([8192, 128, 8192], "64x128"),
            ([8192, 8192, 128], "256x192"),
            ([4096, 4096, 64], "256"),
            ([1, 8192, 8192], "16x64"),
            ([16, 8192, 8192], "16x64"),
            ([257, 4096, 65_536], "136x128"),
        ] {
            let plan = plans::<f16>(&problem(extents, [Op::N; 2]), demands)[0];
            assert_eq!(
                plan.algorithm().kernel().name,
                format!("gemm_hopper_f16_nn_{tile}"),
                "{extents:?}: {}",
                plan.algorithm()
            );
        }
        // The small factor is turned.
        let plan = plans::<f16>(&problem([8192, 16, 8192], [Op::N; 2]), demands)[0];
        assert_eq!(
            (plan.algorithm().kernel().name, plan.algorithm().packed()),
            ("gemm_hopper_f16_nt_64x16", [false, true])
        );
    }

    /// Ways that were fastest on an H200, or within a twentieth of it: where reading bounds, where a last round is not full, where rows are
    /// not aligned.
    #[test]
    fn what_is_read_and_what_is_left_over_decides() {
        fn check<T: Multiply>(demands: Demands<'_>, extents: [usize; 3], ops: [Op; 2], name: &str, blocks: u32) {
            let algorithm = plans::<T>(&problem(extents, ops), demands)[0].algorithm();
            assert_eq!(
                (algorithm.kernel().name, algorithm.blocks(), algorithm.parts()),
                (name, blocks, 1),
                "{extents:?}: {algorithm}"
            );
        }
        let device = Device::simulator();
        let single = simple(&device);
        for (edge, name, blocks) in [
            (768, "gemm_hopper_f32_tn_64x32", 264),
            (1536, "gemm_hopper_f32_tn_64x64", 396),
            // 169 tiles of 128 x 128 for 264 blocks; in two parts 74 would be left over.
            (1664, "gemm_hopper_f32_tn_64x64", 396),
            (2304, "gemm_hopper_f32_tn_128x128", 264),
        ] {
            check::<f32>(single, [edge; 3], [Op::N; 2], name, blocks);
        }
        let half = Demands { element: 2, ..single };
        let (nn, nt) = ([Op::N; 2], [Op::N, Op::T]);
        // No zeros for rows that are not there; every multiprocessor reads.
        check::<f16>(half, [8, 14_336, 4096], nt, "gemm_hopper_f16_nt_16x64", 0);
        check::<f16>(half, [8, 4096, 4096], nt, "gemm_hopper_f16_nt_16x64", 128);
        check::<f16>(half, [64, 4096, 14_336], nt, "gemm_hopper_f16_nt_64x64", 128);
        // A copy, not one element at a time.
        let algorithm = plans::<f16>(&problem([24, 3773, 5744], nn), half)[0].algorithm();
        assert_eq!(algorithm.packed(), [false, true], "{algorithm}");
        let tf32 = Demands { arithmetic: Arithmetic::Tf32, ..single };
        check::<f32>(tf32, [8, 14_336, 4096], nn, "gemm_hopper_tf32_nn_64", 0);
    }

    /// Those that were fastest on an H200.
    #[test]
    fn small_products_of_tf32_take_narrow_tiles() {
        let device = Device::simulator();
        let demands = Demands { arithmetic: Arithmetic::Tf32, ..simple(&device) };
        for (extents, width) in [
            ([512; 3], 64),
            ([768; 3], 64),
            ([1024; 3], 64),
            ([1024, 2048, 1024], 128),
            ([2048; 3], 256),
            ([4096; 3], 256),
        ] {
            for (ops, layout) in [([Op::N, Op::N], "nn"), ([Op::N, Op::T], "nt"), ([Op::T, Op::T], "tt")] {
                let algorithm = plans::<f32>(&problem(extents, ops), demands)[0].algorithm();
                assert_eq!(
                    algorithm.kernel().name,
                    format!("gemm_hopper_tf32_{layout}_{width}"),
                    "{extents:?}: {algorithm}"
                );
            }
        }
    }

    #[test]
    fn parts_cover_k_and_are_counted() {
        let algorithm = Algorithm::of(gpu::gemm::plain::gemm_plain_f32.info());
        for (k, asked, parts, part) in
            [(100, 1, 1, 112), (100, 2, 2, 64), (100, 3, 3, 48), (100, 50, 7, 16), (16, 9, 1, 16), (0, 4, 1, 16)]
        {
            let problem = problem([9, 9, k], [Op::N; 2]);
            let plan = named::<f32>(&problem, simple(&Device::simulator()), algorithm.split_k(asked)).unwrap();
            assert_eq!((plan.algorithm().parts(), plan.part), (parts, part), "k = {k} in {asked}");
        }
    }

    #[test]
    fn kernels_of_one_layout_are_left_out_of_others() {
        let device = Device::simulator();
        let names = |ops| {
            plans::<f32>(&problem([100; 3], ops), simple(&device))
                .iter()
                .map(|plan| plan.algorithm().kernel().name)
                .collect::<Vec<_>>()
        };
        assert!(names([Op::N, Op::N]).iter().any(|name| name.starts_with("gemm_f32_")));
        for ops in [[Op::N, Op::T], [Op::T, Op::N], [Op::T, Op::T]] {
            assert!(!names(ops).iter().any(|name| name.starts_with("gemm_f32_")), "{ops:?}");
        }
    }
}
