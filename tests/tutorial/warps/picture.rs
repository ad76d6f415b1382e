//! C4: pictures of any size, with gaps between rows.

use gpu::lab::tutorial::warps::color_to_gray::{color_to_gray, grid};
use proptest::prelude::*;
use rand::Rng;
use warpwright::{Device, Launch, Layout, Result};

use crate::support::device::{counterpart, under_test};
use crate::support::frame::Place;
use crate::support::problem::unless_empty;
use crate::support::runner::check;
use crate::support::{shapes, values};

/// Value around the grey picture, and its initial value.
const CANARY: u8 = 0xa5;

/// A picture, its positions in the two buffers, and the number of missing colour bytes.
#[derive(Clone, Copy, Debug)]
struct Case {
    rows: usize,
    cols: usize,
    rgb: usize,
    gray: Place,
    missing: usize,
    seed: u64,
}

impl Case {
    fn colours(self) -> Vec<u8> {
        let mut rng = values::rng(self.seed);
        let pixels = self.rows * self.cols;
        // Extremes of each channel, and values between them.
        let mut byte = || if rng.random() { rng.random() } else { [0, 255][usize::from(rng.random::<bool>())] };
        (0..(3 * pixels).saturating_sub(self.missing)).map(|_| byte()).collect()
    }

    fn layout(self) -> Layout {
        Layout::contiguous(self.rows, self.cols).ld(self.cols + self.gray.gap).offset(self.gray.offset)
    }

    fn blank(self) -> Vec<u8> {
        vec![CANARY; self.gray.offset + self.rows * (self.cols + self.gray.gap) + self.gray.after]
    }

    fn run(self, device: &Device) -> Result<Vec<u8>> {
        let colours = self.colours();
        let all = [vec![CANARY; self.rgb], colours.clone(), vec![CANARY; self.rgb]].concat();
        let rgb = device.upload(&all[..])?;
        let mut gray = device.upload(&self.blank()[..])?;
        let launch = Launch::grid(grid(self.rows as u32, self.cols as u32));
        let pixels = rgb.slice(self.rgb..self.rgb + colours.len())?;
        let pictures = (pixels, gray.view_mut().as_matrix(self.layout())?);
        unless_empty(self.rows * self.cols == 0, device.launch(&color_to_gray, launch, pictures))?;
        assert_eq!(rgb.download()?, all, "the colours changed");
        gray.download()
    }

    fn expected(self) -> Vec<u8> {
        let (colours, layout, mut image) = (self.colours(), self.layout(), self.blank());
        for pixel in 0..self.rows * self.cols {
            let channel = |c: usize| u64::from(colours.get(3 * pixel + c).copied().unwrap_or(0));
            // In thousandths, rounded down at the end, so that only the result is rounded.
            let luminance = (210 * channel(0) + 720 * channel(1) + 70 * channel(2)) / 1000;
            image[layout.offset + pixel / self.cols * layout.ld + pixel % self.cols] = luminance as u8;
        }
        image
    }

    fn verify(self) -> std::result::Result<f64, String> {
        let expected = self.expected();
        for device in [under_test(self.seed), counterpart(self.seed)] {
            let got = self.run(&device).map_err(|error| format!("{}: {error}", device.name()))?;
            if let Some(i) = (0..got.len()).find(|&i| got[i] != expected[i]) {
                return Err(format!("{}: byte {i} is {}, expected {}", device.name(), got[i], expected[i]));
            }
        }
        Ok(0.0)
    }
}

#[test]
fn pictures_of_any_size_are_converted() {
    let missing = prop_oneof![3 => Just(0_usize), 1 => 1..50_usize];
    let case = (shapes::two_extents(), 0..4_usize, shapes::place(), missing, any::<u64>());
    check(case, |&([rows, cols], rgb, gray, missing, seed)| Case { rows, cols, rgb, gray, missing, seed }.verify());
}

/// The texts' pictures, and pictures that end at, before and after the edge of a block.
#[test]
fn pictures_at_the_edges_of_blocks_are_converted() {
    let edges = [1, 15, 16, 17, 31, 32, 33];
    let pairs = edges.into_iter().flat_map(|rows| edges.map(|cols| (rows, cols)));
    for (rows, cols) in pairs.chain([(62, 76), (150, 200)]) {
        let gray = Place { offset: 1, gap: 3, after: 2 };
        let case = Case { rows, cols, rgb: 1, gray, missing: 0, seed: 3 };
        case.verify().unwrap_or_else(|error| panic!("{rows} rows of {cols}: {error}"));
    }
}
