//! Where the time of a run went, and how short it could have been: the figures and curves behind the panels of a report.
//!
//! Takes a [`Trace`](crate::trace::Trace), measured or simulated; gives plain structures that serde writes. Knows no picture
//! and no file. Rows that name something the trace does not have (a smaller trace has such rows) are left out and counted
//! where it matters; nothing here panics on a trace that [`check`](crate::inspect::check) would refuse.
//!
//! | file | subject |
//! | --- | --- |
//! | `path` | the critical path by measured durations, and how much later each task could have run |
//! | `area` | the area bound, a linear program; the two bounds together |
//! | `idle` | the time without a task, by cause |
//! | `split` | the efficiency split, from traces (occupancy is in [`Balance`](crate::inspect::Balance)) |
//! | `steps` | functions of time that change in steps: exact, and binned for drawing |
//! | `curves` | tasks, operations, tree nodes and transfers over time |
//! | `memory` | bytes over time, by memory node and tree node, and against the prediction |
//! | `tree` | workers used by tree node and by depth |
//! | `delay` | from ready to start; operations a second by codelet, node, depth and worker |
//! | `graph` | tasks and dependencies by row |
//!
//! Every function is O(n log n) for n rows.

mod area;
mod curves;
mod delay;
mod graph;
mod idle;
mod memory;
mod path;
mod split;
mod steps;
mod tree;

pub use area::{AreaBound, AreaError, Bounds, Resource, TaskClass, area_bound, bounds};
pub use curves::{
    LinkOverTime, NodesOverTime, TasksOverTime, flops_over_time, nodes_over_time, tasks_over_time,
    transfers_over_time,
};
pub use delay::{Delay, Rate, Rates, delays, rates};
pub(crate) use graph::{Graph, codelet_names, duration_ns, span_ns};
pub use idle::{Idle, IdleCauses, WorkerIdle, cause_in_words, idle};
pub(crate) use idle::{Span, cut, length, submitting, union};
pub use memory::{
    HeldOverTime, MemoryOverTime, MemoryPeak, NodePeak, memory_over_time, memory_peak,
};
pub use path::{CodeletShare, CriticalPath, critical_path};
pub use split::{efficiency, time_split};
pub use steps::{Bin, Step, Steps};
pub use tree::{NodeActivity, UseOverTime, UseRow, node_activity, use_by_depth, use_by_node};
