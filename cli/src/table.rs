//! The resource table: one line per kernel and architecture.

use comfy_table::{Cell, CellAlignment, Table, presets};

use warpwright_build::audit::usage::{Usage, Widths};
use warpwright_build::ptx::Declared;
use warpwright_build::ptxas::Resources;

/// One kernel in one file, with what was measured of it.
pub struct Row {
    /// `gemm.sm_80`
    pub file: String,
    /// Its limits.
    pub declared: Declared,
    /// What the PTX holds.
    pub usage: Usage,
    /// What ptxas says, where there is one.
    pub resources: Option<Resources>,
}

/// All rows, in order; a limit stands behind the figure that it limits.
pub fn render(rows: &[Row]) -> String {
    let mut table = Table::new();
    table.load_preset(presets::UTF8_FULL_CONDENSED);
    table.set_header([
        "kernel",
        "PTX",
        "block",
        "registers",
        "shared B",
        "spill B",
        "local B",
        "barriers",
        "traps",
        "global loads",
        "global stores",
        "shared ld/st",
        "atomics",
    ]);
    for row in rows {
        let declared = &row.declared;
        let registers = row.resources.and_then(|resources| resources.registers);
        let spills = row.resources.map(|resources| resources.spill_stores + resources.spill_loads);
        let local = row.resources.map_or(row.usage.local_bytes, |resources| resources.stack.max(row.usage.local_bytes));
        let cells = [
            declared.name.clone(),
            row.file.clone(),
            block(declared),
            of(registers, declared.registers),
            shared(declared),
            of(spills, None),
            local.to_string(),
            of(Some(row.usage.barriers), declared.barriers),
            of(Some(row.usage.traps.len() as u32), declared.traps),
            widths(&row.usage.global_loads),
            widths(&row.usage.global_stores),
            format!("{}/{}", row.usage.shared_loads, row.usage.shared_stores),
            row.usage.atomics.to_string(),
        ];
        let align = |column: usize| if column < 3 { CellAlignment::Left } else { CellAlignment::Right };
        table.add_row(cells.iter().enumerate().map(|(column, text)| Cell::new(text).set_alignment(align(column))));
    }
    table.to_string()
}

/// `38/40`: 38 of at most 40; `?` where it is unknown.
fn of(value: Option<u32>, limit: Option<u32>) -> String {
    let value = value.map_or_else(|| "?".to_owned(), |value| value.to_string());
    limit.map_or(value.clone(), |limit| format!("{value}/{limit}"))
}

fn block(declared: &Declared) -> String {
    match declared.block {
        Some([x, y, z]) => format!("{x}×{y}×{z}"),
        None => format!("≤ {}", declared.max_threads()),
    }
}

fn shared(declared: &Declared) -> String {
    match declared.shared_element {
        0 => declared.shared_bytes.to_string(),
        element => format!("n × {element}"),
    }
}

/// `16 B × 4, 4 B × 1`, widest first.
fn widths(widths: &Widths) -> String {
    let text: Vec<_> = widths.iter().rev().map(|(bytes, lines)| format!("{bytes} B × {}", lines.len())).collect();
    if text.is_empty() { "–".to_owned() } else { text.join(", ") }
}
