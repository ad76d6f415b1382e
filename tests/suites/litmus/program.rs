//! Litmus tests as programs of a few threads, in the form of *`Dat3M`*: `litmus/PTX` and `litmus/VULKAN`.

use super::condition;
use super::instructions::Instruction;
use simt::sync::{Order, Scope};

/// Most registers of a thread.
pub(super) const REGISTERS: usize = 16;

/// A number, or a register.
#[derive(Clone, Copy, Debug)]
pub(super) enum Operand {
    Number(u32),
    Register(usize),
}

/// What a read-modify-write operation makes of the old value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Update {
    Add,
    Sub,
    Exchange,
    CompareExchange,
}

#[derive(Clone, Debug)]
pub(super) enum Op {
    Load {
        to: usize,
        at: usize,
        how: Option<(Order, Scope)>,
    },
    Store {
        at: usize,
        value: Operand,
        how: Option<(Order, Scope)>,
    },
    Atomic {
        to: Option<usize>,
        at: usize,
        update: Update,
        values: Vec<Operand>,
        how: (Order, Scope),
    },
    Add {
        to: usize,
        values: [Operand; 2],
    },
    Fence(Scope),
    /// A barrier by instance and name, as the test has it.
    NamedBarrier {
        instance: u32,
        name: Option<Operand>,
        threads: Option<u32>,
        wait: bool,
    },
    /// A barrier of the block.
    Barrier {
        id: u32,
        threads: u32,
        wait: bool,
    },
    Branch {
        equal: bool,
        values: [Operand; 2],
        label: String,
    },
    Goto(String),
    Label(String),
}

pub(super) struct Thread {
    /// Its block, and its number in the block.
    pub(super) place: [u32; 2],
    /// The names and first values of its registers.
    registers: Vec<(String, u32)>,
    pub(super) body: Vec<Op>,
}

/// How the condition is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quantifier {
    Exists,
    NotExists,
    ForAll,
}

pub(super) struct Program {
    pub(super) locations: Locations,
    pub(super) threads: Vec<Thread>,
    /// Executions in which it does not hold do not count.
    filter: Option<String>,
    pub(super) quantifier: Option<Quantifier>,
    condition: String,
}

/// The first values of memory by name. Several names may be aliases of one place.
#[derive(Default)]
pub(super) struct Locations {
    pub(super) values: Vec<u32>,
    names: Vec<(String, usize)>,
}

impl Locations {
    fn known(&self, name: &str) -> Option<usize> {
        self.names.iter().find(|(known, _)| known == name).map(|&(_, at)| at)
    }

    /// The place of a name, a new one if it is not known.
    pub(super) fn at(&mut self, name: &str) -> usize {
        self.known(name).unwrap_or_else(|| {
            self.values.push(0);
            self.names.push((name.to_owned(), self.values.len() - 1));
            self.values.len() - 1
        })
    }
}

impl Thread {
    pub(super) fn register(&mut self, name: &str) -> Result<usize, String> {
        let known = self.registers.iter().position(|(known, _)| known == name);
        let at = known.unwrap_or_else(|| {
            self.registers.push((name.to_owned(), 0));
            self.registers.len() - 1
        });
        if at < REGISTERS { Ok(at) } else { Err("too many registers".to_owned()) }
    }

    pub(super) fn operand(&mut self, text: &str) -> Result<Operand, String> {
        match text.parse() {
            Ok(number) => Ok(Operand::Number(number)),
            Err(_) if text.starts_with('r') => Ok(Operand::Register(self.register(text)?)),
            Err(_) => Err(format!("operand {text}")),
        }
    }

    /// The values of its registers at the start.
    pub(super) fn first_values(&self) -> [u32; REGISTERS] {
        let mut values = [0; REGISTERS];
        values.iter_mut().zip(&self.registers).for_each(|(to, &(_, value))| *to = value);
        values
    }

    /// Whether an instruction writes the register.
    fn writes(&self, register: usize) -> bool {
        self.body.iter().any(|op| match op {
            Op::Load { to, .. } | Op::Add { to, .. } => *to == register,
            Op::Atomic { to, .. } => *to == Some(register),
            _ => false,
        })
    }
}

/// The cells of a row.
fn columns(row: &str) -> impl Iterator<Item = &str> {
    row.trim_end_matches(';').split('|').map(|cell| cell.trim().trim_end_matches(';').trim())
}

impl Program {
    /// Translates a test; the error names what cannot be translated.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let (head, rest) = text.split_once('{').ok_or("no first values")?;
        let is_vulkan = head.trim_start().to_lowercase().starts_with("vulkan");
        let (first, rest) = rest.split_once('}').ok_or("no first values")?;
        if rest.trim_start().starts_with('{') {
            return Err("an order from outside the kernel (ssw)".to_owned());
        }
        let end = ["filter", "~exists", "exists", "forall"].iter().filter_map(|word| rest.find(word)).min();
        let (body, end) = rest.split_at(end.ok_or("no condition")?);
        let (filter, quantifier, condition) = conditions(end);
        let mut rows = body.lines().map(str::trim).filter(|row| !row.is_empty());
        let head = rows.next().ok_or("no threads")?;
        let mut program =
            Self { locations: Locations::default(), threads: places(head)?, filter, quantifier, condition };
        let one_family =
            columns(head).map(|cell| cell.rsplit(',').next().map(str::trim)).collect::<std::collections::HashSet<_>>();
        let scopes = super::instructions::Scopes { is_vulkan, one_family: one_family.len() == 1 };
        for item in first.split([';', '\n']).map(str::trim).filter(|item| !item.is_empty()) {
            program.set_first(item)?;
        }
        for row in rows {
            for (thread, cell) in program.threads.iter_mut().zip(columns(row)) {
                if !cell.is_empty() {
                    Instruction::new(cell, thread, &mut program.locations, scopes).push()?;
                }
            }
        }
        program.number_barriers()?;
        Ok(program)
    }

    /// Sets a first value, or makes an alias.
    fn set_first(&mut self, item: &str) -> Result<(), String> {
        if let Some((name, of)) = item.split_once(" aliases ") {
            let at = self.locations.at(of.trim());
            let name = name.split('@').next().unwrap_or(name).trim();
            self.locations.names.push((name.to_owned(), at));
            return Ok(());
        }
        let wrong = || format!("first value {item}");
        let (name, value) = item.split_once('=').ok_or_else(wrong)?;
        let (name, value) = (name.trim(), value.trim().parse().map_err(|_| wrong())?);
        if let Some((thread, register)) = name.split_once(':') {
            let thread: usize = thread.trim().trim_start_matches('P').parse().map_err(|_| wrong())?;
            let thread = self.threads.get_mut(thread).ok_or_else(wrong)?;
            let at = thread.register(register.trim())?;
            thread.registers[at].1 = value;
        } else {
            let at = self.locations.at(name);
            self.locations.values[at] = value;
        }
        Ok(())
    }

    /// Gives each barrier a number of its own, and the threads of the block that have it.
    fn number_barriers(&mut self) -> Result<(), String> {
        let mut barriers: Vec<(u32, Option<u32>)> = Vec::new();
        // For each barrier op its thread, its place in the body, its barrier.
        let mut uses: Vec<(usize, usize, usize)> = Vec::new();
        for (t, thread) in self.threads.iter().enumerate() {
            for (i, op) in thread.body.iter().enumerate() {
                let Op::NamedBarrier { instance, name, .. } = op else { continue };
                let name = match *name {
                    Some(Operand::Register(register)) if thread.writes(register) => {
                        return Err("a barrier whose number is read from memory".to_owned());
                    }
                    Some(Operand::Register(register)) => Some(thread.registers[register].1),
                    Some(Operand::Number(number)) => Some(number),
                    None => None,
                };
                let id = barriers.iter().position(|&known| known == (*instance, name)).unwrap_or(barriers.len());
                if id == barriers.len() {
                    barriers.push((*instance, name));
                }
                uses.push((t, i, id));
            }
        }
        let block = |t: usize| self.threads[t].place[0];
        let has = |t: usize, id: usize| uses.iter().any(|&(other, _, known)| other == t && known == id);
        let all = |t: usize, id: usize| (0..self.threads.len()).filter(|&o| block(o) == block(t) && has(o, id)).count();
        let counts: Vec<usize> = uses.iter().map(|&(t, _, id)| all(t, id)).collect();
        for ((t, i, id), all) in uses.into_iter().zip(counts) {
            let op = &mut self.threads[t].body[i];
            if let Op::NamedBarrier { threads, wait, .. } = *op {
                *op = Op::Barrier { id: id as u32, threads: threads.unwrap_or(all as u32), wait };
            }
        }
        Ok(())
    }

    /// Whether an execution that ends with these values of memory and registers counts, and if so, whether the
    /// condition holds.
    pub(super) fn holds(&self, memory: &[u32], registers: &[u32]) -> Result<Option<bool>, String> {
        let value = |name: &str| -> Result<u32, String> {
            let name = name.trim();
            if let Ok(number) = name.parse() {
                return Ok(number);
            }
            if let Some((thread, register)) = name.split_once(':') {
                let thread: usize =
                    thread.trim().trim_start_matches('P').parse().map_err(|_| format!("value {name}"))?;
                let known = &self.threads.get(thread).ok_or_else(|| format!("value {name}"))?.registers;
                let at = known.iter().position(|(known, _)| known == register.trim());
                return Ok(at.map_or(0, |at| registers[thread * REGISTERS + at]));
            }
            self.locations.known(name).map(|at| memory[at]).ok_or_else(|| format!("value {name}"))
        };
        match &self.filter {
            Some(filter) if !condition::holds(filter, &value)? => Ok(None),
            _ if self.quantifier.is_none() => Ok(Some(true)),
            _ => condition::holds(&self.condition, &value).map(Some),
        }
    }
}

/// Filter, quantifier and condition at the end of a test.
fn conditions(end: &str) -> (Option<String>, Option<Quantifier>, String) {
    let words = [("~exists", Quantifier::NotExists), ("exists", Quantifier::Exists), ("forall", Quantifier::ForAll)];
    let found = words.into_iter().find_map(|(word, quantifier)| end.split_once(word).map(|it| (it, quantifier)));
    let (filter, quantifier, condition) = match found {
        Some(((filter, condition), quantifier)) => (filter, Some(quantifier), condition),
        None => (end, None, ""),
    };
    let condition = condition.split("/*").next().unwrap_or_default().trim().to_owned();
    (filter.trim().strip_prefix("filter").map(|text| text.trim().to_owned()), quantifier, condition)
}

/// The threads of the row `P0@cta 0,gpu 0 | …` or `P0@sg 0,wg 0,qf 0 | …`, without instructions. The blocks are
/// numbered in the order of their first threads.
fn places(row: &str) -> Result<Vec<Thread>, String> {
    let mut blocks: Vec<String> = Vec::new();
    let mut threads: Vec<Thread> = Vec::new();
    for cell in columns(row) {
        let (_, place) = cell.split_once('@').ok_or_else(|| format!("thread {cell}"))?;
        let place = place.split_whitespace().collect::<String>();
        // A subgroup is part of its block.
        let name = place.strip_prefix("sg").map_or(&*place, |rest| rest.trim_start_matches(char::is_numeric));
        if name.contains("gpu") && !name.ends_with("gpu0") {
            return Err("several GPUs".to_owned());
        }
        let block = blocks.iter().position(|known| known == name).unwrap_or(blocks.len());
        if block == blocks.len() {
            blocks.push(name.to_owned());
        }
        let number = threads.iter().filter(|thread| thread.place[0] == block as u32).count() as u32;
        threads.push(Thread { place: [block as u32, number], registers: Vec::new(), body: Vec::new() });
    }
    Ok(threads)
}
