//! The microbenchmarks of `ScoR` (Kamath, George, Basu: `ScoRD`, ISCA 2020): races that come from too narrow a scope,
//! or from a lock that is not used as one.
//!
//! Each has two to four acting threads, in two blocks or in two warps of a block. The names are the suite's: what the
//! two sides share, `blk` for block scope, `no-stf` and `no-tf` for a missing fence at the start and at the end of a
//! critical section.
//!
//! The suite takes a thread that polls a flag by relaxed atomics to be ordered behind the writer even if it executes no
//! fence afterwards. In the PTX memory model it is not: `clean_by_ptx` is false for these kernels, and each has a twin
//! with that fence.

#[cfg(not(target_arch = "nvptx64"))]
use crate::Subject;
use simt::prelude::*;
use simt::sync::fence;
#[cfg(not(target_arch = "nvptx64"))]
use simulator::Kind;
#[cfg(not(target_arch = "nvptx64"))]
use warpwright::Launch;

/// The memory of a microbenchmark.
#[derive(Clone, Copy)]
struct Memory<'a> {
    data: VecMut<'a, u32>,
    /// The flag or lock.
    flag: VecMut<'a, u32>,
    out: VecMut<'a, u32>,
    /// Whether a thread that has polled the flag executes a fence.
    acquires: bool,
}

impl Memory<'_> {
    #[inline(always)]
    #[track_caller]
    fn write(&self, value: u32) {
        self.data.set(0, value);
    }
    #[inline(always)]
    #[track_caller]
    fn read(&self) {
        self.out.set((2 * block_idx_x() + thread_idx_x() / 32) as usize, self.data.get(0));
    }
    #[inline(always)]
    #[track_caller]
    fn exchange(&self, value: u32, scope: Scope) {
        self.data.atomic(0).swap(value, Order::Relaxed, scope);
    }
    /// A fence, then the flag.
    #[inline(always)]
    #[track_caller]
    fn signal(&self, value: u32, scope: Scope) {
        fence(scope);
        self.flag.atomic(0).swap(value, Order::Relaxed, Scope::Device);
    }
    /// Polls the flag.
    #[inline(always)]
    #[track_caller]
    fn wait(&self, value: u32) {
        while self.flag.atomic(0).fetch_add(0, Order::Relaxed, Scope::Device) != value {}
        if self.acquires {
            fence(Scope::Device);
        }
    }
    /// A critical section that writes; a fence of a scope, or none, at its start and at its end.
    #[inline(always)]
    #[track_caller]
    fn locked(&self, value: u32, scope: Scope, fences: [Option<Scope>; 2], section: impl Fn(&Self, u32)) {
        while self.flag.atomic(0).compare_exchange(0, 1, Order::Relaxed, scope).is_err() {}
        fences[0].into_iter().for_each(|scope| fence(scope));
        section(self, value);
        fences[1].into_iter().for_each(|scope| fence(scope));
        self.flag.atomic(0).swap(0, Order::Relaxed, scope);
    }
}

/// Where the acting threads are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Actors {
    /// One.
    One,
    /// In two warps of one block.
    Warps,
    /// In two blocks.
    Blocks,
    /// In two warps of each of two blocks.
    Both,
}

/// What the suite and the PTX memory model say of a microbenchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// A race.
    Race,
    /// None.
    Clean,
    /// None by the suite, one by PTX: a thread polls a flag without a fence.
    CleanBySuite,
}

use Actors::{Blocks, Both, One, Warps};
use Scope::{Block, Device};

const DEVICE: [Option<Scope>; 2] = [Some(Device); 2];
const BLOCK: [Option<Scope>; 2] = [Some(Block); 2];

/// Both sides write in a critical section.
fn both_lock(m: &Memory<'_>, actor: u32, scopes: [Scope; 2], fences: [[Option<Scope>; 2]; 2]) {
    let side = actor as usize;
    m.locked(1 + actor, scopes[side], fences[side], Memory::write);
}

/// The first side writes and signals, the second one reads.
fn write_and_signal(m: &Memory<'_>, actor: u32, scope: Scope) {
    if actor == 0 {
        m.write(1);
        m.signal(1, scope);
    } else {
        m.wait(1);
        m.read();
    }
}

/// The first side does something, the second one writes plainly.
fn beside_a_write(m: &Memory<'_>, actor: u32, first: impl Fn()) {
    if actor == 0 { first() } else { m.write(2) }
}

/// The table of the microbenchmarks, and what each thread of one does: given the memory, and the thread's number among
/// those that act, block by block.
macro_rules! micros {
    ($($verdict:ident $name:literal $actors:ident |$m:ident, $a:pat_param| $body:expr;)*) => {
        #[cfg(not(target_arch = "nvptx64"))]
        const MICROS: &[(&str, Verdict)] = &[$(($name, Verdict::$verdict)),*];
        const ACTORS: &[Actors] = &[$($actors),*];

        #[inline(always)]
        #[allow(unused_assignments, reason = "after the last one")]
        fn act(number: u32, memory: &Memory<'_>, actor: u32) {
            let mut at = 0;
            $(
                if number == at {
                    let ($m, $a) = (memory, actor);
                    $body;
                    return;
                }
                at += 1;
            )*
        }
    };
}

micros! {
    Clean "interblock_atom" Blocks |m, a| m.exchange(1 + a, Device);
    CleanBySuite "interblock_fence_raw" Blocks |m, a| write_and_signal(m, a, Device);
    Clean "interblock_lock_waw" Blocks |m, a| both_lock(m, a, [Device; 2], [DEVICE; 2]);
    CleanBySuite "interwarp-block_fence-atom_hrd-indirect" Both |m, a| {
        let scope = if a % 2 == 0 { Block } else { Device };
        if a > 0 {
            m.wait(a);
        }
        m.exchange(1 + a, scope);
        if a < 3 {
            m.signal(1 + a, scope);
        }
    };
    CleanBySuite "interwarp-block_fence_hrf-indirect" Both |m, a| {
        if a > 0 {
            m.wait(a);
        }
        match a {
            0 => m.write(1),
            1 | 2 => m.write(m.data.get(0) + 2),
            _ => m.read(),
        }
        if a < 3 {
            m.signal(1 + a, if a % 2 == 0 { Block } else { Device });
        }
    };
    Clean "interwarp_blkatom" Warps |m, a| m.exchange(1 + a, Block);
    CleanBySuite "interwarp_blkfence_raw" Warps |m, a| write_and_signal(m, a, Block);
    Clean "interwarp_blklock_waw" Warps |m, a| both_lock(m, a, [Block; 2], [BLOCK; 2]);
    Clean "interwarp_dev-blkatom" Warps |m, a| m.exchange(1 + a, if a == 0 { Device } else { Block });
    Clean "interwarp_dev-blklock_waw" Warps |m, a| both_lock(m, a, [Device, Block], [DEVICE, BLOCK]);
    CleanBySuite "interwarp_fence_raw" Warps |m, a| write_and_signal(m, a, Device);
    Clean "intrawarp_none-blkatom" One |m, _| {
        m.exchange(1, Block);
        m.write(2);
    };
    Clean "intrawarp_none-blklock-no-tf_waw" One |m, _| {
        m.locked(1, Block, [Some(Block), None], Memory::write);
        m.write(2);
    };
    Clean "intrawarp_none-blklock_waw" One |m, _| {
        m.locked(1, Block, BLOCK, Memory::write);
        m.write(2);
    };
    Race "interblock_blkatom" Blocks |m, a| m.exchange(1 + a, Block);
    Race "interblock_blkfence_raw" Blocks |m, a| write_and_signal(m, a, Block);
    Race "interblock_blklock_waw" Blocks |m, a| both_lock(m, a, [Block; 2], [BLOCK; 2]);
    Race "interblock_fence_rtraw" Blocks |m, a| {
        if a == 0 {
            m.read();
            m.signal(1, Device);
            m.read();
        } else {
            m.wait(1);
            m.write(1);
        }
    };
    Race "interblock_lock-blkfence_waw" Blocks |m, a| {
        both_lock(m, a, [Device; 2], [[Some(Block), Some(Device)], DEVICE]);
    };
    Race "interblock_lock-no-stf_waw" Blocks |m, a| both_lock(m, a, [Device; 2], [[None, Some(Device)], DEVICE]);
    Race "interblock_lock-no-tf_waw" Blocks |m, a| both_lock(m, a, [Device; 2], [[Some(Device), None]; 2]);
    Race "interblock_none-atom_waw" Blocks |m, a| beside_a_write(m, a, || m.exchange(1, Device));
    Race "interblock_none-lock_rtraw" Blocks |m, a| {
        m.locked(0, Device, DEVICE, |m, _| m.read());
        if a == 0 {
            m.write(1);
        }
    };
    Race "interblock_none-lock_waw" Blocks |m, a| {
        beside_a_write(m, a, || m.locked(1, Device, DEVICE, Memory::write));
    };
    Race "interwarp_blklock-no-stf_waw" Warps |m, a| both_lock(m, a, [Block; 2], [[None, Some(Block)], BLOCK]);
    Race "interwarp_blklock-no-tf_waw" Warps |m, a| both_lock(m, a, [Block; 2], [[Some(Block), None]; 2]);
    Race "interwarp_dev-blklock-no-stf_waw" Warps |m, a| {
        both_lock(m, a, [Device, Block], [[None, Some(Device)], BLOCK]);
    };
    Race "interwarp_dev-blklock-no-tf_waw" Warps |m, a| {
        both_lock(m, a, [Device, Block], [[Some(Device), None], [Some(Block), None]]);
    };
    Race "interwarp_none-atom_waw" Warps |m, a| beside_a_write(m, a, || m.exchange(1, Device));
    Race "interwarp_none-blkatom_waw" Warps |m, a| beside_a_write(m, a, || m.exchange(1, Block));
    Race "interwarp_none-blklock_waw" Warps |m, a| {
        beside_a_write(m, a, || m.locked(1, Block, DEVICE, Memory::write));
    };
    Race "interwarp_none-lock_waw" Warps |m, a| beside_a_write(m, a, || m.locked(1, Device, DEVICE, Memory::write));
}

/// Runs microbenchmark `number`; `acquires` as in `Memory`.
#[kernel(max_threads = 64)]
fn micro(number: u32, acquires: u32, data: VecMut<u32>, flag: VecMut<u32>, out: VecMut<u32>) {
    let actors = ACTORS[number as usize];
    let (block, thread) = (block_idx_x(), thread_idx_x());
    let actor = match actors {
        One | Blocks => block,
        Warps => thread / 32,
        Both => 2 * block + thread / 32,
    };
    if thread % 32 == 0 {
        act(number, &Memory { data, flag, out, acquires: acquires != 0 }, actor);
    }
}

/// The microbenchmarks; `acquires` as in `Memory`.
#[cfg(not(target_arch = "nvptx64"))]
pub fn micros(acquires: bool) -> impl Iterator<Item = (Verdict, Subject)> {
    MICROS.iter().zip(ACTORS).enumerate().map(move |(number, (&(name, verdict), actors))| {
        let is_race = verdict == Verdict::Race || verdict == Verdict::CleanBySuite && !acquires;
        let faults: &[Kind] = if is_race { &[Kind::Race] } else { &[] };
        let (blocks, threads) = match actors {
            One => (1, 1),
            Warps => (1, 33),
            Blocks => (2, 1),
            Both => (2, 33),
        };
        let subject = Subject::new(("ScoR", name, micro.info().name), faults, move |device| {
            let (mut data, mut flag) = (device.alloc_zeros(1)?, device.alloc_zeros(1)?);
            let mut out = device.alloc_zeros(4)?;
            let args = (number as u32, u32::from(acquires), &mut data, &mut flag, &mut out);
            device.launch(&micro, Launch::grid(blocks).block(threads), args)?;
            device.synchronize()?;
            Ok(true)
        });
        (verdict, subject)
    })
}
