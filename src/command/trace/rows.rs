//! Rows of tables as text: aligned for people, CSV for programs. Row by row, so that a table may be long.

use std::io::{self, Write};
use treeqr::profiling::inspect::{FilterError, FilteredRows};
use treeqr::profiling::trace::{Cell, Table};

use super::super::page::{FAINT, TITLE};
use super::super::units::count;

/// Rows that decide how wide the columns are.
const SAMPLE: usize = 1000;

/// What can keep rows from being printed.
pub enum RowsError {
    /// The filter, or the trace.
    Filter(FilterError),
    /// The output.
    Output(io::Error),
}

impl From<FilterError> for RowsError {
    fn from(error: FilterError) -> Self {
        RowsError::Filter(error)
    }
}

impl From<io::Error> for RowsError {
    fn from(error: io::Error) -> Self {
        RowsError::Output(error)
    }
}

/// Tables with rows, each with its title, at most so many rows of each.
pub struct Text<W> {
    pub out: W,
    pub most: usize,
    /// Tables that were shown.
    pub shown: usize,
}

impl<W: Write> FilteredRows for Text<W> {
    type Error = RowsError;

    fn table<T: Table>(&mut self, mut rows: &mut dyn Iterator<Item = &T>) -> Result<(), RowsError> {
        let line = |row: &T| row.cells().iter().map(Cell::to_string).collect::<Vec<_>>();
        let sample: Vec<_> = (&mut rows).take(self.most.min(SAMPLE)).map(line).collect();
        if sample.is_empty() && rows.next().is_none() {
            return Ok(());
        }
        let names = || T::COLUMNS.iter().map(|c| c.name);
        let mut widths: Vec<_> = names().map(str::len).collect();
        for cells in &sample {
            for (width, cell) in widths.iter_mut().zip(cells) {
                *width = (*width).max(cell.chars().count());
            }
        }
        if self.shown > 0 {
            writeln!(self.out)?;
        }
        self.shown += 1;
        writeln!(self.out, "{TITLE}{}{TITLE:#}", T::NAME)?;
        let out = &mut self.out;
        let mut print = |cells: &mut dyn Iterator<Item = &str>| -> io::Result<()> {
            let texts = cells
                .zip(&widths)
                .zip(T::COLUMNS)
                .map(|((cell, &width), column)| match column.kind {
                    "text" => format!("{cell:<width$}"),
                    _ => format!("{cell:>width$}"),
                });
            let line = texts.collect::<Vec<_>>().join("  ");
            writeln!(out, "{}", line.trim_end())
        };
        print(&mut names())?;
        for cells in &sample {
            print(&mut cells.iter().map(String::as_str))?;
        }
        let mut left = self.most - sample.len();
        while let Some(row) = (left > 0).then(|| rows.next()).flatten() {
            print(&mut line(row).iter().map(String::as_str))?;
            left -= 1;
        }
        match rows.count() {
            0 => {}
            more => writeln!(self.out, "{FAINT}and {} more{FAINT:#}", count(more))?,
        }
        Ok(())
    }
}

/// One table, all rows, as RFC 4180 says but with bare line feeds.
pub struct Csv<W>(pub W);

impl<W: Write> FilteredRows for Csv<W> {
    type Error = RowsError;

    fn table<T: Table>(&mut self, rows: &mut dyn Iterator<Item = &T>) -> Result<(), RowsError> {
        let names: Vec<_> = T::COLUMNS.iter().map(|c| c.name).collect();
        writeln!(self.0, "{}", names.join(","))?;
        for row in rows {
            let cells: Vec<_> = row
                .cells()
                .iter()
                .map(|cell| quoted(cell.to_string()))
                .collect();
            writeln!(self.0, "{}", cells.join(","))?;
        }
        Ok(())
    }
}

fn quoted(text: String) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}
