//! From a record to its trace: the recorder's tables, with what the analysis knows of tasks and fronts.
//!
//! Takes a [`Record`] and its [`Symbolic`]; gives a [`Trace`], which writes itself. The only place that knows both what a codelet
//! of the solver means and how a trace is laid out.
//!
//! | file | subject |
//! | --- | --- |
//! | `meaning` | codelets, tasks and fronts of the solver as rows |
//! | `facts` | the sections of the manifest |
//! | `graph` | the task graph without times |

mod facts;
mod graph;
mod meaning;

pub use graph::graph_trace;

use crate::run::{Record, RunKind};
use facts::{analysis, clock, machine, matrix, program, run_facts, solve};
use meaning::{fronts, meaning, role};
use serde_json::{Map, Value};
use std::hash::Hasher;
use std::time::{Instant, SystemTime};
use treeqr_matrices::{Csc, RealScalar, Scalar};
use treeqr_profiling::trace::{
    Manifest, Meaning, RecorderFacts, Status, TaskMeaning, Trace, TraceKind, counters, measured,
    modules, schema, switches,
};
use treeqr_profiling::{RecordedRun, TaskRow};
use treeqr_solver::{Symbolic, rank_geometry, solve_geometry};
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

/// The trace of a record: of a factorization, with the solve after it where both were one call, or of a solve alone.
///
/// `status` says how it ended: a record that [`Progress::take_unfinished`](crate::Progress::take_unfinished) gave holds what had
/// been done until then.
pub fn trace(symbolic: &Symbolic, record: &Record, status: Status, notes: TraceNotes) -> Trace {
    let recording = record.recording();
    let runs = &recording.runs[..];
    let graph = symbolic.task_graph(record.shape());
    let task = |run: usize, row: &TaskRow| match record.kinds().get(run) {
        Some(RunKind::Factorize) => meaning(graph.geometry(row.codelet, &row.params)),
        Some(RunKind::Rank | RunKind::NullSpace) => meaning(rank_geometry(&row.params)),
        Some(RunKind::Solve(_)) => meaning(solve_geometry(&row.params)),
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
        runs,
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
            analysis: {
                let mut analysis = analysis(symbolic, record.shape());
                analysis.extend(solve(record));
                analysis
            },
            run: run_facts(record, notes.memory_limit_bytes),
            clock: clock(recording),
            recorder: RecorderFacts {
                records: runs.iter().map(RecordedRun::kept).sum(),
                bytes: runs.iter().map(|run| run.record_bytes).sum(),
                ns_per_record: recording.ns_per_record,
                dropped_records: runs.iter().map(|run| run.dropped).sum(),
                lost_threads: runs.iter().map(|run| run.lost_tracks as u64).sum(),
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
