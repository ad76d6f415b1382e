//! The instructions of litmus tests, in both languages.
//!
//! Vulkan's scopes of a workgroup and a device are those of a block and a GPU. What PTX does not distinguish is left
//! out: whether an access is available, visible or private, and which storage classes an operation orders.

use super::program::{Locations, Op, Operand, Thread, Update};
use simt::sync::{Order, Scope};

/// What the names of scopes mean.
#[derive(Clone, Copy)]
pub(super) struct Scopes {
    pub(super) is_vulkan: bool,
    /// All threads are in one queue family.
    pub(super) one_family: bool,
}

impl Scopes {
    /// The scope in an instruction's name, if there is one.
    fn find(self, words: &[&str]) -> Result<Option<Scope>, String> {
        for word in words {
            return Ok(Some(match *word {
                "cta" | "wg" => Scope::Block,
                "gpu" | "dv" => Scope::Device,
                "qf" if self.one_family => Scope::Device,
                "sys" => Scope::System,
                "sg" => return Err("scope of a subgroup".to_owned()),
                "qf" => return Err("scope of one of two queue families".to_owned()),
                _ => continue,
            }));
        }
        Ok(None)
    }
}

/// The memory order in an instruction's name, if there is one.
fn order(words: &[&str]) -> Option<Order> {
    words.iter().find_map(|word| {
        Some(match *word {
            "relaxed" => Order::Relaxed,
            "acquire" | "acq" => Order::Acquire,
            "release" | "rel" => Order::Release,
            "acq_rel" => Order::AcqRel,
            _ => return None,
        })
    })
}

/// An instruction of a thread.
pub(super) struct Instruction<'a> {
    line: &'a str,
    /// The parts of its name.
    words: Vec<&'a str>,
    args: Vec<&'a str>,
    thread: &'a mut Thread,
    locations: &'a mut Locations,
    scopes: Scopes,
}

impl<'a> Instruction<'a> {
    pub(super) fn new(line: &'a str, thread: &'a mut Thread, locations: &'a mut Locations, scopes: Scopes) -> Self {
        let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let args = rest.split(',').map(str::trim).filter(|arg| !arg.is_empty()).collect();
        Self { line, words: name.split('.').collect(), args, thread, locations, scopes }
    }

    fn wrong(&self) -> String {
        format!("instruction {}", self.line)
    }

    fn arg(&self, at: usize) -> Result<&'a str, String> {
        self.args.get(at).copied().ok_or_else(|| self.wrong())
    }

    fn operand(&mut self, at: usize) -> Result<Operand, String> {
        let arg = self.arg(at)?;
        self.thread.operand(arg)
    }

    fn operands(&mut self, from: usize) -> Result<Vec<Operand>, String> {
        (from..self.args.len()).map(|at| self.operand(at)).collect()
    }

    fn register(&mut self, at: usize) -> Result<usize, String> {
        let arg = self.arg(at)?;
        self.thread.register(arg)
    }

    fn location(&mut self, at: usize) -> Result<usize, String> {
        let arg = self.arg(at)?;
        Ok(self.locations.at(arg))
    }

    /// Order and scope of an access; none if it is not atomic.
    fn how(&self) -> Result<Option<(Order, Scope)>, String> {
        let is_atomic = if self.scopes.is_vulkan { self.words.contains(&"atom") } else { order(&self.words).is_some() };
        if !is_atomic {
            return if self.scopes.is_vulkan || self.words.contains(&"weak") { Ok(None) } else { Err(self.wrong()) };
        }
        let scope = self.scope()?;
        Ok(Some((order(&self.words).unwrap_or(Order::Relaxed), scope)))
    }

    fn scope(&self) -> Result<Scope, String> {
        self.scopes.find(&self.words[1..])?.ok_or_else(|| self.wrong())
    }

    /// Adds the instruction to the thread.
    pub(super) fn push(mut self) -> Result<(), String> {
        let op = match self.words[0] {
            name if name.ends_with(':') => Op::Label(name.trim_end_matches(':').to_owned()),
            "goto" => Op::Goto(self.arg(0)?.to_owned()),
            "bne" | "beq" => Op::Branch {
                equal: self.words[0] == "beq",
                values: [self.operand(0)?, self.operand(1)?],
                label: self.arg(2)?.to_owned(),
            },
            "add" => Op::Add { to: self.register(0)?, values: [self.operand(1)?, self.operand(2)?] },
            "ld" if self.words.len() == 1 || self.arg(1)?.parse::<u32>().is_ok() => {
                Op::Add { to: self.register(0)?, values: [self.operand(1)?, Operand::Number(0)] }
            }
            "ld" => Op::Load { to: self.register(0)?, at: self.location(1)?, how: self.how()? },
            "st" => Op::Store { at: self.location(0)?, value: self.operand(1)?, how: self.how()? },
            "atom" | "rmw" => self.update(true)?,
            "red" => self.update(false)?,
            // Only accesses through texture, surface and constant memory need it, and aliases with another address.
            "fence" if self.words.get(1) == Some(&"proxy") => return Ok(()),
            "fence" | "membar" => Op::Fence(self.scope()?),
            "bar" | "cbar" => return self.barrier(),
            "sust" | "suld" | "suatom" | "sured" | "tld" | "cold" => {
                return Err("an access through texture, surface or constant memory".to_owned());
            }
            "avdevice" | "visdevice" => return Err("an order from outside the kernel".to_owned()),
            word => return Err(format!("instruction {word}")),
        };
        self.thread.body.push(op);
        Ok(())
    }

    fn update(&mut self, returns: bool) -> Result<Op, String> {
        let update = match *self.words.last().unwrap_or(&"") {
            "add" => Update::Add,
            "sub" => Update::Sub,
            "exch" => Update::Exchange,
            "cas" => Update::CompareExchange,
            // Vulkan's exchange has no word.
            word if self.scopes.is_vulkan && word.contains("sc") => Update::Exchange,
            word => return Err(format!("update {word}")),
        };
        let to = if returns { Some(self.register(0)?) } else { None };
        let (at, values) = (self.location(usize::from(returns))?, self.operands(1 + usize::from(returns))?);
        let how = self.how()?.ok_or_else(|| self.wrong())?;
        Ok(Op::Atomic { to, at, update, values, how })
    }

    /// A barrier: its instance in the program, its name, and the number of threads. Vulkan's barrier is also a fence,
    /// if it has a memory order.
    fn barrier(mut self) -> Result<(), String> {
        let instance = self.arg(0)?.parse().map_err(|_| self.wrong())?;
        let name = if self.args.len() > 1 { Some(self.operand(1)?) } else { None };
        let threads = match self.args.get(2) {
            Some(text) => Some(text.parse().map_err(|_| self.wrong())?),
            None => None,
        };
        let (scope, order) = (self.scope()?, order(&self.words));
        let wait = !self.words.contains(&"arrive");
        let body = &mut self.thread.body;
        if matches!(order, Some(Order::Release | Order::AcqRel)) {
            body.push(Op::Fence(scope));
        }
        body.push(Op::NamedBarrier { instance, name, threads, wait });
        if matches!(order, Some(Order::Acquire | Order::AcqRel)) {
            body.push(Op::Fence(scope));
        }
        Ok(())
    }
}
