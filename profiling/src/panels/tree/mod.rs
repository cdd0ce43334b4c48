//! The elimination tree over time: one row a tree node in the order of submission, its life as a box, its load as colour, groups of
//! small fronts at half height in the row of their parent, and assemblies as marks.
//!
//! Where there are more rows than pixels, neighbours share a band: its load is that of the node that had most.

pub(crate) mod rows;

use crate::palette::{self, Colour};
use crate::panels::axis::plain;
use crate::panels::frame::{Form, Frame, Key, SMALL, mix, ramp};
use crate::panels::lod::{Span, covered, merged};
use crate::panels::scene::{Anchor, Area, GREY, INK, PAPER, Scene, Stroke};
use crate::panels::steps::spread;
use crate::panels::subject::Subject;
use crate::panels::{Drawing, PanelEntry, PanelOptions};
use rows::{Row, rows};
use std::collections::HashMap;

pub(in crate::panels) const ENTRY: PanelEntry = PanelEntry {
    name: "tree",
    about: "the elimination tree over time: life and load of every front, assemblies, subtrees",
    drawing: Drawing::Own(paint),
};

/// Bands are not thinner than this.
const THINNEST: f64 = 1.5;
/// Subtrees of one row that run at the same time are drawn below each other, so many at most.
const LANES: usize = 4;
/// Marks are not narrower than this.
const MARK: f64 = 0.8;
const ASSEMBLY: Colour = Colour::new(0x11_77_33);
const LIFE: Colour = Colour::new(0xAA_AA_AA);
const SOLVE: Colour = Colour::new(0x88_CC_EE);

fn paint(subject: &Subject<'_>, options: &PanelOptions) -> Scene {
    let rows = rows(subject, &options.marked);
    let any = |of: fn(&Row) -> bool| rows.iter().any(of);
    let subtree = palette::codelet("do_subtree");
    let workers = subject.workers.len() as f64;
    let scale = Scale {
        workers,
        classes: options.load_classes,
    };
    let mut keys = scale.keys();
    keys.push(Key::new(Form::Outline, LIFE, "memory held"));
    if any(|row| !row.groups.is_empty()) {
        let text = "whole subtree, in the row of its parent";
        keys.push(Key::new(Form::Box, subtree, text));
    }
    if any(|row| !row.assemblies.is_empty()) {
        keys.push(Key::new(Form::Box, ASSEMBLY, "assembly"));
    }
    if any(|row| !row.solves.is_empty()) {
        keys.push(Key::new(Form::Box, SOLVE, "solve"));
    }
    if any(|row| !row.marked.is_empty()) {
        keys.push(Key::new(Form::Ring, INK, "slow task"));
    }
    // A few rows are higher, so that there is something to see.
    let height = (rows.len() as f64 * 13.0).max(rows.len().min(8) as f64 * 18.0);
    let height = height.clamp(36.0, 820.0);
    let title = "Elimination tree over time";
    let mut frame = Frame::new(subject, options, title, height, &keys);
    frame.time_axis();
    let area = frame.area;
    let most = ((area.h / THINNEST) as usize).max(1);
    let each = rows.len().div_ceil(most).max(1);
    let bands: Vec<&[Row]> = rows.chunks(each).collect();
    let band = area.h / bands.len().max(1) as f64;
    labels(&mut frame, &bands, band, each);
    let place = |k: usize| Area {
        y: area.y + k as f64 * band,
        h: band,
        ..area
    };
    let steps = options.windows(subject, area.w);
    for (k, members) in bands.iter().enumerate() {
        lives(&mut frame, subject, members, place(k));
    }
    for (k, members) in bands.iter().enumerate() {
        loads(&mut frame, subject, members, place(k), (&scale, steps));
    }
    for layer in [solves, groups, assemblies] {
        for (k, members) in bands.iter().enumerate() {
            layer(&mut frame, subject, members, place(k));
        }
    }
    edges(&mut frame, subject, &bands, band);
    for (k, members) in bands.iter().enumerate() {
        dots(&mut frame, subject, members, place(k));
    }
    frame.marks(&[]);
    frame.scene
}

/// What colour a load has.
struct Scale {
    workers: f64,
    /// As 0, 50 or 100 % of all workers, whichever is nearest.
    classes: bool,
}

impl Scale {
    /// Up to one worker the lighter half of the ramp, beyond it the darker one.
    fn colour(&self, load: f64) -> Colour {
        match load {
            load if self.classes => ramp([0.08, 0.5, 0.95][self.class(load)]),
            load if load <= 1.0 => ramp(0.08 + 0.52 * load),
            load => ramp(0.6 + 0.4 * (load - 1.0) / (self.workers - 1.0).max(1.0)),
        }
    }

    fn class(&self, load: f64) -> usize {
        ((2.0 * load / self.workers).round() as usize).min(2)
    }

    /// Loads that look the same have the same number: neighbours with the same are one rectangle.
    fn number(&self, load: f64) -> u32 {
        match self.classes {
            true => 1 + self.class(load) as u32,
            // In twentieths of a worker.
            false => ((load * 20.0).round() as u32).max(1),
        }
    }

    fn colour_of(&self, number: u32) -> Colour {
        match self.classes {
            true => self.colour(f64::from(number - 1) * 0.5 * self.workers),
            false => self.colour(f64::from(number) / 20.0),
        }
    }

    fn keys(&self) -> Vec<Key> {
        let n = self.workers;
        let key = |load: f64, text: String| Key::new(Form::Box, self.colour(load), text);
        if self.classes {
            let classes = [
                (0.0, "below 25 % of all workers"),
                (0.5, "about 50 %"),
                (1.0, "above 75 %"),
            ];
            return classes
                .map(|(part, text)| key(part * n, text.into()))
                .into();
        }
        let mut keys = vec![
            Key::new(Form::Box, ramp(0.1), "hardly any load"),
            key(1.0, "one worker busy".to_owned()),
        ];
        if n > 1.0 {
            keys.push(key(n, format!("all {n} busy")));
        }
        keys
    }
}

fn lives(frame: &mut Frame<'_, '_>, subject: &Subject<'_>, members: &[Row], place: Area) {
    frame.scene.group("lives");
    let all = members.iter().filter_map(|row| row.life);
    let whole = all.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
    let Some((start, end)) = whole.and_then(|life| subject.visible(life)) else {
        return;
    };
    let inset = if place.h > 4.0 { 1.0 } else { 0.0 };
    let area = Area {
        x: frame.x(start),
        y: place.y + inset,
        w: frame.length(end - start).max(0.5),
        h: place.h - 2.0 * inset,
    };
    if place.h > 4.0 {
        frame.scene.tint(area, LIFE, 0.12);
        frame.scene.outline(area, Stroke::new(LIFE, 0.7));
    } else {
        frame.scene.tint(area, LIFE, 0.35);
    }
}

fn loads(
    frame: &mut Frame<'_, '_>,
    subject: &Subject<'_>,
    members: &[Row],
    place: Area,
    (scale, count): (&Scale, usize),
) {
    frame.scene.group("loads");
    let span = (subject.from, subject.to);
    let mut load = vec![0.0_f64; count];
    let mut mine = vec![0.0; count];
    for row in members.iter().filter(|row| !row.tasks.is_empty()) {
        mine.fill(0.0);
        for &(start, end) in &row.tasks {
            if end > start {
                spread(&mut mine, span, (start, end), end - start);
            }
        }
        for (most, mine) in load.iter_mut().zip(&mine) {
            *most = most.max(*mine);
        }
    }
    let width = (span.1 - span.0) / count as f64;
    let inset = if place.h > 4.0 { 1.0 } else { 0.0 };
    let step = place.w / count as f64;
    let cells = load.iter().enumerate().filter(|(_, load)| **load > 0.0);
    let cells = cells.map(|(k, load)| Span {
        x: place.x + k as f64 * step,
        w: step,
        kind: scale.number(load / width),
    });
    for cell in merged(cells, 0.5 * step) {
        let area = Area {
            x: cell.x,
            y: place.y + inset,
            w: cell.w,
            h: place.h - 2.0 * inset,
        };
        frame.scene.rect(area, scale.colour_of(cell.kind));
    }
}

/// Pale, in the middle of the row: they are not a part of the front's life.
fn solves(frame: &mut Frame<'_, '_>, subject: &Subject<'_>, members: &[Row], place: Area) {
    frame.scene.group("solves");
    let spans = members.iter().flat_map(|row| &row.solves);
    let spans = on_page(frame, subject, spans);
    let (y, h) = (place.y + 0.3 * place.h, 0.4 * place.h);
    for (x, w) in covered(spans, MARK, place.right()) {
        frame.scene.rect(Area { x, y, w, h }, SOLVE);
    }
}

/// Where they begin and end, those that can be seen.
fn on_page<'s>(
    frame: &Frame<'_, '_>,
    subject: &Subject<'_>,
    spans: impl Iterator<Item = &'s (f64, f64)>,
) -> Vec<(f64, f64)> {
    let visible = spans.filter_map(|span| subject.visible(*span));
    visible
        .map(|(start, end)| (frame.x(start), frame.x(end)))
        .collect()
}

/// A dot at the middle of each marked task; those that would lie on each other are one.
fn dots(frame: &mut Frame<'_, '_>, subject: &Subject<'_>, members: &[Row], place: Area) {
    frame.scene.group("marked");
    let spans = members.iter().flat_map(|row| &row.marked);
    let spans = spans.filter_map(|span| subject.visible(*span));
    let mut places: Vec<f64> = spans.map(|(a, b)| frame.x(0.5 * (a + b))).collect();
    places.sort_by(f64::total_cmp);
    let r = (0.2 * place.h).clamp(1.0, 2.2);
    let y = place.y + 0.5 * place.h;
    let mut last = f64::NEG_INFINITY;
    for x in places {
        if x - last >= 2.0 * r {
            frame.scene.dot((x, y), r + 0.9, INK, 1.0);
            frame.scene.dot((x, y), r, PAPER, 1.0);
            last = x;
        }
    }
}

/// In the lower half of the row, those that run at the same time below each other.
fn groups(frame: &mut Frame<'_, '_>, subject: &Subject<'_>, members: &[Row], place: Area) {
    frame.scene.group("subtrees");
    let mut spans: Vec<(f64, f64)> = members
        .iter()
        .flat_map(|row| &row.groups)
        .copied()
        .collect();
    spans.retain(|span| subject.visible(*span).is_some());
    spans.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut lanes: Vec<Vec<(f64, f64)>> = Vec::new();
    for span in spans {
        let (start, end) = subject.visible(span).expect("kept");
        let free = lanes
            .iter()
            .position(|lane| lane.last().is_none_or(|last| last.1 <= start));
        match free {
            Some(lane) => lanes[lane].push((start, end)),
            None if lanes.len() < LANES => lanes.push(vec![(start, end)]),
            None => {
                // No room: the one that ends first is drawn until this one ends.
                let lane = lanes.iter_mut().min_by(|a, b| last(a).total_cmp(&last(b)));
                if let Some(span) = lane.and_then(|lane| lane.last_mut()) {
                    span.1 = span.1.max(end);
                }
            }
        }
    }
    let inset = if place.h > 4.0 { 1.0 } else { 0.0 };
    let half = 0.5 * (place.h - 2.0 * inset);
    let h = half / lanes.len().max(1) as f64;
    let dark = mix(palette::codelet("do_subtree"), INK, 0.25);
    for (k, lane) in lanes.iter().enumerate() {
        let y = place.y + inset + half + k as f64 * h;
        let spans = lane.iter().map(|&(start, end)| Span {
            x: frame.x(start),
            w: frame.length(end - start),
            kind: (),
        });
        for span in merged(spans, 1.0) {
            let (x, w) = (span.x, span.w.max(0.4).min(place.right() - span.x));
            let area = Area { x, y, w, h };
            frame.scene.rect(area, palette::codelet("do_subtree"));
            if h > 2.0 && w > 2.0 {
                frame.scene.outline(area, Stroke::new(dark, 0.4));
            }
        }
    }
}

fn last(lane: &[(f64, f64)]) -> f64 {
    lane.last().map_or(0.0, |span| span.1)
}

fn assemblies(frame: &mut Frame<'_, '_>, subject: &Subject<'_>, members: &[Row], place: Area) {
    if place.h < 3.0 {
        return;
    }
    frame.scene.group("assemblies");
    let spans = members.iter().flat_map(|row| &row.assemblies);
    let spans = on_page(frame, subject, spans);
    let (y, h) = (place.y + 0.22 * place.h, 0.28 * place.h);
    for (x, w) in covered(spans, MARK, place.right()) {
        frame.scene.rect(Area { x, y, w, h }, ASSEMBLY);
    }
}

/// To the parent, from the beginning of a front (pale) and from its end, where the rows are high enough for that.
fn edges(frame: &mut Frame<'_, '_>, subject: &Subject<'_>, bands: &[&[Row]], band: f64) {
    if band < 7.0 {
        return;
    }
    frame.scene.group("edges");
    let of_node: HashMap<u32, usize> = bands
        .iter()
        .enumerate()
        .flat_map(|(k, members)| members.iter().map(move |row| (row.node, k)))
        .collect();
    let middle = |k: usize| frame.area.y + (k as f64 + 0.5) * band;
    let mut arrows = Vec::new();
    for (k, row) in bands
        .iter()
        .enumerate()
        .flat_map(|(k, m)| m.iter().map(move |r| (k, r)))
    {
        let parent = subject.front(row.node).and_then(|front| front.parent);
        let Some(&above) = parent.and_then(|parent| of_node.get(&parent)) else {
            continue;
        };
        if above == k || row.tasks.is_empty() {
            continue;
        }
        let begin = row.tasks.iter().map(|span| span.0).fold(f64::MAX, f64::min);
        let end = row.tasks.iter().map(|span| span.1).fold(f64::MIN, f64::max);
        for (at, colour) in [(begin, LIFE), (end, GREY)] {
            if (subject.from..=subject.to).contains(&at) {
                let x = frame.x(at).min(frame.area.right() - 1.0);
                let to = middle(above) - (middle(above) - middle(k)).signum() * 0.4 * band;
                arrows.push(((x, middle(k)), (x, to), colour));
            }
        }
    }
    for (from, to, colour) in arrows {
        frame.scene.arrow(from, to, Stroke::new(colour, 0.6));
    }
}

/// Numbers of nodes where there is room, else positions.
fn labels(frame: &mut Frame<'_, '_>, bands: &[&[Row]], band: f64, each: usize) {
    frame.scene.group("nodes");
    let area = frame.area;
    let heading = match each {
        1 => "node",
        _ => "node, in order",
    };
    frame
        .scene
        .coloured_text(16.0, area.y - 5.0, SMALL, Anchor::Start, GREY, heading);
    let size = if band < 12.0 { 9.0 } else { SMALL };
    let every = ((size + 2.0) / band).ceil().max(1.0) as usize;
    for (k, members) in bands.iter().enumerate().step_by(every) {
        let y = area.y + (k as f64 + 0.5) * band + 0.35 * size;
        if let Some(row) = members.first() {
            let node = plain(f64::from(row.node));
            frame.scene.text(area.x - 7.0, y, size, Anchor::End, node);
        }
    }
}
