//! Glyphs: how wide a text is, and its outline.
//!
//! Takes text; gives lengths and paths in page units. The two fonts are in the program, since a machine that computes may have
//! none; their widths are those of Helvetica and Arial, so what is measured here holds for the SVG too.

use std::sync::LazyLock;
use tiny_skia::PathBuilder;
use ttf_parser::{Face, GlyphId, OutlineBuilder};

static REGULAR: LazyLock<Face<'static>> = LazyLock::new(|| {
    let face = Face::parse(include_bytes!("fonts/panels-regular.ttf"), 0);
    face.expect("a font that is part of the program")
});
static BOLD: LazyLock<Face<'static>> = LazyLock::new(|| {
    let face = Face::parse(include_bytes!("fonts/panels-bold.ttf"), 0);
    face.expect("a font that is part of the program")
});

fn face(bold: bool) -> &'static Face<'static> {
    if bold { &BOLD } else { &REGULAR }
}

/// A glyph and how far the next one is from it, in units of the font.
fn glyph(face: &Face<'_>, c: char) -> (GlyphId, f64) {
    let found = face.glyph_index(c).or_else(|| face.glyph_index('?'));
    let id = found.unwrap_or(GlyphId(0));
    (id, f64::from(face.glyph_hor_advance(id).unwrap_or(0)))
}

/// Width of a text.
pub fn width(text: &str, size: f64, bold: bool) -> f64 {
    let face = face(bold);
    let units: f64 = text.chars().map(|c| glyph(face, c).1).sum();
    units * size / f64::from(face.units_per_em())
}

/// The text, cut to `room` with an ellipsis if it is longer.
pub fn fitted(text: &str, size: f64, bold: bool, room: f64) -> String {
    if width(text, size, bold) <= room {
        return text.to_owned();
    }
    let mut used = width("…", size, bold);
    let mut out = String::new();
    for c in text.chars() {
        used += width(c.encode_utf8(&mut [0; 4]), size, bold);
        if used > room {
            break;
        }
        out.push(c);
    }
    out.push('…');
    out
}

/// Adds the outlines of a text that begins at `x` and stands on `y`, times `scale`.
pub(super) fn outline(
    path: &mut PathBuilder,
    text: &str,
    (x, y): (f64, f64),
    size: f64,
    bold: bool,
    scale: f64,
) {
    let face = face(bold);
    let unit = size / f64::from(face.units_per_em()) * scale;
    let mut pen = x * scale;
    for c in text.chars() {
        let (id, advance) = glyph(face, c);
        let mut outline = Outline {
            path,
            x: pen,
            y: y * scale,
            unit,
        };
        // Blanks have none.
        let _ = face.outline_glyph(id, &mut outline);
        pen += advance * unit;
    }
}

struct Outline<'p> {
    path: &'p mut PathBuilder,
    x: f64,
    y: f64,
    unit: f64,
}

impl Outline<'_> {
    fn at(&self, x: f32, y: f32) -> (f32, f32) {
        let (x, y) = (f64::from(x) * self.unit, f64::from(y) * self.unit);
        ((self.x + x) as f32, (self.y - y) as f32)
    }
}

impl OutlineBuilder for Outline<'_> {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.at(x1, y1), self.at(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.at(x1, y1), self.at(x2, y2), self.at(x, y));
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Advance widths of Helvetica, as its metrics file (AFM) has them: digits 556, `W` 944, `i` 222, of 1000.
    #[test]
    fn widths_are_those_of_helvetica() {
        for (text, expected) in [("0", 5.56), ("W", 9.44), ("i", 2.22), ("00", 11.12)] {
            let found = width(text, 10.0, false);
            assert!((found - expected).abs() < 0.02, "{text}: {found}");
        }
        assert!(width("idle", 10.0, true) > width("idle", 10.0, false));
    }

    #[test]
    fn what_is_too_long_is_cut() {
        assert_eq!(fitted("short", 10.0, false, 100.0), "short");
        let cut = fitted(&"long ".repeat(40), 10.0, false, 100.0);
        assert!(cut.ends_with('…') && width(&cut, 10.0, false) <= 100.0);
    }
}
