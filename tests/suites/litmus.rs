//! Litmus tests of the PTX memory model: a few of its best-known ones, and those of *`Dat3M`* (`litmus/PTX`, MIT
//! licence) if `WARPWRIGHT_DAT3M` names a checkout.
//!
//! A test is translated by [`Program::parse`] and interpreted by the kernel [`litmus`]. What the model forbids must
//! never be seen, and what ends under a fair scheduler must end. The simulator need not show all that the model allows:
//! it carries out accesses one after the other.
//!
//! Left out: tests with barriers, with aliases of an address (proxies), on several GPUs.

use crate::verdicts::schedules;
use simt::prelude::*;
use simt::sync::fence;
use simulator::Kind;
use std::fmt::Write;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use warpwright_tests::sim::{Buffer, Grid, launch};

/// Most registers of a thread.
const REGISTERS: usize = 16;

/// A number, or a register.
#[derive(Clone, Copy, Debug)]
enum Operand {
    Number(u32),
    Register(usize),
}

/// What a read-modify-write operation makes of the old value.
#[derive(Clone, Copy, Debug)]
enum Update {
    Add,
    Sub,
    Exchange,
    CompareExchange,
}

#[derive(Clone, Debug)]
enum Op {
    Load { to: usize, at: usize, how: Option<(Order, Scope)> },
    Store { at: usize, value: Operand, how: Option<(Order, Scope)> },
    Atomic { to: Option<usize>, at: usize, update: Update, values: Vec<Operand>, how: (Order, Scope) },
    Add { to: usize, values: [Operand; 2] },
    Fence(Scope),
    Branch { equal: bool, values: [Operand; 2], label: String },
    Goto(String),
    Label(String),
}

struct Thread {
    /// Its block, and its number in the block.
    place: [u32; 2],
    registers: Vec<String>,
    body: Vec<Op>,
}

/// How the condition is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quantifier {
    Exists,
    NotExists,
    ForAll,
}

struct Program {
    locations: Vec<(String, u32)>,
    threads: Vec<Thread>,
    quantifier: Quantifier,
    condition: String,
}

fn scope_of(word: &str) -> Result<Scope, String> {
    Ok(match word {
        "cta" => Scope::Block,
        "gpu" => Scope::Device,
        "sys" => Scope::System,
        _ => return Err(format!("scope {word}")),
    })
}

/// The order and scope in an instruction's name; none if it is weak.
fn how(words: &[&str]) -> Result<Option<(Order, Scope)>, String> {
    let order = match *words.first().unwrap_or(&"weak") {
        "weak" => return Ok(None),
        "relaxed" => Order::Relaxed,
        "acquire" => Order::Acquire,
        "release" => Order::Release,
        "acq_rel" => Order::AcqRel,
        word => return Err(format!("order {word}")),
    };
    Ok(Some((order, scope_of(words.get(1).unwrap_or(&""))?)))
}

impl Thread {
    fn register(&mut self, name: &str) -> Result<usize, String> {
        let known = self.registers.iter().position(|known| known == name);
        let at = known.unwrap_or_else(|| {
            self.registers.push(name.to_owned());
            self.registers.len() - 1
        });
        if at < REGISTERS { Ok(at) } else { Err("too many registers".to_owned()) }
    }

    fn operand(&mut self, text: &str) -> Result<Operand, String> {
        match text.parse() {
            Ok(number) => Ok(Operand::Number(number)),
            Err(_) if text.starts_with('r') => Ok(Operand::Register(self.register(text)?)),
            Err(_) => Err(format!("operand {text}")),
        }
    }

    /// Adds the instruction of a line.
    fn push(&mut self, line: &str, locations: &mut Vec<(String, u32)>) -> Result<(), String> {
        let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let args: Vec<&str> = rest.split(',').map(str::trim).filter(|arg| !arg.is_empty()).collect();
        let words: Vec<&str> = name.split('.').collect();
        let arg = |at: usize| args.get(at).copied().ok_or_else(|| format!("instruction {line}"));
        let mut location = |name: &str| {
            let known = locations.iter().position(|(known, _)| known == name);
            known.unwrap_or_else(|| {
                locations.push((name.to_owned(), 0));
                locations.len() - 1
            })
        };
        let op = match words[0] {
            _ if name.ends_with(':') => Op::Label(name.trim_end_matches(':').to_owned()),
            "ld" if words.len() == 1 || arg(1)?.parse::<u32>().is_ok() => {
                Op::Add { to: self.register(arg(0)?)?, values: [self.operand(arg(1)?)?, Operand::Number(0)] }
            }
            "ld" => Op::Load { to: self.register(arg(0)?)?, at: location(arg(1)?), how: how(&words[1..])? },
            "st" => Op::Store { at: location(arg(0)?), value: self.operand(arg(1)?)?, how: how(&words[1..])? },
            "add" => Op::Add { to: self.register(arg(0)?)?, values: [self.operand(arg(1)?)?, self.operand(arg(2)?)?] },
            "fence" => Op::Fence(scope_of(words.get(2).unwrap_or(&""))?),
            "bne" | "beq" => Op::Branch {
                equal: words[0] == "beq",
                values: [self.operand(arg(0)?)?, self.operand(arg(1)?)?],
                label: arg(2)?.to_owned(),
            },
            "goto" => Op::Goto(arg(0)?.to_owned()),
            "atom" | "red" => {
                let update = match *words.last().unwrap_or(&"") {
                    "add" => Update::Add,
                    "sub" => Update::Sub,
                    "exch" => Update::Exchange,
                    "cas" => Update::CompareExchange,
                    word => return Err(format!("update {word}")),
                };
                let returns = words[0] == "atom";
                let values =
                    args[1 + usize::from(returns)..].iter().map(|arg| self.operand(arg)).collect::<Result<_, _>>()?;
                Op::Atomic {
                    to: if returns { Some(self.register(arg(0)?)?) } else { None },
                    at: location(arg(usize::from(returns))?),
                    update,
                    values,
                    how: how(&words[1..])?.ok_or_else(|| format!("instruction {line}"))?,
                }
            }
            word => return Err(format!("instruction {word}")),
        };
        self.body.push(op);
        Ok(())
    }
}

impl Program {
    /// Translates a test; the error names what cannot be translated.
    fn parse(text: &str) -> Result<Self, String> {
        let (head, rest) = text.split_once('{').ok_or("no initial values")?;
        let (initial, rest) = rest.split_once('}').ok_or("no initial values")?;
        let _ = head;
        let mut locations = Vec::new();
        for item in initial.split([';', '\n']).map(str::trim).filter(|item| !item.is_empty() && !item.contains(':')) {
            let (name, value) = item.split_once('=').ok_or_else(|| format!("initial value {item}"))?;
            locations
                .push((name.trim().to_owned(), value.trim().parse().map_err(|_| format!("initial value {item}"))?));
        }
        let words =
            [("~exists", Quantifier::NotExists), ("exists", Quantifier::Exists), ("forall", Quantifier::ForAll)];
        let found = words.into_iter().find_map(|(word, quantifier)| rest.split_once(word).map(|it| (it, quantifier)));
        let ((body, condition), quantifier) = found.ok_or("no condition")?;
        let mut rows = body.lines().map(str::trim).filter(|row| !row.is_empty());
        let columns = |row: &str| -> Vec<String> {
            row.trim_end_matches(';')
                .split('|')
                .map(|cell| cell.trim().trim_end_matches(';').trim().to_owned())
                .collect()
        };
        let mut threads: Vec<Thread> = Vec::new();
        for cell in columns(rows.next().ok_or("no threads")?) {
            let (_, place) = cell.split_once('@').ok_or_else(|| format!("thread {cell}"))?;
            let (cta, gpu) = place.split_once(',').ok_or_else(|| format!("thread {cell}"))?;
            if gpu.trim() != "gpu 0" {
                return Err("several GPUs".to_owned());
            }
            let block = cta.trim().trim_start_matches("cta").trim().parse().map_err(|_| format!("thread {cell}"))?;
            let number = threads.iter().filter(|thread| thread.place[0] == block).count() as u32;
            threads.push(Thread { place: [block, number], registers: Vec::new(), body: Vec::new() });
        }
        for row in rows {
            for (thread, cell) in threads.iter_mut().zip(columns(row)) {
                if !cell.is_empty() {
                    thread.push(&cell, &mut locations)?;
                }
            }
        }
        let condition = condition.split("/*").next().unwrap_or_default().trim().to_owned();
        Ok(Self { locations, threads, quantifier, condition })
    }

    /// Whether the condition holds for these values of memory and registers.
    fn holds(&self, memory: &[u32], registers: &[u32]) -> Result<bool, String> {
        let value = |name: &str| -> Result<u32, String> {
            let name = name.trim();
            if let Ok(number) = name.parse() {
                return Ok(number);
            }
            if let Some((thread, register)) = name.split_once(':') {
                let thread: usize =
                    thread.trim().trim_start_matches('P').parse().map_err(|_| format!("value {name}"))?;
                let known = &self.threads.get(thread).ok_or_else(|| format!("value {name}"))?.registers;
                let at = known.iter().position(|known| known == register.trim());
                return Ok(at.map_or(0, |at| registers[thread * REGISTERS + at]));
            }
            let at = self.locations.iter().position(|(known, _)| known == name);
            at.map(|at| memory[at]).ok_or_else(|| format!("value {name}"))
        };
        let mut text = &*self.condition;
        let holds = any(&mut text, &value)?;
        if text.trim().is_empty() { Ok(holds) } else { Err(format!("condition {}", self.condition)) }
    }
}

type Value<'a> = &'a dyn Fn(&str) -> Result<u32, String>;

/// Takes a word off the front of the text, if it is there.
fn take(text: &mut &str, word: &str) -> bool {
    let rest = text.trim_start().strip_prefix(word);
    rest.is_some_and(|rest| {
        *text = rest;
        true
    })
}

/// Terms of which one must hold.
fn any(text: &mut &str, value: Value) -> Result<bool, String> {
    let mut holds = all(text, value)?;
    while take(text, "\\/") {
        holds |= all(text, value)?;
    }
    Ok(holds)
}

/// Terms that must all hold.
fn all(text: &mut &str, value: Value) -> Result<bool, String> {
    let mut holds = term(text, value)?;
    while take(text, "/\\") {
        holds &= term(text, value)?;
    }
    Ok(holds)
}

/// A condition in brackets, or a comparison.
fn term(text: &mut &str, value: Value) -> Result<bool, String> {
    if take(text, "(") {
        let holds = any(text, value)?;
        return if take(text, ")") { Ok(holds) } else { Err(format!("no bracket at {text}")) };
    }
    let end = text.find(['=', '!']).ok_or_else(|| format!("no comparison at {text}"))?;
    let (left, rest) = text.split_at(end);
    let differs = rest.starts_with('!');
    let rest = rest.trim_start_matches(['=', '!']);
    let end = rest.find(['/', '\\', ')']).unwrap_or(rest.len());
    let (right, rest) = rest.split_at(end);
    *text = rest;
    Ok((value(left)? == value(right)?) != differs)
}

/// The programs of the launches, by number.
static PROGRAMS: Mutex<Vec<Arc<Program>>> = Mutex::new(Vec::new());

/// Interprets a program. Each of its threads is the first lane of a warp.
#[kernel(max_threads = 1024)]
fn litmus(number: u32, memory: VecMut<u32>, results: VecMut<u32>) {
    if !thread_idx_x().is_multiple_of(32) {
        return;
    }
    let program = Arc::clone(&PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner)[number as usize]);
    let place = [block_idx_x(), thread_idx_x() / 32];
    let Some(at) = program.threads.iter().position(|thread| thread.place == place) else { return };
    let mut registers = [0_u32; REGISTERS];
    let body = &program.threads[at].body;
    let find = |label: &str| {
        let is_it = |op: &Op| matches!(op, Op::Label(known) if known == label);
        body.iter().position(is_it).expect("a label")
    };
    let mut next = 0;
    while let Some(op) = body.get(next) {
        next += 1;
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
struct Seen {
    /// How often the condition was true, and false, at the end.
    holds: usize,
    fails: usize,
    /// How often the launch hung, and how often a race was reported.
    hangs: usize,
    races: usize,
}

fn run(program: Program, seeds: u64) -> Result<Seen, String> {
    let program = Arc::new(program);
    let number = {
        let mut programs = PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner);
        programs.push(Arc::clone(&program));
        programs.len() as u32 - 1
    };
    let most = |at: usize| program.threads.iter().map(|thread| thread.place[at] + 1).max().unwrap_or(1);
    let grid = Grid::line(most(0), 32 * most(1));
    let mut seen = Seen::default();
    for mut config in schedules(seeds) {
        config.hang_turns = 2000;
        let values: Vec<u32> = program.locations.iter().map(|&(_, value)| value).collect();
        let (mut memory, mut results) = (Buffer::new(&values), Buffer::zeroed(program.threads.len() * REGISTERS));
        let outcome = launch(&config, litmus, grid, (number, &mut memory, &mut results)).expect("a valid launch");
        let has = |kind| outcome.reports.iter().any(|report| report.kind == kind);
        seen.races += usize::from(has(Kind::Race));
        if has(Kind::Hang) {
            seen.hangs += 1;
        } else if program.holds(&memory.to_vec(), &results.to_vec())? {
            seen.holds += 1;
        } else {
            seen.fails += 1;
        }
    }
    Ok(seen)
}

/// What the model says of a test: whether the condition's quantifier is right.
fn contradicts(quantifier: Quantifier, expected: bool, seen: Seen) -> bool {
    match (quantifier, expected) {
        (Quantifier::Exists, false) | (Quantifier::NotExists, true) => seen.holds > 0,
        (Quantifier::ForAll, true) => seen.fails > 0,
        // The model allows something that the simulator need not show.
        _ => false,
    }
}

/// Well-known tests: name, threads, condition, whether the model allows it, whether there is a race, and whether it
/// ends.
const KNOWN: &[(&str, &str, bool, bool, bool)] = &[
    (
        "message passing, release and acquire",
        "P0@cta 0,gpu 0        | P1@cta 1,gpu 0;
         st.weak x, 1          | LC10: ;
         st.release.gpu y, 1   | ld.acquire.gpu r0, y;
                               | beq r0, 0, LC10;
                               | ld.weak r1, x;
         exists (P1:r1 == 0)",
        false,
        false,
        true,
    ),
    (
        "message passing, release of the block's scope to another block",
        "P0@cta 0,gpu 0        | P1@cta 1,gpu 0;
         st.weak x, 1          | ld.acquire.gpu r0, y;
         st.release.cta y, 1   | ld.weak r1, x;
         exists (P1:r0 == 1 /\\ P1:r1 == 0)",
        true,
        true,
        true,
    ),
    (
        "message passing, relaxed with fences",
        "P0@cta 0,gpu 0        | P1@cta 1,gpu 0;
         st.weak x, 1          | LC10: ;
         fence.acq_rel.gpu     | ld.relaxed.gpu r0, y;
         st.relaxed.gpu y, 1   | beq r0, 0, LC10;
                               | fence.acq_rel.gpu;
                               | ld.weak r1, x;
         exists (P1:r1 == 0)",
        false,
        false,
        true,
    ),
    (
        "message passing, relaxed without the reader's fence",
        "P0@cta 0,gpu 0        | P1@cta 1,gpu 0;
         st.weak x, 1          | LC10: ;
         fence.acq_rel.gpu     | ld.relaxed.gpu r0, y;
         st.relaxed.gpu y, 1   | beq r0, 0, LC10;
                               | ld.weak r1, x;
         exists (P1:r1 == 0)",
        true,
        true,
        true,
    ),
    (
        "store buffering with fences",
        "P0@cta 0,gpu 0        | P1@cta 1,gpu 0;
         st.relaxed.gpu x, 1   | st.relaxed.gpu y, 1;
         fence.sc.gpu          | fence.sc.gpu;
         ld.relaxed.gpu r0, y  | ld.relaxed.gpu r1, x;
         exists (P0:r0 == 0 /\\ P1:r1 == 0)",
        false,
        false,
        true,
    ),
    (
        "coherence of two reads",
        "P0@cta 0,gpu 0        | P1@cta 1,gpu 0;
         st.relaxed.gpu x, 1   | ld.relaxed.gpu r0, x;
                               | ld.relaxed.gpu r1, x;
         exists (P1:r0 == 1 /\\ P1:r1 == 0)",
        false,
        false,
        true,
    ),
    (
        "two sums",
        "P0@cta 0,gpu 0                 | P1@cta 1,gpu 0;
         atom.relaxed.gpu.add r0, x, 1  | red.relaxed.gpu.add x, 2;
         forall (x == 3 /\\ (P0:r0 == 0 \\/ P0:r0 == 2))",
        true,
        false,
        true,
    ),
    (
        "lock by exchanges",
        "P0@cta 0,gpu 0                    | P1@cta 1,gpu 0;
         LC00:                             | LC10:;
         atom.acquire.gpu.exch r0, m, 1    | atom.acquire.gpu.exch r0, m, 1;
         bne r0, 0, LC00                   | bne r0, 0, LC10;
         ld.weak r1, x                     | ld.weak r1, x;
         add r1, r1, 1                     | add r1, r1, 1;
         st.weak x, r1                     | st.weak x, r1;
         st.release.gpu m, 0               | st.release.gpu m, 0;
         forall (x == 2)",
        true,
        false,
        true,
    ),
    (
        "flag that is never set",
        "P0@cta 0,gpu 0        | P1@cta 1,gpu 0;
         st.relaxed.gpu x, 1   | LC10:;
                               | ld.relaxed.gpu r0, y;
                               | beq r0, 0, LC10;
         exists (P1:r0 == 1)",
        false,
        false,
        false,
    ),
];

#[test]
fn known_litmus_tests() {
    for &(name, text, expected, races, ends) in KNOWN {
        let program = Program::parse(&format!("PTX\n{{\nx=0; y=0; m=0;\n}}\n{text}")).expect(name);
        let quantifier = program.quantifier;
        let seen = run(program, 20).expect(name);
        let total = seen.holds + seen.fails + seen.hangs;
        assert!(!contradicts(quantifier, expected, seen), "{name}: {seen:?}");
        assert_eq!(seen.hangs, if ends { 0 } else { total }, "{name}: {seen:?}");
        // Whether the reader sees the flag depends on the schedule in a test without a loop.
        assert_eq!(seen.races > 0, races, "{name}: {seen:?}");
    }
}

#[test]
fn dat3m() {
    let Some(folder) = std::env::var_os("WARPWRIGHT_DAT3M") else { return };
    let folder = Path::new(&folder);
    let list = |name: &str| -> Vec<(String, bool)> {
        let path = folder.join("dartagnan/src/test/resources").join(name);
        let text = std::fs::read_to_string(path).expect("a list of expectations");
        text.lines()
            .filter_map(|line| line.rsplit_once(','))
            .map(|(file, expected)| (file.to_owned(), expected == "1"))
            .collect()
    };
    let (mut wrong, mut lines) = (Vec::new(), String::new());
    for name in ["PTXv6_0-expected.csv", "PTXv7_5-expected.csv", "PTXv7_5-Liveness-expected.csv"] {
        let is_liveness = name.contains("Liveness");
        let (mut run_, mut forbids, mut left_out) = (0, 0, std::collections::BTreeMap::<String, usize>::new());
        for (file, expected) in list(name) {
            let text = std::fs::read_to_string(folder.join(&file)).expect("a litmus test");
            let program = Program::parse(&text);
            let seen = program.and_then(|program| Ok((program.quantifier, run(program, 10)?)));
            let (quantifier, seen) = match seen {
                Ok(seen) => seen,
                Err(why) => {
                    *left_out.entry(why).or_default() += 1;
                    continue;
                }
            };
            run_ += 1;
            let is_wrong =
                if is_liveness { (seen.hangs == 0) != expected } else { contradicts(quantifier, expected, seen) };
            forbids += usize::from(is_liveness || (quantifier == Quantifier::Exists) != expected);
            if is_wrong {
                wrong.push(format!("{file}: {quantifier:?}, expected {expected}, {seen:?}"));
            }
        }
        let total: usize = left_out.values().sum();
        writeln!(lines, "{name}: {run_} run, of which {forbids} forbid something; {total} left out: {left_out:?}")
            .expect("a string");
    }
    print!("{lines}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
