//! A page as PNG.
//!
//! Takes a [`Scene`] and how many pixels a unit has; gives a file's bytes. The same shapes as in the SVG, filled by tiny-skia.

use super::PanelError;
use super::font;
use super::scene::{Anchor, Area, PAPER, Scene, Shape, Stroke, head};
use crate::palette::Colour;
use tiny_skia::{FillRule, LineCap, LineJoin, Paint, PathBuilder, Pixmap, StrokeDash, Transform};

/// Pixels of a picture, at most: 1 GiB of them.
const MOST_PIXELS: f64 = 268_435_456.0;

/// The page as a PNG file, with `scale` pixels a unit.
///
/// # Errors
/// [`PanelError::TooLarge`].
pub fn png(scene: &Scene, scale: f64) -> Result<Vec<u8>, PanelError> {
    let (w, h) = (
        (scene.width * scale).round(),
        (scene.height * scale).round(),
    );
    let too_large = || PanelError::TooLarge {
        width: w,
        height: h,
    };
    // Also false for what is no number.
    if !(w >= 1.0 && h >= 1.0 && w * h <= MOST_PIXELS) {
        return Err(too_large());
    }
    let map = Pixmap::new(w as u32, h as u32).ok_or_else(too_large)?;
    let mut canvas = Canvas { map, scale };
    let [r, g, b] = [PAPER.red, PAPER.green, PAPER.blue];
    canvas.map.fill(tiny_skia::Color::from_rgba8(r, g, b, 255));
    for shape in scene.groups.iter().flat_map(|group| &group.shapes) {
        canvas.draw(shape);
    }
    canvas.map.encode_png().map_err(|_| too_large())
}

struct Canvas {
    map: Pixmap,
    scale: f64,
}

impl Canvas {
    fn draw(&mut self, shape: &Shape) {
        match shape {
            Shape::Rect {
                area,
                fill,
                opacity,
            } => {
                // As a path: the rasteriser's short way for rectangles does not take those of less than a pixel.
                let path = self.path(&corners(area), true);
                self.fill(path, *fill, *opacity);
            }
            Shape::Outline { area, stroke } => self.stroke(&corners(area), true, stroke),
            Shape::Polyline { points, stroke } => self.stroke(points, false, stroke),
            Shape::Polygon {
                points,
                fill,
                opacity,
            } => {
                let path = self.path(points, true);
                self.fill(path, *fill, *opacity);
            }
            Shape::Dot {
                x,
                y,
                r,
                fill,
                opacity,
            } => {
                let [x, y, r] = [x, y, r].map(|v| (v * self.scale) as f32);
                let path = PathBuilder::from_circle(x, y, r);
                self.fill(path, *fill, *opacity);
            }
            Shape::Arrow { from, to, stroke } => {
                let [left, right] = head(*from, *to, stroke.width);
                self.stroke(&[*from, *to], false, stroke);
                self.stroke(&[left, *to, right], false, stroke);
            }
            Shape::Text(text) => {
                let wide = font::width(&text.text, text.size, text.bold);
                let x = match text.anchor {
                    Anchor::Start => text.x,
                    Anchor::Middle => text.x - 0.5 * wide,
                    Anchor::End => text.x - wide,
                };
                let mut path = PathBuilder::new();
                let at = (x, text.y);
                font::outline(&mut path, &text.text, at, text.size, text.bold, self.scale);
                self.fill(path.finish(), text.colour, 1.0);
            }
        }
    }

    fn path(&self, points: &[(f64, f64)], closed: bool) -> Option<tiny_skia::Path> {
        let mut path = PathBuilder::new();
        for (k, (x, y)) in points.iter().enumerate() {
            let (x, y) = ((x * self.scale) as f32, (y * self.scale) as f32);
            match k {
                0 => path.move_to(x, y),
                _ => path.line_to(x, y),
            }
        }
        if closed {
            path.close();
        }
        path.finish()
    }

    fn fill(&mut self, path: Option<tiny_skia::Path>, colour: Colour, opacity: f64) {
        let Some(path) = path else { return };
        let paint = paint(colour, opacity);
        let still = Transform::identity();
        self.map
            .fill_path(&path, &paint, FillRule::Winding, still, None);
    }

    fn stroke(&mut self, points: &[(f64, f64)], closed: bool, look: &Stroke) {
        let Some(path) = self.path(points, closed) else {
            return;
        };
        let dash = (look.dash * self.scale) as f32;
        let stroke = tiny_skia::Stroke {
            width: (look.width * self.scale) as f32,
            line_cap: LineCap::Butt,
            line_join: LineJoin::Round,
            ..tiny_skia::Stroke::default()
        };
        let dashes = StrokeDash::new(vec![dash, dash], 0.0);
        let path = match dashes.and_then(|dashes| path.dash(&dashes, 1.0)) {
            Some(dashed) => dashed,
            None => path,
        };
        // As a filled outline, however thin: the rasteriser's own hairlines have their own rules for ends.
        self.fill(path.stroke(&stroke, 1.0), look.colour, 1.0);
    }
}

fn corners(a: &Area) -> [(f64, f64); 4] {
    let (r, b) = (a.right(), a.bottom());
    [(a.x, a.y), (r, a.y), (r, b), (a.x, b)]
}

fn paint(colour: Colour, opacity: f64) -> Paint<'static> {
    let mut paint = Paint::default();
    let alpha = (255.0 * opacity.clamp(0.0, 1.0)).round() as u8;
    paint.set_color_rgba8(colour.red, colour.green, colour.blue, alpha);
    paint.anti_alias = true;
    paint
}
