//! Curves over time: what a panel of curves says, and how all of them are drawn.
//!
//! A panel gives a [`Chart`]; the picture here and the page of the report are two ways to show it. All times are nanoseconds since
//! the beginning of the run.

use super::PanelOptions;
use super::axis::prefix;
use super::frame::{Form, Frame, Key, sentence};
use super::lod::covered;
use super::scene::{Area, GREY, INK, Scene, Stroke};
use super::steps::{line, most};
use super::subject::Subject;
use crate::account::Steps;
use crate::palette::Colour;

/// Curves with one value axis.
#[derive(Clone, Debug)]
pub(crate) struct Chart {
    pub form: ChartForm,
    pub title: &'static str,
    pub unit: Unit,
    /// The lowest layer, or the curve that lies behind, first.
    pub series: Vec<Series>,
    pub rules: Vec<Rule>,
    /// Told in a strip below the curves.
    pub spans: Vec<Highlight>,
    /// What to say where there is nothing to draw.
    pub instead: Option<String>,
}

/// How curves are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChartForm {
    /// Means of windows, on top of each other.
    Stack,
    /// Means of windows, each from the axis.
    Lines,
    /// Every step.
    Steps,
}

/// What values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// A unit that takes prefixes: `B`, `Flop/s`.
    Of(&'static str),
    /// What is counted.
    Count(&'static str),
}

/// A curve.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub name: String,
    /// A figure to tell beside the name.
    pub note: Option<String>,
    pub colour: Colour,
    pub steps: Steps,
}

/// A line across.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub value: f64,
    pub name: String,
    pub colour: Colour,
    pub dashed: bool,
}

/// Spans of time that have something in common.
#[derive(Clone, Debug)]
pub(crate) struct Highlight {
    pub name: String,
    pub colour: Colour,
    /// By time, none overlaps the next.
    pub spans: Vec<(f64, f64)>,
}

impl Chart {
    pub fn new(form: ChartForm, title: &'static str, unit: Unit) -> Self {
        Chart {
            form,
            title,
            unit,
            series: Vec::new(),
            rules: Vec::new(),
            spans: Vec::new(),
            instead: None,
        }
    }

    /// Says why there are no curves.
    pub fn without(mut self, why: impl Into<String>) -> Self {
        self.instead = Some(why.into());
        self
    }
}

impl Series {
    pub fn new(name: impl Into<String>, colour: Colour, steps: Steps) -> Self {
        Series {
            name: name.into(),
            note: None,
            colour,
            steps,
        }
    }

    pub fn noted(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }
}

impl Unit {
    /// What stands above the axis, with the prefix for values up to `most`; and its factor.
    fn axis(self, most: f64) -> (String, f64) {
        let (letter, scale) = prefix(most);
        let text = match (self, letter) {
            (Unit::Of(name), letter) => format!("{letter}{name}"),
            (Unit::Count(name), "") => name.to_owned(),
            (Unit::Count(name), letter) => format!("{name} ({letter})"),
        };
        (text, scale)
    }
}

/// Room for a strip of highlighted spans.
const STRIP: f64 = 10.0;

/// Draws it.
pub(super) fn paint(chart: &Chart, subject: &Subject<'_>, options: &PanelOptions) -> Scene {
    if let Some(why) = &chart.instead {
        return sentence(subject, options, chart.title, why);
    }
    let height = match chart.form {
        ChartForm::Steps => 200.0,
        ChartForm::Stack | ChartForm::Lines => 250.0,
    };
    let mut frame = Frame::new(subject, options, chart.title, height, &keys(chart));
    frame.time_axis();
    let whole = frame.area;
    let strips = STRIP * chart.spans.len() as f64;
    let area = Area {
        h: (whole.h - strips).max(10.0),
        ..whole
    };
    let span = (subject.from, subject.to);
    let windows: Vec<Vec<(f64, f64)>> = match chart.form {
        ChartForm::Steps => Vec::new(),
        _ => {
            let count = options.windows(subject, whole.w);
            let of = |series: &Series| means(&series.steps, span, count);
            chart.series.iter().map(of).collect()
        }
    };
    let curves = match chart.form {
        ChartForm::Steps => (chart.series.iter())
            .map(|series| most(&series.steps, span))
            .fold(0.0, f64::max),
        ChartForm::Lines => (windows.iter().flatten())
            .map(|window| window.1)
            .fold(0.0, f64::max),
        ChartForm::Stack => highest(&windows),
    };
    let rules = chart.rules.iter().map(|rule| rule.value);
    let highest = rules.fold(curves, f64::max);
    let highest = if highest > 0.0 { highest } else { 1.0 };
    let (text, scale) = chart.unit.axis(highest);
    let whole = matches!(chart.unit, Unit::Count(_)) && scale == 1.0;
    let y = frame.value_axis(area, 1.06 * highest, &text, (scale, whole));
    frame.scene.group("curves");
    match chart.form {
        ChartForm::Stack => stack(&mut frame, chart, &windows, &y),
        ChartForm::Lines => {
            for (series, windows) in chart.series.iter().zip(&windows) {
                let points = stairs(&frame, windows, &y);
                frame
                    .scene
                    .polyline(points, Stroke::new(series.colour, 1.3));
            }
        }
        ChartForm::Steps => {
            for (k, series) in chart.series.iter().enumerate() {
                let points = line(&series.steps, span, |t| frame.x(t), &y);
                if k == 0 {
                    let mut below = points.clone();
                    below.push((area.right(), area.bottom()));
                    below.push((area.x, area.bottom()));
                    frame.scene.polygon(below, series.colour, 0.14);
                }
                frame
                    .scene
                    .polyline(points, Stroke::new(series.colour, 1.3));
            }
        }
    }
    frame.scene.group("rules");
    for rule in &chart.rules {
        let at = y(rule.value);
        let look = match rule.dashed {
            true => Stroke::dashed(rule.colour, 1.2, 5.0),
            false => Stroke::new(rule.colour, 1.2),
        };
        frame.scene.line((area.x, at), (area.right(), at), look);
    }
    highlights(&mut frame, chart, area);
    frame.marks(&[]);
    frame.scene
}

fn keys(chart: &Chart) -> Vec<Key> {
    let form = match chart.form {
        ChartForm::Stack => Form::Box,
        ChartForm::Lines | ChartForm::Steps => Form::Line,
    };
    let mut keys = Vec::new();
    for series in &chart.series {
        let text = match &series.note {
            Some(note) => format!("{}: {note}", series.name),
            None => series.name.clone(),
        };
        keys.push(Key::new(form, series.colour, text));
    }
    for rule in &chart.rules {
        let form = if rule.dashed {
            Form::Dashes
        } else {
            Form::Line
        };
        keys.push(Key::new(form, rule.colour, &rule.name));
    }
    for spans in &chart.spans {
        keys.push(Key::new(Form::Box, spans.colour, &spans.name));
    }
    keys
}

/// Means of so many windows, each with its end.
fn means(steps: &Steps, (from, to): (f64, f64), count: usize) -> Vec<(f64, f64)> {
    let bins = steps.bins(from as u64, to as u64, count);
    bins.iter()
        .map(|bin| (bin.to_ns as f64, bin.mean))
        .collect()
}

/// The largest sum of all layers in one window.
fn highest(windows: &[Vec<(f64, f64)>]) -> f64 {
    let count = windows.first().map_or(0, Vec::len);
    let sum = |k: usize| windows.iter().map(|layer| layer[k].1).sum();
    (0..count).map(sum).fold(0.0, f64::max)
}

/// Windows as a line of steps.
fn stairs(
    frame: &Frame<'_, '_>,
    windows: &[(f64, f64)],
    y: impl Fn(f64) -> f64,
) -> Vec<(f64, f64)> {
    let mut points = Vec::with_capacity(2 * windows.len());
    let mut left = frame.area.x;
    for &(end, value) in windows {
        let right = frame.x(end);
        points.push((left, y(value)));
        points.push((right, y(value)));
        left = right;
    }
    points
}

/// Layers on top of each other, the first lowest.
fn stack(
    frame: &mut Frame<'_, '_>,
    chart: &Chart,
    windows: &[Vec<(f64, f64)>],
    y: impl Fn(f64) -> f64,
) {
    let Some(first) = windows.first() else { return };
    let mut below: Vec<(f64, f64)> = first.iter().map(|window| (window.0, 0.0)).collect();
    for (series, layer) in chart.series.iter().zip(windows) {
        let sums = below.iter().zip(layer);
        let above: Vec<_> = sums.map(|(b, w)| (b.0, b.1 + w.1)).collect();
        let mut points = stairs(frame, &above, &y);
        points.extend(stairs(frame, &below, &y).into_iter().rev());
        frame.scene.polygon(points, series.colour, 1.0);
        below = above;
    }
}

/// A strip for each, below the curves. What is shorter than half a unit of the page is as long, and no two of them overlap.
fn highlights(frame: &mut Frame<'_, '_>, chart: &Chart, area: Area) {
    if chart.spans.is_empty() {
        return;
    }
    frame.scene.group("highlights");
    let base = Stroke::new(INK, 0.5);
    frame
        .scene
        .line((area.x, area.bottom()), (area.right(), area.bottom()), base);
    for (k, highlight) in chart.spans.iter().enumerate() {
        let y = area.bottom() + 0.5 * (STRIP - 6.0) + k as f64 * STRIP;
        let visible = highlight
            .spans
            .iter()
            .filter_map(|&span| frame.visible(span));
        let spans = visible.map(|(start, end)| (frame.x(start), frame.x(end)));
        for (x, w) in covered(spans.collect(), 0.5, area.right()) {
            frame.scene.rect(Area { x, y, w, h: 6.0 }, highlight.colour);
        }
    }
}

/// The rule of all workers.
pub(super) fn all_workers(subject: &Subject<'_>) -> Rule {
    Rule {
        value: subject.workers.len() as f64,
        name: "all workers".to_owned(),
        colour: GREY,
        dashed: true,
    }
}
