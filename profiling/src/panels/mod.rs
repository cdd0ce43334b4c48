//! Pictures of a trace, made without a browser.
//!
//! Takes a [`Trace`]; gives a [`Scene`], and that as SVG or PNG. A panel is a file here and a line in [`PANELS`].
//!
//! | file | subject |
//! | --- | --- |
//! | `memory`, `ready`, `submitted`, `gflops`, `depth`, `nodes`, `active`, `transfers`, `counters` | curves over time, one panel each |
//! | `states`, `stalls`, `switches`, `phases` | spans on rows, one panel each |
//! | `histogram`, `classes` | counts in bins, one panel each |
//! | `gantt`, `tree`, `durations`, `residuals`, `shape` | pictures of their own, one panel each |
//! | `chart`, `spans`, `bars` | what panels of curves, spans and counts say, and their pictures |
//! | `subject` | a trace that was found fit to be drawn, and the span of time that is |
//! | `frame`, `axis`, `facets`, `scatter` | title, legend, axes and their ticks; small plots beside each other; tasks as dots |
//! | `lod`, `steps` | never more shapes than pixels |
//! | `grid` | a run in columns, for terminals |
//! | `scene` | shapes on a page |
//! | `svg`, `png`, `font` | what a page becomes |
//!
//! ```
//! use treeqr_profiling::panels::{PANELS, PanelOptions};
//! # use treeqr_profiling::trace::{Manifest, Tables, Trace, TraceKind, schema::Phase};
//! # let trace = Trace { manifest: Manifest::new(TraceKind::Measured, "example".into()), tables: Tables::default() };
//! for panel in PANELS {
//!     // This trace has no task: nothing can be drawn of it.
//!     assert!(panel.draw(&trace, &PanelOptions::default()).is_err());
//! }
//! ```

mod active;
pub(crate) mod axis;
pub(crate) mod bars;
pub(crate) mod chart;
mod classes;
mod counters;
mod depth;
mod durations;
mod facets;
mod font;
mod frame;
mod gantt;
mod gflops;
pub mod grid;
mod histogram;
pub(crate) mod lod;
mod memory;
mod nodes;
mod phases;
mod png;
mod ready;
mod residuals;
mod scatter;
pub mod scene;
pub(crate) mod shape;
pub(crate) mod spans;
mod stalls;
mod states;
mod steps;
pub(crate) mod subject;
mod submitted;
mod svg;
mod switches;
mod transfers;
pub(crate) mod tree;

pub use png::png;
pub use svg::svg;

use crate::part::{self, PartError};
use crate::trace::Trace;
use bars::Bars;
use chart::Chart;
use scene::Scene;
use spans::Rows;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use subject::Subject;

/// The panels: those of the command, of the tests and of docs/panels.md.
pub static PANELS: &[PanelEntry] = &[
    gantt::ENTRY,
    states::ENTRY,
    tree::ENTRY,
    nodes::ENTRY,
    depth::ENTRY,
    active::ENTRY,
    memory::ENTRY,
    ready::ENTRY,
    submitted::ENTRY,
    stalls::ENTRY,
    gflops::ENTRY,
    transfers::ENTRY,
    durations::ENTRY,
    residuals::ENTRY,
    histogram::ENTRY,
    classes::ENTRY,
    shape::ENTRY,
    switches::ENTRY,
    counters::ENTRY,
    phases::ENTRY,
];

/// One kind of picture.
#[derive(Clone, Copy, Debug)]
pub struct PanelEntry {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it shows, in a sentence.
    pub about: &'static str,
    pub(crate) drawing: Drawing,
}

/// What a panel is made of, for those who show it in another way than as a picture.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Drawing {
    /// Curves over time.
    Chart(fn(&Subject<'_>) -> Chart),
    /// Spans on rows.
    Rows(fn(&Subject<'_>) -> Rows),
    /// Counts in bins.
    Bars(fn(&Subject<'_>) -> Bars),
    /// A picture of its own.
    Own(fn(&Subject<'_>, &PanelOptions) -> Scene),
}

/// What can be chosen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PanelOptions {
    /// Width and height in page units (CSS pixels); by the panel and the run where not given.
    pub size: Option<(u32, u32)>,
    /// From this time on, in nanoseconds since the beginning of the run.
    pub from_ns: Option<u64>,
    /// Up to this time.
    pub to_ns: Option<u64>,
    /// Tasks to show in full colour, the others pale. All in full colour where empty.
    pub marked: BTreeSet<u32>,
    /// Length of the steps of time in which loads and speeds are means; as short as can be seen where not given.
    pub step_ns: Option<u64>,
    /// Loads of tree nodes as 0, 50 or 100 % of all workers, instead of as they are.
    pub load_classes: bool,
}

impl PanelOptions {
    /// Windows of time across `width` units of the page: some units wide, or as long as the user has said, and never narrower than
    /// a unit.
    fn windows(&self, subject: &Subject<'_>, width: f64) -> usize {
        let count = match self.step_ns {
            Some(step) => ((subject.to - subject.from) / step.max(1) as f64).ceil(),
            None => width / 4.0,
        };
        count.clamp(1.0, width.max(1.0)) as usize
    }
}

/// Width of a page, if nobody says another.
const WIDTH: u32 = 1200;
/// Sides of a page in units.
pub const SIDES: std::ops::RangeInclusive<u32> = 320..=20_000;

/// A picture that was not made or not written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PanelError {
    /// The trace has no task with a time.
    #[error("the trace has no tasks that were run: there is nothing to draw")]
    NeedsTimes,
    /// A row says what cannot be.
    #[error("{table}, row {row}: {message}; `treeqr trace check` says more")]
    Malformed {
        /// The table.
        table: &'static str,
        /// Its row, from 1.
        row: usize,
        /// What is wrong.
        message: String,
    },
    /// The span has no length.
    #[error("from {from_ns} ns to {to_ns} ns there is no time: the run takes {run_ns} ns")]
    NoSpan {
        /// From.
        from_ns: u64,
        /// To.
        to_ns: u64,
        /// What there is.
        run_ns: u64,
    },
    /// The page is too small or too large.
    #[error("a page of {width} x {height} cannot be drawn: sides are from {} to {}", SIDES.start(), SIDES.end())]
    Page {
        /// Its width.
        width: u32,
        /// Its height.
        height: u32,
    },
    /// The picture would have too many pixels.
    #[error("a picture of {width} x {height} pixels is too large")]
    TooLarge {
        /// Its width.
        width: f64,
        /// Its height.
        height: f64,
    },
    /// The target exists.
    #[error("{path} exists already", path = path.display())]
    Exists {
        /// The target.
        path: PathBuf,
    },
    /// A file cannot be written.
    #[error("{path}: {source}", path = path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl From<PartError> for PanelError {
    fn from(error: PartError) -> Self {
        match error {
            PartError::Exists { path } => PanelError::Exists { path },
            PartError::Io { path, source } => PanelError::Io { path, source },
        }
    }
}

impl PanelEntry {
    /// The panel of that name.
    pub fn named(name: &str) -> Option<&'static PanelEntry> {
        PANELS.iter().find(|entry| entry.name == name)
    }

    /// Draws `trace`. O(rows log rows); the shapes are bounded by the size of the page, not by the rows.
    ///
    /// # Errors
    /// [`PanelError`]: nothing to draw, a trace that says what cannot be, or a page that cannot be.
    pub fn draw(&self, trace: &Trace, options: &PanelOptions) -> Result<Scene, PanelError> {
        if let Some((width, height)) = options.size
            && !(SIDES.contains(&width) && SIDES.contains(&height))
        {
            return Err(PanelError::Page { width, height });
        }
        let subject = Subject::new(trace, options)?;
        Ok(match self.drawing {
            Drawing::Chart(of) => chart::paint(&of(&subject), &subject, options),
            Drawing::Rows(of) => spans::paint(&of(&subject), &subject, options),
            Drawing::Bars(of) => bars::paint(&of(&subject), &subject, options),
            Drawing::Own(paint) => paint(&subject, options),
        })
    }
}

/// Writes a picture as the file `path`: complete or absent.
///
/// # Errors
/// [`PanelError::Exists`], unless `replace`, and [`PanelError::Io`]; the target is then as it was.
pub fn write(path: &Path, bytes: &[u8], replace: bool) -> Result<(), PanelError> {
    Ok(part::write_file(path, bytes, replace)?)
}

/// Fails, before any work, where [`write()`] would. A folder is never replaced.
///
/// # Errors
/// [`PanelError::Exists`].
pub fn check_target(path: &Path, replace: bool) -> Result<(), PanelError> {
    Ok(part::check_file(path, replace)?)
}
