//! Spans on rows: what a panel of spans says, and how all of them are drawn.
//!
//! A panel gives [`Rows`]; the picture here and the page of the report are two ways to show them. Times are nanoseconds since the
//! beginning of the run, negative before it.

use super::PanelOptions;
use super::font;
use super::frame::{Form, Frame, Key, Plan, SMALL, sentence};
use super::lod::{Span, merged};
use super::scene::{Anchor, Area, GREY, INK, PAPER, Scene, Stroke};
use super::subject::Subject;
use crate::palette::Colour;

/// Spans of some kinds on some lanes.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    pub title: &'static str,
    pub lanes: Vec<Lane>,
    /// What is said above the notes of the lanes.
    pub heading: &'static str,
    /// Those that must not be hidden come last.
    pub kinds: Vec<Kind>,
    /// Those of one kind on one lane do not overlap.
    pub spans: Vec<RowSpan>,
    pub style: Style,
    /// The time from left to right, where it is another one than that of all panels.
    pub axis: Option<(f64, f64)>,
    /// What to say where there is nothing to draw.
    pub instead: Option<String>,
}

/// How spans are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// As long as they are; what is shorter than a unit is put together.
    True,
    /// At least a unit long, so that none is lost.
    Seen,
    /// With their names in them.
    Named,
}

/// A row.
#[derive(Clone, Debug)]
pub(crate) struct Lane {
    pub name: String,
    /// A figure at the right.
    pub note: String,
}

/// What spans can be.
#[derive(Clone, Debug)]
pub(crate) struct Kind {
    pub name: String,
    pub colour: Colour,
}

/// A span.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowSpan {
    pub lane: usize,
    pub kind: usize,
    pub from: f64,
    pub to: f64,
}

impl Rows {
    pub fn new(title: &'static str, style: Style) -> Self {
        Rows {
            title,
            lanes: Vec::new(),
            heading: "",
            kinds: Vec::new(),
            spans: Vec::new(),
            style,
            axis: None,
            instead: None,
        }
    }

    /// Says why there are no spans.
    pub fn without(mut self, why: impl Into<String>) -> Self {
        self.instead = Some(why.into());
        self
    }
}

/// Draws them.
pub(super) fn paint(rows: &Rows, subject: &Subject<'_>, options: &PanelOptions) -> Scene {
    if let Some(why) = &rows.instead {
        return sentence(subject, options, rows.title, why);
    }
    let used = |k: &usize| rows.spans.iter().any(|span| span.kind == *k);
    let keys: Vec<Key> = (0..rows.kinds.len())
        .filter(used)
        .map(|k| Key::new(Form::Box, rows.kinds[k].colour, &rows.kinds[k].name))
        .collect();
    let count = rows.lanes.len().max(1) as f64;
    let plan = Plan {
        title: rows.title,
        height: (count * 26.0).clamp(40.0, 900.0),
        keys: &keys,
        lines: 1,
        span: rows.axis,
    };
    let mut frame = Frame::planned(subject, options, &plan);
    frame.time_axis();
    let row = frame.area.h / count;
    let mut places = vec![Vec::new(); rows.lanes.len() * rows.kinds.len()];
    for span in &rows.spans {
        if let Some((from, to)) = frame.visible((span.from, span.to)) {
            let at = span.lane * rows.kinds.len() + span.kind;
            places[at].push((from, to));
        }
    }
    frame.scene.group("spans");
    for lane in 0..rows.lanes.len() {
        let mine = &mut places[lane * rows.kinds.len()..(lane + 1) * rows.kinds.len()];
        let gap = (0.2 * row).min(5.0);
        let y = frame.area.y + lane as f64 * row + 0.5 * gap;
        let h = row - gap;
        match rows.style {
            Style::True => whole(&mut frame, rows, mine, (y, h)),
            Style::Seen | Style::Named => seen(&mut frame, rows, mine, (y, h)),
        }
    }
    names(&mut frame, rows, row);
    frame.marks(&[]);
    frame.scene
}

/// Widths are times: spans of all kinds together, none over another.
fn whole(frame: &mut Frame<'_, '_>, rows: &Rows, mine: &[Vec<(f64, f64)>], (y, h): (f64, f64)) {
    let mut all: Vec<(f64, f64, usize)> = Vec::new();
    for (kind, spans) in mine.iter().enumerate() {
        all.extend(spans.iter().map(|&(from, to)| (from, to, kind)));
    }
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut free = f64::NEG_INFINITY;
    let mut spans = Vec::with_capacity(all.len());
    for (from, to, kind) in all {
        let from = from.max(free);
        if to > from {
            let (x, w) = (frame.x(from), frame.length(to - from));
            spans.push(Span { x, w, kind });
            free = to;
        }
    }
    for span in merged(spans.into_iter(), 1.0) {
        let (x, w) = (span.x, span.w.min(frame.area.right() - span.x));
        let colour = rows.kinds[span.kind].colour;
        frame.scene.rect(Area { x, y, w, h }, colour);
    }
}

/// Kind by kind, the last on top; every span takes a unit at least, and those that lie on each other are one.
fn seen(frame: &mut Frame<'_, '_>, rows: &Rows, mine: &mut [Vec<(f64, f64)>], (y, h): (f64, f64)) {
    let right = frame.area.right();
    for (spans, kind) in mine.iter_mut().zip(&rows.kinds) {
        spans.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut open: Option<(f64, f64)> = None;
        let mut boxes = Vec::new();
        for &(from, to) in spans.iter() {
            let x = frame.x(from).min(right - 1.0);
            let until = frame.x(to).max(x + 1.0).min(right);
            match &mut open {
                Some(last) if x - last.1 < 0.2 => last.1 = last.1.max(until),
                _ => boxes.extend(open.replace((x, until))),
            }
        }
        boxes.extend(open);
        for (x, until) in boxes {
            let w = until - x;
            frame.scene.rect(Area { x, y, w, h }, kind.colour);
            if rows.style == Style::Named {
                frame
                    .scene
                    .outline(Area { x, y, w, h }, Stroke::new(PAPER, 0.8));
                let colour = if kind.colour.is_dark() { PAPER } else { INK };
                if font::width(&kind.name, SMALL, false) + 8.0 <= w {
                    let (at, base) = (x + 0.5 * w, y + 0.5 * h + 4.0);
                    frame
                        .scene
                        .coloured_text(at, base, SMALL, Anchor::Middle, colour, &kind.name);
                }
            }
        }
    }
}

/// Names at the left, notes at the right: as many as there is room for.
fn names(frame: &mut Frame<'_, '_>, rows: &Rows, row: f64) {
    let area = frame.area;
    frame.scene.group("lanes");
    let x = area.right() + 8.0;
    let room = frame.scene.width - x - 2.0;
    if font::width(rows.heading, 10.0, false) <= room {
        let y = area.y - 7.0;
        frame
            .scene
            .coloured_text(x, y, 10.0, Anchor::Start, GREY, rows.heading);
    }
    let every = (13.0 / row).ceil().max(1.0) as usize;
    for (k, lane) in rows.lanes.iter().enumerate().step_by(every) {
        let y = area.y + (k as f64 + 0.5) * row + 4.0;
        let name = font::fitted(&lane.name, SMALL, false, area.x - 14.0);
        frame.scene.text(area.x - 7.0, y, SMALL, Anchor::End, name);
        let note = font::fitted(&lane.note, SMALL, false, room);
        frame.scene.text(x, y, SMALL, Anchor::Start, note);
    }
}
