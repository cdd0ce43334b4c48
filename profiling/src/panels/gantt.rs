//! Workers over time: tasks by codelet, what a worker did without a task below them, and how much of its time that was.

use super::axis::percent;
use super::font;
use super::frame::{Form, Frame, Key, SMALL};
use super::lod::{Span, merged};
use super::scene::{Anchor, Area, GREY, Scene};
use super::subject::Subject;
use super::{Drawing, PanelEntry, PanelOptions};
use crate::palette::{self, Colour};
use crate::trace::schema::ThreadState;

pub(super) const ENTRY: PanelEntry = PanelEntry {
    name: "gantt",
    about: "workers over time: tasks by codelet, states below, idle time at the right",
    drawing: Drawing::Own(paint),
};

/// Tasks shorter than this are put together.
const STEP: f64 = 1.0;
/// What the tasks that are not marked are faded to.
const PALE: f64 = 0.35;

fn paint(subject: &Subject<'_>, options: &PanelOptions) -> Scene {
    let used = subject.used();
    let states = states_of(subject);
    let box_of = |colour, text: String| Key::new(Form::Box, colour, text);
    let mut keys: Vec<Key> = used
        .iter()
        .map(|&(codelet, _)| box_of(subject.colour(codelet), subject.codelet(codelet).to_owned()))
        .collect();
    let seen = |state| states.iter().flatten().any(|span| span.2 == state);
    let known = [
        (ThreadState::Scheduling, "asks the scheduler"),
        (ThreadState::Idle, "idle"),
        (ThreadState::Sleeping, "asleep"),
        (ThreadState::Transferring, "waits for data"),
    ];
    for (state, text) in known.into_iter().filter(|(state, _)| seen(*state)) {
        keys.push(box_of(palette::state(state), text.to_owned()));
    }
    let rows = subject.workers.len();
    let height = (rows as f64 * 34.0).clamp(110.0, 900.0);
    let mut frame = Frame::new(subject, options, "Tasks by worker", height, &keys);
    frame.time_axis();
    let area = frame.area;
    let row = area.h / rows as f64;
    let mut tasks: Vec<Vec<(f64, f64, u16, bool)>> = vec![Vec::new(); rows];
    for task in subject.tasks() {
        if let Some((start, end)) = subject.visible(subject.span(task)) {
            let marked = options.marked.contains(&task.task);
            tasks[subject.lane(task.worker)].push((start, end, task.codelet, marked));
        }
    }
    let gap = (0.14 * row).min(5.0);
    let strip = if row > 8.0 { 0.22 * row } else { 0.0 };
    frame.scene.group("tasks");
    let mut busy = vec![0.0; rows];
    for (k, mine) in tasks.iter_mut().enumerate() {
        mine.sort_by(|a, b| a.0.total_cmp(&b.0));
        busy[k] = mine.iter().map(|t| t.1 - t.0).sum();
        let y = area.y + k as f64 * row + 0.5 * gap;
        let h = row - gap - strip;
        let place = |span: &Span<u16>| Area {
            x: span.x,
            y,
            w: span.w,
            h,
        };
        let spans = mine.iter().map(|&(start, end, kind, _)| Span {
            x: frame.x(start),
            w: frame.length(end - start),
            kind,
        });
        let opacity = if options.marked.is_empty() { 1.0 } else { PALE };
        let spans = merged(spans, STEP);
        // One path a codelet.
        for &(codelet, _) in &used {
            for span in spans.iter().filter(|span| span.kind == codelet) {
                let colour = subject.colour(codelet);
                frame.scene.tint(place(span), colour, opacity);
            }
        }
        // However short: they are what is looked for.
        let mut last = f64::NEG_INFINITY;
        for &(start, end, kind, _) in mine.iter().filter(|t| t.3) {
            let w = frame.length(end - start).max(STEP);
            let x = frame.x(start).min(area.right() - w);
            if x + w - last >= 0.5 * STEP {
                let span = Span { x, w, kind };
                frame.scene.rect(place(&span), subject.colour(kind));
                last = x + w;
            }
        }
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
    names(&mut frame, subject, &busy, row);
    frame.marks(&[]);
    frame.scene
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

/// Names at the left, and at the right which part of the time went into no task.
fn names(frame: &mut Frame<'_, '_>, subject: &Subject<'_>, busy: &[f64], row: f64) {
    let area = frame.area;
    let span = subject.to - subject.from;
    frame.scene.group("workers");
    // As many as there is room for.
    let every = (13.0 / row).ceil().max(1.0) as usize;
    let heading: Colour = GREY;
    let (x, y) = (area.right() + 8.0, area.y - 7.0);
    let text = "not in tasks";
    if frame.scene.width - x >= font::width(text, 10.0, false) {
        frame
            .scene
            .coloured_text(x, y, 10.0, Anchor::Start, heading, text);
    }
    for (k, worker) in subject.workers.iter().enumerate().step_by(every) {
        let y = area.y + (k as f64 + 0.5) * row + 4.0;
        let name = font::fitted(&worker.name, SMALL, false, area.x - 14.0);
        frame.scene.text(area.x - 7.0, y, SMALL, Anchor::End, name);
        let idle = percent(1.0 - busy[k] / span);
        frame.scene.text(x, y, SMALL, Anchor::Start, idle);
    }
}
