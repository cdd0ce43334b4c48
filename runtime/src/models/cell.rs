//! The model of one codelet on one kind of worker: duration against floating-point operations.
//!
//! Takes measured (flops, duration) pairs one by one; gives a prediction. Knows no codelet, no file and no clock.
//!
//! Tasks are put into *classes*, four to each doubling of their flops; a task without flops is in class 0. A class that
//! was measured often enough answers with its mean. Otherwise a line through the logarithms of all pairs does,
//! `log duration = a + b log flops`, once there are enough of them with different flops; and before that the mean rate of
//! all pairs, or their mean where no flops were counted.

use std::collections::BTreeMap;

/// Pairs after which a cell answers at all.
pub(super) const CALIBRATED: u64 = 4;
/// Pairs after which a class answers for itself.
const CLASS_TRUSTED: u64 = 4;
/// Pairs after which the line is used.
const LINE_TRUSTED: u64 = 10;

/// Measurements of one class.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Class {
    pub(super) count: u64,
    pub(super) mean_ns: f64,
    pub(super) mean_flops: f64,
}

/// Measurements of one codelet on one kind of worker.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Cell {
    pub(super) classes: BTreeMap<u32, Class>,
}

/// The class of a number of flops.
pub(super) fn class_of(flops: u64) -> u32 {
    match flops {
        0 => 0,
        _ => 1 + (4.0 * (flops as f64).log2()) as u32,
    }
}

impl Cell {
    /// One more measurement.
    pub(super) fn add(&mut self, flops: u64, ns: f64) {
        let class = self.classes.entry(class_of(flops)).or_default();
        class.count += 1;
        let weight = 1.0 / class.count as f64;
        class.mean_ns += weight * (ns - class.mean_ns);
        class.mean_flops += weight * (flops as f64 - class.mean_flops);
    }

    pub(super) fn count(&self) -> u64 {
        self.classes.values().map(|class| class.count).sum()
    }

    /// Predicted nanoseconds of a task of `flops`; `None` before there are [`CALIBRATED`] pairs.
    pub(super) fn predict(&self, flops: u64) -> Option<f64> {
        if let Some(class) = self.classes.get(&class_of(flops))
            && class.count >= CLASS_TRUSTED
        {
            return Some(class.mean_ns);
        }
        let count = self.count();
        if count < CALIBRATED {
            return None;
        }
        let line = (flops > 0 && count >= LINE_TRUSTED).then(|| self.line());
        if let Some(Some((a, b))) = line {
            return Some((a + b * (flops as f64).ln()).exp());
        }
        let total = |of: fn(&Class) -> f64| -> f64 {
            self.classes.values().map(|c| c.count as f64 * of(c)).sum()
        };
        let (ns, all_flops) = (total(|c| c.mean_ns), total(|c| c.mean_flops));
        Some(if flops > 0 && all_flops > 0.0 {
            ns / all_flops * flops as f64
        } else {
            ns / count as f64
        })
    }

    /// a and b of the line through the classes' means, each as heavy as it has pairs; `None` if they do not span a
    /// factor of 2, or if it falls.
    fn line(&self) -> Option<(f64, f64)> {
        let points = self
            .classes
            .values()
            .filter(|c| c.mean_flops > 0.0 && c.mean_ns > 0.0)
            .map(|c| (c.count as f64, c.mean_flops.ln(), c.mean_ns.ln()));
        let (mut n, mut sx, mut sy, mut sxx, mut sxy) = (0.0, 0.0, 0.0, 0.0, 0.0);
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for (w, x, y) in points {
            (low, high) = (low.min(x), high.max(x));
            n += w;
            sx += w * x;
            sy += w * y;
            sxx += w * x * x;
            sxy += w * x * y;
        }
        if high - low < std::f64::consts::LN_2 {
            return None;
        }
        let slope = (n * sxy - sx * sy) / (n * sxx - sx * sx);
        (slope > 0.0).then_some(((sy - slope * sx) / n, slope))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_said_before_enough_was_measured() {
        let mut cell = Cell::default();
        for k in 0..CALIBRATED {
            assert_eq!(cell.predict(100), None);
            cell.add(100, 50.0 + k as f64);
        }
        assert_eq!(cell.predict(100), Some(51.5));
        assert_eq!(cell.predict(200), Some(103.0), "by the rate");
    }

    #[test]
    fn the_line_serves_sizes_that_were_not_measured() {
        let mut cell = Cell::default();
        for flops in [1_000_u64, 4_000, 16_000, 64_000, 256_000] {
            for _ in 0..2 {
                cell.add(flops, 3.0 * (flops as f64).powf(0.75));
            }
        }
        for flops in [2_000_u64, 1_000_000, 500] {
            let expected = 3.0 * (flops as f64).powf(0.75);
            let found = cell.predict(flops).unwrap();
            assert!((found / expected - 1.0).abs() < 1e-9, "{flops}: {found}");
        }
    }

    #[test]
    fn tasks_without_flops_have_a_mean() {
        let mut cell = Cell::default();
        (0..4).for_each(|k| cell.add(0, f64::from(k)));
        assert_eq!(cell.predict(0), Some(1.5));
        assert_eq!(cell.predict(10), Some(1.5));
    }

    #[test]
    fn classes_are_four_to_a_doubling() {
        assert_eq!(class_of(0), 0);
        assert_eq!(class_of(1), 1);
        assert_eq!(class_of(2), 5);
        assert_eq!(class_of(1 << 20), 81);
        assert!(class_of(u64::MAX) < 1000);
    }
}
