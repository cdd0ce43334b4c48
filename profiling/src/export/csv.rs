//! CSV: every table with rows as a file, as RFC 4180 says: a header with the columns' names, lines that end in CR LF, and
//! quotes around cells that hold a comma, a quote or the end of a line. Empty cells are those where nothing is known.

use super::{ExportEntry, ExportError, ExportOptions, Form};
use crate::trace::{Cell, Table, TableVisitor, Trace};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

pub(super) const ENTRY: ExportEntry = ExportEntry {
    name: "csv",
    about: "Every table as text with commas (RFC 4180), for spreadsheets and scripts",
    ending: "csv",
    form: Form::Folder(write),
};

fn write(trace: &Trace, _: &ExportOptions, folder: &Path) -> Result<(), ExportError> {
    let mut files = Files {
        folder,
        done: Ok(()),
    };
    trace.tables.visit(&mut files);
    files.done
}

struct Files<'a> {
    folder: &'a Path,
    done: Result<(), ExportError>,
}

impl TableVisitor for Files<'_> {
    fn table<T: Table>(&mut self, rows: &[T]) {
        if rows.is_empty() || self.done.is_err() {
            return;
        }
        let path = self.folder.join(format!("{}.csv", T::NAME));
        self.done = File::create_new(&path)
            .and_then(|file| table(rows, &mut BufWriter::with_capacity(1 << 18, file)))
            .map_err(ExportError::io(path));
    }
}

fn table<T: Table>(rows: &[T], out: &mut impl Write) -> io::Result<()> {
    for (k, column) in T::COLUMNS.iter().enumerate() {
        out.write_all(if k > 0 { b"," } else { b"" })?;
        out.write_all(column.name.as_bytes())?;
    }
    out.write_all(b"\r\n")?;
    for row in rows {
        for (k, value) in row.cells().iter().enumerate() {
            out.write_all(if k > 0 { b"," } else { b"" })?;
            match value {
                Cell::Text(text) if text.contains([',', '"', '\r', '\n']) => {
                    write!(out, "\"{}\"", text.replace('"', "\"\""))?;
                }
                value => write!(out, "{value}")?,
            }
        }
        out.write_all(b"\r\n")?;
    }
    out.flush()
}
