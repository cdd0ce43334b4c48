//! Numbers as people read them: three digits, SI prefixes, groups of three.

use std::time::Duration;

const PREFIXES: [&str; 6] = ["", "k", "M", "G", "T", "P"];

/// Three significant digits without exponent, for 0 <= x < 1000: `0.123`, `1.23`, `12.3`, `123`.
pub fn three(x: f64) -> String {
    match x {
        x if x >= 99.95 => format!("{x:.0}"),
        x if x >= 9.995 => format!("{x:.1}"),
        x if x >= 0.9995 || x == 0.0 => format!("{x:.2}"),
        _ => format!("{x:.3}"),
    }
}

/// A number from 1 up with three digits, and its SI prefix.
fn scaled(x: f64) -> (String, &'static str) {
    let mut x = x;
    for prefix in PREFIXES {
        if x < 999.5 {
            return (three(x), prefix);
        }
        x /= 1000.0;
    }
    (format!("{:.0}", x * 1000.0), PREFIXES[5])
}

/// `12.3 Mflop`, `41.0 kB`; whole numbers below 1000 stay whole.
pub fn si(x: f64, unit: &str) -> String {
    if x < 999.5 && x.fract() == 0.0 {
        return format!("{x:.0} {unit}");
    }
    let (number, prefix) = scaled(x);
    format!("{number} {prefix}{unit}")
}

/// A count in full: `1234`, `12 345`, `1 234 567`.
pub fn count(n: impl TryInto<u64>) -> String {
    let digits = n.try_into().unwrap_or(u64::MAX).to_string();
    if digits.len() <= 4 {
        return digits;
    }
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

/// A wall time with three digits: `12.3 µs`, `4.56 ms`, `7.89 s `, `2 min 05 s`; units of two columns, for tables.
pub fn time(t: Duration) -> String {
    let s = t.as_secs_f64();
    match s {
        s if s >= 119.5 => {
            let s = s.round() as u64;
            format!("{} min {:02} s", s / 60, s % 60)
        }
        s if s >= 0.9995 => format!("{} s ", three(s)),
        s if s >= 0.999_5e-3 => format!("{} ms", three(1e3 * s)),
        s if s >= 0.999_5e-6 => format!("{} µs", three(1e6 * s)),
        s => format!("{:.0} ns", 1e9 * s),
    }
}

/// A part of a whole: `<0.1 %`, `3.4 %`, `56 %`.
pub fn percent(part: f64) -> String {
    match 100.0 * part {
        0.0 => "0 %".to_owned(),
        p if p < 0.1 => "<0.1 %".to_owned(),
        p if p < 9.95 => format!("{p:.1} %"),
        p => format!("{p:.0} %"),
    }
}

/// A norm: `0`, `12.34`, `1.234e-7`; whole numbers as they are.
pub fn norm(x: f64) -> String {
    if !x.is_finite() || (x.fract() == 0.0 && x.abs() < 1e6) {
        format!("{x}")
    } else if (0.01..9999.5).contains(&x.abs()) {
        let digits = (3 - x.abs().log10().floor() as i32).clamp(0, 5);
        format!("{x:.*}", digits as usize)
    } else {
        format!("{x:.3e}")
    }
}

/// `1 front`, `2 fronts`.
pub fn plural(n: usize, one: &str, many: &str) -> String {
    format!("{} {}", count(n), if n == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_and_a_prefix() {
        let cases = [
            (0.0, "0 flop"),
            (7.0, "7 flop"),
            (999.0, "999 flop"),
            (1000.0, "1.00 kflop"),
            (12345.0, "12.3 kflop"),
            (999_499.0, "999 kflop"),
            (999_500.0, "1.00 Mflop"),
            (9.995e9, "10.0 Gflop"),
            (2.5e12, "2.50 Tflop"),
        ];
        for (x, text) in cases {
            assert_eq!(si(x, "flop"), text);
        }
    }

    #[test]
    fn counts_times_and_parts() {
        assert_eq!(count(1234_usize), "1234");
        assert_eq!(count(1_234_567_u64), "1 234 567");
        assert_eq!(time(Duration::from_nanos(941)), "941 ns");
        assert_eq!(time(Duration::from_micros(4560)), "4.56 ms");
        assert_eq!(time(Duration::from_secs(125)), "2 min 05 s");
        assert_eq!(time(Duration::from_millis(7890)), "7.89 s ");
        assert_eq!(percent(0.0001), "<0.1 %");
        assert_eq!(percent(0.034), "3.4 %");
        assert_eq!(percent(0.56), "56 %");
    }

    #[test]
    fn norms_have_four_digits() {
        assert_eq!(norm(0.0), "0");
        assert_eq!(norm(12.3456), "12.35");
        assert_eq!(norm(1.5e-16), "1.500e-16");
    }
}
