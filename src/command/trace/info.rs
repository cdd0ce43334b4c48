//! `treeqr trace info`: what is in a trace, and where the time went. Reads the manifest, workers, codelets, tasks, states.

use super::super::bars::{bar, split};
use super::super::failure::Failure;
use super::super::page::{self, FAINT, Page, TITLE, WARN, WORK};
use super::super::units::{count, percent, plural, si, three, time};
use super::args::InfoArgs;
use super::parts::{per_mille, tenths};
use super::{failure, open};
use serde_json::{Map, Value, json};
use std::path::Path;
use std::time::Duration;
use treeqr::profiling::inspect::{Balance, WorkerBalance};
use treeqr::profiling::trace::{Manifest, Status, TraceKind};

/// Columns of a bar.
const BAR: usize = 24;
/// More workers than this are shown together only.
const WORKERS: usize = 32;
/// A blank at which no line is broken.
const TOGETHER: char = '\u{a0}';
/// Longer entries of a list may be broken.
const SHORT: usize = 40;
/// Where a worker's time goes, the codelets apart.
const PARTS: [&str; 6] = ["tasks", "asking", "idle", "asleep", "data", "runtime"];

/// Tells it.
pub fn run(args: &InfoArgs) -> Result<(), Failure> {
    let trace = open(&args.trace)?;
    let balance = Balance::of(&trace).map_err(failure)?;
    let manifest = trace.manifest();
    page::print(&if args.json {
        format!("{:#}\n", json(&args.trace, manifest, &balance))
    } else {
        text(&args.trace, manifest, &balance)
    })
}

fn text(path: &Path, manifest: &Manifest, balance: &Balance) -> String {
    let mut page = Page::default();
    page.title("Trace", &path.display().to_string());
    page.gap();
    origin(&mut page, manifest);
    page.gap();
    tables(&mut page, manifest);
    recorder(&mut page, manifest);
    if manifest.kind != TraceKind::Graph && !balance.workers.is_empty() {
        page.gap();
        whole(&mut page, manifest, balance);
        page.gap();
        sums(&mut page, manifest, balance);
        page.gap();
        workers(&mut page, manifest, balance);
    }
    page.text().replace(TOGETHER, " ")
}

/// What it is of, how it came about, and whether it is whole.
fn origin(page: &mut Page, manifest: &Manifest) {
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

fn tables(page: &mut Page, manifest: &Manifest) {
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

fn recorder(page: &mut Page, manifest: &Manifest) {
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

fn whole(page: &mut Page, manifest: &Manifest, balance: &Balance) {
    let run = &manifest.run;
    let speed = balance.flops as f64 / (balance.makespan_ns.max(1)) as f64;
    let plain = |t: u64| time(ns(t)).trim_end().to_owned();
    page.row(
        "Run",
        &format!(
            "{TITLE}{}{TITLE:#} from {} on: {} by {}, scheduler {}",
            plain(balance.makespan_ns),
            plain(run.begin_ns),
            plural(balance.tasks as usize, "task", "tasks"),
            plural(balance.workers.len(), "worker", "workers"),
            run.scheduler,
        ),
    );
    page.row(
        "",
        &format!(
            "{}, {}; {} of the workers' time in tasks",
            si(balance.flops as f64, "flop"),
            si(1e9 * speed, "Flop/s"),
            percent(balance.occupancy),
        ),
    );
    if !run.devices.is_empty() {
        page.prose(
            "",
            &format!(
                "emulated: {}; times are {} times those of the emulated machine",
                run.devices.join(", "),
                three(run.time_scale)
            ),
        );
    }
    if let Some(limit) = run.memory_limit_bytes {
        page.row("", &format!("memory limit {}", si(limit as f64, "B")));
    }
    for (waited, what) in [
        (balance.window_full_ns, "tasks to become fewer"),
        (balance.memory_full_ns, "memory"),
    ] {
        if waited > 0 {
            page.row(
                "",
                &format!(
                    "the submission waited {} for {what}",
                    time(ns(waited)).trim_end()
                ),
            );
        }
    }
}

/// The time of all workers: codelets first, then what was no task. The percentages add up to 100.
fn sums(page: &mut Page, manifest: &Manifest, balance: &Balance) {
    let sum = |of: &dyn Fn(&WorkerBalance) -> u64| {
        balance.workers.iter().map(of).fold(0, u64::saturating_add)
    };
    let mut parts: Vec<(&str, u64)> = Vec::new();
    for (k, name) in balance.codelets.iter().enumerate() {
        parts.push((name, sum(&|w| w.by_codelet_ns[k])));
    }
    parts.sort_by_key(|part| std::cmp::Reverse(part.1));
    let in_tasks = parts.len();
    for (k, name) in PARTS.iter().enumerate().skip(1) {
        let part = sum(&|w| split_of(w)[k]);
        if part > 0 {
            parts.push((rest(manifest, name), part));
        }
    }
    let shares = per_mille(&parts.iter().map(|p| p.1).collect::<Vec<_>>());
    let mut label = "Time";
    for (k, ((name, part), share)) in parts.iter().zip(shares).enumerate() {
        let style = if k < in_tasks { WORK } else { FAINT };
        let bar = bar(f64::from(share) / 1000.0, BAR);
        let line = format!(
            "{name:<14} {:>9} {:>7} %  {style}{}{style:#}",
            time(ns(*part)),
            tenths(share),
            bar.trim_end()
        );
        page.row(label, &line);
        label = "";
    }
}

/// What is in a part of a trace and is none of the others may be anything that was left out.
fn rest<'a>(manifest: &Manifest, name: &'a str) -> &'a str {
    match name {
        "runtime" if manifest.filtered.is_some() => "other",
        name => name,
    }
}

/// In the order of [`PARTS`].
fn split_of(w: &WorkerBalance) -> [u64; 6] {
    [
        w.executing_ns(),
        w.scheduling_ns,
        w.idle_ns,
        w.sleeping_ns,
        w.transferring_ns,
        w.runtime_ns,
    ]
}

fn workers(page: &mut Page, manifest: &Manifest, balance: &Balance) {
    let heads: String = PARTS
        .iter()
        .map(|part| format!(" {:>7}", rest(manifest, part)))
        .collect();
    page.row(
        "Workers",
        &format!("{FAINT}{:<8} {:<BAR$}{heads}{FAINT:#}", "%", ""),
    );
    let line = |name: &str, parts: [u64; 6]| {
        let shares = per_mille(&parts);
        let numbers: String = shares
            .iter()
            .map(|&share| format!(" {:>7}", tenths(share)))
            .collect();
        let waiting = shares[1..5].iter().sum::<u32>();
        let [t, r, i] = split([shares[0], shares[5], waiting].map(f64::from), BAR);
        let (t, r, i) = ("█".repeat(t), "▒".repeat(r), "░".repeat(i));
        format!("{name:<8} {WORK}{t}{WORK:#}{WARN}{r}{WARN:#}{FAINT}{i}{FAINT:#}{numbers}")
    };
    if balance.workers.len() <= WORKERS {
        for w in &balance.workers {
            page.row("", &line(&w.name, split_of(w)));
        }
    }
    if balance.workers.len() > 1 {
        let mut all = [0_u64; 6];
        for w in &balance.workers {
            all.iter_mut()
                .zip(split_of(w))
                .for_each(|(sum, part)| *sum = sum.saturating_add(part));
        }
        page.row("", &line("all", all));
    }
}

fn json(path: &Path, manifest: &Manifest, balance: &Balance) -> Value {
    let s = |ns: u64| ns as f64 / 1e9;
    let worker = |w: &WorkerBalance| {
        let by_codelet: Map<_, _> = balance
            .codelets
            .iter()
            .zip(&w.by_codelet_ns)
            .map(|(name, &ns)| (name.clone(), s(ns).into()))
            .collect();
        json!({
            "worker": w.worker,
            "name": w.name,
            "kind": w.kind.name(),
            "tasks": w.tasks,
            "time_s": s(w.time_ns),
            "executing_s": s(w.executing_ns()),
            "by_codelet_s": by_codelet,
            "scheduling_s": s(w.scheduling_ns),
            "idle_s": s(w.idle_ns),
            "sleeping_s": s(w.sleeping_ns),
            "transferring_s": s(w.transferring_ns),
            "runtime_s": s(w.runtime_ns),
        })
    };
    let bytes: u64 = manifest
        .tables
        .iter()
        .map(|t| t.bytes)
        .fold(0, u64::saturating_add);
    json!({
        "trace": path.to_string_lossy(),
        "manifest": manifest,
        "bytes": bytes,
        "balance": {
            "makespan_s": s(balance.makespan_ns),
            "occupancy": balance.occupancy,
            "tasks": balance.tasks,
            "flops": balance.flops,
            "window_full_s": s(balance.window_full_ns),
            "memory_full_s": s(balance.memory_full_ns),
            "workers": balance.workers.iter().map(worker).collect::<Vec<_>>(),
        },
        "version": treeqr::VERSION,
    })
}

fn ns(t: u64) -> Duration {
    Duration::from_nanos(t)
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
