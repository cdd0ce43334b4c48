//! What a run could have taken, why its workers had no task, and which tasks took longer than others like them.
//!
//! Takes a trace; adds three rows to a page. The figures are those of `profiling::account` and `profiling::models`.

use super::page::{FAINT, Page, TITLE, WARN};
use super::units::{count, percent, plural, time};
use std::time::Duration;
use treeqr::profiling::account::{bounds, cause_in_words, critical_path, idle};
use treeqr::profiling::models::{self, Models};
use treeqr::profiling::trace::{Trace, TraceKind};

/// Tasks that are told one by one.
const TOLD: usize = 3;
/// Causes of less than this part of the workers' time are not told.
const SMALL: f64 = 0.005;

fn took(ns: f64) -> String {
    let text = time(Duration::from_nanos(ns.max(0.0) as u64));
    text.trim_end().to_owned()
}

/// Adds the rows.
pub fn rows(page: &mut Page, trace: &Trace) {
    if trace.manifest.kind == TraceKind::Graph || trace.tables.tasks.is_empty() {
        return;
    }
    bound_row(page, trace);
    idle_row(page, trace);
    anomaly_rows(page, trace);
}

/// No schedule of these tasks, each as long as it was, is shorter than its longest chain, or than all work spread evenly.
fn bound_row(page: &mut Page, trace: &Trace) {
    // Tables that no bound follows from are `treeqr trace check`'s to tell.
    let Ok(bounds) = bounds(trace) else { return };
    let path = critical_path(trace);
    let of_run = bounds.bound_ns / bounds.makespan_ns.max(1) as f64;
    let most = path.codelets.first();
    let most = most.map(|share| {
        let part = share.time_ns as f64 / path.length_ns.max(1) as f64;
        format!(", {} of it {}", percent(part), share.codelet)
    });
    page.row(
        "At best",
        &format!(
            "{TITLE}{}{TITLE:#}, {} of what it took: all workers busy {}, longest chain {}{}",
            took(bounds.bound_ns),
            percent(of_run),
            took(bounds.area_ns),
            took(bounds.critical_path_ns as f64),
            most.unwrap_or_default(),
        ),
    );
}

/// Why workers had no task, as parts of their time.
fn idle_row(page: &mut Page, trace: &Trace) {
    let idle = idle(trace);
    let all = (idle.executing_ns + idle.all.total_ns()).max(1) as f64;
    let mut causes = idle.all.named().to_vec();
    causes.sort_by_key(|cause| std::cmp::Reverse(cause.1));
    let told = causes
        .iter()
        .map(|&(name, ns)| (cause_in_words(name), ns as f64 / all))
        .take_while(|&(_, part)| part >= SMALL)
        .map(|(name, part)| format!("{name} {}", percent(part).trim_start()));
    let told: Vec<_> = told.collect();
    if !told.is_empty() {
        page.prose("Without task", &told.join(", "));
    }
}

/// Tasks above the prediction interval of their model.
fn anomaly_rows(page: &mut Page, trace: &Trace) {
    let models = models::fit(&trace.tables, models::LEVEL);
    let mut found = models.anomalies().to_vec();
    let measured: u64 = models.groups.iter().map(|group| group.tasks).sum();
    if found.is_empty() {
        return;
    }
    let excess: f64 = found
        .iter()
        .map(|a| a.duration_ns as f64 - a.expected_ns)
        .sum();
    let by_chance = models.expected_anomalies();
    page.row(
        "Slow tasks",
        &format!(
            "{WARN}{}{WARN:#} of {} above the {} interval of their kind ({} by chance), {} more than expected",
            count(found.len()),
            count(measured),
            percent(models.level).trim_start(),
            count(by_chance.round() as u64),
            took(excess),
        ),
    );
    let lost = |a: &models::Anomaly| a.duration_ns as f64 - a.expected_ns;
    found.sort_by(|a, b| lost(b).total_cmp(&lost(a)));
    for anomaly in found.iter().take(TOLD) {
        if let Some(text) = told(trace, &models, anomaly) {
            page.row("", &text);
        }
    }
    if found.len() > TOLD {
        let rest = plural(found.len() - TOLD, "other", "others");
        page.row("", &format!("{FAINT}and {rest}{FAINT:#}"));
    }
}

/// One of them.
fn told(trace: &Trace, models: &Models, anomaly: &models::Anomaly) -> Option<String> {
    let tasks = &trace.tables.tasks;
    let row = tasks.binary_search_by_key(&anomaly.task, |t| t.task).ok()?;
    let task = &tasks[row];
    let group = models.groups.get(anomaly.group)?;
    Some(format!(
        "{} of node {}: {} instead of {}, task {} on worker {}",
        group.codelet,
        task.node,
        took(anomaly.duration_ns as f64),
        took(anomaly.expected_ns),
        task.task,
        task.worker,
    ))
}
