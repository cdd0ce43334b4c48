//! The null space's basis as tasks: blocks of vectors go through R, a QR factorization makes them orthonormal.
//!
//! ```text
//!   null_space       small parts, several in one task: both at once
//!   of a part with several panels of columns:
//!   null_solve j k   the vectors of panels j to k                    side by side: R is read once for them
//!   null_qr j        geqrt of panel j; V is made explicit            after its null_solve and null_update (i, j) for all i < j
//!   null_update j k  panel j applied to panel k                      after null_qr j
//! ```
//!
//! How parts are cut and bundled depends on their shapes alone, so the basis is the same to the bit on any number of workers.

use super::back::{Back, BackScratch};
use super::defect::defect;
use super::nodes::Nodes;
use super::null_space::{INNER, NullSpace, Part, apply_panel};
use super::reach::Reach;
use super::room;
use super::run::Deficiency;
use super::runner::Runner;
use super::tolerance::{is_well_conditioned, may_serve};
use crate::error::SolveError;
use crate::numeric::{FactorScalar, Factors};
use std::marker::PhantomData;
use std::ops::Range;
use treeqr_kernels::{MatMut, Op, Stair, gemqrt_flops, geqrt, geqrt_flops, geqrt_scratch};
use treeqr_runtime::Access::{Read, ReadWrite, Write};
use treeqr_runtime::{
    Application, Codelet, CodeletId, DataStore, Handle, Observer, Submitter, TaskContext,
    TaskFailure, TaskSpec,
};

/// The basis takes no more entries than this.
const MOST_ENTRIES: usize = 1 << 25;
/// As far from a basis as this it may be, in the parts of [`defect`]: what a factorization's rounding errors are.
const MOST_DEFECT: f64 = 64.0;
/// Small parts are bundled up to so many flops, and workers are asked for from ten times as many on.
const BUNDLE_FLOPS: u64 = 2_000_000;
/// Panels whose vectors go through R together, at most. What a product with R takes is to read it: with one panel half of the rate.
const TOGETHER: usize = 3;

/// The codelets that make the basis of the null space, by [`CodeletId`].
pub const NULL_SPACE_CODELETS: [&str; 4] = ["null_space", "null_solve", "null_qr", "null_update"];
const SPACE: CodeletId = CodeletId(0);
const SOLVE: CodeletId = CodeletId(1);
const QR: CodeletId = CodeletId(2);
const UPDATE: CodeletId = CodeletId(3);

/// Where the vectors come from.
enum Vectors<'a, T: FactorScalar> {
    Solved(Back<'a, T>),
    /// From the caller, column by column.
    Given(&'a [T]),
}

impl<T: FactorScalar> NullSpace<T> {
    /// The basis, where it is the right way: `None` else. `condition` is that of the live columns; where it leaves doubt, what the basis is
    /// worth is looked at.
    ///
    /// # Errors
    /// Whatever ends the run.
    pub fn new<O: Observer>(
        factors: &Factors<T>,
        deficiency: &Deficiency<T>,
        condition: Option<f64>,
        runner: &Runner<'_, O>,
    ) -> Result<Option<Self>, SolveError> {
        let (n, d) = (deficiency.order.len(), deficiency.dead.len());
        let condition = condition.filter(|&c| may_serve::<T>(c));
        let Some(condition) = condition.filter(|_| d <= n / 2) else {
            return Ok(None);
        };
        let nodes = Nodes::new(factors);
        let reach = Reach::new(&nodes, deficiency);
        let entries = reach.components.iter().map(|c| c.rows.len() * c.dead.len());
        if entries.sum::<usize>() > MOST_ENTRIES {
            return Ok(None);
        }
        let space = Self::solved(&nodes, deficiency, &reach, runner)?;
        if is_well_conditioned::<T>(condition) {
            return Ok(Some(space));
        }
        let defect = defect(&nodes, deficiency, &space);
        tracing::info!(defect, condition, "basis of the null space");
        Ok((defect <= MOST_DEFECT).then_some(space))
    }

    /// The basis, whatever its quality. For each dead column 2 flops an entry of R that it reaches, and the QR factorization.
    ///
    /// # Errors
    /// Whatever ends the run.
    pub fn build<O: Observer>(
        factors: &Factors<T>,
        deficiency: &Deficiency<T>,
        runner: &Runner<'_, O>,
    ) -> Result<Self, SolveError> {
        let nodes = Nodes::new(factors);
        let reach = Reach::new(&nodes, deficiency);
        Self::solved(&nodes, deficiency, &reach, runner)
    }

    fn solved<O: Observer>(
        nodes: &Nodes<'_, T>,
        deficiency: &Deficiency<T>,
        reach: &Reach,
        runner: &Runner<'_, O>,
    ) -> Result<Self, SolveError> {
        let back = Back {
            nodes,
            deficiency,
            reach,
        };
        let part = |component: &super::reach::Component| Part {
            rows: component
                .rows
                .iter()
                .map(|&place| deficiency.order[place as usize])
                .collect(),
            columns: component.dead.clone(),
            ends: (0..component.dead.len())
                .map(|k| back.height(component, k) as u32)
                .collect(),
            ..Part::default()
        };
        let parts = reach.components.iter().map(part).collect();
        let solve_flops = |k: usize| 2 * back.entries(&reach.components[k]);
        let flops: Vec<u64> = (0..reach.components.len()).map(solve_flops).collect();
        let node = |k: usize| reach.components[k].nodes.last().copied().unwrap_or(0);
        let node = |k: usize| nodes.front_number(node(k) as usize);
        let nodes_of: Vec<u32> = (0..reach.components.len()).map(node).collect();
        let n = deficiency.order.len();
        run_all(n, parts, &flops, &nodes_of, Vectors::Solved(back), runner)
    }

    /// The basis of what vectors of `n` entries span, by a dense QR factorization. 2 n d^2 flops.
    ///
    /// # Errors
    /// Whatever ends the run.
    pub fn orthonormal<O: Observer>(
        n: usize,
        z: &[T],
        runner: &Runner<'_, O>,
    ) -> Result<Self, SolveError> {
        let d = z.len() / n.max(1);
        let part = Part {
            rows: (0..n as u32).collect(),
            columns: (0..d as u32).collect(),
            ends: vec![n as u32; d],
            ..Part::default()
        };
        let parts = if d == 0 { Vec::new() } else { vec![part] };
        run_all(n, parts, &[0], &[0], Vectors::Given(z), runner)
    }
}

/// Panels by those that go through R together, about as many each.
fn groups(panels: usize) -> impl Iterator<Item = Range<usize>> {
    let count = panels.div_ceil(TOGETHER);
    (0..count).map(move |g| g * panels / count..(g + 1) * panels / count)
}

/// What the tasks run on.
struct App<'a, T: FactorScalar> {
    parts: &'a [Part],
    /// Small parts by bundle.
    bundles: Vec<Range<usize>>,
    vectors: Vectors<'a, T>,
    codelets: [Codelet<Self>; 4],
}

/// A worker's working memory.
#[derive(Default)]
struct Scratch<T> {
    back: BackScratch<T>,
    stair: Vec<u32>,
    kernel: Vec<T>,
}

/// Makes the parts' buffers, and runs their tasks. `solve_flops` and `nodes` by part: flops of R for a vector; the node that is told.
fn run_all<T: FactorScalar, O: Observer>(
    n: usize,
    mut parts: Vec<Part>,
    solve_flops: &[u64],
    nodes: &[u32],
    vectors: Vectors<'_, T>,
    runner: &Runner<'_, O>,
) -> Result<NullSpace<T>, SolveError> {
    let unit = if T::IS_COMPLEX { 4 } else { 1 };
    let solve = |k: usize, w: usize| unit * solve_flops[k] * w as u64;
    let mut stair = Vec::new();
    let mut qr = |part: &Part, p: usize| {
        let (first, h, w) = part.panel(p);
        part.stair(p, &mut stair);
        geqrt_flops::<T>(h - first, w, Stair::Rows(&stair))
    };
    // Bundles of small parts, then the panels of the others.
    let mut bundles: Vec<Range<usize>> = Vec::new();
    let mut bundle_flops: Vec<u64> = Vec::new();
    let (mut buffers, mut offset) = (0u32, 0usize);
    let mut total = 0;
    for (k, part) in parts.iter_mut().enumerate() {
        if part.panels() > 1 {
            continue;
        }
        let flops = solve(k, part.columns.len()) + qr(part, 0);
        total += flops;
        let room = bundle_flops.last().is_some_and(|&f| f < BUNDLE_FLOPS);
        match bundles.last_mut() {
            Some(bundle) if room && bundle.end == k && u32::try_from(offset).is_ok() => {
                bundle.end = k + 1;
            }
            _ => {
                bundles.push(k..k + 1);
                bundle_flops.push(0);
                (buffers, offset) = (buffers + 1, 0);
            }
        }
        (part.buffer, part.offset) = (buffers - 1, offset as u32);
        offset += part.len(0);
        *bundle_flops.last_mut().expect("a bundle") += flops;
    }
    for (k, part) in parts.iter_mut().enumerate() {
        if part.panels() > 1 {
            part.buffer = buffers;
            buffers += part.panels() as u32;
            let d = part.columns.len();
            total += solve(k, d) + unit * 2 * (part.rows.len() * d * d) as u64;
        }
    }
    let _span = tracing::info_span!("null space", parts = parts.len(), buffers).entered();
    let codes = [
        App::<T>::space,
        App::<T>::solve,
        App::<T>::qr,
        App::<T>::update,
    ];
    let mut names = NULL_SPACE_CODELETS.iter();
    let app = App {
        parts: &parts,
        bundles,
        vectors,
        codelets: codes.map(|code| Codelet {
            name: names.next().expect("a name for every codelet"),
            cpu: Some(code),
        }),
    };
    let submit = |submitter: &mut Submitter<'_>| {
        for (b, &flops) in bundle_flops.iter().enumerate() {
            let node = nodes[app.bundles[b].start];
            let task = TaskSpec::new(SPACE, node)
                .params([b as u32, 0, 0, 0, app.bundles[b].len() as u32, 0])
                .flops(flops)
                .with(Handle(b as u32), Write);
            submitter.submit(task)?;
        }
        for (k, part) in parts.iter().enumerate().filter(|p| p.1.panels() > 1) {
            let count = part.panels();
            let spec = |codelet, p: usize, q: usize, flops| {
                let level = 3 * (count - p) as i64 - i64::from(codelet == UPDATE);
                let (_, h, w) = part.panel(q);
                let (w, inner) = match codelet {
                    UPDATE => (w, part.panel(p).2),
                    SOLVE => (part.width(&(p..q + 1)), part.width(&(p..q + 1))),
                    _ => (w, w),
                };
                TaskSpec::new(codelet, nodes[k])
                    .params([k, p, q, h, w, inner].map(|x| x as u32))
                    .priority(level)
                    .flops(flops)
            };
            for group in groups(count) {
                let last = group.end - 1;
                let mut task = spec(SOLVE, group.start, last, solve(k, part.width(&group)));
                for p in group {
                    task = task.with(part.at(p).0, Write);
                }
                submitter.submit(task)?;
            }
            let mut stair = Vec::new();
            for p in 0..count {
                let (first, h, w) = part.panel(p);
                part.stair(p, &mut stair);
                let stair = Stair::Rows(&stair);
                let task = spec(QR, p, p, geqrt_flops::<T>(h - first, w, stair));
                submitter.submit(task.with(part.at(p).0, ReadWrite))?;
                for q in p + 1..count {
                    let flops = gemqrt_flops::<T>(h - first, part.panel(q).2, w, stair);
                    let task = spec(UPDATE, p, q, flops)
                        .with(part.at(p).0, Read)
                        .with(part.at(q).0, ReadWrite);
                    submitter.submit(task)?;
                }
            }
        }
        Ok(())
    };
    let mut store = DataStore::new(buffers as usize);
    let panels = parts.iter().map(Part::panels).filter(|&panels| panels > 1);
    let tasks = bundle_flops.len() + panels.map(|p| p + p * (p + 1) / 2).sum::<usize>();
    let worth = total > 10 * BUNDLE_FLOPS;
    runner.run(&app, &mut store, (tasks, worth), submit)?;
    drop(app);
    Ok(NullSpace {
        rows: n,
        parts,
        store,
        scalar: PhantomData,
    })
}

impl<T: FactorScalar> App<'_, T> {
    /// Computes the vectors of some panels.
    fn vectors(&self, k: usize, panels: &Range<usize>, scratch: &mut BackScratch<T>) {
        if let Vectors::Solved(back) = &self.vectors {
            let part = &self.parts[k];
            let first = part.panel(panels.start).0;
            let range = first..first + part.width(panels);
            back.solve(&back.reach.components[k], range, scratch);
        }
    }

    /// Those of panel `p`, where its V will be, and zeros where T will be; panel `start` is the first of those that were computed.
    fn fill(
        &self,
        k: usize,
        (start, p): (usize, usize),
        panel: &mut [T],
        scratch: &BackScratch<T>,
    ) {
        let part = &self.parts[k];
        let (first, h, w) = part.panel(p);
        let (out, t) = panel.split_at_mut(h * w);
        // The last block has fewer rows.
        t.fill(T::zero());
        match &self.vectors {
            Vectors::Solved(_) => scratch.copy(first - part.panel(start).0, h, out),
            Vectors::Given(z) => out.copy_from_slice(&z[first * h..(first + w) * h]),
        }
    }

    /// The QR factorization of a panel; V becomes explicit.
    fn factor(part: &Part, p: usize, panel: &mut [T], stair: &mut Vec<u32>, scratch: &mut Vec<T>) {
        let (first, h, w) = part.panel(p);
        let ib = INNER.min(w);
        part.stair(p, stair);
        let needed = geqrt_scratch::<T>(h - first, w, ib);
        room(scratch, needed);
        let (v, t) = panel.split_at_mut(h * w);
        let mut v = MatMut::new(v, h, w, h).submatrix(first, 0, h - first, w);
        let t = MatMut::new(t, ib, w, ib);
        geqrt(v.rb_mut(), Stair::Rows(stair), ib, t, scratch);
        for j in 0..w {
            let column = v.col_mut(j);
            column[..j].fill(T::zero());
            column[j] = T::one();
        }
    }

    fn space(&self, task: &TaskContext<'_>, scratch: &mut Scratch<T>) -> Result<(), TaskFailure> {
        let bundle = self.bundles[task.task().params[0] as usize].clone();
        let last = &self.parts[bundle.end - 1];
        let len = last.offset as usize + last.len(0);
        task.allocate_for_overwrite(Handle(last.buffer), len * size_of::<T>())?;
        let mut buffer = task.write::<T>(0);
        for k in bundle {
            let part = &self.parts[k];
            let panel = &mut buffer[part.offset as usize..][..part.len(0)];
            self.vectors(k, &(0..1), &mut scratch.back);
            self.fill(k, (0, 0), panel, &scratch.back);
            Self::factor(part, 0, panel, &mut scratch.stair, &mut scratch.kernel);
        }
        Ok(())
    }

    /// The part and the panel of a task.
    fn place(task: &TaskContext<'_>) -> (usize, usize) {
        let [k, p, ..] = task.task().params;
        (k as usize, p as usize)
    }

    fn solve(&self, task: &TaskContext<'_>, scratch: &mut Scratch<T>) -> Result<(), TaskFailure> {
        let [k, start, last, ..] = task.task().params.map(|p| p as usize);
        let part = &self.parts[k];
        self.vectors(k, &(start..last + 1), &mut scratch.back);
        for (access, p) in (start..=last).enumerate() {
            task.allocate_to_write(part.at(p).0, part.len(p) * size_of::<T>(), 0)?;
            self.fill(k, (start, p), &mut task.write::<T>(access), &scratch.back);
        }
        Ok(())
    }

    fn qr(&self, task: &TaskContext<'_>, scratch: &mut Scratch<T>) -> Result<(), TaskFailure> {
        let (k, p) = Self::place(task);
        let (stair, kernel) = (&mut scratch.stair, &mut scratch.kernel);
        Self::factor(&self.parts[k], p, &mut task.write::<T>(0), stair, kernel);
        Ok(())
    }

    fn update(&self, task: &TaskContext<'_>, scratch: &mut Scratch<T>) -> Result<(), TaskFailure> {
        let (k, p) = Self::place(task);
        let part = &self.parts[k];
        let (_, h, w) = part.panel(task.task().params[2] as usize);
        let panel = task.read::<T>(0);
        let mut to = task.write::<T>(1);
        let c = MatMut::new(&mut to[..h * w], h, w, h);
        let (stair, kernel) = (&mut scratch.stair, &mut scratch.kernel);
        apply_panel((Op::ConjTrans, part, p), &panel, c, stair, kernel);
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

impl<T: FactorScalar> Factors<T> {
    /// An orthonormal basis of the null space of the factorized matrix: a column for every dead one, of as many entries as that
    /// has columns. A Z = 0 for a tall or square A, A^H Z = 0 for a wide one, to within rounding and what was dropped. Empty when the
    /// rank is full. At most 2 nnz(R) d + 6 n d^2 flops for d of n columns, less where they hang together little.
    ///
    /// # Panics
    /// When the last refactorization failed.
    pub fn null_space(&self) -> Vec<T> {
        self.rank_details();
        let runner = Runner::alone();
        let space = match (&self.split, &self.deficiency) {
            (Some(_), _) => {
                let vectors = self.null_vectors().expect("a run of solves as before");
                NullSpace::orthonormal(self.symbolic.work_cols(), &vectors, &runner)
            }
            (None, None) => return Vec::new(),
            (None, Some(deficiency)) => NullSpace::build(self, deficiency, &runner),
        };
        space.expect("memory for the basis").basis()
    }
}
