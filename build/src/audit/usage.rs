//! What one kernel does, counted from its PTX.

use std::collections::BTreeMap;

use crate::ptx::{Action, Function, Space, decode};

/// A place in the PTX worth naming.
#[derive(Clone, Debug, PartialEq)]
pub struct Site {
    /// Line in the file, from 1.
    pub line: usize,
    /// The instruction, or the name of the function called.
    pub what: String,
}

/// Accesses to global memory by the bytes one thread moves: width → where.
pub type Widths = BTreeMap<u32, Vec<usize>>;

/// Counts of one kernel.
#[derive(Clone, Debug, Default)]
pub struct Usage {
    /// Loads from global memory, asynchronous copies included.
    pub global_loads: Widths,
    /// Stores to global memory.
    pub global_stores: Widths,
    /// Loads and stores by `.shared` instructions.
    pub shared_loads: u32,
    /// See `shared_loads`.
    pub shared_stores: u32,
    /// Read-modify-writes.
    pub atomics: u32,
    /// Barriers of the block.
    pub barriers: u32,
    /// Waits for the previous grid.
    pub grid_waits: u32,
    /// The first access to global memory before the first of these waits.
    pub before_grid_wait: Option<Site>,
    /// Places that end the kernel with an error.
    pub traps: Vec<Site>,
    /// Calls of functions that were not inlined: panics, mostly.
    pub calls: Vec<Site>,
    /// Accesses that name no memory.
    pub generic: Vec<Site>,
    /// Declarations of local memory and accesses to it.
    pub local: Vec<Site>,
    /// Bytes of local memory declared, per thread.
    pub local_bytes: u32,
}

impl Usage {
    /// Counts `function`.
    pub fn of(function: &Function) -> Self {
        let mut usage = Self::default();
        for statement in &function.statements {
            let line = statement.line;
            let site = || Site { line, what: statement.text.clone() };
            if let Some(bytes) = local_declaration(&statement.text) {
                usage.local_bytes += bytes;
                usage.local.push(site());
                continue;
            }
            if statement.text.trim() == "griddepcontrol.wait" {
                usage.grid_waits += 1;
            } else if usage.grid_waits == 0 && usage.before_grid_wait.is_none() && touches_global(&statement.text) {
                usage.before_grid_wait = Some(site());
            }
            match decode(&statement.text) {
                Action::Load { space: Space::Generic, .. }
                | Action::Store { space: Space::Generic, .. }
                | Action::Atomic { space: Space::Generic } => usage.generic.push(site()),
                Action::Load { space: Space::Local, .. } | Action::Store { space: Space::Local, .. } => {
                    usage.local.push(site());
                }
                // A copy whose size is no constant moves 0 bytes or more.
                Action::Load { space: Space::Global, bytes } => {
                    usage.global_loads.entry(bytes.unwrap_or(0)).or_default().push(line);
                }
                Action::Store { space: Space::Global, bytes } => {
                    usage.global_stores.entry(bytes.unwrap_or(0)).or_default().push(line);
                }
                Action::Load { space: Space::Shared, .. } => usage.shared_loads += 1,
                Action::Store { space: Space::Shared, .. } => usage.shared_stores += 1,
                Action::Atomic { .. } => usage.atomics += 1,
                Action::Barrier => usage.barriers += 1,
                Action::Trap => usage.traps.push(site()),
                Action::Call { callee } => {
                    usage.calls.push(Site { line, what: format!("{:#}", rustc_demangle::demangle(callee)) });
                }
                Action::Load { .. } | Action::Store { .. } | Action::Other => {}
            }
        }
        usage
    }
}

/// Whether the statement may touch global memory: by a thread or by TMA.
fn touches_global(statement: &str) -> bool {
    match decode(statement) {
        Action::Load { space, .. } | Action::Store { space, .. } | Action::Atomic { space } => {
            matches!(space, Space::Global | Space::Generic)
        }
        _ => statement.contains("cp.async.bulk.tensor") || statement.contains("cp.async.bulk.shared"),
    }
}

/// Bytes of `.local .align 8 .b8 __local_depot0[512]`; `None` for anything else.
fn local_declaration(statement: &str) -> Option<u32> {
    let rest = statement.strip_prefix(".local")?;
    let element =
        rest.split_whitespace().find_map(|word| word.strip_prefix(".b")?.parse::<u32>().ok()).unwrap_or(8) / 8;
    let count = rest.split_once('[').and_then(|(_, rest)| rest.split_once(']')?.0.trim().parse::<u32>().ok());
    Some(element * count.unwrap_or(1))
}
