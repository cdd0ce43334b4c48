//! Random traces that keep all the rules of a real one: tasks wait for their predecessors, one at a time runs on a worker,
//! states fill what lies between, memory is counted as it was taken.

#![allow(dead_code, reason = "not every test uses all of it")]

pub mod samples;

use treeqr_profiling::trace::schema::*;
use treeqr_profiling::trace::{Manifest, Tables, Trace, TraceKind};

/// What is made.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub seed: u64,
    /// At least so many tasks.
    pub tasks: usize,
    pub cpus: u16,
    pub devices: u16,
}

impl Shape {
    pub fn small(seed: u64) -> Self {
        Shape {
            seed,
            tasks: 50 + (seed as usize * 37) % 300,
            cpus: 1 + (seed % 4) as u16,
            devices: (seed % 3) as u16,
        }
    }
}

pub const CODELETS: [(&str, Role); 9] = [
    ("init_front", Role::Activate),
    ("init_block", Role::Assemble),
    ("block_copy", Role::Assemble),
    ("do_subtree", Role::Subtree),
    ("geqrt", Role::Compute),
    ("gemqrt", Role::Compute),
    ("tpqrt", Role::Compute),
    ("tpmqrt", Role::Compute),
    ("clean_front", Role::Clean),
];
const INIT_FRONT: u16 = 0;
const INIT_BLOCK: u16 = 1;
const BLOCK_COPY: u16 = 2;
const DO_SUBTREE: u16 = 3;
const GEQRT: u16 = 4;
const CLEAN_FRONT: u16 = 8;

/// xorshift64*: enough to make cases, the same on every machine.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % limit
    }
}

pub fn random(shape: Shape) -> Trace {
    let mut maker = Maker {
        random: Random::new(shape.seed),
        tables: Tables::default(),
        free_at: vec![1000; usize::from(shape.cpus + shape.devices)],
        shape,
        clock: 500,
        last_of_node: Vec::new(),
        held: Vec::new(),
        open: Vec::new(),
    };
    maker.machine();
    while maker.tables.tasks.len() < shape.tasks {
        maker.front();
    }
    maker.finish()
}

struct Maker {
    random: Random,
    tables: Tables,
    free_at: Vec<u64>,
    shape: Shape,
    /// Of the submission.
    clock: u64,
    /// The last task of each node, for its parent to wait for.
    last_of_node: Vec<Option<u32>>,
    /// Bytes that each node still holds.
    held: Vec<i64>,
    /// Fronts without a parent yet, the last one last.
    open: Vec<u32>,
}

impl Maker {
    fn machine(&mut self) {
        for worker in 0..self.shape.cpus + self.shape.devices {
            let device = worker.checked_sub(self.shape.cpus);
            self.tables.workers.push(Worker {
                worker,
                kind: if device.is_some() {
                    WorkerKind::Device
                } else {
                    WorkerKind::Cpu
                },
                name: device.map_or_else(|| format!("CPU{worker}"), |d| format!("cuda{d}")),
                memory_node: device.map_or(0, |d| d + 1),
                bound_to: None,
                start_ns: 1000,
                end_ns: 0,
            });
        }
        for (codelet, (name, role)) in (0..).zip(CODELETS) {
            let name = name.to_owned();
            self.tables.codelets.push(Codelet {
                codelet,
                name,
                role,
            });
        }
    }

    /// The next front in postorder with its tasks. Its children are fronts before it that have no parent yet.
    fn front(&mut self) {
        let node = self.tables.fronts.len() as u32;
        let is_leaf = self.open.len() < 2 || self.random.below(3) == 0;
        let kind = match (is_leaf, self.random.below(4)) {
            (true, 0) => FrontKind::Grouped,
            (true, 1 | 2) => FrontKind::GroupTop,
            _ => FrontKind::Tiled,
        };
        let open_group = self
            .tables
            .fronts
            .last()
            .filter(|f| f.kind == FrontKind::Grouped);
        let open_group = open_group.map(|front| front.node);
        // A front inside a group has its top right behind it.
        let kind = if open_group.is_some() {
            FrontKind::GroupTop
        } else {
            kind
        };
        let children: Vec<u32> = match (open_group, is_leaf) {
            (Some(inner), _) => vec![inner],
            // Groups may lie on groups.
            (None, true) if kind == FrontKind::GroupTop && self.random.below(2) == 0 => {
                self.open.last().copied().into_iter().collect()
            }
            (None, true) => Vec::new(),
            (None, false) => self.open[self.open.len() - 2..].to_vec(),
        };
        for &child in &children {
            self.tables.fronts[child as usize].parent = Some(node);
        }
        self.open.truncate(self.open.len() - children.len());
        self.open.push(node);
        self.held.push(0);
        let (tile_rows, tile_cols) = (
            2 + self.random.below(3) as u32,
            2 + self.random.below(3) as u32,
        );
        let tiled = kind == FrontKind::Tiled;
        self.tables.fronts.push(Front {
            node,
            parent: None,
            depth: 0,
            kind,
            task_node: if kind == FrontKind::Grouped {
                node + 1
            } else {
                node
            },
            rows: 64 * tile_rows,
            cols: 64 * tile_cols,
            pivots: 64,
            cb_rows: 64 * (tile_rows - 1),
            tile_rows: tiled.then_some(tile_rows),
            tile_cols: tiled.then_some(tile_cols),
            inner_block: tiled.then_some(32),
            flat_height: tiled.then_some(4),
            flops: 1_000_000,
        });
        self.last_of_node.push(None);
        let mut waits: Vec<u32> = Vec::new();
        waits.extend(
            children
                .iter()
                .filter_map(|&child| self.last_of_node[child as usize]),
        );
        let handle = node;
        match kind {
            FrontKind::Grouped => {}
            FrontKind::GroupTop => {
                let task = self.task(DO_SUBTREE, node, [None; 4], &waits);
                self.memory(task, node, handle, 8 * 64 * 64);
                self.last_of_node[node as usize] = Some(task);
            }
            FrontKind::Tiled => {
                let init = self.task(INIT_FRONT, node, [None; 4], &waits);
                self.memory(
                    init,
                    node,
                    handle,
                    8 * 64 * 64 * i64::from(tile_rows * tile_cols),
                );
                let mut last = self.task(INIT_BLOCK, node, [None, Some(0), Some(0), None], &[init]);
                for &child in &children {
                    let before: Vec<u32> = self.last_of_node[child as usize]
                        .into_iter()
                        .chain([init])
                        .collect();
                    last = self.task(
                        BLOCK_COPY,
                        node,
                        [None, Some(0), Some(0), Some(child)],
                        &before,
                    );
                    let clean =
                        self.task(CLEAN_FRONT, node, [None, None, None, Some(child)], &[last]);
                    let held = self.held[child as usize];
                    if held > 0 {
                        self.memory(clean, child, child, -held);
                    }
                }
                for panel in 0..tile_cols {
                    for row in panel..tile_rows {
                        let head = if row == panel { GEQRT } else { GEQRT + 2 };
                        let place = |column| [Some(panel), Some(row), Some(column), None];
                        let factor = self.task(head, node, place(panel), &[last]);
                        for column in panel + 1..tile_cols {
                            last = self.task(head + 1, node, place(column), &[factor]);
                        }
                        last = last.max(factor);
                    }
                }
                self.last_of_node[node as usize] = Some(last);
            }
        }
    }

    fn task(&mut self, codelet: u16, node: u32, place: [Option<u32>; 4], waits: &[u32]) -> u32 {
        let task = self.tables.tasks.len() as u32;
        self.clock += 50 + self.random.below(100);
        let submit_ns = self.clock;
        let mut waits = waits.to_vec();
        waits.sort_unstable();
        waits.dedup();
        let done = waits
            .iter()
            .map(|&task| self.tables.tasks[task as usize].end_ns);
        let ready_ns = done.max().unwrap_or(0).max(submit_ns);
        let on_devices = (GEQRT..GEQRT + 4).contains(&codelet);
        let usable = if on_devices {
            self.free_at.len()
        } else {
            usize::from(self.shape.cpus)
        };
        let worker = (0..usable).min_by_key(|&w| self.free_at[w]).expect("a CPU");
        let free_at = self.free_at[worker];
        let pop_ns = ready_ns.max(free_at) + self.random.below(200);
        let start_ns = pop_ns + self.random.below(20);
        // Some take no time at all.
        let end_ns = start_ns + self.random.below(5000).saturating_sub(100);
        if pop_ns > free_at {
            self.tables.states.push(State {
                worker: Some(worker as u16),
                state: if pop_ns - free_at > 1000 {
                    ThreadState::Sleeping
                } else {
                    ThreadState::Idle
                },
                start_ns: free_at,
                end_ns: pop_ns,
            });
        }
        self.free_at[worker] = end_ns;
        for predecessor in waits {
            self.tables
                .dependencies
                .push(Dependency { task, predecessor });
        }
        self.tables.queues.push(Queue {
            time_ns: pop_ns,
            worker: worker as u16,
            length: self.random.below(9) as u32,
        });
        let [panel, tile_row, tile_col, child] = place;
        let computes = codelet == DO_SUBTREE || on_devices;
        self.tables.tasks.push(Task {
            task,
            codelet,
            worker: worker as u16,
            node,
            priority: self.random.below(100) as i64 - 50,
            submit_ns,
            ready_ns,
            pop_ns,
            start_ns,
            end_ns,
            flops: if computes {
                1 + self.random.below(1_000_000)
            } else {
                0
            },
            bytes: 8 * 64 * 64,
            panel,
            tile_row,
            tile_col,
            child,
            rows: 64,
            cols: 64,
            inner: 32,
            coefficients: 0,
        });
        task
    }

    fn memory(&mut self, task: u32, node: u32, handle: u32, delta_bytes: i64) {
        self.held[handle as usize] += delta_bytes;
        self.tables.memory.push(Memory {
            time_ns: self.tables.tasks[task as usize].start_ns,
            task,
            node,
            memory_node: 0,
            handle,
            delta_bytes,
            after_bytes: 0,
        });
    }

    fn finish(mut self) -> Trace {
        let tables = &mut self.tables;
        tables
            .memory
            .sort_by_key(|row| (row.time_ns, -row.delta_bytes));
        let mut held = 0;
        for row in &mut tables.memory {
            held += row.delta_bytes;
            row.after_bytes = u64::try_from(held).expect("what was taken is given back later");
        }
        for k in (0..tables.fronts.len()).rev() {
            let above = tables.fronts[k]
                .parent
                .map_or(0, |parent| tables.fronts[parent as usize].depth);
            tables.fronts[k].depth = above + 1;
        }
        let end_ns = *self.free_at.iter().max().expect("a worker");
        tables
            .workers
            .iter_mut()
            .for_each(|worker| worker.end_ns = end_ns);
        tables.states.push(State {
            worker: None,
            state: ThreadState::WindowFull,
            start_ns: 600,
            end_ns: 700,
        });
        let phase = |phase: &str, part_of: Option<&str>, start_ns: i64, end_ns: i64| Phase {
            phase: phase.to_owned(),
            part_of: part_of.map(str::to_owned),
            start_ns,
            end_ns,
        };
        tables.phases = vec![
            phase("analyse", None, -9000, -100),
            phase("ordering", Some("analyse"), -8000, -5000),
            phase("factorize", None, 0, end_ns as i64),
        ];
        for device in 1..=self.shape.devices {
            for start_ns in [2000, 2500] {
                tables.transfers.push(Transfer {
                    asked_ns: start_ns - 100,
                    start_ns,
                    end_ns: start_ns + 700,
                    handle: 0,
                    source_node: 0,
                    target_node: device,
                    reason: TransferReason::Fetch,
                    bytes: 4096,
                });
            }
        }
        let mut manifest = Manifest::new(TraceKind::Measured, "treeqr test".to_owned());
        manifest
            .matrix
            .insert("name".to_owned(), "random \"one\", of tests".into());
        manifest.run.scheduler = "prio".to_owned();
        manifest.run.end_ns = end_ns;
        manifest.command = ["treeqr", "solve"].map(str::to_owned).into();
        Trace {
            manifest,
            tables: self.tables,
        }
    }
}

/// The text that a file export gives.
pub fn stream(
    name: &str,
    trace: &Trace,
    options: &treeqr_profiling::export::ExportOptions,
) -> Vec<u8> {
    let entry = treeqr_profiling::export::ExportEntry::named(name).expect("a known export");
    let mut out = Vec::new();
    entry.write_to(trace, &mut out, options).expect("an export");
    out
}
