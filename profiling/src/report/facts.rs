//! The words above the panels: what was run, the figures in large, and what must be known before they are believed.
//!
//! Takes a run; gives labels with texts. Figures are those of `account` and `inspect`, which `treeqr report` prints in a terminal.

use super::format::{BoundsHead, Fact};
use super::run::Run;
use crate::account::{cause_in_words, memory_peak};
use crate::panels::axis::{percent, si, time};
use crate::trace::{Status, TraceKind};
use serde_json::{Map, Value};

/// Causes of less than this part of the workers' time are not told.
const SMALL: f64 = 0.01;

/// The two bounds of the run.
pub(super) fn bounds(run: &Run<'_>) -> Option<BoundsHead> {
    let area_ns = run.computed.area.as_ref()?.bound_ns;
    let critical_path_ns = run.computed.path.length_ns;
    Some(BoundsHead {
        area_ns,
        critical_path_ns,
        bound_ns: area_ns.max(critical_path_ns as f64),
    })
}

/// The matrix, the machine, the run, and the options that were chosen.
pub(super) fn about(run: &Run<'_>) -> Vec<Fact> {
    let manifest = &run.trace.manifest;
    let mut out = Vec::new();
    let side = |key: &str| manifest.matrix.get(key).and_then(Value::as_u64);
    if let (Some(rows), Some(cols)) = (side("rows"), side("cols")) {
        let entries = side("entries").map_or(String::new(), |n| format!(", {} entries", count(n)));
        let text = format!("{} × {}{entries}", count(rows), count(cols));
        out.push(Fact::new("Matrix", text));
    }
    let analysis = &manifest.analysis;
    if let Some(ordering) = analysis.get("ordering").and_then(Value::as_str) {
        let why = analysis.get("ordering_why").and_then(Value::as_str);
        let fact = Fact::new("Ordering", ordering);
        out.push(match why {
            Some(why) if !why.is_empty() => fact.note(why),
            _ => fact,
        });
    }
    let number = |key: &str| analysis.get(key).and_then(Value::as_u64);
    if let (Some(fronts), Some(tiled), Some(groups)) =
        (number("fronts"), number("tiled_fronts"), number("groups"))
    {
        let text = format!(
            "{} fronts: {} in tiles, the others whole in {} subtrees",
            count(fronts),
            count(tiled),
            count(groups)
        );
        out.push(Fact::new("Tree", text));
    }
    let devices = run.subject.workers.iter().filter(|w| w.is_device).count();
    let cpus = run.subject.workers.len() - devices;
    let workers = match devices {
        0 => format!("{cpus} on CPUs"),
        _ => format!("{cpus} on CPUs, {devices} driving devices"),
    };
    out.push(Fact::new("Workers", workers));
    if !manifest.run.scheduler.is_empty() {
        out.push(Fact::new("Scheduler", manifest.run.scheduler.clone()));
    }
    if let Some(limit) = manifest.run.memory_limit_bytes {
        out.push(Fact::new("Memory limit", si(limit as f64, "B")));
    }
    out.extend(machine(&manifest.machine));
    out.push(Fact::new("Program", manifest.program.clone()));
    if !manifest.command.is_empty() {
        out.push(Fact::new("Command", manifest.command.join(" ")));
    }
    out.extend(options(&manifest.options));
    out
}

fn machine(machine: &Map<String, Value>) -> Vec<Fact> {
    let mut out = Vec::new();
    if let Some(processor) = machine.get("processor").and_then(Value::as_str) {
        let number = |key: &str| machine.get(key).and_then(Value::as_u64);
        let fact = Fact::new("Processor", processor);
        out.push(match (number("cores"), number("usable_units")) {
            (Some(cores), Some(units)) => fact.note(format!("{cores} cores, {units} units usable")),
            _ => fact,
        });
    }
    out
}

/// Those that were set.
fn options(options: &Map<String, Value>) -> Vec<Fact> {
    let text = |value: &Value| match value {
        Value::Null | Value::Bool(false) => None,
        Value::String(text) => Some(text.clone()),
        Value::Array(list) if list.is_empty() => None,
        Value::Array(list) => {
            let words = list
                .iter()
                .map(|v| v.as_str().map_or(v.to_string(), str::to_owned));
            Some(words.collect::<Vec<_>>().join(", "))
        }
        Value::Bool(true) => Some("yes".to_owned()),
        other => Some(other.to_string()),
    };
    let fact = |(key, value): (&String, &Value)| {
        Some(Fact::new(
            format!("--{}", key.replace('_', "-")),
            text(value)?,
        ))
    };
    options.iter().filter_map(fact).collect()
}

/// The figures in large.
pub(super) fn headline(run: &Run<'_>) -> Vec<Fact> {
    let tasks = run.tasks();
    let span = run.span_ns as f64;
    let flops: f64 = tasks.iter().map(|t| t.flops as f64).sum();
    let mut out = vec![Fact::new("Time", time(span)).note(format!(
        "from the beginning of the run to the end of its last task; {} tasks",
        count(tasks.len() as u64)
    ))];
    if flops > 0.0 {
        out.push(Fact::new("Speed", si(flops / span * 1e9, "Flop/s")).note(si(flops, "flop")));
    }
    out.push(occupancy(run));
    if let Some(bounds) = bounds(run) {
        let area = time(bounds.area_ns);
        let path = time(bounds.critical_path_ns as f64);
        let note = format!(
            "{} of the time it took; all workers busy: {area}, longest chain of tasks: {path}",
            percent(bounds.bound_ns / span)
        );
        out.push(Fact::new("At best", time(bounds.bound_ns)).note(note));
    }
    if !run.trace.tables.memory.is_empty() {
        let peak = memory_peak(run.trace);
        let fact = Fact::new("Memory peak", si(peak.peak_bytes as f64, "B"));
        out.push(match peak.predicted_bytes {
            Some(predicted) => {
                let predicted = si(predicted as f64, "B");
                fact.note(format!("{predicted} predicted for a sequential run"))
            }
            None => fact,
        });
    }
    out.extend(slow(run));
    out
}

fn occupancy(run: &Run<'_>) -> Fact {
    let idle = &run.computed.idle;
    let all = (idle.executing_ns + idle.all.total_ns()).max(1) as f64;
    let mut causes = idle.all.named().to_vec();
    causes.sort_by_key(|cause| std::cmp::Reverse(cause.1));
    let told: Vec<String> = causes
        .iter()
        .map(|&(name, ns)| (name, ns as f64 / all))
        .take_while(|&(_, part)| part >= SMALL)
        .map(|(name, part)| format!("{} {}", cause_in_words(name), percent(part)))
        .collect();
    let helping = run.subject.pieces().filter(|piece| !piece.own);
    let helping: f64 = helping.map(|piece| piece.duration_ns() as f64).sum();
    let mut notes = Vec::new();
    if helping > 0.0 {
        notes.push(format!("in others' tasks: {}", percent(helping / all)));
    }
    if !told.is_empty() {
        notes.push(format!("without one: {}", told.join(", ")));
    }
    let fact = Fact::new("Workers in tasks", percent(idle.executing_ns as f64 / all));
    match notes.is_empty() {
        true => fact,
        false => fact.note(notes.join("; ")),
    }
}

/// Tasks above their models' limits, beside how many that would be by chance.
fn slow(run: &Run<'_>) -> Option<Fact> {
    let measured: u64 = run
        .computed
        .models
        .groups
        .iter()
        .map(|group| group.tasks)
        .sum();
    if measured == 0 {
        return None;
    }
    let found = run.computed.models.anomalies();
    let excess: f64 = found
        .iter()
        .map(|a| a.duration_ns as f64 - a.expected_ns)
        .sum();
    let by_chance = (0.5 * (1.0 - run.computed.models.level) * measured as f64).round();
    let note = format!(
        "above the {} interval of their kind; {} by chance; {} more than expected",
        percent(run.computed.models.level),
        count(by_chance as u64),
        time(excess)
    );
    Some(Fact::new("Slow tasks", count(found.len() as u64)).note(note))
}

/// What must be known before the figures are believed.
pub(super) fn warnings(run: &Run<'_>) -> Vec<String> {
    let manifest = &run.trace.manifest;
    let mut out = Vec::new();
    match &manifest.status {
        Status::Complete => {}
        Status::Cancelled => out.push(
            "The run was cancelled: what is shown is what had been done until then.".to_owned(),
        ),
        Status::Failed(why) => out.push(format!(
            "The run failed: {why}. What is shown is what had been done until then."
        )),
    }
    if let Some(what) = &manifest.filtered {
        out.push(format!("This is a part of a trace: {what}."));
    }
    let recorder = &manifest.recorder;
    if recorder.dropped_records > 0 {
        let dropped = count(recorder.dropped_records);
        out.push(format!("{dropped} records found no room and are missing."));
    }
    if recorder.lost_threads > 0 {
        let lost = count(recorder.lost_threads);
        out.push(format!(
            "The records of {lost} threads were lost with them."
        ));
    }
    if manifest.run.time_scale != 1.0 {
        out.push(format!(
            "Devices are emulated ({}): all times are stretched by {}.",
            manifest.run.devices.join(", "),
            manifest.run.time_scale
        ));
    }
    if manifest.kind == TraceKind::Simulated {
        out.push("Times are those of a simulation.".to_owned());
    }
    for module in &manifest.modules {
        for missing in &module.missing {
            out.push(format!("Not recorded ({}): {missing}.", module.module));
        }
    }
    if run.computed.area.is_none() {
        out.push("The area bound is missing: its linear program was not solved.".to_owned());
    }
    out
}

/// `12 345`.
fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (k, digit) in digits.chars().enumerate() {
        if k > 0 && digits.len() > 4 && (digits.len() - k).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::count;

    #[test]
    fn counts_are_in_groups_of_three() {
        assert_eq!([1, 1234].map(count), ["1", "1234"]);
        assert_eq!(count(1_234_567), "1\u{202f}234\u{202f}567");
    }
}
