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

use crate::verdicts::{Found, Verdicts, schedules};
use simt::prelude::*;
use simt::sync::fence;
use simulator::Kind;
use warpwright_tests::sim::{Buffer, Grid, launch};

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

/// What a thread does: the memory, and the thread's number among those that act, block by block.
type Body = fn(&Memory<'_>, u32);

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

struct Micro {
    name: &'static str,
    actors: Actors,
    is_race: bool,
    /// Whether the PTX memory model agrees that there is no race.
    clean_by_ptx: bool,
    body: Body,
}

const fn race(name: &'static str, actors: Actors, body: Body) -> Micro {
    Micro { name, actors, is_race: true, clean_by_ptx: false, body }
}

const fn clean(name: &'static str, actors: Actors, body: Body) -> Micro {
    Micro { name, actors, is_race: false, clean_by_ptx: true, body }
}

/// Polls a flag without a fence.
const fn clean_by_suite(name: &'static str, actors: Actors, body: Body) -> Micro {
    Micro { name, actors, is_race: false, clean_by_ptx: false, body }
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

const MICROS: &[Micro] = &[
    clean("interblock_atom", Blocks, |m, a| m.exchange(1 + a, Device)),
    clean_by_suite("interblock_fence_raw", Blocks, |m, a| write_and_signal(m, a, Device)),
    clean("interblock_lock_waw", Blocks, |m, a| both_lock(m, a, [Device; 2], [DEVICE; 2])),
    clean_by_suite("interwarp-block_fence-atom_hrd-indirect", Both, |m, a| {
        let scope = if a % 2 == 0 { Block } else { Device };
        if a > 0 {
            m.wait(a);
        }
        m.exchange(1 + a, scope);
        if a < 3 {
            m.signal(1 + a, scope);
        }
    }),
    clean_by_suite("interwarp-block_fence_hrf-indirect", Both, |m, a| {
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
    }),
    clean("interwarp_blkatom", Warps, |m, a| m.exchange(1 + a, Block)),
    clean_by_suite("interwarp_blkfence_raw", Warps, |m, a| write_and_signal(m, a, Block)),
    clean("interwarp_blklock_waw", Warps, |m, a| both_lock(m, a, [Block; 2], [BLOCK; 2])),
    clean("interwarp_dev-blkatom", Warps, |m, a| m.exchange(1 + a, if a == 0 { Device } else { Block })),
    clean("interwarp_dev-blklock_waw", Warps, |m, a| both_lock(m, a, [Device, Block], [DEVICE, BLOCK])),
    clean_by_suite("interwarp_fence_raw", Warps, |m, a| write_and_signal(m, a, Device)),
    clean("intrawarp_none-blkatom", One, |m, _| {
        m.exchange(1, Block);
        m.write(2);
    }),
    clean("intrawarp_none-blklock-no-tf_waw", One, |m, _| {
        m.locked(1, Block, [Some(Block), None], Memory::write);
        m.write(2);
    }),
    clean("intrawarp_none-blklock_waw", One, |m, _| {
        m.locked(1, Block, BLOCK, Memory::write);
        m.write(2);
    }),
    race("interblock_blkatom", Blocks, |m, a| m.exchange(1 + a, Block)),
    race("interblock_blkfence_raw", Blocks, |m, a| write_and_signal(m, a, Block)),
    race("interblock_blklock_waw", Blocks, |m, a| both_lock(m, a, [Block; 2], [BLOCK; 2])),
    race("interblock_fence_rtraw", Blocks, |m, a| {
        if a == 0 {
            m.read();
            m.signal(1, Device);
            m.read();
        } else {
            m.wait(1);
            m.write(1);
        }
    }),
    race("interblock_lock-blkfence_waw", Blocks, |m, a| {
        both_lock(m, a, [Device; 2], [[Some(Block), Some(Device)], DEVICE]);
    }),
    race("interblock_lock-no-stf_waw", Blocks, |m, a| both_lock(m, a, [Device; 2], [[None, Some(Device)], DEVICE])),
    race("interblock_lock-no-tf_waw", Blocks, |m, a| both_lock(m, a, [Device; 2], [[Some(Device), None]; 2])),
    race("interblock_none-atom_waw", Blocks, |m, a| beside_a_write(m, a, || m.exchange(1, Device))),
    race("interblock_none-lock_rtraw", Blocks, |m, a| {
        m.locked(0, Device, DEVICE, |m, _| m.read());
        if a == 0 {
            m.write(1);
        }
    }),
    race("interblock_none-lock_waw", Blocks, |m, a| {
        beside_a_write(m, a, || m.locked(1, Device, DEVICE, Memory::write));
    }),
    race("interwarp_blklock-no-stf_waw", Warps, |m, a| both_lock(m, a, [Block; 2], [[None, Some(Block)], BLOCK])),
    race("interwarp_blklock-no-tf_waw", Warps, |m, a| both_lock(m, a, [Block; 2], [[Some(Block), None]; 2])),
    race("interwarp_dev-blklock-no-stf_waw", Warps, |m, a| {
        both_lock(m, a, [Device, Block], [[None, Some(Device)], BLOCK]);
    }),
    race("interwarp_dev-blklock-no-tf_waw", Warps, |m, a| {
        both_lock(m, a, [Device, Block], [[Some(Device), None], [Some(Block), None]]);
    }),
    race("interwarp_none-atom_waw", Warps, |m, a| beside_a_write(m, a, || m.exchange(1, Device))),
    race("interwarp_none-blkatom_waw", Warps, |m, a| beside_a_write(m, a, || m.exchange(1, Block))),
    race("interwarp_none-blklock_waw", Warps, |m, a| {
        beside_a_write(m, a, || m.locked(1, Block, DEVICE, Memory::write));
    }),
    race("interwarp_none-lock_waw", Warps, |m, a| beside_a_write(m, a, || m.locked(1, Device, DEVICE, Memory::write))),
];

/// Runs microbenchmark `number`; `acquires` as in [`Memory`].
#[kernel(max_threads = 64)]
fn micro(number: u32, acquires: u32, data: VecMut<u32>, flag: VecMut<u32>, out: VecMut<u32>) {
    let Micro { actors, body, .. } = MICROS[number as usize];
    let (block, thread) = (block_idx_x(), thread_idx_x());
    let actor = match actors {
        One | Blocks => block,
        Warps => thread / 32,
        Both => 2 * block + thread / 32,
    };
    if thread % 32 == 0 {
        body(&Memory { data, flag, out, acquires: acquires != 0 }, actor);
    }
}

/// The verdicts on the kernels for which `of` gives whether they have a race.
fn verdicts(seeds: u64, acquires: bool, of: impl Fn(&Micro) -> Option<bool>) -> Verdicts {
    let mut verdicts = Verdicts::default();
    for (number, it) in MICROS.iter().enumerate() {
        let Some(is_race) = of(it) else { continue };
        let grid = match it.actors {
            One => Grid::line(1, 1),
            Warps => Grid::line(1, 33),
            Blocks => Grid::line(2, 1),
            Both => Grid::line(2, 33),
        };
        let outcomes: Vec<_> = schedules(seeds)
            .iter()
            .map(|config| {
                let (mut data, mut flag, mut out) = (Buffer::zeroed(1), Buffer::zeroed(1), Buffer::zeroed(4));
                let args = (number as u32, u32::from(acquires), &mut data, &mut flag, &mut out);
                launch(config, micro, grid, args).expect("a valid launch")
            })
            .collect();
        verdicts.note(it.name, if is_race { &[("race", Kind::Race)] } else { &[] }, &outcomes);
    }
    verdicts
}

#[test]
fn scor() {
    let verdicts = verdicts(50, false, |it| Some(it.is_race).filter(|_| it.is_race || it.clean_by_ptx));
    verdicts.print("ScoR");
    let [always, sometimes] = [Found::Always, Found::Sometimes].map(|found| verdicts.count("race", found));
    assert_eq!((always + sometimes, verdicts.clean(), verdicts.false_alarms()), (18, 9, Vec::new()));
    // A critical section whose fence is missing at its start alone races only if it is not the first one; a write
    // behind a critical section only if it comes before that of the other block.
    assert_eq!((always, sometimes), (13, 5));
}

#[test]
fn scor_flags_that_are_polled_without_a_fence() {
    let without = verdicts(50, false, |it| (!it.is_race && !it.clean_by_ptx).then_some(true));
    without.print("ScoR, flags polled without a fence");
    let with = verdicts(50, true, |it| (!it.is_race && !it.clean_by_ptx).then_some(false));
    with.print("ScoR, flags polled with a fence");
    assert_eq!((with.clean(), with.false_alarms()), (5, Vec::new()));
    assert_eq!(without.count("race", Found::Always), 5);
}
