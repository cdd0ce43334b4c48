//! Curves over time as columns: bins for what is far away, exact steps where there are not too many.
//!
//! Takes a [`Chart`], the model that the picture is drawn from too; gives a panel. Knows no trace.

use super::columns::{Columns, Type};
use super::format::{Bins, Body, Highlight, Rule, Series, StepColumns};
use crate::account::Steps;
use crate::panels::chart::{self, Chart, ChartForm, Unit};

/// Bins of a curve: between these, by the number of tasks.
const FEWEST: usize = 1024;
const MOST: usize = 8192;
/// Tasks for a bin.
const TASKS: usize = 32;
/// With more steps in a panel only bins are sent.
const STEPS: usize = 50_000;

/// What all curves of a page have in common.
#[derive(Clone, Copy)]
pub(super) struct Axis {
    pub span_ns: u64,
    pub bins: usize,
}

impl Axis {
    /// Finer where there is more to see.
    pub fn new(span_ns: u64, tasks: usize) -> Self {
        let bins = (tasks / TASKS).next_power_of_two().clamp(FEWEST, MOST);
        Axis { span_ns, bins }
    }
}

/// A panel. `id` names its columns.
pub(super) fn body(chart: Chart, id: &str, axis: Axis, to: &mut Columns) -> Body {
    let inside = |steps: &Steps| steps.steps.partition_point(|s| s.time_ns <= axis.span_ns);
    let count: usize = chart.series.iter().map(|s| inside(&s.steps)).sum();
    let mut series = Vec::new();
    for (k, curve) in chart.series.iter().enumerate() {
        let name = |part: &str| format!("{id}.{k}.{part}");
        let bins = curve.steps.bins(0, axis.span_ns, axis.bins);
        let steps = &curve.steps.steps[..inside(&curve.steps)];
        let mean = to.f32(name("mean"), bins.iter().map(|bin| bin.mean));
        let max = match chart.form {
            ChartForm::Steps => to.f32(name("max"), bins.iter().map(|bin| bin.max)),
            // Means are what is shown of these.
            ChartForm::Stack | ChartForm::Lines => mean.clone(),
        };
        series.push(Series {
            name: curve.name.clone(),
            note: curve.note.clone(),
            colour: curve.colour.to_string(),
            bins: Bins { mean, max },
            steps: (count <= STEPS).then(|| StepColumns {
                time: to.delta(name("time"), Type::F64, steps.iter().map(|s| s.time_ns)),
                value: to.f32(name("value"), steps.iter().map(|s| s.value)),
            }),
        });
    }
    let highlight = |(k, spans): (usize, &chart::Highlight)| {
        let within = |time: f64| time.clamp(0.0, axis.span_ns as f64) as u64;
        let mut column = |part: &str, of: fn(&(f64, f64)) -> f64| {
            let values = spans.spans.iter().map(|span| within(of(span)));
            to.delta(format!("{id}.spans.{k}.{part}"), Type::F64, values)
        };
        Highlight {
            start: column("start", |span| span.0),
            end: column("end", |span| span.1),
            colour: spans.colour.to_string(),
            name: spans.name.clone(),
        }
    };
    let spans = chart.spans.iter().enumerate().map(highlight).collect();
    let (unit, si) = match chart.unit {
        Unit::Of(unit) => (unit, true),
        Unit::Count(unit) => (unit, false),
    };
    Body::Chart {
        form: match chart.form {
            ChartForm::Stack => "stack",
            ChartForm::Lines => "lines",
            ChartForm::Steps => "steps",
        },
        unit,
        si,
        series,
        rules: chart.rules.iter().map(rule).collect(),
        spans,
        instead: chart.instead,
    }
}

fn rule(rule: &chart::Rule) -> Rule {
    Rule {
        value: rule.value,
        name: rule.name.clone(),
        colour: rule.colour.to_string(),
        dashed: rule.dashed,
    }
}
