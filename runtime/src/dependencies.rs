//! From the order of submission and the access modes to the edges of the task graph.
//!
//! Takes, task by task in the order of submission, each (handle, access); gives the earlier tasks it must wait for.
//! Knows tasks by their numbers only, no thread and no time, so the same inference serves real runs, virtual time and the
//! reader of a trace.
//!
//! Per handle it keeps the last two *groups* of accesses. A group is one exclusive access, or a run of reads, or a run
//! of scatters; within it nothing is ordered, and every member waits for every member of the group before it:
//!
//! ```text
//!   submitted   W   R R R   S S   R   RW        per handle
//!   groups     [W] [R R R] [S S] [R] [RW]
//!                <-      <-    <-   <-          waits for (all older ones are implied)
//! ```

use crate::spec::{Access, Handle, TaskId};
use smallvec::SmallVec;

/// The accesses to all handles so far.
pub struct Dependencies {
    handles: Vec<History>,
}

struct History {
    /// Mode of `group`.
    mode: Access,
    group: Group,
    before: Group,
    /// Length of `group` at which finished members are swept out.
    sweep_at: u32,
}

type Group = SmallVec<[TaskId; 4]>;

const FIRST_SWEEP: u32 = 32;

impl Dependencies {
    /// No access so far to any of `handles` handles.
    pub fn new(handles: usize) -> Self {
        let fresh = || History {
            mode: Access::ReadWrite,
            group: Group::new(),
            before: Group::new(),
            sweep_at: FIRST_SWEEP,
        };
        Dependencies {
            handles: std::iter::repeat_with(fresh).take(handles).collect(),
        }
    }

    /// `task` accesses `handle`: calls `wait_for` on each task of the group before, which returns `false` if that task is
    /// over, so that nothing needs to wait for it any more. Where nothing is ever over, every edge is found. The same task
    /// may come up for several handles, and `task` itself where it names a handle twice; the callback leaves those out.
    ///
    /// Cost: the size of the group before, amortised constant beyond that.
    ///
    /// # Panics
    /// If `handle` is not below the number of handles.
    pub fn access(
        &mut self,
        handle: Handle,
        access: Access,
        task: TaskId,
        is_over: impl Fn(TaskId) -> bool,
        mut wait_for: impl FnMut(TaskId) -> bool,
    ) {
        let history = &mut self.handles[handle.0 as usize];
        if access.is_exclusive() || access != history.mode {
            std::mem::swap(&mut history.before, &mut history.group);
            history.group.clear();
            history.mode = access;
            history.sweep_at = FIRST_SWEEP;
        } else if history.group.len() >= history.sweep_at as usize {
            history.group.retain(|member| !is_over(*member));
            history.sweep_at = FIRST_SWEEP.max(2 * history.group.len() as u32);
        }
        history.before.retain(|earlier| wait_for(*earlier));
        history.group.push(task);
    }
}
