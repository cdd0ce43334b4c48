//! The profiler: a dumb, fast recorder that can always be on, and the analysis of what it kept, in separate places.
//!
//! | module | subject |
//! | --- | --- |
//! | `clock` | time-stamps: the processor's counter, calibrated against the monotonic clock |
//! | `recorder` | on the run's threads: fixed-size records into memory of their own; a helper thread that brings and takes it |
//! | `recording` | after the run: the tables, in nanoseconds |
//! | `metrics` | what the tables say: times per codelet and worker, occupancy, memory peak |
//! | `trace` | what is left of a run on disk: tables that other programs read |
//! | `export` | traces in the formats of other tools |
//! | `panels` | pictures of a trace as SVG and PNG |
//! | `report` | a run, or two, as one HTML file |
//! | `palette` | which colour a codelet has in every picture |
//! | `part` | files and folders that are complete or absent |
//! | `efficiency` | what a parallel run lost to granularity, to slower tasks, to waiting and to the runtime |
//! | `inspect` | what a trace says: consistency, balance of time, parts, differences |
//! | `models` | how long tasks take by their flops and their shapes, and which took longer than that |
//! | [`account`] | what a trace says about why it took the time it took: bounds, causes, curves |
//! | [`compare`] | two traces side by side: tasks, codelets, tree nodes, anomalies in both and in one |
//! | [`hints`] | why a run took longer than it might have, in plain words |
//! | [`system`] | when asked for: the kernel's context switches, and counters per task |
//!
//! ```
//! use treeqr_profiling::{Recorder, RecorderOptions};
//! # use treeqr_runtime::*;
//! # struct Empty;
//! # impl Application for Empty {
//! #     type Scratch = ();
//! #     fn scratch(&self, _: usize) {}
//! #     fn codelets(&self) -> &[Codelet<Self>] {
//! #         &[Codelet { name: "empty", cpu: Some(|_, _, _| Ok(())) }]
//! #     }
//! # }
//! # let (app, mut store) = (Empty, DataStore::new(0));
//! let recorder = Recorder::new(RecorderOptions::for_tasks(10));
//! run(&Config::with_threads(2), &app, &mut store, &recorder, |submitter| {
//!     for node in 0..10 {
//!         submitter.submit(TaskSpec::new(CodeletId(0), node))?;
//!     }
//!     Ok(())
//! })?;
//! let recording = recorder.finish();
//! assert_eq!(recording.runs[0].tasks.len(), 10);
//! println!("{}", recording.summary(0));
//! # Ok::<(), RunError>(())
//! ```

pub mod account;
mod clock;
pub mod compare;
mod efficiency;
pub mod export;
pub mod hints;
pub mod inspect;
mod metrics;
pub mod models;
pub mod palette;
pub mod panels;
mod part;
mod recorder;
mod recording;
pub mod report;
pub mod system;
pub mod trace;

pub use clock::{Anchor, Calibration, ClockKind};
pub use efficiency::{Efficiency, TimeSplit};
pub use metrics::{CodeletSummary, Summary, WorkerSummary};
pub use recorder::{Expected, Recorder, RecorderOptions, ThreadTrack};
pub use recording::{
    AccessRow, DropReason, Drops, MemoryRow, RecordedRun, Recording, ShareRow, SpillRow, StallRow,
    StateRow, TaskRow, TransferRow, WorkerRow,
};
pub use trace::Trace;
pub use treeqr_runtime::{Lane, StallReason, TransferKind, WorkerState};
