//! Conflict degrees of a tile that is written along its rows and read along its columns: by rule, and as counted.

use std::collections::BTreeSet;

use warpwright::Device;
use warpwright::simulator::{Access, Config, Counters, Level};

use super::{Figure, Value};

/// Lanes of a warp; the columns of a tile.
const WARP: u32 = 32;
/// Banks of shared memory.
const BANKS: u32 = 32;
/// Bytes of an element.
const WORD: u32 = 4;

/// Bytes of a bank: of every GPU since 2014, and of the texts' older hardware.
pub(super) const BANK_WIDTHS: [u32; 2] = [4, 8];

/// The simulator at the level that counts, with banks of this width.
pub(super) fn with_banks_of(bank_bytes: u32) -> Device {
    Device::simulator_with(Config::new(Level::Counters).bank_bytes(bank_bytes))
}

/// Tiles of `rows` × 32 elements of 4 bytes, side by side, in rows that are `pitch` elements apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tiles {
    /// Rows, as many as a block has warps.
    pub(super) rows: u32,
    /// Elements from the start of a row to the start of the next.
    pub(super) pitch: u32,
    /// Tiles side by side; each thread writes and reads one element of each.
    pub(super) side_by_side: u32,
    /// Blocks of the launch.
    pub(super) blocks: u32,
}

/// Wavefronts of the requests of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Wavefronts {
    requests: u64,
    worst: u64,
    all: u64,
}

impl Tiles {
    /// Word that a thread writes: its place along the rows.
    fn stored(self, tile: u32, thread: u32) -> u32 {
        thread / WARP * self.pitch + tile * WARP + thread % WARP
    }

    /// Word that a thread reads: its place along the columns, each of which has as many elements as there are rows.
    fn loaded(self, tile: u32, thread: u32) -> u32 {
        thread % self.rows * self.pitch + tile * WARP + thread / self.rows
    }

    /// Wavefronts by rule, if a thread asks for `word` of its tile.
    fn rule(self, bank_bytes: u32, word: fn(Self, u32, u32) -> u32) -> Wavefronts {
        let requests = (0..self.side_by_side).flat_map(|tile| (0..self.rows).map(move |warp| (tile, warp)));
        let degrees = requests.map(|(tile, warp)| degree(bank_bytes, |lane| word(self, tile, warp * WARP + lane)));
        let degrees: Vec<u64> = degrees.collect();
        let blocks = u64::from(self.blocks);
        Wavefronts {
            requests: blocks * degrees.len() as u64,
            worst: degrees.iter().copied().max().unwrap_or(0),
            all: blocks * degrees.iter().sum::<u64>(),
        }
    }

    /// The worst degrees, and, so that they are seen to be those of every request, the wavefronts of all. `text` states
    /// the degrees of store and load.
    pub(super) fn figures(
        self,
        kernel: &str,
        bank_bytes: u32,
        text: Option<[u64; 2]>,
        counters: &Counters,
    ) -> Vec<Figure> {
        let [store, load] = [Self::stored, Self::loaded].map(|word| self.rule(bank_bytes, word));
        let [stored, loaded] = [Access::SharedStore, Access::SharedLoad].map(|access| counters.total(access));
        let what = |what: &str| format!("{kernel}, banks of {bank_bytes} bytes: {what}");
        vec![
            Figure {
                what: what("conflict degree, store / load"),
                text: text.map(|[store, load]| Value::Degrees(store, load)),
                rule: Value::Degrees(store.worst, load.worst),
                computed: Value::Degrees(stored.worst.into(), loaded.worst.into()),
                because: None,
            },
            Figure::ruled(
                what(&format!("wavefronts of the {} stores", store.requests)),
                Value::Count(store.all),
                Value::Count(stored.wavefronts),
            ),
            Figure::ruled(
                what(&format!("wavefronts of the {} loads", load.requests)),
                Value::Count(load.all),
                Value::Count(loaded.wavefronts),
            ),
        ]
    }
}

/// Most different words of `bank_bytes` bytes that one bank must serve where each lane asks for one element.
fn degree(bank_bytes: u32, element: impl Fn(u32) -> u32) -> u64 {
    let words: BTreeSet<u32> = (0..WARP).map(|lane| element(lane) * WORD / bank_bytes).collect();
    let load = |bank| words.iter().filter(|word| **word % BANKS == bank).count();
    (0..BANKS).map(load).max().unwrap_or(0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gcd(a: u32, b: u32) -> u32 {
        if b == 0 { a } else { gcd(b, a % b) }
    }

    /// What the texts and the kernels' documentation say in words: lanes one pitch apart meet gcd(pitch, 32) to a bank.
    #[test]
    fn a_column_of_32_has_the_degree_of_the_common_divisor() {
        for pitch in 1..=130 {
            for column in 0..32 {
                let rule = u64::from(gcd(pitch, BANKS));
                assert_eq!(degree(4, |lane| lane * pitch + column), rule, "pitch {pitch}, column {column}");
            }
        }
    }

    #[test]
    fn rows_broadcasts_and_wide_banks() {
        for bank_bytes in BANK_WIDTHS {
            assert_eq!(degree(bank_bytes, |lane| lane), 1, "a row");
            assert_eq!(degree(bank_bytes, |_| 7), 1, "a broadcast");
        }
        assert_eq!(degree(4, |lane| 2 * lane), 2, "every other word of 64: two to a bank");
        assert_eq!(degree(8, |lane| 2 * lane), 1, "a bank of 8 bytes serves both of its halves");
    }

    /// Rows 33 words apart are free of conflicts in banks of 4 bytes. In banks of 8 bytes a column that starts in the
    /// second half of a word ends, 31 · 33 + 1 = 1024 words on, in the bank in which it began.
    #[test]
    fn one_word_of_padding_does_less_for_wide_banks() {
        let tiles = Tiles { rows: 32, pitch: 33, side_by_side: 1, blocks: 3 };
        assert_eq!(tiles.rule(4, Tiles::loaded), Wavefronts { requests: 96, worst: 1, all: 96 });
        assert_eq!(tiles.rule(8, Tiles::loaded), Wavefronts { requests: 96, worst: 2, all: 96 + 48 });
    }
}
