//! All nodes that may change, as tasks over their forest; and what is left of them.

use super::Rank;
use super::closure::{Work, closure};
use super::consistent::Tried;
use super::large::{Large, is_large};
use super::nodes::{Nodes, Scan};
use super::rework::{Asked, Reworked, Rows, Scratch, rework};
use super::runner::Runner;
use super::trapezoid::Complete;
use crate::error::SolveError;
use crate::numeric::{FactorScalar, Factors};
use std::sync::{Mutex, OnceLock, PoisonError};
use treeqr_runtime::Access::{Read, ReadWrite, Write};
use treeqr_runtime::{
    Application, Codelet, CodeletId, CpuCode, DataStore, Handle, Observer, Submitter, TaskContext,
    TaskFailure, TaskSpec,
};

/// The codelets that find the rank.
pub const RANK_CODELETS: [&str; 7] = [
    "deflate",
    "deflate_begin",
    "deflate_fill",
    "deflate_panel",
    "deflate_update",
    "deflate_collect",
    "deflate_end",
];
/// Entries of R in the nodes that may change, from which on workers are asked for.
const WORTH_ENTRIES: u64 = 200_000;

/// What a matrix that lacks rank leaves besides the factors of the first pass.
pub(crate) struct Deficiency<T> {
    /// By node, where it changed.
    pub(super) nodes: Vec<Option<Box<Reworked<T>>>>,
    /// R of the large ones among them.
    pub(super) store: DataStore,
    /// Column of W by its place in the elimination order.
    pub(super) order: Vec<u32>,
    /// Places of dead pivots, increasing.
    pub(crate) dead: Vec<u32>,
    /// Q^H b of the factorization's right-hand sides in elimination order, zero at dead pivots.
    pub(super) head: Vec<T>,
    /// Frobenius norm of W.
    pub(super) norm: f64,
    /// The first right-hand side for a wide A, and what the live columns made of it.
    pub(super) tried: OnceLock<(Vec<T>, Tried<T>)>,
    /// What solutions of minimum norm ask for, from when one was wanted.
    pub(crate) complete: OnceLock<Complete<T>>,
}

impl<T: FactorScalar> Deficiency<T> {
    /// Bytes that it takes.
    pub fn bytes(&self) -> u64 {
        let nodes: usize = self.nodes.iter().flatten().map(|node| node.bytes()).sum();
        let complete = self.complete.get().map_or(0, Complete::bytes);
        let tried = self
            .tried
            .get()
            .map_or(0, |(b, tried)| b.len() + tried.y.len());
        (nodes + (self.head.len() + tried) * size_of::<T>()) as u64 + complete
    }
}

/// Runs Heath's method on R, from what its diagonal says, for a tolerance and the norm of W; gives what changed, and the rank.
///
/// # Errors
/// [`SolveError::Overflow`], and whatever ends the run.
pub(crate) fn deflate_all<T: FactorScalar, O: Observer>(
    nodes: &Nodes<'_, T>,
    scan: &Scan,
    (tolerance, norm): (f64, f64),
    runner: &Runner<'_, O>,
) -> Result<(Deficiency<T>, Rank), SolveError> {
    let works = tracing::debug_span!("closure").in_scope(|| closure(nodes, &scan.suspects));
    let shape = nodes.factors.shape;
    let _span = tracing::info_span!("deflate", nodes = works.len()).entered();
    let codes: [CpuCode<App<'_, T>>; 7] = [
        App::deflate,
        App::begin,
        App::fill,
        App::panel,
        App::update,
        App::collect,
        App::end,
    ];
    let mut names = RANK_CODELETS.iter();
    let mut handles = works.len() as u32;
    let large = works.iter().map(|work| {
        is_large(work).then(|| {
            let large = Large::new(work, nodes.npiv(work.node as usize), handles);
            handles += large.count as u32;
            large
        })
    });
    let app = App {
        asked: Asked {
            tolerance,
            nrhs: shape.nrhs,
            keep_q: shape.keep_q,
        },
        large: large.collect(),
        up: works.iter().map(|_| Mutex::default()).collect(),
        done: works.iter().map(|_| Mutex::default()).collect(),
        nodes,
        works: &works,
        codelets: codes.map(|code| Codelet {
            name: names.next().expect("a name for every codelet"),
            cpu: Some(code),
        }),
    };
    // From a node to the root of its tree: what depends on it.
    let mut above = vec![1i64; works.len()];
    for (place, work) in works.iter().enumerate().rev() {
        if let Some(parent) = work.parent {
            above[place] += above[parent as usize];
        }
    }
    let submit = |submitter: &mut Submitter<'_>| {
        let mut tasks = Vec::new();
        for (place, &above) in above.iter().enumerate() {
            app.tasks(place, above, &mut tasks);
            for task in tasks.drain(..) {
                submitter.submit(task)?;
            }
        }
        Ok(())
    };
    // A single branch of whole nodes has nothing to run side by side, and little work is not worth threads.
    let is_branch = works.iter().all(|work| work.children.len() < 2)
        && works.iter().filter(|work| work.parent.is_none()).count() < 2;
    let entries = |work: &Work| nodes.npiv(work.node as usize) as u64 * u64::from(work.columns);
    let is_little = works.iter().map(entries).sum::<u64>() < WORTH_ENTRIES;
    let is_whole = app.large.iter().all(Option::is_none);
    // In what the first pass has freed, as far as it is of use.
    let freed = &nodes.factors.store;
    if !runner.keep_storage {
        let blocks = app.large.iter().flatten().map(Large::expected_bytes);
        freed.keep_unused(blocks.sum());
    }
    let mut store = freed.beside(handles as usize);
    let tasks = app.large.iter().map(|l| l.as_ref().map_or(1, Large::tasks));
    let worth = !(is_little || is_branch && is_whole);
    runner.run(&app, &mut store, (tasks.sum(), worth), submit)?;
    let _span = tracing::debug_span!("put together").entered();
    let done: Vec<_> = app.done.into_iter().map(into_inner).collect();
    finish(nodes, &works, (done, store), (tolerance, norm))
}

fn into_inner<R>(mutex: Mutex<R>) -> R {
    mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Q^H b of the factorization's right-hand sides in elimination order, as the first pass left it.
pub(crate) fn heads_of_nodes<T: FactorScalar>(factors: &Factors<T>) -> Vec<T> {
    let nodes = Nodes::new(factors);
    let (n, nrhs) = (nodes.order.len(), factors.shape.nrhs);
    let mut head = vec![T::zero(); n * nrhs];
    for node in 0..nodes.len() {
        let first = nodes.first(node) as usize;
        for c in 0..nrhs {
            nodes.qhb(node, c, |row, values| {
                head[c * n + first + row..][..values.len()].copy_from_slice(values);
            });
        }
    }
    head
}

/// Puts together what the nodes gave.
fn finish<T: FactorScalar>(
    nodes: &Nodes<'_, T>,
    works: &[Work],
    (done, store): (Vec<Option<Box<Reworked<T>>>>, DataStore),
    (tolerance, norm): (f64, f64),
) -> Result<(Deficiency<T>, Rank), SolveError> {
    let mut reworked: Vec<Option<Box<Reworked<T>>>> = Vec::new();
    reworked.resize_with(nodes.len(), || None);
    for (work, done) in works.iter().zip(done) {
        reworked[work.node as usize] = done;
    }
    let (n, nrhs) = (nodes.order.len(), nodes.factors.shape.nrhs);
    let mut head = vec![T::zero(); n * nrhs];
    let mut dead = Vec::new();
    let mut dropped2 = 0.0;
    let mut counts = Scan::default();
    for (node, reworked) in reworked.iter().enumerate() {
        let first = nodes.first(node) as usize;
        let Some(done) = reworked else {
            nodes.count(node, tolerance, &mut counts);
            for c in 0..nrhs {
                nodes.qhb(node, c, |row, values| {
                    head[c * n + first + row..][..values.len()].copy_from_slice(values);
                });
            }
            continue;
        };
        dropped2 += done.dropped2;
        let is_dead = |j: &u32| done.live.binary_search(j).is_err();
        let pivots = 0..done.npiv as u32;
        dead.extend(pivots.filter(is_dead).map(|j| first as u32 + j));
        for (row, pivot) in done.diagonal(&store).enumerate() {
            if !pivot.is_finite() {
                let place = first + done.live[row] as usize;
                return Err(nodes.overflow(nodes.order[place]));
            }
            counts.count(pivot, tolerance);
        }
        let live = done.live.len();
        for c in 0..nrhs {
            for (&j, &value) in done.live.iter().zip(&done.rhs[c * live..]) {
                head[c * n + first + j as usize] = value;
            }
        }
    }
    if !f64::is_finite(dropped2) {
        let place = dead.first().map_or(0, |&place| place as usize);
        return Err(nodes.overflow(nodes.order[place]));
    }
    let mut columns: Vec<u32> = dead.iter().map(|&p| nodes.order[p as usize]).collect();
    columns.sort_unstable();
    let rank = Rank {
        rank: n - dead.len(),
        dead: columns,
        dropped_norm: dropped2.sqrt(),
        tolerance,
        raised_from: None,
        condition: None,
        smallest_pivot: counts.smallest_pivot,
        doubtful: counts.doubtful,
    };
    let deficiency = Deficiency {
        nodes: reworked,
        store,
        order: nodes.order.clone(),
        dead,
        head,
        norm,
        tried: OnceLock::new(),
        complete: OnceLock::new(),
    };
    Ok((deficiency, rank))
}

/// What the tasks run on.
struct App<'a, T: FactorScalar> {
    nodes: &'a Nodes<'a, T>,
    works: &'a [Work],
    asked: Asked,
    /// By place in the list: the rows that its parent takes, and what it became. Locked by one task at a time, by the order
    /// of the tasks.
    up: Vec<Mutex<Vec<Rows<T>>>>,
    done: Vec<Mutex<Option<Box<Reworked<T>>>>>,
    /// The state of large nodes.
    large: Vec<Option<Large<T>>>,
    codelets: [Codelet<Self>; 7],
}

fn lock<R>(mutex: &Mutex<R>) -> std::sync::MutexGuard<'_, R> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T: FactorScalar> App<'_, T> {
    /// The tasks of a node, `above` nodes from the root.
    fn tasks(&self, place: usize, above: i64, out: &mut Vec<TaskSpec>) {
        let work = &self.works[place];
        let own = Handle(place as u32);
        let shown = self.nodes.front_number(work.node as usize);
        let most = 1 << 20;
        let spec = |codelet: usize, j: usize, k: usize, before: i64| {
            TaskSpec::new(CodeletId(codelet as u16), shown)
                .params([place as u32, j as u32, k as u32, 0, 0, 0])
                .priority(above * most - before)
        };
        // The nodes' handles have no buffers: accesses to them are there for the order that they make.
        let first = |codelet: usize| {
            let mut task = spec(codelet, 0, 0, 0).with(own, Write);
            for &child in &work.children {
                task = task.with(Handle(child), Read);
            }
            task
        };
        let Some(large) = &self.large[place] else {
            out.push(first(0));
            return;
        };
        let handle = |k: usize| large.handle(k);
        out.push(first(1));
        for k in 0..large.count {
            out.push(
                spec(2, k, k, 3 * k as i64)
                    .with(handle(k), Write)
                    .with(own, Read),
            );
        }
        for j in 0..large.count {
            let at = 3 * j as i64;
            out.push(spec(3, j, j, at).with(handle(j), ReadWrite));
            for k in j + 1..large.count {
                let task = spec(4, j, k, 3 * k as i64 + 1);
                out.push(task.with(handle(j), Read).with(handle(k), ReadWrite));
            }
            out.push(spec(5, j, j, 3 * large.count as i64).with(handle(j), Read));
        }
        let mut end = spec(6, 0, 0, 0).with(own, ReadWrite);
        for k in 0..large.count {
            // After all that read it.
            end = end.with(handle(k), ReadWrite);
        }
        out.push(end);
    }

    /// The place of a task's node in the list, and its block columns.
    fn place(task: &TaskContext<'_>) -> (usize, usize, usize) {
        let [place, j, k, ..] = task.task().params.map(|p| p as usize);
        (place, j, k)
    }

    fn large(&self, place: usize) -> &Large<T> {
        self.large[place].as_ref().expect("a large node")
    }

    fn below(&self, place: usize) -> Vec<Rows<T>> {
        let take = |&child: &u32| std::mem::take(&mut *lock(&self.up[child as usize]));
        self.works[place].children.iter().flat_map(take).collect()
    }

    fn deflate(&self, task: &TaskContext<'_>, scratch: &mut Scratch<T>) -> Result<(), TaskFailure> {
        let (place, ..) = Self::place(task);
        let work = &self.works[place];
        let (node, below) = (work.node as usize, self.below(place));
        let done = rework(self.nodes, node, work.suspect, below, self.asked, scratch);
        task.count_flops(done.flops);
        *lock(&self.up[place]) = done.up;
        *lock(&self.done[place]) = done.node.map(Box::new);
        Ok(())
    }

    fn begin(&self, task: &TaskContext<'_>, _: &mut Scratch<T>) -> Result<(), TaskFailure> {
        let (place, ..) = Self::place(task);
        *lock(&self.up[place]) = self.large(place).begin(self.nodes, self.below(place));
        Ok(())
    }

    fn fill(&self, task: &TaskContext<'_>, _: &mut Scratch<T>) -> Result<(), TaskFailure> {
        let (place, k, _) = Self::place(task);
        self.large(place).fill(self.nodes, k, self.asked, task)
    }

    fn panel(&self, task: &TaskContext<'_>, scratch: &mut Scratch<T>) -> Result<(), TaskFailure> {
        let (place, j, _) = Self::place(task);
        let kernel = scratch.kernel();
        self.large(place).panel(j, self.asked, task, kernel);
        Ok(())
    }

    fn update(&self, task: &TaskContext<'_>, scratch: &mut Scratch<T>) -> Result<(), TaskFailure> {
        let (place, j, k) = Self::place(task);
        let kernel = scratch.kernel();
        self.large(place).update((j, k), self.asked, task, kernel);
        Ok(())
    }

    fn collect(&self, task: &TaskContext<'_>, _: &mut Scratch<T>) -> Result<(), TaskFailure> {
        let (place, j, _) = Self::place(task);
        self.large(place).collect(j, self.asked, task);
        Ok(())
    }

    fn end(&self, task: &TaskContext<'_>, _: &mut Scratch<T>) -> Result<(), TaskFailure> {
        let (place, ..) = Self::place(task);
        if let Some((done, rows)) = self.large(place).end(self.nodes, self.asked) {
            lock(&self.up[place]).extend(rows);
            *lock(&self.done[place]) = Some(Box::new(done));
        }
        Ok(())
    }
}

impl<T: FactorScalar> Application for App<'_, T> {
    type Scratch = Scratch<T>;

    fn scratch(&self, _worker: usize) -> Scratch<T> {
        Scratch::default()
    }

    fn codelets(&self) -> &[Codelet<Self>] {
        &self.codelets
    }

    fn variant(&self) -> &str {
        T::NAME
    }
}
