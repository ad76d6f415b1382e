//! Plots: rate by case, a line for each implementation.
//!
//! Colours of middling brightness on no background, so that they read on light and on dark pages alike.

use anyhow::{Result, anyhow};
use plotters::prelude::*;
use plotters::style::FontStyle;

use super::super::record::Measurement;
use super::choose::{Group, Row};

/// Cases from which there is a plot.
const FEWEST: usize = 3;
const SIZE: (u32, u32) = (900, 420);
/// Text and axes: at least 4 : 1 against white and against near-black.
const GREY: RGBColor = RGBColor(125, 125, 125);
/// Ours first. After Okabe and Ito, who chose them so that colour-blind readers tell them apart; the dark and the light
/// ones of theirs brought to the middle.
const COLORS: [RGBColor; 7] = [
    RGBColor(213, 94, 0),
    RGBColor(0, 134, 198),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(190, 150, 0),
    RGBColor(120, 120, 220),
    RGBColor(150, 150, 150),
];

/// A plot as SVG for each mode that has cases enough.
pub(super) fn plots<'a>(group: &Group<'a>) -> Result<Vec<(&'a str, String)>> {
    if !group.has_rate {
        return Ok(Vec::new());
    }
    let mut modes: Vec<&str> = Vec::new();
    for row in &group.rows {
        if !modes.contains(&row.mode) {
            modes.push(row.mode);
        }
    }
    let mut plots = Vec::new();
    for mode in modes {
        let rows: Vec<&Row<'_>> = group.rows.iter().filter(|row| row.mode == mode).collect();
        if rows.len() >= FEWEST {
            plots.push((mode, plot(group, mode, &rows)?));
        }
    }
    Ok(plots)
}

fn plot(group: &Group<'_>, mode: &str, rows: &[&Row<'_>]) -> Result<String> {
    let gemm = group.work == "gemm";
    let rate = |own: &Measurement| if gemm { own.throughput() / 1e12 } else { own.bandwidth() / 1e9 };
    let unit = if gemm { "TFLOP/s" } else { "GB/s" };
    let most = rows.iter().flat_map(|row| &row.measurements).map(|own| rate(own)).fold(0.0, f64::max);
    let mut svg = String::new();
    let failed = |error: &dyn std::fmt::Display| anyhow!("cannot draw {} of {}: {error}", group.work, group.dtype);
    {
        let root = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        let text = |size: i32| FontDesc::new(FontFamily::SansSerif, f64::from(size), FontStyle::Normal).color(&GREY);
        let last = rows.len() as f64 - 1.0;
        // Long labels of many cases stand upright, not to run into each other.
        let longest = rows.iter().map(|row| short(row.shape).len()).max().unwrap_or(0);
        let upright = longest * rows.len() > 110;
        let turn = if upright { FontTransform::Rotate90 } else { FontTransform::None };
        let below = if upright { 24 + 7 * longest as u32 } else { 34 };
        let mut chart = ChartBuilder::on(&root)
            .caption(format!("{} of {}, {mode}: {unit}", group.work, group.dtype), text(18))
            .margin(12)
            .x_label_area_size(below)
            .y_label_area_size(64)
            .build_cartesian_2d(-0.2..last + 0.2, 0.0..most * 1.08)
            .map_err(|error| failed(&error))?;
        let label = |at: &f64| {
            let near = (at - at.round()).abs() < 1e-6;
            rows.get(at.round().max(0.0) as usize).filter(|_| near).map_or(String::new(), |row| short(row.shape))
        };
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(GREY.mix(0.35))
            .axis_style(GREY)
            .x_labels(rows.len().min(24))
            .x_label_formatter(&label)
            .x_label_style(text(11).transform(turn))
            .y_label_formatter(&|rate| format!("{rate:.0}"))
            .y_label_style(text(12))
            .draw()
            .map_err(|error| failed(&error))?;
        for (number, by) in group.by.iter().enumerate() {
            let color = COLORS[number.min(COLORS.len() - 1)];
            let points: Vec<(f64, f64)> =
                rows.iter().enumerate().filter_map(|(at, row)| row.of(by).map(|own| (at as f64, rate(own)))).collect();
            if points.is_empty() {
                continue;
            }
            chart
                .draw_series(LineSeries::new(points.iter().copied(), color.stroke_width(2)).point_size(3))
                .map_err(|error| failed(&error))?
                .label(*by)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], color.stroke_width(3)));
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::LowerRight)
            .label_font(text(13))
            .border_style(TRANSPARENT)
            .draw()
            .map_err(|error| failed(&error))?;
        root.present().map_err(|error| failed(&error))?;
    }
    Ok(svg)
}

/// A shape in few letters: powers of two as such, equal extents of a product once.
fn short(shape: &str) -> String {
    let power = |text: &str| match text.parse::<usize>() {
        Ok(n) if n >= 1024 && n.is_power_of_two() => format!("2^{}", n.ilog2()),
        _ => text.to_owned(),
    };
    let field = |name: &str| shape.split(' ').find_map(|word| word.strip_prefix(name)?.strip_prefix('=')).map(power);
    match (field("n"), field("m"), field("k"), field("rows"), field("cols")) {
        (Some(n), Some(m), Some(k), ..) if m == n && n == k => n,
        (Some(n), Some(m), Some(k), ..) => format!("{m},{n},{k}"),
        (_, _, _, Some(rows), Some(cols)) => format!("{rows}x{cols}"),
        (Some(n), ..) => match field("offset") {
            Some(offset) => format!("{n} at {offset}"),
            None => n,
        },
        _ => shape.trim_start_matches("dims=").replace(" order=", " "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_short_under_a_plot() {
        assert_eq!(short("n=1048576"), "2^20");
        assert_eq!(short("n=1048576 offset=1"), "2^20 at 1");
        assert_eq!(short("rows=16384 cols=16385 ld=16385"), "2^14x16385");
        assert_eq!(short("m=4096 n=4096 k=4096 nn batch=1"), "2^12");
        assert_eq!(short("m=1 n=8192 k=8192 nn batch=1"), "1,2^13,2^13");
        assert_eq!(short("dims=2x3x4 order=021"), "2x3x4 021");
    }
}
