//! The picture of bank conflicts: which banks the 32 lanes of a warp's load meet, for padded and unpadded tiles.
//!
//! Drawn from the addresses; beside each picture stands the degree that the simulator counted for the kernel.

use maud::{Markup, html};

use super::super::report::Report;
use super::bars::f;

/// Banks of shared memory, 4 bytes wide each; lanes of a warp.
const BANKS: usize = 32;

/// A tile that is read along its columns.
pub(super) struct Tile {
    pub(super) kernel: &'static str,
    pub(super) rows: usize,
    pub(super) pitch: usize,
}

pub(super) const TILES: [Tile; 5] = [
    Tile { kernel: "set_row_read_col", rows: 32, pitch: 32 },
    Tile { kernel: "set_row_read_col_pad", rows: 32, pitch: 33 },
    Tile { kernel: "set_row_read_col_rect", rows: 16, pitch: 32 },
    Tile { kernel: "set_row_read_col_rect_pad1", rows: 16, pitch: 33 },
    Tile { kernel: "set_row_read_col_rect_pad2", rows: 16, pitch: 34 },
];

impl Tile {
    /// The word that a lane of warp 0 loads: as many lanes as there are rows go down a column, the others down the
    /// next.
    fn word(&self, lane: usize) -> usize {
        lane % self.rows * self.pitch + lane / self.rows
    }

    /// The lanes that meet each bank; all want different words.
    fn banks(&self) -> [Vec<usize>; BANKS] {
        let mut banks = [const { Vec::new() }; BANKS];
        for lane in 0..BANKS {
            banks[self.word(lane) % BANKS].push(lane);
        }
        banks
    }

    /// Lanes of the fullest bank.
    pub(super) fn degree(&self) -> usize {
        self.banks().iter().map(Vec::len).max().unwrap_or(0)
    }
}

/// One panel for each tile.
pub(super) fn figure(report: &Report) -> Markup {
    html! {
        h3 { "Bank conflicts" }
        figure {
            @for (name, rows) in
                [("Square tile: a warp reads one column", 32), ("16 rows: a warp reads two columns", 16)]
            {
                p { (name) }
                div class="panels" {
                    @for tile in TILES.iter().filter(|tile| tile.rows == rows) {
                        (panel(tile, counted(report, tile.kernel)))
                    }
                }
            }
            figcaption {
                "A warp loads from a tile in shared memory along its columns. Each square is a lane, standing on the \
                 bank that holds its word; lanes on one bank are served one after the other, so the height of the \
                 tallest stack is the number of wavefronts, the conflict degree."
            }
            (table(report))
        }
    }
}

/// The degree of a kernel's loads, by the simulator.
pub(super) fn counted(report: &Report, kernel: &str) -> Option<u32> {
    report.steps().find(|step| step.kernel == kernel)?.counted.as_ref()?.load_degree
}

fn panel(tile: &Tile, counted: Option<u32>) -> Markup {
    const CELL: (f64, f64) = (10.0, 8.0);
    let banks = tile.banks();
    let degree = tile.degree();
    let ground = CELL.1 * degree as f64 + 2.0;
    let height = ground + 22.0;
    let title = format!("Tile [{}][{}]: {degree} of 32 lanes on the fullest bank", tile.rows, tile.pitch);
    html! {
        div {
            svg viewBox={ "0 0 330 " (f(height)) } role="img" {
                title { (title) }
                @for (bank, lanes) in banks.iter().enumerate() {
                    @let x = 5.0 + CELL.0 * bank as f64;
                    rect class="track" x=(f(x + 1.0)) y=(f(ground)) width=(f(CELL.0 - 2.0)) height="3" {}
                    @for (level, lane) in lanes.iter().enumerate() {
                        rect class=(if lanes.len() > 1 { "lane crowded" } else { "lane" })
                            x=(f(x)) y=(f(ground - CELL.1 * (level + 1) as f64)) width=(f(CELL.0)) height=(f(CELL.1)) {
                            title { "lane " (lane) ": word " (tile.word(*lane)) ", bank " (bank) }
                        }
                    }
                }
                @for bank in [0, 8, 16, 24, 31] {
                    text class="tick" x=(f(10.0 + CELL.0 * bank as f64)) y=(f(height - 4.0)) text-anchor="middle" {
                        (bank)
                    }
                }
            }
            p {
                strong { "[" (tile.rows) "][" (tile.pitch) "]" } ", banks 0 to 31: degree " (degree)
                @if let Some(counted) = counted { span class="muted" { "; the simulator counted " (counted) } }
            }
        }
    }
}

fn table(report: &Report) -> Markup {
    html! {
        details {
            summary { "As a table" }
            table class="banks" {
                thead {
                    tr {
                        th scope="col" { "Tile" }
                        th scope="col" { "Kernel" }
                        th scope="col" class="number" { "Banks met" }
                        th scope="col" class="number" { "Degree" }
                        th scope="col" class="number" { "Counted" }
                    }
                }
                tbody {
                    @for tile in &TILES {
                        tr {
                            td { "[" (tile.rows) "][" (tile.pitch) "]" }
                            td { code { (tile.kernel) } }
                            td class="number" { (tile.banks().iter().filter(|lanes| !lanes.is_empty()).count()) }
                            td class="number" { (tile.degree()) }
                            td class="number" { @if let Some(counted) = counted(report, tile.kernel) { (counted) } }
                        }
                    }
                }
            }
        }
    }
}
