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

/// Room of each, row by row.
pub(super) fn rooms(area: Area, count: usize) -> Vec<Area> {
    let columns = columns(count, area.w);
    let rows = count.max(1).div_ceil(columns);
    let (w, h) = (area.w / columns as f64, area.h / rows as f64);
    let room = |k: usize| Area {
        x: area.x + (k % columns) as f64 * w,
        y: area.y + (k / columns) as f64 * h + ABOVE,
        w: (w - GAP).max(10.0),
        h: (h - ABOVE - BELOW).max(6.0),
    };
    (0..count).map(room).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rooms_lie_inside_and_apart() {
        let area = Area {
            x: 10.0,
            y: 20.0,
            w: 1000.0,
            h: 600.0,
        };
        for count in 1..=MOST {
            let rooms = rooms(area, count);
            assert_eq!(rooms.len(), count);
            for (k, a) in rooms.iter().enumerate() {
                assert!(a.x >= area.x && a.right() <= area.right(), "{a:?}");
                assert!(a.y >= area.y && a.bottom() <= area.bottom(), "{a:?}");
                let apart = |b: &Area| {
                    a.right() < b.x || b.right() < a.x || a.bottom() < b.y || b.bottom() < a.y
                };
                assert!(rooms[k + 1..].iter().all(apart));
            }
        }
    }
}
