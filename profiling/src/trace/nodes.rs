//! What happened to tree nodes, from their tasks.
//!
//! Takes tasks and the roles of their codelets; gives events in the order of time. What solves with a node's factors is no event.

use super::schema::{Codelet, NodeEvent, NodeEventKind, Role, Task};
use std::collections::HashMap;

/// First and last task of each kind at a node, as far as it has come.
#[derive(Default)]
struct Life {
    activated: Option<(u64, u32)>,
    assembled: HashMap<u32, (u64, u32)>,
    factorized: Option<(u64, u32)>,
    cleaned: Option<(u64, u32)>,
}

/// The events of all tree nodes, in the order of time.
pub fn node_events(tasks: &[Task], codelets: &[Codelet]) -> Vec<NodeEvent> {
    let mut lives: HashMap<u32, Life> = HashMap::new();
    let last = |slot: &mut Option<(u64, u32)>, task: &Task| {
        *slot = Some(slot.map_or((0, 0), |s| s).max((task.end_ns, task.task)));
    };
    for task in tasks {
        let role = codelets[usize::from(task.codelet)].role;
        let life = lives.entry(task.node).or_default();
        match role {
            Role::Activate | Role::Subtree => {
                let first = life.activated.unwrap_or((u64::MAX, 0));
                life.activated = Some(first.min((task.start_ns, task.task)));
            }
            Role::Clean => last(&mut life.cleaned, task),
            _ => {}
        }
        match (role, task.child) {
            (Role::Assemble, Some(child)) => {
                let end = life.assembled.entry(child).or_default();
                *end = (*end).max((task.end_ns, task.task));
            }
            (Role::Compute | Role::Subtree, _) => last(&mut life.factorized, task),
            _ => {}
        }
    }
    let mut out = Vec::new();
    for (&node, life) in &lives {
        let mut event = |event, child, at: (u64, u32)| {
            out.push(NodeEvent {
                time_ns: at.0,
                node,
                event,
                child,
                task: at.1,
            });
        };
        if let Some(at) = life.activated {
            event(NodeEventKind::Activated, None, at);
        }
        for (&child, &at) in &life.assembled {
            event(NodeEventKind::Assembled, Some(child), at);
        }
        if let Some(at) = life.factorized {
            event(NodeEventKind::Factorized, None, at);
        }
        if let Some(at) = life.cleaned {
            event(NodeEventKind::Cleaned, None, at);
        }
    }
    out.sort_by_key(|e| (e.time_ns, e.node, e.event, e.child));
    out
}
