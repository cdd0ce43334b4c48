//! A run as a grid of columns of time: what a terminal can show of it.
//!
//! Takes a trace and a number of columns; gives, for each, what every worker did most, the memory on the host and the ready tasks.

use super::steps::{most, spans_where, spread};
use super::subject::Subject;
use super::{PanelError, PanelOptions};
use crate::account::Steps;
use crate::palette::Colour;
use crate::trace::Trace;

/// A run in columns of equal length.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// From the beginning of the run to the end of its last task.
    pub run_ns: u64,
    /// Codelets that ran, with their colours.
    pub codelets: Vec<(String, Colour)>,
    /// One a worker, by number.
    pub rows: Vec<GridRow>,
    /// The most bytes on the host in each column.
    pub memory: Vec<f64>,
    /// The most tasks in each column that could run and that no worker had taken.
    pub ready: Vec<f64>,
    /// Part of the time in which fewer tasks were ready or running than there are workers, 0 to 1.
    pub few: f64,
}

/// A worker.
#[derive(Clone, Debug, PartialEq)]
pub struct GridRow {
    /// What pictures call it.
    pub name: String,
    /// Part of the run that it was in tasks, 0 to 1.
    pub busy: f64,
    /// One a column.
    pub cells: Vec<GridCell>,
}

/// A worker in a column.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GridCell {
    /// Part of the column that it was in tasks, 0 to 1.
    pub busy: f64,
    /// The one with most of it, as a position in [`Grid::codelets`].
    pub codelet: Option<usize>,
}

impl Grid {
    /// The grid of a trace. O(tasks log tasks).
    ///
    /// # Errors
    /// [`PanelError`] as [`PanelEntry::draw`](super::PanelEntry::draw).
    pub fn of(trace: &Trace, columns: usize) -> Result<Self, PanelError> {
        let subject = Subject::new(trace, &PanelOptions::default())?;
        let columns = columns.max(1);
        let span = (subject.from, subject.to);
        let width = (span.1 - span.0) / columns as f64;
        let used = subject.used();
        let mut times = vec![vec![vec![0.0; columns]; used.len()]; subject.workers.len()];
        for piece in subject.pieces() {
            let (start, end) = subject.worked(&piece);
            let k = used.iter().position(|(c, _)| *c == piece.task.codelet);
            if let (Some(k), true) = (k, end > start) {
                let row = &mut times[subject.lane(piece.worker)][k];
                spread(row, span, (start, end), end - start);
            }
        }
        let rows = subject.workers.iter().zip(&times);
        let rows = rows.map(|(worker, times)| {
            let cell = |column: usize| {
                let busy: f64 = times.iter().map(|t| t[column]).sum();
                let codelets = 0..times.len();
                let most = codelets.max_by(|&a, &b| times[a][column].total_cmp(&times[b][column]));
                GridCell {
                    busy: (busy / width).min(1.0),
                    codelet: most.filter(|_| busy > 0.0),
                }
            };
            let cells: Vec<_> = (0..columns).map(cell).collect();
            GridRow {
                name: worker.name.clone(),
                busy: cells.iter().map(|cell| cell.busy).sum::<f64>() / columns as f64,
                cells,
            }
        });
        let ready = subject.count(|t| (t.ready_ns, t.pop_ns));
        let work = subject.count(|t| (t.ready_ns, t.end_ns));
        let workers = subject.workers.len() as f64;
        let few = spans_where(&work, span, |n| n < workers);
        let few: f64 = few.iter().map(|(a, b)| b - a).sum();
        let memory = super::memory::series(&subject);
        let columns_of = |steps: &Steps| -> Vec<f64> {
            let column = |k: usize| span.0 + k as f64 * width;
            (0..columns)
                .map(|k| most(steps, (column(k), column(k + 1))))
                .collect()
        };
        Ok(Grid {
            run_ns: subject.last_ns,
            rows: rows.collect(),
            memory: columns_of(&memory[&0]),
            ready: columns_of(&ready),
            few: few / (span.1 - span.0),
            codelets: used
                .iter()
                .map(|&(c, _)| (subject.codelet(c).to_owned(), subject.colour(c)))
                .collect(),
        })
    }
}
