//! What a trace is of, and what it is made of: the manifest in words.

use super::super::super::page::{FAINT, Page, TITLE, WARN};
use super::super::super::units::{count, plural, si, three};
use super::TOGETHER;
use serde_json::Value;
use treeqr::profiling::trace::{Manifest, Status, TraceKind};

/// Longer entries of a list may be broken.
const SHORT: usize = 40;

/// What it is of, how it came about, and whether it is whole.
pub fn origin(page: &mut Page, manifest: &Manifest) {
    let kind = match manifest.kind {
        TraceKind::Measured => "a run that was measured",
        TraceKind::Simulated => "a run in virtual time",
        TraceKind::Graph => "a task graph, without times",
    };
    let written = manifest
        .written_unix_s
        .map_or(String::new(), |s| format!(", on {}", date(s)));
    page.prose("Of", &format!("{kind}, by {}{written}", manifest.program));
    match &manifest.status {
        Status::Complete => {}
        Status::Cancelled => page.row(
            "Status",
            &format!("{WARN}cancelled{WARN:#}: what had been done until then"),
        ),
        Status::Failed(why) => {
            page.row(
                "Status",
                &format!("{WARN}failed{WARN:#}: what had been done until then"),
            );
            page.prose("", why);
        }
    }
    if let Some(part) = &manifest.filtered {
        page.prose("Part", &format!("of a larger trace: {part}"));
    }
    if !manifest.command.is_empty() {
        page.prose("Command", &manifest.command.join(" "));
    }
    let sections = [
        ("Matrix", &manifest.matrix),
        ("Options", &manifest.options),
        ("Analysis", &manifest.analysis),
        ("Machine", &manifest.machine),
        ("Clock", &manifest.clock),
    ];
    for (label, section) in sections {
        let words: Vec<_> = section
            .iter()
            .filter_map(|(key, value)| entry(key, value))
            .collect();
        if !words.is_empty() {
            page.prose(label, &words.join(", "));
        }
    }
}

/// `name value`, with the unit that the name ends in; what was not given is not told.
fn entry(key: &str, value: &Value) -> Option<String> {
    let name = key.strip_suffix("_bytes").unwrap_or(key).replace('_', " ");
    let value = match value {
        Value::Null | Value::Bool(false) => return None,
        Value::Bool(true) => return Some(name),
        Value::Number(n) => {
            let x = n.as_f64().unwrap_or(f64::NAN);
            match n.as_u64() {
                _ if key.ends_with("_bytes") => si(x, "B"),
                _ if key.ends_with("flops") => si(x, "flop"),
                Some(n) => count(n),
                None => three(x),
            }
        }
        Value::String(text) => text.clone(),
        Value::Array(list)
            if list.iter().all(|v| v.is_string() || v.is_number()) && !list.is_empty() =>
        {
            let words: Vec<_> = list
                .iter()
                .map(|v| v.as_str().map_or(v.to_string(), str::to_owned))
                .collect();
            words.join(" ")
        }
        // Lists and tables are for --json.
        _ => return None,
    };
    Some(match key {
        // Whose name says nothing that the value does not.
        "name" | "problem" | "processor" | "kind" => value,
        _ => format!("{name} {value}"),
    })
    .map(|entry| match entry.len() {
        0..SHORT => entry.replace(' ', &TOGETHER.to_string()),
        _ => entry,
    })
}

pub fn tables(page: &mut Page, manifest: &Manifest) {
    page.row(
        "Tables",
        &format!(
            "{FAINT}{:<14} {:>12} {:>9} {:>12}{FAINT:#}",
            "", "rows", "size", "bytes a row"
        ),
    );
    let line = |name: &str, rows: u64, bytes: u64| {
        let each = bytes as f64 / (rows.max(1)) as f64;
        format!(
            "{name:<14} {:>12} {:>9} {:>12}",
            count(rows),
            si(bytes as f64, "B"),
            three(each)
        )
    };
    for t in &manifest.tables {
        page.row("", &line(&t.table, t.rows, t.bytes));
    }
    let bytes: u64 = manifest
        .tables
        .iter()
        .map(|t| t.bytes)
        .fold(0, u64::saturating_add);
    let of_tasks = manifest
        .tables
        .iter()
        .find(|t| t.table == "tasks" || t.table == "graph");
    let each = of_tasks.map_or(String::new(), |t| {
        format!(
            ", {TITLE}{} bytes a task{TITLE:#} in all",
            three(bytes as f64 / t.rows.max(1) as f64)
        )
    });
    page.row("", &format!("{}{each}", si(bytes as f64, "B")));
}

pub fn recorder(page: &mut Page, manifest: &Manifest) {
    let r = &manifest.recorder;
    if r.records > 0 {
        let dropped = match r.dropped_records {
            0 => "none dropped".to_owned(),
            n => format!("{WARN}{} dropped{WARN:#}", count(n)),
        };
        page.row(
            "Recorder",
            &format!(
                "{}, {} ns each, {dropped}",
                plural(r.records as usize, "record", "records"),
                three(r.ns_per_record)
            ),
        );
    }
    if r.lost_threads > 0 {
        page.row(
            "",
            &format!(
                "{WARN}the records of {} threads were lost{WARN:#}",
                r.lost_threads
            ),
        );
    }
    for module in &manifest.modules {
        match module.missing.as_slice() {
            [] => page.prose("Module", &format!("{}: all of it", module.module)),
            missing => page.prose(
                "Module",
                &format!("{}, but for {}", module.module, missing.join("; ")),
            ),
        }
    }
}

/// Year, month and day of seconds since 1970 (UTC), by the days of 400 years (Howard Hinnant's `civil_from_days`).
fn date(unix_s: u64) -> String {
    let days = unix_s / 86400 + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let (day, month) = (
        day_of_year - (153 * shifted + 2) / 5 + 1,
        (shifted + 2) % 12 + 1,
    );
    let year = era * 400 + year + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn days_have_dates() {
        for (s, day) in [
            (0, "1970-01-01"),
            (951_782_400, "2000-02-29"),
            (1_798_761_599, "2026-12-31"),
        ] {
            assert_eq!(date(s), day);
        }
    }

    #[test]
    fn entries_say_their_unit_once() {
        let cases = [
            ("peak_bytes", json!(2_000_000), Some("peak 2.00 MB")),
            (
                "critical_path_flops",
                json!(1000),
                Some("critical path flops 1.00 kflop"),
            ),
            ("threads", json!(2), Some("threads 2")),
            ("keeps_q", json!(true), Some("keeps q")),
            ("mb", Value::Null, None),
            ("name", json!("TF15"), Some("TF15")),
            ("tasks_by_codelet", json!({"geqrt": 1}), None),
        ];
        for (key, value, text) in cases {
            let entry = entry(key, &value).map(|e| e.replace(TOGETHER, " "));
            assert_eq!(entry.as_deref(), text);
        }
    }
}
