//! Functions of time that are constant between steps.
//!
//! Takes spans; gives steps, each valid until the next, with exact integrals and bins for drawing. Knows no table.

use serde::Serialize;

/// A value from a time on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Step {
    /// From when.
    pub time_ns: u64,
    /// The value until the next step.
    pub value: f64,
}

/// A function that is 0 before its first step, and keeps its last value for ever. Times grow from step to step.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Steps {
    /// By time.
    pub steps: Vec<Step>,
}

/// A stretch of time, for drawing: no peak is lost in it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bin {
    /// From.
    pub from_ns: u64,
    /// To, not included.
    pub to_ns: u64,
    /// Integral over the stretch by its length.
    pub mean: f64,
    /// The smallest value in it.
    pub min: f64,
    /// The largest value in it.
    pub max: f64,
}

impl Steps {
    /// How many of the things that begin at one of `from` and end at one of `to` there are. As many of either; O(n log n).
    pub fn count(mut from: Vec<u64>, mut to: Vec<u64>) -> Self {
        from.sort_unstable();
        to.sort_unstable();
        let (mut begun, mut ended) = (0, 0);
        let mut out = Steps::default();
        while ended < to.len() {
            let time_ns = match from.get(begun) {
                Some(&next) => next.min(to[ended]),
                None => to[ended],
            };
            begun += from[begun..].iter().take_while(|&&t| t == time_ns).count();
            ended += to[ended..].iter().take_while(|&&t| t == time_ns).count();
            out.set(time_ns, begun as f64 - ended as f64);
        }
        out
    }

    /// Amounts per nanosecond, each spread evenly from its first time to its second; over one nanosecond where those are the
    /// same. The integral is the sum of the amounts. O(n log n).
    pub fn rate(spans: impl Iterator<Item = (u64, u64, f64)>) -> Self {
        let mut events = Vec::with_capacity(2 * spans.size_hint().0);
        for (from, to, amount) in spans {
            let to = to.max(from.saturating_add(1));
            let rate = amount / (to - from).max(1) as f64;
            events.push((from, rate));
            events.push((to, -rate));
        }
        events.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let (mut out, mut k) = (Steps::default(), 0);
        // With what rounding took from the sum (Neumaier), and nothing left over where nothing goes on.
        let (mut sum, mut lost, mut open) = (0.0_f64, 0.0_f64, 0_i64);
        while k < events.len() {
            let time_ns = events[k].0;
            while k < events.len() && events[k].0 == time_ns {
                let x = events[k].1;
                let next = sum + x;
                lost += match sum.abs() >= x.abs() {
                    true => (sum - next) + x,
                    false => (x - next) + sum,
                };
                sum = next;
                open += if x.is_sign_negative() { -1 } else { 1 };
                k += 1;
            }
            if open == 0 {
                (sum, lost) = (0.0, 0.0);
            }
            out.set(time_ns, (sum + lost).max(0.0));
        }
        out
    }

    /// Sets the value from `time_ns` on; the last of several at one time counts, and an earlier time than before counts as
    /// that one.
    pub(crate) fn set(&mut self, time_ns: u64, value: f64) {
        match self.steps.last_mut() {
            Some(last) if last.time_ns >= time_ns => last.value = value,
            Some(last) if last.value == value => {}
            None if value == 0.0 => {}
            _ => self.steps.push(Step { time_ns, value }),
        }
    }

    /// Multiplied by `factor`.
    pub(crate) fn scaled(mut self, factor: f64) -> Self {
        self.steps.iter_mut().for_each(|s| s.value *= factor);
        self
    }

    /// The value at a time. O(log n).
    pub fn at(&self, time_ns: u64) -> f64 {
        let after = self.steps.partition_point(|s| s.time_ns <= time_ns);
        after.checked_sub(1).map_or(0.0, |k| self.steps[k].value)
    }

    /// The largest value, at least 0.
    pub fn max(&self) -> f64 {
        self.steps.iter().map(|s| s.value).fold(0.0, f64::max)
    }

    /// Value times nanoseconds between two times.
    pub fn integral(&self, from_ns: u64, to_ns: u64) -> f64 {
        let bin = self.bins(from_ns, to_ns, 1);
        bin.first()
            .map_or(0.0, |b| b.mean * (b.to_ns - b.from_ns) as f64)
    }

    /// `n` stretches of nearly equal length between two times; fewer where there are fewer nanoseconds. O(steps + n).
    pub fn bins(&self, from_ns: u64, to_ns: u64, n: usize) -> Vec<Bin> {
        let edges = edges(from_ns, to_ns, n);
        let mut k = self.steps.partition_point(|s| s.time_ns <= from_ns);
        let mut value = self.at(from_ns);
        let bin = |pair: &[u64]| {
            let (from_ns, to_ns) = (pair[0], pair[1]);
            // What a step at the edge itself ended was in the bin before.
            while let Some(step) = self.steps.get(k).filter(|s| s.time_ns <= from_ns) {
                (value, k) = (step.value, k + 1);
            }
            let (mut min, mut max, mut area, mut at) = (value, value, 0.0, from_ns);
            while let Some(step) = self.steps.get(k).filter(|s| s.time_ns < to_ns) {
                area += value * (step.time_ns - at) as f64;
                (value, at, k) = (step.value, step.time_ns, k + 1);
                (min, max) = (min.min(value), max.max(value));
            }
            area += value * (to_ns - at) as f64;
            Bin {
                from_ns,
                to_ns,
                mean: area / (to_ns - from_ns) as f64,
                min,
                max,
            }
        };
        edges.windows(2).map(bin).collect()
    }
}

/// Edges of `n` stretches, none of them empty.
pub(super) fn edges(from_ns: u64, to_ns: u64, n: usize) -> Vec<u64> {
    let length = to_ns.saturating_sub(from_ns);
    let n = (n as u64).min(length);
    if n == 0 {
        return Vec::new();
    }
    let edge = |k| from_ns + (u128::from(length) * u128::from(k) / u128::from(n)) as u64;
    (0..=n).map(edge).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_change_once_at_a_time() {
        let steps = Steps::count(vec![1, 1, 4], vec![3, 4, 9]).steps;
        let steps: Vec<_> = steps.iter().map(|s| (s.time_ns, s.value)).collect();
        assert_eq!(steps, [(1, 2.0), (3, 1.0), (9, 0.0)]);
        assert!(Steps::count(vec![], vec![]).steps.is_empty());
    }

    #[test]
    fn values_bins_and_integrals() {
        let s = Steps::count(vec![1, 1, 4], vec![3, 4, 9]);
        assert_eq!(
            [0, 1, 2, 3, 8, 9].map(|t| s.at(t)),
            [0.0, 2.0, 2.0, 1.0, 1.0, 0.0]
        );
        assert_eq!(s.integral(0, 20), 10.0);
        assert_eq!(s.integral(2, 4), 3.0);
        let bins = s.bins(0, 10, 2);
        assert_eq!(
            (bins[0].mean, bins[0].min, bins[0].max),
            (6.0 / 5.0, 0.0, 2.0)
        );
        assert_eq!(
            (bins[1].mean, bins[1].min, bins[1].max),
            (4.0 / 5.0, 0.0, 1.0)
        );
        assert_eq!(s.bins(3, 5, 100).len(), 2);
        assert!(s.bins(5, 5, 4).is_empty());
    }

    #[test]
    fn amounts_are_kept() {
        let s = Steps::rate([(0, 10, 5.0), (5, 5, 3.0), (2, 4, 1e12)].into_iter());
        assert_eq!((s.at(1), s.at(5), s.at(7), s.at(10)), (0.5, 3.5, 0.5, 0.0));
        assert!((s.integral(0, 10) - (1e12 + 8.0)).abs() < 1e-3);
    }
}
