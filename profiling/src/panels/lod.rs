//! Spans on one row, never more than pixels.
//!
//! Takes spans in the order of their beginnings, in page units, that do not overlap; gives fewer. A span as wide as a step stays
//! as it is; shorter ones that begin in the same step become one, as wide as all of them together and of the kind that has most of
//! it. So the width that is drawn of a row is the sum of its spans, whatever the step.

/// A span of a kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Span<K> {
    pub x: f64,
    pub w: f64,
    pub kind: K,
}

/// Merges what is shorter than `step`.
pub(crate) fn merged<K: Copy + PartialEq>(
    spans: impl Iterator<Item = Span<K>>,
    step: f64,
) -> Vec<Span<K>> {
    let mut out: Vec<Span<K>> = Vec::new();
    let mut open: Option<Heap<K>> = None;
    for span in spans {
        let bin = (span.x / step).floor();
        if span.w >= step || open.as_ref().is_some_and(|heap| heap.bin != bin) {
            flush(&mut out, open.take());
        }
        if span.w >= step {
            push(&mut out, span);
            continue;
        }
        let heap = open.get_or_insert_with(|| Heap {
            bin,
            x: span.x,
            kinds: Vec::new(),
        });
        match heap.kinds.iter_mut().find(|(kind, _)| *kind == span.kind) {
            Some((_, w)) => *w += span.w,
            None => heap.kinds.push((span.kind, span.w)),
        }
    }
    flush(&mut out, open);
    out
}

/// What spans cover together, in any order, each taken to be `least` long at least, up to `right`: beginnings with widths, none over another.
pub(crate) fn covered(mut spans: Vec<(f64, f64)>, least: f64, right: f64) -> Vec<(f64, f64)> {
    spans.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut out: Vec<(f64, f64)> = Vec::new();
    for (start, end) in spans {
        let start = start.min(right - least);
        let end = end.min(right).max(start + least);
        match out.last_mut() {
            Some((x, w)) if start <= *x + *w => *w = w.max(end - *x),
            _ => out.push((start, end - start)),
        }
    }
    out
}

/// What begins in one step.
struct Heap<K> {
    bin: f64,
    x: f64,
    kinds: Vec<(K, f64)>,
}

fn flush<K: Copy + PartialEq>(out: &mut Vec<Span<K>>, heap: Option<Heap<K>>) {
    let Some(heap) = heap else { return };
    let w = heap.kinds.iter().map(|(_, w)| w).sum();
    let most = heap.kinds.iter().max_by(|a, b| a.1.total_cmp(&b.1));
    if let Some(&(kind, _)) = most {
        push(out, Span { x: heap.x, w, kind });
    }
}

/// Appends; what touches the span before and is of its kind becomes a part of it.
fn push<K: Copy + PartialEq>(out: &mut Vec<Span<K>>, span: Span<K>) {
    match out.last_mut() {
        Some(last) if last.kind == span.kind && span.x - (last.x + last.w) < 1e-3 => {
            last.w += span.w;
        }
        _ => out.push(span),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_add_up_and_long_spans_stay() {
        let tiny = (0..1000).map(|k| Span {
            x: 0.01 * f64::from(k),
            w: 0.004,
            kind: k % 3,
        });
        let long = Span {
            x: 10.0,
            w: 5.0,
            kind: 7,
        };
        let out = merged(tiny.chain([long]), 1.0);
        assert!(out.len() <= 12, "{}", out.len());
        assert_eq!(out.last(), Some(&long));
        let sum: f64 = out.iter().map(|span| span.w).sum();
        assert!((sum - 9.0).abs() < 1e-9, "{sum}");
        assert!(out.windows(2).all(|p| p[0].x + p[0].w <= p[1].x + 1e-9));
    }

    #[test]
    fn short_spans_are_covered_where_they_are() {
        // A thousand in ten units, far shorter than a mark; then one by itself, a long one, and one at the right edge.
        let short = (0..1000).map(|k| 20.0 + 0.01 * f64::from(k));
        let mut spans: Vec<_> = short.map(|x| (x, x + 0.002)).collect();
        spans.extend([(40.0, 40.1), (99.9, 100.0), (50.0, 60.0)]);
        let out = covered(spans, 0.75, 100.0);
        let [(x, w), single, long, edge] = out[..] else {
            panic!("{out:?}");
        };
        assert_eq!(x, 20.0);
        assert!((w - (9.99 + 0.75)).abs() < 1e-9, "{w}");
        assert_eq!(
            (single, long, edge),
            ((40.0, 0.75), (50.0, 10.0), (99.25, 0.75))
        );
    }
}
