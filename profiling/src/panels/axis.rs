//! Ticks at round numbers, and numbers with units.
//!
//! Takes ranges; gives positions and labels. Knows no page.

/// Round steps from `from` to `to`: 1, 2 or 5 times a power of ten, `most` of them at most.
pub(crate) fn ticks(from: f64, to: f64, most: usize) -> Vec<f64> {
    let raw = (to - from) / most.max(1) as f64;
    if !(raw.is_finite() && raw > 0.0) {
        return vec![from];
    }
    let power = 10f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|k| k * power)
        .find(|step| *step >= raw * (1.0 - 1e-9));
    let step = step.unwrap_or(10.0 * power);
    let first = (from / step - 1e-9).ceil();
    let last = (to / step + 1e-9).floor();
    let count = ((last - first) as i64).clamp(0, 1000);
    (0..=count).map(|k| (first + k as f64) * step).collect()
}

/// The unit in which a time of this many nanoseconds is told, and its length.
pub(crate) fn time_unit(ns: f64) -> (&'static str, f64) {
    match ns {
        ns if ns >= 3e9 => ("s", 1e9),
        ns if ns >= 3e6 => ("ms", 1e6),
        ns if ns >= 3e3 => ("µs", 1e3),
        _ => ("ns", 1.0),
    }
}

/// A prefix for numbers up to `most`, and its factor.
pub(crate) fn prefix(most: f64) -> (&'static str, f64) {
    match most {
        x if x >= 2e12 => ("T", 1e12),
        x if x >= 2e9 => ("G", 1e9),
        x if x >= 2e6 => ("M", 1e6),
        x if x >= 2e3 => ("k", 1e3),
        _ => ("", 1.0),
    }
}

/// A number without needless digits: `0`, `2.5`, `120`.
pub(crate) fn plain(x: f64) -> String {
    let text = format!("{x:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0" } else { text }.to_owned()
}

/// A time as a person writes it: `12.3 ms`.
pub(crate) fn time(ns: f64) -> String {
    let (unit, length) = time_unit(ns / 3.0 * 10.0);
    // A sum of nothing is -0.
    let x = ns / length + 0.0;
    match x {
        x if x >= 99.95 => format!("{x:.0} {unit}"),
        x if x >= 9.995 => format!("{x:.1} {unit}"),
        x => format!("{x:.2} {unit}"),
    }
}

/// A number with a prefix: `12.3 M`, then its unit.
pub(crate) fn si(x: f64, unit: &str) -> String {
    let (prefix, factor) = prefix(2.0 * x);
    let x = x / factor;
    match x {
        x if x >= 99.95 => format!("{x:.0} {prefix}{unit}"),
        x if x >= 9.995 => format!("{x:.1} {prefix}{unit}"),
        x => format!("{x:.2} {prefix}{unit}"),
    }
}

/// `1 task`, `3 tasks`.
pub(super) fn counted(count: u64, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        n => format!("{n} {what}s"),
    }
}

/// A part of a whole: `3.4 %`, `56 %`.
pub(crate) fn percent(part: f64) -> String {
    match 100.0 * part {
        p if p <= 0.0 => "0 %".to_owned(),
        p if p < 0.05 => "<0.1 %".to_owned(),
        p if p < 9.95 => format!("{p:.1} %"),
        p => format!("{p:.0} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(ticks(0.0, 10.0, 5), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(ticks(0.0, 1.0, 4), [0.0, 0.5, 1.0]);
        assert_eq!(ticks(33.0, 41.0, 4), [34.0, 36.0, 38.0, 40.0]);
        assert_eq!(ticks(1.0, 1.0, 4), [1.0]);
        for most in 1..20 {
            assert!(ticks(0.0, 7.3e9, most).len() <= most + 1);
        }
    }

    #[test]
    fn numbers_have_units() {
        assert_eq!(time(12_345_678.0), "12.3 ms");
        assert_eq!(time(1.5e9), "1.50 s");
        assert_eq!(si(1_340_000_000.0, "flop"), "1.34 Gflop");
        assert_eq!((plain(2.50), plain(0.0)), ("2.5".into(), "0".into()));
        assert_eq!(
            (percent(0.0), percent(0.034)),
            ("0 %".into(), "3.4 %".into())
        );
    }
}
