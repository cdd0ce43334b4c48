//! Curves of [`Steps`] on a page, and weights spread over windows.
//!
//! Takes steps in nanoseconds since the beginning of the run; gives spans, points and sums. Knows no trace.

use crate::account::Steps;

/// The largest value in a span of time, the one in force at its beginning included.
pub(super) fn most(steps: &Steps, (from, to): (f64, f64)) -> f64 {
    let steps = &steps.steps;
    let first = steps.partition_point(|s| s.time_ns as f64 <= from);
    let inside = steps[first.saturating_sub(1)..].iter();
    let inside = inside.take_while(|s| s.time_ns as f64 <= to);
    inside.map(|s| s.value).fold(0.0, f64::max)
}

/// Spans in which `is` holds for the value, between `from` and `to`; before the first step the value is 0.
pub(super) fn spans_where(
    steps: &Steps,
    (from, to): (f64, f64),
    is: impl Fn(f64) -> bool,
) -> Vec<(f64, f64)> {
    let mut out: Vec<(f64, f64)> = Vec::new();
    let zero = (f64::NEG_INFINITY, 0.0);
    let all = || steps.steps.iter().map(|s| (s.time_ns as f64, s.value));
    let ends = all().map(|s| s.0).chain([f64::INFINITY]);
    for ((at, value), end) in [zero].into_iter().chain(all()).zip(ends) {
        let (start, end) = (at.max(from), end.min(to));
        if !is(value) || end <= start {
            continue;
        }
        match out.last_mut() {
            Some(last) if last.1 >= start => last.1 = end,
            _ => out.push((start, end)),
        }
    }
    out
}

/// The steps as a line from `x(from)` to `x(to)` with at most five points a unit of the page: what enters a column, its lowest and
/// highest value, and what leaves it.
pub(super) fn line(
    steps: &Steps,
    (from, to): (f64, f64),
    x: impl Fn(f64) -> f64,
    y: impl Fn(f64) -> f64,
) -> Vec<(f64, f64)> {
    let steps: &[_] = &steps.steps;
    let at = |k: usize| steps[k].time_ns as f64;
    let begin = steps.partition_point(|s| s.time_ns as f64 <= from);
    let mut value = if begin == 0 {
        0.0
    } else {
        steps[begin - 1].value
    };
    let mut out = vec![(x(from), y(value))];
    let mut k = begin;
    while k < steps.len() && at(k) <= to {
        let here = x(at(k));
        let column = here.floor();
        let (mut low, mut high, mut last) = (value, value, value);
        while k < steps.len() && at(k) <= to && x(at(k)).floor() == column {
            last = steps[k].value;
            (low, high) = (low.min(last), high.max(last));
            k += 1;
        }
        out.push((here, y(value)));
        for extreme in [low, high] {
            if extreme != value && extreme != last {
                out.push((here, y(extreme)));
            }
        }
        out.push((here, y(last)));
        value = last;
    }
    out.push((x(to), y(value)));
    out
}

/// Parts of spans in windows of equal width: what each adds to the windows it lies in is its weight spread evenly.
pub(super) fn spread(
    windows: &mut [f64],
    (from, to): (f64, f64),
    (start, end): (f64, f64),
    weight: f64,
) {
    let width = (to - from) / windows.len() as f64;
    let (a, b) = (start.max(from), end.min(to));
    if !(b > a && width > 0.0) {
        return;
    }
    let per_time = weight / (end - start);
    let last = windows.len() - 1;
    let first = (((a - from) / width) as usize).min(last);
    let until = (((b - from) / width) as usize).min(last);
    for (k, window) in windows.iter_mut().enumerate().take(until + 1).skip(first) {
        let left = from + k as f64 * width;
        let part = b.min(left + width) - a.max(left);
        *window += part.max(0.0) * per_time;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_spans() {
        let steps = Steps::count(vec![1, 1, 4], vec![3, 4, 9]);
        assert_eq!(
            (most(&steps, (3.5, 10.0)), most(&steps, (0.0, 2.0))),
            (1.0, 2.0)
        );
        let few = spans_where(&steps, (0.0, 10.0), |value| value < 2.0);
        assert_eq!(few, [(0.0, 1.0), (3.0, 10.0)]);
        let line = line(&steps, (0.0, 10.0), |t| t, |v| v);
        assert_eq!(line.first(), Some(&(0.0, 0.0)));
        assert_eq!(line.last(), Some(&(10.0, 0.0)));
        assert!(line.contains(&(1.0, 2.0)) && line.contains(&(3.0, 1.0)));
    }

    #[test]
    fn what_is_spread_is_not_lost() {
        let mut windows = [0.0; 7];
        spread(&mut windows, (0.0, 7.0), (0.5, 6.25), 10.0);
        assert!((windows.iter().sum::<f64>() - 10.0).abs() < 1e-12);
        let mut part = [0.0; 2];
        spread(&mut part, (2.0, 4.0), (0.0, 4.0), 8.0);
        assert_eq!(part, [2.0, 2.0]);
    }
}
