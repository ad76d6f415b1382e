//! The page without a browser: parsed as a browser does, and compared with the JSON number by number.

use std::sync::OnceLock;
use std::time::Duration;

use scraper::{ElementRef, Html, Selector};
use warpwright::Device;

use super::{banks, divergence, page};
use crate::tutorial::measure;
use crate::tutorial::report::{GpuReport, Report, Timed};
use crate::tutorial::terminal::{bytes, degrees, divergence as divergent, percent, rate};
use crate::units;

/// A run on the simulator, made once.
fn simulated() -> &'static Report {
    static REPORT: OnceLock<Report> = OnceLock::new();
    REPORT.get_or_init(|| measure::measure(&Device::simulator(), 3).unwrap())
}

/// The same with made-up times, to test the page of a GPU.
fn with_times() -> Report {
    let mut report = simulated().clone();
    let (peak_flops, tensor_flops, copy) = (66.9e12, 989e12, 4.1e12);
    report.device.gpu = Some(GpuReport {
        driver: Some("a driver <of> no GPU & none".into()),
        capability: (9, 0),
        sm_count: 132,
        clock_hz: 1.98e9,
        l2_bytes: 50 << 20,
        peak_flops,
        tensor_flops: Some(tensor_flops),
        copy_bytes_per_second: copy,
    });
    let steps = report.families.iter_mut().flat_map(|family| {
        let peak = if family.tensor { tensor_flops } else { peak_flops };
        family.steps.iter_mut().map(move |step| (peak, step))
    });
    for (number, (peak, step)) in steps.enumerate() {
        let counted = step.counted.as_ref().unwrap();
        let unit = match (counted.operations, counted.necessary_bytes) {
            (Some(_), _) => "FLOP",
            (_, Some(_)) => "B",
            _ => "elements",
        };
        let limit = [("FLOP", peak), ("B", copy)].into_iter().find(|(of, _)| *of == unit).map(|(_, limit)| limit);
        let (work, seconds) = (1e12, 0.5 + 0.1 * number as f64);
        step.timed = Some(Timed {
            shape: format!("input {number}"),
            seconds,
            least_seconds: 0.9 * seconds,
            most_seconds: 1.1 * seconds,
            work,
            unit: unit.into(),
            per_second: work / seconds,
            times_over_before: (number % 3 > 0).then_some(1.0 + number as f64),
            share_of_limit: limit.map(|limit| work / seconds / limit),
        });
    }
    report
}

fn select<'a>(html: &'a Html, selector: &str) -> Vec<ElementRef<'a>> {
    html.select(&Selector::parse(selector).unwrap()).collect()
}

fn text(element: ElementRef<'_>) -> String {
    element.text().collect::<Vec<_>>().join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Texts of the cells of each line of the tables of a class.
fn lines(html: &Html, class: &str) -> Vec<Vec<String>> {
    let cells = Selector::parse("td, th").unwrap();
    let rows = select(html, &format!("table.{class} tbody tr:not(.group)"));
    rows.into_iter().map(|row| row.select(&cells).map(text).collect()).collect()
}

#[test]
fn every_row_is_reproduced_and_every_result_right() {
    let report = simulated();
    for step in report.steps() {
        assert_eq!(step.error, None, "{}", step.kernel);
    }
    for row in &report.texts.rows {
        assert!(row.reproduced, "{row:?}");
    }
    assert!(report.passes());
    assert_eq!((report.texts.reproduced, report.texts.rows.len()), (28, 28));
}

#[test]
fn json_comes_back_as_it_was() {
    for report in [simulated().clone(), with_times()] {
        let json = serde_json::to_string_pretty(&report).unwrap();
        assert!(serde_json::from_str::<Report>(&json).unwrap() == report, "{json}");
    }
}

#[test]
fn a_report_with_a_failure_does_not_pass() {
    let mut report = simulated().clone();
    report.texts.reproduced -= 1;
    assert!(!report.passes());
    let mut report = simulated().clone();
    report.families[1].steps[0].error = Some("wrong".into());
    assert!(!report.passes());
}

/// No error that a browser would have to correct, and nothing loaded from elsewhere.
#[test]
fn the_page_is_well_formed_and_complete_in_itself() {
    for report in [simulated().clone(), with_times()] {
        let source = page(&report);
        let html = Html::parse_document(&source);
        assert_eq!(html.errors, Vec::<String>::new());
        for outside in ["src=", "<link", "@import", "url(", "http"] {
            assert!(!source.contains(outside), "the page has `{outside}`");
        }
        let mut ids: Vec<&str> = select(&html, "[id]").iter().filter_map(|element| element.attr("id")).collect();
        for link in select(&html, "a[href^='#']") {
            let goal = &link.attr("href").unwrap()[1..];
            assert!(ids.contains(&goal), "#{goal} leads nowhere");
        }
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), count, "an id is there twice");
        for picture in select(&html, "svg") {
            assert_eq!(picture.attr("role"), Some("img"));
            assert!(picture.select(&Selector::parse("title").unwrap()).next().is_some(), "a picture without a title");
        }
        let numbers = ["NaN", "inf"];
        for shape in select(&html, "svg *") {
            assert!(
                shape.value().attrs().all(|(_, value)| !numbers.iter().any(|bad| value.contains(bad))),
                "{:?}",
                shape.value()
            );
        }
    }
}

#[test]
fn the_counters_are_those_of_the_json() {
    let report = simulated();
    let html = Html::parse_document(&page(report));
    let expected: Vec<Vec<String>> = report
        .steps()
        .map(|step| {
            let counted = step.counted.as_ref().unwrap();
            vec![
                step.row.clone().unwrap_or_default(),
                format!("{} {}", step.kernel, step.idea),
                counted.shape.clone(),
                bytes(counted.global_bytes()),
                bytes(counted.sector_bytes),
                degrees(counted),
                divergent(counted),
                counted.barriers.to_string(),
            ]
        })
        .collect();
    assert_eq!(lines(&html, "counters"), expected);
    assert_eq!(lines(&html, "times"), Vec::<Vec<String>>::new(), "nothing was timed");
    assert!(text(html.root_element()).contains("Nothing was timed"));
}

#[test]
fn the_times_are_those_of_the_json() {
    let report = with_times();
    let html = Html::parse_document(&page(&report));
    let expected: Vec<Vec<String>> = report
        .steps()
        .map(|step| {
            let timed = step.timed.as_ref().unwrap();
            vec![
                step.row.clone().unwrap_or_default(),
                step.kernel.clone(),
                timed.shape.clone(),
                units::time(Duration::from_secs_f64(timed.seconds)),
                rate(timed),
                timed.times_over_before.map_or(String::new(), units::three_digits),
                timed.share_of_limit.map_or(String::new(), percent),
            ]
        })
        .collect();
    assert_eq!(lines(&html, "times"), expected);
    assert!(!text(html.root_element()).contains("Nothing was timed"));
    assert!(text(html.root_element()).contains("a driver <of> no GPU & none"), "text is escaped");
    let measured = select(&html, "svg circle.point").len();
    assert_eq!(measured, report.steps().filter(|step| step.timed.as_ref().unwrap().unit == "FLOP").count());
    let bars = select(&html, "svg rect.bar:not(.warm)").len();
    assert_eq!(bars, report.steps().filter(|step| step.timed.as_ref().unwrap().share_of_limit.is_some()).count());
}

#[test]
fn the_figures_are_those_of_the_json() {
    let report = simulated();
    let html = Html::parse_document(&page(report));
    let expected: Vec<Vec<String>> = report
        .texts
        .rows
        .iter()
        .flat_map(|row| &row.figures)
        .map(|figure| {
            let what = format!("{} {}", figure.what, figure.because.as_deref().unwrap_or_default());
            let text = figure.text.clone().unwrap_or_else(|| "–".into());
            let cells = [what, text, figure.rule.clone(), figure.computed.clone(), "reproduced".into()];
            cells.map(|cell| cell.split_whitespace().collect::<Vec<_>>().join(" ")).to_vec()
        })
        .collect();
    assert_eq!(lines(&html, "figures"), expected);
    let ids: Vec<&str> = select(&html, "table.figures tbody").iter().filter_map(|body| body.attr("id")).collect();
    assert_eq!(ids, report.texts.rows.iter().map(|row| row.id.as_str()).collect::<Vec<_>>());
}

#[test]
fn the_page_carries_its_report() {
    let report = with_times();
    let html = Html::parse_document(&page(&report));
    let [script] = select(&html, "script#report")[..] else { panic!("one script") };
    let json: String = script.text().collect();
    assert!(serde_json::from_str::<Report>(&json).unwrap() == report, "{json}");
}

#[test]
fn a_failure_is_seen_on_the_page() {
    let mut report = simulated().clone();
    report.families[0].steps[1].counted = None;
    report.families[0].steps[1].error = Some("on the simulator: a <race>".into());
    report.texts.rows[0].reproduced = false;
    report.texts.rows[0].figures[0].reproduced = false;
    report.texts.reproduced -= 1;
    let html = Html::parse_document(&page(&report));
    let all = text(html.root_element());
    for part in ["27 of 28 rows reproduced; not: A1", "matmul_naive: on the simulator: a <race>", "not reproduced"] {
        assert!(all.contains(part), "no `{part}`");
    }
    assert!(html.errors.is_empty(), "{:?}", html.errors);
}

/// The picture is drawn from addresses; the simulator must see the same.
#[test]
fn bank_conflicts_are_drawn_as_they_are_counted() {
    for tile in &banks::TILES {
        assert_eq!(banks::counted(simulated(), tile.kernel), Some(tile.degree() as u32), "{}", tile.kernel);
    }
    let html = Html::parse_document(&page(simulated()));
    assert_eq!(select(&html, "svg rect.lane").len(), 32 * banks::TILES.len(), "each panel has the lanes of a warp");
}

/// The picture is drawn from the guard; the simulator must see the same.
#[test]
fn divergent_warps_are_drawn_as_they_are_counted() {
    let warps = divergence::warps();
    let gray = simulated().steps().find(|step| step.kernel == "color_to_gray").unwrap().counted.as_ref().unwrap();
    assert_eq!((warps.len() as u64, divergence::census(&warps, "divergent") as u64), (gray.warps, gray.divergent));
    assert_eq!(gray.divergent, 31);
    let html = Html::parse_document(&page(simulated()));
    assert_eq!(select(&html, "svg rect.warp.divergent").len(), 31);
    assert_eq!(select(&html, "svg rect.warp").len(), 160);
}
