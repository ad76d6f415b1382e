//! Reads what `ncu --csv --print-units base` writes: one line for each launch and metric ("long" form), between lines
//! of other kinds.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, bail, ensure};

/// One launch that ncu saw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Profiled {
    /// The kernel's name, without parameters.
    pub(super) kernel: String,
    /// Value by metric.
    pub(super) values: BTreeMap<String, u64>,
}

/// The launches, in their order.
pub(super) fn parse(text: &str) -> Result<Vec<Profiled>> {
    // Records begin with a quoted field; ncu's own messages and the program's output do not.
    let records: Vec<&str> =
        text.lines().skip_while(|line| !line.starts_with("\"ID\"")).filter(|line| line.starts_with('"')).collect();
    ensure!(!records.is_empty(), "no line begins with \"ID\", the head of the table that `ncu --csv` prints");
    let table = records.join("\n");
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let head = reader.headers()?.clone();
    let column = |name: &str| {
        let found = head.iter().position(|field| field == name);
        found.with_context(|| format!("there is no column \"{name}\"; take ncu's default page, without --page raw"))
    };
    let (id, kernel, metric, value) =
        (column("ID")?, column("Kernel Name")?, column("Metric Name")?, column("Metric Value")?);
    let mut launches: BTreeMap<u64, Profiled> = BTreeMap::new();
    for record in reader.records() {
        let record = record?;
        let field = |at: usize| record.get(at).unwrap_or_default();
        let number: u64 = field(id).parse().with_context(|| format!("\"{}\" is no ID of a launch", field(id)))?;
        let name = field(kernel).split('(').next().unwrap_or_default().trim().to_owned();
        let launch = launches.entry(number).or_insert_with(|| Profiled { kernel: name, values: BTreeMap::new() });
        let count = count(field(value)).with_context(|| format!("launch {number}, {}", field(metric)))?;
        launch.values.insert(field(metric).to_owned(), count);
    }
    Ok(launches.into_values().collect())
}

/// A count as ncu prints it: digits, in some locales with commas between thousands, for some metrics with decimals of
/// zero.
fn count(text: &str) -> Result<u64> {
    let digits: String = text.chars().filter(|c| *c != ',').collect();
    let (whole, decimals) = digits.split_once('.').unwrap_or((&digits, ""));
    match whole.parse() {
        Ok(count) if decimals.chars().all(|c| c == '0') => Ok(count),
        _ => bail!(
            "`{text}` is no count; n/a means that the GPU has no such metric, decimals that ncu scaled the unit: \
                    give it --print-units base"
        ),
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    /// As ncu 2025 prints it, with the lines around.
    const OUTPUT: &str = r#"==PROF== Connected to process 4242 (/bundle/bin/warpwright-counters)
a line of the program
==PROF== Profiling "vector_add" - 0: 0%....50%....100% - 1 pass
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value"
"0","4242","warpwright-counters","127.0.0.1","vector_add","1","7","(64, 1, 1)","(16384, 1, 1)","0","9.0","Command line profiler metrics","l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum","","65,536"
"0","4242","warpwright-counters","127.0.0.1","vector_add","1","7","(64, 1, 1)","(16384, 1, 1)","0","9.0","Command line profiler metrics","l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum","sector","262144"
==PROF== Disconnected from process 4242
"1","4242","warpwright-counters","127.0.0.1","matmul_tiled(MatRef, MatRef, MatMut)","1","7","(32, 32, 1)","(12, 16, 1)","0","9.0","Command line profiler metrics","smsp__inst_executed_op_shared_ld.sum","inst","0"
"#;

    #[test]
    fn launches_and_metrics_are_read() {
        let launches = parse(OUTPUT).unwrap();
        assert_eq!(launches.len(), 2);
        assert_eq!(launches[0].kernel, "vector_add");
        assert_eq!(launches[0].values["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"], 65_536);
        assert_eq!(launches[0].values["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"], 262_144);
        assert_eq!(launches[1].kernel, "matmul_tiled");
        assert_eq!(launches[1].values["smsp__inst_executed_op_shared_ld.sum"], 0);
    }

    #[test]
    fn counts_are_whole() {
        assert_eq!(count("1,048,576").unwrap(), 1 << 20);
        assert_eq!(count("40.00").unwrap(), 40);
        assert!(count("1.05").unwrap_err().to_string().contains("--print-units base"));
        assert!(count("-1").is_err() && count("").is_err());
    }

    #[test]
    fn other_files_are_refused_with_a_reason() {
        let reason = |text: &str| format!("{:#}", parse(text).unwrap_err());
        assert!(reason("").contains("no line begins with \"ID\""));
        assert!(reason("\"ID\",\"Kernel Name\"\n\"0\",\"x\"").contains("no column \"Metric Name\""));
        let bad = OUTPUT.replace("\"262144\"", "\"n/a\"");
        assert!(reason(&bad).contains("launch 0, l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum: `n/a` is no count"));
        let bad = OUTPUT.replace("\n\"1\",", "\n\"one\",");
        assert!(reason(&bad).contains("\"one\" is no ID"));
    }

    #[test]
    fn launches_come_in_the_order_of_their_numbers() {
        let mut text = String::from("\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Value\"\n");
        for id in (0..12).rev() {
            writeln!(text, "\"{id}\",\"k{id}\",\"m\",\"{id}\"").unwrap();
        }
        let launches = parse(&text).unwrap();
        let names: Vec<_> = launches.iter().map(|launch| launch.kernel.as_str()).collect();
        assert_eq!(names, ["k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7", "k8", "k9", "k10", "k11"]);
    }
}
