//! A page as SVG.
//!
//! Takes a [`Scene`]; gives text. Shapes of one look that follow each other become one path, so that a hundred thousand of them
//! are some megabytes; text stays text.

use super::scene::{Anchor, Scene, Shape, Stroke, head};
use std::fmt::Write;

/// What stands for a font that is not there has the same widths: these three are made to.
const FONTS: &str = "Helvetica, Arial, 'Liberation Sans', sans-serif";

/// The page as an SVG document.
pub fn svg(scene: &Scene) -> String {
    let (w, h) = (number(scene.width), number(scene.height));
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" \
         font-family=\"{FONTS}\" role=\"img\">\n<title>{}</title>\n\
         <rect width=\"{w}\" height=\"{h}\" fill=\"#ffffff\"/>\n",
        escaped(&scene.title)
    );
    for group in &scene.groups {
        if group.shapes.is_empty() {
            continue;
        }
        let _ = writeln!(out, "<g id=\"{}\">", escaped(group.name));
        let mut open: Option<Path> = None;
        for shape in &group.shapes {
            let Some((style, piece)) = piece(shape) else {
                close(&mut out, open.take());
                text(&mut out, shape);
                continue;
            };
            match &mut open {
                Some(path) if path.style == style => path.d.push_str(&piece),
                _ => {
                    close(&mut out, open.take());
                    open = Some(Path { style, d: piece });
                }
            }
        }
        close(&mut out, open);
        out.push_str("</g>\n");
    }
    out.push_str("</svg>\n");
    out
}

struct Path {
    style: String,
    d: String,
}

fn close(out: &mut String, path: Option<Path>) {
    if let Some(Path { style, d }) = path {
        let _ = writeln!(out, "<path {style} d=\"{d}\"/>");
    }
}

/// The look of a shape, and its part of a path; none for text.
fn piece(shape: &Shape) -> Option<(String, String)> {
    let filled = |fill: &dyn std::fmt::Display, opacity: f64| match opacity {
        o if o >= 1.0 => format!("fill=\"{fill}\""),
        o => format!("fill=\"{fill}\" fill-opacity=\"{}\"", number(o)),
    };
    Some(match shape {
        Shape::Rect {
            area,
            fill,
            opacity,
        } => {
            let [x, y, w, h] = [area.x, area.y, area.w, area.h].map(number);
            // Thousands of rectangles that touch: no blurred seams between them, and none that is too thin to be seen.
            let style = filled(fill, *opacity) + " shape-rendering=\"geometricPrecision\"";
            (style, format!("M{x} {y}h{w}v{h}h-{w}z"))
        }
        Shape::Outline { area, stroke } => {
            let [x, y, w, h] = [area.x, area.y, area.w, area.h].map(number);
            (stroked(stroke), format!("M{x} {y}h{w}v{h}h-{w}z"))
        }
        Shape::Polyline { points, stroke } => (stroked(stroke), lines(points)),
        Shape::Polygon {
            points,
            fill,
            opacity,
        } => (filled(fill, *opacity), lines(points) + "z"),
        Shape::Dot {
            x,
            y,
            r,
            fill,
            opacity,
        } => {
            // A line without length and with round ends: the shortest way to say circle.
            let width = number(2.0 * r);
            let style = format!(
                "fill=\"none\" stroke=\"{fill}\" stroke-opacity=\"{}\" stroke-width=\"{width}\" stroke-linecap=\"round\"",
                number(*opacity)
            );
            (style, format!("M{} {}h0", number(*x), number(*y)))
        }
        Shape::Arrow { from, to, stroke } => {
            let [left, right] = head(*from, *to, stroke.width);
            (
                stroked(stroke),
                lines(&[*from, *to]) + &lines(&[left, *to, right]),
            )
        }
        Shape::Text(_) => return None,
    })
}

fn stroked(stroke: &Stroke) -> String {
    let mut style = format!(
        "fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" stroke-linejoin=\"round\"",
        stroke.colour,
        number(stroke.width)
    );
    if stroke.dash > 0.0 {
        let _ = write!(style, " stroke-dasharray=\"{}\"", number(stroke.dash));
    }
    style
}

fn lines(points: &[(f64, f64)]) -> String {
    let mut out = String::with_capacity(14 * points.len());
    let mut command = 'M';
    for (x, y) in points {
        let _ = write!(out, "{command}{} {}", number(*x), number(*y));
        command = 'L';
    }
    out
}

fn text(out: &mut String, shape: &Shape) {
    let Shape::Text(text) = shape else { return };
    let anchor = match text.anchor {
        Anchor::Start => "",
        Anchor::Middle => " text-anchor=\"middle\"",
        Anchor::End => " text-anchor=\"end\"",
    };
    let weight = if text.bold {
        " font-weight=\"bold\""
    } else {
        ""
    };
    let _ = writeln!(
        out,
        "<text x=\"{}\" y=\"{}\" font-size=\"{}\" fill=\"{}\"{anchor}{weight}>{}</text>",
        number(text.x),
        number(text.y),
        number(text.size),
        text.colour,
        escaped(&text.text)
    );
}

/// Two decimals at most.
fn number(x: f64) -> String {
    let mut text = format!("{x:.2}");
    if text.contains('.') {
        text.truncate(text.trim_end_matches('0').trim_end_matches('.').len());
    }
    match text.as_str() {
        "-0" => "0".to_owned(),
        _ => text,
    }
}

/// Text for XML. Control characters, which XML cannot hold, become `?`.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() || matches!(c, '\u{FFFE}' | '\u{FFFF}') => out.push('?'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let cases = [
            (0.0, "0"),
            (-0.001, "0"),
            (1.5, "1.5"),
            (100.0, "100"),
            (1.0 / 3.0, "0.33"),
        ];
        for (x, text) in cases {
            assert_eq!(number(x), text);
        }
    }

    #[test]
    fn names_cannot_break_out() {
        assert_eq!(
            escaped("<a & \"b\">\u{1}"),
            "&lt;a &amp; &quot;b&quot;&gt;?"
        );
    }
}
