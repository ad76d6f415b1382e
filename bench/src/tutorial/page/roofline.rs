//! The roofline: speed over operations per byte, both logarithmic, with the two limits as its roof.
//!
//! Operations per byte are counted: bytes that all lanes ask for. A kernel whose neighbouring threads find their bytes
//! in a cache may so stand above the slope on a GPU, and only the flat part is a limit that nothing passes.

use maud::{Markup, html};

use super::super::figures::roofline::Roofline;
use super::super::limits;
use super::super::report::{FamilyReport, GpuReport};
use super::bars::f;
use crate::units;

const WIDTH: f64 = 800.0;
const HEIGHT: f64 = 400.0;
/// The axes.
const LEFT: f64 = 90.0;
const RIGHT: f64 = 780.0;
const TOP: f64 = 20.0;
const BOTTOM: f64 = 345.0;
/// Width of a character of a label, at most, and the distance of lines.
const CHARACTER: f64 = 10.0;
const LINE: f64 = 15.0;

struct Point {
    label: String,
    kernel: String,
    intensity: f64,
    /// The roof above it.
    bound: f64,
    /// Measured, or `None` where nothing was timed.
    speed: Option<f64>,
}

/// A logarithmic axis over whole decades.
struct Axis {
    low: i32,
    high: i32,
    start: f64,
    end: f64,
}

impl Axis {
    fn over(values: impl Iterator<Item = f64> + Clone, start: f64, end: f64) -> Self {
        let low = values.clone().fold(f64::INFINITY, f64::min).log10().floor() as i32;
        let high = values.fold(0.0, f64::max).log10().ceil() as i32;
        Self { low, high: high.max(low + 1), start, end }
    }

    fn at(&self, value: f64) -> f64 {
        let share = (value.log10() - f64::from(self.low)) / f64::from(self.high - self.low);
        self.start + (self.end - self.start) * share
    }

    fn decades(&self) -> impl Iterator<Item = f64> + use<> {
        (self.low..=self.high).map(|exponent| 10_f64.powi(exponent))
    }
}

/// The figure for steps that have operations.
pub(super) fn figure(family: &FamilyReport, gpu: Option<&GpuReport>) -> Markup {
    let without = if family.tensor { limits::H200 } else { limits::OF_THE_TEXTS };
    let roof = gpu.map_or(without, |gpu| limits::roofline(gpu, family.tensor));
    let points: Vec<Point> = family
        .steps
        .iter()
        .filter_map(|step| {
            let intensity = step.counted.as_ref()?.operations_per_byte()?;
            let speed = step.timed.as_ref().filter(|timed| timed.unit == "FLOP").map(|timed| timed.per_second);
            let label = step.row.clone().unwrap_or_else(|| step.kernel.clone());
            Some(Point { label, kernel: step.kernel.clone(), intensity, bound: roof.bound(intensity), speed })
        })
        .collect();
    let (title, caption) = match gpu {
        Some(_) => (
            "Roofline",
            "Filled points are measured; rings are the bound that the roof sets at the bytes that lanes and TMA ask \
             for. A point above its ring owes it to caches. The slope is the device-to-device copy, the flat part the \
             peak.",
        ),
        None if family.tensor => (
            "Where the steps stand under a roofline",
            "Nothing was timed: the rings are bounds, placed by counted operations per byte under the roof of an H200 \
             by its datasheet (989 TFLOP/s for bf16, 4.8 TB/s).",
        ),
        None => (
            "Where the steps stand under a roofline",
            "Nothing was timed: the rings are bounds, placed by counted operations per byte under the roof of the \
             device that the texts describe (row A5: 346.5 GFLOP/s, 86.4 GB/s).",
        ),
    };
    html! {
        h3 { (title) }
        figure {
            div class="wide chart" role="region" aria-label=(title) tabindex="0" { (plot(&points, roof, title)) }
            figcaption {
                (caption)
                details {
                    summary { "As a table" }
                    table class="roofline" {
                        thead {
                            tr {
                                th scope="col" { "Row" }
                                th scope="col" { "Kernel" }
                                th scope="col" class="number" { "FLOP per byte" }
                                th scope="col" class="number" { "Bound" }
                                @if gpu.is_some() { th scope="col" class="number" { "Measured" } }
                            }
                        }
                        tbody {
                            @for point in &points {
                                tr {
                                    td { (point.label) }
                                    td { code { (point.kernel) } }
                                    td class="number" { (format!("{:.2}", point.intensity)) }
                                    td class="number" { (units::scaled(point.bound)) "FLOP/s" }
                                    @if gpu.is_some() {
                                        td class="number" {
                                            @if let Some(speed) = point.speed { (units::scaled(speed)) "FLOP/s" }
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn plot(points: &[Point], roof: Roofline, title: &str) -> Markup {
    let intensities = points.iter().map(|point| point.intensity).chain([roof.ridge() / 4.0, roof.ridge() * 4.0]);
    let x = Axis::over(intensities, LEFT, RIGHT);
    let speeds = points.iter().flat_map(|point| [Some(point.bound), point.speed]).flatten();
    let y = Axis::over(speeds.chain([roof.peak * 1.01]), BOTTOM, TOP);
    let (first, last) = (10_f64.powi(x.low), 10_f64.powi(x.high));
    // The slope starts where it enters the picture.
    let start = first.max(10_f64.powi(y.low) / roof.bandwidth);
    let path = [(start, roof.bound(start)), (roof.ridge(), roof.peak), (last, roof.peak)]
        .map(|(intensity, speed)| format!("{},{}", f(x.at(intensity)), f(y.at(speed))))
        .join(" ");
    let summary: Vec<String> = points
        .iter()
        .map(|point| {
            format!(
                "{} at {:.2} FLOP per byte, bound {}FLOP/s",
                point.label,
                point.intensity,
                units::scaled(point.bound)
            )
        })
        .collect();
    html! {
        svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" {
            title { (title) }
            desc { (summary.join("; ")) }
            @for value in x.decades() {
                line class="grid" x1=(f(x.at(value))) y1=(f(TOP)) x2=(f(x.at(value))) y2=(f(BOTTOM)) {}
                text class="tick" x=(f(x.at(value))) y=(f(BOTTOM + 18.0)) text-anchor="middle" { (value) }
            }
            @for value in y.decades() {
                line class="grid" x1=(f(LEFT)) y1=(f(y.at(value))) x2=(f(RIGHT)) y2=(f(y.at(value))) {}
                text class="tick" x=(f(LEFT - 8.0)) y=(f(y.at(value) + 4.0)) text-anchor="end" { (decade(value)) }
            }
            text class="tick" x=(f(f64::midpoint(LEFT, RIGHT))) y=(f(HEIGHT - 12.0)) text-anchor="middle" {
                "floating-point operations per byte asked of global memory"
            }
            polyline class="roof" points=(path) {}
            text x=(f(RIGHT - 6.0)) y=(f(y.at(roof.peak) - 8.0)) text-anchor="end" {
                (units::scaled(roof.peak)) "FLOP/s"
            }
            @let slope = (start * roof.ridge()).sqrt();
            text x=(f(x.at(slope) - 10.0)) y=(f(y.at(roof.bound(slope)) - 4.0)) text-anchor="end" {
                (units::scaled(roof.bandwidth)) "B/s"
            }
            @for point in points { (mark(point, &x, &y)) }
            @for (label, at_x, at_y) in labels(points, &x, &y) {
                @let (at_x, anchor) = beside(&label, at_x);
                text x=(f(at_x)) y=(f(at_y + 16.0)) text-anchor=[anchor] { (label) }
            }
        }
    }
}

fn decade(value: f64) -> String {
    let (prefix, scale) = [("P", 1e15), ("T", 1e12), ("G", 1e9), ("M", 1e6)]
        .into_iter()
        .find(|(_, scale)| value >= *scale)
        .unwrap_or(("", 1.0));
    format!("{} {prefix}FLOP/s", value / scale)
}

/// A ring for the bound and, where it was measured, a point for the speed.
fn mark(point: &Point, x: &Axis, y: &Axis) -> Markup {
    let (at, bound) = (x.at(point.intensity), y.at(point.bound));
    html! {
        circle class="bound" cx=(f(at)) cy=(f(bound)) r="6" {
            title { (point.label) " " (point.kernel) ": bound " (units::scaled(point.bound)) "FLOP/s" }
        }
        @if let Some(speed) = point.speed {
            line class="drop" x1=(f(at)) y1=(f(bound)) x2=(f(at)) y2=(f(y.at(speed))) {}
            circle class="point" cx=(f(at)) cy=(f(y.at(speed))) r="6" {
                title { (point.label) " " (point.kernel) ": " (units::scaled(speed)) "FLOP/s" }
            }
        }
    }
}

/// Where the label of a mark at `x` is, and the end of it that is there, if that is not its start: on the right of the
/// mark, or on its left where the picture would cut it off.
fn beside(label: &str, x: f64) -> (f64, Option<&'static str>) {
    let end = x + 10.0 + label.chars().count() as f64 * CHARACTER;
    if end <= WIDTH { (x + 10.0, None) } else { (x - 10.0, Some("end")) }
}

/// Labels beside the marks; marks in one place share theirs.
fn labels(points: &[Point], x: &Axis, y: &Axis) -> Vec<(String, f64, f64)> {
    let mut labels: Vec<(Vec<&str>, f64, f64)> = Vec::new();
    for point in points {
        let (at_x, at_y) = (x.at(point.intensity), y.at(point.speed.unwrap_or(point.bound)));
        let near = |(_, x, y): &&mut (Vec<&str>, f64, f64)| (at_x - *x).abs() < 20.0 && (at_y - *y).abs() < 16.0;
        match labels.iter_mut().find(near) {
            Some((names, ..)) => names.push(&point.label),
            None => labels.push((vec![&point.label], at_x, at_y)),
        }
    }
    apart(labels.into_iter().map(|(names, x, y)| (together(&names), x, y)).collect())
}

/// The labels, of which those that another one would lie on are moved down.
fn apart(mut labels: Vec<(String, f64, f64)>) -> Vec<(String, f64, f64)> {
    labels.sort_by(|(.., a), (.., b)| a.total_cmp(b));
    for number in 1..labels.len() {
        let (above, rest) = labels.split_at_mut(number);
        let (own, x, y) = &mut rest[0];
        for (label, at, height) in above {
            let width = label.chars().count().max(own.chars().count()) as f64 * CHARACTER;
            if (*x - *at).abs() < width && *y - *height < LINE {
                *y = *height + LINE;
            }
        }
    }
    labels
}

/// One label for marks in one place: their names, or the first and the last where these are many letters.
fn together(names: &[&str]) -> String {
    match names {
        [first, .., last] if names.iter().map(|name| name.len()).sum::<usize>() > 30 => format!("{first} … {last}"),
        _ => names.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_label_is_cut_off() {
        assert_eq!(beside("A5", LEFT), (LEFT + 10.0, None));
        assert_eq!(beside("A5", RIGHT), (RIGHT - 10.0, Some("end")));
        assert_eq!(beside("A5", RIGHT - 20.0), (RIGHT - 10.0, None));
        assert_eq!(beside("A10, A11", RIGHT - 20.0), (RIGHT - 30.0, Some("end")));
        assert_eq!(together(&["A10", "A11"]), "A10, A11");
        let at = |y| ("A1".to_owned(), 5.0, y);
        assert_eq!(apart(vec![at(30.0), at(10.0), at(12.0)]), [at(10.0), at(25.0), at(40.0)]);
        // The widest numbers of the axis are left of it.
        assert_eq!([1e15, 1e14, 1e9].map(decade), ["1 PFLOP/s", "100 TFLOP/s", "1 GFLOP/s"]);
        let names = ["matmul_tma", "matmul_wgmma", "matmul_pipelined"];
        assert_eq!(together(&names), "matmul_tma … matmul_pipelined");
    }
}
