//! From the recorder's tables to those of a trace.
//!
//! Takes the tables of one run and what the application knows of its tasks ([`Meaning`]); gives tables that stand for
//! themselves. What follows from others is worked out here, so that a reader need not: dependencies from the accesses, events
//! of tree nodes from their tasks, states of the submission from its stalls.

use super::Tables;
use super::schema::{
    Codelet, Counter, Dependency, Front, Memory, NodeEvent, NodeEventKind, Phase, Queue, Role,
    Spill, State, Switch, Task, ThreadState, Transfer, TransferReason, Worker, WorkerKind,
};
use crate::recording::{RecordedRun, StateRow, TaskRow};
use std::collections::HashMap;
use treeqr_runtime::{Dependencies, StallReason, TaskId, TransferKind, WorkerState};

/// What a task works on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskMeaning {
    /// Columns of the same names of [`Task`].
    pub panel: Option<u32>,
    /// See [`Task`].
    pub tile_row: Option<u32>,
    /// See [`Task`].
    pub tile_col: Option<u32>,
    /// See [`Task`].
    pub child: Option<u32>,
    /// See [`Task`].
    pub rows: u32,
    /// See [`Task`].
    pub cols: u32,
    /// See [`Task`].
    pub inner: u32,
    /// See [`Task`].
    pub coefficients: u64,
}

/// What the application knows of a run, and the runtime does not.
pub struct Meaning<'a> {
    /// What the codelet of this name does.
    pub role: &'a dyn Fn(&str) -> Role,
    /// What this task works on.
    pub task: &'a dyn Fn(&TaskRow) -> TaskMeaning,
    /// The tree.
    pub fronts: Vec<Front>,
    /// The steps of the program.
    pub phases: Vec<Phase>,
    /// What the kernel did with the threads, if it was recorded.
    pub switches: Vec<Switch>,
    /// Counters over tasks, if they were recorded.
    pub counters: Vec<Counter>,
}

/// The tables of a measured run. O(records log records).
pub fn measured(run: &RecordedRun, meaning: Meaning<'_>) -> Tables {
    let codelet = |(codelet, &name): (usize, &&'static str)| Codelet {
        codelet: codelet as u16,
        name: name.to_owned(),
        role: (meaning.role)(name),
    };
    let codelets: Vec<_> = run.codelets.iter().enumerate().map(codelet).collect();
    let tasks: Vec<_> = run.tasks.iter().map(|row| task(row, &meaning)).collect();
    let node_events = node_events(&tasks, &codelets);
    Tables {
        workers: workers(run),
        dependencies: dependencies(run),
        fronts: meaning.fronts,
        memory: run.memory.iter().map(memory).collect(),
        states: states(run),
        queues: queues(run),
        transfers: run.transfers.iter().map(transfer).collect(),
        switches: meaning.switches,
        counters: meaning.counters,
        phases: meaning.phases,
        node_events,
        spills: run.spills.iter().map(spill).collect(),
        codelets,
        tasks,
        ..Tables::default()
    }
}

fn workers(run: &RecordedRun) -> Vec<Worker> {
    let host = run.workers.len() - run.devices.len().min(run.workers.len());
    let worker = |row: &crate::recording::WorkerRow| {
        let number = usize::from(row.worker);
        let device = number.checked_sub(host);
        Worker {
            worker: row.worker,
            kind: device.map_or(WorkerKind::Cpu, |_| WorkerKind::Device),
            name: match device {
                Some(device) => run.devices[device].clone(),
                None => format!("CPU{number}"),
            },
            memory_node: device.map_or(0, |device| device as u16 + 1),
            bound_to: row.bound_to,
            start_ns: row.start_ns,
            end_ns: row.end_ns,
        }
    };
    run.workers.iter().map(worker).collect()
}

fn task(row: &TaskRow, meaning: &Meaning<'_>) -> Task {
    let of = (meaning.task)(row);
    Task {
        task: row.id.0,
        codelet: row.codelet.0,
        worker: row.worker,
        node: row.node,
        priority: row.priority,
        submit_ns: row.submit_ns,
        ready_ns: row.ready_ns,
        pop_ns: row.pop_ns,
        start_ns: row.start_ns,
        end_ns: row.end_ns,
        flops: row.flops,
        bytes: row.bytes,
        panel: of.panel,
        tile_row: of.tile_row,
        tile_col: of.tile_col,
        child: of.child,
        rows: of.rows,
        cols: of.cols,
        inner: of.inner,
        coefficients: of.coefficients,
    }
}

/// The direct predecessors of every task that was done, by the accesses in the order of submission.
fn dependencies(run: &RecordedRun) -> Vec<Dependency> {
    let handles = run.accesses.iter().map(|row| row.handle.0 as usize + 1);
    let mut rule = Dependencies::new(handles.max().unwrap_or(0));
    let (mut out, mut of_task) = (Vec::new(), Vec::new());
    for accesses in run.accesses.chunk_by(|a, b| a.task == b.task) {
        let task = accesses[0].task;
        of_task.clear();
        for row in accesses {
            rule.access(
                row.handle,
                row.access,
                task,
                |_| false,
                |earlier: TaskId| {
                    of_task.push(earlier.0);
                    true
                },
            );
        }
        if run.tasks.binary_search_by_key(&task, |t| t.id).is_err() {
            continue;
        }
        of_task.sort_unstable();
        of_task.dedup();
        out.extend(of_task.iter().map(|&predecessor| Dependency {
            task: task.0,
            predecessor,
        }));
    }
    out
}

fn memory(row: &crate::recording::MemoryRow) -> Memory {
    Memory {
        time_ns: row.time_ns,
        task: row.task.0,
        node: row.node,
        memory_node: row.memory.0,
        handle: row.handle.0,
        delta_bytes: row.delta_bytes,
        after_bytes: row.after_bytes,
    }
}

/// By time; those of workers and of the submission together.
fn states(run: &RecordedRun) -> Vec<State> {
    let of_worker = |row: &StateRow| State {
        worker: Some(row.worker),
        state: match row.state {
            WorkerState::Scheduling => ThreadState::Scheduling,
            WorkerState::Idle => ThreadState::Idle,
            WorkerState::Sleeping => ThreadState::Sleeping,
            WorkerState::Transferring => ThreadState::Transferring,
        },
        start_ns: row.start_ns,
        end_ns: row.end_ns,
    };
    let of_submission = |row: &crate::recording::StallRow| State {
        worker: None,
        state: match row.reason {
            StallReason::Window => ThreadState::WindowFull,
            StallReason::Memory => ThreadState::MemoryFull,
        },
        start_ns: row.start_ns,
        end_ns: row.end_ns,
    };
    let workers = run.states.iter().map(of_worker);
    let mut out: Vec<_> = workers
        .chain(run.stalls.iter().map(of_submission))
        .collect();
    out.sort_by_key(|state| (state.start_ns, state.worker));
    out
}

fn queues(run: &RecordedRun) -> Vec<Queue> {
    let of_task = |row: &TaskRow| Queue {
        time_ns: row.pop_ns,
        worker: row.worker,
        length: row.queued,
    };
    let mut out: Vec<_> = run.tasks.iter().map(of_task).collect();
    out.sort_by_key(|queue| (queue.time_ns, queue.worker));
    out
}

fn transfer(row: &crate::recording::TransferRow) -> Transfer {
    Transfer {
        asked_ns: row.asked_ns,
        start_ns: row.start_ns,
        end_ns: row.end_ns,
        handle: row.handle.0,
        source_node: row.from.0,
        target_node: row.to.0,
        reason: match row.kind {
            TransferKind::Fetch => TransferReason::Fetch,
            TransferKind::Prefetch => TransferReason::Prefetch,
            TransferKind::Return => TransferReason::Return,
            TransferKind::WriteBack => TransferReason::WriteBack,
        },
        bytes: row.bytes,
    }
}

fn spill(row: &crate::recording::SpillRow) -> Spill {
    Spill {
        worker: super::events::worker_of(row.lane),
        start_ns: row.start_ns,
        end_ns: row.end_ns,
        bytes: row.bytes,
    }
}

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
