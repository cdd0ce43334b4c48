//! Shapes on a page: what panels draw, whatever it becomes.
//!
//! Takes shapes in page units (CSS pixels; x to the right, y down); gives them back in groups. Knows no trace, no SVG and no
//! pixel.

use crate::palette::Colour;

/// Text and axes.
pub const INK: Colour = Colour::new(0x22_22_22);
/// What is said beside.
pub const GREY: Colour = Colour::new(0x66_66_66);
/// Lines behind data.
pub const GRID: Colour = Colour::new(0xE4_E4_E4);
/// What is to be seen first.
pub const ALERT: Colour = Colour::new(0xCC_33_11);
/// The page.
pub const PAPER: Colour = Colour::new(0xFF_FF_FF);

/// An upright rectangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Area {
    /// Left.
    pub x: f64,
    /// Top.
    pub y: f64,
    /// Width.
    pub w: f64,
    /// Height.
    pub h: f64,
}

impl Area {
    /// The right edge.
    pub fn right(&self) -> f64 {
        self.x + self.w
    }

    /// The lower edge.
    pub fn bottom(&self) -> f64 {
        self.y + self.h
    }
}

/// The look of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stroke {
    /// Its colour.
    pub colour: Colour,
    /// Its width.
    pub width: f64,
    /// Length of its dashes and gaps; 0 for a whole line.
    pub dash: f64,
}

impl Stroke {
    /// A whole line.
    pub fn new(colour: Colour, width: f64) -> Self {
        let dash = 0.0;
        Stroke {
            colour,
            width,
            dash,
        }
    }

    /// A dashed line.
    pub fn dashed(colour: Colour, width: f64, dash: f64) -> Self {
        Stroke {
            colour,
            width,
            dash,
        }
    }
}

/// Which end of a text is where it was put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Its left end.
    Start,
    /// Its middle.
    Middle,
    /// Its right end.
    End,
}

/// A line of text.
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    /// Where, by `anchor`.
    pub x: f64,
    /// The line it stands on.
    pub y: f64,
    /// Height of its font.
    pub size: f64,
    /// Which end is at `x`.
    pub anchor: Anchor,
    /// Its colour.
    pub colour: Colour,
    /// Whether it is bold.
    pub bold: bool,
    /// What it says.
    pub text: String,
}

/// Something on the page.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A filled rectangle.
    Rect {
        /// Where.
        area: Area,
        /// Its colour.
        fill: Colour,
        /// 1 hides what is below.
        opacity: f64,
    },
    /// The edge of a rectangle.
    Outline {
        /// Where.
        area: Area,
        /// Its look.
        stroke: Stroke,
    },
    /// Straight lines from point to point.
    Polyline {
        /// The points.
        points: Vec<(f64, f64)>,
        /// Its look.
        stroke: Stroke,
    },
    /// A filled polygon.
    Polygon {
        /// Its corners.
        points: Vec<(f64, f64)>,
        /// Its colour.
        fill: Colour,
        /// 1 hides what is below.
        opacity: f64,
    },
    /// A filled circle.
    Dot {
        /// Its centre.
        x: f64,
        /// Its centre.
        y: f64,
        /// Its radius.
        r: f64,
        /// Its colour.
        fill: Colour,
        /// 1 hides what is below.
        opacity: f64,
    },
    /// A line with a head at its second end.
    Arrow {
        /// From.
        from: (f64, f64),
        /// To.
        to: (f64, f64),
        /// Its look.
        stroke: Stroke,
    },
    /// A line of text.
    Text(Text),
}

impl Shape {
    fn lower(&mut self, by: f64) {
        match self {
            Shape::Rect { area, .. } | Shape::Outline { area, .. } => area.y += by,
            Shape::Polyline { points, .. } | Shape::Polygon { points, .. } => {
                points.iter_mut().for_each(|point| point.1 += by);
            }
            Shape::Dot { y, .. } => *y += by,
            Shape::Arrow { from, to, .. } => {
                from.1 += by;
                to.1 += by;
            }
            Shape::Text(text) => text.y += by,
        }
    }
}

/// Shapes that belong together; later ones lie above.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// What they are.
    pub name: &'static str,
    /// The shapes.
    pub shapes: Vec<Shape>,
}

/// A page.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// Its width.
    pub width: f64,
    /// Its height.
    pub height: f64,
    /// What it shows, for those who cannot see it.
    pub title: String,
    /// What is on it.
    pub groups: Vec<Group>,
}

impl Scene {
    /// An empty page.
    pub fn new(width: f64, height: f64, title: String) -> Self {
        let groups = Vec::new();
        Scene {
            width,
            height,
            title,
            groups,
        }
    }

    /// Pages below each other as one.
    pub fn stacked(pages: Vec<Scene>) -> Self {
        let mut all = Scene::new(0.0, 0.0, String::new());
        for mut page in pages {
            page.groups
                .iter_mut()
                .flat_map(|group| &mut group.shapes)
                .for_each(|shape| shape.lower(all.height));
            all.width = all.width.max(page.width);
            all.height += page.height;
            if !all.title.is_empty() {
                all.title += "; ";
            }
            all.title += &page.title;
            all.groups.append(&mut page.groups);
        }
        all
    }

    /// What is drawn from now on belongs to a group of this name.
    pub fn group(&mut self, name: &'static str) {
        let shapes = Vec::new();
        self.groups.push(Group { name, shapes });
    }

    fn push(&mut self, shape: Shape) {
        if self.groups.is_empty() {
            self.group("page");
        }
        let last = self.groups.last_mut().expect("just made");
        last.shapes.push(shape);
    }

    /// A filled rectangle.
    pub fn rect(&mut self, area: Area, fill: Colour) {
        self.tint(area, fill, 1.0);
    }

    /// A rectangle through which one sees.
    pub fn tint(&mut self, area: Area, fill: Colour, opacity: f64) {
        if area.w > 0.0 && area.h > 0.0 {
            self.push(Shape::Rect {
                area,
                fill,
                opacity,
            });
        }
    }

    /// The edge of a rectangle.
    pub fn outline(&mut self, area: Area, stroke: Stroke) {
        self.push(Shape::Outline { area, stroke });
    }

    /// A straight line.
    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), stroke: Stroke) {
        let points = vec![from, to];
        self.push(Shape::Polyline { points, stroke });
    }

    /// Lines from point to point.
    pub fn polyline(&mut self, points: Vec<(f64, f64)>, stroke: Stroke) {
        if points.len() > 1 {
            self.push(Shape::Polyline { points, stroke });
        }
    }

    /// A filled polygon.
    pub fn polygon(&mut self, points: Vec<(f64, f64)>, fill: Colour, opacity: f64) {
        if points.len() > 2 {
            self.push(Shape::Polygon {
                points,
                fill,
                opacity,
            });
        }
    }

    /// A filled circle.
    pub fn dot(&mut self, (x, y): (f64, f64), r: f64, fill: Colour, opacity: f64) {
        self.push(Shape::Dot {
            x,
            y,
            r,
            fill,
            opacity,
        });
    }

    /// A line with a head.
    pub fn arrow(&mut self, from: (f64, f64), to: (f64, f64), stroke: Stroke) {
        self.push(Shape::Arrow { from, to, stroke });
    }

    /// A line of text in ink.
    pub fn text(&mut self, x: f64, y: f64, size: f64, anchor: Anchor, text: impl Into<String>) {
        self.coloured_text(x, y, size, anchor, INK, text);
    }

    /// A line of text.
    pub fn coloured_text(
        &mut self,
        x: f64,
        y: f64,
        size: f64,
        anchor: Anchor,
        colour: Colour,
        text: impl Into<String>,
    ) {
        let (bold, text) = (false, text.into());
        self.push(Shape::Text(Text {
            x,
            y,
            size,
            anchor,
            colour,
            bold,
            text,
        }));
    }

    /// A line of bold text in ink.
    pub fn bold_text(&mut self, x: f64, y: f64, size: f64, text: impl Into<String>) {
        let (anchor, colour, bold, text) = (Anchor::Start, INK, true, text.into());
        self.push(Shape::Text(Text {
            x,
            y,
            size,
            anchor,
            colour,
            bold,
            text,
        }));
    }

    /// How many shapes there are.
    pub fn shapes(&self) -> usize {
        self.groups.iter().map(|group| group.shapes.len()).sum()
    }
}

/// The head of an arrow at `to`: its two other corners.
pub(super) fn head(from: (f64, f64), to: (f64, f64), width: f64) -> [(f64, f64); 2] {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = dx.hypot(dy).max(1e-9);
    let (dx, dy) = (dx / length, dy / length);
    let (long, half) = (4.0 + 2.0 * width, 1.5 + width);
    let foot = (to.0 - long * dx, to.1 - long * dy);
    [
        (foot.0 - half * dy, foot.1 + half * dx),
        (foot.0 + half * dy, foot.1 - half * dx),
    ]
}
