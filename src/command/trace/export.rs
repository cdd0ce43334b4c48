//! `treeqr trace export`: a trace in the format of another tool. The formats come from their table.

use super::super::failure::Failure;
use super::super::page::{self, Page};
use super::args::ExportArgs;
use super::failure;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use treeqr::profiling::export::{EXPORTS, ExportEntry, ExportError, ExportOptions, Form};
use treeqr::profiling::trace::Trace;

/// Writes it.
pub fn run(args: &ExportArgs) -> Result<(), Failure> {
    let (Some(trace), Some(export)) = (&args.trace, args.to) else {
        return list();
    };
    let options = ExportOptions {
        dependencies: args.dependencies.into(),
        what: args.what.into(),
        node: args.node,
        task_limit: args.task_limit,
        overwrite: args.force,
    };
    if args.output.as_deref() == Some(Path::new("-")) {
        if let Form::Folder(_) = export.form {
            return Err(refused(ExportError::NeedsFolder {
                export: export.name,
            }));
        }
        let trace = Trace::open(trace).map_err(failure)?;
        let mut out = io::stdout().lock();
        let written = export.write_to(&trace, &mut out, &options);
        return match written {
            Err(ExportError::Stream(error)) => page::quietly(|| Err(error)),
            Err(error) => Err(refused(error)),
            Ok(()) => page::quietly(|| out.flush()),
        };
    }
    let output = args.output.clone().unwrap_or_else(|| beside(trace, export));
    export.check_target(&output, args.force).map_err(refused)?;
    let trace = Trace::open(trace).map_err(failure)?;
    export.write(&trace, &output, &options).map_err(refused)?;
    let mut page = Page::default();
    page.title("Written", &output.display().to_string());
    page.gap();
    page.prose(export.name, export.about);
    page::print(&page.text())
}

/// The trace's name with the ending of the export.
fn beside(trace: &Path, export: &ExportEntry) -> PathBuf {
    let ending = match export.form {
        Form::File(_) => export.ending,
        Form::Folder(_) => export.name,
    };
    let mut name = trace.file_name().unwrap_or_default().to_owned();
    name.push(".");
    name.push(ending);
    trace.with_file_name(name)
}

fn list() -> Result<(), Failure> {
    let mut page = Page::default();
    for export in EXPORTS {
        page.prose(export.name, export.about);
    }
    page::print(&page.text())
}

fn refused(error: ExportError) -> Failure {
    let plain = Failure::input(&error);
    match error {
        ExportError::Exists { .. } => plain.hint("--force replaces an earlier export"),
        ExportError::NeedsFolder { .. } => plain.hint("name a folder with -o"),
        ExportError::TooManyTasks { .. } => plain.hint("--node N, --task-limit N, or --what tree"),
        _ => plain,
    }
}
