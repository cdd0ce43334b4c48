//! Spans on rows as columns.
//!
//! Takes [`Rows`], the model that the picture is drawn from too; gives a panel. Knows no trace.

use super::columns::{Columns, Type};
use super::format::{Body, Kind};
use crate::panels::lod::{Span, merged};
use crate::panels::spans::{Rows, Style};

/// With more spans the shortest are put together.
const MOST: usize = 200_000;

/// A panel. `id` names its columns.
pub(super) fn body(rows: Rows, id: &str, span_ns: u64, to: &mut Columns) -> Body {
    let mut lanes: Vec<Vec<Span<u32>>> = vec![Vec::new(); rows.lanes.len()];
    for span in &rows.spans {
        lanes[span.lane].push(Span {
            x: span.from,
            w: (span.to - span.from).max(0.0),
            kind: span.kind as u32,
        });
    }
    let spans = fewer(lanes, span_ns as f64);
    let name = |part: &str| format!("{id}.{part}");
    let kind = |kind: &crate::panels::spans::Kind| Kind {
        name: kind.name.clone(),
        colour: kind.colour.to_string(),
    };
    let all = || spans.iter().map(|(lane, span)| (*lane, span));
    Body::Spans {
        lane: to.delta(name("lane"), Type::U32, all().map(|s| s.0 as u64)),
        kind_of: to.varint(name("kind"), Type::U32, all().map(|s| s.1.kind.into())),
        start: to.zigzag(name("start"), Type::F64, all().map(|s| s.1.x as i64)),
        duration: to.varint(name("duration"), Type::F64, all().map(|s| s.1.w as u64)),
        lanes: rows.lanes.iter().map(|lane| lane.name.clone()).collect(),
        notes: rows.lanes.iter().map(|lane| lane.note.clone()).collect(),
        heading: rows.heading,
        kinds: rows.kinds.iter().map(kind).collect(),
        axis: rows.axis.map(|(from, to)| [from, to]),
        least: rows.style != Style::True,
        instead: rows.instead,
    }
}

/// By lane, then by start; of too many those that are shorter than a step become one where they begin in the same one, so that the
/// time that is shown of a lane stays what it was.
pub(super) fn fewer<K: Copy + PartialEq>(
    lanes: Vec<Vec<Span<K>>>,
    span_ns: f64,
) -> Vec<(usize, Span<K>)> {
    let count: usize = lanes.iter().map(Vec::len).sum();
    let step = span_ns * lanes.len() as f64 / MOST as f64;
    let mut out = Vec::with_capacity(count.min(2 * MOST));
    for (lane, mut mine) in lanes.into_iter().enumerate() {
        mine.sort_by(|a, b| a.x.total_cmp(&b.x));
        if count > MOST {
            mine = merged(mine.into_iter(), step);
        }
        out.extend(mine.into_iter().map(|span| (lane, span)));
    }
    out
}
