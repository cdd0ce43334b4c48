//! Durations against operations, and residuals of the task models against them.
//!
//! Takes a run; gives the tasks that are drawn one by one, and counts for the others. Both axes are natural logarithms.

use super::columns::{Columns, Type};
use super::format::{Body, Cells, Points};
use super::run::Run;
use crate::trace::schema::{Task, WorkerKind};

/// Tasks that are points whatever they are.
const POINTS: usize = 20_000;
/// Cells across and down.
const WIDE: usize = 400;
const HIGH: usize = 250;

pub(super) fn durations(run: &Run<'_>, to: &mut Columns) -> Option<Body> {
    let y = |task: &Task| Some(duration(task).ln());
    body(run, to, "duration", &y)
}

/// None where no codelet has a model.
pub(super) fn residuals(run: &Run<'_>, to: &mut Columns) -> Option<Body> {
    let y = |task: &Task| residual(run, task);
    body(run, to, "residual", &y)
}

/// A clock may be coarse: nothing below one nanosecond.
fn duration(task: &Task) -> f64 {
    ((task.end_ns - task.start_ns) as f64).max(1.0)
}

fn residual(run: &Run<'_>, task: &Task) -> Option<f64> {
    let group = run
        .computed
        .models
        .groups
        .get(usize::from(run.model(task)?))?;
    let (_, interval) = group.expect(task.flops as f64, duration(task))?;
    Some((duration(task) / interval.expected_ns).ln())
}

/// A task with its place.
struct Dot {
    row: u32,
    codelet: u8,
    slow: bool,
    x: f64,
    y: f64,
}

fn body(
    run: &Run<'_>,
    to: &mut Columns,
    y_of: &'static str,
    y: &dyn Fn(&Task) -> Option<f64>,
) -> Option<Body> {
    let dots: Vec<Dot> = (run.rows().enumerate())
        .filter(|(_, (_, task))| task.flops > 0)
        .filter_map(|(place, (row, task))| {
            Some(Dot {
                row: place as u32,
                codelet: run.position(task.codelet),
                slow: run.slow[row],
                x: (task.flops as f64).ln(),
                y: y(task).filter(|y| y.is_finite())?,
            })
        })
        .collect();
    if dots.is_empty() {
        return None;
    }
    let (x, y) = (
        ends(dots.iter().map(|d| d.x)),
        ends(dots.iter().map(|d| d.y)),
    );
    let all = dots.len() <= POINTS;
    let (points, others): (Vec<Dot>, Vec<Dot>) = dots.into_iter().partition(|d| all || d.slow);
    let task = to.delta(
        format!("{y_of}.task"),
        Type::U32,
        points.iter().map(|d| d.row.into()),
    );
    Some(Body::Scatter {
        y_of,
        models: (0..run.computed.models.groups.len()).collect(),
        cells: (!others.is_empty()).then(|| cells(&others, x, y, y_of, to)),
        x,
        y,
        points: Points { task },
    })
}

/// Smallest and largest, with a little air and at least a factor of two.
fn ends(values: impl Iterator<Item = f64>) -> [f64; 2] {
    let start = (f64::INFINITY, f64::NEG_INFINITY);
    let (low, high) = values.fold(start, |(low, high), v| (low.min(v), high.max(v)));
    let air = (0.03 * (high - low)).max(0.5 * (std::f64::consts::LN_2 - (high - low)));
    [low - air, high + air]
}

/// Row, column, codelet.
type Place = (u32, u32, u8);

fn cells(dots: &[Dot], x: [f64; 2], y: [f64; 2], name: &str, to: &mut Columns) -> Cells {
    let place = |v: f64, [low, high]: [f64; 2], count: usize| {
        (((v - low) / (high - low) * count as f64) as usize).min(count - 1) as u32
    };
    let mut places: Vec<Place> = dots
        .iter()
        .map(|d| (place(d.y, y, HIGH), place(d.x, x, WIDE), d.codelet))
        .collect();
    places.sort_unstable();
    let groups: Vec<_> = places.chunk_by(|a, b| a == b).collect();
    let mut column = |part: &str, of: &dyn Fn(&[Place]) -> u64| {
        let values = groups.iter().map(|group| of(group));
        to.varint(format!("{name}.{part}"), Type::U32, values)
    };
    Cells {
        x: column("x", &|group| group[0].1.into()),
        y: column("y", &|group| group[0].0.into()),
        count: column("count", &|group| group.len() as u64),
        codelet: column("codelet", &|group| group[0].2.into()),
        wide: WIDE,
        high: HIGH,
    }
}

/// What a kind of worker is called in the format.
pub(super) fn kind_name(kind: WorkerKind) -> &'static str {
    match kind {
        WorkerKind::Cpu => "cpu",
        WorkerKind::Device => "device",
    }
}
