//! From the order of submission and the access modes to the edges of the task graph.
//!
//! Takes, task by task in the order of submission, each (handle, access); gives the earlier tasks it must wait for.
//! Knows no thread and no time, and not what a node is, so the same inference serves real runs, virtual time and the
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

use crate::spec::{Access, Handle};
use smallvec::SmallVec;

/// What the inference keeps for a task.
pub trait FlowNode: Clone {
    /// Whether the task is over, so that nothing needs to wait for it and it can be forgotten.
    fn is_finished(&self) -> bool;
}

/// For inference apart from a run: nothing is ever over, every edge is found.
impl FlowNode for crate::spec::TaskId {
    fn is_finished(&self) -> bool {
        false
    }
}

/// The accesses to all handles so far.
pub struct Dependencies<T> {
    handles: Vec<History<T>>,
}

struct History<T> {
    /// Mode of `group`.
    mode: Access,
    group: SmallVec<[T; 2]>,
    before: SmallVec<[T; 2]>,
    /// Length of `group` at which finished members are swept out.
    sweep_at: u32,
}

const FIRST_SWEEP: u32 = 32;

impl<T: FlowNode> Dependencies<T> {
    /// No access so far to any of `handles` handles.
    pub fn new(handles: usize) -> Self {
        let fresh = || History {
            mode: Access::ReadWrite,
            group: SmallVec::new(),
            before: SmallVec::new(),
            sweep_at: FIRST_SWEEP,
        };
        Dependencies {
            handles: std::iter::repeat_with(fresh).take(handles).collect(),
        }
    }

    /// `task` accesses `handle`: calls `wait_for` on each task of the group before. The same task may come up for
    /// several handles, and `task` itself where it names a handle twice; the callback leaves those out.
    ///
    /// Cost: the size of the group before, amortised constant beyond that.
    ///
    /// # Panics
    /// If `handle` is not below the number of handles.
    pub fn access(
        &mut self,
        handle: Handle,
        access: Access,
        task: &T,
        mut wait_for: impl FnMut(&T),
    ) {
        let history = &mut self.handles[handle.0 as usize];
        if access.is_exclusive() || access != history.mode {
            std::mem::swap(&mut history.before, &mut history.group);
            history.group.clear();
            history.mode = access;
            history.sweep_at = FIRST_SWEEP;
        } else if history.group.len() >= history.sweep_at as usize {
            history.group.retain(|member| !member.is_finished());
            history.sweep_at = FIRST_SWEEP.max(2 * history.group.len() as u32);
        }
        history.before.iter().for_each(&mut wait_for);
        history.before.retain(|earlier| !earlier.is_finished());
        history.group.push(task.clone());
    }
}
