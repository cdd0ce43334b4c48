//! R2 and Q2 on vectors: the part of a solve that a matrix without full rank needs besides the sweeps of the first pass.
//!
//! Takes vectors in elimination order or in the numbering of W, a right-hand side after the other. Entries at dead pivots belong to no
//! row of R: R's inverse neither reads nor writes them, and Q^H leaves there what is part of the residual.

use super::nodes::Nodes;
use super::packed::View;
use super::rework::Reworked;
use super::run::Deficiency;
use crate::numeric::{FactorScalar, Factors};
use std::slice::from_mut;
use treeqr_kernels::{MatMut, MatRef, Op, Stair, apply_packed, gemv, gemv_adjoint};
use treeqr_matrices::{RealScalar, Scalar};

/// Vectors that go through R together: R is read once for them, and they stay in the caches.
const AT_ONCE: usize = 16;

impl<T: FactorScalar> Reworked<T> {
    /// |R_kk| of the live pivots.
    pub fn diagonal(&self) -> impl Iterator<Item = f64> {
        let (mut row, mut at) = (0, 0);
        let r = self.r.view();
        (0..self.npiv).filter_map(move |j| {
            let is_live = self.is_live(j, row);
            row += usize::from(is_live);
            at += row;
            is_live.then(|| Scalar::abs(r.column(j, at - 1, 1)[0]).to_f64())
        })
    }

    /// Whether column `j` has row `row` of R for its own.
    fn is_live(&self, j: usize, row: usize) -> bool {
        self.live.get(row).is_some_and(|&l| l as usize == j)
    }

    /// R x = c: `c` of the live pivots becomes x of these, for several vectors one after the other. `x(j, k)` is that of column j beside
    /// the pivots in vector k. Each column of R is read once for all of them.
    fn solve(&self, c: &mut [T], x: impl Fn(usize, usize) -> T) {
        let live = self.live.len();
        if live == 0 {
            return;
        }
        let (n, w) = (self.cols.len(), c.len() / live);
        let r = self.r.view();
        let beside: Vec<T> = (0..w)
            .flat_map(|k| (self.npiv..n).map(move |j| (j, k)))
            .map(|(j, k)| x(j, k))
            .collect();
        let first = self.r.len() - (n - self.npiv) * live;
        for (j, columns) in self.beside(&r, first) {
            let count = columns.ncols();
            let x = MatRef::new(&beside, n - self.npiv, w, n - self.npiv);
            let x = x.submatrix(j - self.npiv, 0, count, w);
            gemv(columns, x, MatMut::new(c, live, w, live));
        }
        let (mut rows, mut at) = (live, first);
        for j in (0..self.npiv).rev() {
            at -= rows;
            let column = r.column(j, at, rows);
            if !(rows > 0 && self.is_live(j, rows - 1)) {
                continue;
            }
            rows -= 1;
            for c in c.chunks_exact_mut(live) {
                c[rows] /= column[rows];
                let value = c[rows];
                for (c, &r) in c.iter_mut().zip(&column[..rows]) {
                    *c -= r * value;
                }
            }
        }
    }

    /// R^H y = c: y of the live rows, with `c` of all columns, from which what R^H y makes of it is taken.
    fn solve_adjoint(&self, c: &mut [T], y: &mut [T]) {
        let (mut rows, mut at) = (0, 0);
        let r = self.r.view();
        let (pivots, others) = c.split_at_mut(self.npiv);
        for (j, c) in pivots.iter_mut().enumerate() {
            let own = self.is_live(j, rows);
            let column = r.column(j, at, rows + usize::from(own));
            at += column.len();
            let known = MatRef::new(&*y, rows, 1, rows.max(1));
            let product = MatRef::new(column, rows, 1, rows.max(1));
            gemv_adjoint(product, known, MatMut::new(from_mut(c), 1, 1, 1));
            if own {
                y[rows] = *c / column[rows].conj();
                rows += 1;
            }
        }
        for (j, columns) in self.beside(&r, at) {
            let (rows, count) = (columns.nrows(), columns.ncols());
            let y = MatRef::new(&*y, rows, 1, rows.max(1));
            let c = &mut others[j - self.npiv..][..count];
            gemv_adjoint(columns, y, MatMut::new(c, count, 1, count));
        }
    }

    /// The columns beside the pivots, from entry `at` on, as many together as lie together: the number of the first, and all.
    fn beside<'v>(
        &self,
        r: &'v View<'v, T>,
        mut at: usize,
    ) -> impl Iterator<Item = (usize, MatRef<'v, T>)> {
        let (mut j, n, live) = (self.npiv, self.cols.len(), self.live.len());
        std::iter::from_fn(move || {
            if j == n {
                return None;
            }
            let (count, columns) = r.columns(j, n, at, live);
            let first = j;
            (j, at) = (j + count, at + columns.len());
            Some((first, MatRef::new(columns, live, count, live.max(1))))
        })
    }
}

/// The reflectors of one node, on slots of the elimination order.
pub(crate) struct SlotReflectors<'a, T> {
    /// The slot of each row, before and after.
    pub from: &'a [u32],
    pub to: &'a [u32],
    /// As `apply_packed` wants them.
    pub ends: &'a [u32],
    pub v: &'a [T],
    pub tau: &'a [T],
}

impl<T: FactorScalar> Deficiency<T> {
    /// Places of dead pivots, increasing.
    pub fn dead_places(&self) -> &[u32] {
        &self.dead
    }

    /// Q2, node by node, in the order in which Q2^H applies them. Q must be kept.
    pub fn reflectors(&self) -> impl Iterator<Item = SlotReflectors<'_, T>> {
        self.nodes.iter().flatten().map(|node| {
            let q = node.q.as_ref().expect("Q is kept");
            SlotReflectors {
                from: &q.from,
                to: &q.to,
                ends: &q.ends,
                v: &q.v,
                tau: &q.tau,
            }
        })
    }

    /// Q2^H, or Q2, on vectors in elimination order. 4 nnz(H) flops a column, of the nodes that changed.
    pub fn apply_q(&self, op: Op, heads: &mut [T], nrhs: usize) {
        let n = self.order.len();
        let mut z = Vec::new();
        let mut apply = |node: &Reworked<T>| {
            let q = node.q.as_ref().expect("Q is kept");
            let m = q.from.len();
            let (from, to) = match op {
                Op::ConjTrans => (&q.from, &q.to),
                Op::NoTrans => (&q.to, &q.from),
            };
            z.clear();
            for head in heads.chunks_exact(n).take(nrhs) {
                z.extend(from.iter().map(|&slot| head[slot as usize]));
            }
            let block = MatMut::new(&mut z, m, nrhs, m);
            apply_packed(op, &q.v, Stair::Rows(&q.ends), &q.tau, block);
            for (head, z) in heads.chunks_exact_mut(n).zip(z.chunks_exact(m)) {
                for (&slot, &value) in to.iter().zip(z) {
                    head[slot as usize] = value;
                }
            }
        };
        let nodes = self.nodes.iter().flatten();
        match op {
            Op::ConjTrans => nodes.for_each(|node| apply(node)),
            Op::NoTrans => nodes.rev().for_each(|node| apply(node)),
        }
    }

    /// The basic solution of R x = c: `c` in elimination order, x in the numbering of W, zero in dead columns.
    /// 2 nnz(R) flops a column.
    pub fn solve_r(&self, factors: &Factors<T>, c: &[T], nrhs: usize) -> Vec<T> {
        self.solve_r_of(&Nodes::new(factors), c, nrhs)
    }

    pub(super) fn solve_r_of(&self, nodes: &Nodes<'_, T>, c: &[T], nrhs: usize) -> Vec<T> {
        let n = self.order.len();
        let mut out = vec![T::zero(); n * nrhs];
        let blocks = out.chunks_mut(AT_ONCE * n).zip(c.chunks(AT_ONCE * n));
        blocks.for_each(|(x, c)| self.solve_block(nodes, c, x));
        out
    }

    fn solve_block(&self, nodes: &Nodes<'_, T>, c: &[T], out: &mut [T]) {
        let n = self.order.len();
        let (mut part, mut cols) = (Vec::new(), Vec::new());
        for node in (0..nodes.len()).rev() {
            let first = nodes.first(node) as usize;
            part.clear();
            if let Some(node) = &self.nodes[node] {
                for c in c.chunks_exact(n) {
                    part.extend(node.live.iter().map(|&j| c[first + j as usize]));
                }
                node.solve(&mut part, |j, k| out[k * n + node.cols[j] as usize]);
                let parts = part.chunks_exact(node.live.len().max(1));
                for (x, part) in out.chunks_exact_mut(n).zip(parts) {
                    for (&j, &value) in node.live.iter().zip(part) {
                        x[node.cols[j as usize] as usize] = value;
                    }
                }
                continue;
            }
            nodes.columns_into(node, &mut cols);
            let npiv = nodes.npiv(node);
            for (x, c) in out.chunks_exact(n).zip(c.chunks_exact(n)) {
                part.extend_from_slice(&c[first..first + npiv]);
                part.extend(cols[npiv..].iter().map(|&j| x[j as usize]));
            }
            nodes.solve(node, cols.len(), &mut part);
            let parts = part.chunks_exact(cols.len());
            for (x, part) in out.chunks_exact_mut(n).zip(parts) {
                for (&j, &value) in cols[..npiv].iter().zip(part) {
                    x[j as usize] = value;
                }
            }
        }
    }

    /// R^H y = c in the live columns: `c` in the numbering of W, y in elimination order, zero at dead pivots. 2 nnz(R) flops a
    /// column.
    pub fn solve_r_adjoint(&self, factors: &Factors<T>, c: &[T], nrhs: usize) -> Vec<T> {
        self.solve_r_adjoint_of(&Nodes::new(factors), c, nrhs)
    }

    pub(super) fn solve_r_adjoint_of(&self, nodes: &Nodes<'_, T>, c: &[T], nrhs: usize) -> Vec<T> {
        let n = self.order.len();
        let mut c = c.to_vec();
        let mut out = vec![T::zero(); n * nrhs];
        let (mut part, mut own, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for node in 0..nodes.len() {
            let first = nodes.first(node) as usize;
            let reworked = self.nodes[node].as_ref();
            let cols: &[u32] = match reworked {
                Some(node) => &node.cols,
                None => {
                    nodes.columns_into(node, &mut own);
                    &own
                }
            };
            for (c, y) in c.chunks_exact_mut(n).zip(out.chunks_exact_mut(n)) {
                part.clear();
                part.extend(cols.iter().map(|&j| c[j as usize]));
                if let Some(node) = reworked {
                    values.clear();
                    values.resize(node.live.len(), T::zero());
                    node.solve_adjoint(&mut part, &mut values);
                    for (&j, &value) in node.live.iter().zip(&values) {
                        y[first + j as usize] = value;
                    }
                } else {
                    nodes.solve_adjoint(node, &mut part);
                    y[first..first + nodes.npiv(node)].copy_from_slice(&part[..nodes.npiv(node)]);
                }
                for (&j, &value) in cols.iter().zip(&part) {
                    c[j as usize] = value;
                }
            }
        }
        out
    }

    /// Q^H b of the right-hand sides of the factorization.
    pub fn kept_head(&self) -> &[T] {
        &self.head
    }

    /// Vectors in elimination order without the entries at dead pivots.
    pub fn live_part(&self, heads: &[T]) -> Vec<T> {
        let n = self.order.len();
        let mut out = Vec::with_capacity(heads.len());
        for head in heads.chunks_exact(n) {
            let mut dead = self.dead.iter().peekable();
            for (place, &value) in head.iter().enumerate() {
                if dead.next_if(|&&d| d as usize == place).is_none() {
                    out.push(value);
                }
            }
        }
        out
    }

    /// The inverse of [`Self::live_part`], with zeros at dead pivots.
    pub fn with_dead(&self, live: &[T], nrhs: usize) -> Vec<T> {
        let n = self.order.len();
        let mut live = live.iter();
        let mut out = Vec::with_capacity(n * nrhs);
        for _ in 0..nrhs {
            let mut dead = self.dead.iter().peekable();
            for place in 0..n {
                let value = match dead.next_if(|&&d| d as usize == place) {
                    Some(_) => T::zero(),
                    None => *live.next().expect("a value for every live pivot"),
                };
                out.push(value);
            }
        }
        out
    }
}
