//! Stream-K fix-up of sequential accumulation: the block that has a tile's last steps continues with the accumulators
//! of the block that has the first ones, as if one block had done it all.
//!
//! It is the block of the next index. A block stores its partials first of all and loads another's last of all
//! ([`stream_k`](crate::gemm::sm90::schedule::stream_k)), so it waits only where a whole tile takes less time than the
//! start of a launch.
//!
//! ```text
//!  partials │ block 0: 4 accumulators of thread 0 │ 4 of thread 1 │ … │ 4 more of thread 0 │ … │ block 1: …
//!  flags    │ block 0: epoch once they are there │ block 1: …
//! ```
//!
//! The four are in the order in which `store` stages them, so that they stay in their registers.

use simt::element::{Vec4, Vector};
use simt::opaque;
use simt::prelude::*;

use super::config::Config;
use super::store::PERMUTED;
use crate::gemm::args::StreamKArgs;
use crate::unroll::{each, unroll};

/// The partials of block `block`, by fours, and their flag.
#[cfg_attr(optimised, inline(always))]
fn slot<'a, C: Config>(args: &StreamKArgs<'a>, block: u32) -> Option<(VecMut<'a, Vector<f32, 4>>, VecMut<'a, u64>)> {
    let [m, n] = C::CONFIG.tile;
    let (vectors, number) = ((m * n / 4) as usize, block as usize);
    let partials = args.partials.vectors_mut::<4>().part_mut(number * vectors, vectors)?;
    Some((partials, args.flags.part_mut(number, 1)?))
}

/// Stores the block's partials for the next one.
#[cfg_attr(optimised, inline(always))]
pub(super) fn store_partials<C: Config, const MQ: usize, const NQ: usize>(
    args: &StreamKArgs<'_>,
    accumulators: &[[[[f32; 4]; NQ]; 4]; MQ],
) {
    let t = opaque(thread_idx_x()) % C::CONFIG.threads;
    let Some((slot, flag)) = slot::<C>(args, block_idx_x()) else { return };
    unroll!(for quad in 0..4 {
        if quad < MQ {
            unroll!(for i in 0..4 {
                unroll!(for j in 0..4 {
                    if j < NQ {
                        let four = ((quad * 4 + i) * NQ + j) * C::CONFIG.threads as usize;
                        slot.set(four + t as usize, Vec4::new(each!(PERMUTED, |of| accumulators[quad][i][j][of])));
                    }
                });
            });
        }
    });
    sync_threads();
    if t == 0 {
        args.set_flag(flag);
    }
}

/// Loads the partials of the block before.
#[cfg_attr(optimised, inline(always))]
pub(super) fn load_partials<C: Config, const MQ: usize, const NQ: usize>(
    args: &StreamKArgs<'_>,
    accumulators: &mut [[[[f32; 4]; NQ]; 4]; MQ],
) {
    let t = opaque(thread_idx_x()) % C::CONFIG.threads;
    let before = block_idx_x().saturating_sub(1);
    let Some((slot, flag)) = slot::<C>(args, before) else { return };
    if t == 0 {
        args.wait_for_flag(flag);
    }
    sync_threads();
    unroll!(for quad in 0..4 {
        if quad < MQ {
            unroll!(for i in 0..4 {
                unroll!(for j in 0..4 {
                    if j < NQ {
                        let four = ((quad * 4 + i) * NQ + j) * C::CONFIG.threads as usize;
                        let lanes = slot.get(four + t as usize).lanes;
                        accumulators[quad][i][j] = each!(PERMUTED, |of| lanes[of]);
                    }
                });
            });
        }
    });
}
