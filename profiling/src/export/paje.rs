//! Paje: text with a header that defines its own events, as ViTE and pj_dump read it. Times are milliseconds since the
//! recorder was made, with six decimals; lines after the definitions are sorted by time.
//!
//! | container | states | variables |
//! | --- | --- | --- |
//! | the run | | ready tasks, submitted tasks |
//! | a worker | its tasks by codelet, and others' that it helped with; what it did without a task | GFlop/s |
//! | the submission | why it waited | |
//! | a memory node | | memory held, in MiB |
//!
//! Dependencies are links between workers, from the end of a task to the start of the one that waited for it.

use super::lanes::{Mark, marks};
use super::series::{self, Step};
use super::view::View;
use super::{ExportEntry, ExportError, ExportOptions, Form, links};
use crate::inspect::Piece;
use crate::palette;
use crate::trace::Trace;
use crate::trace::schema::ThreadState;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::io::{self, Write};

pub(super) const ENTRY: ExportEntry = ExportEntry {
    name: "paje",
    about: "A Paje trace, for ViTE and pj_dump: states, variables, dependencies as links",
    ending: "trace",
    form: Form::File(write),
};

/// Its events: name, fields. The position is the identifier in the lines.
const EVENTS: &[(&str, &[(&str, &str)])] = &[
    (
        "PajeDefineContainerType",
        &[("Alias", "string"), ("Type", "string"), ("Name", "string")],
    ),
    (
        "PajeDefineStateType",
        &[("Alias", "string"), ("Type", "string"), ("Name", "string")],
    ),
    (
        "PajeDefineVariableType",
        &[("Alias", "string"), ("Type", "string"), ("Name", "string")],
    ),
    (
        "PajeDefineLinkType",
        &[
            ("Alias", "string"),
            ("Type", "string"),
            ("StartContainerType", "string"),
            ("EndContainerType", "string"),
            ("Name", "string"),
        ],
    ),
    (
        "PajeDefineEntityValue",
        &[
            ("Alias", "string"),
            ("Type", "string"),
            ("Name", "string"),
            ("Color", "color"),
        ],
    ),
    (
        "PajeCreateContainer",
        &[
            ("Time", "date"),
            ("Alias", "string"),
            ("Type", "string"),
            ("Container", "string"),
            ("Name", "string"),
        ],
    ),
    (
        "PajeDestroyContainer",
        &[("Time", "date"), ("Name", "string"), ("Type", "string")],
    ),
    ("PajePushState", &STATE),
    (
        "PajePopState",
        &[
            ("Time", "date"),
            ("Container", "string"),
            ("Type", "string"),
        ],
    ),
    (
        "PajeSetVariable",
        &[
            ("Time", "date"),
            ("Container", "string"),
            ("Type", "string"),
            ("Value", "double"),
        ],
    ),
    (
        "PajeStartLink",
        &[
            ("Time", "date"),
            ("Type", "string"),
            ("Container", "string"),
            ("Value", "string"),
            ("StartContainer", "string"),
            ("Key", "string"),
        ],
    ),
    (
        "PajeEndLink",
        &[
            ("Time", "date"),
            ("Type", "string"),
            ("Container", "string"),
            ("Value", "string"),
            ("EndContainer", "string"),
            ("Key", "string"),
        ],
    ),
];
const STATE: [(&str, &str); 4] = [
    ("Time", "date"),
    ("Container", "string"),
    ("Type", "string"),
    ("Value", "string"),
];

/// One line after the definitions, but for its time.
enum Line {
    Mark(Mark, Track),
    Variable {
        container: String,
        kind: &'static str,
        value: f64,
    },
    Link {
        edge: usize,
        begins: bool,
    },
}

/// Which state of which container. Helpers are numbered after the tasks.
#[derive(Clone, Copy)]
enum Track {
    Tasks(u16),
    States(Option<u16>),
}

/// What lines look up.
struct Rows<'v, 't> {
    view: &'v View<'t>,
    edges: Vec<links::Edge>,
    helpers: Vec<Piece<'t>>,
}

/// Lines of one kind, in the order of time.
type Stream<'a> = Box<dyn Iterator<Item = (u64, Line)> + 'a>;

fn write(trace: &Trace, options: &ExportOptions, out: &mut dyn Write) -> Result<(), ExportError> {
    let view = View::new(trace);
    if view.tasks().is_empty() {
        return Err(ExportError::NeedsTimes { export: ENTRY.name });
    }
    let rows = Rows {
        edges: links::chosen(&view, options.dependencies),
        helpers: view.helpers(),
        view: &view,
    };
    // What belongs first at one time comes first here: links start before tasks do.
    let mut streams = link_streams(&view, &rows.edges);
    streams.extend(variable_streams(&view));
    streams.extend(task_streams(&rows)?);
    streams.extend(state_streams(&view)?);

    let memory_nodes: Vec<u16> = series::memory(&view).iter().map(|node| node.0).collect();
    definitions(&rows, &memory_nodes, out)?;
    let last = merge(streams, |time_ns, line| body(&rows, time_ns, line, out))?;
    let time = Time(last);
    for lane in &view.workers {
        writeln!(out, "6 {time} \"w{}\" \"W\"", lane.worker)?;
    }
    writeln!(out, "6 {time} \"s\" \"S\"")?;
    for node in memory_nodes {
        writeln!(out, "6 {time} \"m{node}\" \"M\"")?;
    }
    writeln!(out, "6 {time} \"r\" \"R\"")?;
    Ok(())
}

/// Nanoseconds as milliseconds.
struct Time(u64);

impl std::fmt::Display for Time {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{:06}", self.0 / 1_000_000, self.0 % 1_000_000)
    }
}

/// A name between quotes: Paje knows no escape.
fn quoted(name: &str) -> String {
    let plain = |c: char| if c == '"' || c.is_control() { '\'' } else { c };
    format!("\"{}\"", name.chars().map(plain).collect::<String>())
}

fn definitions(rows: &Rows<'_, '_>, memory_nodes: &[u16], out: &mut dyn Write) -> io::Result<()> {
    let view = rows.view;
    for (id, (name, fields)) in EVENTS.iter().enumerate() {
        writeln!(out, "%EventDef {name} {id}")?;
        for (field, kind) in *fields {
            writeln!(out, "% {field} {kind}")?;
        }
        writeln!(out, "%EndEventDef")?;
    }
    let containers = [
        ("R", "0", "Run"),
        ("W", "R", "Worker"),
        ("S", "R", "Submission"),
        ("M", "R", "Memory node"),
    ];
    for (alias, parent, name) in containers {
        writeln!(out, "0 \"{alias}\" \"{parent}\" \"{name}\"")?;
    }
    for (alias, parent, name) in [
        ("T", "W", "Task"),
        ("I", "W", "Without a task"),
        ("L", "S", "Waiting"),
    ] {
        writeln!(out, "1 \"{alias}\" \"{parent}\" \"{name}\"")?;
    }
    let variables = [
        ("ready", "R", "Ready tasks"),
        ("submitted", "R", "Submitted tasks"),
        ("rate", "W", "GFlop/s"),
        ("held", "M", "Memory (MiB)"),
    ];
    for (alias, parent, name) in variables {
        writeln!(out, "2 \"{alias}\" \"{parent}\" \"{name}\"")?;
    }
    writeln!(out, "3 \"D\" \"R\" \"W\" \"W\" \"Dependency\"")?;
    let colour = |c: palette::Colour| {
        let part = |c: u8| f64::from(c) / 255.0;
        format!(
            "\"{:.3} {:.3} {:.3}\"",
            part(c.red),
            part(c.green),
            part(c.blue)
        )
    };
    for (number, name) in view.codelets() {
        let colour = colour(view.colour(number));
        writeln!(out, "4 \"c{number}\" \"T\" {} {colour}", quoted(name))?;
    }
    let helped: BTreeSet<u16> = rows.helpers.iter().map(|h| h.task.codelet).collect();
    for number in helped {
        let colour = colour(view.colour(number).lighter());
        let name = quoted(&format!("helps {}", view.codelet(number)));
        writeln!(out, "4 \"h{number}\" \"T\" {name} {colour}")?;
    }
    for state in ThreadState::ALL {
        let colour = colour(palette::state(*state));
        writeln!(out, "4 \"{state}\" \"I\" \"{state}\" {colour}")?;
        writeln!(out, "4 \"L{state}\" \"L\" \"{state}\" {colour}")?;
    }
    writeln!(out, "4 \"d\" \"D\" \"Dependency\" \"0.2 0.2 0.2\"")?;
    let zero = Time(0);
    writeln!(out, "5 {zero} \"r\" \"R\" \"0\" {}", quoted(&view.title()))?;
    for lane in &view.workers {
        writeln!(
            out,
            "5 {zero} \"w{}\" \"W\" \"r\" {}",
            lane.worker,
            quoted(&lane.name)
        )?;
    }
    writeln!(out, "5 {zero} \"s\" \"S\" \"r\" \"submission\"")?;
    for node in memory_nodes {
        writeln!(
            out,
            "5 {zero} \"m{node}\" \"M\" \"r\" \"memory node {node}\""
        )?;
    }
    Ok(())
}

fn body(rows: &Rows<'_, '_>, time_ns: u64, line: Line, out: &mut dyn Write) -> io::Result<()> {
    let (time, view) = (Time(time_ns), rows.view);
    match line {
        Line::Mark(mark, track) => {
            let (container, kind) = match track {
                Track::Tasks(worker) => (format!("w{worker}"), "T"),
                Track::States(Some(worker)) => (format!("w{worker}"), "I"),
                Track::States(None) => ("s".to_owned(), "L"),
            };
            if !mark.begins {
                return writeln!(out, "8 {time} \"{container}\" \"{kind}\"");
            }
            let row = mark.what as usize;
            let value = match track {
                Track::Tasks(_) => match view.tasks().get(row) {
                    Some(task) => format!("c{}", task.codelet),
                    None => {
                        let helper = &rows.helpers[row - view.tasks().len()];
                        format!("h{}", helper.task.codelet)
                    }
                },
                Track::States(Some(_)) => view.trace.tables.states[row].state.to_string(),
                Track::States(None) => format!("L{}", view.trace.tables.states[row].state),
            };
            writeln!(out, "7 {time} \"{container}\" \"{kind}\" \"{value}\"")
        }
        Line::Variable {
            container,
            kind,
            value,
        } => writeln!(out, "9 {time} \"{container}\" \"{kind}\" {value}"),
        Line::Link { edge, begins } => {
            let (from, to) = rows.edges[edge];
            let (id, row) = if begins { (10, from) } else { (11, to) };
            let worker = view.tasks()[row as usize].worker;
            writeln!(
                out,
                "{id} {time} \"D\" \"r\" \"d\" \"w{worker}\" \"{edge}\""
            )
        }
    }
}

fn task_streams<'a>(rows: &Rows<'_, 'a>) -> Result<Vec<Stream<'a>>, ExportError> {
    let view = rows.view;
    let mut spans = vec![Vec::new(); view.workers.len()];
    for (row, task) in view.tasks().iter().enumerate() {
        spans[view.lane(task.worker)].push((task.start_ns, task.end_ns, row as u32));
    }
    for (piece, what) in rows.helpers.iter().zip(view.tasks().len() as u32..) {
        spans[view.lane(piece.worker)].push((piece.start_ns, piece.end_ns, what));
    }
    let lanes = view.workers.iter().zip(spans);
    let stream = |(lane, spans): (&super::view::Lane<'_>, _)| {
        let track = Track::Tasks(lane.worker);
        Ok(stream(marks(spans, &lane.name)?, track))
    };
    lanes.map(stream).collect()
}

fn state_streams<'a>(view: &View<'a>) -> Result<Vec<Stream<'a>>, ExportError> {
    let states = &view.trace.tables.states;
    let of = |worker: Option<u16>, name: &str| {
        let rows = states.iter().enumerate();
        let rows = rows.filter(|(_, state)| state.worker == worker);
        let spans = rows.map(|(row, state)| (state.start_ns, state.end_ns, row as u32));
        Ok(stream(marks(spans.collect(), name)?, Track::States(worker)))
    };
    let workers = view
        .workers
        .iter()
        .map(|lane| of(Some(lane.worker), &lane.name));
    workers.chain([of(None, "submission")]).collect()
}

fn stream<'a>(marks: Vec<Mark>, track: Track) -> Stream<'a> {
    let line = move |mark: Mark| (mark.time_ns, Line::Mark(mark, track));
    Box::new(marks.into_iter().map(line))
}

fn variable_streams<'a>(view: &View<'a>) -> Vec<Stream<'a>> {
    let stream =
        |steps: Vec<Step>, container: String, kind: &'static str, unit: f64| -> Stream<'a> {
            Box::new(steps.into_iter().map(move |step| {
                let container = container.clone();
                let value = step.value / unit;
                (
                    step.time_ns,
                    Line::Variable {
                        container,
                        kind,
                        value,
                    },
                )
            }))
        };
    let mut streams = vec![
        stream(series::ready(view), "r".to_owned(), "ready", 1.0),
        stream(series::submitted(view), "r".to_owned(), "submitted", 1.0),
    ];
    for (lane, steps) in view.workers.iter().zip(series::rates(view)) {
        // A flop a nanosecond is a GFlop a second.
        streams.push(stream(steps, format!("w{}", lane.worker), "rate", 1.0));
    }
    for (node, steps) in series::memory(view) {
        let unit = f64::from(1 << 20);
        streams.push(stream(steps, format!("m{node}"), "held", unit));
    }
    streams
}

fn link_streams<'a>(view: &View<'a>, edges: &[links::Edge]) -> Vec<Stream<'a>> {
    let tasks = view.tasks();
    let end_of = |row: u32| tasks[row as usize].end_ns;
    let mut starts: Vec<_> = edges.iter().map(|edge| end_of(edge.0)).zip(0..).collect();
    // A link that arrived before it left would be refused: that is for `trace check` to say.
    let arrival = |edge: &links::Edge| tasks[edge.1 as usize].start_ns.max(end_of(edge.0));
    let mut ends: Vec<_> = edges.iter().map(arrival).zip(0..).collect();
    starts.sort_unstable();
    ends.sort_unstable();
    let stream = |times: Vec<(u64, usize)>, begins: bool| -> Stream<'a> {
        let times = times.into_iter();
        Box::new(times.map(move |(time_ns, edge)| (time_ns, Line::Link { edge, begins })))
    };
    vec![stream(starts, true), stream(ends, false)]
}

/// Gives the lines of all streams in the order of time, those of earlier streams first; returns the last time.
fn merge(
    mut streams: Vec<Stream<'_>>,
    mut give: impl FnMut(u64, Line) -> io::Result<()>,
) -> io::Result<u64> {
    let mut next: Vec<Option<(u64, Line)>> = streams.iter_mut().map(Iterator::next).collect();
    let heads = next.iter().enumerate();
    let heads = heads.filter_map(|(k, head)| Some(Reverse((head.as_ref()?.0, k))));
    let mut queue: BinaryHeap<_> = heads.collect();
    let mut last = 0;
    while let Some(Reverse((_, k))) = queue.pop() {
        let (time_ns, line) = next[k].take().expect("it was queued");
        last = time_ns;
        give(time_ns, line)?;
        next[k] = streams[k].next();
        queue.extend(next[k].as_ref().map(|head| Reverse((head.0, k))));
    }
    Ok(last)
}
