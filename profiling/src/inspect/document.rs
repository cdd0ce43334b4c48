//! The reference of the tables as text: Markdown for people, SQL for databases. Made from the schema, so that it is true.

use super::facets::Facets;
use super::source::{Known, KnownVisitor, visit};
use crate::trace::Column;
use std::convert::Infallible;
use std::fmt::Write;

/// Every table with its columns, types, units and words, in Markdown.
pub fn tables_document() -> String {
    let mut document = Markdown(String::new());
    visit(&mut document).unwrap_or_else(|never: Infallible| match never {});
    document.0
}

/// Every table, empty, as SQL that DuckDB understands: for those that a trace has no file of.
pub fn sql_document() -> String {
    let mut document = Sql(String::new());
    visit(&mut document).unwrap_or_else(|never: Infallible| match never {});
    document.0
}

struct Markdown(String);

impl KnownVisitor for Markdown {
    type Error = Infallible;

    fn table<T: Known + Facets>(&mut self) -> Result<(), Infallible> {
        let out = &mut self.0;
        let text = "strings take every line";
        writeln!(out, "\n### {}\n\n{}\n", T::NAME, T::ABOUT.trim()).expect(text);
        out.push_str("| column | type | unit | |\n| --- | --- | --- | --- |\n");
        for column in T::COLUMNS {
            let kind = match column.nullable {
                true => format!("{}, or nothing", column.kind),
                false => column.kind.to_owned(),
            };
            let (name, unit, about) = (column.name, unit(column), column.about.trim());
            let about = about.replace("[`Task`]", "`tasks`").replace('|', "\\|");
            writeln!(out, "| `{name}` | {kind} | {unit} | {about} |").expect(text);
        }
        for column in T::COLUMNS.iter().filter(|c| !c.words.is_empty()) {
            writeln!(out, "\n`{}` is one of\n", column.name).expect(text);
            for (word, about) in column.words {
                writeln!(out, "* `{word}`: {}", about.trim()).expect(text);
            }
        }
        Ok(())
    }
}

fn unit(column: &Column) -> &'static str {
    match column.name {
        name if name.ends_with("_ns") => "ns",
        name if name.ends_with("bytes") => "B",
        "flops" => "flop",
        _ => "",
    }
}

struct Sql(String);

impl KnownVisitor for Sql {
    type Error = Infallible;

    fn table<T: Known + Facets>(&mut self) -> Result<(), Infallible> {
        let columns = T::COLUMNS.iter().map(|column| {
            let kind = match column.kind {
                "uint16" => "USMALLINT",
                "uint32" => "UINTEGER",
                "uint64" => "UBIGINT",
                "int64" => "BIGINT",
                "double" => "DOUBLE",
                "bool" => "BOOLEAN",
                _ => "VARCHAR",
            };
            format!("\"{}\" {kind}", column.name)
        });
        let columns = columns.collect::<Vec<_>>().join(", ");
        writeln!(self.0, "CREATE TABLE {} ({columns});", T::NAME).expect("strings take every line");
        Ok(())
    }
}
