//! Runs made up: trees of fronts in tiles, scheduled event by event on some workers, with an effect planted at a known size or
//! without any. What is planted is a factor on the time of a task, by who runs it, when, and beside what.

use crate::common::{CODELETS, Random};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use treeqr_profiling::trace::schema::*;
use treeqr_profiling::trace::{Manifest, Tables, Trace, TraceKind};

pub const INIT_FRONT: u16 = 0;
pub const BLOCK_COPY: u16 = 2;
pub const DO_SUBTREE: u16 = 3;
pub const GEQRT: u16 = 4;
pub const GEMQRT: u16 = 5;
pub const TPQRT: u16 = 6;
pub const TPMQRT: u16 = 7;

/// A task to come.
#[derive(Clone, Debug)]
pub struct Job {
    pub codelet: u16,
    pub node: u32,
    pub flops: u64,
    pub ns: f64,
    pub waits: Vec<u32>,
    pub priority: i64,
    /// Panel, tile row, tile column, child.
    pub tile: [Option<u32>; 4],
}

/// A tree in the making.
pub struct Tree {
    pub jobs: Vec<Job>,
    pub fronts: Vec<Front>,
    random: Random,
    /// Last task of each node.
    last: Vec<u32>,
}

impl Tree {
    pub fn new(seed: u64) -> Self {
        Tree {
            jobs: Vec::new(),
            fronts: Vec::new(),
            random: Random::new(seed),
            last: Vec::new(),
        }
    }

    /// 24 subtrees, six fronts of 4 x 4 tiles on them, two of 6 x 6, a root of 10 x 10: enough for four workers all the time.
    pub fn broad(seed: u64) -> Self {
        let mut tree = Tree::new(seed);
        let mut middle = Vec::new();
        for _ in 0..6 {
            let leaves: Vec<_> = (0..4).map(|_| tree.subtree(1_000_000)).collect();
            middle.push(tree.tiled(&leaves, 4, 400_000));
        }
        let upper: Vec<_> = middle
            .chunks(3)
            .map(|m| tree.tiled(m, 6, 400_000))
            .collect();
        tree.tiled(&upper, 10, 400_000);
        tree.prioritise();
        tree
    }

    fn job(
        &mut self,
        codelet: u16,
        node: u32,
        flops: u64,
        rate: f64,
        waits: &[u32],
        tile: [Option<u32>; 4],
    ) -> u32 {
        let id = self.jobs.len() as u32;
        let waits: BTreeSet<u32> = waits.iter().copied().collect();
        self.jobs.push(Job {
            codelet,
            node,
            flops,
            ns: if flops > 0 {
                flops as f64 / rate
            } else {
                5_000.0
            },
            waits: waits.into_iter().collect(),
            priority: 0,
            tile,
        });
        id
    }

    fn front(&mut self, kind: FrontKind, children: &[u32], tiles: Option<u32>, flops: u64) -> u32 {
        let node = self.fronts.len() as u32;
        for &child in children {
            self.fronts[child as usize].parent = Some(node);
        }
        self.fronts.push(Front {
            node,
            parent: None,
            depth: 1,
            kind,
            task_node: node,
            rows: 100 * tiles.unwrap_or(1),
            cols: 100 * tiles.unwrap_or(1),
            pivots: 10,
            cb_rows: 10,
            tile_rows: tiles,
            tile_cols: tiles,
            inner_block: tiles.map(|_| 32),
            flat_height: tiles.map(|_| 4),
            flops,
        });
        node
    }

    /// A subtree of one to four times as many operations.
    pub fn subtree(&mut self, flops: u64) -> u32 {
        let node = self.front(FrontKind::GroupTop, &[], None, flops);
        let flops = flops + self.random.below(3 * flops);
        let id = self.job(DO_SUBTREE, node, flops, 2.5, &[], [None; 4]);
        self.last.push(id);
        node
    }

    /// A front of `q` x `q` tiles: memory, a copy from each child, then QR with a flat tree.
    pub fn tiled(&mut self, children: &[u32], q: u32, flops: u64) -> u32 {
        let node = self.front(FrontKind::Tiled, children, Some(q), flops * u64::from(q));
        let waits: Vec<_> = children.iter().map(|&c| self.last[c as usize]).collect();
        let init = self.job(INIT_FRONT, node, 0, 1.0, &waits, [None; 4]);
        let copies: Vec<_> = (children.iter())
            .map(|&c| {
                self.job(
                    BLOCK_COPY,
                    node,
                    0,
                    1.0,
                    &[init],
                    [None, None, None, Some(c)],
                )
            })
            .collect();
        let first = if copies.is_empty() {
            vec![init]
        } else {
            copies
        };
        let mut tile = vec![vec![Vec::<u32>::new(); q as usize]; q as usize];
        tile.iter_mut().flatten().for_each(|t| t.clone_from(&first));
        let mut last = init;
        for k in 0..q {
            let at = |i: u32, j: u32| [Some(k), Some(i), Some(j), None];
            let (a, ku) = (k as usize, k);
            let size = |tree: &mut Tree| flops / 2 + tree.random.below(flops);
            let n = size(self);
            let head = self.job(GEQRT, node, n, 3.0, &tile[a][a].clone(), at(ku, ku));
            tile[a][a] = vec![head];
            for j in k + 1..q {
                let waits = [&tile[a][j as usize][..], &[head]].concat();
                let n = size(self);
                let id = self.job(GEMQRT, node, n, 5.0, &waits, at(ku, j));
                tile[a][j as usize] = vec![id];
            }
            for i in k + 1..q {
                let waits = [&tile[a][a][..], &tile[i as usize][a][..]].concat();
                let n = size(self);
                let next = self.job(TPQRT, node, n, 4.0, &waits, at(i, ku));
                (tile[a][a], tile[i as usize][a]) = (vec![next], vec![next]);
                for j in k + 1..q {
                    let waits = [
                        &tile[a][j as usize][..],
                        &tile[i as usize][j as usize][..],
                        &[next],
                    ]
                    .concat();
                    let n = 2 * size(self);
                    let id = self.job(TPMQRT, node, n, 6.0, &waits, at(i, j));
                    (tile[a][j as usize], tile[i as usize][j as usize]) = (vec![id], vec![id]);
                    last = id;
                }
            }
            last = last.max(head);
        }
        self.last.push(last);
        node
    }

    /// Bottom levels as priorities.
    pub fn prioritise(&mut self) {
        let mut level = vec![0.0_f64; self.jobs.len()];
        for id in (0..self.jobs.len()).rev() {
            let own = level[id] + self.jobs[id].ns;
            self.jobs[id].priority = own as i64;
            for &before in &self.jobs[id].waits.clone() {
                level[before as usize] = level[before as usize].max(own);
            }
        }
    }
}

/// A task about to begin.
pub struct Doing<'a> {
    pub job: &'a Job,
    pub id: u32,
    pub worker: u16,
    pub start_ns: u64,
    /// Other subtrees that run.
    pub subtrees: usize,
}

/// What holds besides the tasks.
pub struct World<'a> {
    pub seed: u64,
    pub workers: u16,
    /// Deviation of the logarithm of a duration.
    pub noise: f64,
    /// From one submission to the next.
    pub submit_ns: u64,
    /// Times as long.
    pub factor: &'a dyn Fn(&Doing<'_>) -> f64,
    /// No task begins in these spans.
    pub hold: Vec<(u64, u64)>,
}

pub fn world<'a>(seed: u64) -> World<'a> {
    World {
        seed,
        workers: 4,
        noise: 0.05,
        submit_ns: 300,
        factor: &|_| 1.0,
        hold: Vec::new(),
    }
}

/// Nearly normal: twelve dice.
fn normal(random: &mut Random) -> f64 {
    (0..12)
        .map(|_| random.below(1_000_000) as f64 / 1e6)
        .sum::<f64>()
        - 6.0
}

/// Runs it: a free worker takes the ready task of highest priority.
pub fn play(tree: &Tree, world: &World<'_>) -> Trace {
    let jobs = &tree.jobs;
    let mut random = Random::new(world.seed + 77);
    let mut left: Vec<usize> = jobs.iter().map(|j| j.waits.len()).collect();
    let mut followers = vec![Vec::new(); jobs.len()];
    for (id, job) in jobs.iter().enumerate() {
        job.waits
            .iter()
            .for_each(|&w| followers[w as usize].push(id));
    }
    let submit = |id: usize| 1000 + id as u64 * world.submit_ns;
    let mut ready_ns: Vec<u64> = (0..jobs.len()).map(submit).collect();
    // Times at which something may begin: a task became ready, a worker free, a hold ended.
    let mut times = BinaryHeap::new();
    let mut coming: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::new();
    for id in (0..jobs.len()).filter(|&id| left[id] == 0) {
        coming.push(Reverse((ready_ns[id], id)));
        times.push(Reverse(ready_ns[id]));
    }
    world.hold.iter().for_each(|h| times.push(Reverse(h.1)));
    let mut ready: BinaryHeap<(i64, Reverse<usize>)> = BinaryHeap::new();
    let mut free_at = vec![1000_u64; world.workers.into()];
    let mut running: Vec<(u64, u16)> = Vec::new();
    let mut tables = Tables::default();
    while let Some(Reverse(now)) = times.pop() {
        while coming.peek().is_some_and(|c| c.0.0 <= now) {
            let Reverse((_, id)) = coming.pop().expect("just seen");
            ready.push((jobs[id].priority, Reverse(id)));
        }
        if world.hold.iter().any(|h| h.0 <= now && now < h.1) {
            continue;
        }
        for worker in 0..world.workers {
            let free = free_at[usize::from(worker)];
            if free > now {
                continue;
            }
            let Some((_, Reverse(id))) = ready.pop() else {
                break;
            };
            running.retain(|r| r.0 > now);
            let job = &jobs[id];
            let doing = Doing {
                job,
                id: id as u32,
                worker,
                start_ns: now,
                subtrees: running.iter().filter(|r| r.1 == DO_SUBTREE).count(),
            };
            let noise = (world.noise * normal(&mut random)).exp();
            let end = now + (job.ns * noise * (world.factor)(&doing)).max(1.0) as u64;
            running.push((end, job.codelet));
            if free < now {
                tables.states.push(State {
                    worker: Some(worker),
                    state: ThreadState::Idle,
                    start_ns: free,
                    end_ns: now,
                });
            }
            free_at[usize::from(worker)] = end;
            times.push(Reverse(end));
            for &next in &followers[id] {
                left[next] -= 1;
                ready_ns[next] = ready_ns[next].max(end);
                if left[next] == 0 {
                    coming.push(Reverse((ready_ns[next], next)));
                    times.push(Reverse(ready_ns[next]));
                }
            }
            let [panel, tile_row, tile_col, child] = job.tile;
            tables.tasks.push(Task {
                task: id as u32,
                codelet: job.codelet,
                worker,
                node: job.node,
                priority: job.priority,
                submit_ns: submit(id),
                ready_ns: ready_ns[id],
                pop_ns: now,
                start_ns: now,
                end_ns: end,
                flops: job.flops,
                bytes: 0,
                panel,
                tile_row,
                tile_col,
                child,
                rows: 100,
                cols: 100,
                inner: 32,
                coefficients: 10_000,
            });
        }
    }
    assert_eq!(tables.tasks.len(), jobs.len(), "all tasks were done");
    tables.tasks.sort_by_key(|t| t.task);
    tables.dependencies = (jobs.iter().enumerate())
        .flat_map(|(id, job)| {
            job.waits
                .iter()
                .map(move |&predecessor| (id as u32, predecessor))
        })
        .map(|(task, predecessor)| Dependency { task, predecessor })
        .collect();
    tables.fronts = tree.fronts.clone();
    let end_ns = *free_at.iter().max().expect("a worker");
    for (worker, &free) in (0..).zip(&free_at) {
        tables.workers.push(Worker {
            worker,
            kind: WorkerKind::Cpu,
            name: format!("CPU{worker}"),
            memory_node: 0,
            bound_to: None,
            start_ns: 1000,
            end_ns,
        });
        if free < end_ns {
            tables.states.push(State {
                worker: Some(worker),
                state: ThreadState::Idle,
                start_ns: free,
                end_ns,
            });
        }
    }
    let codelet = |(codelet, (name, role)): (u16, (&str, Role))| Codelet {
        codelet,
        name: name.to_owned(),
        role,
    };
    tables.codelets = (0..).zip(CODELETS).map(codelet).collect();
    let mut manifest = Manifest::new(TraceKind::Measured, "made up".to_owned());
    (manifest.run.begin_ns, manifest.run.end_ns) = (1000, end_ns);
    manifest.run.scheduler = "prio".to_owned();
    manifest.matrix.insert("name".to_owned(), "made up".into());
    Trace { manifest, tables }
}
