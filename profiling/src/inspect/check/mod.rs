//! Whether a trace is what it should be: rules, one entry of a table each.
//!
//! Takes a trace; gives findings with table and row. Knows no file: what a folder must keep is checked when it is read.
//!
//! | file | rules |
//! | --- | --- |
//! | `shape` | numbers, references, the tree, what goes with the kind of trace |
//! | `time` | the life of a task, spans, predecessors, helpers, overlap |
//! | `memory` | bytes never negative, each after the other, within the limit |
//! | `sums` | what the analysis and the run itself promise |

mod memory;
mod shape;
mod sums;
mod time;

use crate::trace::{RunPart, Status, Table, Trace, schema};
use std::fmt;

/// A rule that traces keep.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    /// Its name.
    pub name: &'static str,
    /// What it asks for.
    pub about: &'static str,
    run: fn(&Subject<'_>, &mut Findings),
}

/// All rules, in the order in which they are applied.
pub const CHECKS: &[Check] = &[
    Check {
        name: "whole",
        about: "nothing was dropped, cut off or left out",
        run: sums::whole,
    },
    Check {
        name: "parts",
        about: "the runs of the runtime follow each other, and their tasks are numbered through",
        run: time::parts,
    },
    Check {
        name: "kind",
        about: "a graph has no times, and a run no graph",
        run: shape::kind,
    },
    Check {
        name: "numbers",
        about: "tasks, workers, codelets, fronts and data have numbers of their own, in order",
        run: shape::numbers,
    },
    Check {
        name: "references",
        about: "every task, worker, codelet, tree node and memory node that is named exists",
        run: shape::references,
    },
    Check {
        name: "tree",
        about: "parents come after their children, one level above; pivots and contribution blocks fit",
        run: shape::tree,
    },
    Check {
        name: "life",
        about: "submit <= ready <= pop <= start <= end, within its run and the worker's time",
        run: time::life,
    },
    Check {
        name: "spans",
        about: "what begins ends later, and tables are in their order of time",
        run: time::spans,
    },
    Check {
        name: "order",
        about: "no task starts before its predecessors have ended",
        run: time::order,
    },
    Check {
        name: "shares",
        about: "who does parts of a task is another worker than its own, and begins while it lasts",
        run: time::shares,
    },
    Check {
        name: "overlap",
        about: "a thread does one thing at a time",
        run: time::overlap,
    },
    Check {
        name: "nodes",
        about: "nothing happens to a tree node before it is activated, nor after it is cleaned",
        run: time::nodes,
    },
    Check {
        name: "memory",
        about: "no data is given back that was not taken, and the bytes held follow from what was taken",
        run: memory::memory,
    },
    Check {
        name: "limit",
        about: "the memory limit holds",
        run: memory::limit,
    },
    Check {
        name: "sums",
        about: "tasks, flops and bytes are those of the analysis",
        run: sums::sums,
    },
];

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The trace is right as far as it goes.
    Warning,
    /// The trace contradicts itself, or what the analysis says.
    Error,
}

impl Severity {
    /// A word for it.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// Something that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Name of the rule.
    pub rule: &'static str,
    /// How bad.
    pub severity: Severity,
    /// The table, or `manifest`.
    pub table: &'static str,
    /// The row, from 1; none for the table as a whole.
    pub row: Option<u64>,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.table)?;
        if let Some(row) = self.row {
            write!(f, ":{row}")?;
        }
        write!(f, ": {} [{}]", self.message, self.rule)
    }
}

/// Findings of a rule that are told one by one; the rest is counted.
const TOLD: usize = 10;

/// What is wrong with `trace`, rule by rule; empty for a good one. O(n log n) for n rows, and some 40 bytes a task.
pub fn check(trace: &Trace) -> Vec<Finding> {
    let subject = Subject::of(trace);
    let mut all = Vec::new();
    for check in CHECKS {
        let mut findings = Findings {
            rule: check.name,
            told: Vec::new(),
            untold: 0,
        };
        (check.run)(&subject, &mut findings);
        all.append(&mut findings.told);
        if findings.untold > 0 {
            all.push(Finding {
                rule: check.name,
                severity: Severity::Error,
                table: "manifest",
                row: None,
                message: format!("and {} more against this rule", findings.untold),
            });
        }
    }
    all
}

/// Where a rule puts what it finds.
struct Findings {
    rule: &'static str,
    told: Vec<Finding>,
    untold: u64,
}

impl Findings {
    /// An error in row `index` (from 0) of the table of `T`.
    fn row<T: Table>(&mut self, index: usize, message: impl FnOnce() -> String) {
        self.add(Severity::Error, T::NAME, Some(index as u64 + 1), message);
    }

    /// An error of a whole table.
    fn table<T: Table>(&mut self, message: impl FnOnce() -> String) {
        self.add(Severity::Error, T::NAME, None, message);
    }

    /// An error of the manifest.
    fn manifest(&mut self, message: impl FnOnce() -> String) {
        self.add(Severity::Error, "manifest", None, message);
    }

    /// Something to know.
    fn warning(&mut self, message: impl FnOnce() -> String) {
        self.add(Severity::Warning, "manifest", None, message);
    }

    fn add(
        &mut self,
        severity: Severity,
        table: &'static str,
        row: Option<u64>,
        message: impl FnOnce() -> String,
    ) {
        if self.told.len() == TOLD {
            self.untold += 1;
            return;
        }
        self.told.push(Finding {
            rule: self.rule,
            severity,
            table,
            row,
            message: message(),
        });
    }
}

/// A trace, and what several rules ask of it.
struct Subject<'a> {
    trace: &'a Trace,
    tasks: Numbers,
    graph: Numbers,
    workers: Numbers,
    /// The runs of the runtime, by their first tasks; at least one.
    parts: Vec<RunPart>,
    /// Tasks may be missing, and so whatever is counted.
    holes: bool,
}

impl<'a> Subject<'a> {
    fn of(trace: &'a Trace) -> Self {
        let (manifest, tables) = (&trace.manifest, &trace.tables);
        let recorder = &manifest.recorder;
        Subject {
            trace,
            tasks: Numbers::of(tables.tasks.iter().map(|t| t.task)),
            graph: Numbers::of(tables.graph.iter().map(|t| t.task)),
            workers: Numbers::of(tables.workers.iter().map(|w| w.worker.into())),
            parts: manifest.parts(),
            holes: manifest.filtered.is_some()
                || manifest.status != Status::Complete
                || recorder.dropped_records > 0
                || recorder.lost_threads > 0,
        }
    }

    fn tables(&self) -> &'a crate::trace::Tables {
        &self.trace.tables
    }

    /// The run that the task of this number belongs to.
    fn part(&self, number: u32) -> &RunPart {
        let later = |part: &RunPart| part.first_task <= u64::from(number);
        let after = self.parts.iter().take_while(|part| later(part)).count();
        &self.parts[after.saturating_sub(1)]
    }

    /// The task of this number.
    fn task(&self, number: u32) -> Option<&'a schema::Task> {
        let row = self.tasks.row(number)?;
        Some(&self.trace.tables.tasks[row])
    }
}

/// From numbers to rows.
#[derive(Debug)]
pub(crate) struct Numbers(Vec<(u32, u32)>);

impl Numbers {
    pub(crate) fn of(numbers: impl Iterator<Item = u32>) -> Self {
        let mut pairs: Vec<_> = numbers.zip(0..).collect();
        if !pairs.is_sorted() {
            pairs.sort_unstable();
        }
        Numbers(pairs)
    }

    pub(crate) fn row(&self, number: u32) -> Option<usize> {
        // Nearly always they are 0, 1, 2, ...
        let guess = self.0.get(number as usize).filter(|pair| pair.0 == number);
        let found = || {
            let at = self.0.binary_search_by_key(&number, |pair| pair.0).ok()?;
            self.0.get(at)
        };
        guess.or_else(found).map(|pair| pair.1 as usize)
    }

    fn has(&self, number: u32) -> bool {
        self.row(number).is_some()
    }
}
