//! From the recorder's tables to those of a trace.
//!
//! Takes the tables of the runs, one after the other, and what the application knows of their tasks ([`Meaning`]); gives tables
//! that stand for themselves. What follows from others is worked out here, so that a reader need not: dependencies from the
//! accesses, events of tree nodes from their tasks, states of the submission from its stalls.
//!
//! Tasks, codelets and data are numbered through from run to run, and bytes held are those of all runs so far; a worker is
//! the same by its number.

use super::Tables;
use super::manifest::RunPart;
use super::nodes::node_events;
use super::schema::{
    Codelet, Counter, Dependency, Front, Memory, Phase, Queue, Role, Share, Spill, State, Switch,
    Task, ThreadState, Transfer, TransferReason, Worker, WorkerKind,
};
use crate::recording::{RecordedRun, ShareRow, StateRow, TaskRow};
use treeqr_runtime::{Dependencies, MemoryNode, StallReason, TaskId, TransferKind, WorkerState};

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

/// What the application knows of its runs, and the runtime does not.
pub struct Meaning<'a> {
    /// What the codelet of this name does.
    pub role: &'a dyn Fn(&str) -> Role,
    /// What this task of the run of this number works on.
    pub task: &'a dyn Fn(usize, &TaskRow) -> TaskMeaning,
    /// The tree.
    pub fronts: Vec<Front>,
    /// The steps of the program.
    pub phases: Vec<Phase>,
    /// What the kernel did with the threads, if it was recorded.
    pub switches: Vec<Switch>,
    /// Counters over tasks, if they were recorded. Tasks are numbered as in the trace.
    pub counters: Vec<Counter>,
}

/// What is added to the numbers of a run.
#[derive(Clone, Copy, Default)]
struct Shift {
    task: u32,
    codelet: u16,
    handle: u32,
    /// Bytes that earlier runs left on the host, and this one did not count.
    held_bytes: i64,
}

/// The tables of measured runs. O(records log records).
pub fn measured(runs: &[RecordedRun], meaning: Meaning<'_>) -> Tables {
    let mut out = Tables {
        fronts: meaning.fronts,
        phases: meaning.phases,
        switches: meaning.switches,
        counters: meaning.counters,
        ..Tables::default()
    };
    let (mut shift, mut held) = (Shift::default(), 0);
    // What the runs before had, and from what number on.
    let mut known: Vec<(&[&'static str], u16)> = Vec::new();
    for (k, run) in runs.iter().enumerate() {
        let host_bytes = signed(run.host_bytes);
        // A store of its own began with nothing; one that the runs share has counted what was left.
        let held_before = if k == 0 { host_bytes } else { held };
        shift.held_bytes = held_before - host_bytes;
        let same = known.iter().find(|k| k.0 == run.codelets);
        shift.codelet = match same {
            Some(&(_, first)) => first,
            None => {
                let first = out.codelets.len() as u16;
                out.codelets
                    .extend(codelets(&run.codelets, first, meaning.role));
                known.push((&run.codelets, first));
                first
            }
        };
        let task = |row| task(row, (meaning.task)(k, row), shift);
        out.tasks.extend(run.tasks.iter().map(task));
        dependencies(run, shift, &mut out.dependencies);
        out.memory
            .extend(run.memory.iter().map(|row| memory(row, shift)));
        out.queues.extend(run.tasks.iter().map(queue));
        states(run, &mut out.states);
        out.shares
            .extend(run.shares.iter().map(|row| share(row, shift)));
        let transfers = run.transfers.iter();
        out.transfers
            .extend(transfers.map(|row| transfer(row, shift)));
        out.spills.extend(run.spills.iter().map(spill));
        workers(run, &mut out.workers);
        let on_host = run.memory.iter().filter(|m| m.memory == MemoryNode::HOST);
        held = held_before + on_host.map(|m| m.delta_bytes).sum::<i64>();
        shift = shift.after(run);
    }
    out.workers.sort_by_key(|worker| worker.worker);
    out.states.sort_by_key(|s| (s.start_ns, s.worker));
    out.shares.sort_by_key(|s| (s.start_ns, s.worker));
    out.queues.sort_by_key(|q| (q.time_ns, q.worker));
    out.node_events = node_events(&out.tasks, &out.codelets);
    out
}

/// What the manifest says of each run; `names` are theirs.
pub fn parts(runs: &[RecordedRun], names: &[&str]) -> Vec<RunPart> {
    let mut first_task = 0;
    let part = |(run, &name): (&RecordedRun, &&str)| {
        let part = RunPart {
            name: name.to_owned(),
            scheduler: run.scheduler.to_owned(),
            workers: run.workers.len() as u64,
            begin_ns: run.begin_ns,
            end_ns: run.end_ns,
            first_task,
            submitted_tasks: run.submitted,
        };
        first_task += run.submitted;
        part
    };
    runs.iter().zip(names).map(part).collect()
}

/// A table of codelets, numbered from `first` on.
pub fn codelets<'a>(
    names: &'a [&'static str],
    first: u16,
    role: impl Fn(&str) -> Role + 'a,
) -> impl Iterator<Item = Codelet> + 'a {
    let codelet = move |(name, codelet): (&&'static str, u16)| Codelet {
        codelet,
        name: (*name).to_owned(),
        role: role(name),
    };
    names.iter().zip(first..).map(codelet)
}

fn signed(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

impl Shift {
    /// For the run after this one.
    fn after(self, run: &RecordedRun) -> Self {
        let data = run.accesses.iter().map(|row| row.handle.0);
        let data = data.chain(run.memory.iter().map(|row| row.handle.0));
        Shift {
            task: self.task + run.submitted as u32,
            codelet: self.codelet,
            handle: self.handle + data.max().map_or(0, |most| most + 1),
            held_bytes: 0,
        }
    }
}

/// Adds the workers of a run; those that are there already go on.
fn workers(run: &RecordedRun, out: &mut Vec<Worker>) {
    // Of every worker of a device: the device, its stream if it has several.
    let driven: Vec<(usize, Option<usize>)> = run
        .device_workers
        .iter()
        .enumerate()
        .flat_map(|(d, &n)| (0..n).map(move |s| (d, (n > 1).then_some(s))))
        .collect();
    let host = run.workers.len().saturating_sub(driven.len());
    let worker = |row: &crate::recording::WorkerRow| {
        let number = usize::from(row.worker);
        let device = number.checked_sub(host).map(|at| driven[at]);
        Worker {
            worker: row.worker,
            kind: device.map_or(WorkerKind::Cpu, |_| WorkerKind::Device),
            name: match device {
                Some((device, None)) => run.devices[device].clone(),
                Some((device, Some(stream))) => format!("{}.{stream}", run.devices[device]),
                None => format!("CPU{number}"),
            },
            memory_node: device.map_or(0, |(device, _)| device as u16 + 1),
            bound_to: row.bound_to,
            start_ns: row.start_ns,
            end_ns: row.end_ns,
        }
    };
    for row in &run.workers {
        match out.iter_mut().find(|known| known.worker == row.worker) {
            Some(known) => {
                known.start_ns = known.start_ns.min(row.start_ns);
                known.end_ns = known.end_ns.max(row.end_ns);
            }
            None => out.push(worker(row)),
        }
    }
}

fn task(row: &TaskRow, of: TaskMeaning, shift: Shift) -> Task {
    Task {
        task: shift.task + row.id.0,
        codelet: shift.codelet + row.codelet.0,
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

/// Adds the direct predecessors of every task that was done, by the accesses in the order of submission.
fn dependencies(run: &RecordedRun, shift: Shift, out: &mut Vec<Dependency>) {
    let handles = run.accesses.iter().map(|row| row.handle.0 as usize + 1);
    let mut rule = Dependencies::new(handles.max().unwrap_or(0));
    let mut of_task = Vec::new();
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
            task: shift.task + task.0,
            predecessor: shift.task + predecessor,
        }));
    }
}

fn memory(row: &crate::recording::MemoryRow, shift: Shift) -> Memory {
    let held_before = match row.memory {
        MemoryNode::HOST => shift.held_bytes,
        _ => 0,
    };
    Memory {
        time_ns: row.time_ns,
        task: shift.task + row.task.0,
        node: row.node,
        memory_node: row.memory.0,
        handle: shift.handle + row.handle.0,
        delta_bytes: row.delta_bytes,
        after_bytes: row.after_bytes.saturating_add_signed(held_before),
    }
}

/// Adds those of workers and of the submission.
fn states(run: &RecordedRun, out: &mut Vec<State>) {
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
    out.extend(run.states.iter().map(of_worker));
    out.extend(run.stalls.iter().map(of_submission));
}

fn share(row: &ShareRow, shift: Shift) -> Share {
    Share {
        task: shift.task + row.task.0,
        worker: row.worker,
        parts: row.parts,
        start_ns: row.start_ns,
        end_ns: row.end_ns,
    }
}

fn queue(row: &TaskRow) -> Queue {
    Queue {
        time_ns: row.pop_ns,
        worker: row.worker,
        length: row.queued,
    }
}

fn transfer(row: &crate::recording::TransferRow, shift: Shift) -> Transfer {
    Transfer {
        asked_ns: row.asked_ns,
        start_ns: row.start_ns,
        end_ns: row.end_ns,
        handle: shift.handle + row.handle.0,
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
