//! Runs litmus tests: a kernel interprets them.

use super::program::{Op, Operand, Program, REGISTERS, Update};
use crate::verdicts::schedules;
use simt::prelude::*;
use simt::sync::{fence, named_barrier, named_barrier_arrive};
use simt::thread::nanosleep;
use simulator::Kind;
use std::sync::{Arc, Mutex, PoisonError};
use warpwright_tests::sim::{Buffer, Grid, launch};

/// The programs of the launches, by number.
static PROGRAMS: Mutex<Vec<Arc<Program>>> = Mutex::new(Vec::new());

/// Interprets a program, in warps of one lane. Before an instruction a thread pauses or not, as `pauses` has it, so
/// that the schedules differ by more than the order of the threads.
#[kernel(max_threads = 1024)]
fn litmus(number: u32, pauses: u32, memory: VecMut<u32>, results: VecMut<u32>) {
    let program = Arc::clone(&PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner)[number as usize]);
    let place = [block_idx_x(), thread_idx_x()];
    let Some(at) = program.threads.iter().position(|thread| thread.place == place) else { return };
    let mut registers = program.threads[at].first_values();
    let body = &program.threads[at].body;
    let find = |label: &str| {
        let is_it = |op: &Op| matches!(op, Op::Label(known) if known == label);
        body.iter().position(is_it).expect("a label")
    };
    let mut next = 0;
    let mut pauses = pauses.wrapping_mul(2 * at as u32 + 1);
    while let Some(op) = body.get(next) {
        next += 1;
        if pauses >> 31 != 0 {
            nanosleep(0);
        }
        pauses = pauses.wrapping_mul(0x0019_660D).wrapping_add(0x3C6E_F35F);
        let get = |operand: &Operand| match *operand {
            Operand::Number(number) => number,
            Operand::Register(register) => registers[register],
        };
        match op {
            Op::Load { to, at, how: None } => registers[*to] = memory.get(*at),
            Op::Load { to, at, how: Some((order, scope)) } => registers[*to] = memory.atomic(*at).load(*order, *scope),
            Op::Store { at, value, how: None } => memory.set(*at, get(value)),
            Op::Store { at, value, how: Some((order, scope)) } => memory.atomic(*at).store(get(value), *order, *scope),
            Op::Atomic { to, at, update, values, how: (order, scope) } => {
                let (cell, value) = (memory.atomic(*at), get(&values[0]));
                let old = match update {
                    Update::Add => cell.fetch_add(value, *order, *scope),
                    Update::Sub => cell.fetch_add(value.wrapping_neg(), *order, *scope),
                    Update::Exchange => cell.swap(value, *order, *scope),
                    Update::CompareExchange => {
                        cell.compare_exchange(value, get(&values[1]), *order, *scope).unwrap_or_else(|old| old)
                    }
                };
                if let Some(to) = to {
                    registers[*to] = old;
                }
            }
            Op::Add { to, values: [a, b] } => registers[*to] = get(a).wrapping_add(get(b)),
            Op::Fence(scope) => fence(*scope),
            Op::Barrier { id, threads, wait: true } => named_barrier(*id, *threads),
            Op::Barrier { id, threads, wait: false } => named_barrier_arrive(*id, *threads),
            Op::NamedBarrier { .. } => unreachable!("parsing has numbered the barriers"),
            Op::Branch { equal, values: [a, b], label } => {
                if (get(a) == get(b)) == *equal {
                    next = find(label);
                }
            }
            Op::Goto(label) => next = find(label),
            Op::Label(_) => {}
        }
    }
    for (i, value) in registers.into_iter().enumerate() {
        results.set(at * REGISTERS + i, value);
    }
}

/// What was seen of a test in all schedules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    /// How often the condition was true, and false, at the end.
    pub(super) holds: usize,
    pub(super) fails: usize,
    /// How often the launch hung: threads spin, or wait at barriers.
    pub(super) hangs: usize,
    /// How often the filter excluded the execution.
    pub(super) excluded: usize,
    /// How often a race was reported in another execution.
    pub(super) races: usize,
}

/// Runs a program in the schedules of so many seeds.
pub(super) fn run_all(program: Program, seeds: u64) -> Result<Seen, String> {
    let program = Arc::new(program);
    let number = {
        let mut programs = PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner);
        programs.push(Arc::clone(&program));
        programs.len() as u32 - 1
    };
    let most = |at: usize| program.threads.iter().map(|thread| thread.place[at] + 1).max().unwrap_or(1);
    let grid = Grid::line(most(0), most(1));
    let mut seen = Seen::default();
    for config in schedules(seeds) {
        let mut config = config.warp_size(1);
        config.hang_turns = 2000;
        let (mut memory, mut results) =
            (Buffer::new(&program.locations.values), Buffer::zeroed(program.threads.len() * REGISTERS));
        let pauses = (config.seed as u32).wrapping_mul(0x9E37_79B9);
        let args = (number, pauses, &mut memory, &mut results);
        let outcome = launch(&config, litmus, grid, args).expect("a valid launch");
        let has = |kinds: &[Kind]| outcome.reports.iter().any(|report| kinds.contains(&report.kind));
        if has(&[Kind::Hang, Kind::AbandonedBarrier, Kind::DivergentBarrier]) {
            seen.hangs += 1;
        } else {
            match program.holds(&memory.to_vec(), &results.to_vec())? {
                Some(true) => seen.holds += 1,
                Some(false) => seen.fails += 1,
                None => {
                    seen.excluded += 1;
                    continue;
                }
            }
        }
        seen.races += usize::from(has(&[Kind::Race]));
    }
    Ok(seen)
}
