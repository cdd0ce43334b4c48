//! What the system knows of a run: the kernel's context switches of its threads, and counters of their tasks.
//!
//! Takes the names of modules, the threads that attach, and the ends of their tasks; gives tables on the monotonic
//! clock, and for everything that the system does not have or allow a sentence that says why. Knows no recorder: whoever
//! attaches threads here also brings the tables together.
//!
//! | file | subject |
//! | --- | --- |
//! | `modules` | what can be asked for, by name |
//! | `recorder`, `probe` | all threads of a run; one of them |
//! | `perf` (elsewhere than on Linux `absent`) | the door to perf events, and why it stays shut |
//! | `switches`, `totals` | context switches from the kernel's ring; the kernel's own count of them |
//! | `recording` | the tables |
//! | `anchor` | from the monotonic clock to the recorder's |
//!
//! # What it costs the threads of a run
//!
//! `kernel`: nothing but what the kernel does at a context switch, which is to write 32 bytes. A helper thread looks at
//! the rings ten times a second, and up to 200 times where there is much to see; what finds no room is counted.
//!
//! `counters`: **a system call and a write at each boundary**, on the worker. This is the one exception to the rule that
//! recording makes no system call on a worker's path (and every 4096 tasks it allocates); it exists only where asked for.
//! The processor's counters could be read without a system call (`rdpmc`), the kernel's not; they are read together.
//!
//! Measured as processor time of the threads, on a virtual machine (AMD EPYC, Linux 6.18, no hardware counters, other
//! programs running, medians): 1.0 microsecond a boundary with one counter and 1.15 with four, where the cheapest system
//! call took 0.1; two threads that yield to each other on one processor took 1.4 microseconds a switch, 3.1 with
//! `kernel`. To attach and detach a thread took 0.15 ms with `kernel`, 0.25 with `counters`.
//!
//! ```
//! use treeqr_profiling::system::{Modules, SystemRecorder};
//! use treeqr_runtime::{Lane, TaskId};
//!
//! let recorder = SystemRecorder::new(Modules::parse("kernel,counters:page-faults,task-clock")?);
//! std::thread::scope(|scope| {
//!     scope.spawn(|| {
//!         let mut probe = recorder.attach(Lane::Worker(0));
//!         probe.boundary();
//!         let pages = vec![1u8; 1 << 20];
//!         probe.task(TaskId(0));
//!         drop(pages);
//!         probe.detach();
//!     });
//! });
//! let recording = recorder.finish();
//! for missing in &recording.missing {
//!     println!("not recorded: {missing}");
//! }
//! for row in &recording.counters {
//!     println!("{:?}: {:?}", row.task, recording.values(row));
//! }
//! # Ok::<(), treeqr_profiling::system::UnknownModule>(())
//! ```

mod anchor;
mod modules;
#[cfg_attr(not(target_os = "linux"), path = "absent.rs")]
mod perf;
mod probe;
mod recorder;
mod recording;
mod switches;
mod totals;

pub use anchor::{ClockPair, MonotonicAnchor, to_recording_ns};
pub use modules::{
    COUNTERS, CounterEntry, MAX_COUNTERS, MODULES, ModuleEntry, Modules, UnknownModule,
};
pub use probe::ThreadProbe;
pub use recorder::SystemRecorder;
pub use recording::{
    CounterColumn, CounterRow, Missing, SwitchEvent, SwitchRow, SystemRecording, ThreadRow,
};
pub use totals::SwitchTotals;
