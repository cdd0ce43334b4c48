//! A sequential task flow: an application submits tasks one after the other, and worker threads run them at the same
//! time, as far as their data allows, with the outcome of running them one by one.
//!
//! This crate knows no matrix and no scalar. The parts, in the order in which a task meets them:
//!
//! | module | subject |
//! | --- | --- |
//! | `spec` | a task as data: codelet, parameters, accesses, priority |
//! | `engine::submit`, `dependencies`, `task` | from the order of submission to the task graph |
//! | [`schedulers`] | which worker runs which ready task, and when: one trait, one table |
//! | `engine::worker`, `engine::sleep` | pop, execute, release; spin and sleep (`README.md` tells the protocol) |
//! | `engine::tally`, `throttle`, `cancel` | the window of the submission, limits on codelets, the end from outside |
//! | `context`, `store` | the task's buffers; the one room with unsafe code over the application's data |
//! | `machine`, `models` | the workers and what their tasks cost: what schedulers ask |
//! | `observer` | what can be seen of a run |
//! | `topology`, `denormals`, `allocator` | where workers are pinned; flush-to-zero; large blocks that are freed |
//!
//! # A run
//! ```
//! use treeqr_runtime::*;
//!
//! struct Add;
//! impl Application for Add {
//!     type Scratch = ();
//!     fn scratch(&self, _worker: usize) {}
//!     fn codelets(&self) -> &[Codelet<Self>] {
//!         &[
//!             Codelet {
//!                 name: "init",
//!                 cpu: Some(|_, task, _| {
//!                     let (handle, _) = task.task().accesses[0];
//!                     task.allocate(handle, 8)?;
//!                     task.write::<u64>(0)[0] = 1;
//!                     Ok(())
//!                 }),
//!             },
//!             Codelet {
//!                 name: "add",
//!                 cpu: Some(|_, task, _| {
//!                     let x = task.read::<u64>(0);
//!                     let mut y = task.write::<u64>(1);
//!                     y[0] += x[0];
//!                     Ok(())
//!                 }),
//!             },
//!         ]
//!     }
//! }
//!
//! let mut store = DataStore::new(2);
//! let (x, y) = (Handle(0), Handle(1));
//! let ((), stats) = run(&Config::with_threads(2), &Add, &mut store, &(), |submitter| {
//!     for handle in [x, y] {
//!         submitter.submit(TaskSpec::new(CodeletId(0), 0).with(handle, Access::Write))?;
//!     }
//!     for _ in 0..3 {
//!         let add = TaskSpec::new(CodeletId(1), 0).with(x, Access::Read).with(y, Access::ReadWrite);
//!         submitter.submit(add)?;
//!     }
//!     Ok(())
//! })?;
//! assert_eq!(store.get_as::<u64>(y), Some(&[4][..]));
//! assert_eq!(stats.tasks, 5);
//! # Ok::<(), RunError>(())
//! ```
//!
//! Data that nobody writes any more needs no handles of the run: keep its [`DataStore`] in the application and read it
//! with [`DataStore::get`], from as many runs at once as you like.

mod allocator;
mod cancel;
mod codelet;
mod config;
mod context;
mod denormals;
mod dependencies;
mod device_task;
mod engine;
mod erased;
mod error;
mod faults;
mod machine;
mod models;
mod observer;
pub mod schedulers;
mod spec;
mod store;
mod sync;
mod task;
mod throttle;
mod topology;

pub use allocator::{give_freed_memory_back, keep_freed_memory};
pub use cancel::CancelHandle;
pub use codelet::{Application, Codelet, CpuCode, LaunchCode, TaskFailure};
pub use config::{Config, DeviceStats, RunStats};
pub use context::TaskContext;
pub use dependencies::Dependencies;
pub use device_task::DeviceTask;
pub use engine::run::run;
pub use engine::sequential::run_sequential;
pub use engine::submit::Submitter;
pub use error::{RunError, Stopped};
pub use faults::Faults;
pub use machine::{Accelerator, DeviceSpec, DeviceSpecError, LinkStats};
pub use models::{Estimate, Ignored, KeptModels, ModelReport, ModelStore};
pub use observer::{
    Lane, MemoryRecord, Observer, RunInfo, ShareRecord, StallReason, StallRecord, StateRecord,
    TaskRecord, Track, TransferKind, TransferRecord, WorkerState,
};
pub use schedulers::{
    Arch, Missing, Place, SCHEDULERS, Scene, Scheduler, SchedulerEntry, UnknownScheduler, Wake,
    World,
};
pub use smallvec::{SmallVec, smallvec};
pub use spec::{Access, Accesses, CodeletId, Handle, TaskId, TaskSpec, WorkerId};
pub use store::{
    ALIGNMENT, Allocations, DataStore, MemoryNode, OutOfMemory, ReadBuffer, ScatterBuffer,
    WorkingMemory, WriteBuffer,
};
pub use task::{ReadyTask, Task};
pub use throttle::Limit;
pub use topology::{
    BoundThread, Part, PartKind, Platform, ReadAhead, Topology, available_threads,
    leave_hwloc_plugins_out, take_own_processor,
};
