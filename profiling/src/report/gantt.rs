//! Workers over time: levels of detail of the tasks, what workers did without one, and when they helped with others'.
//!
//! Takes a run; gives for every level, worker and stretch of time the codelet that had most of it, how much of it went into tasks,
//! and whether an anomaly touches it. A level is the next finer one with pairs of stretches put together, so nothing that a level
//! shows is missing in a coarser one: an anomaly of a nanosecond is marked in the level that is one pixel wide.

use super::columns::{Columns, Type};
use super::format::{Body, GanttLevel, Kind, States};
use super::run::Run;
use super::spans;
use crate::palette;
use crate::panels::lod::Span;
use crate::trace::schema::ThreadState;

/// The coarsest level has as many stretches.
const FEWEST: usize = 256;
/// And the finest at most.
const MOST: usize = 1 << 15;
/// Tasks that the page draws one by one, whatever the level: with more in view it draws stretches.
const DRAWN: usize = 30_000;
/// Stretches for as many tasks: then one is no more than two pixels of a large screen.
const STRETCHES: usize = 1024;

pub(super) fn body(run: &Run<'_>, to: &mut Columns) -> Body {
    Body::Gantt {
        levels: levels(run, to),
        states: states(run, to),
        helping: helping(run, to),
    }
}

/// Stretches of the finest level for so many tasks.
fn finest(tasks: usize) -> usize {
    let bins = STRETCHES * tasks.div_ceil(DRAWN);
    bins.next_power_of_two().clamp(2 * STRETCHES, MOST)
}

#[derive(Default)]
struct Level {
    codelet: Vec<u8>,
    fill: Vec<u8>,
    mark: Vec<u8>,
}

/// One worker's time in stretches.
struct Bins {
    codelets: usize,
    /// Nanoseconds of a stretch.
    width: f64,
    /// By stretch, then by codelet: nanoseconds.
    time: Vec<f64>,
    mark: Vec<u8>,
}

fn levels(run: &Run<'_>, to: &mut Columns) -> Vec<GanttLevel> {
    let finest = finest(run.order.len());
    let count = (finest / FEWEST).ilog2() as usize + 1;
    let mut levels: Vec<Level> = (0..count).map(|_| Level::default()).collect();
    let mut helpers: Vec<Vec<_>> = vec![Vec::new(); run.subject.workers.len()];
    for piece in run.subject.pieces().filter(|piece| !piece.own) {
        helpers[run.subject.lane(piece.worker)].push(piece);
    }
    for (lane, helpers) in run.lanes.windows(2).zip(&helpers) {
        let mut bins = Bins::of(run, &run.order[lane[0] as usize..lane[1] as usize], finest);
        for piece in helpers {
            let (start, length) = run.span(piece.start_ns, piece.end_ns);
            let span = (start as f64, (start + length) as f64);
            bins.add(run.position(piece.task.codelet), span, false);
        }
        for (k, level) in levels.iter_mut().enumerate() {
            if k > 0 {
                bins.halve();
            }
            bins.append(level);
        }
    }
    let head = |(k, level): (usize, Level)| GanttLevel {
        bins: finest >> k,
        codelet: to.u8(format!("gantt.{k}.codelet"), level.codelet),
        fill: to.u8(format!("gantt.{k}.fill"), level.fill),
        mark: to.u8(format!("gantt.{k}.mark"), level.mark),
    };
    levels.into_iter().enumerate().map(head).collect()
}

impl Bins {
    fn of(run: &Run<'_>, rows: &[u32], bins: usize) -> Self {
        let codelets = run.codelets.len();
        let mut out = Bins {
            codelets,
            width: run.span_ns as f64 / bins as f64,
            time: vec![0.0; bins * codelets],
            mark: vec![0; bins],
        };
        for &row in rows {
            let task = &run.tasks()[row as usize];
            let span = (run.ns(task.start_ns) as f64, run.ns(task.end_ns) as f64);
            out.add(run.position(task.codelet), span, run.slow[row as usize]);
        }
        out
    }

    fn add(&mut self, codelet: u8, (start, end): (f64, f64), slow: bool) {
        let (width, bins) = (self.width, self.mark.len());
        let first = ((start / width) as usize).min(bins - 1);
        let last = ((end / width) as usize).clamp(first, bins - 1);
        for bin in first..=last {
            let (from, until) = (bin as f64 * width, (bin + 1) as f64 * width);
            let part = end.min(until) - start.max(from);
            self.time[bin * self.codelets + usize::from(codelet)] += part.max(0.0);
            // What begins where a stretch ends touches the next one only, unless it is the last.
            if slow && (part > 0.0 || bin == first) {
                self.mark[bin] = 1;
            }
        }
    }

    /// Pairs of stretches become one.
    fn halve(&mut self) {
        let (codelets, bins) = (self.codelets, self.mark.len() / 2);
        for bin in 0..bins {
            for codelet in 0..codelets {
                let pair = [2 * bin, 2 * bin + 1].map(|bin| self.time[bin * codelets + codelet]);
                self.time[bin * codelets + codelet] = pair[0] + pair[1];
            }
            self.mark[bin] = self.mark[2 * bin] | self.mark[2 * bin + 1];
        }
        self.width *= 2.0;
        self.time.truncate(bins * codelets);
        self.mark.truncate(bins);
    }

    fn append(&self, level: &mut Level) {
        level.mark.extend(&self.mark);
        for time in self.time.chunks_exact(self.codelets) {
            let busy: f64 = time.iter().sum();
            let most = (0..self.codelets).max_by(|&a, &b| time[a].total_cmp(&time[b]));
            let most = most.filter(|_| busy > 0.0).map_or(0, |most| most as u8 + 1);
            level.codelet.push(most);
            level.fill.push(part(busy / self.width));
        }
    }
}

/// A part of a whole as 0 to 255; 0 is nothing at all.
pub(super) fn part(of: f64) -> u8 {
    match of {
        of if of > 0.0 => (255.0 * of).round().clamp(1.0, 255.0) as u8,
        _ => 0,
    }
}

fn states(run: &Run<'_>, to: &mut Columns) -> States {
    let kinds = [
        (ThreadState::Scheduling, "asks the scheduler"),
        (ThreadState::Idle, "idle"),
        (ThreadState::Sleeping, "asleep"),
        (ThreadState::Transferring, "waits for data"),
    ];
    let mut lanes: Vec<Vec<Span<u8>>> = vec![Vec::new(); run.subject.workers.len()];
    for state in &run.trace.tables.states {
        let worker = state.worker.filter(|&worker| run.subject.knows(worker));
        let kind = kinds.iter().position(|(kind, _)| *kind == state.state);
        let (Some(worker), Some(kind)) = (worker, kind) else {
            continue;
        };
        let (start, length) = run.span(state.start_ns, state.end_ns);
        if length > 0 {
            lanes[run.subject.lane(worker)].push(Span {
                x: start as f64,
                w: length as f64,
                kind: kind as u8,
            });
        }
    }
    let kind = |(kind, name): &(ThreadState, &str)| Kind {
        name: (*name).to_owned(),
        colour: palette::state(*kind).to_string(),
    };
    columns("states", lanes, kinds.iter().map(kind).collect(), run, to)
}

/// Parts of others' tasks, by codelet; none where nobody helped.
fn helping(run: &Run<'_>, to: &mut Columns) -> Option<States> {
    let mut lanes: Vec<Vec<Span<u8>>> = vec![Vec::new(); run.subject.workers.len()];
    for piece in run.subject.pieces().filter(|piece| !piece.own) {
        let (start, length) = run.span(piece.start_ns, piece.end_ns);
        lanes[run.subject.lane(piece.worker)].push(Span {
            x: start as f64,
            w: length as f64,
            kind: run.position(piece.task.codelet),
        });
    }
    if lanes.iter().all(Vec::is_empty) {
        return None;
    }
    let kind = |codelet: &super::run::CodeletKind| Kind {
        name: format!("helps with {}", codelet.name),
        colour: codelet.colour.to_string(),
    };
    let kinds = run.codelets.iter().map(kind).collect();
    Some(columns("helping", lanes, kinds, run, to))
}

fn columns(
    id: &str,
    lanes: Vec<Vec<Span<u8>>>,
    kinds: Vec<Kind>,
    run: &Run<'_>,
    to: &mut Columns,
) -> States {
    let spans = spans::fewer(lanes, run.span_ns as f64);
    let name = |part: &str| format!("{id}.{part}");
    let all = || spans.iter();
    States {
        lane: to.delta(name("lane"), Type::U32, all().map(|s| s.0 as u64)),
        kind: to.u8(name("kind"), all().map(|s| s.1.kind)),
        start: to.delta(name("start"), Type::F64, all().map(|s| s.1.x as u64)),
        duration: to.varint(name("duration"), Type::F64, all().map(|s| s.1.w as u64)),
        kinds,
    }
}
