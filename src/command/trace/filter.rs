//! `treeqr trace filter`: a part of a trace, printed or written.

use super::super::failure::Failure;
use super::super::page::{self, Page, TITLE};
use super::super::units::{count, si};
use super::args::FilterArgs;
use super::rows::{Csv, RowsError, Text};
use super::{failure, open, overwrite};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use treeqr::profiling::inspect::{Filter, FilterError, FilteredRows, filter};
use treeqr::profiling::trace::{TraceFolder, check_target};

/// Prints or writes.
pub fn run(args: &FilterArgs) -> Result<(), Failure> {
    let wanted = Filter {
        from_ns: args.from,
        to_ns: args.to,
        workers: args.worker.iter().map(|thread| thread.0).collect(),
        codelets: args.codelet.clone(),
        nodes: args.node.clone(),
        subtree: args.subtree,
        tables: args.table.clone(),
    };
    if let Some(output) = &args.output {
        return write(args, output, &wanted);
    }
    let trace = open(&args.trace)?;
    let out = BufWriter::new(anstream::stdout().lock());
    if args.csv {
        if wanted.tables.len() != 1 {
            return Err(Failure::input("CSV has room for one table")
                .hint("choose it with --table; `treeqr trace info` lists them"));
        }
        return print(&wanted, &trace, Csv(out), |csv| csv.0.flush());
    }
    let text = Text {
        out,
        most: args.rows.get(),
        shown: 0,
    };
    print(&wanted, &trace, text, |text| {
        if text.shown == 0 {
            writeln!(text.out, "no such rows")?;
        }
        text.out.flush()
    })
}

fn print<R: FilteredRows<Error = RowsError>>(
    wanted: &Filter,
    trace: &TraceFolder,
    mut sink: R,
    end: impl FnOnce(&mut R) -> io::Result<()>,
) -> Result<(), Failure> {
    let shown = wanted.show(trace, &mut sink);
    match shown.and_then(|()| Ok(end(&mut sink)?)) {
        Ok(()) => Ok(()),
        Err(RowsError::Filter(error)) => Err(refused(error)),
        Err(RowsError::Output(error)) => page::quietly(|| Err(error)),
    }
}

fn write(args: &FilterArgs, output: &Path, wanted: &Filter) -> Result<(), Failure> {
    let overwrite = overwrite(args.force);
    check_target(output, overwrite).map_err(failure)?;
    let smaller = filter(&open(&args.trace)?, wanted).map_err(refused)?;
    let manifest = smaller.write(output, overwrite).map_err(failure)?;
    let mut page = Page::default();
    page.title("Written", &output.display().to_string());
    page.gap();
    let kept = manifest.filtered.as_deref().unwrap_or("everything");
    page.prose("Kept", kept);
    let (tasks, bytes) = (
        smaller.tables.tasks.len() + smaller.tables.graph.len(),
        manifest.tables.iter().map(|t| t.bytes).sum::<u64>(),
    );
    page.row(
        "Size",
        &format!(
            "{TITLE}{}{TITLE:#} tasks, {}",
            count(tasks),
            si(bytes as f64, "B")
        ),
    );
    page::print(&page.text())
}

fn refused(error: FilterError) -> Failure {
    match error {
        FilterError::Trace(error) => failure(error),
        other => Failure::input(other),
    }
}
