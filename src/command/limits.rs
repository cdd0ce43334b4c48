//! Values of the flags that bound a run: sizes of memory.

use treeqr::solver::MemoryLimit;

/// `2GiB`, `800MB`, `1048576`, or `1.2x`: so many times the peak of a sequential run.
pub fn memory_limit(text: &str) -> Result<MemoryLimit, String> {
    const FORMS: &str = "as 2GiB, 800MB, 1048576 or 1.2x";
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
        assert_eq!(memory_limit("1.2x"), Ok(MemoryLimit::Relative(1.2)));
        for text in ["", "x", "GiB", "2 apples", "1.2.3", "-1"] {
            assert!(memory_limit(text).is_err(), "{text}");
        }
    }
}
