//! The picture of divergent warps: row C4's picture of 76 × 62 pixels, cut into the warps of its blocks.
//!
//! Drawn from the kernel's guard, lane by lane; beside it stands what the simulator counted.

use maud::{Markup, html};

use super::super::report::Report;
use super::bars::f;

/// Width and height of the picture, as row C4 has them.
const PICTURE: [usize; 2] = [76, 62];
/// Edge of a block; a warp is two of its rows.
const EDGE: usize = gpu::lab::tutorial::warps::color_to_gray::EDGE as usize;
/// Lanes of a warp, and the rows that they make.
const LANES: usize = 32;
const ROWS: usize = LANES / EDGE;

/// A warp: where its first pixel is, and how many of its lanes are inside the picture.
pub(super) struct Warp {
    block: [usize; 2],
    number: usize,
    inside: usize,
}

impl Warp {
    fn class(&self) -> &'static str {
        match self.inside {
            0 => "outside",
            LANES => "full",
            _ => "divergent",
        }
    }

    /// Left and top pixel.
    fn corner(&self) -> [usize; 2] {
        [self.block[0] * EDGE, self.block[1] * EDGE + self.number * ROWS]
    }
}

/// Every warp of the launch.
pub(super) fn warps() -> Vec<Warp> {
    let [width, height] = PICTURE;
    let [across, down, _] =
        gpu::lab::tutorial::warps::color_to_gray::grid(height as u32, width as u32).map(|n| n as usize);
    let mut warps = Vec::new();
    for y in 0..down {
        for x in 0..across {
            for number in 0..EDGE * EDGE / LANES {
                let lane = |lane: usize| [x * EDGE + lane % EDGE, y * EDGE + number * ROWS + lane / EDGE];
                let inside = (0..LANES).map(lane).filter(|[col, row]| row < &height && col < &width).count();
                warps.push(Warp { block: [x, y], number, inside });
            }
        }
    }
    warps
}

/// Warps of a class.
pub(super) fn census(warps: &[Warp], class: &str) -> usize {
    warps.iter().filter(|warp| warp.class() == class).count()
}

/// The figure.
pub(super) fn figure(report: &Report) -> Markup {
    const SCALE: f64 = 9.0;
    let warps = warps();
    let [full, divergent, outside] = ["full", "divergent", "outside"].map(|class| census(&warps, class));
    let (columns, rows) = (PICTURE[0].div_ceil(EDGE), PICTURE[1].div_ceil(EDGE));
    let (width, height) = (SCALE * (columns * EDGE) as f64, SCALE * (rows * EDGE) as f64);
    let counted = report.steps().find(|step| step.kernel == "color_to_gray").and_then(|step| step.counted.as_ref());
    let title = format!("{divergent} of {} warps diverge at the edges of a picture of 76 by 62 pixels", warps.len());
    html! {
        h3 { "Divergent warps over a picture of 76 × 62 pixels" }
        figure {
            div class="picture" {
                svg viewBox={ "-2 -2 " (f(width + 4.0)) " " (f(height + 4.0)) } role="img" {
                    title { (title) }
                    @for warp in &warps {
                        @let [x, y] = warp.corner().map(|pixel| SCALE * pixel as f64);
                        rect class={ "warp " (warp.class()) } x=(f(x)) y=(f(y))
                            width=(f(SCALE * EDGE as f64)) height=(f(SCALE * ROWS as f64)) {
                            title {
                                "block (" (warp.block[0]) ", " (warp.block[1]) "), warp " (warp.number) ": "
                                (warp.inside) " of 32 lanes inside"
                            }
                        }
                    }
                    @for x in 0..columns {
                        @for y in 0..rows {
                            @let size = SCALE * EDGE as f64;
                            rect class="block"
                                x=(f(size * x as f64)) y=(f(size * y as f64)) width=(f(size)) height=(f(size)) {}
                        }
                    }
                    @let [right, bottom] = PICTURE.map(|pixels| SCALE * pixels as f64);
                    rect class="veil" x=(f(right)) y="0" width=(f(width - right)) height=(f(bottom)) {}
                    rect class="veil" x="0" y=(f(bottom)) width=(f(width)) height=(f(height - bottom)) {}
                    rect class="edge" x="0" y="0" width=(f(right)) height=(f(bottom)) {}
                }
            }
            p {
                span class="key divergent" {} (divergent) " warps diverge"
                span class="key full" {} (full) " are wholly inside"
                span class="key outside" {} (outside) " wholly outside"
            }
            figcaption {
                "Each bar is a warp, two rows of 16 lanes of its block (thin frames: 5 × 4 blocks of 8 warps). The \
                 picture ends at the thick frame: where that cuts through a warp, some lanes have a pixel and some \
                 have none."
                @if let Some(counted) = counted {
                    " For " (counted.shape) " the simulator counted "
                    (counted.divergent) " divergent of " (counted.branches) "."
                }
            }
        }
    }
}
