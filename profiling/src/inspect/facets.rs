//! What a row can be chosen by: when, who, which task, codelet and tree node.
//!
//! Takes a row of any table; gives [`Facet`]. Knows no filter.

use crate::trace::schema::{
    AccessRow, Codelet, Counter, Dependency, Front, GraphTask, HandleRow, Memory, NodeEvent, Phase,
    Queue, Share, Spill, State, Switch, Task, Transfer, Worker,
};

/// What is known of a row; what it does not say itself may follow from its task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facet {
    /// From and to, in nanoseconds.
    pub span: Option<(i64, i64)>,
    /// The thread: a worker, or `Some(None)` for the one that submits.
    pub thread: Option<Option<u16>>,
    /// The task.
    pub task: Option<u32>,
    /// A second task: it must be there too.
    pub predecessor: Option<u32>,
    /// The codelet.
    pub codelet: Option<u16>,
    /// The tree node, by the numbers that tasks carry.
    pub node: Option<u32>,
    /// Another front that it names.
    pub child: Option<u32>,
    /// Data of this number.
    pub handle: Option<u32>,
}

/// A row that can be chosen.
pub trait Facets {
    /// A description that others point to: it stays whole in a smaller trace.
    const DESCRIBES: bool = false;
    /// It says of its task only which one it is. One with a thread must be on a chosen one too.
    const BY_TASK: bool = false;
    /// The node is a front itself, not what its tasks carry.
    const FRONTS: bool = false;

    /// What this row can be chosen by.
    fn facet(&self) -> Facet;
}

fn span(from: u64, to: u64) -> Option<(i64, i64)> {
    let ns = |t| i64::try_from(t).unwrap_or(i64::MAX);
    Some((ns(from), ns(to)))
}

macro_rules! facets {
    ($($row:ident $(($($constant:ident),+))? |$r:ident| { $($field:ident: $value:expr),* $(,)? })+) => {
        $(impl Facets for $row {
            $($(const $constant: bool = true;)+)?

            fn facet(&self) -> Facet {
                let $r = self;
                Facet { $($field: $value,)* ..Facet::default() }
            }
        })+
    };
}

facets! {
    Worker (DESCRIBES) |r| { thread: Some(Some(r.worker)) }
    Codelet (DESCRIBES) |r| { codelet: Some(r.codelet) }
    Front (DESCRIBES, FRONTS) |r| { node: Some(r.node) }
    HandleRow (DESCRIBES) |r| { node: Some(r.node), handle: Some(r.handle) }
    Phase (DESCRIBES) |r| { span: Some((r.start_ns, r.end_ns)) }
    Task |r| {
        span: span(r.start_ns, r.end_ns),
        thread: Some(Some(r.worker)),
        task: Some(r.task),
        codelet: Some(r.codelet),
        node: Some(r.node),
        child: r.child,
    }
    Dependency (BY_TASK) |r| { task: Some(r.task), predecessor: Some(r.predecessor) }
    Memory (BY_TASK) |r| { span: span(r.time_ns, r.time_ns), task: Some(r.task), node: Some(r.node), handle: Some(r.handle) }
    State |r| { span: span(r.start_ns, r.end_ns), thread: Some(r.worker) }
    Share (BY_TASK) |r| { span: span(r.start_ns, r.end_ns), thread: Some(Some(r.worker)), task: Some(r.task) }
    Queue |r| { span: span(r.time_ns, r.time_ns), thread: Some(Some(r.worker)) }
    Transfer |r| { span: span(r.asked_ns, r.end_ns), handle: Some(r.handle) }
    Switch |r| { span: span(r.out_ns, r.in_ns.unwrap_or(u64::MAX)), thread: Some(r.worker) }
    Counter (BY_TASK) |r| { task: Some(r.task) }
    NodeEvent (BY_TASK) |r| { span: span(r.time_ns, r.time_ns), task: Some(r.task), node: Some(r.node), child: r.child }
    Spill |r| { span: span(r.start_ns, r.end_ns), thread: Some(r.worker) }
    GraphTask |r| { task: Some(r.task), codelet: Some(r.codelet), node: Some(r.node), child: r.child }
    AccessRow (BY_TASK) |r| { task: Some(r.task), handle: Some(r.handle) }
}
