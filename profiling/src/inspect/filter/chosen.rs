//! A filter with its names looked up: which rows it keeps.

use super::super::facets::{Facet, Facets};
use super::super::source::{Known, KnownVisitor, Source, TABLES, visit};
use super::{Filter, FilterError};
use crate::trace::schema::{Codelet, Front, GraphTask, Task, Worker};
use crate::trace::{TraceError, TraceKind};
use std::collections::{BTreeSet, HashSet};
use std::convert::Infallible;

/// A filter with its names looked up.
pub(super) struct Chosen<'f> {
    filter: &'f Filter,
    codelets: HashSet<u16>,
    /// The nodes, as fronts.
    fronts: BTreeSet<u32>,
    /// The nodes, as tasks carry them.
    task_nodes: BTreeSet<u32>,
    /// The tasks, where rows of other tables are chosen by them.
    tasks: Option<HashSet<u32>>,
}

impl<'f> Chosen<'f> {
    pub(super) fn of(trace: &impl Source, filter: &'f Filter) -> Result<Self, FilterError> {
        let mut chosen = Chosen {
            filter,
            codelets: HashSet::new(),
            fronts: BTreeSet::new(),
            task_nodes: BTreeSet::new(),
            tasks: None,
        };
        if let (Some(from_ns), Some(to_ns)) = (filter.from_ns, filter.to_ns)
            && from_ns > to_ns
        {
            return Err(FilterError::Span { from_ns, to_ns });
        }
        if let Some(name) = filter
            .tables
            .iter()
            .find(|name| !TABLES.contains(&&***name))
        {
            return Err(FilterError::Table { name: name.clone() });
        }
        chosen.look_up(trace)?;
        let mut by_task = ByTask(&chosen, false);
        visit(&mut by_task).unwrap_or_else(|never: Infallible| match never {});
        if by_task.1 && (filter.asks_of_tasks() || filter.spans()) {
            let graph = trace.manifest().kind == TraceKind::Graph;
            let tasks = if graph {
                chosen.tasks::<GraphTask>(trace)?
            } else {
                chosen.tasks::<Task>(trace)?
            };
            chosen.tasks = Some(tasks);
        }
        Ok(chosen)
    }

    fn look_up(&mut self, trace: &impl Source) -> Result<(), FilterError> {
        let filter = self.filter;
        if !filter.codelets.is_empty() {
            let codelets = trace.rows::<Codelet>()?;
            for name in &filter.codelets {
                let found = codelets.iter().find(|c| &c.name == name);
                let found = found.ok_or_else(|| FilterError::Codelet {
                    name: name.clone(),
                    known: codelets.iter().map(|c| c.name.clone()).collect(),
                })?;
                self.codelets.insert(found.codelet);
            }
        }
        if !filter.workers.is_empty() {
            let rows = trace.rows::<Worker>()?;
            for worker in filter.workers.iter().flatten().copied() {
                if !rows.iter().any(|row| row.worker == worker) {
                    let workers = rows.len();
                    return Err(FilterError::Worker { worker, workers });
                }
            }
        }
        if !filter.nodes.is_empty() {
            let fronts = trace.rows::<Front>()?;
            for &node in &filter.nodes {
                let front = fronts.get(node as usize);
                let fronts = fronts.len();
                front.ok_or(FilterError::Node { node, fronts })?;
                self.fronts.insert(node);
            }
            if filter.subtree {
                // Parents come after their children.
                for front in fronts.iter().rev() {
                    if front
                        .parent
                        .is_some_and(|parent| self.fronts.contains(&parent))
                    {
                        self.fronts.insert(front.node);
                    }
                }
            }
            let node = |&node: &u32| fronts.get(node as usize).map(|f| f.task_node);
            self.task_nodes = self.fronts.iter().filter_map(node).collect();
        }
        Ok(())
    }

    /// Numbers of the tasks that are chosen.
    fn tasks<T: Known + Facets>(&self, trace: &impl Source) -> Result<HashSet<u32>, TraceError> {
        let rows = trace.rows::<T>()?;
        let kept = rows
            .iter()
            .map(Facets::facet)
            .filter(|facet| self.itself(facet));
        Ok(kept.filter_map(|facet| facet.task).collect())
    }

    /// Whether this table was asked for.
    pub(super) fn table(&self, name: &str) -> bool {
        self.filter.tables.is_empty() || self.filter.tables.iter().any(|t| t == name)
    }

    pub(super) fn keeps<T: Facets>(&self, row: &T) -> bool {
        let facet = row.facet();
        if T::DESCRIBES {
            return self.describes(&facet, T::FRONTS);
        }
        if !T::BY_TASK {
            return self.itself(&facet);
        }
        // With a time of its own a row needs its task for the rest only.
        if facet.span.is_some() && !self.filter.asks_of_tasks() {
            return self.in_span(&facet);
        }
        let there = |task: u32| {
            self.tasks
                .as_ref()
                .is_none_or(|tasks| tasks.contains(&task))
        };
        let workers = &self.filter.workers;
        let on_chosen = workers.is_empty() || facet.thread.is_none_or(|w| workers.contains(&w));
        self.in_span(&facet)
            && on_chosen
            && facet.task.is_some_and(there)
            && facet.predecessor.is_none_or(there)
    }

    /// Whether the row says that it is what was asked for.
    fn itself(&self, facet: &Facet) -> bool {
        let Filter {
            workers,
            codelets,
            nodes,
            ..
        } = self.filter;
        self.in_span(facet)
            && (workers.is_empty() || facet.thread.is_some_and(|w| workers.contains(&w)))
            && (codelets.is_empty() || facet.codelet.is_some_and(|c| self.codelets.contains(&c)))
            && (nodes.is_empty() || facet.node.is_some_and(|n| self.of_nodes(n)))
    }

    /// A solve's tasks carry fronts, also those within groups.
    fn of_nodes(&self, node: u32) -> bool {
        self.task_nodes.contains(&node) || self.fronts.contains(&node)
    }

    /// Whether a description says nothing else than what was asked for.
    fn describes(&self, facet: &Facet, fronts: bool) -> bool {
        let Filter {
            workers,
            codelets,
            nodes,
            ..
        } = self.filter;
        let of_nodes = if fronts {
            &self.fronts
        } else {
            &self.task_nodes
        };
        self.in_span(facet)
            && (workers.is_empty() || facet.thread.is_none_or(|w| workers.contains(&w)))
            && (codelets.is_empty() || facet.codelet.is_none_or(|c| self.codelets.contains(&c)))
            && (nodes.is_empty() || facet.node.is_none_or(|n| of_nodes.contains(&n)))
    }

    fn in_span(&self, facet: &Facet) -> bool {
        let Some((from, to)) = facet.span else {
            return true;
        };
        let ns = |t: u64| i64::try_from(t).unwrap_or(i64::MAX);
        self.filter.from_ns.is_none_or(|t| to >= ns(t))
            && self.filter.to_ns.is_none_or(|t| from <= ns(t))
    }
}

/// Whether any table that was asked for is chosen by its tasks.
struct ByTask<'a>(&'a Chosen<'a>, bool);

impl KnownVisitor for ByTask<'_> {
    type Error = Infallible;

    fn table<T: Known + Facets>(&mut self) -> Result<(), Infallible> {
        self.1 |= T::BY_TASK && self.0.table(T::NAME);
        Ok(())
    }
}
