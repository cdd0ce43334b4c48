//! What all panels have around them: title, legend, axes.
//!
//! Takes a subject and words; gives a page with room for data. All panels over time have the same left and right edge, so that
//! they can be put below each other.

use super::axis::{plain, ticks, time_unit};
use super::font;
use super::scene::{Anchor, Area, GREY, GRID, INK, PAPER, Scene, Stroke};
use super::subject::Subject;
use super::{PanelOptions, WIDTH};
use crate::palette::Colour;
use crate::trace::NULL_SPACE;

/// Left of the data.
const LEFT: f64 = 76.0;
/// Right of them.
const RIGHT: f64 = 92.0;
/// Below them, for the axis.
const BELOW: f64 = 46.0;
/// Outside of all.
const MARGIN: f64 = 16.0;
/// Height of a line of marks.
const LINE: f64 = 12.0;
/// Small text.
pub(super) const SMALL: f64 = 11.0;

/// An entry of the legend.
pub(super) struct Key {
    pub colour: Colour,
    pub form: Form,
    pub text: String,
}

/// How a key looks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Box,
    Line,
    Dashes,
    Dot,
    Outline,
    /// The lower half of a box.
    Half,
    /// A dot with an edge.
    Ring,
}

impl Key {
    pub fn new(form: Form, colour: Colour, text: impl Into<String>) -> Self {
        let text = text.into();
        Key { colour, form, text }
    }
}

pub(super) struct Frame<'s, 't> {
    pub scene: Scene,
    /// Room for data.
    pub area: Area,
    /// The time at its left edge.
    pub from: f64,
    /// And at its right one.
    pub to: f64,
    subject: &'s Subject<'t>,
    /// Lines of text that have room above the data.
    lines: usize,
}

/// What is said at a time, above the data.
pub(super) struct Mark {
    pub at: f64,
    pub colour: Colour,
    pub text: String,
}

/// What a panel asks of its frame.
pub(super) struct Plan<'p> {
    pub title: &'p str,
    /// Height of the data, if nobody has said how large the page is.
    pub height: f64,
    pub keys: &'p [Key],
    /// Lines of marks above the data.
    pub lines: usize,
    /// The time from left to right; what is drawn of the run, if there is nothing else to show.
    pub span: Option<(f64, f64)>,
}

impl<'s, 't> Frame<'s, 't> {
    /// A page with title and legend.
    pub fn new(
        subject: &'s Subject<'t>,
        options: &PanelOptions,
        title: &str,
        height: f64,
        keys: &[Key],
    ) -> Self {
        let plan = Plan {
            title,
            height,
            keys,
            lines: 1,
            span: None,
        };
        Frame::planned(subject, options, &plan)
    }

    /// The same, with all that can be asked for.
    pub fn planned(subject: &'s Subject<'t>, options: &PanelOptions, plan: &Plan<'_>) -> Self {
        let title = plan.title;
        let (from, to) = plan.span.unwrap_or((subject.from, subject.to));
        let width = f64::from(options.size.map_or(WIDTH, |size| size.0));
        let rows = legend_rows(plan.keys, width);
        // Below the legend lines for what stands above the data.
        let top = 70.0 + 18.0 * rows.len() as f64 + LINE * plan.lines as f64;
        let height = options
            .size
            .map_or(top + plan.height + BELOW, |size| f64::from(size.1));
        let subtitle = subject.subtitle();
        let mut scene = Scene::new(width, height, format!("{title}: {subtitle}"));
        scene.group("title");
        let room = width - 2.0 * MARGIN;
        let title = font::fitted(title, 16.0, true, room);
        scene.bold_text(MARGIN, 26.0, 16.0, title);
        let subtitle = font::fitted(&subtitle, 12.0, false, room);
        scene.coloured_text(MARGIN, 45.0, 12.0, Anchor::Start, GREY, subtitle);
        scene.group("legend");
        for (k, row) in rows.iter().enumerate() {
            let y = 66.0 + 18.0 * k as f64;
            let mut x = MARGIN;
            for key in *row {
                swatch(&mut scene, key, x, y);
                scene.text(x + 18.0, y, SMALL, Anchor::Start, &key.text);
                x += key_width(key);
            }
        }
        let area = Area {
            x: LEFT,
            y: top,
            w: width - LEFT - RIGHT,
            h: (height - top - BELOW).max(20.0),
        };
        Frame {
            scene,
            area,
            from,
            to,
            subject,
            lines: plan.lines,
        }
    }

    /// Where a time lies.
    pub fn x(&self, time: f64) -> f64 {
        self.area.x + (time - self.from) / (self.to - self.from) * self.area.w
    }

    /// How long a time is.
    pub fn length(&self, time: f64) -> f64 {
        time / (self.to - self.from) * self.area.w
    }

    /// The part of a span between the edges, if there is one.
    pub fn visible(&self, (start, end): (f64, f64)) -> Option<(f64, f64)> {
        (end >= self.from && start <= self.to).then(|| (start.max(self.from), end.min(self.to)))
    }

    /// The time axis below `area`, with lines through it.
    pub fn time_axis(&mut self) {
        let (unit, length) = time_unit(self.to - self.from);
        let most = (self.area.w / 90.0).max(2.0) as usize;
        let area = self.area;
        self.scene.group("time");
        for tick in ticks(self.from / length, self.to / length, most) {
            let x = self.x(tick * length);
            self.scene
                .line((x, area.y), (x, area.bottom()), Stroke::new(GRID, 0.6));
            self.scene.line(
                (x, area.bottom()),
                (x, area.bottom() + 4.0),
                Stroke::new(GREY, 0.8),
            );
            let label = plain(tick);
            self.scene
                .text(x, area.bottom() + 16.0, SMALL, Anchor::Middle, label);
        }
        self.scene.line(
            (area.x, area.bottom()),
            (area.right(), area.bottom()),
            Stroke::new(GREY, 0.8),
        );
        let label = format!("time since the beginning of the run ({unit})");
        let middle = area.x + 0.5 * area.w;
        self.scene.coloured_text(
            middle,
            area.bottom() + 33.0,
            SMALL,
            Anchor::Middle,
            GREY,
            label,
        );
    }

    /// A value axis at the left of `area`, from 0 to `most` with `unit` above it; ticks in
    /// multiples of `scale`, of whole ones only where that makes sense. Returns where a value lies.
    pub fn value_axis(
        &mut self,
        area: Area,
        most: f64,
        unit: &str,
        (scale, whole): (f64, bool),
    ) -> impl Fn(f64) -> f64 + use<> {
        let count = (area.h / 36.0).clamp(1.0, 8.0) as usize;
        self.scene.group("values");
        let y = move |value: f64| area.bottom() - value / most * area.h;
        let ticks = ticks(0.0, most / scale, count).into_iter();
        for tick in ticks.filter(|tick| !whole || tick.fract() == 0.0) {
            let at = y(tick * scale);
            self.scene
                .line((area.x, at), (area.right(), at), Stroke::new(GRID, 0.6));
            self.scene
                .text(area.x - 7.0, at + 4.0, SMALL, Anchor::End, plain(tick));
        }
        self.scene.line(
            (area.x, area.y),
            (area.x, area.bottom()),
            Stroke::new(GREY, 0.8),
        );
        self.scene
            .coloured_text(MARGIN, area.y - 5.0, SMALL, Anchor::Start, GREY, unit);
        y
    }

    /// Marks at the upper edge: when the last task was submitted, when the last one ended, and more. Those for whose text there is
    /// no room have none, but for the first two.
    pub fn marks(&mut self, more: &[Mark]) {
        let s = self.subject;
        // Of the factorization, where other runs follow it.
        let parts = s.trace.manifest.parts();
        let later = parts.get(1);
        let first = s.tasks().iter();
        let first = first.filter(|t| later.is_none_or(|p| u64::from(t.task) < p.first_task));
        let submitted = first.map(|task| task.submit_ns).max();
        let mut marks: Vec<(f64, Colour, &str)> = Vec::new();
        marks.extend(submitted.map(|at| (s.since(at), INK, "all submitted")));
        marks.extend(parts.iter().skip(1).map(|part| {
            let name = match part.name.as_str() {
                NULL_SPACE => "null space",
                name => name,
            };
            (s.since(part.begin_ns), INK, name)
        }));
        marks.push((s.last_ns as f64, INK, "last task ends"));
        marks.extend(more.iter().map(|m| (m.at, m.colour, m.text.as_str())));
        marks.retain(|mark| (self.from..=self.to).contains(&mark.0));
        // From the right: the end of the run is told first.
        marks.sort_by(|a, b| b.0.total_cmp(&a.0));
        self.scene.group("marks");
        let area = self.area;
        let mut free = vec![f64::INFINITY; self.lines];
        for (at, colour, what) in marks {
            let x = self.x(at);
            let wide = font::width(what, 10.0, false);
            let left = (x - 0.5 * wide).clamp(area.x, (area.right() - wide).max(area.x));
            let line = free.iter().position(|&free| left + wide + 8.0 <= free);
            if line.is_none() && colour != INK {
                continue;
            }
            let rise = LINE * line.unwrap_or(0) as f64;
            let look = Stroke::dashed(colour, 0.8, 3.0);
            self.scene.line((x, area.y - 4.0), (x, area.bottom()), look);
            if let Some(line) = line {
                let text_colour = if colour == INK { GREY } else { colour };
                let (y, anchor) = (area.y - 7.0 - rise, Anchor::Start);
                self.scene
                    .coloured_text(left, y, 10.0, anchor, text_colour, what);
                free[line] = left;
            }
        }
    }
}

fn key_width(key: &Key) -> f64 {
    font::width(&key.text, SMALL, false) + 34.0
}

/// Keys that fit beside each other.
fn legend_rows(keys: &[Key], width: f64) -> Vec<&[Key]> {
    let room = width - 2.0 * MARGIN;
    let mut rows = Vec::new();
    let mut rest = keys;
    while !rest.is_empty() {
        let mut used = 0.0;
        let fits = rest.iter().take_while(|key| {
            used += key_width(key);
            used <= room + 16.0
        });
        let (row, after) = rest.split_at(fits.count().max(1));
        rows.push(row);
        rest = after;
    }
    rows
}

fn swatch(scene: &mut Scene, key: &Key, x: f64, y: f64) {
    let middle = y - 4.0;
    match key.form {
        Form::Box => scene.rect(
            Area {
                x,
                y: middle - 5.0,
                w: 12.0,
                h: 10.0,
            },
            key.colour,
        ),
        Form::Half => {
            let (w, h) = (12.0, 5.0);
            scene.rect(Area { x, y: middle, w, h }, key.colour);
        }
        Form::Line => {
            let look = Stroke::new(key.colour, 2.0);
            scene.line((x, middle), (x + 12.0, middle), look);
        }
        Form::Dashes => {
            let look = Stroke::dashed(key.colour, 1.4, 3.0);
            scene.line((x, middle), (x + 14.0, middle), look);
        }
        Form::Dot => scene.dot((x + 6.0, middle), 3.5, key.colour, 1.0),
        Form::Ring => {
            scene.dot((x + 6.0, middle), 4.0, key.colour, 1.0);
            scene.dot((x + 6.0, middle), 3.1, PAPER, 1.0);
        }
        Form::Outline => {
            let (y, w, h) = (middle - 4.5, 11.0, 9.0);
            scene.outline(Area { x, y, w, h }, Stroke::new(key.colour, 1.4));
        }
    }
}

/// A page that says in a sentence why there is nothing to see.
pub(super) fn sentence(
    subject: &Subject<'_>,
    options: &PanelOptions,
    title: &str,
    why: &str,
) -> Scene {
    let frame = Frame::new(subject, options, title, 10.0, &[]);
    let (mut scene, area) = (frame.scene, frame.area);
    scene.group("sentence");
    let room = scene.width - 2.0 * MARGIN;
    let why = font::fitted(why, 13.0, false, room);
    scene.text(MARGIN, area.y - 2.0, 13.0, Anchor::Start, why);
    scene
}

/// A colour between two, `part` of the way.
pub(super) fn mix(from: Colour, to: Colour, part: f64) -> Colour {
    let part = part.clamp(0.0, 1.0);
    let one = |a: u8, b: u8| (f64::from(a) + (f64::from(b) - f64::from(a)) * part).round() as u8;
    Colour {
        red: one(from.red, to.red),
        green: one(from.green, to.green),
        blue: one(from.blue, to.blue),
    }
}

/// A colour for `part` (0 to 1) of something: Paul Tol's `YlOrBr`, pale to dark, in order for all eyes and in grey.
pub(super) fn ramp(part: f64) -> Colour {
    const STOPS: [u32; 6] = [0xFFF7BC, 0xFEE391, 0xFEC44F, 0xEC7014, 0xCC4C02, 0x662506];
    let at = part.clamp(0.0, 1.0) * (STOPS.len() - 1) as f64;
    let k = (at as usize).min(STOPS.len() - 2);
    mix(
        Colour::new(STOPS[k]),
        Colour::new(STOPS[k + 1]),
        at - k as f64,
    )
}
