//! Columns of numbers: one unit and one number of decimals a column, and as many columns as fit a page.
//!
//! Takes cells as text; gives lines with colours. Knows nothing of what the numbers mean.

use super::super::page::FAINT;
use anstyle::Style;

/// How the numbers of a column are written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    pub unit: &'static str,
    /// How many of the unit are in one of the base unit.
    factor: f64,
    decimals: usize,
}

pub const TIMES: [(&str, f64); 3] = [("s", 1.0), ("ms", 1e3), ("µs", 1e6)];
pub const SPEEDS: [(&str, f64); 1] = [("", 1.0)];
pub const SIZES: [(&str, f64); 4] = [("GB", 1e-9), ("MB", 1e-6), ("kB", 1e-3), ("B", 1.0)];

impl Scale {
    /// The first unit in which the smallest value is at least 1, and three digits of it.
    pub fn of(units: &[(&'static str, f64)], values: impl Iterator<Item = f64>) -> Self {
        let smallest = values.fold(f64::INFINITY, f64::min);
        let fits = units.iter().find(|u| smallest * u.1 >= 1.0);
        let &(unit, factor) = fits.unwrap_or(&units[units.len() - 1]);
        let decimals = match smallest * factor {
            x if x >= 99.5 => 0,
            x if x >= 9.95 => 1,
            _ => 2,
        };
        Scale {
            unit,
            factor,
            decimals,
        }
    }

    pub fn text(&self, value: f64) -> String {
        format!("{:.*}", self.decimals, value * self.factor)
    }
}

/// A column: a cell for every line, set to the right.
pub struct Column {
    head: &'static str,
    unit: &'static str,
    cells: Vec<String>,
    look: Look,
    /// The higher, the earlier it is left out where the page is too narrow; 0 for never.
    spare: u8,
}

/// How cells are drawn.
#[derive(Clone, Copy, PartialEq)]
pub enum Look {
    Plain,
    /// As the line says.
    OfTheLine,
    Bold,
}

impl Column {
    /// A plain column that is never left out.
    pub fn new(head: &'static str, unit: &'static str, cells: Vec<String>) -> Self {
        Column {
            head,
            unit,
            cells,
            look: Look::Plain,
            spare: 0,
        }
    }

    pub fn look(self, look: Look) -> Self {
        Column { look, ..self }
    }

    pub fn spare(self, spare: u8) -> Self {
        Column { spare, ..self }
    }

    fn width(&self) -> usize {
        let cells = self.cells.iter().map(|cell| cell.chars().count());
        let heads = [self.head, self.unit].map(|text| text.chars().count());
        cells.chain(heads).max().unwrap_or(0)
    }
}

/// Between two columns.
const GAP: usize = 2;

/// Columns after a label.
pub struct Columns {
    label: usize,
    columns: Vec<Column>,
}

impl Columns {
    /// As many of `columns` as fit into `page` characters beside a label of so many.
    pub fn fitting(page: usize, label: usize, mut columns: Vec<Column>) -> Self {
        let width = |columns: &[Column]| {
            let all = columns.iter().map(|column| GAP + column.width());
            label + all.sum::<usize>()
        };
        while width(&columns) > page
            && let Some(spare) = columns.iter().map(|c| c.spare).max().filter(|&s| s > 0)
        {
            columns.retain(|column| column.spare != spare);
        }
        Columns { label, columns }
    }

    /// The lines above: names, units.
    pub fn heads(&self) -> [String; 2] {
        let line = |text: fn(&Column) -> &'static str| {
            let cells = self.columns.iter();
            let cells: String = cells
                .map(|c| format!("{:GAP$}{:>w$}", "", text(c), w = c.width()))
                .collect();
            let line = format!("{:1$}{cells}", "", self.label);
            format!("{FAINT}{}{FAINT:#}", line.trim_end())
        };
        [line(|c| c.head), line(|c| c.unit)]
    }

    /// Line number `number`, after a label that is not longer than was said; both in `style`.
    pub fn line(&self, number: usize, label: &str, style: Style) -> String {
        let mut line = format!("{style}{label:<w$}{style:#}", w = self.label);
        for column in &self.columns {
            let cell = &column.cells[number];
            let style = match column.look {
                Look::Plain => Style::new(),
                Look::OfTheLine => style,
                Look::Bold => Style::new().bold(),
            };
            let space = GAP + column.width() - cell.chars().count();
            line.push_str(&format!("{:space$}{style}{cell}{style:#}", ""));
        }
        line.trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_a_unit_and_digits_that_suit_their_smallest_value() {
        let of = |units, values: &[f64]| Scale::of(units, values.iter().copied());
        assert_eq!(of(&TIMES, &[12.0, 0.5]).text(12.0), "12000");
        assert_eq!(of(&TIMES, &[12.0]).text(0.25), "0.2");
        assert_eq!(of(&TIMES, &[1e-9]).unit, "µs");
        let size = of(&SIZES, &[2.5e7, 1e9]);
        assert_eq!((size.unit, size.text(1e9).as_str()), ("MB", "1000.0"));
    }

    #[test]
    fn what_can_be_spared_goes_first_and_only_as_far_as_needed() {
        let column = |head, width: usize, spare| {
            Column::new(head, "ms", vec!["7".repeat(width)]).spare(spare)
        };
        let heads = |width: usize| {
            let all = vec![
                column("a", width, 0),
                column("b", 40, 1),
                column("c", 20, 2),
            ];
            let [heads, units] = Columns::fitting(100, 10, all).heads();
            assert_eq!(
                units.matches("ms").count(),
                heads.matches(['a', 'b', 'c']).count()
            );
            ["a", "b", "c"].map(|head| heads.contains(&format!("  {head}")))
        };
        // 10 + 2 + 24 + 2 + 40 + 2 + 20 = 100.
        assert_eq!(heads(24), [true, true, true]);
        assert_eq!(heads(25), [true, true, false]);
        assert_eq!(heads(60), [true, false, false]);
        assert_eq!(heads(200), [true, false, false]);
    }

    #[test]
    fn lines_are_set_to_the_right_under_their_heads() {
        let column = Column::new("median", "s", vec!["1.5".to_owned()]);
        let columns = Columns::fitting(100, 6, vec![column]);
        let plain = |text: &str| anstream::adapter::strip_str(text).to_string();
        assert_eq!(plain(&columns.heads()[0]), "        median");
        assert_eq!(
            plain(&columns.line(0, "lws", Style::new())),
            "lws        1.5"
        );
    }
}
