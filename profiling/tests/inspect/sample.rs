//! A trace made on the spot: a binary tree of fronts, each a chain of tasks, scheduled greedily on a few workers.

use serde_json::json;
use treeqr_profiling::trace::schema::{
    AccessMode, AccessRow, Codelet, Counter, Dependency, Front, FrontKind, GraphTask, HandleRow,
    Memory, NodeEvent, NodeEventKind, Phase, Queue, Role, Spill, State, Switch, SwitchReason, Task,
    ThreadState, Transfer, TransferReason, Worker, WorkerKind,
};
use treeqr_profiling::trace::{Manifest, Tables, Trace, TraceKind};

const CODELETS: [(&str, Role); 4] = [
    ("init_front", Role::Activate),
    ("block_copy", Role::Assemble),
    ("geqrt", Role::Compute),
    ("clean_front", Role::Clean),
];

/// Small numbers that look random and are always the same.
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % n
    }
}

/// A run of 2^`levels` - 1 fronts with `steps` computations each.
pub fn sample(levels: u32, steps: u32, workers: u16, seed: u64) -> Trace {
    let mut run = Run {
        draw: Draw(seed),
        tables: Tables::default(),
        free: vec![100; workers.into()],
        ends: Vec::new(),
        held: 0,
    };
    run.tree(levels, 1, steps);
    run.describe(workers);
    let tables = run.tables;
    let mut manifest = Manifest::new(TraceKind::Measured, "sample".to_owned());
    let end_ns = run.free.iter().copied().max().unwrap_or(100) + 50;
    manifest.run.scheduler = "lws".to_owned();
    manifest.run.begin_ns = 90;
    manifest.run.end_ns = end_ns;
    manifest.run.submitted_tasks = tables.tasks.len() as u64;
    manifest.matrix.insert("name".to_owned(), json!("sample"));
    let flops: u64 = tables.tasks.iter().map(|t| t.flops).sum();
    let analysis = json!({"flops": flops, "tasks": tables.tasks.len(), "fronts": tables.fronts.len(), "factor_bytes": run.held});
    manifest.analysis = analysis.as_object().expect("an object").clone();
    Trace { manifest, tables }
}

/// The graph of the same program, without times.
pub fn graph(levels: u32, steps: u32) -> Trace {
    let mut trace = sample(levels, steps, 1, 1);
    let tasks = std::mem::take(&mut trace.tables.tasks);
    let memory = std::mem::take(&mut trace.tables.memory);
    let of = |task: u32, sign: i64| -> u64 {
        let mine = memory.iter().filter(|m| m.task == task);
        mine.map(|m| (sign * m.delta_bytes).max(0) as u64).sum()
    };
    trace.tables.graph = tasks
        .iter()
        .map(|t| GraphTask {
            task: t.task,
            codelet: t.codelet,
            node: t.node,
            priority: t.priority,
            flops: t.flops,
            panel: t.panel,
            tile_row: t.tile_row,
            tile_col: t.tile_col,
            child: t.child,
            rows: t.rows,
            cols: t.cols,
            inner: t.inner,
            coefficients: t.coefficients,
            allocated_bytes: of(t.task, 1),
            freed_bytes: of(t.task, -1),
        })
        .collect();
    let fronts = trace.tables.fronts.len() as u32;
    trace.tables.handles = (0..fronts)
        .map(|node| HandleRow {
            handle: node,
            size_bytes: 1000,
            node,
        })
        .collect();
    trace.tables.accesses = tasks
        .iter()
        .map(|t| AccessRow {
            task: t.task,
            handle: t.node,
            mode: AccessMode::ReadWrite,
        })
        .collect();
    trace.tables = Tables {
        codelets: trace.tables.codelets,
        fronts: trace.tables.fronts,
        dependencies: trace.tables.dependencies,
        graph: trace.tables.graph,
        handles: trace.tables.handles,
        accesses: trace.tables.accesses,
        ..Tables::default()
    };
    trace.manifest.kind = TraceKind::Graph;
    trace
}

struct Run {
    draw: Draw,
    tables: Tables,
    /// By worker, when it is free.
    free: Vec<u64>,
    /// By task, when it ends.
    ends: Vec<u64>,
    held: i64,
}

impl Run {
    /// A front with its descendants; gives its number and its last task.
    fn tree(&mut self, levels: u32, depth: u32, steps: u32) -> (u32, u32) {
        let children: Vec<_> = match levels {
            1 => Vec::new(),
            _ => (0..2)
                .map(|_| self.tree(levels - 1, depth + 1, steps))
                .collect(),
        };
        let node = self.tables.fronts.len() as u32;
        for (child, _) in &children {
            self.tables.fronts[*child as usize].parent = Some(node);
        }
        self.tables.fronts.push(Front {
            node,
            parent: None,
            depth,
            kind: FrontKind::Tiled,
            task_node: node,
            rows: 40 + node,
            cols: 20,
            pivots: 10,
            cb_rows: 10,
            tile_rows: Some(2),
            tile_cols: Some(1),
            inner_block: Some(4),
            flat_height: Some(2),
            flops: 1000 * u64::from(steps),
        });
        let mut last = self.task(0, node, None, &[]);
        self.memory(last, node, 1000);
        for &(child, end_of_child) in &children {
            last = self.task(1, node, Some(child), &[last, end_of_child]);
            let clean = self.task(3, child, Some(child), &[last]);
            self.memory(clean, child, -600);
        }
        for _ in 0..steps {
            last = self.task(2, node, None, &[last]);
        }
        (node, last)
    }

    fn task(&mut self, codelet: u16, node: u32, child: Option<u32>, before: &[u32]) -> u32 {
        let task = self.tables.tasks.len() as u32;
        let submit_ns = 91 + u64::from(task) * 2;
        let mut predecessors = before.to_vec();
        predecessors.sort_unstable();
        for &predecessor in &predecessors {
            self.tables
                .dependencies
                .push(Dependency { task, predecessor });
        }
        let ends = predecessors.iter().map(|&p| self.ends[p as usize]);
        let ready_ns = ends.fold(submit_ns, u64::max);
        let (worker, &free) = self
            .free
            .iter()
            .enumerate()
            .min_by_key(|w| w.1)
            .expect("one");
        let start_ns = ready_ns.max(free) + 3;
        let end_ns = start_ns + 50 + self.draw.below(300);
        if start_ns > free + 10 {
            self.tables.states.push(State {
                worker: Some(worker as u16),
                state: ThreadState::Idle,
                start_ns: free + 1,
                end_ns: start_ns - 1,
            });
        }
        self.free[worker] = end_ns;
        self.ends.push(end_ns);
        self.tables.queues.push(Queue {
            time_ns: start_ns - 1,
            worker: worker as u16,
            length: 0,
        });
        self.tables.tasks.push(Task {
            task,
            codelet,
            worker: worker as u16,
            node,
            priority: -i64::from(task),
            submit_ns,
            ready_ns,
            pop_ns: start_ns - 1,
            start_ns,
            end_ns,
            flops: if codelet == 2 { 1000 } else { 0 },
            bytes: 1000,
            panel: (codelet == 2).then_some(0),
            tile_row: (codelet == 2).then_some(0),
            tile_col: (codelet == 2).then_some(0),
            child,
            rows: 40,
            cols: 20,
            inner: 10,
            coefficients: 0,
        });
        task
    }

    /// Front storage, in the order of submission; times follow when all is known.
    fn memory(&mut self, task: u32, node: u32, delta_bytes: i64) {
        self.held += delta_bytes;
        self.tables.memory.push(Memory {
            time_ns: self.tables.tasks[task as usize].start_ns,
            task,
            node,
            memory_node: 0,
            handle: node,
            delta_bytes,
            after_bytes: 0,
        });
    }

    fn describe(&mut self, workers: u16) {
        let tables = &mut self.tables;
        tables.memory.sort_by_key(|m| m.time_ns);
        let mut held = 0;
        for m in &mut tables.memory {
            held += m.delta_bytes;
            m.after_bytes = held as u64;
        }
        tables.queues.sort_by_key(|q| q.time_ns);
        tables.codelets = (0..).zip(CODELETS).map(codelet).collect();
        tables.workers = (0..workers)
            .map(|worker| Worker {
                worker,
                kind: WorkerKind::Cpu,
                name: format!("CPU{worker}"),
                memory_node: 0,
                bound_to: Some(worker.into()),
                start_ns: 95,
                end_ns: self.free[usize::from(worker)] + 20,
            })
            .collect();
        let event = |t: &Task| {
            let (event, time_ns) = match t.codelet {
                0 => (NodeEventKind::Activated, t.start_ns),
                1 => (NodeEventKind::Assembled, t.end_ns),
                2 => (NodeEventKind::Factorized, t.end_ns),
                _ => (NodeEventKind::Cleaned, t.end_ns),
            };
            NodeEvent {
                time_ns,
                node: t.node,
                event,
                child: (event == NodeEventKind::Assembled)
                    .then_some(t.child)
                    .flatten(),
                task: t.task,
            }
        };
        tables.node_events = tables.tasks.iter().map(event).collect();
        tables.node_events.sort_by_key(|e| e.time_ns);
        let phase = |phase: &str, part_of: Option<&str>, start_ns, end_ns| Phase {
            phase: phase.to_owned(),
            part_of: part_of.map(str::to_owned),
            start_ns,
            end_ns,
        };
        let end = self.free.iter().copied().max().unwrap_or(0) as i64;
        tables.phases = vec![
            phase("analyse", None, -500, 0),
            phase("ordering", Some("analyse"), -400, -100),
            phase("factorize", None, 80, end + 60),
        ];
        tables.counters = vec![Counter {
            task: 1,
            counter: "cycles".to_owned(),
            value: 12,
        }];
        tables.spills = vec![Spill {
            worker: Some(0),
            start_ns: 110,
            end_ns: 120,
            bytes: 4096,
        }];
        tables.switches = vec![Switch {
            worker: Some(0),
            out_ns: 130,
            in_ns: Some(140),
            from_unit: 0,
            to_unit: Some(1),
            reason: SwitchReason::Migrated,
        }];
    }
}

/// With a device and a transfer to it.
pub fn with_device(mut trace: Trace) -> Trace {
    trace.manifest.run.devices = vec!["cuda0".to_owned()];
    let last = trace.tables.workers.last_mut().expect("a worker");
    last.kind = WorkerKind::Device;
    last.memory_node = 1;
    trace.tables.transfers = vec![Transfer {
        asked_ns: 200,
        start_ns: 210,
        end_ns: 220,
        handle: 1,
        source_node: 0,
        target_node: 1,
        reason: TransferReason::Fetch,
        bytes: 1000,
    }];
    trace
}

fn codelet((codelet, (name, role)): (u16, (&str, Role))) -> Codelet {
    Codelet {
        codelet,
        name: name.to_owned(),
        role,
    }
}
