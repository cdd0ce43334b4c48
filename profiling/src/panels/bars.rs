//! Counts in bins as bars, a plot for each codelet: what such a panel says, and how all of them are drawn.

use super::PanelOptions;
use super::axis::{plain, prefix};
use super::facets;
use super::font;
use super::frame::{Form, Frame, Key, sentence};
use super::scene::{Anchor, Area, GREY, GRID, INK, Scene, Stroke};
use super::subject::Subject;
use crate::palette::Colour;

/// Bars over bins that all plots share.
#[derive(Clone, Debug)]
pub(crate) struct Bars {
    pub title: &'static str,
    /// What bins are bins of.
    pub of: &'static str,
    /// The natural logarithms of the first and the last edge.
    pub edges_ln: (f64, f64),
    pub bins: usize,
    /// What is written below: the logarithm of a place, and a text.
    pub labels: Vec<(f64, String)>,
    pub facets: Vec<Facet>,
    /// What to say where there is nothing to draw.
    pub instead: Option<String>,
}

/// One plot.
#[derive(Clone, Debug)]
pub(crate) struct Facet {
    pub name: String,
    /// Told beside the name.
    pub note: String,
    pub groups: Vec<Group>,
}

/// Bars of one kind.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub name: String,
    pub colour: Colour,
    /// One a bin.
    pub counts: Vec<f64>,
    /// What they should have been.
    pub targets: Option<Vec<f64>>,
}

impl Bars {
    pub fn new(title: &'static str, of: &'static str) -> Self {
        Bars {
            title,
            of,
            edges_ln: (0.0, 1.0),
            bins: 1,
            labels: Vec::new(),
            facets: Vec::new(),
            instead: None,
        }
    }

    /// Says why there are no bars.
    pub fn without(mut self, why: impl Into<String>) -> Self {
        self.instead = Some(why.into());
        self
    }
}

/// Draws them.
pub(super) fn paint(bars: &Bars, subject: &Subject<'_>, options: &PanelOptions) -> Scene {
    if let Some(why) = &bars.instead {
        return sentence(subject, options, bars.title, why);
    }
    let facets = &bars.facets[..bars.facets.len().min(facets::MOST)];
    let mut keys: Vec<Key> = Vec::new();
    for group in facets.iter().flat_map(|facet| &facet.groups) {
        if !keys.iter().any(|key| key.text == group.name) {
            keys.push(Key::new(Form::Box, group.colour, &group.name));
        }
    }
    let groups = facets.iter().flat_map(|facet| &facet.groups);
    if groups.clone().any(|group| group.targets.is_some()) {
        let text = "as many would be best (area bound)";
        keys.push(Key::new(Form::Line, INK, text));
    }
    let width = f64::from(options.size.map_or(super::WIDTH, |size| size.0));
    let height = facets::height(facets.len(), width - 168.0);
    let mut frame = Frame::new(subject, options, bars.title, height, &keys);
    let area = frame.area;
    let rooms = facets::rooms(area, facets.len());
    let text = facets::left_out(bars.of, facets.len(), rooms.len());
    for (facet, room) in facets.iter().zip(rooms) {
        plot(&mut frame.scene, bars, facet, room);
    }
    let (x, y) = (area.x + 0.5 * area.w, area.bottom() + 16.0);
    frame
        .scene
        .coloured_text(x, y, 11.0, Anchor::Middle, GREY, text);
    frame.scene
}

fn plot(scene: &mut Scene, bars: &Bars, facet: &Facet, area: Area) {
    scene.group("plot");
    let wide = font::width(&facet.name, 11.0, true);
    scene.bold_text(area.x, area.y - 6.0, 11.0, &facet.name);
    let note = font::fitted(&facet.note, 10.0, false, area.w - wide + 20.0);
    let x = area.x + wide + 6.0;
    scene.coloured_text(x, area.y - 6.0, 10.0, Anchor::Start, GREY, note);
    let values = facet.groups.iter().flat_map(|group| {
        let targets = group.targets.iter().flatten();
        group.counts.iter().chain(targets).copied()
    });
    let most = values.fold(1.0, f64::max);
    let y = |value: f64| area.bottom() - value / (1.05 * most) * area.h;
    let (letter, scale) = prefix(most);
    for value in [0.0, most] {
        let look = Stroke::new(GRID, 0.6);
        scene.line((area.x, y(value)), (area.right(), y(value)), look);
        let rounded = (value / scale * 10.0).round() / 10.0;
        let text = format!("{} {letter}", plain(rounded));
        let at = y(value) + 3.5;
        scene.text(area.x - 5.0, at, 10.0, Anchor::End, text.trim_end());
    }
    let bin = area.w / bars.bins.max(1) as f64;
    let count = facet.groups.len().max(1) as f64;
    let (air, w) = (0.08 * bin, 0.84 * bin / count);
    for (k, group) in facet.groups.iter().enumerate() {
        let left = |b: usize| area.x + b as f64 * bin + air + k as f64 * w;
        for (b, &value) in group.counts.iter().enumerate().take(bars.bins) {
            if value > 0.0 {
                // A single task is seen too.
                let h = (area.bottom() - y(value)).max(1.0);
                let (x, y) = (left(b), area.bottom() - h);
                scene.rect(Area { x, y, w, h }, group.colour);
            }
        }
        let targets = group.targets.iter().flatten().enumerate();
        for (b, &target) in targets.take(bars.bins) {
            if target > 0.0 || group.counts.get(b).is_some_and(|&count| count > 0.0) {
                let (from, to) = (left(b) - 1.0, left(b) + w + 1.0);
                let at = y(target);
                scene.line((from, at), (to, at), Stroke::new(INK, 1.6));
            }
        }
    }
    let base = Stroke::new(GREY, 0.8);
    scene.line((area.x, area.bottom()), (area.right(), area.bottom()), base);
    let (low, high) = bars.edges_ln;
    let mut free = f64::NEG_INFINITY;
    for (at, text) in &bars.labels {
        let x = area.x + (at - low) / (high - low) * area.w;
        let half = 0.5 * font::width(text, 10.0, false);
        let inside = (area.x - 1.0..=area.right() + 1.0).contains(&x);
        if inside && x - half > free {
            let below = area.bottom();
            scene.line((x, below), (x, below + 3.0), base);
            scene.text(x, below + 13.0, 10.0, Anchor::Middle, text);
            free = x + half + 8.0;
        }
    }
}
