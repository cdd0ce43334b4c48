//! The task graph alone, as a trace without times.
//!
//! Takes the analysis and the shape of a run; gives a [`Trace`]. Knows no recording.

use super::TraceNotes;
use super::facts::{analysis, matrix, program};
use super::meaning::{fronts, meaning, role};
use treeqr_profiling::trace::{Manifest, RunFacts, Tables, Trace, TraceKind, codelets, schema};
use treeqr_runtime::{Access, Dependencies, TaskId};
use treeqr_solver::{CODELETS, RunShape, Symbolic};

/// The tasks of a factorization of this shape with their dependencies and sizes, and no times. It depends on the pattern,
/// the options and the shape alone: the same input gives the same bytes.
pub fn graph_trace(symbolic: &Symbolic, shape: RunShape, notes: TraceNotes) -> Trace {
    let graph = symbolic.task_graph(shape);
    let handles = graph.handles();
    let mut tables = Tables {
        codelets: codelets(&CODELETS, 0, role).collect(),
        fronts: fronts(symbolic, &graph),
        ..Tables::default()
    };
    let mut rule = Dependencies::new(handles.len());
    let mut predecessors = Vec::new();
    graph.for_each(|task| {
        let id = tables.graph.len() as u32;
        predecessors.clear();
        for &(handle, access) in &task.spec.accesses {
            rule.access(
                handle,
                access,
                TaskId(id),
                |_| false,
                |earlier| {
                    predecessors.push(earlier.0);
                    true
                },
            );
            tables.accesses.push(schema::AccessRow {
                task: id,
                handle: handle.0,
                mode: match access {
                    Access::Read => schema::AccessMode::Read,
                    Access::Write => schema::AccessMode::Write,
                    Access::ReadWrite => schema::AccessMode::ReadWrite,
                    Access::Scatter => schema::AccessMode::Scatter,
                },
            });
        }
        predecessors.sort_unstable();
        predecessors.dedup();
        let edge = |&predecessor: &u32| schema::Dependency {
            task: id,
            predecessor,
        };
        tables.dependencies.extend(predecessors.iter().map(edge));
        let of = meaning(task.geometry);
        tables.graph.push(schema::GraphTask {
            task: id,
            codelet: task.spec.codelet.0,
            node: task.spec.node,
            priority: task.spec.priority,
            flops: task.spec.flops,
            panel: of.panel,
            tile_row: of.tile_row,
            tile_col: of.tile_col,
            child: of.child,
            rows: of.rows,
            cols: of.cols,
            inner: of.inner,
            coefficients: of.coefficients,
            allocated_bytes: task.allocated_bytes,
            freed_bytes: task.freed_bytes,
        });
    });
    let used = handles
        .into_iter()
        .enumerate()
        .filter(|(_, (bytes, _))| *bytes > 0);
    tables.handles = used
        .map(|(handle, (size_bytes, node))| schema::HandleRow {
            handle: handle as u32,
            size_bytes,
            node,
        })
        .collect();
    Trace {
        manifest: Manifest {
            command: notes.command,
            options: notes.options,
            matrix: matrix(symbolic, &notes.matrix, &notes.fingerprint),
            analysis: analysis(symbolic, shape),
            run: RunFacts {
                submitted_tasks: tables.graph.len() as u64,
                time_scale: 1.0,
                ..RunFacts::default()
            },
            ..Manifest::new(TraceKind::Graph, program())
        },
        tables,
    }
}
