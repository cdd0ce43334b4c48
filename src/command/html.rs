//! The report as a page: where it goes, and whether a browser shows it.
//!
//! Takes traces and a file's name; writes the page, complete or not at all. The page is made in `profiling/src/report/`.

use super::failure::Failure;
use super::page::{Page, WARN};
use super::units::si;
use clap::Args;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use treeqr::profiling::report::{self, Options, ReportError};
use treeqr::profiling::trace::Trace;

/// Where the page goes.
#[derive(Args)]
pub struct HtmlArgs {
    /// Write a page for a browser: one file that needs nothing else
    #[arg(long, short, value_name = "FILE.html")]
    pub output: Option<PathBuf>,
    /// Show the page in the desktop's browser; without --output it is a temporary file
    #[arg(long)]
    pub open: bool,
    /// Replace the page that is there
    #[arg(long, requires = "output")]
    pub force: bool,
}

/// What shows files on this system.
const OPENER: &str = match cfg!(target_os = "macos") {
    true => "open",
    false => "xdg-open",
};
/// An opener that has not failed after so long has a browser.
const PATIENCE: Duration = Duration::from_secs(2);

impl HtmlArgs {
    /// The page that is to be written, if one is: fails, before any work, where it could not be.
    pub fn target(&self) -> Result<Option<PathBuf>, Failure> {
        match (&self.output, self.open) {
            (Some(path), _) => {
                check(path, self.force)?;
                Ok(Some(path.clone()))
            }
            (None, true) => {
                let name = format!("treeqr-report-{}.html", std::process::id());
                Ok(Some(std::env::temp_dir().join(name)))
            }
            (None, false) => Ok(None),
        }
    }

    /// Writes it, shows it where that is asked for, and tells.
    pub fn write(
        &self,
        traces: &[&Trace],
        names: &[PathBuf],
        path: &Path,
        page: &mut Page,
    ) -> Result<(), Failure> {
        // A temporary file of an earlier process of the same number may go.
        let force = self.force || self.output.is_none();
        let bytes = write(traces, folder_names(names), path, force)?;
        page.title("Written", &path.display().to_string());
        page.row("Size", &si(bytes as f64, "B"));
        if self.open {
            match open(path) {
                Ok(()) => page.row("Shown", &format!("by {OPENER}")),
                Err(why) => page.row(
                    "Not shown",
                    &format!("{WARN}{why}{WARN:#}: open the file in a browser"),
                ),
            }
        }
        Ok(())
    }
}

/// Fails where [`write`] would because of what is there.
pub fn check(path: &Path, force: bool) -> Result<(), Failure> {
    report::check_target(path, force).map_err(failure)
}

/// Writes the page, and returns its size.
pub fn write(
    traces: &[&Trace],
    names: Vec<String>,
    path: &Path,
    force: bool,
) -> Result<usize, Failure> {
    let text = report::page(traces, &Options { names }).map_err(failure)?;
    report::write(path, &text, force).map_err(failure)?;
    Ok(text.len())
}

/// What two traces are told apart by: the names of their folders, if these differ.
fn folder_names(paths: &[PathBuf]) -> Vec<String> {
    let name = |path: &PathBuf| Some(path.file_name()?.to_string_lossy().into_owned());
    match paths.iter().map(name).collect::<Option<Vec<_>>>() {
        Some(names) if names.len() == 2 && names[0] != names[1] => names,
        _ => Vec::new(),
    }
}

fn failure(error: ReportError) -> Failure {
    let plain = Failure::input(&error);
    match error {
        ReportError::Exists { path } if path.is_dir() => plain.hint("-o names the page, a file"),
        ReportError::Exists { .. } => plain.hint("--force replaces a page"),
        _ => plain,
    }
}

/// Asks the desktop to show a file.
fn open(path: &Path) -> Result<(), String> {
    let child = Command::new(OPENER)
        .arg(path)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    match child {
        Ok(child) => watch(child),
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            Err(format!("there is no {OPENER} on this machine"))
        }
        Err(e) => Err(format!("{OPENER}: {e}")),
    }
}

/// Some openers end at once, some with the browser.
fn watch(mut child: Child) -> Result<(), String> {
    let begin = Instant::now();
    while begin.elapsed() < PATIENCE {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(_)) => return Err(format!("{OPENER} found no browser")),
            Ok(None) => sleep(Duration::from_millis(20)),
            Err(e) => return Err(format!("{OPENER}: {e}")),
        }
    }
    Ok(())
}
