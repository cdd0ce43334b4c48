//! Rules on what the tables are, times apart.

use super::{Findings, Subject};
use crate::inspect::Source;
use crate::inspect::facets::Facets;
use crate::inspect::source::{Known, KnownVisitor, visit};
use crate::trace::schema::{
    AccessRow, Dependency, Front, FrontKind, GraphTask, HandleRow, Memory, Phase, Task, Transfer,
    Worker,
};
use crate::trace::{Table, TraceError, TraceKind};
use std::collections::HashSet;

pub(super) fn kind(subject: &Subject<'_>, findings: &mut Findings) {
    let tables = subject.tables();
    if subject.trace.manifest.kind == TraceKind::Graph {
        if !tables.tasks.is_empty() {
            findings.table::<Task>(|| "a trace that is only a graph has tasks with times".into());
        }
        if !tables.memory.is_empty() {
            findings.table::<Memory>(|| "a trace that is only a graph has memory events".into());
        }
    } else if !tables.graph.is_empty() {
        findings.table::<GraphTask>(|| "a trace of a run has tasks without times".into());
    }
}

pub(super) fn numbers(subject: &Subject<'_>, findings: &mut Findings) {
    fn grows<T: Table>(rows: &[T], findings: &mut Findings, number: impl Fn(&T) -> u32) {
        for (row, pair) in rows.windows(2).enumerate() {
            let (before, this) = (number(&pair[0]), number(&pair[1]));
            if this <= before {
                findings.row::<T>(row + 1, || format!("number {this} follows number {before}"));
            }
        }
    }
    let tables = subject.tables();
    grows(&tables.workers, findings, |r| r.worker.into());
    grows(&tables.codelets, findings, |r| r.codelet.into());
    grows(&tables.tasks, findings, |r| r.task);
    grows(&tables.graph, findings, |r| r.task);
    grows(&tables.handles, findings, |r| r.handle);
    for (row, front) in tables.fronts.iter().enumerate() {
        if front.node as usize != row {
            findings.row::<Front>(row, || format!("is front {}, not {row}", front.node));
        }
    }
}

/// Numbers that rows may name.
struct Names<'a, 's> {
    subject: &'s Subject<'a>,
    findings: &'s mut Findings,
    codelets: HashSet<u16>,
}

pub(super) fn references(subject: &Subject<'_>, findings: &mut Findings) {
    let tables = subject.tables();
    let memory_nodes = 1 + subject.trace.manifest.run.devices.len();
    let codelets = tables.codelets.iter().map(|c| c.codelet).collect();
    let mut known = Names {
        subject,
        findings,
        codelets,
    };
    visit(&mut known).expect("all of it is in memory");

    let memory_node = |node: u16| usize::from(node) < memory_nodes;
    for (row, r) in tables.workers.iter().enumerate() {
        if !memory_node(r.memory_node) {
            findings.row::<Worker>(row, || no("memory node", r.memory_node));
        }
    }
    for (row, r) in tables.memory.iter().enumerate() {
        if !memory_node(r.memory_node) {
            findings.row::<Memory>(row, || no("memory node", r.memory_node));
        }
    }
    for (row, r) in tables.transfers.iter().enumerate() {
        for node in [r.source_node, r.target_node] {
            if !memory_node(node) {
                findings.row::<Transfer>(row, || no("memory node", node));
            }
        }
        if r.source_node == r.target_node {
            findings.row::<Transfer>(row, || "from a memory node to itself".into());
        }
    }
    let phases: HashSet<&str> = tables.phases.iter().map(|p| &*p.phase).collect();
    for (row, r) in tables.phases.iter().enumerate() {
        let whole = r.part_of.as_deref().filter(|whole| !phases.contains(whole));
        if let Some(whole) = whole {
            findings.row::<Phase>(row, || format!("is part of `{whole}`, which is not there"));
        }
    }
    let handles = super::Numbers::of(tables.handles.iter().map(|h| h.handle));
    for (row, r) in tables.accesses.iter().enumerate() {
        if !handles.has(r.handle) {
            findings.row::<AccessRow>(row, || no("data", r.handle));
        }
    }
}

fn no(what: &str, number: impl std::fmt::Display) -> String {
    format!("there is no {what} {number}")
}

impl KnownVisitor for Names<'_, '_> {
    type Error = TraceError;

    fn table<T: Known + Facets>(&mut self) -> Result<(), TraceError> {
        let (subject, tables) = (self.subject, self.subject.tables());
        let of_graph = [GraphTask::NAME, AccessRow::NAME, HandleRow::NAME].contains(&T::NAME);
        let graph = of_graph || (T::NAME == Dependency::NAME && !tables.graph.is_empty());
        let (tasks, fronts) = (
            if graph {
                &subject.graph
            } else {
                &subject.tasks
            },
            tables.fronts.len(),
        );
        for (index, row) in subject.trace.rows::<T>()?.iter().enumerate() {
            let facet = row.facet();
            let worker = facet.thread.flatten();
            if let Some(worker) = worker.filter(|&w| !subject.workers.has(w.into()))
                && !subject.holes
            {
                self.findings.row::<T>(index, || no("worker", worker));
            }
            for task in [facet.task, facet.predecessor].into_iter().flatten() {
                if !subject.holes && !tasks.has(task) {
                    self.findings.row::<T>(index, || no("task", task));
                }
            }
            if let Some(codelet) = facet.codelet.filter(|c| !self.codelets.contains(c)) {
                self.findings.row::<T>(index, || no("codelet", codelet));
            }
            // A program without a tree has nodes of its own meaning.
            for node in [facet.node, facet.child].into_iter().flatten() {
                if fronts > 0 && node as usize >= fronts {
                    self.findings.row::<T>(index, || no("tree node", node));
                }
            }
        }
        Ok(())
    }
}

pub(super) fn tree(subject: &Subject<'_>, findings: &mut Findings) {
    let fronts = &subject.tables().fronts;
    for (row, f) in fronts.iter().enumerate() {
        let depth = match f.parent {
            None => Some(1),
            Some(parent) if parent <= f.node => {
                findings.row::<Front>(row, || {
                    format!("its parent {parent} does not come after it")
                });
                None
            }
            Some(parent) => match fronts.get(parent as usize) {
                Some(parent) => parent.depth.checked_add(1),
                None => {
                    findings.row::<Front>(row, || no("parent", parent));
                    None
                }
            },
        };
        if depth.is_some_and(|depth| depth != f.depth) {
            findings.row::<Front>(row, || {
                format!("its depth {} is not below its parent's", f.depth)
            });
        }
        let top = fronts.get(f.task_node as usize);
        let right = match f.kind {
            FrontKind::Tiled | FrontKind::GroupTop => f.task_node == f.node,
            FrontKind::Grouped => top.is_some_and(|t| t.kind == FrontKind::GroupTop),
        };
        if !right {
            findings.row::<Front>(row, || {
                format!(
                    "node {} is not the one of the tasks of a {} front",
                    f.task_node, f.kind
                )
            });
        }
        if f.pivots > f.cols || f.cb_rows > f.rows {
            findings.row::<Front>(row, || {
                format!(
                    "{} pivots and {} rows of the contribution block in {} x {}",
                    f.pivots, f.cb_rows, f.rows, f.cols
                )
            });
        }
    }
}
