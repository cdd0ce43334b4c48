//! The spans of a thread as beginnings and ends, in the order of time.
//!
//! Takes spans in any order; gives marks that nest, or the place where two spans cross. Knows no table.

use super::error::ExportError;
use std::cmp::Reverse;

/// A span: start, end, and what it is.
pub(super) type Span = (u64, u64, u32);

/// A beginning or an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub time_ns: u64,
    pub begins: bool,
    pub what: u32,
}

/// Marks of `spans`: at one time ends come first, and an empty span lies before the one that begins with it.
pub(super) fn marks(mut spans: Vec<Span>, thread: &str) -> Result<Vec<Mark>, ExportError> {
    spans.sort_unstable_by_key(|&(start, end, what)| (start, end != start, Reverse(end), what));
    let mut marks = Vec::with_capacity(2 * spans.len());
    let mut open: Vec<(u64, u32)> = Vec::new();
    let end = |(time_ns, what)| Mark {
        time_ns,
        begins: false,
        what,
    };
    for (start, stop, what) in spans {
        while let Some(&last) = open.last()
            && last.0 <= start
        {
            marks.push(end(last));
            open.pop();
        }
        let crossed = open.last().map(|last| last.0).filter(|&last| last < stop);
        if crossed.is_some() || stop < start {
            return Err(ExportError::Crossing {
                thread: thread.to_owned(),
                end_ns: crossed.unwrap_or(stop),
                start_ns: start,
            });
        }
        marks.push(Mark {
            time_ns: start,
            begins: true,
            what,
        });
        open.push((stop, what));
    }
    marks.extend(open.into_iter().rev().map(end));
    Ok(marks)
}

/// Spreads spans that overlap over as few lanes as hold them.
pub(super) fn spread(mut spans: Vec<Span>) -> Vec<Vec<Span>> {
    spans.sort_unstable();
    let mut lanes: Vec<Vec<Span>> = Vec::new();
    for span in spans {
        let free = |lane: &&mut Vec<Span>| lane.last().is_none_or(|last| last.1 <= span.0);
        match lanes.iter_mut().find(free) {
            Some(lane) => lane.push(span),
            None => lanes.push(vec![span]),
        }
    }
    lanes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(spans: &[Span]) -> String {
        let marks = marks(spans.to_vec(), "CPU0").unwrap();
        let mark = |m: &Mark| {
            format!(
                "{}{}{}",
                m.time_ns,
                if m.begins { '<' } else { '>' },
                m.what
            )
        };
        marks.iter().map(mark).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn spans_follow_each_other_and_nest() {
        assert_eq!(text(&[(5, 8, 1), (2, 5, 0)]), "2<0 5>0 5<1 8>1");
        assert_eq!(
            text(&[(2, 9, 0), (3, 4, 1), (4, 9, 2)]),
            "2<0 3<1 4>1 4<2 9>2 9>0"
        );
        // An empty span at the seam of two others is a level of neither.
        assert_eq!(
            text(&[(2, 5, 0), (5, 5, 1), (5, 8, 2)]),
            "2<0 5>0 5<1 5>1 5<2 8>2"
        );
    }

    #[test]
    fn crossing_spans_are_an_error_and_can_be_spread() {
        let spans = vec![(2, 5, 0), (4, 8, 1), (5, 6, 2)];
        let error = marks(spans.clone(), "CPU0").unwrap_err().to_string();
        assert!(
            error.starts_with("CPU0: a span that ends at 5 ns crosses one from 4 ns"),
            "{error}"
        );
        assert!(marks(vec![(5, 4, 0)], "CPU0").is_err());
        assert_eq!(spread(spans), [vec![(2, 5, 0), (5, 6, 2)], vec![(4, 8, 1)]]);
    }
}
