//! R2 and Q2 on vectors: the part of a solve that a matrix without full rank needs besides the sweeps of the first pass.
//!
//! Takes vectors in elimination order or in the numbering of W, a right-hand side after the other. Entries at dead pivots belong to no
//! row of R: R's inverse neither reads nor writes them, and Q^H leaves there what is part of the residual.

use super::blocks::STRIP;
use super::nodes::Nodes;
use super::rework::Reworked;
use super::run::Deficiency;
use crate::numeric::{FactorScalar, Factors};
use rayon::prelude::*;
use std::ops::Range;
use treeqr_kernels::{MatMut, MatRef, Op, Stair, apply_packed, gemv, gemv_adjoint};
use treeqr_matrices::{RealScalar, Scalar};
use treeqr_runtime::DataStore;

/// Vectors that go through R together, at most: R is read once for them, and they stay in the caches.
const AT_ONCE: usize = 16;
/// Entries of R, times vectors, below which a block more is not worth waking a thread for.
const WORTH_A_THREAD: usize = 150_000;

/// How many of `nrhs` go through R together, so that all blocks are about as wide: each is a thread's, and no thread is without one that
/// could have it and is worth it. No result depends on it.
fn at_once<T: FactorScalar>(nodes: &Nodes<'_, T>, nrhs: usize) -> usize {
    let threads = match nodes.size * nrhs < WORTH_A_THREAD {
        true => 1,
        false => rayon::current_num_threads(),
    };
    let blocks = nrhs.div_ceil(AT_ONCE).max(threads);
    nrhs.div_ceil(blocks.min(nrhs).max(1))
}

impl<T: FactorScalar> Reworked<T> {
    /// |R_kk| of the live pivots.
    pub fn diagonal<'a>(&'a self, store: &'a DataStore) -> impl Iterator<Item = f64> + 'a {
        let r = self.view(store);
        let live = self.live.iter().enumerate();
        live.map(move |(row, &j)| Scalar::abs(r.column(j as usize, row + 1)[row]).to_f64())
    }

    /// R x = c: `c` of the live pivots becomes x of these, for several vectors one after the other. `x(j, k)` is that of column j beside
    /// the pivots in vector k. Each column of R is read once for all of them.
    fn solve(&self, store: &DataStore, c: &mut [T], x: impl Fn(usize, usize) -> T) {
        let live = self.live.len();
        if live == 0 {
            return;
        }
        let (n, w) = (self.cols.len(), c.len() / live);
        let r = self.view(store);
        let mut known = Vec::new();
        for columns in r.cut(self.npiv..n, 0) {
            known.clear();
            known.extend(
                (0..w)
                    .flat_map(|k| columns.clone().map(move |j| (j, k)))
                    .map(|(j, k)| x(j, k)),
            );
            let x = MatRef::new(&known, columns.len(), w, columns.len());
            gemv(r.part(&columns, live), x, MatMut::new(c, live, w, live));
        }
        let strips: Vec<_> = r.cut(0..self.npiv, STRIP).collect();
        for columns in strips.into_iter().rev() {
            let (top, count) = (self.before(columns.start), columns.len());
            let mut row = self.before(columns.end);
            if row == 0 {
                break;
            }
            // Zero in the dead columns.
            known.clear();
            known.resize(count * w, T::zero());
            for j in columns.clone().rev() {
                if row == top || !self.is_live(j, row - 1) {
                    continue;
                }
                row -= 1;
                let column = r.column(j, row + 1);
                for (k, c) in c.chunks_exact_mut(live).enumerate() {
                    c[row] /= column[row];
                    let value = c[row];
                    known[k * count + j - columns.start] = value;
                    for (c, &r) in c[top..row].iter_mut().zip(&column[top..]) {
                        *c -= r * value;
                    }
                }
            }
            let x = MatRef::new(&known, count, w, count);
            let above = MatMut::new(c, live, w, live).submatrix(0, 0, top, w);
            gemv(r.part(&columns, top), x, above);
        }
    }

    /// R^H y = c: y of the live rows, with `c` of all columns, from which what R^H y makes of it is taken; for several vectors one after
    /// the other.
    fn solve_adjoint(&self, store: &DataStore, c: &mut [T], y: &mut [T], w: usize) {
        let (n, live) = (self.cols.len(), self.live.len());
        if live == 0 {
            return;
        }
        let r = self.view(store);
        let take = |columns: &Range<usize>, rows: usize, c: &mut [T], y: &[T]| {
            let y = MatRef::new(y, live, w, live).submatrix(0, 0, rows, w);
            let c = MatMut::new(c, n, w, n).submatrix(columns.start, 0, columns.len(), w);
            gemv_adjoint(r.part(columns, rows), y, c);
        };
        for columns in r.cut(0..self.npiv, STRIP) {
            let top = self.before(columns.start);
            take(&columns, top, c, y);
            let mut row = top;
            for j in columns {
                let own = self.is_live(j, row);
                let column = r.column(j, row + usize::from(own));
                for (c, y) in c.chunks_exact_mut(n).zip(y.chunks_exact_mut(live)) {
                    for (&r, &y) in column[top..row].iter().zip(&y[top..row]) {
                        c[j] -= r.conj() * y;
                    }
                    if own {
                        y[row] = c[j] / column[row].conj();
                    }
                }
                row += usize::from(own);
            }
        }
        for columns in r.cut(self.npiv..n, 0) {
            take(&columns, live, c, y);
        }
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
        let size = (at_once(nodes, nrhs) * n).max(1);
        let blocks = out.par_chunks_mut(size).zip(c.par_chunks(size));
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
                node.solve(&self.store, &mut part, |j, k| {
                    out[k * n + node.cols[j] as usize]
                });
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
        self.solve_r_adjoint_in(nodes, &mut c.to_vec(), nrhs)
    }

    /// The same; `c` then has c - R^H y in the dead columns, and nothing of use in the others.
    pub(super) fn solve_r_adjoint_in(
        &self,
        nodes: &Nodes<'_, T>,
        c: &mut [T],
        nrhs: usize,
    ) -> Vec<T> {
        let n = self.order.len();
        let mut out = vec![T::zero(); n * nrhs];
        let size = (at_once(nodes, nrhs) * n).max(1);
        let blocks = c.par_chunks_mut(size).zip(out.par_chunks_mut(size));
        blocks.for_each(|(c, y)| self.solve_adjoint_block(nodes, c, y));
        out
    }

    fn solve_adjoint_block(&self, nodes: &Nodes<'_, T>, c: &mut [T], out: &mut [T]) {
        let n = self.order.len();
        let w = c.len() / n;
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
            part.clear();
            for c in c.chunks_exact(n) {
                part.extend(cols.iter().map(|&j| c[j as usize]));
            }
            if let Some(node) = reworked {
                values.clear();
                values.resize(node.live.len() * w, T::zero());
                node.solve_adjoint(&self.store, &mut part, &mut values, w);
                let values = values.chunks_exact(node.live.len().max(1));
                for (y, values) in out.chunks_exact_mut(n).zip(values) {
                    for (&j, &value) in node.live.iter().zip(values) {
                        y[first + j as usize] = value;
                    }
                }
            } else {
                nodes.solve_adjoint(node, cols.len(), &mut part);
                let npiv = nodes.npiv(node);
                for (y, part) in out.chunks_exact_mut(n).zip(part.chunks_exact(cols.len())) {
                    y[first..first + npiv].copy_from_slice(&part[..npiv]);
                }
            }
            for (c, part) in c.chunks_exact_mut(n).zip(part.chunks_exact(cols.len())) {
                for (&j, &value) in cols.iter().zip(part) {
                    c[j as usize] = value;
                }
            }
        }
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
