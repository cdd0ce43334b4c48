//! `do_subtree`: the fronts of a group, each as one dense block, one after the other.
//!
//! The front is built in working memory, factorized, and packed: its rows of R (and V) to the group's factors, its contribution block to
//! a stack, where its parent finds it. Fronts come in postorder, so the stack is one.

use super::FactorScalar;
use super::app::{App, Scratch, Work};
use super::assemble::{CbView, RowTargets, packed_start};
use super::share;
use crate::analysis::groups::Unit;
use crate::plan::is_own;
use crate::symbolic::Front;
use treeqr_kernels::{FRONT_ALIGNMENT, MatMut, Stair, front_leading, front_qr_with};
use treeqr_runtime::{TaskContext, TaskFailure, WorkingMemory};

/// Working memory that is so many times what a group needs is given up for less.
const MOST_TIMES: usize = 4;
/// It comes in about so many sizes between two powers of two.
const STEPS: usize = 16;

impl<T: FactorScalar> App<'_, T> {
    pub fn do_subtree(
        &self,
        task: &TaskContext<'_>,
        scratch: &mut Scratch<T>,
    ) -> Result<(), TaskFailure> {
        let mut work = std::mem::take(&mut scratch.work);
        let done = self.fronts(task, &mut work, scratch);
        scratch.work = work;
        done
    }

    fn fronts(
        &self,
        task: &TaskContext<'_>,
        work: &mut Work<T>,
        scratch: &mut Scratch<T>,
    ) -> Result<(), TaskFailure> {
        let u = task.task().params[0] as usize;
        let Unit::Group(fronts) = self.plan.unit(u) else {
            return Err(task.fail("not a group"));
        };
        let nrhs = self.plan.shape.nrhs;
        // Both are packed whole.
        task.allocate_for_overwrite(self.plan.group_factor(u), self.plan.group_factor_bytes(u))?;
        let cb_bytes = self.plan.group_cb_bytes(u);
        if cb_bytes > 0 {
            task.allocate_for_overwrite(self.plan.group_cb(u), cb_bytes)?;
        }
        let mut factors = task.write::<T>(0);
        let mut cb = (cb_bytes > 0).then(|| task.write::<T>(1));
        // Accesses of contribution blocks from outside come next, in the order in which the fronts ask for them.
        let mut next_access = 1 + usize::from(cb_bytes > 0);
        let mut top_of_stack = 0;
        let (stack, front) = self.plan.work_of_group::<T>(u, fronts);
        let memory = match is_own::<T>(stack + front) {
            true => &mut work.own[..],
            false => taken(task, &mut work.taken, stack + front)?,
        };
        let (stack, memory) = memory.split_at_mut(stack);
        let skip = memory.as_ptr().align_offset(FRONT_ALIGNMENT);
        for &f in fronts {
            let f = f as usize;
            let front = self.plan.front(f);
            let (m, n) = (front.m as usize, front.n as usize);
            let ld = front_leading::<T>(m);
            let block = &mut memory[skip..][..ld * (n + nrhs)];
            self.take_own_rows(f, block, ld);
            // Contribution blocks on the stack lie in the order of the children.
            let inside = |c: u32| self.plan.unit_of(c as usize) == u;
            let on_stack: usize = front
                .children
                .iter()
                .filter(|&&c| inside(c))
                .map(|&c| self.plan.front(c as usize).cb_entries(nrhs))
                .sum();
            let mut at = top_of_stack - on_stack;
            top_of_stack = at;
            for &c in &front.children {
                if inside(c) {
                    let len = self.plan.front(c as usize).cb_entries(nrhs);
                    let view = CbView::packed(self.plan.front(c as usize), &stack[at..at + len]);
                    let child = self.plan.front(c as usize);
                    let all = ((0, child.cb_rows as usize), (0, child.cb_cols() as usize));
                    self.extend_add(c as usize, all.0, all.1, nrhs > 0, &view, (m, n), block, ld);
                    at += len;
                } else {
                    for source in self.plan.sources(c as usize) {
                        let data = task.read::<T>(next_access);
                        next_access += 1;
                        let view = CbView::of(self, c as usize, source.i, source.j, &data);
                        self.extend_add(
                            c as usize,
                            source.rows,
                            source.cols,
                            source.with_rhs,
                            &view,
                            (m, n),
                            block,
                            ld,
                        );
                    }
                }
            }
            let tau = &mut work.tau[..front.reflectors()];
            let stair = self.plan.sym.tree.stair(f);
            front_qr_with(
                // With the rows that fill up the last vectors.
                MatMut::new(block, ld, n + nrhs, ld),
                n,
                Stair::Rows(stair),
                tau,
                &mut work.kernel,
                &mut |rest, within| share::update(task, scratch, rest, within),
            );
            self.pack_factors(f, block, ld, tau, &mut factors[self.plan.factor_at(f)..]);
            if front.parent.is_some() {
                let to = if f as u32 == self.plan.unit(u).top() {
                    &mut cb
                        .as_mut()
                        .expect("a top with a parent leaves a contribution block")[..]
                } else {
                    let start = top_of_stack;
                    top_of_stack += front.cb_entries(nrhs);
                    &mut stack[start..top_of_stack]
                };
                pack_contribution(front, block, ld, nrhs, to);
            }
        }
        Ok(())
    }

    /// Clears the block, as far as it is read, and puts in the rows of A that start in this front.
    fn take_own_rows(&self, f: usize, block: &mut [T], ld: usize) {
        let front = self.plan.front(f);
        let own = &self.plan.sym.tree.own;
        let (m, n) = (front.m as usize, front.n as usize);
        let stair = self.plan.sym.tree.stair(f);
        // The right-hand sides go down to the end of the block, where the front's columns have zeros by their staircase.
        for (j, column) in block.chunks_exact_mut(ld).enumerate() {
            // What is packed of R reaches down to the diagonal, the kernel goes no further than the staircase.
            let rows = stair.get(j).map_or(ld, |&s| (s as usize).max(j + 1).min(m));
            column[..rows].fill(T::zero());
        }
        for k in front.own_start..front.own_end {
            let row = own.local[k] as usize;
            let range = own.start[k]..own.start[k + 1];
            let positions = own.position.range(range.clone());
            for (&c, p) in own.col[range].iter().zip(positions) {
                block[row + c as usize * ld] = self.value(p);
            }
            for c in 0..self.plan.shape.nrhs {
                block[row + (n + c) * ld] = self.rhs[own.row[k] as usize + c * self.rhs_rows()];
            }
        }
    }

    /// Copies (a part of) the contribution block of child c into its parent's block of m rows and n columns, `ld` apart.
    #[allow(clippy::too_many_arguments)]
    fn extend_add(
        &self,
        c: usize,
        rows: (usize, usize),
        cols: (usize, usize),
        with_rhs: bool,
        view: &CbView<'_, T>,
        (m, n): (usize, usize),
        block: &mut [T],
        ld: usize,
    ) {
        let tree = &self.plan.sym.tree;
        let targets = RowTargets::new(tree.rowmap(c), rows, (0, m as u32));
        let mut copy = |column, limit, to: usize| {
            targets.copy(column, limit, &mut block[to * ld..][..m]);
        };
        for col in cols.0..cols.1 {
            copy(view.col(col), view.rows(col), tree.colmap(c)[col] as usize);
        }
        if with_rhs {
            for col in 0..self.plan.shape.nrhs {
                copy(view.rhs_col(col), usize::MAX, n + col);
            }
        }
    }

    /// R by packed columns, Q^H b of the pivots, and if kept V by packed columns and tau.
    fn pack_factors(&self, f: usize, block: &[T], ld: usize, tau: &[T], to: &mut [T]) {
        let front = self.plan.front(f);
        let (n, npiv) = (front.n as usize, front.npiv as usize);
        let mut at = 0;
        let mut put = |values: &[T]| {
            to[at..at + values.len()].copy_from_slice(values);
            at += values.len();
        };
        for j in 0..n {
            put(&block[j * ld..j * ld + npiv.min(j + 1)]);
        }
        for c in 0..self.plan.shape.nrhs {
            put(&block[(n + c) * ld..(n + c) * ld + npiv]);
        }
        if self.plan.shape.keep_q {
            let stair = self.plan.sym.tree.stair(f);
            for j in 0..front.reflectors() {
                let end = (stair[j] as usize).max(j + 1);
                put(&block[j * ld + j + 1..j * ld + end]);
            }
            put(tau);
        }
    }
}

/// At least so many scalars: what the worker has from the group before if that is enough and not far too much, so that its pages stay
/// together and need not come again; or else new memory, with room for a group that is a little larger.
fn taken<'m, T: FactorScalar>(
    task: &TaskContext<'_>,
    memory: &'m mut Option<WorkingMemory<T>>,
    scalars: usize,
) -> Result<&'m mut [T], TaskFailure> {
    let enough = scalars..=scalars.saturating_mul(MOST_TIMES);
    if !memory.as_ref().is_some_and(|it| enough.contains(&it.len())) {
        *memory = None;
        let step = (scalars / STEPS).next_power_of_two();
        *memory = Some(task.working_memory(scalars.next_multiple_of(step))?);
    }
    Ok(memory.as_mut().expect("just taken"))
}

/// The contribution block of a factorized front, by packed columns.
fn pack_contribution<T: FactorScalar>(
    front: &Front,
    block: &[T],
    ld: usize,
    nrhs: usize,
    to: &mut [T],
) {
    let (n, npiv) = (front.n as usize, front.npiv as usize);
    for j in 0..front.cb_cols() as usize {
        let start = packed_start(front, j);
        let rows = front.cb_col_rows(j);
        let from = (npiv + j) * ld + npiv;
        to[start..start + rows].copy_from_slice(&block[from..from + rows]);
    }
    for c in 0..nrhs {
        let rows = front.cb_rows as usize;
        let start = packed_start(front, front.cb_cols() as usize + c);
        let from = (n + c) * ld + npiv;
        to[start..start + rows].copy_from_slice(&block[from..from + rows]);
    }
}
