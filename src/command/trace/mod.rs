//! `treeqr trace`: what is in a trace, whether it is consistent, parts of it, and how two differ.
//!
//! | file | subject |
//! | --- | --- |
//! | `args` | subcommands, flags and help texts |
//! | `info`, `check`, `filter`, `diff`, `export`, `graph` | one subcommand each |
//! | `rows` | rows of tables as text and CSV |
//! | `parts` | parts of a whole that add up to 100 % |

pub mod args;
mod check;
pub mod diff;
mod export;
mod filter;
mod graph;
mod info;
mod parts;
mod rows;

use super::failure::Failure;
use args::TraceCommand;
use std::path::Path;
use treeqr::profiling::trace::{Overwrite, Trace, TraceError, TraceFolder};

/// Does what was asked for.
pub fn run(command: &TraceCommand) -> Result<(), Failure> {
    match command {
        TraceCommand::Info(args) => info::run(args),
        TraceCommand::Check(args) => check::run(args),
        TraceCommand::Filter(args) => filter::run(args),
        TraceCommand::Diff(args) => diff::run(args),
        TraceCommand::Export(args) => export::run(args),
        TraceCommand::Graph(args) => graph::run(args),
    }
}

/// Reads the manifest.
fn open(path: &Path) -> Result<TraceFolder, Failure> {
    TraceFolder::open(path).map_err(failure)
}

/// Reads all of it.
pub fn open_whole(path: &Path) -> Result<Trace, Failure> {
    Trace::open(path).map_err(failure)
}

/// What can be advised.
pub fn failure(error: TraceError) -> Failure {
    let plain = Failure::input(&error);
    match error {
        TraceError::NotATrace { .. } => {
            plain.hint("a trace is a folder that `treeqr solve A.mtx --trace DIR` has written")
        }
        TraceError::Damaged { .. } => plain.hint("the trace was changed or cut off: copy it again"),
        TraceError::Exists { .. } => plain.hint("--force replaces a trace"),
        _ => plain,
    }
}

fn overwrite(force: bool) -> Overwrite {
    match force {
        true => Overwrite::Trace,
        false => Overwrite::Never,
    }
}
