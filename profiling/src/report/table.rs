//! Figures by codelet, by worker and by tree node.
//!
//! Takes a run; gives rows. Times are in nanoseconds: the page finds the unit.

use super::capital;
use super::format::{Body, TableColumn};
use super::run::Run;
use crate::account::{cause_in_words, delays, rates};
use serde_json::{Value, json};

/// Tree nodes with most time in their tasks that are told.
const NODES: usize = 100;

pub(super) fn columns(titles: &[(&str, &str)]) -> Vec<TableColumn> {
    let column = |(k, (title, unit)): (usize, &(&str, &str))| TableColumn {
        title: (*title).to_owned(),
        unit: (*unit).to_owned(),
        align: if k == 0 { "left" } else { "right" },
    };
    titles.iter().enumerate().map(column).collect()
}

/// A number, or an empty cell.
pub(super) fn cell(value: Option<f64>) -> Value {
    value
        .filter(|v| v.is_finite())
        .map_or(json!(""), |v| json!(v))
}

pub(super) fn by_codelet(run: &Run<'_>) -> Body {
    let (rates, delays) = (rates(run.trace), delays(run.trace));
    let all: u64 = rates.codelets.iter().map(|rate| rate.busy_ns).sum();
    let mut slow = vec![0_u64; run.codelets.len()];
    let mut on_path = vec![0_u64; run.codelets.len()];
    for (row, task) in run.tasks().iter().enumerate() {
        let k = usize::from(run.position(task.codelet));
        slow[k] += u64::from(run.slow[row]);
        on_path[k] += if run.on_path[row] {
            task.end_ns - task.start_ns
        } else {
            0
        };
    }
    let mut rows: Vec<(u64, Vec<Value>)> = Vec::new();
    for (rate, delay) in rates.codelets.iter().zip(&delays) {
        let Some(number) = rate.key.and_then(|key| u16::try_from(key).ok()) else {
            continue;
        };
        let k = usize::from(run.position(number));
        let row = vec![
            json!(run.codelets[k].name),
            json!(rate.tasks),
            json!(rate.busy_ns),
            json!(rate.busy_ns as f64 / all.max(1) as f64),
            json!(rate.busy_ns as f64 / rate.tasks.max(1) as f64),
            json!(rate.flops),
            cell(rate.gflops_busy.filter(|_| rate.flops > 0)),
            json!(delay.quantiles_ns[3]),
            json!(slow[k]),
            json!(on_path[k]),
        ];
        rows.push((rate.busy_ns, row));
    }
    rows.sort_by_key(|row| std::cmp::Reverse(row.0));
    Body::Table {
        columns: columns(&[
            ("Codelet", ""),
            ("Tasks", ""),
            ("Time", "ns"),
            ("Share", "part"),
            ("Mean", "ns"),
            ("Operations", "flop"),
            ("One worker's speed", "GFlop/s"),
            ("Ready to start, median", "ns"),
            ("Slow", ""),
            ("On the critical path", "ns"),
        ]),
        rows: rows.into_iter().map(|row| row.1).collect(),
        nodes: None,
        tasks: None,
    }
}

pub(super) fn by_worker(run: &Run<'_>) -> Option<Body> {
    let idle = &run.computed.idle;
    if idle.workers.is_empty() {
        return None;
    }
    // Causes that nobody had take no column.
    let causes = idle.all.named();
    let shown: Vec<usize> = (0..causes.len()).filter(|&k| causes[k].1 > 0).collect();
    let mut titles = vec![("Worker", ""), ("In tasks", "part")];
    let named = |k: &usize| capital(cause_in_words(causes[*k].0));
    let named: Vec<String> = shown.iter().map(named).collect();
    titles.extend(named.iter().map(|name| (name.as_str(), "part")));
    let row = |worker: &crate::account::WorkerIdle| {
        let part = |ns: u64| json!(ns as f64 / worker.time_ns.max(1) as f64);
        let named = worker.causes.named();
        let mut row = vec![json!(worker.name), part(worker.executing_ns)];
        row.extend(shown.iter().map(|&k| part(named[k].1)));
        row
    };
    Some(Body::Table {
        rows: idle.workers.iter().map(row).collect(),
        columns: columns(&titles),
        nodes: None,
        tasks: None,
    })
}

pub(super) fn by_node(run: &Run<'_>) -> Option<Body> {
    let mut nodes = rates(run.trace).nodes;
    nodes.sort_by_key(|rate| (std::cmp::Reverse(rate.busy_ns), rate.key));
    nodes.truncate(NODES);
    let known: Vec<_> = nodes
        .iter()
        .filter_map(|rate| Some((rate.key?, rate)))
        .collect();
    if run.trace.tables.fronts.is_empty() {
        return None;
    }
    let row = |(node, rate): &(u32, &crate::account::Rate)| {
        let front = run.subject.front(*node);
        let number =
            |of: fn(&crate::trace::schema::Front) -> u32| front.map_or(json!(""), |f| json!(of(f)));
        vec![
            json!(node),
            json!(front.map_or("", |front| front.kind.name())),
            number(|f| f.depth),
            number(|f| f.rows),
            number(|f| f.cols),
            number(|f| f.pivots),
            json!(rate.tasks),
            json!(rate.busy_ns),
            json!(rate.to_ns.saturating_sub(rate.from_ns)),
            json!(rate.flops),
            cell(rate.gflops_span.filter(|_| rate.flops > 0)),
        ]
    };
    Some(Body::Table {
        columns: columns(&[
            ("Node", ""),
            ("Kind", ""),
            ("Depth", ""),
            ("Rows", ""),
            ("Columns", ""),
            ("Pivots", ""),
            ("Tasks", ""),
            ("Time in tasks", "ns"),
            ("First start to last end", "ns"),
            ("Operations", "flop"),
            ("Speed", "GFlop/s"),
        ]),
        rows: known.iter().map(row).collect(),
        nodes: Some(known.iter().map(|(node, _)| *node).collect()),
        tasks: None,
    })
}
