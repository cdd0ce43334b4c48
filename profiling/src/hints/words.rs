//! Numbers as hints tell them.

pub(super) use crate::panels::axis::{percent, si, time};

/// `1 task`, `2 tasks`.
pub(super) fn plural(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// `a`, `a and b`, `a, b and c`.
pub(super) fn list(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// `1.8 times`.
pub(super) fn times(factor: f64) -> String {
    match factor {
        x if x >= 9.95 => format!("{x:.0} times"),
        x => format!("{x:.1} times"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_put_together() {
        let words = ["a", "b", "c"].map(str::to_owned);
        assert_eq!(list(&words), "a, b and c");
        assert_eq!(list(&words[..2]), "a and b");
        assert_eq!((list(&[]), list(&words[..1])), (String::new(), "a".into()));
        assert_eq!(
            (times(1.84), times(12.3)),
            ("1.8 times".into(), "12 times".into())
        );
        assert_eq!(plural(1, "task", "tasks"), "1 task");
    }
}
