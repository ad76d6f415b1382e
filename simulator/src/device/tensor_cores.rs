//! Tensor cores: matrices of a warp, and products by a warpgroup.

use crate::block::{Block, Op, Operand, Product, Shape, TensorOp};
use crate::lane::current;
use crate::mutation;
use crate::overflow::enter;
use crate::report::Kind;
pub use crate::tensor::TensorKind;
use crate::tensor::{DoubleFragments, Fragments};
use std::panic::Location;

const ALL: u32 = u32::MAX;

/// Executes `op` with this lane's registers: [`DoubleFragments`] for [`TensorOp::MultiplyDoubles`], else [`Fragments`].
#[inline(always)]
fn together<F>(op: TensorOp, fragments: &mut F, location: &'static Location<'static>) {
    let lane = current();
    let address = std::ptr::from_mut(fragments).expose_provenance() as u64;
    let (block, op) = (Block::of(&lane), Op::Tensor(op));
    block.warp_ops(&lane).run(&block.state, &lane, (op, ALL), (address, 0), location);
}

const NOTHING: Fragments = Fragments { row: std::ptr::null_mut(), a: [0; 4], b: [0; 2], c: [0.0; 4] };

/// `mma.sync` of 16 × 8 × 32 bytes: A · B + C.
#[inline(always)]
#[must_use]
#[track_caller]
pub fn matrix_multiply(kind: TensorKind, a: [u32; 4], b: [u32; 2], c: [f32; 4]) -> [f32; 4] {
    let mut fragments = Fragments { a, b, c, ..NOTHING };
    together(TensorOp::Multiply(kind), &mut fragments, Location::caller());
    fragments.c
}

/// `mma.sync` of `f64`, 16 × 16 by 16 × 8: A · B + C.
#[inline(always)]
#[must_use]
#[track_caller]
pub fn matrix_multiply_f64(a: [f64; 8], b: [f64; 4], c: [f64; 4]) -> [f64; 4] {
    let mut fragments = DoubleFragments { a, b, c };
    together(TensorOp::MultiplyDoubles, &mut fragments, Location::caller());
    fragments.c
}

/// `ldmatrix` of `count` matrices; `row` is null for a row outside its container.
///
/// # Safety
/// `row` is null, or the start of 16 bytes of the block's shared memory.
#[inline(always)]
#[must_use]
#[track_caller]
pub unsafe fn matrix_load(row: *const u8, count: usize, transpose: bool) -> [u32; 4] {
    let mut fragments = Fragments { row: row.cast_mut(), ..NOTHING };
    together(TensorOp::Load { count, transpose }, &mut fragments, Location::caller());
    fragments.a
}

/// `stmatrix` of `count` matrices; `row` is null for a row outside its container.
///
/// # Safety
/// As for [`matrix_load`].
#[inline(always)]
#[track_caller]
pub unsafe fn matrix_store(row: *mut u8, a: [u32; 4], count: usize, transpose: bool) {
    let mut fragments = Fragments { row, a, ..NOTHING };
    together(TensorOp::Store { count, transpose }, &mut fragments, Location::caller());
}

/// The byte of shared memory at which an operand of a warpgroup's product starts. Reports what a descriptor cannot
/// encode.
#[track_caller]
pub fn operand_start(tile: *const u8, leading: u32, stride: u32) -> u32 {
    let lane = enter();
    let start = tile.addr().saturating_sub(lane.geometry().shared.addr()) as u32;
    for (name, bytes) in [("start", start), ("leading", leading), ("stride", stride)] {
        if !bytes.is_multiple_of(16) || bytes >= 1 << 18 {
            Block::of(&lane).state.threads.fault(&lane, Kind::WrongOperand, Location::caller(), None, || {
                format!("a descriptor's {name} is a multiple of 16 bytes below {}, not {bytes}", 1 << 18)
            });
        }
    }
    start
}

/// A matrix in shared memory: a PTX descriptor whose start address is relative to the block's shared memory.
#[derive(Clone, Copy, Debug)]
pub struct TensorOperand {
    /// The descriptor.
    pub descriptor: u64,
    /// Bytes by which it advances from one instruction of a group to the next.
    pub step: u32,
    /// MN-major: the numbers along m or n are contiguous.
    pub mn_major: bool,
}

impl TensorOperand {
    fn inner(self) -> Operand {
        let Self { descriptor, step, mn_major } = self;
        Operand { descriptor, step, mn_major }
    }
}

/// A group of `wgmma.mma_async`.
#[derive(Clone, Copy, Debug)]
pub struct WarpgroupProduct<'a> {
    /// What is multiplied.
    pub kind: TensorKind,
    /// Instructions in the group.
    pub steps: usize,
    /// A in shared memory; none if it is in registers.
    pub a: Option<TensorOperand>,
    /// A's registers for each step; empty if it is in shared memory.
    pub registers: &'a [[u32; 4]],
    /// B in shared memory.
    pub b: TensorOperand,
    /// The first product overwrites D.
    pub fresh: bool,
}

/// Starts a group of products, whose D is 64 × 2 · `d.len()`. `ticket` is 0 where D is complete, and becomes the number
/// of the group.
#[inline(always)]
#[track_caller]
pub fn warpgroup_multiply(product: &WarpgroupProduct<'_>, d: &mut [f32], ticket: &mut u64) {
    let WarpgroupProduct { kind, steps, a, registers, b, fresh } = *product;
    let shape = Shape { kind, steps, cols: 2 * d.len(), a: a.map(TensorOperand::inner), b: b.inner(), fresh };
    let lane = enter();
    if !registers.is_empty() && lane.watched() {
        // It does not begin before they are there.
        lane.extension().products_of_registers.push(lane.clock());
    }
    let (block, product) = (Block::of(&lane), Product { a: registers, d, ticket });
    block.warpgroup(&lane).start(&block.state, &lane, shape, product, Location::caller());
}

/// `wgmma.wait_group`. If D's group is among those that are then complete, D becomes valid and `ticket` 0.
#[track_caller]
pub fn warpgroup_wait(pending: u32, d: &mut [f32], ticket: &mut u64) {
    let lane = enter();
    let (block, pending) = (Block::of(&lane), mutation::pending(Location::caller(), pending));
    block.warpgroup(&lane).wait(&block.state, &lane, u64::from(pending), d, ticket);
}

/// Reports a use of D while group `ticket` is under way.
#[cold]
#[track_caller]
pub fn warpgroup_unsettled(ticket: u64) {
    let lane = enter();
    let block = Block::of(&lane);
    block.warpgroup(&lane).report_unsettled(&block.state, &lane, ticket, Location::caller());
}
