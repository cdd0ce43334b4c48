//! Values of the flags that bound a run: sizes of memory, and lists of bounds to be compared.

use std::num::NonZeroUsize;
use treeqr::solver::MemoryLimit;

/// A bound of a run in a list of them to be compared: `none`, or a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound<T> {
    /// As it was written.
    pub text: String,
    pub value: Option<T>,
}

/// No bound.
const NONE: &str = "none";

impl<T> Bound<T> {
    fn parse(
        text: &str,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<Bound<T>, String> {
        let value = if text == NONE {
            None
        } else {
            Some(parse(text).map_err(|e| format!("{e}; or {NONE}"))?)
        };
        let text = text.to_owned();
        Ok(Bound { text, value })
    }
}

/// A [`memory_limit`], with its text.
pub fn memory_bound(text: &str) -> Result<Bound<MemoryLimit>, String> {
    Ok(Bound {
        value: Some(memory_limit(text)?),
        text: text.to_owned(),
    })
}

/// `none`, or a number from 1 up.
pub fn count_bound(text: &str) -> Result<Bound<NonZeroUsize>, String> {
    let parse = |text: &str| text.parse().map_err(|_| "a number from 1 up".to_owned());
    Bound::parse(text, parse)
}

/// `auto`, `none`, `2GiB`, `800MB`, `1048576`, or `1.2x`: so many times the peak of a sequential run.
pub fn memory_limit(text: &str) -> Result<MemoryLimit, String> {
    const FORMS: &str = "as auto, none, 2GiB, 800MB, 1048576 or 1.2x";
    match text {
        "auto" => return Ok(MemoryLimit::Auto),
        NONE => return Ok(MemoryLimit::Unlimited),
        _ => {}
    }
    let split = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let value: f64 = number
        .parse()
        .map_err(|_| format!("no number in it; write it {FORMS}"))?;
    let scale = match unit.trim() {
        "x" => {
            // Anything below 1 is too little, and is told so with the smallest limit in bytes.
            return Ok(MemoryLimit::Relative(value));
        }
        "" | "B" => 1.0,
        "kB" | "KB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        "TB" => 1e12,
        "KiB" => 1024.0,
        "MiB" => 1024.0 * 1024.0,
        "GiB" => 1024.0 * 1024.0 * 1024.0,
        "TiB" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        unit => return Err(format!("no unit `{unit}`; write it {FORMS}")),
    };
    Ok(MemoryLimit::Bytes((value * scale) as u64))
}

/// A [`memory_limit`] in bytes.
pub fn memory_size(text: &str) -> Result<u64, String> {
    match memory_limit(text)? {
        MemoryLimit::Bytes(bytes) => Ok(bytes),
        _ => Err("a size, as 2GiB or 800MB".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_in_all_units() {
        for (text, bytes) in [
            ("2GiB", 1 << 31),
            ("1.5kB", 1500),
            ("12", 12),
            ("3 MiB", 3 << 20),
        ] {
            assert_eq!(memory_limit(text), Ok(MemoryLimit::Bytes(bytes)), "{text}");
        }
        for (text, limit) in [
            ("1.2x", MemoryLimit::Relative(1.2)),
            ("auto", MemoryLimit::Auto),
            ("none", MemoryLimit::Unlimited),
        ] {
            assert_eq!(memory_limit(text), Ok(limit));
            assert_eq!(limit.to_string(), text);
        }
        for text in ["", "x", "GiB", "2 apples", "1.2.3", "-1"] {
            assert!(memory_limit(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_bound_may_be_none() {
        assert_eq!(count_bound("none").map(|b| b.value), Ok(None));
        let limit = memory_bound("1x").expect("valid");
        assert_eq!(limit.value, Some(MemoryLimit::Relative(1.0)));
        assert_eq!(limit.text, "1x");
        assert_eq!(count_bound("3").map(|b| b.value), Ok(NonZeroUsize::new(3)));
        for text in ["0", "-1", "1.5", "None", ""] {
            assert!(count_bound(text).is_err(), "{text}");
        }
    }
}
