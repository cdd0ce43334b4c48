//! The elimination tree over time: one row a tree node in the order of submission, its life as a box, its load as colour, groups of
//! small fronts at half height in the row of their parent, and assemblies as marks.
//!
//! Where there are more rows than pixels, neighbours share a band: its load is that of the node that had most.

use super::axis::plain;
use super::frame::{Form, Frame, Key, SMALL, ramp};
use super::lod::{Span, merged};
use super::scene::{Anchor, Area, GREY, INK, Scene, Stroke};
use super::steps::spread;
use super::subject::Subject;
use super::{Drawing, PanelEntry, PanelOptions};
use crate::palette::{self, Colour};
use crate::trace::schema::{FrontKind, Role};
use std::collections::{BTreeMap, HashMap};

pub(super) const ENTRY: PanelEntry = PanelEntry {
    name: "tree",
    about: "the elimination tree over time: life and load of every front, assemblies, subtrees",
    drawing: Drawing::Own(paint),
};

/// Width of a time step.
const STEP: f64 = 4.0;
/// Bands are not thinner than this.
const THINNEST: f64 = 1.5;
/// Subtrees of one row that run at the same time are drawn below each other, so many at most.
const LANES: usize = 4;
const ASSEMBLY: Colour = Colour::new(0x11_77_33);
const LIFE: Colour = Colour::new(0xAA_AA_AA);

/// A row: a front, and the groups below it.
#[derive(Default)]
pub(crate) struct Row {
    pub node: u32,
    /// From the first allocation to the last release.
    pub life: Option<(f64, f64)>,
    /// Tasks of the front itself.
    pub tasks: Vec<(f64, f64)>,
    pub assemblies: Vec<(f64, f64)>,
    /// Groups whose parent it is, or which it is itself.
    pub groups: Vec<(f64, f64)>,
}

fn paint(subject: &Subject<'_>, options: &PanelOptions) -> Scene {
    let rows = rows(subject);
    let any = |of: fn(&Row) -> bool| rows.iter().any(of);
    let subtree = palette::codelet("do_subtree");
    let workers = subject.workers.len() as f64;
    let mut keys = vec![
        Key::new(Form::Box, ramp(0.1), "hardly any load"),
        Key::new(Form::Box, load_colour(1.0, workers), "one worker busy"),
    ];
    if workers > 1.0 {
        let text = format!("all {workers} busy");
        keys.push(Key::new(Form::Box, load_colour(workers, workers), text));
    }
    keys.push(Key::new(Form::Line, LIFE, "memory held"));
    if any(|row| !row.groups.is_empty()) {
        let text = "whole subtree, in the row of its parent";
        keys.push(Key::new(Form::Box, subtree, text));
    }
    if any(|row| !row.assemblies.is_empty()) {
        keys.push(Key::new(Form::Box, ASSEMBLY, "assembly"));
    }
    let height = (rows.len() as f64 * 13.0).clamp(140.0, 820.0);
    let title = "Elimination tree over time";
    let mut frame = Frame::new(subject, options, title, height, &keys);
    frame.time_axis();
    let area = frame.area;
    let most = ((area.h / THINNEST) as usize).max(1);
    let each = rows.len().div_ceil(most).max(1);
    let bands: Vec<&[Row]> = rows.chunks(each).collect();
    let band = area.h / bands.len().max(1) as f64;
    labels(&mut frame, &bands, band, each);
    for layer in [lives, loads, groups, assemblies] {
        for (k, members) in bands.iter().enumerate() {
            let place = Area {
                y: area.y + k as f64 * band,
                h: band,
                ..area
            };
            layer(&mut frame, subject, members, place);
        }
    }
    edges(&mut frame, subject, &bands, band);
    frame.marks(&[]);
    frame.scene
}

/// Up to one worker the lighter half of the ramp, beyond it the darker one.
fn load_colour(load: f64, workers: f64) -> Colour {
    match load {
        load if load <= 1.0 => ramp(0.08 + 0.52 * load),
        load => ramp(0.6 + 0.4 * (load - 1.0) / (workers - 1.0).max(1.0)),
    }
}

/// The front in whose row a front is drawn.
pub(crate) fn home(subject: &Subject<'_>, node: u32) -> u32 {
    let Some(front) = subject.front(node) else {
        return node;
    };
    let top = match subject.front(front.task_node) {
        Some(top) if front.kind == FrontKind::Grouped => top,
        _ => front,
    };
    match (top.kind, top.parent) {
        (FrontKind::Tiled, _) | (_, None) => top.node,
        (_, Some(parent)) => match subject.front(parent) {
            // Above a group there is no other group, unless groups were cut.
            Some(above) if above.kind == FrontKind::Tiled => above.node,
            _ => top.node,
        },
    }
}

/// By the first submission of a task for the node, or for a group in its row.
pub(crate) fn rows(subject: &Subject<'_>) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let mut of_node: HashMap<u32, usize> = HashMap::new();
    let mut tasks: Vec<_> = subject.tasks().iter().collect();
    tasks.sort_by_key(|task| task.submit_ns);
    for task in tasks {
        let node = home(subject, task.node);
        let k = *of_node.entry(node).or_insert_with(|| {
            rows.push(Row {
                node,
                ..Row::default()
            });
            rows.len() - 1
        });
        let row = &mut rows[k];
        let span = subject.span(task);
        match subject.role(task.codelet) {
            Role::Subtree => row.groups.push(span),
            Role::Assemble => {
                row.assemblies.push(span);
                row.tasks.push(span);
            }
            _ => row.tasks.push(span),
        }
    }
    for (node, life) in lives_of(subject) {
        // A group's memory is its parent's business: the row says when the front itself had some.
        if let Some(&k) = of_node.get(&node) {
            rows[k].life = Some(life);
        }
    }
    for row in &mut rows {
        if let Some(life) = &mut row.life {
            // What stays, as the factors, is no longer used when the last task is over.
            let last = row.tasks.iter().map(|span| span.1).fold(life.1, f64::max);
            life.1 = last;
        }
    }
    rows
}

/// From the first allocation of a node to its last release. A release belongs to the node that the memory had been taken for.
fn lives_of(subject: &Subject<'_>) -> BTreeMap<u32, (f64, f64)> {
    let mut owner: HashMap<u32, u32> = HashMap::new();
    let mut lives: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    for row in &subject.trace.tables.memory {
        let at = subject.since(row.time_ns);
        if row.delta_bytes > 0 {
            owner.insert(row.handle, row.node);
        }
        let node = owner.get(&row.handle).copied().unwrap_or(row.node);
        let life = lives.entry(node).or_insert((at, at));
        *life = (life.0.min(at), life.1.max(at));
    }
    lives
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

fn loads(frame: &mut Frame<'_, '_>, subject: &Subject<'_>, members: &[Row], place: Area) {
    frame.scene.group("loads");
    let span = (subject.from, subject.to);
    let count = ((place.w / STEP) as usize).max(1);
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
    let workers = subject.workers.len() as f64;
    let inset = if place.h > 4.0 { 1.0 } else { 0.0 };
    let step = place.w / count as f64;
    // In twentieths of a worker, so that neighbours of one colour are one rectangle.
    let cells = load.iter().enumerate().filter(|(_, load)| **load > 0.0);
    let cells = cells.map(|(k, load)| Span {
        x: place.x + k as f64 * step,
        w: step,
        kind: ((load / width * 20.0).round() as u32).max(1),
    });
    for cell in merged(cells, 0.5 * step) {
        let area = Area {
            x: cell.x,
            y: place.y + inset,
            w: cell.w,
            h: place.h - 2.0 * inset,
        };
        let colour = load_colour(f64::from(cell.kind) / 20.0, workers);
        frame.scene.rect(area, colour);
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
    let dark = super::frame::mix(palette::codelet("do_subtree"), INK, 0.25);
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
    let mut spans: Vec<_> = members
        .iter()
        .flat_map(|row| &row.assemblies)
        .filter_map(|span| subject.visible(*span))
        .collect();
    spans.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (y, h) = (place.y + 0.22 * place.h, 0.28 * place.h);
    let mut free = place.x;
    for (start, end) in spans {
        let x = frame.x(start).max(free).min(place.right() - 0.8);
        let until = frame.x(end).max(x + 0.8);
        if x >= free && until - free >= 0.8 {
            let w = until - x;
            frame.scene.rect(Area { x, y, w, h }, ASSEMBLY);
            free = until;
        }
    }
}

/// From the end of a front to its parent, where the rows are high enough for that.
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
        let end = row.tasks.iter().map(|span| span.1).fold(f64::MIN, f64::max);
        if above != k && (subject.from..=subject.to).contains(&end) {
            let x = frame.x(end).min(frame.area.right() - 1.0);
            let to = middle(above) - (middle(above) - middle(k)).signum() * 0.4 * band;
            arrows.push(((x, middle(k)), (x, to)));
        }
    }
    for (from, to) in arrows {
        frame.scene.arrow(from, to, Stroke::new(GREY, 0.5));
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
