//! Workers over time: tasks by codelet, at half height those of others that a worker did parts of; below them what it did without a
//! task, and how much of its time that was; the steps of the program above them, the longest chain of tasks along them, and what the
//! run could have taken as lines across.

use super::axis::{percent, time};
use super::font;
use super::frame::{Form, Frame, Key, Mark, Plan, SMALL};
use super::lod::{Span, merged};
use super::scene::{ALERT, Anchor, Area, GREY, INK, PAPER, Scene, Stroke};
use super::states::STATES;
use super::subject::Subject;
use super::{Drawing, PanelEntry, PanelOptions};
use crate::account::{area_bound, critical_path};
use crate::palette::{self, Colour};
use crate::trace::schema::ThreadState;
use std::collections::HashSet;

pub(super) const ENTRY: PanelEntry = PanelEntry {
    name: "gantt",
    about: "workers over time: tasks by codelet, longest chain, bounds, idle time",
    drawing: Drawing::Own(paint),
};

/// Tasks shorter than this are put together.
const STEP: f64 = 1.0;
/// What the tasks that are not marked are faded to.
const PALE: f64 = 0.4;
/// Tasks of the longest chain that are wider than this have an edge, others a line.
const EDGED: f64 = 5.0;
/// Height of the steps of the program.
const PHASES: f64 = 18.0;

/// A task on the row of its worker, or of one who did parts of it.
#[derive(Clone, Copy)]
struct Bar {
    start: f64,
    end: f64,
    look: Look,
    marked: bool,
    chain: bool,
}

/// What bars are told apart by.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Look {
    codelet: u16,
    /// Another worker's task: at half height.
    helps: bool,
}

fn paint(subject: &Subject<'_>, options: &PanelOptions) -> Scene {
    let used = subject.used();
    let states = states_of(subject);
    let path = critical_path(subject.trace);
    let box_of = |colour, text: String| Key::new(Form::Box, colour, text);
    let mut keys: Vec<Key> = used
        .iter()
        .map(|&(codelet, _)| box_of(subject.colour(codelet), subject.codelet(codelet).to_owned()))
        .collect();
    let seen = |state| states.iter().flatten().any(|span| span.2 == state);
    for (state, text) in STATES.into_iter().filter(|(state, _)| seen(*state)) {
        keys.push(box_of(palette::state(state), text.to_owned()));
    }
    keys.push(Key::new(Form::Outline, INK, "on the longest chain"));
    let bars = bars(subject, options, &path.tasks.into_iter().collect());
    if bars.iter().flatten().any(|bar| bar.look.helps) {
        keys.push(Key::new(Form::Half, GREY, "helps another worker's task"));
    }
    let marked = bars.iter().flatten().filter(|bar| bar.marked).count();
    if !options.marked.is_empty() {
        let text = match marked {
            1 => "strong: 1 slow task, the others pale".to_owned(),
            n => format!("strong: {n} slow tasks, the others pale"),
        };
        keys.push(Key::new(Form::Box, INK, text));
    }
    let rows = subject.workers.len();
    let phases = phases_of(subject);
    let above = if phases.is_empty() { 0.0 } else { PHASES };
    let plan = Plan {
        title: "Tasks by worker",
        height: (rows as f64 * 34.0).clamp(56.0, 900.0) + above,
        keys: &keys,
        lines: 2,
        span: None,
    };
    let mut frame = Frame::planned(subject, options, &plan);
    frame.time_axis();
    let whole = frame.area;
    let area = Area {
        y: whole.y + above,
        h: (whole.h - above).max(10.0),
        ..whole
    };
    let row = area.h / rows as f64;
    let gap = (0.14 * row).min(5.0);
    let strip = if row > 8.0 { 0.22 * row } else { 0.0 };
    for (k, mine) in bars.iter().enumerate() {
        let place = Area {
            y: area.y + k as f64 * row + 0.5 * gap,
            h: row - gap - strip,
            ..area
        };
        tasks(&mut frame, subject, options, mine, place);
        chain(&mut frame, mine, place);
    }
    if strip > 0.0 {
        frame.scene.group("states");
        for (k, mine) in states.iter().enumerate() {
            let y = area.y + (k + 1) as f64 * row - strip - 0.5 * gap;
            let spans = mine.iter().map(|&(start, end, kind)| Span {
                x: frame.x(start),
                w: frame.length(end - start),
                kind,
            });
            for span in merged(spans, STEP) {
                let (x, w, h) = (span.x, span.w, strip);
                let colour = palette::state(span.kind);
                frame.scene.rect(Area { x, y, w, h }, colour);
            }
        }
    }
    let busy = |mine: &Vec<Bar>| mine.iter().map(|bar| bar.end - bar.start).sum();
    let busy: Vec<f64> = bars.iter().map(busy).collect();
    names(&mut frame, subject, &busy, (area, row));
    phases_row(&mut frame, &phases);
    frame.marks(&bounds(subject, path.length_ns));
    frame.scene
}

/// The tasks of each worker in what is drawn, and those it helped with, by their beginnings.
fn bars(subject: &Subject<'_>, options: &PanelOptions, chain: &HashSet<u32>) -> Vec<Vec<Bar>> {
    let mut bars: Vec<Vec<Bar>> = vec![Vec::new(); subject.workers.len()];
    for piece in subject.pieces() {
        if let Some((start, end)) = subject.visible(subject.worked(&piece)) {
            let task = piece.task.task;
            bars[subject.lane(piece.worker)].push(Bar {
                start,
                end,
                look: Look {
                    codelet: piece.task.codelet,
                    helps: !piece.own,
                },
                marked: piece.own && options.marked.contains(&task),
                chain: piece.own && chain.contains(&task),
            });
        }
    }
    for mine in &mut bars {
        mine.sort_by(|a, b| a.start.total_cmp(&b.start));
    }
    bars
}

/// What the run could have taken, from its beginning: the longest chain, and all workers busy. Of a part of a run nothing can be said.
fn bounds(subject: &Subject<'_>, chain_ns: u64) -> Vec<Mark> {
    if subject.trace.manifest.filtered.is_some() {
        return Vec::new();
    }
    let mark = |ns: f64, what: &str, colour| Mark {
        at: ns,
        colour,
        text: format!("{what}: {}", time(ns)),
    };
    let chain = mark(chain_ns as f64, "longest chain", Colour::new(0x88_22_55));
    // Tables that no bound follows from are for `treeqr trace check` to tell.
    let area = area_bound(subject.trace).ok().filter(|b| b.bound_ns > 0.0);
    let area = area.map(|area| mark(area.bound_ns, "all workers busy", ALERT));
    [chain].into_iter().chain(area).collect()
}

fn tasks(
    frame: &mut Frame<'_, '_>,
    subject: &Subject<'_>,
    options: &PanelOptions,
    mine: &[Bar],
    row: Area,
) {
    frame.scene.group("tasks");
    let place = |span: &Span<Look>| {
        let h = if span.kind.helps { 0.5 * row.h } else { row.h };
        Area {
            x: span.x,
            y: row.bottom() - h,
            w: span.w,
            h,
        }
    };
    let spans = mine.iter().map(|bar| Span {
        x: frame.x(bar.start),
        w: frame.length(bar.end - bar.start),
        kind: bar.look,
    });
    let opacity = if options.marked.is_empty() { 1.0 } else { PALE };
    let spans = merged(spans, STEP);
    // One path a look.
    let mut used: Vec<Look> = spans.iter().map(|span| span.kind).collect();
    used.sort_unstable();
    used.dedup();
    for look in used {
        for span in spans.iter().filter(|span| span.kind == look) {
            let colour = subject.colour(look.codelet);
            frame.scene.tint(place(span), colour, opacity);
        }
    }
    // However short: they are what is looked for.
    let mut last = f64::NEG_INFINITY;
    for bar in mine.iter().filter(|bar| bar.marked) {
        let w = frame.length(bar.end - bar.start).max(STEP);
        let x = frame.x(bar.start).min(row.right() - w);
        if x + w - last >= 0.5 * STEP {
            let kind = bar.look;
            let span = Span { x, w, kind };
            let colour = subject.colour(kind.codelet);
            frame.scene.rect(place(&span), colour);
            last = x + w;
        }
    }
}

/// An edge around tasks of the longest chain, and a line along the upper edge where they are too narrow for that.
fn chain(frame: &mut Frame<'_, '_>, mine: &[Bar], row: Area) {
    frame.scene.group("chain");
    let spans = mine.iter().filter(|bar| bar.chain).map(|bar| Span {
        x: frame.x(bar.start),
        w: frame.length(bar.end - bar.start),
        kind: (),
    });
    for span in merged(spans, STEP) {
        let (x, w) = (span.x, span.w);
        if w > EDGED && row.h > 6.0 {
            let (x, w) = (x + 0.6, w - 1.2);
            let (y, h) = (row.y + 0.6, row.h - 1.2);
            frame
                .scene
                .outline(Area { x, y, w, h }, Stroke::new(INK, 1.2));
        } else if w > 0.0 {
            let (y, h) = (row.y - 1.0, 2.2_f64.min(row.h));
            frame.scene.rect(Area { x, y, w, h }, INK);
        }
    }
}

/// States of each worker within what is drawn, by their beginnings.
fn states_of(subject: &Subject<'_>) -> Vec<Vec<(f64, f64, ThreadState)>> {
    let mut out = vec![Vec::new(); subject.workers.len()];
    for row in &subject.trace.tables.states {
        let Some(worker) = row.worker.filter(|&w| subject.knows(w)) else {
            continue;
        };
        let span = (subject.since(row.start_ns), subject.since(row.end_ns));
        if let Some((start, end)) = subject.visible(span) {
            out[subject.lane(worker)].push((start, end, row.state));
        }
    }
    for mine in &mut out {
        mine.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    out
}

/// The steps of the program in what is drawn, where there is more than one.
fn phases_of<'t>(subject: &Subject<'t>) -> Vec<(&'t str, f64, f64)> {
    let phases = subject.trace.tables.phases.iter();
    let top = phases.filter(|phase| phase.part_of.is_none());
    let spans = top.filter_map(|phase| {
        let begin = subject.begin_ns as f64;
        let span = (phase.start_ns as f64 - begin, phase.end_ns as f64 - begin);
        let (from, to) = subject.visible(span)?;
        (to > from).then_some((phase.phase.as_str(), from, to))
    });
    let spans: Vec<_> = spans.collect();
    // One that is all there is says nothing; those of a unit or so neither.
    let long = (subject.to - subject.from) * 0.02;
    let several = spans.iter().filter(|span| span.2 - span.1 > long).count() > 1;
    if several { spans } else { Vec::new() }
}

fn phases_row(frame: &mut Frame<'_, '_>, phases: &[(&str, f64, f64)]) {
    frame.scene.group("phases");
    let (y, h) = (frame.area.y + 1.0, PHASES - 5.0);
    let mut free = frame.area.x;
    for (k, &(name, from, to)) in phases.iter().enumerate() {
        let x = frame.x(from).max(free);
        let w = frame.x(to) - x;
        if w < STEP {
            continue;
        }
        let colour = Colour::new([0xCC_D6_E4, 0xE4_E0_CC][k % 2]);
        frame.scene.rect(Area { x, y, w, h }, colour);
        frame
            .scene
            .outline(Area { x, y, w, h }, Stroke::new(PAPER, 0.8));
        if font::width(name, 10.0, false) + 6.0 <= w {
            let (at, base) = (x + 0.5 * w, y + 10.0);
            frame
                .scene
                .coloured_text(at, base, 10.0, Anchor::Middle, INK, name);
        }
        free = x + w;
    }
}

/// Names at the left, and at the right which part of the time went into no task.
fn names(frame: &mut Frame<'_, '_>, subject: &Subject<'_>, busy: &[f64], (area, row): (Area, f64)) {
    let span = subject.to - subject.from;
    frame.scene.group("workers");
    // As many as there is room for.
    let every = (13.0 / row).ceil().max(1.0) as usize;
    let (x, y) = (area.right() + 8.0, frame.area.y - 7.0);
    let text = "not in tasks";
    if frame.scene.width - x >= font::width(text, 10.0, false) {
        frame
            .scene
            .coloured_text(x, y, 10.0, Anchor::Start, GREY, text);
    }
    for (k, worker) in subject.workers.iter().enumerate().step_by(every) {
        let y = area.y + (k as f64 + 0.5) * row + 4.0;
        let name = font::fitted(&worker.name, SMALL, false, area.x - 14.0);
        frame.scene.text(area.x - 7.0, y, SMALL, Anchor::End, name);
        let idle = percent(1.0 - busy[k] / span);
        frame.scene.text(x, y, SMALL, Anchor::Start, idle);
    }
}
