//! What all panels have around them: title, legend, axes.
//!
//! Takes a subject and words; gives a page with room for data. All panels over time have the same left and right edge, so that
//! they can be put below each other.

use super::axis::{plain, ticks, time_unit};
use super::font;
use super::scene::{Anchor, Area, GREY, GRID, INK, Scene, Stroke};
use super::subject::Subject;
use super::{PanelOptions, WIDTH};
use crate::palette::Colour;

/// Left of the data.
const LEFT: f64 = 76.0;
/// Right of them.
const RIGHT: f64 = 92.0;
/// Below them, for the axis.
const BELOW: f64 = 46.0;
/// Outside of all.
const MARGIN: f64 = 16.0;
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
    subject: &'s Subject<'t>,
}

impl<'s, 't> Frame<'s, 't> {
    /// A page with title and legend; `height` is that of the data, if nobody has said how large the page is.
    pub fn new(
        subject: &'s Subject<'t>,
        options: &PanelOptions,
        title: &str,
        height: f64,
        keys: &[Key],
    ) -> Self {
        let width = f64::from(options.size.map_or(WIDTH, |size| size.0));
        let rows = legend_rows(keys, width);
        // Below the legend a line for what stands above the data.
        let top = 82.0 + 18.0 * rows.len() as f64;
        let height = options
            .size
            .map_or(top + height + BELOW, |size| f64::from(size.1));
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
            subject,
        }
    }

    /// Where a time lies.
    pub fn x(&self, time: f64) -> f64 {
        let s = self.subject;
        self.area.x + (time - s.from) / (s.to - s.from) * self.area.w
    }

    /// How long a time is.
    pub fn length(&self, time: f64) -> f64 {
        time / (self.subject.to - self.subject.from) * self.area.w
    }

    /// The time axis below `area`, with lines through it.
    pub fn time_axis(&mut self) {
        let s = self.subject;
        let (unit, length) = time_unit(s.to - s.from);
        let most = (self.area.w / 90.0).max(2.0) as usize;
        let area = self.area;
        self.scene.group("time");
        for tick in ticks(s.from / length, s.to / length, most) {
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

    /// A value axis at the left of `area`, from 0 to `most` of `unit`s, with `name` above it. Returns where a value lies.
    pub fn value_axis(
        &mut self,
        area: Area,
        most: f64,
        unit: &str,
        scale: f64,
    ) -> impl Fn(f64) -> f64 + use<> {
        let count = (area.h / 36.0).clamp(1.0, 8.0) as usize;
        self.scene.group("values");
        let y = move |value: f64| area.bottom() - value / most * area.h;
        for tick in ticks(0.0, most / scale, count) {
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

    /// Marks at the upper edge: when the last task was submitted, and when the last one ended.
    pub fn marks(&mut self) {
        let s = self.subject;
        // Of the factorization, where a solve follows it.
        let parts = s.trace.manifest.parts();
        let later = parts.get(1);
        let first = s.tasks().iter();
        let first = first.filter(|t| later.is_none_or(|p| u64::from(t.task) < p.first_task));
        let submitted = first.map(|task| task.submit_ns).max();
        let submitted = submitted.map(|at| s.since(at));
        let solve = later.map(|part| s.since(part.begin_ns));
        self.scene.group("marks");
        let area = self.area;
        let said = [
            (submitted, "all submitted"),
            (solve, "solve"),
            (Some(s.last_ns as f64), "last task ends"),
        ];
        let mut free_from = area.x;
        for (at, what) in said {
            let Some(at) = at.filter(|at| (s.from..=s.to).contains(at)) else {
                continue;
            };
            let x = self.x(at);
            let look = Stroke::dashed(INK, 0.8, 3.0);
            self.scene.line((x, area.y - 4.0), (x, area.bottom()), look);
            let wide = font::width(what, 10.0, false);
            let left = (x - 0.5 * wide).clamp(area.x, (area.right() - wide).max(area.x));
            if left >= free_from {
                let y = area.y - 7.0;
                self.scene
                    .coloured_text(left, y, 10.0, Anchor::Start, GREY, what);
                free_from = left + wide + 8.0;
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
        Form::Line => {
            let look = Stroke::new(key.colour, 2.0);
            scene.line((x, middle), (x + 12.0, middle), look);
        }
        Form::Dashes => {
            let look = Stroke::dashed(key.colour, 1.4, 3.0);
            scene.line((x, middle), (x + 14.0, middle), look);
        }
        Form::Dot => scene.dot((x + 6.0, middle), 3.5, key.colour, 1.0),
    }
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
