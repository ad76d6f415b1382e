//! Bars by step: speed against the limit, or what of it the traffic leaves where nothing was timed; and divergence.

use maud::{Markup, html};

use super::super::report::{FamilyReport, GpuReport, StepReport};
use super::super::terminal::{percent, rate};

/// Distance from bar to bar.
const PITCH: f64 = 26.0;
/// Where bars begin and the axis ends.
const LEFT: f64 = 240.0;
const RIGHT: f64 = 700.0;

struct Bar {
    label: String,
    /// Share of the axis.
    share: f64,
    value: String,
}

fn label(step: &StepReport) -> String {
    format!("{} {}", step.row.as_deref().unwrap_or_default(), step.kernel).trim().to_owned()
}

/// Speed by step on a GPU, as shares of the limit; on the simulator the share of moved sectors that had to be moved.
pub(super) fn speed(family: &FamilyReport, gpu: Option<&GpuReport>) -> Markup {
    let measured = |step: &StepReport| {
        let timed = step.timed.as_ref()?;
        Some(Bar { label: label(step), share: timed.share_of_limit?, value: rate(timed) })
    };
    let counted = |step: &StepReport| {
        let share = step.counted.as_ref()?.sector_use()?;
        Some(Bar { label: label(step), share, value: percent(share) })
    };
    let (bars, title, caption): (Vec<Bar>, _, _) = if gpu.is_some() {
        (
            family.steps.iter().filter_map(measured).collect(),
            "Speed by step, against the limit",
            "Measured. The dashed line is the limit: for rates in FLOP/s the peak of the SMs or of their tensor cores, \
             for rates in B/s the device-to-device copy of this run. A kernel that only reads or only writes may pass \
             the copy.",
        )
    } else {
        (
            family.steps.iter().filter_map(counted).collect(),
            "How much of what moves has to move",
            "Counted, not timed: bytes that must be read or written, as a share of the 32-byte sectors that the \
             requests touch. Caches aside, this is the share of a copy's speed that the traffic allows; the dashed \
             line is the copy.",
        )
    };
    figure(title, caption, &bars, true)
}

/// Divergent branches of all that warps executed, where steps differ in them.
pub(super) fn divergence(family: &FamilyReport) -> Markup {
    let shares = family.steps.iter().filter_map(|step| {
        let counted = step.counted.as_ref().filter(|counted| counted.branches > 0)?;
        let share = counted.divergent as f64 / counted.branches as f64;
        let value = format!("{} of {}", counted.divergent, counted.branches);
        Some(Bar { label: format!("{}, {}", label(step), counted.shape), share, value })
    });
    let mut bars: Vec<Bar> = shares.collect();
    for bar in &mut bars {
        // The kernel is enough, but for two steps of one kernel.
        let kernel = bar.label.split(", ").next().unwrap_or_default().to_owned();
        let condition = bar.label.rsplit(", ").next().filter(|part| part.contains('>')).map(|part| format!(", {part}"));
        bar.label = kernel + &condition.unwrap_or_default();
    }
    if bars.iter().filter(|bar| bar.share > 0.0).count() < 2 {
        return html! {};
    }
    let caption = "Counted: of the branches that warps met, those at which some lanes went one way and some the other.";
    figure("Branches that split a warp", caption, &bars, false)
}

/// A chart; where its last tick is a limit, that is drawn as one.
fn figure(title: &str, caption: &str, bars: &[Bar], limit: bool) -> Markup {
    if bars.is_empty() {
        return html! {};
    }
    let most = bars.iter().map(|bar| bar.share).fold(1.0, f64::max);
    let x = |share: f64| LEFT + (RIGHT - LEFT) * share / most;
    let height = PITCH * bars.len() as f64 + 30.0;
    let summary: Vec<String> = bars.iter().map(|bar| format!("{} {}", bar.label, bar.value)).collect();
    html! {
        h3 { (title) }
        figure {
            div class="wide chart" role="region" aria-label=(title) tabindex="0" {
                svg viewBox={ "0 0 800 " (height) } role="img" {
                    title { (title) }
                    desc { (summary.join("; ")) }
                    @for tick in [0.0, 0.25, 0.5, 0.75, 1.0] {
                        line class=(if limit && tick == 1.0 { "limit" } else { "grid" })
                            x1=(f(x(tick))) y1="0" x2=(f(x(tick))) y2=(f(height - 24.0)) {}
                        text class="tick" x=(f(x(tick))) y=(f(height - 8.0)) text-anchor="middle" {
                            (percent_tick(tick))
                        }
                    }
                    @for (index, bar) in bars.iter().enumerate() {
                        @let y = PITCH * index as f64;
                        @let end = x(bar.share);
                        text x=(f(LEFT - 10.0)) y=(f(y + 16.0)) text-anchor="end" { (bar.label) }
                        rect class=(if limit { "bar" } else { "bar warm" })
                            x=(f(LEFT)) y=(f(y + 4.0)) width=(f((end - LEFT).max(1.0))) height="16" {
                            title { (bar.label) ": " (bar.value) }
                        }
                        text x=(f(end + 8.0)) y=(f(y + 16.0)) { (bar.value) }
                    }
                }
            }
            figcaption { (caption) }
        }
    }
}

fn percent_tick(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// A coordinate.
pub(super) fn f(value: f64) -> String {
    format!("{value:.1}")
}
