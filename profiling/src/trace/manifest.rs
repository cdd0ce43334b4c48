//! `manifest.json`: what a trace is of, and the files that belong to it.
//!
//! The sections that depend on the program (options, machine, matrix, analysis) are open JSON objects: their keys carry
//! their units in their names.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::ops::Range;

/// Its file in the trace's folder.
pub const MANIFEST: &str = "manifest.json";

/// What a trace says about itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the tables ([`SCHEMA_VERSION`](super::SCHEMA_VERSION)).
    pub schema_version: u32,
    /// Where its times come from.
    pub kind: TraceKind,
    /// Whether the run came to its end.
    pub status: Status,
    /// Name and version of the program, with its revision where known.
    pub program: String,
    /// The command line, or nothing when a library wrote it.
    pub command: Vec<String>,
    /// When, in seconds since 1970 (UTC). Nothing in a trace that depends on its input alone.
    pub written_unix_s: Option<u64>,
    /// The options in force.
    pub options: Map<String, Value>,
    /// Processor, topology, memory.
    pub machine: Map<String, Value>,
    /// Name, shape and fingerprint of the matrix.
    pub matrix: Map<String, Value>,
    /// What the analysis predicted; `check` compares sums with it.
    pub analysis: Map<String, Value>,
    /// The run as a whole.
    pub run: RunFacts,
    /// What was kept of a larger trace, in words; nothing for one that is whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filtered: Option<String>,
    /// How ticks became nanoseconds; nothing where no clock was read.
    pub clock: Map<String, Value>,
    /// What recording cost, and what it could not keep.
    pub recorder: RecorderFacts,
    /// What was to be recorded beside tasks, and what the system did not give.
    pub modules: Vec<ModuleFacts>,
    /// The files of the tables. Written last.
    pub tables: Vec<TableFacts>,
}

/// Where a trace's times come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TraceKind {
    /// A run on this machine, emulated devices included.
    Measured,
    /// A run in virtual time.
    Simulated,
    /// Nowhere: it is the task graph alone.
    Graph,
}

impl TraceKind {
    /// As the manifest writes it.
    pub fn name(self) -> &'static str {
        match self {
            TraceKind::Measured => "measured",
            TraceKind::Simulated => "simulated",
            TraceKind::Graph => "graph",
        }
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state", content = "message")]
pub enum Status {
    /// All tasks were done.
    Complete,
    /// It was cancelled: the tables hold what had been done.
    Cancelled,
    /// It failed, with this message: the tables hold what had been done.
    Failed(String),
}

/// The run as a whole: mostly one of the runtime, or a factorization and the solve after it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunFacts {
    /// Name of the scheduler; `sequential` for none. That of the first part.
    pub scheduler: String,
    /// When it began.
    pub begin_ns: u64,
    /// When its last thread ended.
    pub end_ns: u64,
    /// Tasks submitted, of all parts.
    pub submitted_tasks: u64,
    /// Bytes on the host when it began.
    pub host_bytes: u64,
    /// The limit on the host's bytes, if there was one.
    pub memory_limit_bytes: Option<u64>,
    /// Names of devices; device d has memory node d + 1.
    pub devices: Vec<String>,
    /// With emulated devices, how many times slower than the emulated machine all times are; else 1.
    pub time_scale: f64,
    /// The runs of the runtime, one after the other. Nothing where there is one, and nobody said more of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<RunPart>,
}

/// The [`RunPart::name`] of a factorization: what the analysis predicts is about its tasks.
pub const FACTORIZE: &str = "factorize";
/// The [`RunPart::name`] of a solve with the factors.
pub const SOLVE: &str = "solve";
/// The [`RunPart`] that finds the rank.
pub const RANK: &str = "rank";
/// The [`RunPart`] that makes a basis of the null space.
pub const NULL_SPACE: &str = "null_space";

/// One run of the runtime. Nothing that a trace tells went on between two of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunPart {
    /// What it did: `factorize`, `rank`, `null_space` or `solve`.
    pub name: String,
    /// Name of the scheduler; `sequential` for none: then worker 0 is the calling thread.
    pub scheduler: String,
    /// Workers that took part: those of the lowest numbers.
    pub workers: u64,
    /// When it began.
    pub begin_ns: u64,
    /// When its last thread ended.
    pub end_ns: u64,
    /// Number of its first task.
    pub first_task: u64,
    /// Tasks submitted.
    pub submitted_tasks: u64,
}

/// What recording cost, and what it could not keep.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RecorderFacts {
    /// Records kept.
    pub records: u64,
    /// Bytes they took in memory.
    pub bytes: u64,
    /// Nanoseconds that a task's record cost its worker.
    pub ns_per_record: f64,
    /// Records for which there was no room. A trace with some is incomplete.
    pub dropped_records: u64,
    /// Threads whose records were lost with them.
    pub lost_threads: u64,
}

/// A module of the recorder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModuleFacts {
    /// Its name.
    pub module: String,
    /// What is missing of it, and why; empty when all of it was recorded.
    pub missing: Vec<String>,
    /// Records that the system lost.
    pub lost_records: u64,
}

/// The file of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableFacts {
    /// The table's name; the file's is this with `.parquet`.
    pub table: String,
    /// Its rows.
    pub rows: u64,
    /// Size of the file.
    pub bytes: u64,
    /// XXH64 of the file, in hexadecimal.
    pub checksum: String,
}

impl Manifest {
    /// The beginning of a manifest: nothing known, nothing recorded.
    pub fn new(kind: TraceKind, program: String) -> Self {
        Manifest {
            schema_version: super::SCHEMA_VERSION,
            kind,
            status: Status::Complete,
            program,
            command: Vec::new(),
            written_unix_s: None,
            options: Map::new(),
            machine: Map::new(),
            matrix: Map::new(),
            analysis: Map::new(),
            run: RunFacts {
                time_scale: 1.0,
                ..RunFacts::default()
            },
            filtered: None,
            clock: Map::new(),
            recorder: RecorderFacts::default(),
            modules: Vec::new(),
            tables: Vec::new(),
        }
    }

    /// The name of the matrix, or `-`.
    pub fn matrix_name(&self) -> &str {
        self.matrix
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or("-")
    }

    /// The runs of the runtime: at least one.
    pub fn parts(&self) -> Vec<RunPart> {
        let run = &self.run;
        if !run.parts.is_empty() {
            return run.parts.clone();
        }
        vec![RunPart {
            name: FACTORIZE.to_owned(),
            scheduler: run.scheduler.clone(),
            workers: u64::MAX,
            begin_ns: run.begin_ns,
            end_ns: run.end_ns,
            first_task: 0,
            submitted_tasks: run.submitted_tasks,
        }]
    }

    /// Spans between two runs of the runtime, none empty.
    pub fn gaps(&self) -> Vec<(u64, u64)> {
        let pairs = self.run.parts.windows(2);
        let gaps = pairs.map(|pair| (pair[0].end_ns, pair[1].begin_ns));
        gaps.filter(|gap| gap.0 < gap.1).collect()
    }

    /// Numbers of the tasks of the factorization, which the analysis predicts; nothing for a solve alone.
    pub fn factorization(&self) -> Range<u64> {
        let parts = &self.run.parts;
        if parts.is_empty() {
            return 0..u64::MAX;
        }
        let found = parts.iter().find(|part| part.name == FACTORIZE);
        found.map_or(0..0, |part| {
            part.first_task..part.first_task.saturating_add(part.submitted_tasks)
        })
    }

    /// A figure of the analysis, e.g. `flops`.
    pub fn predicted(&self, key: &str) -> Option<u64> {
        self.analysis.get(key)?.as_u64()
    }
}
