//! Small plots beside each other, one for each of several things.
//!
//! Takes the room of all and how many there are; gives the room of each. Knows no trace.

use super::scene::Area;

/// Not more than this, or none could be read.
pub(super) const MOST: usize = 12;
/// Height of one, with what is written around it.
pub(super) const HEIGHT: f64 = 150.0;
/// Above each, for its title.
const ABOVE: f64 = 20.0;
/// Below each, for its axis.
const BELOW: f64 = 26.0;
/// With less there is nothing to see.
const LOWEST: f64 = 76.0;
const NARROWEST: f64 = 140.0;
/// Between two.
const GAP: f64 = 46.0;

/// How many there are beside each other on a page of this width.
fn columns(count: usize, width: f64) -> usize {
    let fit = (width / 240.0).clamp(1.0, 4.0) as usize;
    count.clamp(1, fit)
}

/// Height of all, if nobody has said how large the page is.
pub(super) fn height(count: usize, width: f64) -> f64 {
    count.max(1).div_ceil(columns(count, width)) as f64 * HEIGHT
}

/// Room of each, row by row: of as many as there is room for, so that no text lies on another.
pub(super) fn rooms(area: Area, count: usize) -> Vec<Area> {
    let most_rows = ((area.h / LOWEST) as usize).max(1);
    let most_columns = ((area.w / NARROWEST) as usize).max(1);
    // More beside each other than is beautiful, where the page is low.
    let columns = columns(count, area.w).max(count.div_ceil(most_rows));
    let columns = columns.min(most_columns);
    let rows = count.max(1).div_ceil(columns).min(most_rows);
    let (w, h) = (area.w / columns as f64, area.h / rows as f64);
    let room = |k: usize| Area {
        x: area.x + (k % columns) as f64 * w,
        y: area.y + (k / columns) as f64 * h + ABOVE,
        w: (w - GAP).max(10.0),
        h: (h - ABOVE - BELOW).max(6.0),
    };
    (0..count.min(columns * rows)).map(room).collect()
}

/// What to say below them, where not all had room.
pub(super) fn left_out(text: &str, count: usize, rooms: usize) -> String {
    match count.saturating_sub(rooms) {
        0 => text.to_owned(),
        n => format!("{text} ({n} more on a larger page)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rooms_lie_inside_and_apart() {
        for (w, h) in [(1000.0, 600.0), (400.0, 200.0), (150.0, 90.0)] {
            let (x, y) = (10.0, 20.0);
            let area = Area { x, y, w, h };
            for count in 1..=MOST {
                let rooms = rooms(area, count);
                assert!((1..=count).contains(&rooms.len()));
                assert!(w < 500.0 || rooms.len() == count);
                for (k, a) in rooms.iter().enumerate() {
                    assert!(a.x >= area.x && a.right() <= area.right(), "{a:?}");
                    assert!(a.y >= area.y && a.bottom() <= area.bottom(), "{a:?}");
                    // With the texts above and below.
                    let apart = |b: &Area| {
                        a.right() < b.x
                            || b.right() < a.x
                            || a.bottom() + BELOW <= b.y - ABOVE + 1e-9
                            || b.bottom() + BELOW <= a.y - ABOVE + 1e-9
                    };
                    assert!(rooms[k + 1..].iter().all(apart));
                }
            }
        }
    }
}
