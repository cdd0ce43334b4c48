//! What the tasks of a solve run on, and the two that lie outside of the tree.
//!
//! Takes a program, bundles and the factors; gives the table of codelets and a worker's scratch.

use super::bundles::Bundles;
use super::program::{Given, Program, Vector};
use super::sweep::{SOLVE_CODELETS, Sweep};
use super::vectors::Values;
use super::{orthogonal, triangular};
use crate::numeric::{FactorScalar, Factors};
use crate::plan::Plan;
use treeqr_matrices::Csc;
use treeqr_runtime::{Application, Codelet, CpuCode, TaskContext, TaskFailure};

/// One solve, shared by all workers.
pub(super) struct App<'a, T: FactorScalar> {
    pub factors: &'a Factors<T>,
    pub plan: Plan<'a>,
    pub program: Program<'a, T>,
    pub bundles: Bundles,
    /// Rows of the edge of every bundle, for sweeps with R and with Q.
    pub edge_rows: [Vec<usize>; 2],
    pub rest: RestPlaces,
    size: ScratchSize,
    codelets: [Codelet<Self>; 6],
}

/// A worker's working memory.
pub(super) struct Scratch<T> {
    /// A front's block.
    pub z: Vec<T>,
    /// Edges within a bundle that wait for the other end.
    pub stack: Vec<T>,
    pub kernel: Vec<T>,
}

/// In scalars.
#[derive(Default)]
struct ScratchSize {
    z: usize,
    stack: usize,
    kernel: usize,
}

/// Where things lie in the rest, which has a row for every row of W that is none of R.
#[derive(Default)]
pub(crate) struct RestPlaces {
    /// By front.
    pub at: Vec<usize>,
    /// Rows of W without entries come last.
    pub empty: Vec<usize>,
}

impl RestPlaces {
    pub fn new<T>(factors: &Factors<T>) -> Self {
        let sym = &factors.symbolic;
        let mut next = 0;
        let mut at = Vec::with_capacity(sym.tree.fronts.len());
        for front in &sym.tree.fronts {
            at.push(next);
            next += front.m as usize - front.reflectors();
        }
        let mut used = vec![false; sym.work_rows()];
        let singletons = sym.singletons.iter().map(|s| s.row);
        for row in singletons.chain(sym.tree.own.row.iter().copied()) {
            used[row as usize] = true;
        }
        RestPlaces {
            at,
            empty: (0..used.len()).filter(|&i| !used[i]).collect(),
        }
    }
}

impl<'a, T: FactorScalar> App<'a, T> {
    pub fn new(
        factors: &'a Factors<T>,
        plan: Plan<'a>,
        program: Program<'a, T>,
        bundles: Bundles,
    ) -> Self {
        let tree = &factors.symbolic.tree;
        let w = program.width();
        let mut size = ScratchSize::default();
        let mut edge_rows = [Vec::new(), Vec::new()];
        for sweep in program.sweeps() {
            let mut stack = 0;
            let rows = (0..bundles.len()).map(|u| {
                let (end, most) = stack_rows(&bundles, tree, sweep, u);
                stack = stack.max(most);
                end
            });
            edge_rows[usize::from(sweep.is_q())] = rows.collect();
            let highest = tree.fronts.iter().map(|front| sweep.rows(front)).max();
            size.z = size.z.max(highest.unwrap_or(0) * w);
            size.stack = size.stack.max(stack * w);
            if sweep.is_q() {
                size.kernel = orthogonal::scratch_len::<T>(&plan, w);
            }
        }
        let with_rest =
            program.has(Vector::Rest) || program.down.as_ref().is_some_and(|d| !d.rest.is_empty());
        let codes: [CpuCode<Self>; 6] = [
            Self::up,
            Self::down,
            Self::down,
            Self::up,
            Self::begin,
            Self::end,
        ];
        let mut names = SOLVE_CODELETS.iter();
        App {
            factors,
            plan,
            program,
            bundles,
            edge_rows,
            rest: if with_rest {
                RestPlaces::new(factors)
            } else {
                RestPlaces::default()
            },
            size,
            codelets: codes.map(|code| Codelet {
                name: names.next().expect("a name for every codelet"),
                cpu: Some(code),
            }),
        }
    }

    /// Memory for the vectors of a block; singletons and empty rows where a sweep goes up.
    fn begin(&self, task: &TaskContext<'_>, _: &mut Scratch<T>) -> Result<(), TaskFailure> {
        let (block, w) = self.block(task);
        let (n, below) = (self.head_len(), self.rest_len());
        let size = size_of::<T>() * w;
        let allocate = |vector, len: usize| task.allocate(self.handle(task, vector), len * size);
        if let Some(down) = &self.program.down {
            allocate(Vector::Outer, self.outer_len(down.sweep))?;
            if let Some(c) = self.program.sparse_head() {
                allocate(Vector::Head, n)?;
                let mut head = task.write::<T>(self.access(task, Vector::Head));
                self.spread(c, block, 0, &mut head);
                if self.program.has(Vector::Rest) {
                    allocate(Vector::Rest, below)?;
                    let mut rest = task.write::<T>(self.access(task, Vector::Rest));
                    self.spread(c, block, n, &mut rest);
                }
            }
        }
        let Some(up) = &self.program.up else {
            return Ok(());
        };
        allocate(Vector::Head, n)?;
        let mut head = task.write::<T>(self.access(task, Vector::Head));
        let len = self.outer_len(up.sweep);
        let mut left = if self.program.has(Vector::Left) {
            allocate(Vector::Left, len)?;
            let mut left = task.write::<T>(self.access(task, Vector::Left));
            match up.outer {
                Given::Dense(all) => {
                    let given = self.given(all, len, block);
                    left[..given.len()].copy_from_slice(&given);
                }
                Given::Sparse(b) => self.spread(b, block, 0, &mut left),
            }
            Some(left)
        } else {
            None
        };
        let singletons = &self.plan.sym.singletons;
        if up.sweep.is_q() {
            let given = match (up.outer, &left) {
                (Given::Dense(all), None) => self.given(all, len, block),
                (_, Some(left)) => Values::Given(left),
                (Given::Sparse(_), None) => unreachable!("what is sparse is spread out"),
            };
            let columns = given.chunks_exact(len);
            for (head, b) in head.chunks_exact_mut(n).zip(columns.clone()) {
                for (to, single) in head.iter_mut().zip(singletons) {
                    *to = b[single.row as usize];
                }
            }
            if up.keep_rest {
                allocate(Vector::Rest, below)?;
                let mut rest = task.write::<T>(self.access(task, Vector::Rest));
                let first = below - self.rest.empty.len();
                for (k, b) in columns.enumerate() {
                    let rest = &mut rest[k * below + first..];
                    for (to, &row) in rest.iter_mut().zip(&self.rest.empty) {
                        *to = b[row];
                    }
                }
            }
        } else if let Some(left) = &mut left {
            let rows = &self.factors.singleton_rows;
            for (k, c) in left.chunks_exact_mut(n).enumerate() {
                let y = &mut head[k * n..(k + 1) * n];
                if up.sums && k + 1 == w {
                    triangular::add_singleton_sums(singletons, rows, c, y);
                } else {
                    triangular::solve_singletons_adjoint(singletons, rows, c, y);
                }
            }
        }
        Ok(())
    }

    /// The rows from `first` on of a block's sparse columns, into cleared vectors.
    fn spread(&self, columns: &Csc<T>, block: usize, first: usize, to: &mut [T]) {
        let range = self.program.columns(block);
        let len = to.len() / range.len();
        for (k, to) in range.zip(to.chunks_exact_mut(len.max(1))) {
            let (rows, values) = columns.col(k);
            for (&i, &value) in rows.iter().zip(values) {
                if let Some(place) = (i as usize).checked_sub(first).filter(|&p| p < len) {
                    to[place] = value;
                }
            }
        }
    }

    /// Singletons and empty rows where a sweep goes down; what came up is done with.
    fn end(&self, task: &TaskContext<'_>, _: &mut Scratch<T>) -> Result<(), TaskFailure> {
        let (block, _) = self.block(task);
        let (n, below) = (self.head_len(), self.rest_len());
        let down = self.program.down.as_ref().expect("a sweep down");
        let singletons = &self.plan.sym.singletons;
        let head = self.head_down(task);
        let rest = self.rest_down(task);
        let mut outer = task.write::<T>(self.access(task, Vector::Outer));
        let first_column = self.program.columns(block).start;
        for (k, out) in outer
            .chunks_exact_mut(self.outer_len(down.sweep))
            .enumerate()
        {
            let c = |s: usize| match &head {
                Some(head) => head[k * n + s],
                None => self.factors.singleton_rhs[(first_column + k) * singletons.len() + s],
            };
            if down.sweep.is_q() {
                for (s, single) in singletons.iter().enumerate() {
                    out[single.row as usize] = c(s);
                }
                // Without a rest they stay zero.
                if let Some(rest) = &rest {
                    let end = (k + 1) * below;
                    let rest = &rest[end - self.rest.empty.len()..end];
                    for (&row, &value) in self.rest.empty.iter().zip(rest) {
                        out[row] = value;
                    }
                }
            } else {
                let rows = &self.factors.singleton_rows;
                triangular::solve_singletons(singletons, rows, c, out);
            }
        }
        drop((head, rest));
        let rest = self.program.up.is_none() && self.program.has(Vector::Rest);
        let keep_head = self.program.up.as_ref().is_some_and(|up| up.keep_head);
        let done = [
            (Vector::Head, !keep_head),
            (Vector::Left, true),
            (Vector::Rest, rest),
        ];
        for (vector, done) in done {
            if done && self.program.has(vector) {
                task.free(self.handle(task, vector));
            }
        }
        Ok(())
    }
}

/// Rows of the edges that wait in bundle `u`: at the end of a sweep up (the edge that leaves it), and the most.
fn stack_rows(
    bundles: &Bundles,
    tree: &crate::symbolic::Tree,
    sweep: Sweep,
    u: usize,
) -> (usize, usize) {
    let (mut now, mut most) = (0, 0);
    for &f in bundles.fronts(u) {
        let front = &tree.fronts[f as usize];
        for &c in &front.children {
            if bundles.of(c as usize) == u {
                now -= sweep.edge_rows(&tree.fronts[c as usize]);
            }
        }
        now += sweep.edge_rows(front);
        most = most.max(now);
    }
    (now, most)
}

impl<T: FactorScalar> Application for App<'_, T> {
    type Scratch = Scratch<T>;

    fn scratch(&self, _worker: usize) -> Scratch<T> {
        let zeros = |len| vec![T::zero(); len];
        Scratch {
            z: zeros(self.size.z),
            stack: zeros(self.size.stack),
            kernel: zeros(self.size.kernel),
        }
    }

    fn codelets(&self) -> &[Codelet<Self>] {
        &self.codelets
    }

    fn variant(&self) -> &str {
        T::NAME
    }
}
