//! From a run to its trace: the recorder's tables, with what the analysis knows of tasks and fronts.
//!
//! Takes a [`Record`] and its [`Symbolic`]; gives a [`Trace`], which writes itself. The only place that knows both what a codelet
//! of the solver means and how a trace is laid out.

use crate::run::Record;
use serde_json::{Map, Value, json};
use std::hash::Hasher;
use std::time::{Instant, SystemTime};
use treeqr_matrices::{Csc, RealScalar, Scalar};
use treeqr_profiling::Recording;
use treeqr_profiling::trace::{
    Manifest, Meaning, RecorderFacts, RunFacts, Status, Tables, TaskMeaning, Trace, TraceKind,
    counters, measured, modules, schema, switches,
};
use treeqr_runtime::{Access, Dependencies, PartKind, TaskId, Topology};
use treeqr_solver::{CODELETS, RunShape, Symbolic, TaskGeometry, TaskGraph};
use twox_hash::XxHash64;

/// What a trace says beside what was recorded.
#[derive(Clone, Debug, Default)]
pub struct TraceNotes {
    /// The command line, if there was one.
    pub command: Vec<String>,
    /// Name of the matrix: its file's, or a gallery name.
    pub matrix: String,
    /// [`fingerprint`] of the matrix.
    pub fingerprint: String,
    /// The options in force, as names and values.
    pub options: Map<String, Value>,
    /// Steps of the program: name, the step it is a part of, begin, end.
    pub phases: Vec<(String, Option<String>, Instant, Instant)>,
    /// The limit on memory, in bytes.
    pub memory_limit_bytes: Option<u64>,
}

/// A matrix in 16 hexadecimal digits: XXH64 over shape, pattern and values.
pub fn fingerprint<T: Scalar>(a: &Csc<T>) -> String {
    let mut hash = XxHash64::with_seed(0);
    hash.write_usize(a.nrows());
    hash.write_usize(a.ncols());
    for j in 0..a.ncols() {
        let (rows, values) = a.col(j);
        hash.write_usize(rows.len());
        for (&row, &value) in rows.iter().zip(values) {
            hash.write_u32(row);
            hash.write_u64(value.re().to_f64().to_bits());
            hash.write_u64(value.im().to_f64().to_bits());
        }
    }
    format!("{:016x}", hash.finish())
}

/// The trace of a run, with the tables of its factorization.
///
/// `status` says how it ended: a record that [`Progress::take_unfinished`](crate::Progress::take_unfinished) gave holds what had
/// been done until then.
pub fn trace(symbolic: &Symbolic, record: &Record, status: Status, notes: TraceNotes) -> Trace {
    let recording = record.recording();
    let run = &recording.runs[0];
    let graph = symbolic.task_graph(record.shape());
    let task = |row: &treeqr_profiling::TaskRow| match CODELETS.get(usize::from(row.codelet.0)) {
        Some(_) => meaning(graph.geometry(row.codelet, &row.params)),
        None => TaskMeaning::default(),
    };
    let ns = |at: Instant| match at.checked_duration_since(record.origin()) {
        Some(after) => after.as_nanos() as i64,
        None => -((record.origin() - at).as_nanos() as i64),
    };
    let phase =
        |(phase, part_of, begin, end): (String, Option<String>, Instant, Instant)| schema::Phase {
            phase,
            part_of,
            start_ns: ns(begin),
            end_ns: ns(end),
        };
    let system = record.system();
    let tables = measured(
        run,
        Meaning {
            role: &role,
            task: &task,
            fronts: fronts(symbolic, &graph),
            phases: notes.phases.into_iter().map(phase).collect(),
            switches: system.map_or_else(Vec::new, |system| {
                switches(&system.recording, &record.clock_pairs(system))
            }),
            counters: system.map_or_else(Vec::new, |system| counters(&system.recording)),
        },
    );
    let since_epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    Trace {
        manifest: Manifest {
            status,
            command: notes.command,
            written_unix_s: since_epoch.ok().map(|since| since.as_secs()),
            options: notes.options,
            machine: machine(),
            matrix: matrix(symbolic, &notes.matrix, &notes.fingerprint),
            analysis: analysis(symbolic, record.shape()),
            run: RunFacts {
                scheduler: run.scheduler.to_owned(),
                begin_ns: run.begin_ns,
                end_ns: run.end_ns,
                submitted_tasks: run.submitted,
                host_bytes: run.host_bytes,
                memory_limit_bytes: notes.memory_limit_bytes,
                devices: run.devices.clone(),
                time_scale: run.time_scale,
            },
            clock: clock(recording),
            recorder: RecorderFacts {
                records: run.kept(),
                bytes: run.record_bytes,
                ns_per_record: recording.ns_per_record,
                dropped_records: run.dropped,
                lost_threads: run.lost_tracks as u64,
            },
            modules: system.map_or_else(Vec::new, |system| {
                let counters = system.modules.counters().next().is_some();
                modules(&system.recording, system.modules.kernel(), counters)
            }),
            ..Manifest::new(TraceKind::Measured, program())
        },
        tables,
    }
}

/// The tasks of a factorization of this shape with their dependencies and sizes, and no times. It depends on the pattern,
/// the options and the shape alone: the same input gives the same bytes.
pub fn graph_trace(symbolic: &Symbolic, shape: RunShape, notes: TraceNotes) -> Trace {
    let graph = symbolic.task_graph(shape);
    let handles = graph.handles();
    let mut tables = Tables {
        codelets: codelets(),
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

/// What the codelet of this name does for its front.
fn role(name: &str) -> schema::Role {
    match name {
        "init_front" => schema::Role::Activate,
        "init_block" | "block_copy" => schema::Role::Assemble,
        "do_subtree" => schema::Role::Subtree,
        "clean_front" => schema::Role::Clean,
        "geqrt" | "gemqrt" | "tpqrt" | "tpmqrt" => schema::Role::Compute,
        _ => schema::Role::Solve,
    }
}

fn codelets() -> Vec<schema::Codelet> {
    let codelet = |(codelet, &name): (usize, &&'static str)| schema::Codelet {
        codelet: codelet as u16,
        name: name.to_owned(),
        role: role(name),
    };
    CODELETS.iter().enumerate().map(codelet).collect()
}

fn meaning(of: TaskGeometry) -> TaskMeaning {
    TaskMeaning {
        panel: of.panel,
        tile_row: of.tile_row,
        tile_col: of.tile_col,
        child: of.child,
        rows: of.rows,
        cols: of.cols,
        inner: of.inner,
        coefficients: of.entries,
    }
}

fn fronts(symbolic: &Symbolic, graph: &TaskGraph<'_>) -> Vec<schema::Front> {
    let fronts = symbolic.fronts();
    let flops = graph.front_flops();
    let mut depth = vec![1; fronts.len()];
    // Parents come after their children.
    for f in (0..fronts.len()).rev() {
        if let Some(parent) = fronts[f].parent {
            depth[f] = depth[parent as usize] + 1;
        }
    }
    let row = |(f, front): (usize, &treeqr_solver::Front)| {
        let tiles = symbolic.front_tiles(f);
        let task_node = symbolic.task_node(f);
        schema::Front {
            node: f as u32,
            parent: front.parent,
            depth: depth[f],
            kind: match (tiles, task_node as usize == f) {
                (Some(_), _) => schema::FrontKind::Tiled,
                (None, true) => schema::FrontKind::GroupTop,
                (None, false) => schema::FrontKind::Grouped,
            },
            task_node,
            rows: front.m,
            cols: front.n,
            pivots: front.npiv,
            cb_rows: front.cb_rows,
            tile_rows: tiles.map(|t| t.rows),
            tile_cols: tiles.map(|t| t.cols),
            inner_block: tiles.map(|t| t.inner_block),
            flat_height: tiles.map(|t| t.flat_height),
            flops: flops[f],
        }
    };
    fronts.iter().enumerate().map(row).collect()
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

fn program() -> String {
    match option_env!("TREEQR_REVISION") {
        Some(revision) => format!("treeqr {} ({revision})", crate::VERSION),
        None => format!("treeqr {}", crate::VERSION),
    }
}

fn matrix(symbolic: &Symbolic, name: &str, fingerprint: &str) -> Map<String, Value> {
    object(json!({
        "name": name,
        "rows": symbolic.nrows(),
        "cols": symbolic.ncols(),
        "entries": symbolic.nnz(),
        "fingerprint": fingerprint,
        "problem": symbolic.problem().name(),
    }))
}

fn analysis(symbolic: &Symbolic, shape: RunShape) -> Map<String, Value> {
    let prediction = symbolic.predict(shape);
    let by_codelet = CODELETS.iter().zip(prediction.tasks);
    let by_codelet: Map<_, _> = by_codelet
        .map(|(&name, count)| (name.to_owned(), count.into()))
        .collect();
    let (groups, tiled) = symbolic.unit_counts();
    object(json!({
        "ordering": symbolic.ordering(),
        "ordering_why": symbolic.ordering_why(),
        "factorizes_transpose": symbolic.transposed(),
        "singletons": symbolic.singletons(),
        "fronts": symbolic.fronts().len(),
        "groups": groups,
        "tiled_fronts": tiled,
        "depth": symbolic.depth(),
        "nnz_r": symbolic.nnz_r(),
        "nnz_h": symbolic.nnz_h(),
        "rhs": shape.nrhs,
        "keeps_q": shape.keep_q,
        "scalar_bytes": shape.scalar_bytes,
        "complex": shape.complex,
        "flops": prediction.flops,
        "tasks": prediction.task_count(),
        "tasks_by_codelet": by_codelet,
        "peak_bytes": prediction.peak_bytes,
        "factor_bytes": prediction.factor_bytes,
        "scratch_bytes": prediction.scratch_bytes,
        "critical_path_flops": prediction.critical_path_flops,
        "average_parallelism": prediction.average_parallelism(),
    }))
}

fn clock(recording: &Recording) -> Map<String, Value> {
    object(json!({
        "kind": format!("{:?}", recording.clock.kind),
        "ticks_per_second": 1e9 / recording.clock.ns_per_tick,
        "origin_ticks": recording.clock.origin_ticks,
        "residual_ns": recording.clock.residual_ns,
        "first_anchor": { "ticks": recording.clock.first.ticks, "ns": recording.clock.first.ns },
        "last_anchor": { "ticks": recording.clock.last.ticks, "ns": recording.clock.last.ns },
    }))
}

fn machine() -> Map<String, Value> {
    let topology = Topology::read();
    let count = |kind| topology.of(kind).count();
    object(json!({
        "os": std::env::consts::OS,
        "arch": std::env::consts::ARCH,
        "processor": processor(),
        "topology_source": topology.source,
        "packages": count(PartKind::Package),
        "numa_nodes": count(PartKind::MemoryNode),
        "cores": count(PartKind::Core),
        "units": topology.units.len(),
        "usable_units": topology.usable,
    }))
}

/// The processor's name, where the system tells it.
fn processor() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}
