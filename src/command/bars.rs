//! Bars of block characters, for text in columns.

const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/// A bar for `part` of a whole (0 to 1), at most `width` columns, filled up with blanks. What is there at all can be seen.
pub fn bar(part: f64, width: usize) -> String {
    let part = part.clamp(0.0, 1.0);
    let mut eighths = (part * 8.0 * width as f64).round() as usize;
    if part > 0.0 {
        eighths = eighths.max(1);
    }
    let mut out = "█".repeat(eighths / 8);
    out.push_str(EIGHTHS[eighths % 8]);
    let used = eighths.div_ceil(8);
    out.push_str(&" ".repeat(width - used));
    out
}

/// Columns for each of several parts that add up to a whole of `width` columns; rounded so that they still do.
pub fn split<const N: usize>(parts: [f64; N], width: usize) -> [usize; N] {
    let total: f64 = parts.iter().sum();
    let mut out = [0; N];
    if total <= 0.0 {
        return out;
    }
    let (mut sum, mut used) = (0.0, 0);
    for (columns, part) in out.iter_mut().zip(parts) {
        sum += part;
        let end = (sum / total * width as f64).round() as usize;
        *columns = end - used;
        used = end;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_have_their_width() {
        for part in [0.0, 1e-9, 0.124, 0.5, 0.999, 1.0, 2.0] {
            assert_eq!(bar(part, 10).chars().count(), 10, "{part}");
        }
        assert_eq!(bar(0.5, 4), "██  ");
        assert_eq!(bar(1e-9, 4), "▏   ");
    }

    #[test]
    fn parts_add_up() {
        assert_eq!(split([1.0, 1.0, 1.0], 10).iter().sum::<usize>(), 10);
        assert_eq!(split([0.0, 0.0], 10), [0, 0]);
    }
}
