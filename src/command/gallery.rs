//! `treeqr gallery`: the families, or one matrix as a file.

use super::cli::GalleryArgs;
use super::failure::Failure;
use super::page::{self, FAINT, NAME, Page};
use super::{stop, units};
use std::io::{self, BufWriter};
use treeqr::matrices::gallery::FAMILIES;
use treeqr::matrices::{LoadError, Output, Source, write_dense_to, write_sparse_to};
use treeqr::{Csc, Dense};

/// Lists the families, or writes what the name stands for.
pub fn run(args: &GalleryArgs) -> Result<(), Failure> {
    let Some(name) = &args.name else {
        return page::print(&list());
    };
    stop::watch();
    let output = stop::output(args.output.as_ref())?;
    let name = name.strip_prefix("gallery:").unwrap_or(name);
    let source = Source::from(format!("gallery:{name}").as_str());
    match source.matrix() {
        Ok(made) => {
            let about = made.description.unwrap_or_default();
            write(Made::Sparse(made.matrix), name, about, output)
        }
        Err(LoadError::NotAMatrix { .. }) => write(Made::Dense(source.dense()?), name, "", output),
        Err(e) => Err(e.into()),
    }
}

enum Made {
    Sparse(Csc<f64>),
    Dense(Dense<f64>),
}

fn write(made: Made, name: &str, about: &str, output: Option<Output>) -> Result<(), Failure> {
    let comment = format!("treeqr gallery {name}\n{about}");
    let comment = comment.trim_end();
    let Some(output) = output else {
        return page::quietly(|| {
            let out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
            match &made {
                Made::Sparse(a) => write_sparse_to(out, a, comment),
                Made::Dense(b) => write_dense_to(out, b, comment),
            }
        });
    };
    let path = output.path().display().to_string();
    let (rows, cols, entries) = match &made {
        Made::Sparse(a) => (a.nrows(), a.ncols(), a.nnz()),
        Made::Dense(b) => (b.nrows(), b.ncols(), b.values().len()),
    };
    match made {
        Made::Sparse(a) => output.write_sparse(&a, comment)?,
        Made::Dense(b) => output.write_dense(&b, comment)?,
    }
    page::print(&format!(
        "{path}: {name}, {} x {}, {}\n",
        units::count(rows),
        units::count(cols),
        units::plural(entries, "entry", "entries"),
    ))
}

/// All families with their forms, a sentence, and an example.
fn list() -> String {
    let mut page = Page::default();
    page.plain("Matrices that are made from a name. Wherever a file goes, gallery:NAME can stand.");
    for family in FAMILIES {
        page.gap();
        let (form, example) = (family.form, family.example);
        let seed = if family.random {
            ", @SEED draws anew"
        } else {
            ""
        };
        page.plain(&format!(
            "{NAME}{form}{NAME:#}   {FAINT}as {example}{FAINT:#}"
        ));
        page.indented(family.about);
        page.indented(&format!("{}{seed}", family.parameters));
    }
    page.text()
}
