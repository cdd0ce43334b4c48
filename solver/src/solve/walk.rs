//! The codelets of the tree: one bundle of fronts and one block of right-hand sides, up or down.
//!
//! Takes the edges at one end of the bundle, leaves those at the other. Within the bundle edges wait on a stack: on the
//! way up a front finds those of its children on top, in their order, and puts its own there; on the way down it finds its
//! own and puts its children's there. What is on the stack at the upper end of the bundle is the bundle's edge.

use super::app::{App, Scratch};
use super::bundles::is_loose;
use super::orthogonal::FrontQ;
use super::program::Vector;
use super::sweep::Sweep;
use super::triangular::{add_column_sums, solve_front, solve_front_adjoint};
use crate::numeric::FactorScalar;
use treeqr_kernels::Op;
use treeqr_runtime::{ReadBuffer, TaskContext, TaskFailure, WriteBuffer};

impl<T: FactorScalar> App<'_, T> {
    /// Q^H b or R^{-H} c.
    pub fn up(&self, task: &TaskContext<'_>, scratch: &mut Scratch<T>) -> Result<(), TaskFailure> {
        let up = self.program.up.as_ref().expect("a sweep up");
        let (sweep, tree) = (up.sweep, &self.plan.sym.tree);
        let u = task.task().params[0] as usize;
        let (block, w) = self.block(task);
        let (n, below, len) = (self.head_len(), self.rest_len(), self.outer_len(sweep));
        let singletons = self.plan.sym.singletons.len();
        let mut outer = self.outer_up(task);
        // One less where the last is none.
        let given = outer.len().checked_div(len).unwrap_or(0);
        let head = self.scatter(task, Vector::Head);
        let rest = up.keep_rest.then(|| self.scatter(task, Vector::Rest));
        let needs = |f: usize| self.program.needs(sweep, block, f);
        let (own_edge, below_bundles, below_edges) = self.edges(task, sweep, u);
        // Each with how much of it has been taken.
        let mut edges: Vec<(ReadBuffer<'_, T>, usize)> =
            below_edges.clone().map(|i| (task.read(i), 0)).collect();
        let mut top = 0;
        let fronts = self.bundles.fronts(u).iter().map(|&f| f as usize);
        for f in fronts.filter(|&f| needs(f)) {
            let front = &tree.fronts[f];
            let (rows, npiv, edge) = (
                sweep.rows(front),
                front.npiv as usize,
                sweep.edge_rows(front),
            );
            let z = &mut scratch.z[..rows * w];
            z.fill(T::zero());
            sweep.for_own(tree, f, |i, index| {
                for k in 0..given {
                    z[k * rows + i] = outer[k * len + index];
                }
            });
            let children = front.children.iter().map(|&c| c as usize);
            let children = children.filter(|&c| needs(c));
            let inside = children.clone().filter(|&c| self.bundles.of(c) == u);
            top -= w * inside.map(|c| sweep.map(tree, c).len()).sum::<usize>();
            let mut at = top;
            for c in children {
                let map = sweep.map(tree, c);
                let size = map.len() * w;
                let values = if self.bundles.of(c) == u {
                    at += size;
                    &scratch.stack[at - size..at]
                } else {
                    let (edge, taken) = &mut edges[self.child(&below_bundles, c)];
                    *taken += size;
                    &edge[*taken - size..*taken]
                };
                for k in 0..w {
                    let column = &mut z[k * rows..(k + 1) * rows];
                    for (&to, &value) in map.iter().zip(&values[k * map.len()..]) {
                        // Rows meet nothing here; the sums that columns form are in the order of the children.
                        column[to as usize] += value;
                    }
                }
            }
            if up.sums {
                let (vectors, sums) = z.split_at_mut(rows * (w - 1));
                self.apply(sweep, f, vectors, &mut scratch.kernel);
                add_column_sums(&self.factors.r(&self.plan, f), rows, sums);
            } else {
                self.apply(sweep, f, z, &mut scratch.kernel);
            }
            for k in 0..w {
                let column = &z[k * rows..(k + 1) * rows];
                head.write_run(
                    k * n + singletons + front.first_pivot as usize,
                    &column[..npiv],
                );
                if let Some(rest) = &rest {
                    rest.write_run(k * below + self.rest.at[f], &column[npiv + edge..]);
                }
                scratch.stack[top..top + edge].copy_from_slice(&column[npiv..npiv + edge]);
                top += edge;
            }
            if !sweep.is_q() && is_loose(front) {
                let outer = outer.alone();
                for k in 0..w {
                    let values = &z[k * rows + npiv..(k + 1) * rows];
                    for (index, &value) in self.later_columns(f).zip(values) {
                        outer[k * len + index] += value;
                    }
                }
            }
        }
        if let Some(own) = own_edge {
            task.allocate(task.task().accesses[own].0, top * size_of::<T>())?;
            task.write::<T>(own).copy_from_slice(&scratch.stack[..top]);
        }
        drop(edges);
        for i in below_edges {
            task.free(task.task().accesses[i].0);
        }
        Ok(())
    }

    /// R^{-1} c or Q c.
    pub fn down(
        &self,
        task: &TaskContext<'_>,
        scratch: &mut Scratch<T>,
    ) -> Result<(), TaskFailure> {
        let down = self.program.down.as_ref().expect("a sweep down");
        let (sweep, tree) = (down.sweep, &self.plan.sym.tree);
        let u = task.task().params[0] as usize;
        let (block, w) = self.block(task);
        let (n, below, len) = (self.head_len(), self.rest_len(), self.outer_len(sweep));
        let singletons = self.plan.sym.singletons.len();
        let first_column = self.program.columns(block).start;
        let head = self.head_down(task);
        let rest = self.rest_down(task);
        let needs = |f: usize| self.program.needs(sweep, block, f);
        let mut outer = self.outer_down(task);
        let (own_edge, below_bundles, below_edges) = self.edges(task, sweep, u);
        let mut top = 0;
        if let Some(own) = own_edge {
            let edge = task.read::<T>(own);
            top = edge.len();
            scratch.stack[..top].copy_from_slice(&edge);
            drop(edge);
            task.free(task.task().accesses[own].0);
        }
        // Each with how much of it has been written.
        let mut edges: Vec<(WriteBuffer<'_, T>, usize)> = Vec::with_capacity(below_edges.len());
        for (&c, i) in below_bundles.iter().zip(below_edges) {
            let rows = self.edge_rows(sweep, block, c as usize);
            task.allocate(task.task().accesses[i].0, rows * w * size_of::<T>())?;
            edges.push((task.write(i), 0));
        }
        let fronts = self.bundles.fronts(u).iter().rev().map(|&f| f as usize);
        for f in fronts.filter(|&f| needs(f)) {
            let front = &tree.fronts[f];
            let (rows, npiv, edge) = (
                sweep.rows(front),
                front.npiv as usize,
                sweep.edge_rows(front),
            );
            let z = &mut scratch.z[..rows * w];
            // Where nothing comes from above there is nothing on the stack either.
            let fed = front.parent.is_some_and(|p| needs(p as usize));
            top -= if fed { edge * w } else { 0 };
            for k in 0..w {
                let (pivots, others) = z[k * rows..(k + 1) * rows].split_at_mut(npiv);
                match &head {
                    Some(head) => {
                        let first = k * n + singletons + front.first_pivot as usize;
                        pivots.copy_from_slice(&head[first..first + npiv]);
                    }
                    None => self
                        .factors
                        .qhb(&self.plan, f, first_column + k, |row, part| {
                            pivots[row..row + part.len()].copy_from_slice(part);
                        }),
                }
                let (shared, own) = others.split_at_mut(edge);
                if fed {
                    shared.copy_from_slice(&scratch.stack[top + k * edge..][..edge]);
                } else {
                    shared.fill(T::zero());
                }
                match &rest {
                    _ if !sweep.is_q() && is_loose(front) => {
                        for (value, index) in own.iter_mut().zip(self.later_columns(f)) {
                            *value = outer.get(k * len + index);
                        }
                    }
                    Some(rest) => {
                        let at = k * below + self.rest.at[f];
                        own.copy_from_slice(&rest[at..at + own.len()]);
                    }
                    None => own.fill(T::zero()),
                }
            }
            self.apply(sweep, f, z, &mut scratch.kernel);
            sweep.for_own(tree, f, |i, index| {
                for k in 0..w {
                    outer.set(k * len + index, z[k * rows + i]);
                }
            });
            let children = front.children.iter().map(|&c| c as usize);
            for c in children.filter(|&c| needs(c)) {
                let map = sweep.map(tree, c);
                let size = map.len() * w;
                let values = if self.bundles.of(c) == u {
                    top += size;
                    &mut scratch.stack[top - size..top]
                } else {
                    let (edge, written) = &mut edges[self.child(&below_bundles, c)];
                    *written += size;
                    &mut edge[*written - size..*written]
                };
                for k in 0..w {
                    let column = &z[k * rows..(k + 1) * rows];
                    for (value, &from) in values[k * map.len()..].iter_mut().zip(map) {
                        *value = column[from as usize];
                    }
                }
            }
        }
        Ok(())
    }

    /// Columns of W beside the pivots of front `f`.
    fn later_columns(&self, f: usize) -> impl Iterator<Item = usize> {
        let tree = &self.plan.sym.tree;
        let positions = &tree.cols(f)[tree.fronts[f].npiv as usize..];
        positions
            .iter()
            .map(|&p| tree.col_order[p as usize] as usize)
    }

    /// The sweep's operator of front `f` on its block.
    fn apply(&self, sweep: Sweep, f: usize, z: &mut [T], kernel: &mut [T]) {
        let front = self.plan.front(f);
        let n = front.n as usize;
        let op = match sweep {
            Sweep::R => return solve_front(&self.factors.r(&self.plan, f), n, z),
            Sweep::RAdjoint => return solve_front_adjoint(&self.factors.r(&self.plan, f), n, z),
            Sweep::QAdjoint => Op::ConjTrans,
            Sweep::Q => Op::NoTrans,
        };
        let mut q = FrontQ {
            factors: self.factors,
            plan: &self.plan,
            scratch: kernel,
        };
        q.apply(op, f, z);
    }

    /// The accesses of a task that are edges: the bundle's own, and those below it with their bundles.
    fn edges(
        &self,
        task: &TaskContext<'_>,
        sweep: Sweep,
        u: usize,
    ) -> (Option<usize>, Vec<u32>, std::ops::Range<usize>) {
        let (block, _) = self.block(task);
        let (program, bundles) = (&self.program, &self.bundles);
        let children: Vec<u32> = program.below(sweep, bundles, block, u).collect();
        let end = task.task().accesses.len();
        let below = end - children.len()..end;
        let own = program.has_edge(sweep, bundles, block, u);
        (own.then(|| below.start - 1), children, below)
    }

    /// Rows of the edge between bundle `u` and its parent.
    fn edge_rows(&self, sweep: Sweep, block: usize, u: usize) -> usize {
        if !self.program.is_restricted() {
            return self.edge_rows[usize::from(sweep.is_q())][u];
        }
        let fronts = self.bundles.fronts(u).iter().map(|&f| f as usize);
        let tops = fronts.filter(|&f| {
            let parent = self.plan.front(f).parent;
            parent.is_some_and(|p| self.bundles.of(p as usize) != u)
        });
        let tops = tops.filter(|&f| self.program.needs(sweep, block, f));
        tops.map(|f| sweep.edge_rows(self.plan.front(f))).sum()
    }

    /// The place of the bundle that front `c` is in.
    fn child(&self, bundles: &[u32], c: usize) -> usize {
        let found = bundles.binary_search(&(self.bundles.of(c) as u32));
        found.expect("a front's child is in its bundle or in one below")
    }
}
