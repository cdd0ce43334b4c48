//! Curves over time as columns: bins for what is far away, exact steps where there are not too many.
//!
//! Takes [`Steps`]; gives columns of times since the beginning of the run. Knows no panel.

use super::columns::{Columns, Type};
use super::format::{Bins, Body, Rule, Series, StepColumns};
use super::run::Run;
use crate::account::{Steps, flops_over_time, memory_over_time, nodes_over_time, tasks_over_time};

/// Bins of a curve.
const BINS: usize = 2048;
/// More steps are not sent.
const MOST: usize = 100_000;

/// One curve. `id` names its columns.
pub(super) fn series(
    run: &Run<'_>,
    id: &str,
    name: &str,
    colour: String,
    steps: &Steps,
    to: &mut Columns,
) -> Series {
    let begin = run.subject.begin_ns;
    let bins = steps.bins(begin, begin + run.span_ns, BINS);
    let mean = to.f32(format!("{id}.mean"), bins.iter().map(|bin| bin.mean));
    let max = to.f32(format!("{id}.max"), bins.iter().map(|bin| bin.max));
    let inside: Vec<_> = (steps.steps.iter())
        .filter(|step| step.time_ns <= begin + run.span_ns)
        .collect();
    let steps = (inside.len() <= MOST).then(|| StepColumns {
        time: to.delta(
            format!("{id}.time"),
            Type::F64,
            inside.iter().map(|step| run.ns(step.time_ns)),
        ),
        value: to.f32(format!("{id}.value"), inside.iter().map(|step| step.value)),
    });
    Series {
        name: name.to_owned(),
        colour,
        bins: Bins { mean, max },
        steps,
    }
}

fn chart(form: &'static str, unit: &str, series: Vec<Series>, rules: Vec<Rule>) -> Body {
    Body::Chart {
        form,
        unit: unit.to_owned(),
        series,
        rules,
        spans: Vec::new(),
    }
}

fn rule(value: f64, name: &str, colour: &str) -> Rule {
    Rule {
        value,
        name: name.to_owned(),
        colour: colour.to_owned(),
        dashed: true,
    }
}

pub(super) fn memory(run: &Run<'_>, to: &mut Columns) -> Option<Body> {
    let held = memory_over_time(run.trace, 0);
    let manifest = &run.trace.manifest;
    let colours = ["#332288", "#CC6677", "#44AA99", "#999933", "#882255"];
    let mut series = Vec::new();
    for (k, node) in held.memory_nodes.iter().enumerate() {
        let device = node.node.checked_sub(1).and_then(|d| manifest.run.devices.get(d as usize));
        let name = device.map_or("host", String::as_str);
        let colour = colours[k % colours.len()].to_owned();
        series.push(self::series(run, &format!("memory.{k}"), name, colour, &node.bytes, to));
    }
    let limit = manifest.run.memory_limit_bytes.map(|b| rule(b as f64, "limit", "#CC3311"));
    let predicted = manifest.predicted("peak_bytes");
    let predicted = predicted.map(|b| rule(b as f64, "predicted peak of a sequential run", "#222222"));
    let rules = limit.into_iter().chain(predicted).collect();
    (!series.is_empty()).then(|| chart("steps", "B", series, rules))
}

pub(super) fn waiting(run: &Run<'_>, to: &mut Columns) -> Option<Body> {
    let tasks = tasks_over_time(run.trace);
    let series = vec![
        series(run, "ready.0", "ready", "#117733".to_owned(), &tasks.ready, to),
        series(run, "ready.1", "submitted, and not done", "#332288".to_owned(), &tasks.unfinished, to),
    ];
    let rules = vec![rule(tasks.workers as f64, "workers", "#777777")];
    Some(chart("steps", "tasks", series, rules))
}

pub(super) fn active(run: &Run<'_>, to: &mut Columns) -> Option<Body> {
    let nodes = nodes_over_time(run.trace);
    let series = vec![
        series(run, "active.0", "in tiles", "#332288".to_owned(), &nodes.parallel, to),
        series(run, "active.1", "whole, in subtrees", "#DDCC77".to_owned(), &nodes.sequential, to),
    ];
    Some(chart("steps", "nodes", series, Vec::new()))
}

pub(super) fn speed(run: &Run<'_>, to: &mut Columns) -> Option<Body> {
    let steps = flops_over_time(run.trace);
    let series = vec![series(run, "gflops.0", "all workers", "#332288".to_owned(), &steps, to)];
    Some(chart("lines", "GFlop/s", series, Vec::new()))
}
