//! Which measurements a page shows: of each case the newest run that has ours, and with it the peers of that same run.
//!
//! `PyTorch` runs in a process of its own and so in a run of its own: of it the newest measurement of the case is
//! shown.

use super::super::record::{Measurement, Records};

/// Everything that is shown of one work and type: what the device takes, or what the host does.
pub(super) struct Group<'a> {
    pub(super) work: &'a str,
    pub(super) dtype: &'a str,
    /// Whether its times are those of the work, of which there is a rate; else host time and first calls.
    pub(super) has_rate: bool,
    /// Who is in it, ours first, in the order of the records otherwise.
    pub(super) by: Vec<&'a str>,
    /// Cases in the order of the records.
    pub(super) rows: Vec<Row<'a>>,
}

/// One case.
pub(super) struct Row<'a> {
    pub(super) shape: &'a str,
    pub(super) mode: &'a str,
    pub(super) measurements: Vec<&'a Measurement>,
    /// The best copy in the run, bytes per second.
    pub(super) copy: Option<f64>,
    /// The best kernel that only reads, bytes per second.
    pub(super) read: Option<f64>,
}

impl Group<'_> {
    /// What it is about.
    pub(super) fn title(&self) -> String {
        let of = if self.has_rate { "" } else { ": host time and first calls" };
        format!("{} of {}{of}", self.work, self.dtype)
    }
}

/// The name of ours.
pub(super) const OURS: &str = "warpwright";

impl<'a> Row<'a> {
    /// The measurement of one implementation.
    pub(super) fn of(&self, by: &str) -> Option<&'a Measurement> {
        self.measurements.iter().find(|own| own.by == by).copied()
    }

    /// Ours, or, where there is none, the fastest of those there are.
    pub(super) fn shown(&self) -> Option<&'a Measurement> {
        let fastest = || self.measurements.iter().min_by(|a, b| a.median_us.total_cmp(&b.median_us)).copied();
        self.of(OURS).or_else(fastest)
    }

    /// The runs that its measurements belong to.
    pub(super) fn runs(&self) -> impl Iterator<Item = &'a str> + use<'a, '_> {
        self.measurements.iter().map(|own| own.run.as_str())
    }
}

/// Bytes from which a copy is a ceiling: it then lasts, and does not fit the L2 cache.
const CEILING: f64 = 512e6;

/// The groups in the order of the records.
pub(super) fn groups(records: &Records) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for measurement in &records.measurements {
        let Measurement { work, dtype, shape, mode, .. } = measurement;
        let has_rate = measurement.has_rate();
        let is_same = |group: &Group<'_>| group.work == work && group.dtype == dtype && group.has_rate == has_rate;
        let at = groups.iter().position(is_same).unwrap_or_else(|| {
            groups.push(Group { work, dtype, has_rate, by: Vec::new(), rows: Vec::new() });
            groups.len() - 1
        });
        if groups[at].rows.iter().any(|row| row.shape == shape && row.mode == mode) {
            continue;
        }
        let row = row(records, measurement);
        groups[at].rows.push(row);
    }
    for group in &mut groups {
        let mut by: Vec<&str> = Vec::new();
        for measurement in group.rows.iter().flat_map(|row| &row.measurements) {
            if !by.contains(&measurement.by.as_str()) {
                by.push(&measurement.by);
            }
        }
        by.sort_by_key(|by| (*by != OURS, !by.starts_with(OURS)));
        group.by = by;
    }
    groups
}

fn row<'a>(records: &'a Records, like: &'a Measurement) -> Row<'a> {
    let same: Vec<&Measurement> = records.measurements.iter().filter(|own| own.case() == like.case()).collect();
    let in_process = same.iter().rfind(|own| own.by == OURS).or_else(|| same.iter().rfind(|own| own.by != "torch"));
    let run = in_process.map_or("", |own| own.run.as_str());
    let mut measurements: Vec<&Measurement> = Vec::new();
    for &own in same.iter().rev().filter(|own| own.run == run || own.by == "torch") {
        if !measurements.iter().any(|other| other.by == own.by) {
            measurements.insert(0, own);
        }
    }
    let ceiling = |work: &str| {
        let own = records.measurements.iter().filter(|own| own.run == run && own.work == work && own.bytes >= CEILING);
        own.map(Measurement::bandwidth).max_by(f64::total_cmp)
    };
    Row { shape: &like.shape, mode: &like.mode, measurements, copy: ceiling("copy"), read: ceiling("read") }
}

#[cfg(test)]
mod tests {
    use super::super::super::record::tests::measured;
    use super::*;

    #[test]
    fn the_newest_run_with_ours_is_shown_with_its_own_peers() {
        let mut records = Records::default();
        for (by, run, us) in [
            ("warpwright", "1", 5.0),
            ("cub", "1", 6.0),
            ("torch", "2", 9.0),
            ("warpwright", "3", 4.0),
            ("cub", "3", 7.0),
            ("cub", "4", 1.0),
            ("torch", "5", 8.0),
        ] {
            records.measurements.push(measured("sum", "n=1", by, run, &[us]));
        }
        records.measurements.push(measured("copy", "n=2", "copy", "3", &[1000.0]));
        let groups = groups(&records);
        assert_eq!((groups.len(), groups[0].rows.len()), (2, 1));
        assert_eq!(groups[0].by, ["warpwright", "cub", "torch"]);
        let row = &groups[0].rows[0];
        let times = ["warpwright", "cub", "torch"].map(|by| row.of(by).unwrap().median_us);
        assert_eq!(times, [4.0, 7.0, 8.0]);
        assert_eq!(row.copy, Some(4e12));
        assert_eq!(row.read, None);
    }

    #[test]
    fn a_case_without_ours_shows_the_newest_peers() {
        let mut records = Records::default();
        for (run, us) in [("1", 5.0), ("2", 6.0)] {
            records.measurements.push(measured("gemm", "m=1", "cublas", run, &[us]));
        }
        let groups = groups(&records);
        assert_eq!(groups[0].rows[0].shown().unwrap().median_us, 6.0);
    }
}
